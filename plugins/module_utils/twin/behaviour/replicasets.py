# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The replica set controller, which serves replication controllers as well.

Source: pkg/controller/replicaset/replica_set.go and pkg/controller/controller_utils.go
(ActivePodsWithRanks), 1.37.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import Any, Iterable, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import LabelSelector
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
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    PODS,
    REPLICA_SETS,
    Raw,
    active,
    annotations_of,
    available,
    condition,
    controller_of,
    created_at,
    finished,
    key_of,
    labels_of,
    leaving,
    next_available,
    node_of,
    pod_from,
    ready,
    reference_to,
    seconds_of,
    status_of,
    uid_of,
    with_metadata,
    without_zeros,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.selecting import (
    selected,
    selector_of,
)

REPLICATION_CONTROLLERS = "replicationcontrollers"
_KINDS = {"ReplicaSet": REPLICA_SETS, "ReplicationController": REPLICATION_CONTROLLERS}
# Pods that one step creates or deletes at most.
_BURST = 500
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


@dataclass(frozen=True)
class ReplicaSets:
    name = "replicasets"
    watches = (REPLICA_SETS, REPLICATION_CONTROLLERS, PODS)

    def keys(self, change: Change, view: View) -> Iterable[Key]:
        if change.resource != PODS:
            return () if change.type == "DELETED" else (key_of(change.resource, change.object),)
        states = [change.object] if change.before is None else [change.object, change.before]
        owners = [controller_of(one) for one in states]
        found = {
            Key(_KINDS[owner["kind"]], change.object["metadata"]["namespace"], owner["name"]): None
            for owner in owners
            if owner is not None and owner["kind"] in _KINDS
        }
        if owners[0] is None and not leaving(change.object):
            found.update(dict.fromkeys(_willing(change.object, view)))
        return tuple(found)

    def reconcile(self, key: Key, view: View, now: float, draw: Random) -> Iterable[Act]:  # noqa: ARG002
        owner = view.get(key)
        if owner is None:
            return ()
        acts: list[Act] = []
        pods = _claimed(owner, view, acts)
        living = [pod for pod in pods if active(pod)]
        if not leaving(owner):
            acts.extend(_managed(owner, living, view, now))
        status = _status(owner, living, pods, now)
        if status != owner.get("status"):
            acts.append(Update(key.resource, {**owner, "status": status}, status=True))
        again = next_available(living, _min_ready(owner), now)
        if again is not None:
            acts.append(Later(again))
        return acts


def _min_ready(owner: Object) -> int:
    return int(owner["spec"].get("minReadySeconds") or 0)


# --- which pods ----------------------------------------------------------------------------


def selector_of_owner(owner: Object) -> Optional[LabelSelector]:
    raw: Optional[Mapping[str, Any]] = owner["spec"].get("selector")
    bare = owner["kind"] == "ReplicationController" and raw is not None
    return selector_of({"matchLabels": raw} if bare else raw)


def _willing(pod: Object, view: View) -> Iterable[Key]:
    """Those that would adopt an orphan."""
    for resource in (REPLICA_SETS, REPLICATION_CONTROLLERS):
        for owner in view.objects(resource, pod["metadata"]["namespace"]):
            selector = selector_of_owner(owner)
            if selector is not None and not selector.empty and selector.matches(labels_of(pod)):
                yield key_of(resource, owner)


def _claimed(owner: Object, view: View, acts: list[Act]) -> list[Object]:
    """Its pods: those that it keeps and the orphans that it adopts; what it writes for that goes
    to `acts`. A pod whose labels no longer fit is released."""
    selector = selector_of_owner(owner)
    if selector is None:
        return []
    kept = []
    for pod in view.owned(PODS, uid_of(owner)):
        if selector.matches(labels_of(pod)):
            kept.append(pod)
        elif not leaving(owner):
            acts.append(Update(PODS, _released(pod, owner)))
    if leaving(owner):
        return kept
    namespace = owner["metadata"]["namespace"]
    for pod in selected(view, PODS, namespace, selector):
        if controller_of(pod) is None and active(pod):
            owners = [*(pod["metadata"].get("ownerReferences") or ()), reference_to(owner)]
            acts.append(Update(PODS, with_metadata(pod, ownerReferences=owners)))
            kept.append(pod)
    return kept


def _released(pod: Object, owner: Object) -> Raw:
    owners = pod["metadata"].get("ownerReferences") or ()
    rest = [one for one in owners if one["uid"] != uid_of(owner)]
    return with_metadata(pod, ownerReferences=rest)


# --- more or fewer -------------------------------------------------------------------------


def _managed(owner: Object, living: Sequence[Object], view: View, now: float) -> Iterable[Act]:
    surplus = len(living) - int(owner["spec"].get("replicas", 1))
    if surplus < 0:
        for _each in range(min(-surplus, _BURST)):
            yield Create(PODS, _pod_of(owner))
    elif surplus > 0:
        neighbours = _pods_per_node(owner, view)
        first = sorted(living, key=lambda pod: _rank(pod, neighbours, now))
        for pod in first[: min(surplus, _BURST)]:
            yield Delete(key_of(PODS, pod), uid_of(pod))


def _pod_of(owner: Object) -> Raw:
    pod = pod_from(owner["spec"].get("template") or {}, owner)
    return with_metadata(pod, generateName=f"{owner['metadata']['name']}-")


def _pods_per_node(owner: Object, view: View) -> Counter[str]:
    """Active pods on each node, of this set and of those with the same owner."""
    above = controller_of(owner)
    family = [owner]
    if above is not None and owner["kind"] == "ReplicaSet":
        family = list(view.owned(REPLICA_SETS, str(above["uid"])))
    return Counter(
        node_of(pod) for one in family for pod in view.owned(PODS, uid_of(one)) if active(pod)
    )


def _rank(pod: Object, neighbours: Mapping[str, int], now: float) -> tuple[Any, ...]:
    """The lowest goes first: without a node, not yet running, not Ready, of little cost, beside
    many others, not Ready for long, restarted often, young. Ages count in powers of two, so that
    pods of about one age go by UID and not by when a rollout reached their node."""
    is_ready = ready(pod)
    since = seconds_of(condition(pod, "Ready")["lastTransitionTime"]) if is_ready else 0.0
    restarts = sum(
        one.get("restartCount", 0) for one in status_of(pod).get("containerStatuses") or ()
    )
    return (
        bool(node_of(pod)),
        _PHASES.get(status_of(pod).get("phase", ""), 0),
        is_ready,
        _cost(pod),
        -neighbours.get(node_of(pod), 0),
        _magnitude(now - since) if is_ready else 0,
        -restarts,
        _magnitude(now - created_at(pod)),
        uid_of(pod),
    )


def _cost(pod: Object) -> int:
    try:
        return int(annotations_of(pod).get(_DELETION_COST, "0"))
    except ValueError:
        return 0


def _magnitude(age: float) -> int:
    return int(math.log2(age)) if age >= 1 else 0


# --- status --------------------------------------------------------------------------------


def _status(
    owner: Object, living: Sequence[Object], pods: Iterable[Object], now: float
) -> Mapping[str, Any]:
    labels = ((owner["spec"].get("template") or {}).get("metadata") or {}).get("labels") or {}
    min_ready = _min_ready(owner)
    counts = {
        "replicas": len(living),
        "fullyLabeledReplicas": sum(
            all(labels_of(pod).get(key) == value for key, value in labels.items()) for pod in living
        ),
        "readyReplicas": sum(map(ready, living)),
        "availableReplicas": sum(available(pod, min_ready, now) for pod in living),
    }
    status = without_zeros(counts, always=("replicas",))
    if owner["kind"] == "ReplicaSet":
        status["terminatingReplicas"] = sum(leaving(pod) and not finished(pod) for pod in pods)
    status["observedGeneration"] = owner["metadata"].get("generation", 1)
    return status
