# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A plan as a table that a person reads: each node with its price and what becomes of it."""

from __future__ import annotations

from typing import Iterator, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.document import (
    Configuration,
    Plan,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.world import Point

_HEAD = ("NODE", "TYPE", "PRICE/H", "ACTION")
_NEW = "(new)"


def table(plan: Plan) -> list[str]:
    """Returns the lines; none for a plan without configurations."""
    found = plan.configurations
    if found is None:
        return []
    rows = [_HEAD, *_nodes(found.blue, "remove"), *_nodes(found.green, "add")]
    before, after = found.blue.cluster_totals, found.green.cluster_totals
    rows += [
        ("before", f"{before.nodes} nodes", before.price_hourly, ""),
        ("after", f"{after.nodes} nodes", after.price_hourly, ""),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    lines = [_line(row, widths) for row in rows]
    saved = (
        f"{found.diff.price_hourly}/h less, {found.diff.price_monthly} a month:"
        f" {found.diff.cluster_savings_percentage} % of the cluster"
    )
    unknown = f"{plan.unpriced_nodes} nodes have no price and are in none of these sums"
    return [*lines, saved, *([unknown] if plan.unpriced_nodes else [])]


def curve_lines(curve: Sequence[Point]) -> list[dict[str, object]]:
    """Returns the savings curve as documents."""
    return [
        {
            "replaced": point.replaced,
            "moved": point.moved,
            "price_hourly": format(point.price, "f"),
            "unplaced": point.unplaced,
        }
        for point in curve
    ]


def _nodes(configuration: Configuration, action: str) -> Iterator[tuple[str, str, str, str]]:
    for node in configuration.nodes:
        kind = f"{node.instance_type} (spot)" if node.is_spot else node.instance_type
        yield node.name or _NEW, kind, node.price_hourly or "?", action


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip()
