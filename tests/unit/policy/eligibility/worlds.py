# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Small clusters for the tables of these tests: raw objects, as the API gives them."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import parse_node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    parse_scheduling,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.volumes import Storage
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.state import (
    ClusterState,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.verdict import (
    Verdict,
)

Raw = dict[str, Any]

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
NAMESPACES = {"default": {"team": "a"}, "other": {"team": "b"}}


def node(name: str, zone: str = "", **options: Any) -> Raw:
    """4 CPUs, 8Gi, 10 pods; options: labels, taints, unschedulable, allocatable."""
    labels = {HOSTNAME: name, **({ZONE: zone} if zone else {}), **options.get("labels", {})}
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "unschedulable": options.get("unschedulable", False),
            "taints": options.get("taints", []),
        },
        "status": {"allocatable": options.get("allocatable", allocatable)},
    }


def pod(
    spec: Optional[Mapping[str, Any]] = None,
    labels: Optional[Mapping[str, str]] = None,
    requests: Optional[Mapping[str, str]] = None,
    namespace: str = "default",
) -> Raw:
    container = {"name": "main", "resources": {"requests": dict(requests or {})}}
    return {
        "metadata": {"name": "p", "namespace": namespace, "labels": dict(labels or {})},
        "spec": {"containers": [container], **(spec or {})},
    }


def cluster(
    nodes: Iterable[Raw],
    placed: Iterable[tuple[str, Raw]] = (),
    storage: Optional[Storage] = None,
) -> ClusterState:
    """placed: (node, pod); the first is known as "placed-1"."""
    state = ClusterState([parse_node(raw) for raw in nodes], NAMESPACES, storage)
    for number, (where, raw) in enumerate(placed, start=1):
        state.place(f"placed-{number}", state.pod_class(parse_scheduling(raw)), where)
    return state


def fitting(state: ClusterState, raw: Raw) -> list[str]:
    """The nodes that fit; asking for masks and asking about each node must say the same."""
    judged = state.pod_class(parse_scheduling(raw))
    names = state.names(state.eligible(judged))
    each = [n.name for n in state.nodes.nodes if state.explain(judged, n.name) == Verdict()]
    assert names == each
    return names


def verdict(state: ClusterState, raw: Raw, name: str) -> Verdict:
    return state.explain(state.pod_class(parse_scheduling(raw)), name)


def affinity(kind: str, *terms: Raw) -> Raw:
    """kind: podAffinity or podAntiAffinity."""
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}}


def term(key: str, selector: Optional[Mapping[str, str]] = None, **more: Any) -> Raw:
    return {"topologyKey": key, "labelSelector": {"matchLabels": dict(selector or {})}, **more}


def spread(key: str, skew: int = 1, **more: Any) -> Raw:
    return {
        "topologyKey": key,
        "maxSkew": skew,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        **more,
    }
