# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Offerings in other shapes, as documents for offering.parse_offerings: CSV, and the file of
instance types that Karpenter's KWOK provider reads."""

from __future__ import annotations

import csv
import io
from typing import Any, Iterator, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.offering import (
    CAPACITY_TYPE,
    ZONE,
)

_PLAIN = ("instance_type", "zone", "capacity_type", "price_per_hour")
_RESOURCES = ("cpu", "memory", "pods", "ephemeral-storage")
_PREFIXES = {"capacity:": "capacity", "overhead:": "overhead", "label:": "labels"}


def from_csv(text: str) -> list[dict[str, Any]]:
    """Returns the document of a table with a header.

    Columns: instance_type, zone, capacity_type, price_per_hour, cpu, memory, pods,
    ephemeral-storage; and `capacity:RESOURCE`, `overhead:RESOURCE`, `label:KEY` for all else. An
    empty field is absent. Raises InvalidOption for another column and for a row that is too long.
    """
    reader = csv.DictReader(io.StringIO(text), strict=True)
    places = {column: _place(column) for column in reader.fieldnames or ()}
    document = []
    for row in reader:
        if None in row:
            raise InvalidOption(
                "offerings", f"line {reader.line_num} has more fields than the header."
            )
        entry: dict[str, Any] = {}
        for column, value in row.items():
            if value:
                part, key = places[column]
                (entry.setdefault(part, {}) if part else entry)[key] = value
        document.append(entry)
    return document


def _place(column: str) -> tuple[str, str]:
    """Which map of an entry a column belongs to ("" is the entry itself), and its key there."""
    if column in _PLAIN:
        return "", column
    if column in _RESOURCES:
        return "capacity", column
    for prefix, part in _PREFIXES.items():
        if column.startswith(prefix):
            return part, column[len(prefix) :]
    raise InvalidOption(
        "offerings",
        f"column {column!r} is unknown.",
        f"Known are {', '.join((*_PLAIN, *_RESOURCES))} and those that begin with"
        f" {', '.join(_PREFIXES)}.",
    )


def from_karpenter(types: Any) -> list[dict[str, Any]]:
    """Returns the document of Karpenter's instance types: [{name, offerings, architecture,
    operatingSystems, resources}]. Offerings that are not available are left out.

    Raises InvalidOption when it is something else.
    """
    try:
        return [entry for kind in types for entry in _entries(kind)]
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidOption(
            "offerings", f"not a file of Karpenter's instance types ({error!r})."
        ) from error


def _entries(kind: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    labels = {
        "kubernetes.io/arch": kind["architecture"],
        "kubernetes.io/os": kind["operatingSystems"][0],
    }
    for offering in kind["offerings"]:
        if not offering.get("Available", True):
            continue
        wanted = {one["key"]: one["values"][0] for one in offering["Requirements"]}
        yield {
            "instance_type": kind["name"],
            "zone": wanted.pop(ZONE, ""),
            "capacity_type": wanted.pop(CAPACITY_TYPE, ""),
            "price_per_hour": repr(offering["Price"]),
            "capacity": dict(kind["resources"]),
            "labels": {**labels, **wanted},
        }
