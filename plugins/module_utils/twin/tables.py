# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Tables, which kubectl asks for instead of objects."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Object
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.columns import (
    Column,
    columns_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.kinds import Kind

# What a row carries of its object: `includeObject` of the request.
METADATA, WHOLE, NOTHING = "Metadata", "Object", "None"


def table(
    kind: Kind,
    items: Sequence[Object],
    metadata: Mapping[str, Any],
    now: float,
    include: str = METADATA,
) -> dict[str, Any]:
    """meta.k8s.io/v1 Table. now: seconds since the epoch, for ages."""
    columns, cells = columns_of(kind)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": dict(metadata),
        "columnDefinitions": [_definition(column) for column in columns],
        "rows": [{"cells": cells(raw, now), "object": _object(raw, include)} for raw in items],
    }


def _definition(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "type": column.type,
        "format": "name" if column.name == "Name" else "",
        "description": column.name,
        "priority": 1 if column.wide else 0,
    }


def _object(raw: Object, include: str) -> Any:
    if include == NOTHING:
        return None
    if include == WHOLE:
        return raw
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": raw["metadata"],
    }
