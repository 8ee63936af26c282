# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reads a fleet with all that the scheduler's rules ask about: for plans, not for a plain drain."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.snapshot import (
    Reading,
    read,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    Forbidden,
    NotFound,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod, parse_pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    CLAIMS,
    CSI_DRIVERS,
    CSI_NODES,
    NAMESPACES,
    PERSISTENT_VOLUMES,
    PODS,
    STORAGE_CLASSES,
    VOLUME_ATTACHMENTS,
    Resource,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    SchedulingParser,
    SchedulingSpec,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.volumes import (
    Storage,
    parse_scheduling_storage,
)

_STORAGE: Mapping[str, Resource[Any]] = {
    "claims": CLAIMS,
    "volumes": PERSISTENT_VOLUMES,
    "classes": STORAGE_CLASSES,
    "csi_nodes": CSI_NODES,
    "csi_drivers": CSI_DRIVERS,
    "attachments": VOLUME_ATTACHMENTS,
}


@dataclass(frozen=True)
class SchedulingReading:
    """specs: by the UID of the pod. namespaces: name to labels. unread: collections that the user
    may not read, a sentence each: what they would say is not known, and taken to be nothing."""

    reading: Reading
    specs: Mapping[str, SchedulingSpec]
    namespaces: Mapping[str, Mapping[str, str]]
    storage: Storage
    unread: tuple[str, ...]


def read_scheduling(cluster: Cluster) -> SchedulingReading:
    """Raises what snapshot.read raises. Seven requests more than that, side by side."""
    pods = _Specs()
    with ThreadPoolExecutor(4, thread_name_prefix="read") as workers:
        namespaces = workers.submit(_raws, cluster, NAMESPACES)
        storage = {
            name: workers.submit(_raws, cluster, resource) for name, resource in _STORAGE.items()
        }
        reading = read(cluster, pods=replace(PODS, parse=pods.parse))
    parts = {name: future.result() for name, future in storage.items()}
    unread = [problem for _raw, problem in (namespaces.result(), *parts.values()) if problem]
    return SchedulingReading(
        reading=reading,
        specs=pods.specs,
        namespaces={
            raw["metadata"]["name"]: raw["metadata"].get("labels") or {}
            for raw in namespaces.result()[0]
        },
        storage=parse_scheduling_storage(**{name: raws for name, (raws, _why) in parts.items()}),
        unread=(*reading.unread, *sorted(unread)),
    )


@dataclass
class _Specs:
    """A parser of pods that keeps what each asks of its node; used by one thread."""

    specs: dict[str, SchedulingSpec] = field(default_factory=dict)
    _parser: SchedulingParser = field(default_factory=SchedulingParser)

    def parse(self, raw: Mapping[str, Any]) -> Pod:
        pod = parse_pod(raw)
        self.specs[pod.meta.uid] = self._parser.parse(raw)
        return pod


def _raws(cluster: Cluster, resource: Resource[Any]) -> tuple[tuple[Mapping[str, Any], ...], str]:
    """The collection, or nothing and why."""
    try:
        return cluster.list(resource.raw()).items, ""
    except (Forbidden, NotFound) as error:
        return (), str(error)
