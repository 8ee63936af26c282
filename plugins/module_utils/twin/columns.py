# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The columns of tables, by kind, and what stands in them.

Source: pkg/printers/internalversion/printers.go, 1.37. Of the columns of `-o wide` only those of
pods and nodes are here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import parse_instant
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Object
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.kinds import Kind


@dataclass(frozen=True)
class Column:
    """wide: only kubectl's -o wide shows it."""

    name: str
    type: str = "string"
    wide: bool = False


Cells = Callable[[Object, float], list[Any]]

_ROLE = "node-role.kubernetes.io/"
_NONE = "<none>"
_UNKNOWN = "<unknown>"
_ACCESS = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def columns_of(kind: Kind) -> tuple[Sequence[Column], Cells]:
    """Returns the columns, and what makes the cells of a row of an object and the present time
    (seconds since the epoch)."""
    return _TABLES.get(kind.resource, (_columns("Name", "Age"), _any))


def _columns(*names: str, numbers: Sequence[str] = (), wide: Sequence[str] = ()) -> list[Column]:
    narrow = [Column(name, "integer" if name in numbers else "string") for name in names]
    return [*narrow, *(Column(name, wide=True) for name in wide)]


def age(raw: Object, now: float) -> str:
    return since(raw["metadata"].get("creationTimestamp"), now)


def since(moment: Optional[str], now: float) -> str:
    return span(now - parse_instant(moment).timestamp()) if moment else _UNKNOWN


def span(seconds: float) -> str:
    """kubectl's short form: 42s, 3m5s, 17m, 5h, 3d2h, 40d."""
    whole = max(0, int(seconds))
    if whole < 120:
        return f"{whole}s"
    if whole < 600:
        return _two(whole, 60, "m", 1, "s")
    if whole < 3 * 3600:
        return f"{whole // 60}m"
    if whole < 8 * 3600:
        return _two(whole, 3600, "h", 60, "m")
    if whole < 48 * 3600:
        return f"{whole // 3600}h"
    if whole < 8 * 86400:
        return _two(whole, 86400, "d", 3600, "h")
    if whole < 2 * 365 * 86400:
        return f"{whole // 86400}d"
    return _two(whole, 365 * 86400, "y", 86400, "d")


def _two(whole: int, large: int, name: str, small: int, rest_name: str) -> str:
    rest = whole % large // small
    return f"{whole // large}{name}" + (f"{rest}{rest_name}" if rest else "")


def _parts(raw: Object) -> tuple[str, Mapping[str, Any], Mapping[str, Any]]:
    return raw["metadata"]["name"], raw.get("spec") or {}, raw.get("status") or {}


def _any(raw: Object, now: float) -> list[Any]:
    return [raw["metadata"]["name"], age(raw, now)]


# --- nodes and pods ------------------------------------------------------------------------


def _node(raw: Object, now: float) -> list[Any]:
    name, spec, status = _parts(raw)
    conditions = {one["type"]: one["status"] for one in status.get("conditions") or ()}
    ready = conditions.get("Ready")
    state = "Unknown" if ready is None else "Ready" if ready == "True" else "NotReady"
    if spec.get("unschedulable"):
        state += ",SchedulingDisabled"
    labels = raw["metadata"].get("labels") or {}
    roles = sorted(key[len(_ROLE) :] for key in labels if key.startswith(_ROLE))
    info = status.get("nodeInfo") or {}
    addresses = {one["type"]: one["address"] for one in status.get("addresses") or ()}
    return [
        name,
        state,
        ",".join(roles) or _NONE,
        age(raw, now),
        info.get("kubeletVersion", ""),
        addresses.get("InternalIP", _NONE),
        addresses.get("ExternalIP", _NONE),
        info.get("osImage") or _UNKNOWN,
        info.get("kernelVersion") or _UNKNOWN,
        info.get("containerRuntimeVersion") or _UNKNOWN,
    ]


def _pod(raw: Object, now: float) -> list[Any]:
    name, spec, status = _parts(raw)
    containers = status.get("containerStatuses") or ()
    ready = sum(1 for one in containers if one.get("ready"))
    restarts = sum(int(one.get("restartCount") or 0) for one in containers)
    gates = spec.get("readinessGates")
    return [
        name,
        f"{ready}/{len(spec.get('containers') or ())}",
        _state(raw),
        str(restarts),
        age(raw, now),
        status.get("podIP") or _NONE,
        spec.get("nodeName") or _NONE,
        status.get("nominatedNodeName") or _NONE,
        _gates(status, gates) if gates else _NONE,
    ]


def _state(raw: Object) -> str:
    """What keeps a pod from running, or what it does."""
    status = raw.get("status") or {}
    if raw["metadata"].get("deletionTimestamp"):
        return "Unknown" if status.get("reason") == "NodeLost" else "Terminating"
    found = str(status.get("reason") or status.get("phase") or "")
    # The first container that has something to say is the one that is shown.
    for one in reversed(status.get("containerStatuses") or ()):
        state = one.get("state") or {}
        waiting = (state.get("waiting") or {}).get("reason")
        ended = state.get("terminated") or {}
        if waiting:
            found = str(waiting)
        elif ended:
            found = str(ended.get("reason") or f"ExitCode:{ended.get('exitCode', 0)}")
    return found


def _gates(status: Mapping[str, Any], gates: Sequence[Mapping[str, Any]]) -> str:
    true = {one["type"] for one in status.get("conditions") or () if one["status"] == "True"}
    return f"{sum(1 for one in gates if one['conditionType'] in true)}/{len(gates)}"


# --- controllers and budgets ---------------------------------------------------------------


def _deployment(raw: Object, now: float) -> list[Any]:
    name, spec, status = _parts(raw)
    return [
        name,
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}",
        str(status.get("updatedReplicas", 0)),
        str(status.get("availableReplicas", 0)),
        age(raw, now),
    ]


def _replica_set(raw: Object, now: float) -> list[Any]:
    name, spec, status = _parts(raw)
    counts = [status.get(field, 0) for field in ("replicas", "readyReplicas")]
    return [name, spec.get("replicas", 0), *counts, age(raw, now)]


def _stateful_set(raw: Object, now: float) -> list[Any]:
    name, spec, status = _parts(raw)
    return [name, f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}", age(raw, now)]


def _daemon_set(raw: Object, now: float) -> list[Any]:
    name, spec, status = _parts(raw)
    fields = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    counts = [status.get(field, 0) for field in fields]
    chosen = ((spec.get("template") or {}).get("spec") or {}).get("nodeSelector") or {}
    labels = ",".join(f"{key}={value}" for key, value in sorted(chosen.items()))
    return [name, *counts, labels or _NONE, age(raw, now)]


def _job(raw: Object, now: float) -> list[Any]:
    name, spec, status = _parts(raw)
    true = {one["type"] for one in status.get("conditions") or () if one["status"] == "True"}
    state = next((word for word in ("Complete", "Failed", "Suspended") if word in true), "Running")
    started, ended = status.get("startTime"), status.get("completionTime")
    until = parse_instant(ended).timestamp() if ended else now
    return [
        name,
        state,
        f"{status.get('succeeded', 0)}/{spec.get('completions') or 1}",
        since(started, until) if started else "",
        age(raw, now),
    ]


def _budget(raw: Object, now: float) -> list[Any]:
    name, spec, status = _parts(raw)
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    return [
        name,
        "N/A" if least is None else str(least),
        "N/A" if most is None else str(most),
        status.get("disruptionsAllowed", 0),
        age(raw, now),
    ]


# --- the rest ------------------------------------------------------------------------------


def _namespace(raw: Object, now: float) -> list[Any]:
    name, _spec, status = _parts(raw)
    return [name, status.get("phase", ""), age(raw, now)]


def _lease(raw: Object, now: float) -> list[Any]:
    name, spec, _status = _parts(raw)
    return [name, spec.get("holderIdentity", ""), age(raw, now)]


def _config_map(raw: Object, now: float) -> list[Any]:
    size = len(raw.get("data") or ()) + len(raw.get("binaryData") or ())
    return [raw["metadata"]["name"], size, age(raw, now)]


def _secret(raw: Object, now: float) -> list[Any]:
    size = len(raw.get("data") or ())
    return [raw["metadata"]["name"], raw.get("type", ""), size, age(raw, now)]


def _event(raw: Object, now: float) -> list[Any]:
    about = raw.get("involvedObject") or {}
    last = raw.get("lastTimestamp") or raw.get("firstTimestamp") or raw.get("eventTime")
    place = f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}"
    message = str(raw.get("message") or "").strip()
    return [
        since(last, now),
        raw.get("type", ""),
        raw.get("reason", ""),
        place,
        message,
        raw["metadata"]["name"],
    ]


def _claim(raw: Object, now: float) -> list[Any]:
    name, spec, status = _parts(raw)
    leaving = raw["metadata"].get("deletionTimestamp")
    bound = bool(spec.get("volumeName"))
    return [
        name,
        "Terminating" if leaving else status.get("phase", ""),
        spec.get("volumeName", ""),
        (status.get("capacity") or {}).get("storage", "") if bound else "",
        _access(status.get("accessModes")) if bound else "",
        spec.get("storageClassName") or "",
        spec.get("volumeAttributesClassName") or "<unset>",
        age(raw, now),
    ]


def _access(modes: Optional[Sequence[str]]) -> str:
    return ",".join(_ACCESS.get(mode, mode) for mode in modes or ())


_TABLES: Mapping[str, tuple[Sequence[Column], Cells]] = {
    "nodes": (
        _columns(
            *("Name", "Status", "Roles", "Age", "Version"),
            wide=(
                *("Internal-IP", "External-IP", "OS-Image"),
                *("Kernel-Version", "Container-Runtime"),
            ),
        ),
        _node,
    ),
    "pods": (
        _columns(
            *("Name", "Ready", "Status", "Restarts", "Age"),
            wide=("IP", "Node", "Nominated Node", "Readiness Gates"),
        ),
        _pod,
    ),
    "namespaces": (_columns("Name", "Status", "Age"), _namespace),
    "configmaps": (_columns("Name", "Data", "Age"), _config_map),
    "secrets": (_columns("Name", "Type", "Data", "Age"), _secret),
    "events": (
        _columns("Last Seen", "Type", "Reason", "Object", "Message", wide=("Name",)),
        _event,
    ),
    "persistentvolumeclaims": (
        _columns(
            *("Name", "Status", "Volume", "Capacity", "Access Modes", "StorageClass"),
            *("VolumeAttributesClass", "Age"),
        ),
        _claim,
    ),
    "deployments.apps": (
        _columns("Name", "Ready", "Up-to-date", "Available", "Age"),
        _deployment,
    ),
    "replicasets.apps": (
        _columns(
            *("Name", "Desired", "Current", "Ready", "Age"),
            numbers=("Desired", "Current", "Ready"),
        ),
        _replica_set,
    ),
    "statefulsets.apps": (_columns("Name", "Ready", "Age"), _stateful_set),
    "daemonsets.apps": (
        _columns(
            *("Name", "Desired", "Current", "Ready", "Up-to-date", "Available"),
            *("Node Selector", "Age"),
            numbers=("Desired", "Current", "Ready", "Up-to-date", "Available"),
        ),
        _daemon_set,
    ),
    "jobs.batch": (_columns("Name", "Status", "Completions", "Duration", "Age"), _job),
    "poddisruptionbudgets.policy": (
        _columns(
            *("Name", "Min Available", "Max Unavailable", "Allowed Disruptions", "Age"),
            numbers=("Allowed Disruptions",),
        ),
        _budget,
    ),
    "leases.coordination.k8s.io": (_columns("Name", "Holder", "Age"), _lease),
}
