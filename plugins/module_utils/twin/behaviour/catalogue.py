# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""All controllers of a twin, in the order in which they hear of a change."""

from __future__ import annotations

from dataclasses import dataclass, field

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.attach import Attach
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Controller
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.daemonsets import (
    DaemonSets,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.deployments import (
    Deployments,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.disruption import (
    Disruption,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.fits import Fits
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.gc import (
    GarbageCollector,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.jobs import Jobs
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.kubelet import Kubelet
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.node_lifecycle import (
    NodeLifecycle,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.pace import Pace
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.replicasets import (
    ReplicaSets,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.rules import RuleFits
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.scaler import (
    Pool,
    Scaler,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.scheduler import (
    Scheduler,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.statefulsets import (
    StatefulSets,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.volumes import Volumes


@dataclass(frozen=True)
class Settings:
    """pace: of pods without annotations. pools: none means that no node is ever added.
    heartbeat_grace: seconds until a silent node is Unknown. seed: of all that is drawn."""

    pace: Pace = field(default_factory=Pace)
    seed: int = 0
    pools: tuple[Pool, ...] = ()
    heartbeat_grace: float = 50.0
    scheduler_names: tuple[str, ...] = ("default-scheduler",)
    fits: Fits = field(default_factory=RuleFits)


def all_controllers(settings: Settings) -> tuple[Controller, ...]:
    """The disruption controller is first, so that an eviction is answered from counts that are as
    fresh as can be."""
    scaler = (Scaler(settings.pools, settings.seed),) if settings.pools else ()
    return (
        Disruption(),
        NodeLifecycle(settings.heartbeat_grace),
        Kubelet(settings.pace, settings.seed),
        GarbageCollector(),
        ReplicaSets(),
        Deployments(),
        StatefulSets(),
        DaemonSets(),
        Jobs(),
        Volumes(),
        Scheduler(settings.fits, settings.scheduler_names),
        Attach(),
        *scaler,
    )
