# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is not an object of its own: the scale of a workload, the binding of a pod."""

from __future__ import annotations

from typing import Any, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    parse_label_selector,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import (
    format_instant,
    instant_at,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin import answers
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Object


def scale_of(raw: Object) -> dict[str, Any]:
    """autoscaling/v1 Scale of a workload, or of a custom resource that keeps the usual fields."""
    metadata, spec, status = raw["metadata"], raw.get("spec") or {}, raw.get("status") or {}
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    scale: dict[str, Any] = {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in kept if name in metadata},
        # A scale of 0 is left out, as Go leaves out what is zero.
        "spec": {"replicas": int(spec["replicas"])} if spec.get("replicas") else {},
        "status": {"replicas": int(status.get("replicas") or 0)},
    }
    selector = spec.get("selector")
    if isinstance(selector, Mapping):
        labels = "matchLabels" in selector or "matchExpressions" in selector
        parsed = parse_label_selector(selector if labels else {"matchLabels": selector})
        scale["status"]["selector"] = str(parsed)
    return scale


def scaled(raw: Object, scale: Mapping[str, Any]) -> dict[str, Any]:
    """The workload with the replicas of a Scale."""
    spec = {**(raw.get("spec") or {})}
    spec["replicas"] = int((scale.get("spec") or {}).get("replicas") or 0)
    version = (scale.get("metadata") or {}).get("resourceVersion")
    metadata = {**raw["metadata"], **({"resourceVersion": version} if version else {})}
    return {**raw, "metadata": metadata, "spec": spec}


# What a pod learns of its node (the admission plugin PodTopologyLabels).
_TOPOLOGY = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


def bound(raw: Object, node: str, labels: Mapping[str, str], now: float) -> dict[str, Any]:
    """The pod on a node with these labels. Raises Refusal (409) when it is on one already, or
    leaving."""
    name = raw["metadata"]["name"]
    if raw["metadata"].get("deletionTimestamp"):
        why = f"pod {name} is being deleted, cannot be assigned to a host"
        raise answers.already_bound(name, why)
    found = (raw.get("spec") or {}).get("nodeName")
    if found:
        raise answers.already_bound(name, f'pod {name} is already assigned to node "{found}"')
    status = dict(raw.get("status") or {})
    others = [one for one in status.get("conditions") or () if one.get("type") != "PodScheduled"]
    scheduled = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": format_instant(instant_at(now)),
    }
    status["conditions"] = [*others, scheduled]
    learnt = {key: labels[key] for key in _TOPOLOGY if key in labels}
    metadata = raw["metadata"]
    if learnt:
        metadata = {**metadata, "labels": {**(metadata.get("labels") or {}), **learnt}}
    spec = {**raw["spec"], "nodeName": node}
    return {**raw, "metadata": metadata, "spec": spec, "status": status}
