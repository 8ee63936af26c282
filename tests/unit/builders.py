# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Builders of model objects for tables: each needs a name, the rest is an unremarkable default.

A pod runs, is Ready and sits on n1; a node is Ready and open, 4 CPUs, 8 GiB, 110 pods; a controller
has all the replicas that it wants. UIDs are made from kind and key, so that equal calls give equal
objects.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any, Mapping, Optional, Union

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import (
    IF_HEALTHY_BUDGET,
    Budget,
    IntOrPercent,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.controller import (
    Autoscaler,
    Controller,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import (
    CONTROL_PLANE_LABEL,
    Node,
    Taint,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.objects import Metadata, Owner
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import MIRROR_ANNOTATION, Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    SchedulingSpec,
    Toleration,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling_facts import (
    SchedulingFacts,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    parse_label_selector,
)

MIB = 2**20
GIB = 2**30
NOW = datetime(2026, 11, 30, 22, 0, 0, tzinfo=timezone.utc)


def metadata(
    kind: str,
    name: str,
    *,
    namespace: str = "",
    uid: str = "",
    labels: Optional[Mapping[str, str]] = None,
    annotations: Optional[Mapping[str, str]] = None,
    owner: Optional[Owner] = None,
    deleted_at: Optional[datetime] = None,
    grace: int = 30,
    generation: int = 1,
) -> Metadata:
    """deleted_at is when the deletion was asked for; the API's deletionTimestamp adds the grace."""
    key = f"{namespace}/{name}" if namespace else name
    return Metadata(
        namespace=namespace,
        name=name,
        uid=uid or f"{kind.lower()}:{key}",
        resource_version="1",
        generation=generation,
        labels=labels or {},
        annotations=annotations or {},
        owner=owner,
        creation_timestamp=NOW - timedelta(days=1),
        deletion_timestamp=None if deleted_at is None else deleted_at + timedelta(seconds=grace),
        deletion_grace_seconds=None if deleted_at is None else grace,
    )


def owner_of(controller: Controller) -> Owner:
    """The controller reference that this controller's children carry."""
    api_version = "v1" if controller.kind == "ReplicationController" else "apps/v1"
    return Owner(api_version, controller.kind, controller.meta.name, controller.meta.uid)


def node(
    name: str = "n1",
    *,
    ready: str = "True",
    cordoned: bool = False,
    control_plane: bool = False,
    taints: tuple[str, ...] = (),
    labels: Optional[Mapping[str, str]] = None,
    annotations: Optional[Mapping[str, str]] = None,
    cpu: int = 4000,
    memory: int = 8 * GIB,
    pods: int = 110,
    allocatable: Optional[Mapping[str, int]] = None,
    kubelet_version: str = "v1.37.2",
    provider_id: str = "",
    deleted_at: Optional[datetime] = None,
) -> Node:
    """taints: keys of NoSchedule taints. allocatable replaces cpu, memory and pods altogether."""
    role = {CONTROL_PLANE_LABEL: ""} if control_plane else {}
    room = {"cpu": cpu, "memory": memory, "pods": pods} if allocatable is None else allocatable
    return Node(
        meta=metadata(
            "Node",
            name,
            labels={**role, **(labels or {})},
            annotations=annotations,
            deleted_at=deleted_at,
            grace=0,
        ),
        unschedulable=cordoned,
        taints=tuple(Taint(key, "", "NoSchedule") for key in taints),
        ready=ready,
        boot_id=f"boot-{name}",
        kubelet_version=kubelet_version,
        provider_id=provider_id,
        allocatable=room,
    )


def pod(
    name: str = "web-1",
    *,
    namespace: str = "shop",
    node: str = "n1",
    owner: Union[Controller, Owner, None] = None,
    labels: Optional[Mapping[str, str]] = None,
    annotations: Optional[Mapping[str, str]] = None,
    phase: str = "Running",
    ready: Optional[bool] = None,
    waiting: str = "",
    mirror: bool = False,
    empty_dir: bool = False,
    claims: tuple[str, ...] = (),
    requests: Optional[Mapping[str, int]] = None,
    grace: int = 30,
    deleted_at: Optional[datetime] = None,
    uid: str = "",
) -> Pod:
    """ready defaults to what the phase and `waiting` suggest."""
    healthy = phase == "Running" and not waiting
    marks = {MIRROR_ANNOTATION: "hash"} if mirror else {}
    return Pod(
        meta=metadata(
            "Pod",
            name,
            namespace=namespace,
            uid=uid,
            labels=labels,
            annotations={**marks, **(annotations or {})},
            owner=owner_of(owner) if isinstance(owner, Controller) else owner,
            deleted_at=deleted_at,
            grace=grace,
        ),
        node=node,
        phase=phase,
        ready=healthy if ready is None else ready,
        waiting=waiting,
        has_empty_dir=empty_dir,
        claims=claims,
        requests=requests or {},
        grace_period_seconds=grace,
    )


def budget(
    name: str = "web",
    *,
    namespace: str = "shop",
    selects: Optional[Mapping[str, str]] = None,
    selector: Optional[Mapping[str, Any]] = None,
    min_available: Optional[IntOrPercent] = None,
    max_unavailable: Optional[IntOrPercent] = None,
    unhealthy_policy: str = IF_HEALTHY_BUDGET,
    allowed: int = 0,
    healthy: int = 0,
    desired: int = 0,
    expected: int = 0,
    disrupted: Optional[Mapping[str, datetime]] = None,
    observed: bool = True,
    sync_failure: str = "",
) -> Budget:
    """selects: matchLabels; selector: a raw LabelSelector. With neither it selects no pod."""
    raw = {"matchLabels": dict(selects)} if selects is not None else selector
    return Budget(
        meta=metadata("PodDisruptionBudget", name, namespace=namespace, generation=1),
        selector=None if raw is None else parse_label_selector(raw),
        min_available=min_available,
        max_unavailable=max_unavailable,
        unhealthy_pod_eviction_policy=unhealthy_policy,
        disruptions_allowed=allowed,
        current_healthy=healthy,
        desired_healthy=desired,
        expected_pods=expected,
        disrupted_pods=disrupted or {},
        observed_generation=1 if observed else 0,
        sync_failure=sync_failure,
    )


def controller(
    name: str = "web",
    *,
    kind: str = "Deployment",
    namespace: str = "shop",
    owner: Optional[Controller] = None,
    labels: Optional[Mapping[str, str]] = None,
    annotations: Optional[Mapping[str, str]] = None,
    selects: Optional[Mapping[str, str]] = None,
    replicas: int = 3,
    ready_replicas: Optional[int] = None,
    strategy: Optional[str] = None,
    max_surge: Optional[IntOrPercent] = None,
    max_unavailable: Optional[IntOrPercent] = None,
    paused: bool = False,
    ordered: Optional[bool] = None,
    observed: bool = True,
    uid: str = "",
) -> Controller:
    """ordered defaults to what Kubernetes does: OrderedReady for a StatefulSet."""
    ready = replicas if ready_replicas is None else ready_replicas
    rolling = "" if kind in ("ReplicaSet", "ReplicationController") else "RollingUpdate"
    return Controller(
        kind=kind,
        meta=metadata(
            kind,
            name,
            namespace=namespace,
            uid=uid,
            labels=labels,
            annotations=annotations,
            owner=None if owner is None else owner_of(owner),
        ),
        selector=None if selects is None else parse_label_selector({"matchLabels": dict(selects)}),
        replicas=replicas,
        ready_replicas=ready,
        updated_replicas=replicas,
        available_replicas=ready,
        update_strategy=rolling if strategy is None else strategy,
        max_surge=max_surge,
        max_unavailable=max_unavailable,
        paused=paused,
        ordered=kind == "StatefulSet" if ordered is None else ordered,
        observed=observed,
    )


def autoscaler(
    name: str = "web",
    *,
    namespace: str = "shop",
    target: Union[Controller, str] = "Deployment shop/web",
    maximum: int = 10,
    current: int = 3,
    desired: Optional[int] = None,
) -> Autoscaler:
    return Autoscaler(
        meta=metadata("HorizontalPodAutoscaler", name, namespace=namespace),
        target=target.key if isinstance(target, Controller) else target,
        max_replicas=maximum,
        current_replicas=current,
        desired_replicas=current if desired is None else desired,
    )


def fleet(*members: Union[Node, Pod, Budget, Controller, Autoscaler]) -> Fleet:
    """A fleet of these objects in any order, sorted by key within their kind."""
    return Fleet(
        nodes=_kept(members, Node),
        pods=_kept(members, Pod),
        budgets=_kept(members, Budget),
        controllers=_kept(members, Controller),
        autoscalers=_kept(members, Autoscaler),
    )


def _kept(members: tuple[Any, ...], kind: type) -> tuple[Any, ...]:
    chosen = [member for member in members if isinstance(member, kind)]
    return tuple(sorted(chosen, key=lambda member: member.meta.key))


def scheduling_facts(world: Fleet) -> SchedulingFacts:
    """Pods that ask for their requests alone, and tolerate the taints of the node that they are
    on."""
    specs = {}
    for one in world.pods:
        there = world.node_by_name.get(one.node)
        taints = () if there is None else there.taints
        specs[one.meta.uid] = SchedulingSpec(
            namespace=one.meta.namespace,
            labels=tuple(sorted(one.meta.labels.items())),
            tolerations=tuple(Toleration(taint.key, "Exists", "", "") for taint in taints),
            requests=tuple(sorted((k, v) for k, v in one.requests.items() if v > 0)),
        )
    return SchedulingFacts(specs)
