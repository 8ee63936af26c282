# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The model as documents of plain JSON types: what fleet_info returns, and what `where` queries.

A document has every one of its keys always; "", 0, false and null say that the object has none.
Resources are integers: cpu in millicores, everything else in base units. Times are RFC 3339, UTC.
VERSION grows when a key is removed or changes its meaning, not when one is added; with 2, the file
of a snapshot carries the objects that a twin is made of.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model import machine_labels
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import Budget
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.census import total
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.controller import (
    Autoscaler,
    Controller,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import format_instant

VERSION = 2

Document = dict[str, Any]

_MINOR = re.compile(r"v?\d+\.(\d+)")


def node_document(node: Node, fleet: Fleet) -> Document:
    """`pods` and `requested` count the pods bound to the node that have not finished."""
    labels = node.meta.labels
    usage = fleet.census.usage_of(node.name)
    return {
        "name": node.name,
        "uid": node.meta.uid,
        "ready": node.is_ready,
        "schedulable": node.schedulable,
        "unschedulable": node.unschedulable,
        "control_plane": node.is_control_plane,
        "zone": machine_labels.zone(labels),
        "region": machine_labels.region(labels),
        "instance_type": machine_labels.instance_type(labels),
        "capacity_type": machine_labels.capacity_type(labels),
        "kubelet_version": node.kubelet_version,
        "kubelet_minor": _minor(node.kubelet_version),
        "boot_id": node.boot_id,
        "provider_id": node.provider_id,
        "created": _time(node.meta.creation_timestamp),
        "labels": dict(labels),
        "annotations": dict(node.meta.annotations),
        "taints": [
            {"key": taint.key, "value": taint.value, "effect": taint.effect}
            for taint in node.taints
        ],
        "allocatable": dict(node.allocatable),
        "requested": dict(usage.requested),
        "pods": usage.pods,
    }


def workload_document(pod: Pod, fleet: Fleet) -> Document:
    """`controller` is the top one, "Deployment shop/web"; `budgets` are keys, "namespace/name"."""
    controller = fleet.controller_of(pod)
    owner = pod.meta.owner
    return {
        "kind": "Pod",
        "namespace": pod.meta.namespace,
        "name": pod.meta.name,
        "uid": pod.meta.uid,
        "node": pod.node,
        "phase": pod.phase,
        "ready": pod.ready,
        "waiting": pod.waiting,
        "terminating": pod.terminating,
        "owner": None if owner is None else {"kind": owner.kind, "name": owner.name},
        "controller": "" if controller is None else controller.key,
        "budgets": [budget.key for budget in fleet.budgets_for(pod)],
        "mirror": pod.is_mirror,
        "daemon": pod.is_daemon,
        "has_empty_dir": pod.has_empty_dir,
        "claims": list(pod.claims),
        "requests": dict(pod.requests),
        "grace_period_seconds": pod.grace_period_seconds,
        "created": _time(pod.meta.creation_timestamp),
        "labels": dict(pod.meta.labels),
        "annotations": dict(pod.meta.annotations),
    }


def budget_document(budget: Budget) -> Document:
    """`selector` is in kubectl's form; null: the budget has none and selects no pod."""
    return {
        "namespace": budget.meta.namespace,
        "name": budget.meta.name,
        "uid": budget.meta.uid,
        "selector": None if budget.selector is None else str(budget.selector),
        "min_available": budget.min_available,
        "max_unavailable": budget.max_unavailable,
        "unhealthy_pod_eviction_policy": budget.unhealthy_pod_eviction_policy,
        "disruptions_allowed": budget.disruptions_allowed,
        "current_healthy": budget.current_healthy,
        "desired_healthy": budget.desired_healthy,
        "expected_pods": budget.expected_pods,
        "stale": budget.stale,
        "sync_failure": budget.sync_failure,
        "labels": dict(budget.meta.labels),
        "annotations": dict(budget.meta.annotations),
    }


def controller_document(controller: Controller) -> Document:
    owner = controller.meta.owner
    return {
        "kind": controller.kind,
        "namespace": controller.meta.namespace,
        "name": controller.meta.name,
        "uid": controller.meta.uid,
        "owner": None if owner is None else {"kind": owner.kind, "name": owner.name},
        "selector": None if controller.selector is None else str(controller.selector),
        "replicas": controller.replicas,
        "ready_replicas": controller.ready_replicas,
        "update_strategy": controller.update_strategy,
        "max_surge": controller.max_surge,
        "max_unavailable": controller.max_unavailable,
        "paused": controller.paused,
        "ordered": controller.ordered,
        "labels": dict(controller.meta.labels),
        "annotations": dict(controller.meta.annotations),
    }


def autoscaler_document(autoscaler: Autoscaler) -> Document:
    return {
        "namespace": autoscaler.meta.namespace,
        "name": autoscaler.meta.name,
        "uid": autoscaler.meta.uid,
        "target": autoscaler.target,
        "max_replicas": autoscaler.max_replicas,
        "current_replicas": autoscaler.current_replicas,
        "desired_replicas": autoscaler.desired_replicas,
    }


def summary_document(fleet: Fleet) -> Document:
    """Counts of the fleet; `requested` is of pods that have a node and have not finished."""
    census = fleet.census
    active = sum(usage.pods for usage in census.usage.values())
    return {
        "nodes": len(fleet.nodes),
        "nodes_ready": sum(node.is_ready for node in fleet.nodes),
        "nodes_unschedulable": sum(node.unschedulable for node in fleet.nodes),
        "pods": len(fleet.pods),
        "pods_ready": census.ready,
        "pods_unscheduled": census.usage_of("").pods,
        "pods_terminating": census.terminating,
        "pods_finished": len(fleet.pods) - active,
        "namespaces": census.namespaces,
        "budgets": len(fleet.budgets),
        "budgets_exhausted": sum(budget.disruptions_allowed <= 0 for budget in fleet.budgets),
        "allocatable": total((node.allocatable, 1) for node in fleet.nodes),
        "requested": total((usage.requested, 1) for node, usage in census.usage.items() if node),
    }


def _minor(version: str) -> int:
    """37 for "v1.37.2-gke.100", 0 when the kubelet has not reported a version."""
    match = _MINOR.match(version)
    return int(match.group(1)) if match else 0


def _time(instant: Optional[datetime]) -> Optional[str]:
    return None if instant is None else format_instant(instant)
