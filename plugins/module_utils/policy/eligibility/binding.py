# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Where the volumes of a pod's claims are, or can come to be (C33).

Source: kube-scheduler 1.37, pkg/scheduler/framework/plugins: volumebinding (binder.go), volumezone;
k8s.io/component-helpers/storage/volume (FindMatchingVolume).
"""

from __future__ import annotations

from typing import Iterator, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.volumes import (
    NO_PROVISIONER,
    Claim,
    Storage,
    Volume,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility import verdict
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.disks import (
    claims_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.nodes import (
    NO_NODE,
    NodeTable,
    union,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.pods import (
    PodClass,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.verdict import (
    Failing,
)

# The older labels, and the ones that stand for them on nodes that have only these.
_TOPOLOGY = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region": "topology.kubernetes.io/region",
}
_BETWEEN_ZONES = "__"
_MIGRATED = (
    "kubernetes.io/aws-ebs", "kubernetes.io/azure-disk", "kubernetes.io/azure-file",
    "kubernetes.io/cinder", "kubernetes.io/gce-pd", "kubernetes.io/portworx-volume",
    "kubernetes.io/vsphere-volume",
)  # fmt: skip


class VolumeRule:
    """Storage stays as it is found: every mask is made once."""

    name = verdict.VOLUMES

    def __init__(self, nodes: NodeTable, storage: Storage) -> None:
        self._nodes = nodes
        self._storage = storage
        self._known: dict[PodClass, tuple[tuple[str, int], ...]] = {}

    def passing(self, pod: PodClass) -> int:
        mask = self._nodes.all
        for _unused, nodes in self._parts(pod):
            mask &= nodes
        return mask

    def failing(self, pod: PodClass, node: int) -> Iterator[Failing]:
        for detail, nodes in self._parts(pod):
            if not nodes >> node & 1:
                yield Failing(verdict.VOLUMES, detail)

    def unknown(self, pod: PodClass) -> list[str]:
        """Why the volumes cannot be judged to the end."""
        found = [
            f"its claim {name} is made anew with every pod" for name in pod.spec.ephemeral_claims
        ]
        for key, claim in claims_of(pod, self._storage):
            volume = self._storage.volumes.get(claim.volume) if claim is not None else None
            if volume is not None and volume.unmodelled:
                found.append(f"the volume of its claim {key} is of kind {volume.unmodelled}")
            if claim is not None and not claim.volume:
                found += self._unknown_of_class(key, claim)
        return found

    def _unknown_of_class(self, key: str, claim: Claim) -> list[str]:
        known = self._storage.classes.get(claim.storage_class)
        if known is None:
            return []
        driver = self._storage.drivers.get(known.provisioner)
        if driver is not None and driver.tracks_capacity:
            return [f"how much {known.provisioner} has left for its claim {key} is not looked at"]
        if known.provisioner in _MIGRATED:
            return [f"its claim {key} is for {known.provisioner}, which a CSI driver took over"]
        return []

    def _parts(self, pod: PodClass) -> tuple[tuple[str, int], ...]:
        """What can fail, each with the nodes where it does not."""
        if pod not in self._known:
            self._known[pod] = tuple(self._judged(pod))
        return self._known[pod]

    def _judged(self, pod: PodClass) -> Iterator[tuple[str, int]]:
        waiting = []
        for key, claim in claims_of(pod, self._storage):
            problem = _problem(key, claim, self._storage)
            if problem or claim is None:
                yield problem, NO_NODE
            elif claim.bound:
                yield from self._bound(key, self._storage.volumes[claim.volume])
            else:
                waiting.append(claim)
        if waiting:
            names = ", ".join(claim.key for claim in waiting)
            detail = f"no volume for its claim {names} can be bound or provisioned there"
            yield detail, self._bindable(waiting)

    def _bound(self, key: str, volume: Volume) -> Iterator[tuple[str, int]]:
        if volume.node_affinity is not None:
            nodes = self._nodes.matching_any(volume.node_affinity, by_name=False)
            wanted = "; or ".join(map(str, volume.node_affinity)) or "no node"
            yield f"volume {volume.name} of its claim {key} is on {wanted}", nodes
        zoned = union(self._nodes.domains(label).labelled for label in _TOPOLOGY)
        for label in _TOPOLOGY:
            if label in volume.labels:
                nodes = self._in_zones(label, volume.labels[label]) | (self._nodes.all & ~zoned)
                place = f"{label}={volume.labels[label]}"
                yield f"volume {volume.name} of its claim {key} is in {place}", nodes

    def _in_zones(self, label: str, text: str) -> int:
        own, newer = self._nodes.domains(label), self._nodes.domains(_TOPOLOGY[label])
        zones = set(text.split(_BETWEEN_ZONES))
        found = union(own.masks.get(zone, NO_NODE) for zone in zones)
        by_newer = union(newer.masks.get(zone, NO_NODE) for zone in zones)
        return found | (by_newer & ~own.labelled)

    def _bindable(self, waiting: list[Claim]) -> int:
        """The smallest claim chooses first, as the scheduler does it."""
        ordered = sorted(waiting, key=lambda claim: claim.size)
        mask = self._nodes.all
        to_match = []
        for claim in ordered:
            if claim.selected_node:
                mask &= self._nodes.named(claim.selected_node) & self._provisionable(claim)
            else:
                to_match.append(claim)
        return mask & self._matched(to_match, frozenset(), self._nodes.all)

    def _matched(self, claims: list[Claim], chosen: frozenset[str], nodes: int) -> int:
        """The nodes among `nodes` where every claim finds a free volume or a provisioner.

        Nodes part ways where different volumes are the smallest for them.
        """
        if not claims or not nodes:
            return nodes
        claim, rest, result = claims[0], claims[1:], NO_NODE
        for volume in self._candidates(claim):
            if volume.name in chosen:
                continue
            there = nodes & self._usable(volume)
            if _is_reserved(volume, claim):
                # It is meant for this claim: where it cannot be used, nothing else is looked for.
                result |= self._matched(rest, chosen | {volume.name}, there)
                left = nodes & ~there & self._provisionable(claim)
                return result | self._matched(rest, chosen, left)
            result |= self._matched(rest, chosen | {volume.name}, there)
            nodes &= ~there
        return result | self._matched(rest, chosen, nodes & self._provisionable(claim))

    def _candidates(self, claim: Claim) -> list[Volume]:
        """Volumes that the claim could take, the reserved one first, then the smallest."""
        found = [one for one in self._storage.volumes.values() if _is_candidate(one, claim)]
        return sorted(found, key=lambda one: (not _is_reserved(one, claim), one.size, one.name))

    def _usable(self, volume: Volume) -> int:
        if volume.node_affinity is None:
            return self._nodes.all
        return self._nodes.matching_any(volume.node_affinity, by_name=False)

    def _provisionable(self, claim: Claim) -> int:
        known = self._storage.classes.get(claim.storage_class)
        if known is None or known.provisioner in ("", NO_PROVISIONER):
            return NO_NODE
        return self._nodes.matching_any(known.topologies) if known.topologies else self._nodes.all


def _problem(key: str, claim: Optional[Claim], storage: Storage) -> str:
    """Why the claim keeps the pod off every node, or ""."""
    if claim is None:
        return f"its claim {key} does not exist"
    if claim.terminating:
        return f"its claim {key} is being deleted"
    if claim.lost or (claim.bound and claim.volume not in storage.volumes):
        return f"the volume {claim.volume} of its claim {key} does not exist"
    if claim.bound:
        return ""
    known = storage.classes.get(claim.storage_class)
    if claim.storage_class and known is None:
        return f"the storage class {claim.storage_class} of its claim {key} does not exist"
    if claim.volume or known is None or not known.waits_for_consumer:
        return f"its claim {key} is not bound"
    return ""


def _is_reserved(volume: Volume, claim: Claim) -> bool:
    return volume.claim == claim.key and volume.claim_uid in ("", claim.uid)


def _is_candidate(volume: Volume, claim: Claim) -> bool:
    if volume.storage_class != claim.storage_class or volume.size < claim.size:
        return False
    if volume.terminating or volume.mode != claim.mode:
        return False
    if volume.attributes_class != claim.attributes_class:
        return False
    if volume.claim:
        return _is_reserved(volume, claim)
    selects = claim.selector is None or claim.selector.matches(volume.labels)
    return volume.available and selects and set(claim.access_modes) <= set(volume.access_modes)
