# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The controllers that recreate pods, and the autoscalers that steer them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import IntOrPercent
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.objects import (
    Metadata,
    parse_metadata,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    LabelSelector,
    parse_stored_selector,
)


@dataclass(frozen=True)
class Controller:
    """A Deployment, ReplicaSet, StatefulSet, DaemonSet or ReplicationController.

    replicas: desired (a DaemonSet's desiredNumberScheduled); ready_replicas: as its status says.
    update_strategy: RollingUpdate, Recreate, OnDelete or "" where the kind has none.
    max_surge, max_unavailable: of a rolling update, as written; None where not set or not known.
    ordered: a StatefulSet with podManagementPolicy OrderedReady.
    observed: its controller has seen the newest generation, so the status counts speak of it.
    """

    kind: str
    meta: Metadata
    selector: Optional[LabelSelector]
    replicas: int
    ready_replicas: int
    updated_replicas: int
    available_replicas: int
    update_strategy: str
    max_surge: Optional[IntOrPercent]
    max_unavailable: Optional[IntOrPercent]
    paused: bool
    ordered: bool
    observed: bool

    @property
    def key(self) -> str:
        """Kind namespace/name: "Deployment shop/web"."""
        return f"{self.kind} {self.meta.key}"


@dataclass(frozen=True)
class Autoscaler:
    """A HorizontalPodAutoscaler: target is "Kind namespace/name", as Controller.key has it."""

    meta: Metadata
    target: str
    max_replicas: int
    current_replicas: int
    desired_replicas: int


def parse_controller(kind: str, raw: Mapping[str, Any]) -> Controller:
    """Returns the Controller of a raw apps/v1 object (or v1 ReplicationController) of this kind."""
    spec = raw.get("spec") or {}
    status = raw.get("status") or {}
    meta = parse_metadata(raw)
    strategy = spec.get("strategy") or spec.get("updateStrategy") or {}
    rolling = strategy.get("rollingUpdate") or {}
    daemon = kind == "DaemonSet"
    return Controller(
        kind=kind,
        meta=meta,
        selector=_selector(kind, spec),
        replicas=status.get("desiredNumberScheduled", 0) if daemon else spec.get("replicas", 1),
        ready_replicas=status.get("numberReady" if daemon else "readyReplicas", 0),
        updated_replicas=status.get("updatedNumberScheduled" if daemon else "updatedReplicas", 0),
        available_replicas=status.get("numberAvailable" if daemon else "availableReplicas", 0),
        update_strategy=strategy.get("type", ""),
        max_surge=rolling.get("maxSurge"),
        max_unavailable=rolling.get("maxUnavailable"),
        paused=bool(spec.get("paused", False)),
        ordered=kind == "StatefulSet" and spec.get("podManagementPolicy") != "Parallel",
        observed=status.get("observedGeneration", 0) >= meta.generation,
    )


def parse_autoscaler(raw: Mapping[str, Any]) -> Autoscaler:
    """Returns the Autoscaler of a raw autoscaling/v2 HorizontalPodAutoscaler."""
    spec = raw.get("spec") or {}
    status = raw.get("status") or {}
    target = spec.get("scaleTargetRef") or {}
    meta = parse_metadata(raw)
    return Autoscaler(
        meta=meta,
        target=f"{target.get('kind', '')} {meta.namespace}/{target.get('name', '')}",
        max_replicas=spec.get("maxReplicas", 0),
        current_replicas=status.get("currentReplicas", 0),
        desired_replicas=status.get("desiredReplicas", 0),
    )


def _selector(kind: str, spec: Mapping[str, Any]) -> Optional[LabelSelector]:
    raw = spec.get("selector")
    bare = kind == "ReplicationController" and raw is not None
    return parse_stored_selector({"matchLabels": raw} if bare else raw)
