# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reads a fleet together with the objects that a twin of it is made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.snapshot import (
    Reading,
    read,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import Forbidden, NotFound
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import Resource
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.twin_objects import (
    COLLECTIONS,
    Objects,
    Raw,
    reduced,
)


@dataclass(frozen=True)
class Copy:
    """objects: sorted by namespace and name. unread: collections that the user may not read, or
    that the cluster does not have, a sentence each."""

    reading: Reading
    objects: Objects
    unread: tuple[str, ...]


def copied(cluster: Cluster, *, namespaces: tuple[str, ...] = ()) -> Copy:
    """Reads each collection once, for both. Raises what read() raises."""
    notes = _Notes()
    reading = read(cluster, namespaces=namespaces, noting=notes.noting)
    problems = []
    for resource in COLLECTIONS:
        if resource.key not in notes.found:
            problems += _read_more(cluster, notes.noting(resource), namespaces)
    return Copy(reading, notes.objects(), (*reading.unread, *problems))


def _read_more(cluster: Cluster, resource: Resource[Any], namespaces: tuple[str, ...]) -> list[str]:
    try:
        for namespace in namespaces if resource.namespaced and namespaces else ("",):
            cluster.list(resource, namespace=namespace)
    except (Forbidden, NotFound) as error:
        return [str(error)]
    return []


class _Notes:
    """By collection and UID: a list that is begun anew gives an object twice."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, Raw]] = {}

    def noting(self, resource: Resource[Any]) -> Resource[Any]:
        found = self.found.setdefault(resource.key, {})

        def parse(raw: Mapping[str, Any]) -> Any:
            found[raw["metadata"]["uid"]] = reduced(resource, raw)
            return resource.parse(raw)

        return replace(resource, parse=parse)

    def objects(self) -> dict[str, list[Raw]]:
        keys = (resource.key for resource in COLLECTIONS)
        return {key: sorted(self.found[key].values(), key=_place) for key in keys}


def _place(raw: Mapping[str, Any]) -> tuple[str, str]:
    metadata = raw["metadata"]
    return metadata.get("namespace", ""), metadata["name"]
