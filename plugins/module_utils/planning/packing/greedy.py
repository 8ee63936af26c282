# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""One packing by given values: the bin that is worth the most for its price, again and again."""

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
        self._balance = self._by_balance()

    def packed(
        self, counts: Sequence[int], values: Sequence[int], bins: Iterable[int]
    ) -> tuple[list[Load], list[int]]:
        """Returns the loads, and by item what fits into none of these bin types.

        counts: by item, how many to pack. values: of item_values, or corrected since.

        A bin type keeps its best content until there is not enough left for it: what is left only
        shrinks, and the best worth with it. So few bins are filled again.
        """
        going = _Going(self._problem, list(counts), values, self._orders(counts, values))
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
        """The best content of a bin of this type; none when nothing goes in."""
        best: tuple[int, Content] = (0, ())
        for order in going.orders_of(index):
            self.looks += len(order)
            content = self._filled(index, going.rest, order)
            best = max(best, (sum(going.values[j] * count for j, count in content), content))
        worth, content = best
        price = self._problem.bins[index].price
        return [(-(worth * _SCALE // price) if price else _FREE, index, content)] if content else []

    def _filled(self, index: int, rest: Sequence[int], order: Sequence[int]) -> Content:
        """First fit in this order, each item as often as it goes in."""
        problem = self._problem
        bought = problem.bins[index].available is None
        free = list(problem.bins[index].capacity)
        content, inside = [], 0
        for j in order:
            count = rest[j]
            for d, amount in problem.needs[j]:
                room = free[d] // amount
                if room < count:
                    count = room
                    if not room:
                        break
            item = problem.items[j]
            if not count or item.avoids & inside:
                continue
            if item.limit is not None:
                count = min(count, item.limit if bought else 1)
            inside |= 1 << j
            content.append((j, count))
            for d, amount in problem.needs[j]:
                free[d] -= amount * count
        return tuple(content)

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

    def _orders(self, counts: Sequence[int], values: Sequence[int]) -> list[list[int]]:
        """Valuable ones first, and from either end of the mix of resources."""
        by_value = sorted(range(len(values)), key=lambda j: (-values[j], j))
        orders = [by_value, self._balance, self._balance[::-1]]
        return [[j for j in order if counts[j]] for order in orders]

    def _by_balance(self) -> list[int]:
        """By what an item needs of the second dimension for each unit of the first."""
        needs = [item.needs for item in self._problem.items]
        return sorted(
            range(len(needs)),
            key=lambda j: (-(needs[j][1] << 20) // max(1, needs[j][0]), j),
        )


class _Going:
    """What is left while bins are filled, and by bin type the items that it takes, in each order.

    Items that are used up are dropped from a bin type's orders when it is filled again.
    """

    def __init__(
        self,
        problem: Problem,
        rest: list[int],
        values: Sequence[int],
        orders: Sequence[Sequence[int]],
    ) -> None:
        self._problem = problem
        self.rest = rest
        self.values = values
        self._orders = orders
        self._by_bin: dict[int, list[list[int]]] = {}

    def take(self, content: Content, times: int) -> None:
        for j, count in content:
            self.rest[j] -= count * times

    def orders_of(self, index: int) -> list[list[int]]:
        known = self._by_bin.get(index)
        if known is None:
            fitting, bit = self._problem.fitting, 1 << index
            found = [[j for j in order if fitting[j] & bit] for order in self._orders]
        else:
            found = [[j for j in order if self.rest[j]] for order in known]
        self._by_bin[index] = found
        return found


def _times(content: Content, rest: Sequence[int], available: Optional[int]) -> int:
    """How many bins with this content are left to fill."""
    times = min(rest[j] // count for j, count in content)
    return times if available is None else min(times, available)


def _less(available: Optional[int], times: int) -> Optional[int]:
    return None if available is None else available - times
