# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a packing costs at least: the linear relaxation of assigning items to bin types.

The least price of bins, in fractions, so that all of each item is in bin types into which one of it
fits, and no bin type's capacities are exceeded in sum. What limits items among each other is left
out: the bound holds without that, too.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.problem import (
    Problem,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.useful import (
    restricted,
    useful_bins,
)


def lower_bound(problem: Problem) -> float:
    """Returns the bound, in the unit of prices. Items that fit into no bin are left out.

    Raises ImportError where the optional library highspy is missing, ArithmeticError when it finds
    no optimum. Cost: 10 to 100 ms for 100 items and 900 bin types.
    """
    highspy: Any = import_module("highspy")
    small = restricted(problem, useful_bins(problem))
    model = _Model(small)
    if not model.columns:
        return 0.0
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    for price, most in model.columns:
        solver.addVar(0, highspy.kHighsInf if most is None else most)
        solver.changeColCost(solver.getNumCol() - 1, price)
    for least, most, terms in model.rows:
        columns, factors = list(terms), list(terms.values())
        low = -highspy.kHighsInf if least is None else least
        solver.addRow(low, most, len(columns), columns, factors)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise ArithmeticError(f"no bound: {solver.getModelStatus()}")
    return float(solver.getInfo().objective_function_value)


class _Model:
    """columns: (price, most), first of each bin type, then of each item in each bin type that it
    fits into. rows: (least, most, {column: factor}).

    Each amount is divided by the largest of its dimension: solvers want numbers near 1.
    """

    def __init__(self, problem: Problem) -> None:
        self.columns: list[tuple[float, Any]] = [
            (float(kind.price), kind.available) for kind in problem.bins
        ]
        self.rows: list[tuple[Any, float, dict[int, float]]] = []
        dimensions = range(len(problem.bins[0].capacity) if problem.bins else 0)
        scale = [max(kind.capacity[d] for kind in problem.bins) or 1 for d in dimensions]
        loads: list[list[dict[int, float]]] = [
            [{index: -kind.capacity[d] / scale[d]} for d in dimensions]
            for index, kind in enumerate(problem.bins)
        ]
        for j, item in enumerate(problem.items):
            assigned: dict[int, float] = {}
            for index in range(len(problem.bins)):
                if problem.fitting[j] >> index & 1:
                    column = len(self.columns)
                    self.columns.append((0.0, None))
                    assigned[column] = 1.0
                    for d, amount in problem.needs[j]:
                        loads[index][d][column] = amount / scale[d]
            if assigned:
                self.rows.append((item.count, item.count, assigned))
        self.rows += [(None, 0.0, terms) for by_bin in loads for terms in by_bin]
