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
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling_facts import (
    SchedulingFacts,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.volumes import (
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
    """unread: what the user may not read beside the fleet, a sentence each. Without storage, claims
    are left out of the specs: volumes are taken to be within reach of every node."""

    reading: Reading
    facts: SchedulingFacts
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
    missing = [problem for _raws, problem in parts.values() if problem]
    facts = SchedulingFacts(
        specs=_without_claims(pods.specs) if missing else pods.specs,
        namespaces={
            raw["metadata"]["name"]: raw["metadata"].get("labels") or {}
            for raw in namespaces.result()[0]
        },
        storage=parse_scheduling_storage(**{name: raws for name, (raws, _why) in parts.items()}),
    )
    problem = namespaces.result()[1]
    return SchedulingReading(reading, facts, tuple(sorted([*missing, *filter(None, [problem])])))


def _without_claims(specs: Mapping[str, SchedulingSpec]) -> Mapping[str, SchedulingSpec]:
    """Equal specs stay equal."""
    return {
        uid: replace(spec, claims=(), ephemeral_claims=()) if spec.claims else spec
        for uid, spec in specs.items()
    }


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
