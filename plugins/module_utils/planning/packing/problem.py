# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Vector bin packing with bins of several types: what is asked, and what is answered.

An item stands for equal pods, a bin type for an offering or for the free room of one node. Both are
known by their index. Amounts are integers by dimension (cpu in millicores, memory in bytes, ...).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Optional, Sequence

# A mask of bin types, or of items: bit i is the one with index i.
Mask = int
# (item, how many of it), in the order in which they went in.
Content = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Item:
    """needs: one amount a dimension. count: how many there are of it.

    admitted: the bin types that it may be put into, room aside. limit: how many of it one bin that
    is bought may hold, and then one that is there anyway takes one: what is in that is not known
    here; None is as many as fit. avoids: a mask of items that never share a bin with it; they avoid
    it, too.
    """

    needs: tuple[int, ...]
    count: int
    admitted: Mask
    limit: Optional[int] = None
    avoids: Mask = 0


@dataclass(frozen=True)
class BinType:
    """price: an integer of any unit, 0 for room that is there anyway. available: how many there
    are; None, for what is bought, is as many as are wanted."""

    capacity: tuple[int, ...]
    price: int
    available: Optional[int] = None


@dataclass(frozen=True)
class Problem:
    """All items and capacities have the same dimensions."""

    items: tuple[Item, ...]
    bins: tuple[BinType, ...]

    @cached_property
    def needs(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """By item: (dimension, amount) of what it needs."""
        return tuple(
            tuple((d, amount) for d, amount in enumerate(item.needs) if amount)
            for item in self.items
        )

    @cached_property
    def fitting(self) -> tuple[Mask, ...]:
        """By item: the bin types that one of it goes into."""
        return tuple(
            sum(
                1 << index
                for index, kind in enumerate(self.bins)
                if item.admitted >> index & 1 and covers(kind.capacity, item.needs)
            )
            for item in self.items
        )


@dataclass(frozen=True)
class Load:
    """`times` bins of one type with equal content."""

    bin: int
    content: Content
    times: int


@dataclass(frozen=True)
class Packing:
    """left: by item, how many fit into no bin."""

    loads: tuple[Load, ...]
    left: tuple[int, ...]


def cost_of(problem: Problem, loads: Sequence[Load]) -> int:
    return sum(problem.bins[load.bin].price * load.times for load in loads)


def covers(capacity: Sequence[int], needs: Sequence[int]) -> bool:
    return all(have >= need for have, need in zip(capacity, needs))
