# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How a plan goes on: its steps' states, what they come to, and how it ends. Pure.

A step is intended before it is acted on and told afterwards; a runner that finds one intended looks
at the world before it does it again. An old node is one that the plan drains. It is done when all
of its steps are; a plan ends by how many are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import datetime
from typing import Callable, Collection, Iterable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.actions import (
    DELETE,
    DRAIN,
    FAILING,
    PROVISION,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.document import (
    DONE,
    FAILED,
    INTENDED,
    PLANNED,
    ExecutionProgress,
    Plan,
    RebalancingError,
    Step,
    advanced,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.status import (
    CANCELED,
    COMPLETED,
    EXECUTING,
    OPERATION_CANCELED,
    PARTIALLY_COMPLETED,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.status import (
    FAILED as PLAN_FAILED,
)


def begun_to_execute(plan: Plan, now: datetime) -> Plan:
    """Returns the READY plan as it is EXECUTING. Raises status.IllegalTransition."""
    return _counted(advanced(plan, EXECUTING, now))


def intended(plan: Plan, ids: Collection[str], now: datetime) -> Plan:
    """Returns the plan with these steps about to be done. A step that is done stays done.

    Raises KeyError for a step that is none of the plan's.
    """

    def change(step: Step) -> Step:
        if step.state == DONE:
            return step
        return replace(step, state=INTENDED, intent_time=now, done_time=None, detail="")

    return _with_steps(plan, ids, now, change)


def told(plan: Plan, ids: Collection[str], state: str, now: datetime, detail: str = "") -> Plan:
    """Returns the plan with what became of these steps: done, skipped or failed.

    A step that failed adds an error, which stays though it succeeds later.
    Raises KeyError as intended does.
    """

    def change(step: Step) -> Step:
        done_time = now if state == DONE else None
        return replace(step, state=state, done_time=done_time, detail=detail)

    changed = _with_steps(plan, ids, now, change)
    if state != FAILED:
        return changed
    failed = (step for step in changed.steps if step.id in set(ids))
    return with_errors(changed, map(_error_of, failed), now)


def _error_of(step: Step) -> RebalancingError:
    message = step.detail or f"{step.action} failed."
    return RebalancingError(FAILING[step.action], message, step.object)


def with_errors(plan: Plan, errors: Iterable[RebalancingError], now: datetime) -> Plan:
    """An error that is there already is not added again."""
    new = [error for error in dict.fromkeys(errors) if error not in plan.errors]
    return replace(plan, errors=(*plan.errors, *new), update_time=now) if new else plan


def ended(plan: Plan, now: datetime) -> Plan:
    """Returns the EXECUTING plan in the status that its steps come to."""
    old = old_nodes(plan)
    done = sum(all(step.state == DONE for step in steps) for steps in old.values())
    if all(step.state == DONE for step in plan.steps):
        return advanced(plan, COMPLETED, now)
    return advanced(plan, PARTIALLY_COMPLETED if done else PLAN_FAILED, now)


def canceled(plan: Plan, now: datetime, by: str) -> Plan:
    """Returns the plan as it is CANCELED, with the one error that says so.

    Raises status.IllegalTransition for one that is over.
    """
    flying = in_flight(plan)
    what = f"{flying.action} {flying.object}" if flying else f"plan {plan.id}"
    error = RebalancingError(OPERATION_CANCELED, f"Cancelled by {by}.", what)
    return with_errors(advanced(plan, CANCELED, now), (error,), now)


def in_flight(plan: Plan) -> Optional[Step]:
    """The first step that was begun and of which nothing is known since."""
    return next((step for step in plan.steps if step.state == INTENDED), None)


def old_nodes(plan: Plan) -> Mapping[str, tuple[Step, ...]]:
    """Returns the steps of each node that the plan drains, in their order."""
    drained = {step.node for step in plan.steps if step.action == DRAIN}
    found: dict[str, list[Step]] = defaultdict(list)
    for step in plan.steps:
        if step.node in drained:
            found[step.node].append(step)
    return {node: tuple(steps) for node, steps in found.items()}


def open_steps(plan: Plan) -> tuple[Step, ...]:
    """Those that are still to be done, in their order."""
    return tuple(step for step in plan.steps if step.state in (PLANNED, INTENDED))


def _with_steps(
    plan: Plan, ids: Collection[str], now: datetime, change: Callable[[Step], Step]
) -> Plan:
    wanted = set(ids)
    unknown = wanted - {step.id for step in plan.steps}
    if unknown:
        raise KeyError(sorted(unknown)[0])
    steps = tuple(change(step) if step.id in wanted else step for step in plan.steps)
    return _counted(replace(plan, steps=steps, update_time=now))


def _counted(plan: Plan) -> Plan:
    """With the execution progress that its steps make; the budgets in it are somebody else's."""
    all_of = Counter(step.action for step in plan.steps)
    done = Counter(step.action for step in plan.steps if step.state == DONE)
    before = plan.execution_progress or ExecutionProgress()
    return replace(
        plan,
        execution_progress=replace(
            before,
            nodes_created=done[PROVISION],
            nodes_to_create=all_of[PROVISION],
            nodes_drained=done[DRAIN],
            nodes_to_drain=all_of[DRAIN],
            nodes_deleted=done[DELETE],
            nodes_to_delete=all_of[DELETE],
        ),
    )
