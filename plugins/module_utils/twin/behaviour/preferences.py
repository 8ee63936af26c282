# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Of the nodes that a pod fits on, which the scheduler likes best: its scores that tell most.

Source: pkg/scheduler/framework/plugins (noderesources/least_allocated.go, nodeaffinity, and of
podtopologyspread scoring.go, and plugin.go for the defaults), 1.37, with their default weights.
Not: balanced allocation, preferred affinity between pods, taints with PreferNoSchedule, images.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.requests import (
    effective_requests,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Key,
    Object,
    View,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.fits import (
    Room,
    allocatable,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.matching import (
    matches_any,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    NODES,
    PODS,
    controller_of,
    labels_of,
    leaving,
    node_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.selecting import (
    selected,
    selector_of,
)

_SPREAD_WEIGHT, _AFFINITY_WEIGHT = 2, 2
# What a pod that asks for nothing counts for, when nodes are compared.
_NOMINAL = {"cpu": 100, "memory": 200 * 1024 * 1024}
_HOSTNAME = "kubernetes.io/hostname"
# For pods that say nothing of their spread: (label of nodes, maxSkew).
_DEFAULTS = ((_HOSTNAME, 3), ("topology.kubernetes.io/zone", 5))
_SPREAD_OWNERS = ("ReplicaSet", "StatefulSet", "ReplicationController")


def liked(pod: Object, names: Iterable[str], view: View, room: Room) -> list[str]:
    """Those of these nodes that score best, in the order of their names."""
    found = [view.get(Key(NODES, "", name)) for name in sorted(names)]
    nodes = [node for node in found if node is not None]
    spread, affinity = _spread(pod, nodes, view), _affinity(pod, nodes)
    requests = effective_requests(pod)
    asked = tuple(requests.get(resource) or nominal for resource, nominal in _NOMINAL.items())
    scores = [
        _SPREAD_WEIGHT * spread[place]
        + _AFFINITY_WEIGHT * affinity[place]
        + _least_allocated(allocatable(node), room.used(_name(node), view), asked)
        for place, node in enumerate(nodes)
    ]
    best = max(scores, default=0)
    return [_name(node) for node, score in zip(nodes, scores) if score == best]


def _least_allocated(
    there: Mapping[str, int], used: Mapping[str, int], asked: Sequence[int]
) -> int:
    """0 to 100: the free share, the mean of CPU and memory."""
    shares = 0
    for resource, amount in zip(_NOMINAL, asked):
        total = there.get(resource, 0)
        if total:
            shares += max(0, total - used.get(resource, 0) - amount) * 100 // total
    return shares // len(_NOMINAL)


# --- spread --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Constraint:
    """peers: the pods that are to be spread, by node. soft: a node without the label counts."""

    label: str
    max_skew: int
    peers: Mapping[str, int]
    soft: bool


def _spread(pod: Object, nodes: Sequence[Object], view: View) -> list[int]:
    """0 to 100 for each node: 100 where the fewest of its like are."""
    constraints = _constraints(pod, view)
    judged = [
        all(one.soft or one.label in labels_of(node) for one in constraints) for node in nodes
    ]
    sums = [0.0] * len(nodes)
    for one in constraints:
        counts = _counts(one, view)
        values = [labels_of(node).get(one.label) for node in nodes]
        size = len(nodes) if one.label == _HOSTNAME else len({*values} - {None})
        for place, value in enumerate(values):
            if value is not None:
                sums[place] += counts[value] * math.log(size + 2) + one.max_skew - 1
    return _normalized([round(total) for total in sums], judged)


def _normalized(costs: Sequence[int], judged: Sequence[bool]) -> list[int]:
    """More cost is less score."""
    counted = [cost for cost, is_judged in zip(costs, judged) if is_judged]
    most, least = max(counted, default=0), min(counted, default=0)
    return [
        0 if not is_judged else 100 if most == 0 else 100 * (most + least - cost) // most
        for cost, is_judged in zip(costs, judged)
    ]


def _constraints(pod: Object, view: View) -> list[_Constraint]:
    given = pod["spec"].get("topologySpreadConstraints") or ()
    if given:
        return [
            _Constraint(one["topologyKey"], one["maxSkew"], _selected(pod, one, view), False)
            for one in given
            if one.get("whenUnsatisfiable") == "ScheduleAnyway"
        ]
    owner = controller_of(pod)
    if owner is None or owner["kind"] not in _SPREAD_OWNERS:
        return []
    peers = _by_node(view.owned(PODS, owner["uid"]))
    return [_Constraint(label, skew, peers, True) for label, skew in _DEFAULTS]


def _selected(pod: Object, constraint: Mapping[str, Any], view: View) -> Mapping[str, int]:
    selector = selector_of(constraint.get("labelSelector"))
    return _by_node(selected(view, PODS, pod["metadata"]["namespace"], selector))


def _by_node(pods: Iterable[Object]) -> Counter[str]:
    return Counter(node_of(pod) for pod in pods if node_of(pod) and not leaving(pod))


def _counts(constraint: _Constraint, view: View) -> Counter[str]:
    """By value of the label, the peers on nodes that have it."""
    counts: Counter[str] = Counter()
    for name, number in constraint.peers.items():
        node = view.get(Key(NODES, "", name))
        value = labels_of(node).get(constraint.label) if node is not None else None
        if value is not None:
            counts[value] += number
    return counts


# --- node affinity -------------------------------------------------------------------------


def _affinity(pod: Object, nodes: Sequence[Object]) -> list[int]:
    """0 to 100 for each node: the preferred terms that it matches, by their weights."""
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    terms = affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    sums = [
        sum(int(one["weight"]) for one in terms if matches_any([one["preference"]], node))
        for node in nodes
    ]
    most = max(sums, default=0)
    return [100 * total // most if most else 0 for total in sums]


def _name(node: Object) -> str:
    return str(node["metadata"]["name"])
