# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What of a cluster a twin is made of: which collections, and which fields of their objects.

Kept is what schedulers, controllers, budgets and drains look at. What a container runs (image,
command, environment, mounts, probes) is left out, and so are Secrets and ConfigMaps altogether.
Equal templates stay equal, so that a Deployment finds its ReplicaSet again.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    AUTOSCALERS,
    BUDGETS,
    CLAIMS,
    CSI_NODES,
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    NAMESPACES,
    NODES,
    PERSISTENT_VOLUMES,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
    STORAGE_CLASSES,
    VOLUME_ATTACHMENTS,
    Resource,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    UNMODELLED_VOLUMES,
)

Raw = dict[str, Any]

# In an order in which they can be put into a twin.
COLLECTIONS: tuple[Resource[Any], ...] = (
    NAMESPACES,
    NODES,
    STORAGE_CLASSES,
    CSI_NODES,
    PERSISTENT_VOLUMES,
    CLAIMS,
    BUDGETS,
    DEPLOYMENTS,
    REPLICA_SETS,
    STATEFUL_SETS,
    DAEMON_SETS,
    REPLICATION_CONTROLLERS,
    JOBS,
    AUTOSCALERS,
    PODS,
    VOLUME_ATTACHMENTS,
)
# Without these there is nothing to drain.
NEEDED = (NODES, PODS)

_METADATA = (
    "name", "namespace", "uid", "generation", "labels", "annotations", "ownerReferences",
    "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
)  # fmt: skip
# A copy of the whole object, or of as much.
_LONG = 1024

_POD_SPEC = (
    "nodeName", "nodeSelector", "affinity", "tolerations", "topologySpreadConstraints",
    "schedulingGates", "schedulerName", "hostNetwork", "overhead", "resources", "priority",
    "readinessGates", "restartPolicy", "terminationGracePeriodSeconds",
)  # fmt: skip
_CONTAINER = ("name", "resources", "restartPolicy")
_POD_STATUS = (
    "phase", "conditions", "startTime", "qosClass", "resize", "resources", "allocatedResources",
    "nominatedNodeName",
)  # fmt: skip
_CONTAINER_STATUS = (
    "name", "ready", "started", "restartCount", "state", "lastState", "resources",
    "allocatedResources",
)  # fmt: skip
# Volumes that say something of where a pod can run. Of those with rules of their own, which are
# not modelled, the kind is kept.
_MOUNTS = ("emptyDir", "persistentVolumeClaim", "ephemeral")
_NODE_STATUS = ("allocatable", "capacity", "conditions", "nodeInfo")


def reduced(resource: Resource[Any], raw: Mapping[str, Any]) -> Raw:
    """Returns the object as a twin keeps it; `resource` is one of COLLECTIONS."""
    found: Raw = {"metadata": _metadata(raw.get("metadata") or {})}
    rest = {
        key: value
        for key, value in raw.items()
        if key not in ("metadata", "kind", "apiVersion", "data", "stringData")
    }
    change = _CHANGES.get(resource.kind)
    found.update(rest if change is None else change(rest))
    return found


def _metadata(raw: Mapping[str, Any]) -> Raw:
    found = _chosen(raw, _METADATA)
    annotations = found.get("annotations") or {}
    kept = {key: value for key, value in annotations.items() if len(value) <= _LONG}
    if kept:
        found["annotations"] = kept
    else:
        found.pop("annotations", None)
    return found


def _chosen(raw: Mapping[str, Any], names: tuple[str, ...]) -> Raw:
    return {name: raw[name] for name in names if name in raw}


def _node(raw: Mapping[str, Any]) -> Raw:
    return {
        "spec": dict(raw.get("spec") or {}),
        "status": _chosen(raw.get("status") or {}, _NODE_STATUS),
    }


def _pod(raw: Mapping[str, Any]) -> Raw:
    status = raw.get("status") or {}
    found = _chosen(status, _POD_STATUS)
    for name in ("containerStatuses", "initContainerStatuses"):
        if status.get(name):
            found[name] = [_chosen(one, _CONTAINER_STATUS) for one in status[name]]
    return {"spec": _pod_spec(raw.get("spec") or {}), "status": found}


def _pod_spec(raw: Mapping[str, Any]) -> Raw:
    spec = _chosen(raw, _POD_SPEC)
    for name in ("containers", "initContainers"):
        if raw.get(name):
            spec[name] = [_container(one) for one in raw[name]]
    volumes = [_volume(one) for one in raw.get("volumes") or ()]
    if any(volumes):
        spec["volumes"] = [one for one in volumes if one]
    return spec


def _container(raw: Mapping[str, Any]) -> Raw:
    container = _chosen(raw, _CONTAINER)
    ports = [one for one in raw.get("ports") or () if one.get("hostPort")]
    return {**container, "ports": ports} if ports else container


def _volume(raw: Mapping[str, Any]) -> Raw:
    kinds = [name for name in raw if name != "name"]
    if not kinds or kinds[0] in _MOUNTS:
        return dict(raw)
    return {"name": raw["name"], kinds[0]: {}} if kinds[0] in UNMODELLED_VOLUMES else {}


def _templated(raw: Mapping[str, Any]) -> Raw:
    spec = dict(raw.get("spec") or {})
    template = spec.get("template")
    if template:
        metadata = _chosen(template.get("metadata") or {}, ("labels", "annotations"))
        spec["template"] = {"metadata": metadata, "spec": _pod_spec(template.get("spec") or {})}
    return {**raw, "spec": spec}


_VOLUME_SPEC = (
    "accessModes", "capacity", "claimRef", "nodeAffinity", "persistentVolumeReclaimPolicy",
    "storageClassName", "volumeMode", "volumeAttributesClassName",
)  # fmt: skip


def _persistent_volume(raw: Mapping[str, Any]) -> Raw:
    """Of where the data is only what tells drivers and attachments apart."""
    spec = raw.get("spec") or {}
    kept = _chosen(spec, _VOLUME_SPEC)
    if "csi" in spec:
        kept["csi"] = _chosen(spec["csi"], ("driver", "volumeHandle"))
    kept.update({name: {} for name in (*UNMODELLED_VOLUMES, "local", "hostPath") if name in spec})
    return {"spec": kept, "status": _chosen(raw.get("status") or {}, ("phase",))}


def _storage_class(raw: Mapping[str, Any]) -> Raw:
    return {key: value for key, value in raw.items() if key != "parameters"}


def _namespace(raw: Mapping[str, Any]) -> Raw:
    return {"spec": raw.get("spec") or {}, "status": _chosen(raw.get("status") or {}, ("phase",))}


_CHANGES: Mapping[str, Callable[[Mapping[str, Any]], Raw]] = {
    NAMESPACES.kind: _namespace,
    NODES.kind: _node,
    PODS.kind: _pod,
    PERSISTENT_VOLUMES.kind: _persistent_volume,
    STORAGE_CLASSES.kind: _storage_class,
    DEPLOYMENTS.kind: _templated,
    REPLICA_SETS.kind: _templated,
    STATEFUL_SETS.kind: _templated,
    DAEMON_SETS.kind: _templated,
    REPLICATION_CONTROLLERS.kind: _templated,
    JOBS.kind: _templated,
}
