# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How a plan goes on, and how it ends (PLAN_SEMANTICS 1, 2 and 5)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan import (
    document as d,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan import (
    progress,
    status,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.actions import ACTIONS

NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
LATER = NOW + timedelta(minutes=5)


def replacing(*nodes: str) -> d.Plan:
    """An executing plan that replaces these nodes by one: 1 provisions, then three steps a node."""
    steps = [d.Step("1", "provision", "new-1", "")]
    for node in nodes:
        for action in ("cordon", "drain", "delete"):
            number = str(len(steps) + 1)
            steps.append(d.Step(number, action, node, f"uid-{node}", node=node, wave=1))
    ready = d.advanced(d.begun("p1", "", "c", status.REBALANCE, NOW), status.READY, NOW)
    return progress.begun_to_execute(replace(ready, steps=tuple(steps)), NOW)


def state_of(plan: d.Plan, number: str) -> d.Step:
    return next(step for step in plan.steps if step.id == number)


def test_a_plan_that_begins_counts_what_is_to_be_done():
    found = replacing("n1", "n2").execution_progress
    assert (found.nodes_to_create, found.nodes_to_drain, found.nodes_to_delete) == (1, 2, 2)
    assert (found.nodes_created, found.nodes_drained, found.nodes_deleted) == (0, 0, 0)


def test_a_step_is_intended_with_its_time_and_done_with_its_time():
    plan = progress.intended(replacing("n1"), ["2"], NOW)
    assert (state_of(plan, "2").state, state_of(plan, "2").intent_time) == (d.INTENDED, NOW)
    assert progress.in_flight(plan).id == "2"
    plan = progress.told(plan, ["2"], d.DONE, LATER)
    assert (state_of(plan, "2").state, state_of(plan, "2").done_time) == (d.DONE, LATER)
    assert progress.in_flight(plan) is None
    assert plan.update_time == LATER


def test_a_step_that_is_done_is_not_intended_again():
    plan = progress.told(replacing("n1"), ["2"], d.DONE, NOW)
    assert progress.intended(plan, ["2", "3"], LATER).steps[1] == plan.steps[1]


def test_a_step_that_no_plan_has_is_a_key_error():
    with pytest.raises(KeyError, match="99"):
        progress.intended(replacing("n1"), ["99"], NOW)


def test_done_steps_are_counted():
    plan = progress.told(replacing("n1", "n2"), ["1", "3", "4"], d.DONE, NOW)
    found = plan.execution_progress
    assert (found.nodes_created, found.nodes_drained, found.nodes_deleted) == (1, 1, 1)


@pytest.mark.parametrize(
    ("number", "code"),
    [
        ("1", "NODE_CREATE_FAILED"),
        ("2", "NODE_PREPARE_FAILED"),
        ("3", "NODE_DRAIN_FAILED"),
        ("4", "NODE_DELETE_FAILED"),
    ],
)
def test_a_step_that_failed_is_an_error_of_its_kind(number, code):
    plan = progress.told(replacing("n1"), [number], d.FAILED, NOW, "No way.")
    wanted = d.RebalancingError(code, "No way.", "new-1" if number == "1" else "n1")
    assert plan.errors == (wanted,)


def test_an_error_stays_when_its_step_succeeds_later_and_is_not_told_twice():
    plan = progress.told(replacing("n1"), ["3"], d.FAILED, NOW, "No way.")
    plan = progress.told(plan, ["3"], d.FAILED, LATER, "No way.")
    plan = progress.told(progress.intended(plan, ["3"], LATER), ["3"], d.DONE, LATER)
    assert len(plan.errors) == 1
    assert state_of(plan, "3").detail == ""


def test_every_step_done_is_completed():
    plan = replacing("n1", "n2")
    done = progress.told(plan, [step.id for step in plan.steps], d.DONE, NOW)
    ended = progress.ended(done, LATER)
    assert (ended.status, ended.complete_time) == (status.COMPLETED, LATER)


def test_one_old_node_done_and_one_not_is_partially_completed():
    plan = progress.told(replacing("n1", "n2"), ["1", "2", "3", "4", "5"], d.DONE, NOW)
    assert progress.ended(plan, LATER).status == status.PARTIALLY_COMPLETED


def test_no_old_node_done_is_failed_though_one_is_drained():
    plan = progress.told(replacing("n1", "n2"), ["1", "2", "3"], d.DONE, NOW)
    assert progress.ended(plan, LATER).status == status.FAILED


def test_a_cancelled_plan_has_one_error_that_names_the_step_in_flight():
    plan = progress.intended(replacing("n1"), ["3"], NOW)
    over = progress.canceled(plan, LATER, "ann@laptop")
    assert over.status == status.CANCELED
    assert over.errors == (
        d.RebalancingError("OPERATION_CANCELED", "Cancelled by ann@laptop.", "drain n1"),
    )


def test_a_plan_that_is_cancelled_between_two_steps_is_itself_affected():
    (error,) = progress.canceled(replacing("n1"), LATER, "ann@laptop").errors
    assert error.affected_resource == "plan p1"


def test_a_plan_that_is_over_cannot_be_cancelled():
    over = progress.canceled(replacing("n1"), NOW, "ann")
    with pytest.raises(status.IllegalTransition):
        progress.canceled(over, LATER, "bob")


moves = st.tuples(
    st.sampled_from(["1", "2", "3", "4", "5", "6", "7"]),
    st.sampled_from([d.INTENDED, d.DONE, d.SKIPPED, d.FAILED]),
)


@given(st.lists(moves, max_size=20))
def test_whatever_happened_the_counts_are_those_of_the_steps_and_the_end_is_one_of_three(story):
    plan = replacing("n1", "n2")
    for number, state in story:
        if state == d.INTENDED:
            plan = progress.intended(plan, [number], NOW)
        else:
            plan = progress.told(plan, [number], state, NOW, "detail")
    counted = plan.execution_progress
    done = dict.fromkeys(ACTIONS, 0)
    for step in plan.steps:
        done[step.action] += step.state == d.DONE
    assert counted.nodes_drained == done["drain"]
    assert counted.nodes_deleted == done["delete"]
    ended = progress.ended(plan, LATER)
    whole = [
        all(step.state == d.DONE for step in steps) for steps in progress.old_nodes(plan).values()
    ]
    if ended.status == status.COMPLETED:
        assert all(whole)
        assert not progress.open_steps(plan)
    elif ended.status == status.PARTIALLY_COMPLETED:
        assert any(whole)
    else:
        assert ended.status == status.FAILED
        assert not any(whole)
