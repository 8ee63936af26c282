# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The scheduler: of the nodes that a pod fits on, one of those that it likes best.

Source: pkg/scheduler (schedule_one.go), 1.37. No preemption.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Iterable

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Act,
    Bind,
    Change,
    Key,
    Object,
    Update,
    View,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.claims import (
    SELECTED_NODE,
    claims_of,
    selected_node,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.fits import (
    Fit,
    Fits,
    Room,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.preferences import (
    liked,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    CLAIMS,
    NODES,
    PODS,
    active,
    annotations_of,
    finished,
    key_of,
    labels_of,
    node_of,
    status_of,
    uid_of,
    with_conditions,
    with_metadata,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.rules import (
    MADE_OF,
    RuleFits,
)


@dataclass(frozen=True)
class Scheduler:
    """names: the spec.schedulerName values that are this one's."""

    fits: Fits = field(default_factory=RuleFits)
    names: tuple[str, ...] = ("default-scheduler",)
    room: Room = field(default_factory=Room)

    name = "scheduler"
    watches = (PODS, *MADE_OF)

    def keys(self, change: Change, view: View) -> Iterable[Key]:
        self.fits.hear(change)
        if change.resource == PODS:
            pod = change.object
            if change.type != "DELETED" and self._mine(pod):
                return (key_of(PODS, pod),)
            return self._all(view) if _frees(change) else ()
        if change.resource == NODES and not _offers(change):
            return ()
        return self._all(view)

    def reconcile(self, key: Key, view: View, now: float, draw: Random) -> Iterable[Act]:
        pod = view.get(key)
        if pod is None or not self._mine(pod):
            return ()
        fit = self.fits.find(pod, view)
        if not fit.nodes:
            return _unschedulable(pod, fit, view, now)
        waiting = claims_of(pod, view).waiting
        chosen = next((one for one in map(selected_node, waiting) if one in fit.nodes), "")
        node = chosen or draw.choice(liked(pod, fit.nodes, view, self.room))
        asked = [
            Update(CLAIMS, with_metadata(claim, annotations=_selecting(claim, node)))
            for claim in waiting
            if selected_node(claim) != node
        ]
        if waiting:
            # The claims' own changes bring the pod back once they are bound.
            return asked
        return (Bind(key, uid_of(pod), node),)

    def _mine(self, pod: Object) -> bool:
        spec = pod["spec"]
        return (
            not spec.get("nodeName")
            and active(pod)
            and not spec.get("schedulingGates")
            and spec.get("schedulerName", "default-scheduler") in self.names
        )

    def _all(self, view: View) -> list[Key]:
        """What is to be tried again: by priority, then by age."""
        pods = [pod for pod in view.unscheduled() if self._mine(pod)]
        pods.sort(key=lambda pod: -int(pod["spec"].get("priority") or 0))
        return [key_of(PODS, pod) for pod in pods]


def _frees(change: Change) -> bool:
    """A pod that leaves a node, or ends on it, makes room."""
    if not node_of(change.object):
        return False
    ended = finished(change.object) and change.before is not None and not finished(change.before)
    return change.type == "DELETED" or ended


def _offers(change: Change) -> bool:
    """Did what pods are judged by change? Most writes to a node are conditions."""
    return (
        change.before is None
        or change.type == "DELETED"
        or (_judged(change.object) != _judged(change.before))
    )


def _judged(node: Object) -> tuple[object, ...]:
    spec = node.get("spec") or {}
    allowed = status_of(node).get("allocatable")
    return labels_of(node), spec.get("taints"), spec.get("unschedulable"), allowed


def _selecting(claim: Object, node: str) -> dict[str, str]:
    return {**annotations_of(claim), SELECTED_NODE: node}


def _unschedulable(pod: Object, fit: Fit, view: View, now: float) -> Iterable[Act]:
    total = sum(1 for _node in view.objects(NODES))
    wanted = {
        "type": "PodScheduled",
        "status": "False",
        "lastProbeTime": None,
        "reason": "Unschedulable",
        "message": message_of(fit, total),
        "observedGeneration": pod["metadata"].get("generation", 1),
    }
    found = status_of(pod).get("conditions") or ()
    conditions = with_conditions(found, wanted, now=now)
    if conditions == list(found):
        return ()
    status = {**status_of(pod), "conditions": conditions}
    return (Update(PODS, {**pod, "status": status}, status=True),)


def message_of(fit: Fit, total: int) -> str:
    """As the scheduler words it, without what it says of preemption."""
    if total == 0:
        return "no nodes available to schedule pods"
    if fit.refusal:
        return f"0/{total} nodes are available: {fit.refusal}."
    reasons = sorted(f"{count} {reason}" for reason, count in fit.reasons.items())
    return f"0/{total} nodes are available: {', '.join(reasons)}."
