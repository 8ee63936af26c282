# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Volumes: where a claim's volume can be used, how many a node attaches, and who may share one.

What a planned move would do to an unbound claim (bind it, provision a volume) is not followed: two
pods that wait for the only free volume both fit.
Source: kube-scheduler 1.37, pkg/scheduler/framework/plugins: volumebinding, volumezone,
nodevolumelimits, volumerestrictions.
"""

from __future__ import annotations

from typing import Iterator, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.volumes import (
    READ_WRITE_ONCE_POD,
    Claim,
    Storage,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility import verdict
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.local import (
    LocalMasks,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.nodes import (
    NO_NODE,
    NodeTable,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.pods import (
    PodClass,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.verdict import (
    Failing,
)

# A volume by driver and handle. An unbound claim counts as a volume of its own.
_Disk = tuple[str, str]


class AttachRule:
    """A node attaches so many volumes of a driver; one that several pods use counts once."""

    name = verdict.ATTACH_LIMITS

    def __init__(self, nodes: NodeTable, storage: Storage, journal: list[int]) -> None:
        self._nodes = nodes
        self._storage = storage
        self._used: list[dict[_Disk, int]] = [{} for _unused in nodes.nodes]
        self._attached = [storage.attached.get(n.name, frozenset()) for n in nodes.nodes]
        self._limits = [storage.limits.get(node.name, {}) for node in nodes.nodes]
        self._masks = LocalMasks(len(nodes), journal, self._has_room)
        self._disks_of: dict[PodClass, frozenset[_Disk]] = {}

    def add(self, pod: PodClass, node: int, amount: int) -> None:
        used = self._used[node]
        for disk in self._disks(pod):
            used[disk] = used.get(disk, 0) + amount
            if not used[disk]:
                del used[disk]

    def passing(self, pod: PodClass) -> int:
        disks = self._disks(pod)
        return self._masks.mask(disks) if disks else self._nodes.all

    def failing(self, pod: PodClass, node: int) -> Iterator[Failing]:
        disks = self._disks(pod)
        for driver in sorted({driver for driver, _unused in disks}):
            if self._lacks(driver, node):
                detail = f"the node does not have the CSI driver {driver}"
                yield Failing(verdict.ATTACH_LIMITS, detail)
            elif not self._driver_has_room(driver, disks, node):
                limit = self._limits[node][driver]
                detail = f"the node attaches no more than {limit} volumes of {driver}"
                yield Failing(verdict.ATTACH_LIMITS, detail)

    def _has_room(self, disks: frozenset[_Disk], node: int) -> bool:
        return all(
            not self._lacks(driver, node) and self._driver_has_room(driver, disks, node)
            for driver in {driver for driver, _unused in disks}
        )

    def _lacks(self, driver: str, node: int) -> bool:
        known = self._storage.drivers.get(driver)
        return known is not None and known.required_on_node and driver not in self._limits[node]

    def _driver_has_room(self, driver: str, disks: frozenset[_Disk], node: int) -> bool:
        limit = self._limits[node].get(driver)
        if limit is None:
            return True
        used = self._used[node]
        there = sum(1 for disk in self._attached[node].union(used) if disk[0] == driver)
        new = sum(1 for disk in disks if disk[0] == driver and disk not in used)
        return not new or there + new <= limit

    def _disks(self, pod: PodClass) -> frozenset[_Disk]:
        if pod not in self._disks_of:
            names = pod.spec.claims + pod.spec.ephemeral_claims
            found = [self._disk(f"{pod.spec.namespace}/{name}") for name in names]
            self._disks_of[pod] = frozenset(disk for disk in found if disk is not None)
        return self._disks_of[pod]

    def _disk(self, key: str) -> Optional[_Disk]:
        claim = self._storage.claims.get(key)
        if claim is None:
            return None
        volume = self._storage.volumes.get(claim.volume)
        if volume is not None:
            return (volume.driver, volume.handle) if volume.driver and volume.handle else None
        known = self._storage.classes.get(claim.storage_class)
        return (known.provisioner, f"unbound {key}") if known is not None else None


class OnePodRule:
    """C33. A claim that is ReadWriteOncePod has one user in the whole cluster."""

    name = verdict.READ_WRITE_ONCE_POD

    def __init__(self, nodes: NodeTable, storage: Storage) -> None:
        self._nodes = nodes
        self._claims = {
            key for key, one in storage.claims.items() if READ_WRITE_ONCE_POD in one.access_modes
        }
        self._users: dict[str, int] = {}

    def add(self, pod: PodClass, node: int, amount: int) -> None:  # noqa: ARG002 - no node matters
        for key in self._of(pod):
            self._users[key] = self._users.get(key, 0) + amount

    def passing(self, pod: PodClass) -> int:
        return NO_NODE if any(map(self._users.get, self._of(pod))) else self._nodes.all

    def failing(self, pod: PodClass, node: int) -> Iterator[Failing]:  # noqa: ARG002 - as above
        for key in self._of(pod):
            if self._users.get(key):
                detail = f"another pod uses its claim {key}, which allows one at a time"
                yield Failing(verdict.READ_WRITE_ONCE_POD, detail)

    def _of(self, pod: PodClass) -> list[str]:
        if not self._claims:
            return []
        keys = (f"{pod.spec.namespace}/{name}" for name in pod.spec.claims)
        return [key for key in keys if key in self._claims]


def claims_of(pod: PodClass, storage: Storage) -> list[tuple[str, Optional[Claim]]]:
    """The pod's claims by key, None where there is none of that name."""
    keys = [f"{pod.spec.namespace}/{name}" for name in pod.spec.claims]
    return [(key, storage.claims.get(key)) for key in keys]
