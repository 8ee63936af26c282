# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The daemon set controller: a pod on each node that takes it, cordoned or not.

Source: pkg/controller/daemon (daemon_controller.go, update.go, util), 1.37. Without maxSurge.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Iterable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.disruption import of_total
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Act,
    Change,
    Create,
    Delete,
    Key,
    Later,
    Object,
    Update,
    View,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.matching import (
    selects,
    taints_of,
    target_of,
    untolerated,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    DAEMON_SETS,
    NODES,
    PODS,
    Raw,
    available,
    created_at,
    finished,
    key_of,
    labels_of,
    leaving,
    next_available,
    node_of,
    own_keys,
    pod_from,
    ready,
    status_of,
    uid_of,
    with_metadata,
    without_zeros,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.revisions import (
    HASH_LABEL,
    Revision,
    revision_of,
    revisions_of,
    surplus,
)

# What every pod of a daemon set tolerates: key, effect.
_TOLERATED = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
_ON_HOST_NETWORK = ("node.kubernetes.io/network-unavailable", "NoSchedule")


@dataclass(frozen=True)
class DaemonSets:
    name = "daemonsets"
    watches = (DAEMON_SETS, PODS, NODES)

    def keys(self, change: Change, view: View) -> Iterable[Key]:
        if change.resource != NODES:
            return own_keys(change, DAEMON_SETS, "DaemonSet")
        return [
            key_of(DAEMON_SETS, one) for one in view.objects(DAEMON_SETS) if _minds(one, change)
        ]

    def reconcile(self, key: Key, view: View, now: float, draw: Random) -> Iterable[Act]:  # noqa: ARG002
        owner = view.get(key)
        if owner is None or leaving(owner):
            return ()
        history = revisions_of(owner, view)
        revision, writes = revision_of(owner, history)
        found = _Found.of(owner, view, now, revision)
        used = {labels_of(pod).get(HASH_LABEL, "") for pod in found.pods} | {revision.hash}
        acts = [*writes, *surplus(owner, history, used), *_managed(found), *_rolled(found)]
        status = _status(found)
        if status != owner.get("status"):
            acts.append(Update(DAEMON_SETS, {**owner, "status": status}, status=True))
        again = next_available(found.pods, found.min_ready, now)
        if again is not None:
            acts.append(Later(again))
        return acts


# --- which nodes ---------------------------------------------------------------------------


def daemon_tolerations(spec: Mapping[str, Any]) -> list[Raw]:
    given = [dict(one) for one in spec.get("tolerations") or ()]
    own = (*_TOLERATED, *((_ON_HOST_NETWORK,) if spec.get("hostNetwork") else ()))
    added = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in own]
    return [*given, *(one for one in added if one not in given)]


def _fate(owner: Object, node: Optional[Object]) -> tuple[bool, bool]:
    """Shall a pod be started there, and may one that runs stay there?"""
    if node is None:
        return False, False
    spec = owner["spec"]["template"].get("spec") or {}
    if not selects(spec, node):
        return False, False
    tolerations, taints = daemon_tolerations(spec), taints_of(node)
    return (
        untolerated(tolerations, taints) is None,
        untolerated(tolerations, taints, ("NoExecute",)) is None,
    )


def _minds(owner: Object, change: Change) -> bool:
    """A node that changes in other ways is none of its business: there are many such changes."""
    if change.type == "DELETED":
        return _fate(owner, change.object) != (False, False)
    return _fate(owner, change.object) != _fate(owner, change.before)


# --- what there is -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Found:
    """fates: of each node; by_node: the pods on it or made for it, the oldest first."""

    owner: Object
    now: float
    revision: Revision
    fates: Mapping[str, tuple[bool, bool]]
    by_node: Mapping[str, list[Object]]

    @staticmethod
    def of(owner: Object, view: View, now: float, revision: Revision) -> _Found:
        fates = {node["metadata"]["name"]: _fate(owner, node) for node in view.objects(NODES)}
        by_node: dict[str, list[Object]] = {}
        for pod in view.owned(PODS, uid_of(owner)):
            by_node.setdefault(target_of(pod), []).append(pod)
        for pods in by_node.values():
            pods.sort(key=lambda pod: (not node_of(pod), created_at(pod)))
        return _Found(owner, now, revision, fates, by_node)

    @property
    def pods(self) -> list[Object]:
        return [pod for pods in self.by_node.values() for pod in pods]

    @property
    def wanted(self) -> list[str]:
        return [node for node, fate in self.fates.items() if fate[0]]

    @property
    def min_ready(self) -> int:
        return int(self.owner["spec"].get("minReadySeconds") or 0)

    def serving(self, node: str) -> Optional[Object]:
        """The oldest pod of a node that is not leaving."""
        return next((pod for pod in self.by_node.get(node, ()) if not leaving(pod)), None)

    def serves(self, node: str) -> bool:
        pod = self.serving(node)
        return pod is not None and available(pod, self.min_ready, self.now)


# --- more or fewer -------------------------------------------------------------------------


def _managed(found: _Found) -> Iterable[Act]:
    """A finished pod is deleted, and its node gets another once it is gone."""
    for node in {**dict.fromkeys(found.fates), **dict.fromkeys(found.by_node)}:
        starts, stays = found.fates.get(node, (False, False))
        pods = found.by_node.get(node, [])
        if starts and not pods:
            yield Create(PODS, _pod(found, node))
            continue
        living = [pod for pod in pods if not leaving(pod)]
        extra = [pod for pod in living if finished(pod)] if stays else living
        kept = [pod for pod in living if not finished(pod)]
        for pod in [*extra, *(kept[1:] if stays else ())]:
            yield Delete(key_of(PODS, pod), uid_of(pod))


def _pod(found: _Found, node: str) -> Raw:
    owner = found.owner
    pod = pod_from(owner["spec"]["template"], owner)
    generation = (owner["metadata"].get("annotations") or {}).get(
        "deprecated.daemonset.template.generation", "1"
    )
    labels = {
        **labels_of(pod),
        HASH_LABEL: found.revision.hash,
        "pod-template-generation": generation,
    }
    spec = {
        **pod["spec"],
        "affinity": _pinned(pod["spec"].get("affinity") or {}, node),
        "tolerations": daemon_tolerations(pod["spec"]),
    }
    name = f"{owner['metadata']['name']}-"
    return with_metadata({**pod, "spec": spec}, generateName=name, labels=labels)


def _pinned(affinity: Mapping[str, Any], node: str) -> Raw:
    """The node by its name replaces what the template requires: it has been looked at."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {**affinity, "nodeAffinity": {**(affinity.get("nodeAffinity") or {}), **required}}


# --- a new template ------------------------------------------------------------------------


def _rolled(found: _Found) -> Iterable[Act]:
    strategy = found.owner["spec"].get("updateStrategy") or {}
    if strategy.get("type") == "OnDelete":
        return
    rolling = strategy.get("rollingUpdate") or {}
    most = of_total(rolling.get("maxUnavailable", 1), len(found.wanted))
    spare = most - sum(not found.serves(node) for node in found.wanted)
    for node in found.wanted:
        pod = found.serving(node)
        if pod is None or finished(pod):
            continue
        if labels_of(pod).get(HASH_LABEL) == found.revision.hash:
            continue
        if found.serves(node):
            if spare <= 0:
                continue
            spare -= 1
        yield Delete(key_of(PODS, pod), uid_of(pod))


# --- status --------------------------------------------------------------------------------


def _status(found: _Found) -> Mapping[str, Any]:
    serving = [found.serving(node) for node in found.wanted]
    pods = [pod for pod in serving if pod is not None]
    serves = sum(map(found.serves, found.wanted))
    updated = sum(labels_of(pod).get(HASH_LABEL) == found.revision.hash for pod in pods)
    others = [node for node, fate in found.fates.items() if not fate[0]]
    counts = {
        "currentNumberScheduled": len(pods),
        "desiredNumberScheduled": len(found.wanted),
        "numberMisscheduled": sum(found.serving(node) is not None for node in others),
        "numberReady": sum(map(ready, pods)),
        "numberAvailable": serves,
        "numberUnavailable": len(found.wanted) - serves,
        "updatedNumberScheduled": updated,
    }
    always = ("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled")
    status = without_zeros(counts, always=(*always, "numberReady"))
    status["observedGeneration"] = found.owner["metadata"].get("generation", 1)
    return {**status, **_kept_conditions(found.owner)}


def _kept_conditions(owner: Object) -> Mapping[str, Any]:
    conditions = status_of(owner).get("conditions")
    return {"conditions": conditions} if conditions else {}
