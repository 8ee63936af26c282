# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Packs items into bins for little money.

1. Room that costs nothing is filled first. 2. Bin types that another one beats are left out.
3. Rounds: pack by values (greedy.py); an item that ended up in bins of poor worth gets a higher
value in the next round (sequential value correction, after Mukhacheva and Belov). The best is kept.
4. Repairs: a part of the worst loads is emptied and packed again (ruin and recreate); kept when
cheaper. Values of past rounds take turns, so that repairs differ.

The budget is counted in looks at an item, so that the same problem gives the same packing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.greedy import Filler
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.problem import (
    Load,
    Packing,
    Problem,
    cost_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.useful import (
    restricted,
    useful_bins,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.values import (
    item_values,
)

_ROUNDS = 12
# So many repairs in a row that found nothing: a tour through all that there are.
_IDLE = 60
# By repair in turn: the share of the cost that is emptied, in percent, and which of four loads of
# the worst stays as it is (4: none).
_SHARES = (15, 30, 50)
_SPARED = (4, 0, 1, 2, 3)


@dataclass(frozen=True)
class Budget:
    """looks: at items, after which no further round or repair begins; 500,000 take about half a
    second. A first round always runs."""

    looks: int = 500_000


def pack(problem: Problem, budget: Budget = Budget()) -> Packing:
    """Returns a packing of all items that fit into a bin.

    Limits are at least 1. Cost: as the budget says; without it, each round fills
    about one bin for each two loads and each bin type, and looks at every item for each.
    """
    useful = useful_bins(problem)
    small = restricted(problem, useful)
    found = _packed(small, budget)
    loads = [Load(useful[load.bin], load.content, load.times) for load in found]
    return Packing(tuple(loads), _left(problem, loads))


def _packed(problem: Problem, budget: Budget) -> list[Load]:
    filler = Filler(problem)
    values = item_values(problem)
    free = [index for index, kind in enumerate(problem.bins) if not kind.price]
    priced = [index for index, kind in enumerate(problem.bins) if kind.price]
    first, counts = filler.packed([item.count for item in problem.items], values, free)
    loads, history = _rounds(problem, filler, counts, values, priced, budget)
    return _merged([*first, *_repaired(problem, filler, loads, history, priced, budget)])


def _left(problem: Problem, loads: Sequence[Load]) -> tuple[int, ...]:
    left = [item.count for item in problem.items]
    for load in loads:
        for j, count in load.content:
            left[j] -= count * load.times
    return tuple(left)


def _rounds(
    problem: Problem,
    filler: Filler,
    counts: Sequence[int],
    values: tuple[int, ...],
    bins: Sequence[int],
    budget: Budget,
) -> tuple[list[Load], list[tuple[int, ...]]]:
    """The best loads of all rounds, and the values that each round went by."""
    best: list[Load] = []
    history: list[tuple[int, ...]] = []
    while not history or (len(history) < _ROUNDS and filler.looks < budget.looks // 2):
        history.append(values)
        loads, _left = filler.packed(counts, values, bins)
        if len(history) == 1 or cost_of(problem, loads) < cost_of(problem, best):
            best = loads
        values = _corrected(problem, loads, values)
    return best, history


def _corrected(problem: Problem, loads: Sequence[Load], values: tuple[int, ...]) -> tuple[int, ...]:
    """Two fifths of the old value and three of what the item's bins really cost for it."""
    spent, packed = [0] * len(values), [0] * len(values)
    for load in loads:
        worth = sum(values[j] * count for j, count in load.content)
        price = problem.bins[load.bin].price
        for j, count in load.content:
            spent[j] += load.times * count * values[j] * price * 1000 // max(1, worth)
            packed[j] += load.times * count
    return tuple(
        (2 * old + 3 * cost // number) // 5 if number else old
        for old, cost, number in zip(values, spent, packed)
    )


def _repaired(
    problem: Problem,
    filler: Filler,
    loads: list[Load],
    history: Sequence[tuple[int, ...]],
    bins: Sequence[int],
    budget: Budget,
) -> list[Load]:
    base, repair, idle = history[0], 0, 0
    while loads and idle < _IDLE and filler.looks < budget.looks:
        share = _SHARES[repair % len(_SHARES)]
        spared = _SPARED[repair // len(_SHARES) % len(_SPARED)]
        kept, counts = _emptied(problem, loads, base, share, spared)
        again, left = filler.packed(counts, history[repair % len(history)], bins)
        repair, idle = repair + 1, idle + 1
        if not any(left) and cost_of(problem, [*kept, *again]) < cost_of(problem, loads):
            loads, idle = _merged([*kept, *again]), 0
    return loads


def _emptied(
    problem: Problem, loads: Sequence[Load], values: Sequence[int], share: int, spared: int
) -> tuple[list[Load], list[int]]:
    """What stays, and by item how many come out. Loads of the least worth for their price go."""
    limit = cost_of(problem, loads) * share // 100
    counts, kept = [0] * len(values), []
    ranked = sorted(loads, key=lambda load: (_worth(problem, load, values), load.bin, load.content))
    for place, load in enumerate(ranked):
        price = problem.bins[load.bin].price
        taken = 0 if limit <= 0 or place % 4 == spared else min(load.times, limit // price + 1)
        limit -= taken * price
        for j, count in load.content:
            counts[j] += count * taken
        if load.times > taken:
            kept.append(Load(load.bin, load.content, load.times - taken))
    return kept, counts


def _worth(problem: Problem, load: Load, values: Sequence[int]) -> int:
    worth = sum(values[j] * count for j, count in load.content)
    return worth * 1_000_000 // problem.bins[load.bin].price


def _merged(loads: Sequence[Load]) -> list[Load]:
    """One load for equal bins of equal content."""
    times: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
    for load in loads:
        key = (load.bin, tuple(sorted(load.content)))
        times[key] = times.get(key, 0) + load.times
    return [Load(index, content, count) for (index, content), count in sorted(times.items())]
