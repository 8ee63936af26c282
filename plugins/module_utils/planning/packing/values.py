# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What an item is worth: its share of the price of the bins that hold it, were they full.

A small bin is often the cheapest by its size, and holds no large item. So each set of bin types
into which an item fits has its own prices of the dimensions: the shadow prices of the cheapest bins
of that set whose capacities add up to what all items that depend on them need. The sum over all
items is near the optimum of the linear relaxation with one variable for each item and bin type,
which needs a solver (bound.py); it is a guide, not a bound.
"""

from __future__ import annotations

from typing import Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.problem import (
    BinType,
    Mask,
    Problem,
)

# Values are in so many parts of the unit of prices: integers, so that ties are exact.
PARTS = 1_000
# A pivot that changes the prices by less is none.
_EPSILON = 1e-9
_PIVOTS = 200

_Vector = list[float]


def item_values(problem: Problem) -> tuple[int, ...]:
    """By item, in parts of the unit of prices; 0 for one that fits into no bin that has a price."""
    priced = sum(1 << index for index, kind in enumerate(problem.bins) if kind.price)
    by_bins: dict[Mask, list[int]] = {}
    for index, mask in enumerate(problem.fitting):
        by_bins.setdefault(mask & priced, []).append(index)
    values = [0] * len(problem.items)
    by_bins.pop(0, None)
    for mask, members in by_bins.items():
        dependent = [j for other, found in by_bins.items() if not other & ~mask for j in found]
        prices = shadow_prices(
            [kind for index, kind in enumerate(problem.bins) if mask >> index & 1],
            _demand(problem, dependent),
        )
        for j in members:
            worth = sum(prices[d] * amount for d, amount in problem.needs[j])
            values[j] = max(1, round(worth * PARTS))
    return tuple(values)


def _demand(problem: Problem, indexes: Sequence[int]) -> list[int]:
    total = [0] * len(problem.bins[0].capacity)
    for j in indexes:
        for d, amount in problem.needs[j]:
            total[d] += amount * problem.items[j].count
    return total


def shadow_prices(bins: Sequence[BinType], demand: Sequence[int]) -> list[float]:
    """Returns by dimension what one unit costs when whole bins may be cut.

    The dual of: least price of bins whose capacities add up to `demand`, in fractions of bins;
    solved by the revised simplex method on one row a dimension. No bin is worth more than it costs.
    Some bin must have room in each dimension of the demand.
    Cost: O(pivots x bins x dimensions), with about three pivots a dimension.
    """
    wanted = [d for d, amount in enumerate(demand) if amount]
    columns = [[kind.capacity[d] / demand[d] for d in wanted] for kind in bins]
    costs = [float(kind.price) for kind in bins]
    found = _simplex(*_completed(columns, costs, len(wanted)))
    prices = [0.0] * len(demand)
    for d, price in zip(wanted, _feasible(found, columns, costs)):
        prices[d] = price / demand[d]
    return prices


def _completed(
    columns: list[_Vector], costs: _Vector, rows: int
) -> tuple[list[_Vector], _Vector, list[int]]:
    """The columns with what makes them a problem in standard form, and a first basis.

    By row one for what is too much, and one that covers it alone for twice of what any bin asks: so
    dear that none of these is used in the end.
    """
    units = [[float(row == other) for other in range(rows)] for row in range(rows)]
    spare = [[-value for value in unit] for unit in units]
    dearest = [
        2 * min(cost / column[row] for cost, column in zip(costs, columns) if column[row])
        for row in range(rows)
    ]
    first = list(range(len(columns), len(columns) + rows))
    return [*columns, *units, *spare], [*costs, *dearest, *[0.0] * rows], first


def _simplex(columns: list[_Vector], costs: _Vector, basis: list[int]) -> _Vector:
    """Returns the dual prices of the rows, each of which asks for 1."""
    rows = len(basis)
    prices = [0.0] * rows
    for _pivot in range(_PIVOTS):
        prices = _solved([columns[j] for j in basis], [costs[j] for j in basis])
        reduced = [cost - _dot(prices, column) for cost, column in zip(costs, columns)]
        entering = min(range(len(columns)), key=reduced.__getitem__)
        if reduced[entering] >= -_EPSILON * max(costs):
            break
        transposed = [[columns[j][row] for j in basis] for row in range(rows)]
        amounts = _solved(transposed, [1.0] * rows)
        steps = _solved(transposed, columns[entering])
        ratios = [(amounts[i] / steps[i], i) for i in range(rows) if steps[i] > _EPSILON]
        if not ratios:
            break
        basis[min(ratios)[1]] = entering
    return prices


def _feasible(prices: _Vector, columns: list[_Vector], costs: _Vector) -> _Vector:
    """Scaled so that no bin is worth more than it costs, whatever rounding did."""
    positive = [max(0.0, price) for price in prices]
    excess = max((_dot(positive, column) / cost for cost, column in zip(costs, columns) if cost))
    return [price / max(1.0, excess) for price in positive]


def _solved(matrix: list[_Vector], right: _Vector) -> _Vector:
    """Gauss-Jordan elimination with pivots."""
    size = len(matrix)
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for i in range(size):
        best = max(range(i, size), key=lambda k: abs(rows[k][i]))
        rows[i], rows[best] = rows[best], rows[i]
        for k in range(size):
            factor = rows[k][i] / rows[i][i]
            if k != i and factor:
                rows[k] = [left - factor * top for left, top in zip(rows[k], rows[i])]
    return [rows[i][size] / rows[i][i] for i in range(size)]


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(one * other for one, other in zip(left, right))
