# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Rules: the steps of a maintenance, and what leaving takes back."""

from __future__ import annotations

import json
from typing import Any, Mapping, Optional

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import Refused
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.maintenance_record import (
    Maintenance,
    Protection,
    Record,
    Request,
    arrive,
    enter,
    leave,
    read_maintenance,
    wait,
    withdraw,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_edit import NodeDecision
from tests.unit.builders import node

PREFIX = "fleet.evenkeel.dev/"
KARPENTER = "karpenter.sh/do-not-disrupt"
AUTOSCALER = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
REQUEST = Request("disk swap", True, "runner-1", "2026-11-30T22:00:00Z")
LATER = Request("", True, "runner-2", "2026-11-30T23:00:00Z")


def carried_out(target: Node, decision: NodeDecision) -> Node:
    merged = {**target.meta.annotations, **decision.edit.annotations}
    kept = {key: value for key, value in merged.items() if value is not None}
    return node(target.name, annotations=kept)


def ours(target: Node) -> dict[str, str]:
    return {
        key.replace(PREFIX, ""): value
        for key, value in target.meta.annotations.items()
        if key != PREFIX + "maintenance-record"
    }


def record(target: Node) -> Optional[Record]:
    return read_maintenance(target, PREFIX).record


ENTERED = carried_out(node(), enter(node(), PREFIX, REQUEST))
ARRIVED = carried_out(ENTERED, arrive(ENTERED, PREFIX))
WITHDRAWN = carried_out(ARRIVED, withdraw(ARRIVED, PREFIX))


def test_entering_asks_protects_and_remembers_what_it_found() -> None:
    assert ours(ENTERED) == {
        "maintenance": "true",
        "maintenance-state": "Entering",
        "maintenance-message": "disk swap",
        KARPENTER: "true",
        AUTOSCALER: "true",
    }
    assert record(ENTERED) == Record(
        "boot-n1",
        (Protection(KARPENTER, "true", None), Protection(AUTOSCALER, "true", None)),
        "runner-1",
        "2026-11-30T22:00:00Z",
    )


@pytest.mark.parametrize(
    ("target", "step", "expected"),
    [
        pytest.param(node(), "enter", "entering", id="nothing, enter"),
        pytest.param(ENTERED, "enter", "already_entering", id="Entering, enter"),
        pytest.param(ARRIVED, "enter", "already_in_maintenance", id="InMaintenance, enter"),
        pytest.param(WITHDRAWN, "enter", "entering", id="withdrawn, enter"),
        pytest.param(node(), "arrive", "not_requested", id="nothing, arrive"),
        pytest.param(ENTERED, "arrive", "in_maintenance", id="Entering, arrive"),
        pytest.param(ARRIVED, "arrive", "already_in_maintenance", id="InMaintenance, arrive"),
        pytest.param(WITHDRAWN, "arrive", "not_requested", id="withdrawn, arrive"),
        pytest.param(node(), "withdraw", "not_in_maintenance", id="nothing, withdraw"),
        pytest.param(ENTERED, "withdraw", "withdrawn", id="Entering, withdraw"),
        pytest.param(WITHDRAWN, "withdraw", "not_in_maintenance", id="withdrawn, withdraw"),
        pytest.param(node(), "leave", "not_in_maintenance", id="nothing, leave"),
        pytest.param(ENTERED, "leave", "left_maintenance", id="Entering, leave"),
        pytest.param(ARRIVED, "leave", "left_maintenance", id="InMaintenance, leave"),
        pytest.param(WITHDRAWN, "leave", "left_maintenance", id="withdrawn, leave"),
    ],
)
def test_each_step_from_each_state(target: Node, step: str, expected: str) -> None:
    decision = {
        "enter": lambda: enter(target, PREFIX, LATER),
        "arrive": lambda: arrive(target, PREFIX),
        "withdraw": lambda: withdraw(target, PREFIX),
        "leave": lambda: leave(target, PREFIX),
    }[step]()
    assert decision.code == expected
    # What only finds things as they should be writes nothing.
    idle = expected.startswith(("already", "not_"))
    assert decision.edit.empty is idle


def test_the_message_alone_is_brought_up_to_date_while_entering() -> None:
    decision = enter(ENTERED, PREFIX, Request("3 pod(s) left", True, "runner-2", "x"))
    assert dict(decision.edit.annotations) == {PREFIX + "maintenance-message": "3 pod(s) left"}


def test_arriving_replaces_the_message_by_the_one_given_or_none() -> None:
    assert "maintenance-message" not in ours(ARRIVED)
    told = carried_out(ENTERED, arrive(ENTERED, PREFIX, "empty"))
    assert ours(told)["maintenance-message"] == "empty"


def test_withdrawing_takes_only_the_request() -> None:
    assert dict(withdraw(ARRIVED, PREFIX).edit.annotations) == {PREFIX + "maintenance": None}


def test_entering_anew_after_a_withdrawal_keeps_what_was_found_and_has_its_own_start() -> None:
    again = carried_out(WITHDRAWN, enter(WITHDRAWN, PREFIX, LATER))
    first, second = record(WITHDRAWN), record(again)
    assert first is not None
    assert second == Record("boot-n1", first.protections, "runner-2", "2026-11-30T23:00:00Z")
    assert ours(again)["maintenance-state"] == "Entering"


def test_leaving_restores_the_node_exactly() -> None:
    found = {"team": "a", KARPENTER: "false"}
    before = node("n1", annotations=found)
    entered = carried_out(before, enter(before, PREFIX, REQUEST))
    assert entered.meta.annotations[KARPENTER] == "true"
    assert carried_out(entered, leave(entered, PREFIX)).meta.annotations == found


def test_a_protection_that_was_there_is_neither_recorded_nor_removed() -> None:
    before = node("n1", annotations={KARPENTER: "true"})
    entered = carried_out(before, enter(before, PREFIX, REQUEST))
    found = record(entered)
    assert found is not None
    assert found.protections == (Protection(AUTOSCALER, "true", None),)
    after = carried_out(entered, leave(entered, PREFIX))
    assert after.meta.annotations == {KARPENTER: "true"}


@pytest.mark.parametrize(
    ("change", "left", "told"),
    [
        pytest.param({KARPENTER: "false"}, {KARPENTER: "false"}, True, id="changed: it stays"),
        pytest.param({KARPENTER: None}, {}, False, id="removed: it stays away"),
    ],
)
def test_a_protection_that_somebody_touched_is_left_to_them(
    change: Mapping[str, Optional[str]], left: dict[str, str], told: bool
) -> None:
    merged = {**ENTERED.meta.annotations, **change}
    target = node("n1", annotations={k: v for k, v in merged.items() if v is not None})
    assert enter(target, PREFIX, LATER).edit.empty
    decision = leave(target, PREFIX)
    assert carried_out(target, decision).meta.annotations == left
    assert (KARPENTER in decision.detail) is told


def test_without_protection_none_is_set_and_a_later_wish_adds_it() -> None:
    bare = carried_out(node(), enter(node(), PREFIX, Request("", False, "r", "x")))
    assert KARPENTER not in bare.meta.annotations
    added = carried_out(bare, enter(bare, PREFIX, LATER))
    assert added.meta.annotations[KARPENTER] == "true"
    assert carried_out(added, leave(added, PREFIX)).meta.annotations == {}


def test_a_request_that_a_person_wrote_is_taken_up_and_removed_by_leaving() -> None:
    target = node("n1", annotations={PREFIX + "maintenance": "true"})
    assert enter(target, PREFIX, REQUEST).code == "entering"
    assert carried_out(target, leave(target, PREFIX)).meta.annotations == {}


def test_a_node_without_annotations_reads_as_no_maintenance() -> None:
    assert read_maintenance(node(), PREFIX) == Maintenance(False, "", "", None)


def test_with_kairons_prefix_the_annotations_are_kairons() -> None:
    decision = enter(node(), "kairon.zyvor.dev/", REQUEST)
    assert decision.edit.annotations["kairon.zyvor.dev/maintenance"] == "true"
    assert decision.edit.annotations["kairon.zyvor.dev/maintenance-state"] == "Entering"


@pytest.mark.parametrize(
    "raw", ["", "x", [], {}, {"bootID": "b", "protections": 7, "run": "", "since": ""}]
)
def test_an_unreadable_record_is_refused_with_the_way_out(raw: Any) -> None:
    text = raw if isinstance(raw, str) else json.dumps(raw)
    target = node("n1", annotations={PREFIX + "maintenance-record": text})
    with pytest.raises(Refused) as refusal:
        leave(target, PREFIX)
    assert refusal.value.code == "malformed_record"
    assert f"kubectl annotate node n1 {PREFIX}maintenance-record-" in str(refusal.value)


def test_waiting_writes_the_message_on_a_node_that_enters_and_on_no_other() -> None:
    told = wait(ENTERED, PREFIX, "3 pods left")
    assert (told.result, told.code) == ("done", "waiting")
    assert dict(told.edit.annotations) == {PREFIX + "maintenance-message": "3 pods left"}
    assert wait(carried_out(ENTERED, told), PREFIX, "3 pods left").edit.empty
    left = carried_out(ENTERED, withdraw(ENTERED, PREFIX))
    for other, code in ((left, "not_requested"), (ARRIVED, "already_in_maintenance")):
        decision = wait(other, PREFIX, "3 pods left")
        assert (decision.result, decision.code) == ("skipped", code)
        assert decision.edit.empty
