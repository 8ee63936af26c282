# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""One packing by given values: the bin that is worth the most for its price, again and again.

A bin is filled from two sides: items that need more of the second dimension than the bin has for
each unit of the first, and all others, each with the valuable ones first. The next item comes from
the side of which the bin has more left, so that neither dimension is used up before the other. (The
dimensions are cpu and memory; further ones only limit.)
"""

from __future__ import annotations

import heapq
from typing import Iterable, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.problem import (
    Content,
    Load,
    Problem,
    covers,
)

# Worth for a price is compared in integers.
_SCALE = 1 << 40
# Room that costs nothing comes first.
_FREE = -(1 << 200)

# (negative worth for its price, bin type, content): the least comes first off a heap.
_Offer = tuple[int, int, Content]


class Filler:
    """Fills bins of one problem. looks: how often an item was tried on a bin, so far."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.looks = 0
        self._by_price = sorted(
            (index for index, kind in enumerate(problem.bins) if kind.price),
            key=lambda index: (problem.bins[index].price, index),
        )

    def packed(
        self, counts: Sequence[int], values: Sequence[int], bins: Iterable[int]
    ) -> tuple[list[Load], list[int]]:
        """Returns the loads, and by item what fits into none of these bin types.

        counts: by item, how many to pack. values: of item_values, or corrected since.

        A bin type keeps its best content until there is not enough left for it: what is left only
        shrinks, and the best worth with it. So few bins are filled again.
        """
        going = _Going(self._problem, list(counts), values)
        stock = {index: self._problem.bins[index].available for index in bins}
        loads, heap = [], []
        for index in stock:
            heap += self._offers(going, index)
        heapq.heapify(heap)
        while heap:
            _worth, index, content = heapq.heappop(heap)
            times = _times(content, going.rest, stock[index])
            if times:
                going.take(content, times)
                loads.append(Load(self._cheapest(index, content), content, times))
                stock[index] = _less(stock[index], times)
            if stock[index] != 0:
                for offer in self._offers(going, index):
                    heapq.heappush(heap, offer)
        return loads, going.rest

    def _offers(self, going: _Going, index: int) -> list[_Offer]:
        """What a bin of this type would hold; none when nothing goes in."""
        content = self._filled(index, going)
        if not content:
            return []
        worth = sum(going.values[j] * count for j, count in content)
        price = self._problem.bins[index].price
        return [(-(worth * _SCALE // price) if price else _FREE, index, content)]

    def _filled(self, index: int, going: _Going) -> Content:
        filling = _Filling(self._problem, index)
        sides, at = going.sides_of(index), [0, 0]
        while True:
            side = filling.side
            if at[side] == len(sides[side]):
                side = 1 - side
                if at[side] == len(sides[side]):
                    return tuple(filling.content.items())
            self.looks += 1
            if not filling.put(sides[side][at[side]], going.rest):
                at[side] += 1

    def _cheapest(self, index: int, content: Content) -> int:
        """The cheapest bin type for this content: often a smaller one than it was found with."""
        problem = self._problem
        if problem.bins[index].available is not None:
            return index
        used, admitted = [0] * len(problem.bins[index].capacity), -1
        for j, count in content:
            admitted &= problem.items[j].admitted
            for d, amount in problem.needs[j]:
                used[d] += amount * count
        for other in self._by_price:
            kind = problem.bins[other]
            if kind.price >= problem.bins[index].price:
                break
            if kind.available is None and admitted >> other & 1 and covers(kind.capacity, used):
                return other
        return index


class _Filling:
    """One bin while it is filled.

    side: 1 while more of the second dimension is left than of the first, by what the bin has of
    both; 0 otherwise.
    """

    def __init__(self, problem: Problem, index: int) -> None:
        kind = problem.bins[index]
        self._problem = problem
        self._bought = kind.available is None
        self._free = list(kind.capacity)
        self._first, self._second = kind.capacity[0] or 1, kind.capacity[1] or 1
        self._excess = 0
        self._inside = 0
        self.content: dict[int, int] = {}

    @property
    def side(self) -> int:
        return 1 if self._excess > 0 else 0

    def put(self, j: int, rest: Sequence[int]) -> bool:
        """Puts so many of an item in as are left and fit, or until the other side's turn comes.

        False when none goes in any more.
        """
        item, already = self._problem.items[j], self.content.get(j, 0)
        count = rest[j] - already
        if item.limit is not None:
            count = min(count, (item.limit if self._bought else 1) - already)
        for d, amount in self._problem.needs[j]:
            room = self._free[d] // amount
            if room < count:
                count = room
        if count <= 0 or item.avoids & self._inside:
            return False
        slope = item.needs[1] * self._first - item.needs[0] * self._second
        if slope and (slope > 0) == (self._excess > 0):
            count = min(count, max(1, -(-abs(self._excess) // abs(slope))))
        for d, amount in self._problem.needs[j]:
            self._free[d] -= amount * count
        self._excess -= slope * count
        self._inside |= 1 << j
        self.content[j] = already + count
        return True


class _Going:
    """What is left while bins are filled, and by bin type the items that it takes, on two sides.

    Items that are used up are dropped from a bin type's sides when it is filled again.
    """

    def __init__(self, problem: Problem, rest: list[int], values: Sequence[int]) -> None:
        self._problem = problem
        self.rest = rest
        self.values = values
        self._order = sorted(
            (j for j, count in enumerate(rest) if count), key=lambda j: (-values[j], j)
        )
        self._by_bin: dict[int, tuple[list[int], list[int]]] = {}

    def take(self, content: Content, times: int) -> None:
        for j, count in content:
            self.rest[j] -= count * times

    def sides_of(self, index: int) -> tuple[list[int], list[int]]:
        known = self._by_bin.get(index)
        if known is None:
            found = self._divided(index)
        else:
            rest = self.rest
            found = ([j for j in known[0] if rest[j]], [j for j in known[1] if rest[j]])
        self._by_bin[index] = found
        return found

    def _divided(self, index: int) -> tuple[list[int], list[int]]:
        problem, bit = self._problem, 1 << index
        first, second = problem.bins[index].capacity[:2]
        sides: tuple[list[int], list[int]] = ([], [])
        for j in self._order:
            if problem.fitting[j] & bit:
                needs = problem.items[j].needs
                sides[needs[1] * first > needs[0] * second].append(j)
        return sides


def _times(content: Content, rest: Sequence[int], available: Optional[int]) -> int:
    """How many bins with this content are left to fill."""
    times = min(rest[j] // count for j, count in content)
    return times if available is None else min(times, available)


def _less(available: Optional[int], times: int) -> Optional[int]:
    return None if available is None else available - times
