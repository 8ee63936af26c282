# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Bin types that another one beats are left out: of a price list of 900, some 100 remain."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.problem import (
    Problem,
    covers,
)


def restricted(problem: Problem, useful: Sequence[int]) -> Problem:
    """The same with these bin types only, in this order."""
    items = tuple(
        replace(
            item,
            admitted=sum(1 << new for new, old in enumerate(useful) if item.admitted >> old & 1),
        )
        for item in problem.items
    )
    return Problem(items, tuple(problem.bins[index] for index in useful))


def useful_bins(problem: Problem) -> list[int]:
    """The bin types that cost nothing, and those with a price that no other one beats."""
    free = [index for index, kind in enumerate(problem.bins) if not kind.price]
    priced = sorted(
        (index for index, kind in enumerate(problem.bins) if kind.price),
        key=lambda index: (
            problem.bins[index].price,
            _negative(problem.bins[index].capacity),
            index,
        ),
    )
    masks = {item.admitted for item in problem.items}
    kept: list[int] = []
    for index in priced:
        if not any(_beats(problem, masks, better, index) for better in kept):
            kept.append(index)
    return [*free, *sorted(kept)]


def _negative(capacity: Sequence[int]) -> tuple[int, ...]:
    return tuple(-amount for amount in capacity)


def _beats(problem: Problem, masks: set[int], one: int, other: int) -> bool:
    """No dearer (they come by price), no smaller, and open to all that the other is open to."""
    return (
        problem.bins[one].available is None
        and covers(problem.bins[one].capacity, problem.bins[other].capacity)
        and all(mask >> one & 1 for mask in masks if mask >> other & 1)
    )
