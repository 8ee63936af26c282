# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""planning/packing: no packing costs less than the bound, and good ones little more."""

from __future__ import annotations

import random

import pytest
from hypothesis import given

from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.bound import (
    lower_bound,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.pack import pack
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.problem import (
    cost_of,
)
from tests.unit.planning.packing.problems import plain, problem, problems


@given(asked=problems())
def test_no_packing_costs_less_than_the_bound(asked):
    packing = pack(asked)
    if not any(packing.left):
        assert cost_of(asked, packing.loads) >= lower_bound(asked) - 1e-6


@pytest.mark.parametrize(
    ("asked", "bound"),
    [
        pytest.param(problem(plain(((1, 1), 4)), [((4, 4), 10)]), 10, id="a-full-bin"),
        pytest.param(problem(plain(((1, 1), 6)), [((4, 4), 10)]), 15, id="a-bin-and-a-half"),
        pytest.param(problem(plain(((3, 1), 1)), [((4, 4), 10), ((2, 2), 1)]), 7.5, id="too-small"),
        pytest.param(problem(plain(((1, 1), 4)), [((2, 2), 0, 1), ((2, 2), 3)]), 3, id="room"),
        pytest.param(problem(plain(((9, 9), 1)), [((2, 2), 3)]), 0, id="what-fits-nowhere"),
        pytest.param(problem([], []), 0, id="nothing"),
    ],
)
def test_the_bound_of(asked, bound):
    assert lower_bound(asked) == pytest.approx(bound)


def price_list():
    """Three families with 2, 4 and 8 GiB a core, of 1 to 64 cores; larger ones a little cheaper."""
    for memory, price in ((2, 34), (4, 40), (8, 52)):
        for cores in (1, 2, 4, 8, 16, 32, 64):
            capacity = (cores * 940, cores * memory * 900, cores * 10)
            yield (capacity, cores * price * (100 - cores // 8))


@pytest.mark.parametrize("seed", range(4))
def test_a_packing_is_at_most_8_percent_above_the_bound(seed):
    chance = random.Random(seed)
    items = [
        ((chance.randint(1, 80) * 50, chance.randint(1, 120) * 64, 1), chance.randint(1, 120))
        for _item in range(60)
    ]
    asked = problem(plain(*items), list(price_list()))
    packing = pack(asked)
    assert not any(packing.left)
    assert cost_of(asked, packing.loads) <= lower_bound(asked) * 1.08
