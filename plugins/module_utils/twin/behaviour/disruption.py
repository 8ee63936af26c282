# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The disruption controller: what the status of a PodDisruptionBudget says.

Source: pkg/controller/disruption/disruption.go, 1.37. The arithmetic is policy.disruption's.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Iterable, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.disruption import (
    allowed,
    desired_healthy,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Act,
    Change,
    Key,
    Later,
    Object,
    Update,
    View,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    BUDGETS,
    DEPLOYMENTS,
    PODS,
    REPLICA_SETS,
    STATEFUL_SETS,
    Raw,
    key_of,
    labels_of,
    leaving,
    ready,
    seconds_of,
    status_of,
    uid_of,
    with_conditions,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.scales import (
    NoScale,
    expected_scale,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.selecting import (
    selected,
    selector_of,
)

# Seconds that an admitted eviction is expected to show in.
DELETION_TIMEOUT = 120.0


@dataclass(frozen=True)
class Disruption:
    name = "disruption"
    watches = (BUDGETS, PODS, DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, "replicationcontrollers")

    def keys(self, change: Change, view: View) -> Iterable[Key]:
        if change.resource == BUDGETS:
            return () if change.type == "DELETED" else (key_of(BUDGETS, change.object),)
        if change.resource != PODS:
            return _of_owner(change, view)
        if not _counts_differently(change):
            return ()
        states = [change.object] if change.before is None else [change.object, change.before]
        return _selecting(states, view)

    def reconcile(self, key: Key, view: View, now: float, draw: Random) -> Iterable[Act]:  # noqa: ARG002
        budget = view.get(key)
        if budget is None or leaving(budget):
            return ()
        try:
            return _synced(budget, view, now)
        except NoScale as problem:
            return _failed(budget, str(problem), now)


# --- which budgets -------------------------------------------------------------------------


def _selecting(pods: Iterable[Object], view: View) -> list[Key]:
    states = list(pods)
    namespace = states[0]["metadata"]["namespace"]
    found = []
    for budget in view.objects(BUDGETS, namespace):
        selector = selector_of(budget["spec"].get("selector"))
        if selector is not None and any(selector.matches(labels_of(one)) for one in states):
            found.append(key_of(BUDGETS, budget))
    return found


def _counts_differently(change: Change) -> bool:
    """Most changes of a pod are none of what a budget counts."""
    if change.type != "MODIFIED" or change.before is None:
        return True
    return _counted(change.object) != _counted(change.before)


def _counted(pod: Object) -> tuple[Any, ...]:
    owners = pod["metadata"].get("ownerReferences")
    return ready(pod), leaving(pod), labels_of(pod), owners


def _of_owner(change: Change, view: View) -> list[Key]:
    """A new scale changes what is expected; the pods tell which budgets look at the owner."""
    before = change.before
    if before is not None and before["spec"].get("replicas") == change.object["spec"].get(
        "replicas"
    ):
        return []
    owners = [change.object]
    if change.resource == DEPLOYMENTS:
        owners = list(view.owned(REPLICA_SETS, uid_of(change.object)))
    for owner in owners:
        for pod in view.owned(PODS, uid_of(owner)):
            return _selecting([pod], view)
    return []


# --- the status ----------------------------------------------------------------------------


def _synced(budget: Object, view: View, now: float) -> Iterable[Act]:
    namespace = budget["metadata"]["namespace"]
    pods = selected(view, PODS, namespace, selector_of(budget["spec"].get("selector")))
    expected = _expected(budget, view, pods)
    disrupted = _disrupted(budget, pods, now)
    healthy = sum(
        ready(pod) and not leaving(pod) and pod["metadata"]["name"] not in disrupted for pod in pods
    )
    least, most = budget["spec"].get("minAvailable"), budget["spec"].get("maxUnavailable")
    status: Raw = {
        **status_of(budget),
        "currentHealthy": healthy,
        "desiredHealthy": desired_healthy(least, most, expected),
        "disruptionsAllowed": allowed(least, most, expected, healthy),
        "expectedPods": expected,
        "observedGeneration": budget["metadata"].get("generation", 1),
        "disruptedPods": disrupted,
    }
    if not disrupted:
        del status["disruptedPods"]
    room = status["disruptionsAllowed"] > 0
    _set_condition(status, room, "SufficientPods" if room else "InsufficientPods", "", now)
    acts: list[Act] = list(_written(budget, status))
    recheck = min((seconds_of(when) for when in disrupted.values()), default=None)
    if recheck is not None:
        acts.append(Later(recheck + DELETION_TIMEOUT + 0.01))
    return acts


def _expected(budget: Object, view: View, pods: list[Object]) -> int:
    """An integer minAvailable counts the pods there are; all else is a share of the owners' scale.

    Raises NoScale.
    """
    spec = budget["spec"]
    if spec.get("maxUnavailable") is None and not isinstance(spec.get("minAvailable"), str):
        return len(pods)
    return expected_scale(view, budget["metadata"]["namespace"], pods)


def _disrupted(budget: Object, pods: Iterable[Object], now: float) -> dict[str, str]:
    """The admitted evictions that are still to be seen: neither leaving, nor too long ago."""
    found = status_of(budget).get("disruptedPods") or {}
    if not found:
        return {}
    waiting = {pod["metadata"]["name"] for pod in pods if not leaving(pod)}
    return {
        name: when
        for name, when in found.items()
        if name in waiting and seconds_of(when) + DELETION_TIMEOUT >= now
    }


def _failed(budget: Object, message: str, now: float) -> Iterable[Act]:
    """As safe as can be: no disruption, and the rest of the status as it was (C11)."""
    status: Raw = {**status_of(budget), "disruptionsAllowed": 0}
    _set_condition(status, False, "SyncFailed", message, now)
    return _written(budget, status)


def _set_condition(status: Raw, holds: bool, reason: str, message: str, now: float) -> None:
    wanted = {
        "type": "DisruptionAllowed",
        "status": "True" if holds else "False",
        "reason": reason,
        "message": message,
    }
    if status.get("observedGeneration"):
        wanted["observedGeneration"] = status["observedGeneration"]
    status["conditions"] = with_conditions(status.get("conditions") or (), wanted, now=now)


def _written(budget: Object, status: Raw) -> Iterable[Act]:
    before: Optional[Any] = budget.get("status")
    if before == status:
        return ()
    return (Update(BUDGETS, {**budget, "status": status}, status=True),)
