# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""May this pod leave now? Asked again, with the rules that judge a drain, just before each act."""

from __future__ import annotations

from typing import Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.events import Now
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.leaver import (
    Hurdle,
    Leaver,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.state import (
    DrainState,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import Budget
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.disruption import (
    Kind,
    Prediction,
    predict,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.fragility import (
    may_leave,
    owner_replicas,
    owner_state,
)

# A line names so many of the pods that keep a budget low.
_NAMED = 3


def hurdle_of(state: DrainState, leaver: Leaver, now: Now) -> Optional[Hurdle]:
    """Returns what holds this waiting pod back, or None when its eviction may be posted now."""
    return (
        leaver.refusal
        or _delayed(state, leaver, now)
        or _no_room(state)
        or _owner_turn(state, leaver)
        or _budget_turn(state, leaver, now)
    )


def _delayed(state: DrainState, leaver: Leaver, now: Now) -> Optional[Hurdle]:
    if now.mono < leaver.not_before:
        return leaver.hurdle
    if now.mono < state.paused_until:
        return Hurdle("throttled", "the API server asked for a pause")
    return None


def _no_room(state: DrainState) -> Optional[Hurdle]:
    most = state.options.max_parallel
    if most and len(state.leaving_uids()) >= most:
        return Hurdle("max_parallel", f"max_parallel: {most} pods are leaving already")
    return None


def _owner_turn(state: DrainState, leaver: Leaver) -> Optional[Hurdle]:
    """C34, C35: fragile pods leave one at a time per owner, each when the last is made up for."""
    if not leaver.fragile or not leaver.owner:
        return None
    family = state.world.family(leaver.pod)
    replicas = owner_replicas(leaver.pod, family)
    situation = owner_state(
        leaver.owner,
        family.controller_of(leaver.pod),
        state.owners[leaver.owner].ready,
        replicas,
        state.leaving_among(replicas),
    )
    hold = may_leave(leaver.pod, situation)
    return None if hold is None else Hurdle(hold.code, hold.sentence)


def _budget_turn(state: DrainState, leaver: Leaver, now: Now) -> Optional[Hurdle]:
    """C07, C08, C10, C11: what the API would answer, by the ledger's view of the budgets."""
    if state.options.disable_eviction:
        return None
    pod = leaver.pod
    views = state.ledger.views(state.budgets_of(pod), now.mono)
    prediction = predict(pod, views)
    if prediction.kind in (Kind.WAITS, Kind.NEVER) and len(views) == 1:
        # How many pods there will be takes a look at every pod: only where it may matter. It tells
        # both ways: a pod that is missing for now must not make of "wait" a "never".
        prediction = predict(pod, views, state.world.attainable(views[0]))
    if prediction.kind is Kind.NEVER:
        detail = f"{prediction.reason} {prediction.remedy}"
        return Hurdle(prediction.code, detail, for_good=True)
    if prediction.kind is Kind.WAITS:
        return Hurdle(prediction.code, _waits_for(state, prediction, views))
    return None


def _waits_for(state: DrainState, prediction: Prediction, views: tuple[Budget, ...]) -> str:
    """waits for PDB shop/web (allows 0; shop/web-1 on n3 (not Ready))."""
    budget = views[0]
    facts = [f"allows {budget.disruptions_allowed}"]
    if prediction.code == "budget_exhausted":
        facts += [str(pod) for pod in state.world.unhealthy(budget)[:_NAMED]]
    else:
        facts.append(prediction.reason.rstrip("."))
    return f"waits for PDB {budget.key} ({'; '.join(facts)})"
