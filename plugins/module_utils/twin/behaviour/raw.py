# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reading and rewriting raw objects, as every controller does; nothing is changed in place."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import FINISHED_PHASES
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import (
    format_instant,
    instant_at,
    parse_instant,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Change,
    Key,
    Object,
)

Raw = dict[str, Any]

PODS, NODES = "pods", "nodes"
REPLICA_SETS, DEPLOYMENTS = "replicasets.apps", "deployments.apps"
STATEFUL_SETS, DAEMON_SETS = "statefulsets.apps", "daemonsets.apps"
JOBS, BUDGETS = "jobs.batch", "poddisruptionbudgets.policy"
CLAIMS, VOLUMES = "persistentvolumeclaims", "persistentvolumes"
STORAGE_CLASSES = "storageclasses.storage.k8s.io"
ATTACHMENTS = "volumeattachments.storage.k8s.io"
REVISIONS = "controllerrevisions.apps"

# The finalizers by which whoever deletes an owner says what is to become of what it owns.
FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"


# --- metadata ------------------------------------------------------------------------------


def key_of(resource: str, raw: Object) -> Key:
    metadata = raw["metadata"]
    return Key(resource, metadata.get("namespace", ""), metadata["name"])


def uid_of(raw: Object) -> str:
    return str(raw["metadata"]["uid"])


def labels_of(raw: Object) -> Mapping[str, str]:
    return raw["metadata"].get("labels") or {}


def annotations_of(raw: Object) -> Mapping[str, str]:
    return raw["metadata"].get("annotations") or {}


def leaving(raw: Object) -> bool:
    return bool(raw["metadata"].get("deletionTimestamp"))


def controller_of(raw: Object) -> Optional[Mapping[str, Any]]:
    """The ownerReference with controller: true."""
    for owner in raw["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            found: Mapping[str, Any] = owner
            return found
    return None


def own_keys(change: Change, resource: str, kind: str) -> tuple[Key, ...]:
    """The key of the owner that a change concerns: its own, or one of what it controls."""
    if change.resource == resource:
        return () if change.type == "DELETED" else (key_of(resource, change.object),)
    return owner_keys(change.object, resource, kind)


def owner_keys(raw: Object, resource: str, kind: str) -> tuple[Key, ...]:
    """The key of what controls this object, () when that is of another kind."""
    owner = controller_of(raw)
    if owner is None or owner["kind"] != kind:
        return ()
    return (Key(resource, raw["metadata"]["namespace"], owner["name"]),)


def reference_to(owner: Object) -> Raw:
    """The ownerReference that a controller gives to what it makes."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def with_metadata(raw: Object, **fields: Any) -> Raw:
    return {**raw, "metadata": {**raw["metadata"], **fields}}


def with_spec(raw: Object, **fields: Any) -> Raw:
    return {**raw, "spec": {**raw["spec"], **fields}}


# --- time ----------------------------------------------------------------------------------


def text_of(seconds: float) -> str:
    """Whole seconds, cut off, as objects carry them."""
    return format_instant(instant_at(seconds))


def seconds_of(text: str) -> float:
    return parse_instant(text).timestamp()


def created_at(raw: Object) -> float:
    return seconds_of(raw["metadata"]["creationTimestamp"])


# --- conditions and phases -----------------------------------------------------------------


def status_of(raw: Object) -> Mapping[str, Any]:
    return raw.get("status") or {}


def condition(raw: Object, kind: str) -> Mapping[str, Any]:
    """The condition of this type; {} where there is none."""
    for one in status_of(raw).get("conditions") or ():
        if one.get("type") == kind:
            found: Mapping[str, Any] = one
            return found
    return {}


def is_true(raw: Object, kind: str) -> bool:
    return condition(raw, kind).get("status") == "True"


def ready(raw: Object) -> bool:
    return is_true(raw, "Ready")


def finished(pod: Object) -> bool:
    return status_of(pod).get("phase") in FINISHED_PHASES


def active(pod: Object) -> bool:
    """As controllers count: neither finished nor leaving."""
    return not finished(pod) and not leaving(pod)


def node_of(pod: Object) -> str:
    return (pod.get("spec") or {}).get("nodeName") or ""


def available_at(pod: Object, min_ready: int) -> Optional[float]:
    """When a Ready pod counts as available; None for one that is not Ready."""
    found = condition(pod, "Ready")
    if found.get("status") != "True":
        return None
    return seconds_of(found["lastTransitionTime"]) + min_ready if min_ready else 0.0


def available(pod: Object, min_ready: int, now: float) -> bool:
    when = available_at(pod, min_ready)
    return when is not None and when <= now


def next_available(pods: Iterable[Object], min_ready: int, now: float) -> Optional[float]:
    """The next moment at which one of them becomes available by time alone."""
    moments = [available_at(pod, min_ready) for pod in pods] if min_ready else []
    return min((one for one in moments if one is not None and one > now), default=None)


def with_conditions(
    found: Iterable[Mapping[str, Any]], *wanted: Mapping[str, Any], now: float
) -> list[Raw]:
    """The conditions with these set; lastTransitionTime moves only when the status does."""
    conditions = {one["type"]: dict(one) for one in found}
    for one in wanted:
        before = conditions.get(one["type"], {})
        same = before.get("status") == one["status"]
        since = before.get("lastTransitionTime") if same else None
        conditions[one["type"]] = {**one, "lastTransitionTime": since or text_of(now)}
    return list(conditions.values())


def without_zeros(status: Mapping[str, Any], always: Iterable[str] = ()) -> Raw:
    """Go leaves out counts that are 0, but for those that are always there."""
    kept = tuple(always)
    return {key: value for key, value in status.items() if value != 0 or key in kept}


# --- templates -----------------------------------------------------------------------------


def pod_from(template: Mapping[str, Any], owner: Object) -> Raw:
    """A pod of a controller, still without a name."""
    given = template.get("metadata") or {}
    metadata: Raw = {
        field: dict(given[field]) for field in ("labels", "annotations") if given.get(field)
    }
    if given.get("finalizers"):
        metadata["finalizers"] = list(given["finalizers"])
    metadata["namespace"] = owner["metadata"]["namespace"]
    metadata["ownerReferences"] = [reference_to(owner)]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": dict(template.get("spec") or {}),
    }
