# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""model/plan/parts: a plan that is stored in parts is the same plan."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan import document as d
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan import status
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.parts import (
    checksum_of,
    divided,
    joined,
    packed,
    unpacked,
)
from tests.unit.model.plan.plans import NOW, plans


@given(plans, st.integers(1, 200))
def test_what_was_divided_and_cut_is_joined_to_the_same_plan(plan, largest):
    fixed, running = divided(plan)
    pieces = packed(fixed, largest)
    assert pieces
    assert max(map(len, pieces)) <= largest
    assert joined(unpacked(pieces), json.loads(json.dumps(running))) == plan


def rolling(size, state=d.PLANNED):
    steps = tuple(d.Step(str(i), "drain", f"n{i}", f"u{i}", state=state) for i in range(size))
    return replace(d.begun("p1", "org", "cluster", status.ROLLING, NOW), steps=steps)


def test_the_fixed_part_is_the_same_however_the_plan_has_run():
    before, after = rolling(3), rolling(3, d.DONE)
    moved = replace(d.advanced(before, status.READY, NOW), steps=after.steps)
    assert divided(moved)[0] == divided(before)[0]


def test_the_running_part_holds_only_steps_that_were_touched():
    plan = rolling(1000)
    one = replace(plan.steps[7], state=d.INTENDED, intent_time=NOW)
    running = divided(replace(plan, steps=(*plan.steps[:7], one, *plan.steps[8:])))[1]
    assert running["steps"] == {
        "7": {"state": "intended", "intentTime": "2026-12-01T12:00:00Z", "detail": ""}
    }


def test_a_large_plan_is_packed_to_a_fraction():
    fixed = divided(rolling(5000))[0]
    assert len("".join(packed(fixed))) < len(json.dumps(fixed)) / 4


def test_pieces_that_were_changed_have_another_checksum():
    pieces = packed(divided(rolling(50))[0], 100)
    assert checksum_of(pieces) == checksum_of(list(pieces))
    assert checksum_of(pieces) != checksum_of([*pieces[:-1], pieces[-1][:-1]])


@pytest.mark.parametrize("pieces", [[], [""], ["bm8="], ["no base64!"]])
def test_what_is_no_plan_cannot_be_unpacked(pieces):
    with pytest.raises(ValueError, match=r"\S"):
        unpacked(pieces)
