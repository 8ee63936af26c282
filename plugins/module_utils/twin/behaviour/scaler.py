# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A scaler of nodes: pods that fit nowhere get new nodes, of the cheapest type that takes them.

As Karpenter does in the simple case: pods that have waited as long as a node takes to come are
packed together, the largest first; a node appears when it joins. It removes no nodes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any, Iterable, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.requests import (
    effective_requests,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Act,
    Change,
    Create,
    Key,
    Later,
    Object,
    View,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.fits import (
    Room,
    allocatable,
    short_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.matching import (
    selects,
    untolerated,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.pace import (
    AT_ONCE,
    Distribution,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    NODES,
    PODS,
    Raw,
    condition,
    created_at,
    labels_of,
    leaving,
    ready,
    seconds_of,
    text_of,
    uid_of,
)

POOL_LABEL = "karpenter.sh/nodepool"
TYPE_LABEL = "node.kubernetes.io/instance-type"
_LONGEST_SERIES = 20
# Seconds that a new node is left to the scheduler before another is made for the same pods.
_SETTLING = 10.0
_QUEUE = Key("scaler", "", "")


@dataclass(frozen=True)
class InstanceType:
    """price: per hour, in any unit. allocatable: quantities as the API writes them."""

    name: str
    price: float
    allocatable: Mapping[str, str]
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Pool:
    """delay: from the first try for a pod until its node joins. limit: nodes of the pool at most.
    failures: the share of tries that give no node and are made again."""

    name: str
    types: Sequence[InstanceType]
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: Sequence[Mapping[str, str]] = ()
    delay: Distribution = AT_ONCE
    limit: Optional[int] = None
    failures: float = 0.0


@dataclass(frozen=True)
class Scaler:
    """seed: a delay must be the same each time it is looked at (see Kubelet)."""

    pools: Sequence[Pool]
    seed: int = 0
    room: Room = field(default_factory=Room)

    name = "scaler"
    watches = (PODS,)

    def keys(self, change: Change, view: View) -> Iterable[Key]:  # noqa: ARG002
        return (_QUEUE,) if change.type != "DELETED" and _stuck(change.object) else ()

    def reconcile(self, key: Key, view: View, now: float, draw: Random) -> Iterable[Act]:  # noqa: ARG002
        waiting = [pod for pod in view.unscheduled() if _stuck(pod)]
        acts: list[Act] = []
        for pool in self.pools:
            due = {uid_of(pod): self._due(pod, pool) for pod in waiting}
            ripe = [pod for pod in waiting if due[uid_of(pod)] <= now]
            lacking = _left_over(ripe, _joining(pool, view, now), self.room, view)
            made, taken = _packed(lacking, pool, _room_for(pool, view), now)
            acts.extend(Create(NODES, node) for node in made)
            waiting = [pod for pod in waiting if uid_of(pod) not in taken]
            later = [due[uid_of(pod)] for pod in waiting if due[uid_of(pod)] > now]
            if len(lacking) < len(ripe):
                # Should the scheduler not put them where they fit, they get other nodes then.
                later.append(now + _SETTLING)
            acts.extend([Later(min(later))] if later else [])
        return acts

    def _due(self, pod: Object, pool: Pool) -> float:
        """Since the scheduler gave up, plus the delay of each try up to the one that succeeds."""
        chance = Random(f"{self.seed} {uid_of(pod)} {pool.name}")
        since = seconds_of(condition(pod, "PodScheduled")["lastTransitionTime"])
        delay = pool.delay.sample(chance)
        for _try in range(_LONGEST_SERIES):
            if chance.random() >= pool.failures:
                break
            delay += pool.delay.sample(chance)
        return since + delay


def _stuck(pod: Object) -> bool:
    found = condition(pod, "PodScheduled")
    return (
        not (pod.get("spec") or {}).get("nodeName")
        and not leaving(pod)
        and found.get("status") == "False"
        and found.get("reason") == "Unschedulable"
    )


# --- what there is -------------------------------------------------------------------------


def _of_pool(pool: Pool, view: View) -> list[Object]:
    return [node for node in view.objects(NODES) if labels_of(node).get(POOL_LABEL) == pool.name]


def _room_for(pool: Pool, view: View) -> int:
    """Nodes that may still be made."""
    return 10**6 if pool.limit is None else max(0, pool.limit - len(_of_pool(pool, view)))


def _joining(pool: Pool, view: View, now: float) -> list[Object]:
    """Nodes that have just come: what was made for the pods that still wait."""
    return [
        node
        for node in _of_pool(pool, view)
        if not ready(node) or created_at(node) + _SETTLING > now
    ]


def _left_over(
    pods: Iterable[Object], nodes: Iterable[Object], room: Room, view: View
) -> list[Object]:
    bins = [
        (node, dict(allocatable(node)), Counter(room.used(node["metadata"]["name"], view)))
        for node in nodes
    ]
    return [pod for pod in _largest_first(pods) if not _into_one(pod, bins)]


_Bin = tuple[Object, Mapping[str, int], "Counter[str]"]


def _into_one(pod: Object, bins: Iterable[_Bin]) -> bool:
    asked = {**effective_requests(pod), "pods": 1}
    for node, there, used in bins:
        if _may_run(pod, node) and not any(True for _name in short_of(asked, there, used)):
            used.update(asked)
            return True
    return False


def _may_run(pod: Object, node: Object) -> bool:
    spec = pod["spec"]
    starting = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    taints = [one for one in node["spec"].get("taints") or () if one["key"] not in starting]
    return selects(spec, node) and untolerated(spec.get("tolerations") or (), taints) is None


# --- what comes ----------------------------------------------------------------------------


def _largest_first(pods: Iterable[Object]) -> list[Object]:
    def size(pod: Object) -> tuple[int, int]:
        asked = effective_requests(pod)
        return -asked.get("cpu", 0), -asked.get("memory", 0)

    return sorted(pods, key=size)


def _packed(
    pods: Sequence[Object], pool: Pool, most: int, now: float
) -> tuple[list[Raw], set[str]]:
    """New nodes for these pods, and the UIDs of those that they take."""
    made: list[Raw] = []
    taken: set[str] = set()
    left = list(pods)
    while left and len(made) < most:
        node, filled = _cheapest(left, pool, now)
        if node is None:
            # The largest fits on no type at all; a smaller one may.
            left = left[1:]
            continue
        made.append(node)
        taken.update(filled)
        left = [pod for pod in left if uid_of(pod) not in filled]
    return made, taken


def _cheapest(
    pods: Sequence[Object], pool: Pool, now: float
) -> tuple[Optional[Raw], frozenset[str]]:
    """Of the types that take the first pod: the least price per pod taken, then by name."""
    best: Optional[tuple[tuple[float, str], Raw, frozenset[str]]] = None
    for kind in pool.types:
        node = _node(pool, kind, uid_of(pods[0]), now)
        bins = [(node, dict(allocatable(node)), Counter[str]())]
        if not _into_one(pods[0], bins):
            continue
        others = [uid_of(pod) for pod in pods[1:] if _into_one(pod, bins)]
        filled = frozenset((uid_of(pods[0]), *others))
        rank = (kind.price / len(filled), kind.name)
        if best is None or rank < best[0]:
            best = (rank, node, filled)
    return (None, frozenset()) if best is None else (best[1], best[2])


def _node(pool: Pool, kind: InstanceType, pod_uid: str, now: float) -> Raw:
    name = f"{pool.name}-{pod_uid.replace('-', '')[:10]}"
    labels: dict[str, Any] = {
        "kubernetes.io/hostname": name,
        TYPE_LABEL: kind.name,
        POOL_LABEL: pool.name,
        **pool.labels,
        **kind.labels,
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": [dict(one) for one in pool.taints], "providerID": f"twin://{name}"},
        "status": {
            "allocatable": dict(kind.allocatable),
            "capacity": dict(kind.allocatable),
            "nodeInfo": {"bootID": f"{name}-{text_of(now)}"},
        },
    }
