# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Rules: who holds a node closed, and when it opens. Cases C19, C20, C25."""

from __future__ import annotations

import json
from typing import Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import Refused
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.cordon_ownership import (
    Claim,
    Cordon,
    Ruling,
    claim,
    decide,
    read_cordon,
    release,
    release_all,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_edit import (
    DONE,
    FAILED,
    SKIPPED,
    NodeDecision,
    NodeEdit,
)
from tests.unit.builders import node

PREFIX = "fleet.evenkeel.dev/"
OWNERS = PREFIX + "cordon-owners"
MARK = PREFIX + "maintenance-cordoned"
SINCE = "2026-11-30T22:00:00Z"

MAINTENANCE = Claim("maintenance", "disk swap", SINCE)
ADMIN = Claim("someone-else")
TEAM = Claim("team-a", "kernel", SINCE)

OPEN = Cordon()
FOREIGN = Cordon(True, (ADMIN,))
OURS = Cordon(True, (MAINTENANCE,), marked=True)
DRIFTED = Cordon(False, (MAINTENANCE,), marked=True)


def after_claim(found: Cordon, wish: Claim) -> tuple[str, str, Cordon]:
    ruling = claim(found, wish)
    return ruling.result, ruling.code, ruling.after


def after_release(found: Cordon, owner: str) -> tuple[str, str, Cordon]:
    ruling = release(found, owner)
    return ruling.result, ruling.code, ruling.after


@pytest.mark.parametrize(
    ("found", "wish", "expected"),
    [
        pytest.param(OPEN, MAINTENANCE, (DONE, "cordoned", OURS), id="an open node is closed"),
        pytest.param(
            OPEN,
            TEAM,
            (DONE, "cordoned", Cordon(True, (TEAM,))),
            id="another owner than maintenance leaves no mark",
        ),
        pytest.param(
            FOREIGN,
            MAINTENANCE,
            (SKIPPED, "already_cordoned", Cordon(True, (ADMIN, MAINTENANCE))),
            id="C19 C20 a cordon found keeps its owner, someone else",
        ),
        pytest.param(
            Cordon(True, (TEAM,)),
            MAINTENANCE,
            (SKIPPED, "already_cordoned", Cordon(True, (TEAM, MAINTENANCE))),
            id="a second owner joins without a mark",
        ),
        pytest.param(
            OURS,
            TEAM,
            (SKIPPED, "already_cordoned", Cordon(True, (MAINTENANCE, TEAM), True)),
            id="maintenance keeps its mark when another joins",
        ),
        pytest.param(
            OURS,
            Claim("maintenance"),
            (SKIPPED, "already_cordoned", OURS),
            id="the same owner changes nothing, its reason neither",
        ),
        pytest.param(
            OURS,
            Claim("maintenance", "new disk", "2027-01-01T00:00:00Z"),
            (
                SKIPPED,
                "already_cordoned",
                Cordon(True, (Claim("maintenance", "new disk", SINCE),), True),
            ),
            id="a new reason is written, since stays",
        ),
        pytest.param(
            DRIFTED, MAINTENANCE, (FAILED, "drifted", DRIFTED), id="C25 a drift is not fought"
        ),
        pytest.param(
            DRIFTED,
            TEAM,
            (DONE, "cordoned", Cordon(True, (MAINTENANCE, TEAM))),
            id="C25 another owner's first claim closes a drifted node, the mark goes",
        ),
        pytest.param(
            Cordon(True, (ADMIN,), marked=True),
            TEAM,
            (SKIPPED, "already_cordoned", Cordon(True, (ADMIN, TEAM))),
            id="a mark left over from an earlier cordon is dropped",
        ),
    ],
)
def test_claiming(found: Cordon, wish: Claim, expected: tuple[str, str, Cordon]) -> None:
    assert after_claim(found, wish) == expected


@pytest.mark.parametrize(
    ("found", "owner", "expected"),
    [
        pytest.param(OURS, "maintenance", (DONE, "uncordoned", OPEN), id="the last owner opens it"),
        pytest.param(
            Cordon(True, (ADMIN, MAINTENANCE)),
            "maintenance",
            (SKIPPED, "held_by_others", FOREIGN),
            id="C19 the cordon that was there before stays",
        ),
        pytest.param(
            Cordon(True, (MAINTENANCE, TEAM), True),
            "maintenance",
            (SKIPPED, "held_by_others", Cordon(True, (TEAM,))),
            id="another owner keeps it closed and the mark goes with maintenance",
        ),
        pytest.param(
            Cordon(True, (MAINTENANCE, TEAM), True),
            "team-a",
            (SKIPPED, "held_by_others", OURS),
            id="maintenance's mark stays when another leaves",
        ),
        pytest.param(
            OURS, "team-a", (SKIPPED, "not_owner", OURS), id="who holds nothing opens nothing"
        ),
        pytest.param(
            FOREIGN,
            "maintenance",
            (SKIPPED, "not_owner", FOREIGN),
            id="an admin's cordon is not maintenance's to open",
        ),
        pytest.param(
            OPEN, "maintenance", (SKIPPED, "already_uncordoned", OPEN), id="an open node stays open"
        ),
        pytest.param(
            DRIFTED,
            "maintenance",
            (SKIPPED, "already_uncordoned", OPEN),
            id="C25 leaving a drifted node forgets the claim",
        ),
        pytest.param(
            Cordon(False, (), marked=True),
            "maintenance",
            (SKIPPED, "already_uncordoned", OPEN),
            id="a mark that another opener left is removed",
        ),
    ],
)
def test_releasing(found: Cordon, owner: str, expected: tuple[str, str, Cordon]) -> None:
    assert after_release(found, owner) == expected


@pytest.mark.parametrize("found", [OURS, FOREIGN, Cordon(True, (ADMIN, MAINTENANCE, TEAM), True)])
def test_release_all_opens_whoever_holds_the_node(found: Cordon) -> None:
    ruling = release_all(found)
    assert (ruling.result, ruling.code, ruling.after) == (DONE, "uncordoned", OPEN)


@pytest.mark.parametrize("found", [OPEN, DRIFTED])
def test_release_all_of_an_open_node_leaves_no_claim(found: Cordon) -> None:
    assert release_all(found) == Ruling(SKIPPED, "already_uncordoned", "", OPEN)


def owners(*claims: Claim) -> str:
    rows = [{"owner": held.owner, "reason": held.reason, "since": held.since} for held in claims]
    return json.dumps(rows, separators=(",", ":"))


@pytest.mark.parametrize(
    ("closed", "text", "mark", "expected"),
    [
        pytest.param(False, None, None, OPEN, id="an open node"),
        pytest.param(True, None, None, FOREIGN, id="an unsigned cordon is someone else's"),
        pytest.param(
            True,
            None,
            "true",
            Cordon(True, (Claim("maintenance"),), True),
            id="a mark alone: another keeper of these annotations closed it for maintenance",
        ),
        pytest.param(True, owners(MAINTENANCE), "true", OURS, id="our own cordon"),
        pytest.param(False, owners(MAINTENANCE), "true", DRIFTED, id="C25 opened by somebody"),
        pytest.param(
            False,
            owners(ADMIN, MAINTENANCE),
            None,
            Cordon(False, (MAINTENANCE,)),
            id="who closed it unsigned has opened it again",
        ),
        pytest.param(
            True,
            '[{"owner": "team-a"}]',
            None,
            Cordon(True, (Claim("team-a"),)),
            id="reason and since may be missing",
        ),
    ],
)
def test_reading(closed: bool, text: Optional[str], mark: Optional[str], expected: Cordon) -> None:
    found = {OWNERS: text, MARK: mark}
    annotations = {key: value for key, value in found.items() if value is not None}
    assert read_cordon(node(cordoned=closed, annotations=annotations), PREFIX) == expected


@pytest.mark.parametrize(
    "text",
    ["", "maintenance", "{}x", '["maintenance"]', '[{"reason": "x"}]', '[{"owner": 1}]', "7"],
)
def test_an_unreadable_list_is_refused_with_the_command_that_removes_it(text: str) -> None:
    with pytest.raises(Refused) as refusal:
        read_cordon(node("n1", annotations={OWNERS: text}), PREFIX)
    assert refusal.value.code == "malformed_owners"
    assert f"kubectl annotate node n1 {OWNERS}-" in str(refusal.value)


def test_the_edit_of_a_first_claim_closes_and_signs() -> None:
    target = node("n1")
    found = read_cordon(target, PREFIX)
    assert decide(target, PREFIX, found, claim(found, MAINTENANCE)) == NodeDecision(
        DONE,
        "cordoned",
        "",
        NodeEdit(
            {OWNERS: owners(MAINTENANCE), MARK: "true"},
            unschedulable=True,
            guarded=(OWNERS, MARK),
            guards_unschedulable=True,
        ),
    )


def test_the_edit_of_the_last_release_leaves_the_node_without_a_word() -> None:
    target = node("n1", cordoned=True, annotations={OWNERS: owners(MAINTENANCE), MARK: "true"})
    found = read_cordon(target, PREFIX)
    edit = decide(target, PREFIX, found, release(found, "maintenance")).edit
    assert (edit.annotations, edit.unschedulable) == ({OWNERS: None, MARK: None}, False)


def test_c19_the_edit_of_leaving_someone_elses_cordon_does_not_touch_unschedulable() -> None:
    target = node("n1", cordoned=True, annotations={OWNERS: owners(ADMIN, MAINTENANCE)})
    found = read_cordon(target, PREFIX)
    edit = decide(target, PREFIX, found, release(found, "maintenance")).edit
    assert (edit.annotations, edit.unschedulable) == ({OWNERS: None}, None)


NAMES = st.sampled_from(["maintenance", "team-a", "team-b"])
STEPS = st.lists(st.tuples(st.booleans(), NAMES), max_size=12)


def walk(cordoned: bool, steps: list[tuple[bool, str]]) -> Cordon:
    """Carries claims and releases out on a node's annotations, as the server would store them."""
    target = node("n1", cordoned=cordoned)
    for claims, owner in steps:
        found = read_cordon(target, PREFIX)
        ruling = claim(found, Claim(owner, "why", SINCE)) if claims else release(found, owner)
        edit = decide(target, PREFIX, found, ruling).edit
        merged = {**target.meta.annotations, **edit.annotations}
        kept = {key: value for key, value in merged.items() if value is not None}
        closed = target.unschedulable if edit.unschedulable is None else edit.unschedulable
        target = node("n1", cordoned=closed, annotations=kept)
    return read_cordon(target, PREFIX)


@given(STEPS)
def test_a_node_found_open_is_closed_exactly_while_somebody_holds_it(
    steps: list[tuple[bool, str]],
) -> None:
    holding: set[str] = set()
    for claims, owner in steps:
        holding = holding | {owner} if claims else holding - {owner}
    cordon = walk(False, steps)
    assert (cordon.closed, set(cordon.owners)) == (bool(holding), holding)


@given(STEPS)
def test_c19_a_node_found_closed_is_never_opened(steps: list[tuple[bool, str]]) -> None:
    cordon = walk(True, steps)
    assert cordon.closed
    assert cordon.owners[0] == "someone-else"
    assert not cordon.marked
