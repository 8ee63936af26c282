# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The objects of a cluster that runs, put into a twin as they are."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import Forbidden, NotFound
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import Resource
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.twin_objects import (
    COLLECTIONS,
    NEEDED,
    reduced,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import Made

_SIDE_BY_SIDE = 4


def live(cluster: Cluster) -> tuple[Made, ...]:
    """Returns what snapshot.read() would of a snapshot of this cluster. Reads only.

    Collections that this user may not read, or that the cluster does not have, are left out, but
    for nodes and pods. Raises Forbidden for those, Unreachable and the other FleetErrors.
    """
    with ThreadPoolExecutor(_SIDE_BY_SIDE, thread_name_prefix="read") as workers:
        parts = workers.map(partial(_read, cluster), COLLECTIONS)
        return tuple(made for part in parts for made in part)


def _read(cluster: Cluster, resource: Resource[Any]) -> list[Made]:
    try:
        found = cluster.list(resource.raw()).items
    except (Forbidden, NotFound):
        if resource in NEEDED:
            raise
        return []
    return [
        Made(resource.key, raw["metadata"].get("namespace", ""), reduced(resource, raw))
        for raw in found
    ]
