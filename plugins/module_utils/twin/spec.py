# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A cluster in a few lines: what a twin is made of when there is no live one to copy.

    nodes:
      - {pool: workers, count: 6, cpu: 4, memory: 16Gi, zones: [z1, z2, z3]}
      - {pool: control, count: 3, control_plane: true}
    workloads:
      - {name: web, namespace: shop, replicas: 6, cpu: 500m, memory: 1Gi, start: 5s, stop: 10s}
      - {name: db, namespace: shop, kind: StatefulSet, replicas: 3}
      - {name: agent, namespace: kube-system, kind: DaemonSet}
    budgets:
      - {name: web, namespace: shop, max_unavailable: 1}

`labels`, `annotations` and `taints` go where they belong as they are. A workload's pods carry the
label app=NAME, and a budget without `selector` is for the workload of its name. What a pod needs
beside that (affinity, volumes, ...) goes into the workload's `pod`, which is merged over its spec.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Iterator, Mapping, Sequence, TypeVar, Union

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.duration import parse_duration
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.quantity import parse_quantity
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    InvalidSelector,
    label_selector_document,
    parse_selector_text,
)

Raw = dict[str, Any]
T = TypeVar("T")

KINDS = ("Deployment", "StatefulSet", "DaemonSet", "Job")
_HOSTNAME = "kubernetes.io/hostname"
_ZONE = "topology.kubernetes.io/zone"
_INSTANCE_TYPE = "node.kubernetes.io/instance-type"
_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
_API_VERSIONS = {"Job": "batch/v1"}


@dataclass(frozen=True)
class Pool:
    """Nodes POOL-1 to POOL-COUNT, alike but for their zones, which take turns."""

    pool: str
    count: int = 1
    cpu: Union[str, int] = 4
    memory: Union[str, int] = "16Gi"
    pods: int = 110
    zones: Sequence[str] = ()
    instance_type: str = ""
    kubelet_version: str = "v1.37.2"
    control_plane: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    taints: Sequence[Mapping[str, str]] = ()


@dataclass(frozen=True)
class Workload:
    """start, stop, grace: durations; grace is the longest that `stop` may take."""

    name: str
    namespace: str = "default"
    kind: str = "Deployment"
    replicas: int = 1
    cpu: Union[str, int] = "100m"
    memory: Union[str, int] = "128Mi"
    start: Union[str, int, float] = 0
    stop: Union[str, int, float] = 0
    grace: Union[str, int, float] = 30
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    pod: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class BudgetSpec:
    """One of min_available and max_unavailable; selector in kubectl's form."""

    name: str
    namespace: str = "default"
    selector: str = ""
    min_available: Union[str, int, None] = None
    max_unavailable: Union[str, int, None] = None


@dataclass(frozen=True)
class ClusterSpec:
    nodes: tuple[Pool, ...]
    workloads: tuple[Workload, ...] = ()
    budgets: tuple[BudgetSpec, ...] = ()


@dataclass(frozen=True)
class Made:
    """An object to be created: as the store names its resource."""

    resource: str
    namespace: str
    object: Raw


# --- reading -------------------------------------------------------------------------------


def parse_spec(document: Any) -> ClusterSpec:
    """Raises InvalidOption (spec), which names the entry, what is wrong with it and what to do."""
    top = _mapping(document, "spec")
    _known(top, ("nodes", "workloads", "budgets"), "spec")
    spec = ClusterSpec(
        tuple(_entries(top, "nodes", Pool, "pool")),
        tuple(_entries(top, "workloads", Workload, "name")),
        tuple(_entries(top, "budgets", BudgetSpec, "name")),
    )
    if not spec.nodes:
        raise _bad("spec", "it has no nodes.", "Give at least one pool under nodes.")
    for pool in spec.nodes:
        _check_pool(pool)
    for workload in spec.workloads:
        _check_workload(workload)
    for budget in spec.budgets:
        _check_budget(budget)
    _check_twice(spec)
    return spec


def _entries(top: Mapping[str, Any], part: str, kind: type[T], named: str) -> Iterator[T]:
    listed = top.get(part) or []
    if not isinstance(listed, list):
        raise _bad(part, "it is no list.", "Begin each entry with a dash.")
    known = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    for number, entry in enumerate(listed, 1):
        place = f"{part}, entry {number}"
        given = _mapping(entry, place)
        _known(given, known, place)
        if not given.get(named):
            raise _bad(place, f"{named} is missing.", f"Give each entry a {named}.")
        yield kind(**given)


def _mapping(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _bad(place, f"{value!r} is no mapping.", "Write keys and values.")
    return value


def _known(given: Mapping[str, Any], known: Sequence[str], place: str) -> None:
    unknown = sorted(str(key) for key in given if key not in known)
    if unknown:
        raise _bad(place, f"unknown key {unknown[0]}.", f"Known are {', '.join(known)}.")


def _check_pool(pool: Pool) -> None:
    place = f"pool {pool.pool}"
    _check_number(pool.count, f"{place}: count", 0)
    _check_number(pool.pods, f"{place}: pods", 0)
    _check_quantities(place, pool.cpu, pool.memory)


def _check_workload(workload: Workload) -> None:
    place = f"workload {workload.namespace}/{workload.name}"
    if workload.kind not in KINDS:
        raise _bad(place, f"no kind {workload.kind!r}.", f"Use one of {', '.join(KINDS)}.")
    _check_number(workload.replicas, f"{place}: replicas", 0)
    _check_quantities(place, workload.cpu, workload.memory)
    for name in ("start", "stop", "grace"):
        try:
            parse_duration(getattr(workload, name))
        except ValueError as error:
            raise _bad(f"{place}: {name}", f"{error}.", "Write 5, 5s or 1m30s.") from error


def _check_budget(budget: BudgetSpec) -> None:
    place = f"budget {budget.namespace}/{budget.name}"
    if (budget.min_available is None) == (budget.max_unavailable is None):
        raise _bad(
            place,
            "it needs one of min_available and max_unavailable.",
            "Give exactly one of them, a number or a percentage.",
        )
    try:
        label_selector_document(parse_selector_text(budget.selector))
    except InvalidSelector as error:
        raise _bad(place, f"{error}.", "Write app=web, or app in (web,api).") from error


def _check_twice(spec: ClusterSpec) -> None:
    seen: set[str] = set()
    names = [f"pool {pool.pool}" for pool in spec.nodes]
    names += [f"{one.kind} {one.namespace}/{one.name}" for one in spec.workloads]
    names += [f"budget {one.namespace}/{one.name}" for one in spec.budgets]
    for name in names:
        if name in seen:
            raise _bad("spec", f"{name} is there twice.", "Give each a name of its own.")
        seen.add(name)


def _check_number(value: Any, place: str, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise _bad(place, f"{value!r} is no whole number from {least} on.", "Correct it.")


def _check_quantities(place: str, *values: Union[str, int]) -> None:
    for value in values:
        try:
            parse_quantity(value)
        except ValueError as error:
            raise _bad(place, f"{error}.", "Write 4, 500m or 16Gi.") from error


def _bad(place: str, problem: str, remedy: str) -> InvalidOption:
    if place == "spec":
        return InvalidOption("spec", problem, remedy)
    return InvalidOption("spec", f"{place}: {problem}", remedy)


# --- making --------------------------------------------------------------------------------


def made_of(spec: ClusterSpec) -> Iterator[Made]:
    """The objects of a cluster, in an order in which they can be created."""
    namespaces = [workload.namespace for workload in spec.workloads]
    namespaces += [budget.namespace for budget in spec.budgets]
    for name in dict.fromkeys(namespaces):
        yield Made("namespaces", "", {"metadata": {"name": name}})
    for pool in spec.nodes:
        for number in range(1, pool.count + 1):
            yield Made("nodes", "", _node(pool, number))
    for budget in spec.budgets:
        yield Made("poddisruptionbudgets.policy", budget.namespace, _budget(budget))
    for workload in spec.workloads:
        group = _API_VERSIONS.get(workload.kind, "apps/v1").partition("/")[0]
        resource = f"{workload.kind.lower()}s.{group}"
        yield Made(resource, workload.namespace, _workload(workload))


def _node(pool: Pool, number: int) -> Raw:
    name = f"{pool.pool}-{number}"
    labels = {_HOSTNAME: name, "kubernetes.io/os": "linux", "pool": pool.pool}
    if pool.zones:
        labels[_ZONE] = pool.zones[(number - 1) % len(pool.zones)]
    if pool.instance_type:
        labels[_INSTANCE_TYPE] = pool.instance_type
    taints = [dict(taint) for taint in pool.taints]
    if pool.control_plane:
        labels[_CONTROL_PLANE] = ""
        taints.append({"key": _CONTROL_PLANE, "effect": "NoSchedule"})
    room = {"cpu": str(pool.cpu), "memory": str(pool.memory), "pods": str(pool.pods)}
    return {
        "metadata": {
            "name": name,
            "labels": {**labels, **pool.labels},
            "annotations": dict(pool.annotations),
        },
        "spec": {"taints": taints, "providerID": f"twin:///{name}"},
        "status": {
            "allocatable": room,
            "capacity": room,
            "addresses": [{"type": "Hostname", "address": name}],
            "nodeInfo": {"kubeletVersion": pool.kubelet_version, "bootID": f"{name}-1"},
        },
    }


def _workload(workload: Workload) -> Raw:
    labels = {"app": workload.name, **workload.labels}
    spec: Raw = {"selector": {"matchLabels": {"app": workload.name}}, "template": _pod(workload)}
    if workload.kind == "Job":
        # A Job selects its pods by its own UID.
        spec = {"template": spec["template"], "parallelism": workload.replicas}
        spec["completions"] = workload.replicas
    elif workload.kind != "DaemonSet":
        spec["replicas"] = workload.replicas
    if workload.kind == "StatefulSet":
        spec["serviceName"] = workload.name
    return {"metadata": {"name": workload.name, "labels": labels}, "spec": spec}


def _pod(workload: Workload) -> Raw:
    annotations = {
        f"{name}-seconds": f"{parse_duration(value):g}"
        for name, value in (("start", workload.start), ("stop", workload.stop))
        if parse_duration(value) > 0
    }
    requests = {"cpu": str(workload.cpu), "memory": str(workload.memory)}
    container = {
        "name": "main",
        "image": f"twin/{workload.name}",
        "resources": {"requests": requests},
    }
    spec: Raw = {
        "containers": [container],
        "terminationGracePeriodSeconds": int(parse_duration(workload.grace)),
    }
    if workload.kind == "Job":
        spec["restartPolicy"] = "Never"
    return {
        "metadata": {
            "labels": {"app": workload.name, **workload.labels},
            "annotations": {**annotations, **workload.annotations},
        },
        "spec": {**spec, **workload.pod},
    }


def _budget(budget: BudgetSpec) -> Raw:
    selector = parse_selector_text(budget.selector or f"app={budget.name}")
    spec: Raw = {"selector": label_selector_document(selector)}
    for name, value in (
        ("minAvailable", budget.min_available),
        ("maxUnavailable", budget.max_unavailable),
    ):
        if value is not None:
            spec[name] = value
    return {"metadata": {"name": budget.name}, "spec": spec}
