# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A Node: what a drain, a lock and a maintenance window need to know of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.objects import (
    Metadata,
    parse_metadata,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.quantity import parse_resources

CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane"


@dataclass(frozen=True)
class Taint:
    key: str
    value: str
    effect: str


@dataclass(frozen=True)
class Node:
    """`ready` is the Ready condition's status: "True", "False", "Unknown", or "" when it is absent.

    capacity: of the machine; allocatable: what of it pods may have. Resource name to an integer:
    cpu in millicores, all else in its base unit.
    """

    meta: Metadata
    unschedulable: bool
    taints: tuple[Taint, ...]
    ready: str
    boot_id: str
    kubelet_version: str
    provider_id: str
    allocatable: Mapping[str, int]
    capacity: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.meta.name

    @property
    def is_ready(self) -> bool:
        return self.ready == "True"

    @property
    def is_control_plane(self) -> bool:
        return CONTROL_PLANE_LABEL in self.meta.labels

    @property
    def schedulable(self) -> bool:
        """Ready, not cordoned and not on its way out: new pods may land here."""
        return self.is_ready and not self.unschedulable and not self.meta.terminating


def parse_node(raw: Mapping[str, Any]) -> Node:
    """Returns the Node of a raw v1 Node."""
    spec = raw.get("spec") or {}
    status = raw.get("status") or {}
    info = status.get("nodeInfo") or {}
    return Node(
        meta=parse_metadata(raw),
        unschedulable=bool(spec.get("unschedulable", False)),
        taints=tuple(
            Taint(taint.get("key", ""), taint.get("value") or "", taint.get("effect", ""))
            for taint in spec.get("taints") or ()
        ),
        ready=condition_status(status, "Ready"),
        boot_id=info.get("bootID", ""),
        kubelet_version=info.get("kubeletVersion", ""),
        provider_id=spec.get("providerID", ""),
        allocatable=parse_resources(status.get("allocatable") or {}),
        capacity=parse_resources(status.get("capacity") or {}),
    )


def condition_status(status: Mapping[str, Any], condition_type: str) -> str:
    """Returns the status of one condition of a raw status, "" when it is absent."""
    for condition in status.get("conditions") or ():
        if condition.get("type") == condition_type:
            return str(condition.get("status", ""))
    return ""
