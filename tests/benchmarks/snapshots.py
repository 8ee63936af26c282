# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Snapshots of large fleets: a twin is told of one, comes up, and is written down."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.snapshot_file import (
    write_snapshot,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.twin_objects import (
    COLLECTIONS,
    reduced,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour import catalogue
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Change,
    Object,
    View,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.fits import Fit
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import made_of, parse_spec
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings, Twin

START = 1_800_000_000.0
RUN_UP = 120.0
PER_WORKLOAD = 20
NAMESPACES = 10


@dataclass(frozen=True)
class InTurn:
    """behaviour's Fits: each pod fits on one node, the next one. Much faster than to look."""

    names: Iterator[str] = field(default_factory=lambda: iter(()))

    def hear(self, change: Change) -> None:
        """Nothing that is there changes it."""

    def find(self, pod: Object, view: View) -> Fit:
        return Fit((next(self.names),))


def write_fleet(path: Path, nodes: int, pods: int, *, start: float, stop: float) -> None:
    """Nodes w-1, w-2, ... with as many pods each, of Deployments under budgets of 10 %."""
    names = itertools.cycle(f"w-{number}" for number in range(1, nodes + 1))
    settings = catalogue.Settings(fits=InTurn(names))
    twin = Twin(Settings(START, virtual=True, run_up=RUN_UP), catalogue.all_controllers(settings))
    for made in made_of(parse_spec(_spec(nodes, pods, start, stop))):
        kind = twin.api.kinds.named(made.resource)
        twin.api.lifecycle.create(kind, made.object, made.namespace)
    twin.start()
    found = {
        resource.key: [reduced(resource, dict(raw)) for raw in twin.store.objects(resource.key)]
        for resource in COLLECTIONS
    }
    twin.stop()
    running = [pod for pod in found["pods"] if pod["status"].get("phase") == "Running"]
    assert len(running) == pods, len(running)
    write_snapshot(str(path), Fleet(), found, dry=False)


def _spec(nodes: int, pods: int, start: float, stop: float) -> dict[str, Any]:
    owners = [(f"web-{n}", f"team-{n % NAMESPACES}") for n in range(pods // PER_WORKLOAD)]
    return {
        "nodes": [{"pool": "w", "count": nodes, "cpu": 16, "memory": "64Gi"}],
        "workloads": [
            {
                "name": name,
                "namespace": namespace,
                "replicas": PER_WORKLOAD,
                "start": start,
                "stop": stop,
            }
            for name, namespace in owners
        ],
        "budgets": [
            {"name": name, "namespace": namespace, "max_unavailable": "10%"}
            for name, namespace in owners
        ],
    }
