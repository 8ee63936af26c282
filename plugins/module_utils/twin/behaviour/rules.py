# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which nodes a pod fits on, by the scheduler's own filters (policy/eligibility).

The state that these ask is kept up to date from each change of a pod, and made anew when a node or
storage changes. Cordons are most of the changes of nodes, and need no new state: nodes are open in
it, and those that are cordoned are closed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Iterable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node, parse_node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    SchedulingParser,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.volumes import (
    parse_scheduling_storage,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility import verdict
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.pods import (
    PodClass,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.state import (
    ClusterState,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Change,
    Object,
    View,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.claims import claims_of
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.fits import Fit
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    CLAIMS,
    NODES,
    PODS,
    STORAGE_CLASSES,
    VOLUMES,
    finished,
    labels_of,
    leaving,
    node_of,
    status_of,
    uid_of,
)

NAMESPACES = "namespaces"
CSI_NODES, CSI_DRIVERS = "csinodes.storage.k8s.io", "csidrivers.storage.k8s.io"
# What the state is made of, pods apart.
MADE_OF = (NODES, CLAIMS, VOLUMES, STORAGE_CLASSES, CSI_NODES, CSI_DRIVERS, NAMESPACES)

_CORDON = "node.kubernetes.io/unschedulable"

_IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already"
    " in-use by another pod"
)
# In the order in which the scheduler asks its filters, with its words for a node that fails one. A
# node is counted for the first that it fails, but for each resource of which it has too little.
_WORDS: tuple[tuple[str, str], ...] = (
    (verdict.UNSCHEDULABLE, "node(s) were unschedulable"),
    (verdict.NODE_NAME, "node(s) didn't match the requested node name"),
    (verdict.TAINTS, "node(s) had untolerated taint(s)"),
    (verdict.NODE_SELECTOR, "node(s) didn't match Pod's node affinity/selector"),
    (verdict.NODE_AFFINITY, "node(s) didn't match Pod's node affinity/selector"),
    (verdict.HOST_PORTS, "node(s) didn't have free ports for the requested pod ports"),
    (verdict.RESOURCES, "Insufficient"),
    (verdict.READ_WRITE_ONCE_POD, _IN_USE),
    (verdict.ATTACH_LIMITS, "node(s) exceed max volume count"),
    (verdict.VOLUMES, "node(s) didn't match PersistentVolume's node affinity"),
    (verdict.TOPOLOGY_SPREAD, "node(s) didn't match pod topology spread constraints"),
    (verdict.POD_AFFINITY, "node(s) didn't match pod affinity rules"),
    (verdict.POD_ANTI_AFFINITY, "node(s) didn't match pod anti-affinity rules"),
    (
        verdict.ANTI_AFFINITY_OF_OTHERS,
        "node(s) didn't satisfy existing pods anti-affinity rules",
    ),
)


class RuleFits:
    """fits.Fits. hear() must be told of every change of MADE_OF and of pods."""

    def __init__(self) -> None:
        self._parser = SchedulingParser()
        self._state: Optional[ClusterState] = None
        self._placed: set[str] = set()
        self._cordoned: Optional[list[str]] = None

    def hear(self, change: Change) -> None:
        if change.resource == PODS:
            if self._state is not None and _moved(change):
                self._take(self._state, change)
        elif change.resource == NODES:
            if _other_node(change):
                self._state = None
            self._cordoned = None
        elif change.resource in MADE_OF:
            self._state = None

    def find(self, pod: Object, view: View) -> Fit:
        claims = claims_of(pod, view)
        if claims.refusal:
            return Fit((), {}, claims.refusal)
        state = self._current(view)
        judged = state.pod_class(self._parser.parse(pod))
        # What is not modelled is taken to fit: somewhere a pod must go.
        mask = state.possible(judged)
        names = tuple(state.names(mask))
        return Fit(names, {} if names else _reasons(state, judged))

    def _current(self, view: View) -> ClusterState:
        if self._state is None:
            self._state = self._made(view)
        if self._cordoned is None:
            self._cordoned = [
                node["metadata"]["name"]
                for node in view.objects(NODES)
                if (node.get("spec") or {}).get("unschedulable")
            ]
            self._state.close(self._cordoned)
        return self._state

    def _made(self, view: View) -> ClusterState:
        state = ClusterState(
            [_open(parse_node(node)) for node in view.objects(NODES)],
            {one["metadata"]["name"]: labels_of(one) for one in view.objects(NAMESPACES)},
            parse_scheduling_storage(
                claims=view.objects(CLAIMS),
                volumes=view.objects(VOLUMES),
                classes=view.objects(STORAGE_CLASSES),
                csi_nodes=view.objects(CSI_NODES),
                csi_drivers=view.objects(CSI_DRIVERS),
            ),
        )
        self._placed.clear()
        self._cordoned = None
        for pod in view.objects(PODS):
            self._place(state, pod)
        return state

    def _take(self, state: ClusterState, change: Change) -> None:
        uid = uid_of(change.object)
        if uid in self._placed:
            self._placed.discard(uid)
            state.remove(uid)
        if change.type != "DELETED":
            self._place(state, change.object)

    def _place(self, state: ClusterState, pod: Object) -> None:
        if node_of(pod) in state.nodes.index and not finished(pod):
            judged = state.pod_class(self._parser.parse(pod))
            state.place(uid_of(pod), judged, node_of(pod), leaving(pod))
            self._placed.add(uid_of(pod))


def _moved(change: Change) -> bool:
    """Is it anything that filters look at? Objects are never changed in place, so an equal spec is
    the same one as a rule."""
    pod, before = change.object, change.before
    if change.type == "DELETED" or before is None:
        return bool(node_of(pod))
    return (
        pod["spec"] is not before["spec"]
        or labels_of(pod) != labels_of(before)
        or (leaving(pod), finished(pod)) != (leaving(before), finished(before))
    )


def _other_node(change: Change) -> bool:
    """A cordon apart: is it what pods are judged by? Most writes to a node are conditions."""
    return (
        change.before is None
        or change.type == "DELETED"
        or _judged(change.object) != _judged(change.before)
    )


def _judged(node: Object) -> tuple[object, ...]:
    taints = [one for one in (node.get("spec") or {}).get("taints") or () if one["key"] != _CORDON]
    return labels_of(node), taints, status_of(node).get("allocatable")


def _open(node: Node) -> Node:
    taints = tuple(taint for taint in node.taints if taint.key != _CORDON)
    return replace(node, unschedulable=False, taints=taints)


def _reasons(state: ClusterState, pod: PodClass) -> Mapping[str, int]:
    passing = dict(state.by_rule(pod))
    left, reasons = state.nodes.all, Counter[str]()
    for rule, words in _WORDS:
        failing = left & ~passing[rule]
        left &= passing[rule]
        if rule == verdict.RESOURCES:
            for name in state.names(failing):
                reasons.update(_shortages(state, pod, name))
        elif failing:
            reasons[words] += len(state.names(failing))
    return reasons


def _shortages(state: ClusterState, pod: PodClass, node: str) -> Iterable[str]:
    for failing in state.explain(pod, node).failing:
        for name, _amount in failing.short:
            yield "Too many pods" if name == "pods" else f"Insufficient {name}"
