# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""planning/packing: whatever is packed is packed once, fits, and costs little."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.pack import (
    Budget,
    pack,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.problem import (
    cost_of,
)
from tests.unit.planning.packing.problems import ANY, plain, problem, problems


def used(asked, packing):
    """Bin type to how many are used."""
    counts = Counter()
    for load in packing.loads:
        counts[load.bin] += load.times
    return dict(counts)


CASES = [
    pytest.param(
        problem(plain(((1, 1), 4)), [((4, 4), 10), ((2, 2), 4)]),
        {1: 2},
        id="small-bins-that-are-cheaper-in-sum",
    ),
    pytest.param(
        problem(plain(((1, 1), 4)), [((4, 4), 7), ((2, 2), 4)]),
        {0: 1},
        id="a-large-bin-that-is-cheaper-than-two-small-ones",
    ),
    pytest.param(
        problem(plain(((1, 1), 5)), [((4, 4), 7), ((1, 1), 2)]),
        {0: 1, 1: 1},
        id="the-last-bin-is-only-as-large-as-it-must-be",
    ),
    pytest.param(
        problem(plain(((3, 1), 2), ((1, 3), 2)), [((4, 4), 10)]),
        {0: 2},
        id="items-that-complement-each-other-share-a-bin",
    ),
    pytest.param(
        problem(plain(((1, 1), 3)), [((2, 2), 0, 1), ((1, 1), 5)]),
        {0: 1, 1: 1},
        id="room-that-is-there-is-used-first",
    ),
    pytest.param(
        problem([((1, 1), 5, ANY, 2)], [((4, 4), 10)]),
        {0: 3},
        id="an-item-of-which-a-bin-holds-two",
    ),
    pytest.param(
        problem([((1, 1), 3, ANY, 2)], [((4, 4), 0, 1), ((4, 4), 10)]),
        {0: 1, 1: 1},
        id="of-a-limited-item-room-that-is-there-takes-one",
    ),
    pytest.param(
        problem([((1, 1), 2, ANY, None, 0b10), ((1, 1), 1, ANY, None, 0b01)], [((4, 4), 10)]),
        {0: 2},
        id="items-that-avoid-each-other",
    ),
    pytest.param(
        problem([((1, 1), 1, 0b10)], [((1, 1), 1), ((1, 1), 9)]),
        {1: 1},
        id="a-dearer-bin-that-is-the-only-one-admitted",
    ),
    pytest.param(
        problem(plain(((1, 0), 2)), [((1, 5), 3), ((2, 5), 5)]),
        {1: 1},
        id="a-dimension-that-nobody-needs",
    ),
]


@pytest.mark.parametrize(("asked", "expected"), CASES)
def test_the_bins_that_are_bought(asked, expected):
    packing = pack(asked)
    assert (used(asked, packing), any(packing.left)) == (expected, False)


def test_what_fits_nowhere_is_left_and_the_rest_is_packed():
    asked = problem(plain(((9, 1), 2), ((1, 1), 2)), [((4, 4), 1)])
    packing = pack(asked)
    assert packing.left == (2, 0)
    assert used(asked, packing) == {0: 1}


def test_nothing_to_pack_costs_nothing():
    assert pack(problem([], [((4, 4), 1)])).loads == ()


def test_no_bin_at_all_leaves_everything():
    assert pack(problem(plain(((1, 1), 2)), [])).left == (2,)


def faults(asked, packing):
    """What a packing must not do, judged without the planner's own arithmetic."""
    return [fault for load in packing.loads for fault in faults_of(asked, load)] + [
        *sums_that_are_wrong(asked, packing)
    ]


def faults_of(asked, load):
    kind = asked.bins[load.bin]
    inside = [(asked.items[j], count) for j, count in load.content]
    for d, room in enumerate(kind.capacity):
        if sum(item.needs[d] * count for item, count in inside) > room:
            yield f"{load} overflows in dimension {d}"
    for item, count in inside:
        if item.limit is not None and count > (1 if kind.available else item.limit):
            yield f"{load} holds too many of one item"
        if any(item.avoids >> j & 1 for j, _count in load.content):
            yield f"{load} holds what avoids each other"
        if not item.admitted >> load.bin & 1:
            yield f"{load} holds what it does not admit"


def sums_that_are_wrong(asked, packing):
    packed, times = Counter(), Counter()
    for load in packing.loads:
        times[load.bin] += load.times
        for j, count in load.content:
            packed[j] += count * load.times
    for index, kind in enumerate(asked.bins):
        if kind.available is not None and times[index] > kind.available:
            yield f"bin {index} is used {times[index]} times"
    for j, item in enumerate(asked.items):
        if packed[j] + packing.left[j] != item.count:
            yield f"of item {j} {packed[j]} are packed and {packing.left[j]} left"


@given(asked=problems(), looks=st.sampled_from([0, 1_000, 100_000]))
def test_every_packing_keeps_the_rules_and_loses_nothing(asked, looks):
    assert faults(asked, pack(asked, Budget(looks))) == []


@given(asked=problems())
def test_what_is_left_fits_into_no_bin_that_can_be_bought(asked):
    packing = pack(asked)
    bought = [kind for kind in asked.bins if kind.available is None]
    for j, item in enumerate(asked.items):
        if packing.left[j]:
            assert not [
                kind
                for index, kind in enumerate(asked.bins)
                if kind in bought
                and item.admitted >> index & 1
                and all(room >= need for room, need in zip(kind.capacity, item.needs))
            ]


@given(asked=problems())
def test_more_budget_never_costs_more(asked):
    costs = [cost_of(asked, pack(asked, Budget(looks)).loads) for looks in (0, 100_000)]
    assert costs == sorted(costs, reverse=True)


@given(asked=problems())
def test_the_same_problem_gives_the_same_packing(asked):
    assert pack(asked) == pack(asked)
