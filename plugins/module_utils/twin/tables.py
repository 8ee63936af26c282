# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Tables, which kubectl asks for instead of objects: the columns that the real server gives."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import parse_instant
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Object
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.kinds import Kind

Cells = Callable[[Object], Sequence[Any]]
_ROLE = "node-role.kubernetes.io/"


def table(
    kind: Kind, items: Sequence[Object], metadata: Mapping[str, Any], now: float
) -> dict[str, Any]:
    """meta.k8s.io/v1 Table. now: seconds since the epoch, for ages."""
    names, cells = _COLUMNS.get(kind.resource, ((), lambda _raw: ()))
    columns = [_column("Name", "name"), *(_column(name) for name in names), _column("Age")]
    rows = [
        {
            "cells": [raw["metadata"]["name"], *cells(raw), _age(raw, now)],
            "object": {
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": raw["metadata"],
            },
        }
        for raw in items
    ]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": dict(metadata),
        "columnDefinitions": columns,
        "rows": rows,
    }


def _column(name: str, form: str = "") -> dict[str, Any]:
    return {"name": name, "type": "string", "format": form, "description": name, "priority": 0}


def _age(raw: Object, now: float) -> str:
    created = raw["metadata"].get("creationTimestamp")
    if not created:
        return "<unknown>"
    return span(now - parse_instant(created).timestamp())


def span(seconds: float) -> str:
    """kubectl's short form: 42s, 3m5s, 17m, 5h, 3d2h, 40d."""
    whole = max(0, int(seconds))
    for limit, unit, lower, keep in (
        (120, 1, "s", 0),
        (600, 60, "m", 1),
        (3 * 3600, 60, "m", 0),
        (8 * 3600, 3600, "h", 60),
        (48 * 3600, 3600, "h", 0),
        (8 * 86400, 86400, "d", 3600),
    ):
        if whole < limit:
            rest = whole % unit // keep if keep else 0
            text = f"{whole // unit}{lower}"
            return text + (
                f"{rest}{'s' if keep == 1 else 'm' if keep == 60 else 'h'}" if rest else ""
            )
    return f"{whole // 86400}d"


# --- columns -------------------------------------------------------------------------------


def _node(raw: Object) -> Sequence[Any]:
    status = raw.get("status") or {}
    conditions = {one["type"]: one["status"] for one in status.get("conditions") or ()}
    words = {"True": "Ready", "False": "NotReady"}
    state = words.get(conditions.get("Ready", ""), "Unknown")
    if (raw.get("spec") or {}).get("unschedulable"):
        state += ",SchedulingDisabled"
    labels = raw["metadata"].get("labels") or {}
    roles = sorted(key[len(_ROLE) :] for key in labels if key.startswith(_ROLE))
    version = (status.get("nodeInfo") or {}).get("kubeletVersion", "")
    return state, ",".join(roles) or "<none>", version


def _pod(raw: Object) -> Sequence[Any]:
    spec, status = raw.get("spec") or {}, raw.get("status") or {}
    containers = status.get("containerStatuses") or ()
    ready = sum(1 for one in containers if one.get("ready"))
    restarts = sum(int(one.get("restartCount") or 0) for one in containers)
    state = status.get("phase", "")
    for one in containers:
        waiting = (one.get("state") or {}).get("waiting") or {}
        state = waiting.get("reason") or state
    if raw["metadata"].get("deletionTimestamp"):
        state = "Terminating"
    return f"{ready}/{len(spec.get('containers') or ())}", state, str(restarts)


def _deployment(raw: Object) -> Sequence[Any]:
    spec, status = raw.get("spec") or {}, raw.get("status") or {}
    return (
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}",
        str(status.get("updatedReplicas", 0)),
        str(status.get("availableReplicas", 0)),
    )


def _replica_set(raw: Object) -> Sequence[Any]:
    spec, status = raw.get("spec") or {}, raw.get("status") or {}
    names = ("replicas", "readyReplicas")
    return (str(spec.get("replicas", 0)), *(str(status.get(name, 0)) for name in names))


def _stateful_set(raw: Object) -> Sequence[Any]:
    spec, status = raw.get("spec") or {}, raw.get("status") or {}
    return (f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}",)


def _daemon_set(raw: Object) -> Sequence[Any]:
    status = raw.get("status") or {}
    names = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady")
    return tuple(str(status.get(name, 0)) for name in names)


def _budget(raw: Object) -> Sequence[Any]:
    spec, status = raw.get("spec") or {}, raw.get("status") or {}
    return (
        str(spec.get("minAvailable", "N/A")),
        str(spec.get("maxUnavailable", "N/A")),
        str(status.get("disruptionsAllowed", 0)),
    )


def _lease(raw: Object) -> Sequence[Any]:
    return ((raw.get("spec") or {}).get("holderIdentity", ""),)


def _namespace(raw: Object) -> Sequence[Any]:
    return ((raw.get("status") or {}).get("phase", ""),)


def _event(raw: Object) -> Sequence[Any]:
    about = raw.get("involvedObject") or {}
    place = f"{str(about.get('kind')).lower()}/{about.get('name')}"
    return raw.get("type", ""), raw.get("reason", ""), place, raw.get("message", "")


_COLUMNS: Mapping[str, tuple[tuple[str, ...], Cells]] = {
    "nodes": (("Status", "Roles", "Version"), _node),
    "pods": (("Ready", "Status", "Restarts"), _pod),
    "namespaces": (("Status",), _namespace),
    "events": (("Type", "Reason", "Object", "Message"), _event),
    "deployments.apps": (("Ready", "Up-to-date", "Available"), _deployment),
    "replicasets.apps": (("Desired", "Current", "Ready"), _replica_set),
    "statefulsets.apps": (("Ready",), _stateful_set),
    "daemonsets.apps": (("Desired", "Current", "Ready"), _daemon_set),
    "poddisruptionbudgets.policy": (
        ("Min available", "Max unavailable", "Allowed disruptions"),
        _budget,
    ),
    "leases.coordination.k8s.io": (("Holder",), _lease),
}
