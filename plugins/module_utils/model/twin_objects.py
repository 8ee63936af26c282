# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What of a cluster a twin is made of: which collections, and which fields of their objects.

Kept is what schedulers, controllers, budgets and drains look at. What a container runs (image,
command, environment, mounts, probes) is left out, and so are Secrets and ConfigMaps altogether.
Equal templates stay equal, so that a Deployment finds its ReplicaSet again.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    AUTOSCALERS,
    BUDGETS,
    CLAIMS,
    CSI_DRIVERS,
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
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.well_known import is_well_known

Raw = dict[str, Any]
# By Resource.key; what is reduced.
Objects = Mapping[str, Sequence[Raw]]

# In an order in which they can be put into a twin.
COLLECTIONS: tuple[Resource[Any], ...] = (
    NAMESPACES,
    NODES,
    STORAGE_CLASSES,
    CSI_DRIVERS,
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
# What simulated kubelets go by; no other cluster has them.
_SIMULATED = ("start-seconds", "stop-seconds", "finish-seconds", "exit-code", "behaviour")

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
_NODE_SPEC = ("providerID", "taints", "unschedulable")
_NODE_STATUS = ("allocatable", "capacity")
_NODE_INFO = ("architecture", "bootID", "kubeletVersion", "operatingSystem")
_KUBELET_SAYS = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
# Not when it was last said: the same cluster gives the same objects.
_CONDITION = (
    "type", "status", "reason", "message", "lastTransitionTime", "lastUpdateTime",
    "observedGeneration",
)  # fmt: skip
_STATE = ("reason", "startedAt", "finishedAt", "exitCode")


def reduced(resource: Resource[Any], raw: Mapping[str, Any]) -> Raw:
    """Returns the object as a twin keeps it; `resource` is one of COLLECTIONS."""
    # `where` looks at nodes' annotations, and maintenance keeps its record there, with any prefix.
    every = resource.kind == NODES.kind
    found: Raw = {"metadata": _metadata(raw.get("metadata") or {}, every=every)}
    rest = {
        key: value
        for key, value in raw.items()
        if key not in ("metadata", "kind", "apiVersion", "data", "stringData")
    }
    change = _CHANGES.get(resource.kind)
    found.update(rest if change is None else change(rest))
    conditions = (found.get("status") or {}).get("conditions")
    if conditions:
        kept = [_chosen(one, _CONDITION) for one in conditions]
        found["status"] = {**found["status"], "conditions": kept}
    return found


def _metadata(
    raw: Mapping[str, Any], fields: tuple[str, ...] = _METADATA, *, every: bool = False
) -> Raw:
    """Of the annotations those that Kubernetes, its neighbours or we read, or every short one."""
    found = _chosen(raw, fields)
    annotations = {
        key: value
        for key, value in (found.pop("annotations", None) or {}).items()
        if (every or is_well_known(key) or key in _SIMULATED) and len(value) <= _LONG
    }
    return {**found, "annotations": annotations} if annotations else found


def _chosen(raw: Mapping[str, Any], names: tuple[str, ...]) -> Raw:
    return {name: raw[name] for name in names if name in raw}


def _node(raw: Mapping[str, Any]) -> Raw:
    status = raw.get("status") or {}
    conditions = [one for one in status.get("conditions") or () if one["type"] in _KUBELET_SAYS]
    info = _chosen(status.get("nodeInfo") or {}, _NODE_INFO)
    kept = {**_chosen(status, _NODE_STATUS), "conditions": conditions, "nodeInfo": info}
    return {"spec": _chosen(raw.get("spec") or {}, _NODE_SPEC), "status": kept}


def _pod(raw: Mapping[str, Any]) -> Raw:
    status = raw.get("status") or {}
    found = _chosen(status, _POD_STATUS)
    for name in ("containerStatuses", "initContainerStatuses"):
        if status.get(name):
            found[name] = [_container_status(one) for one in status[name]]
    return {"spec": _pod_spec(raw.get("spec") or {}), "status": found}


def _container_status(raw: Mapping[str, Any]) -> Raw:
    """What it says in words may name images and files."""
    found = _chosen(raw, _CONTAINER_STATUS)
    for name in ("state", "lastState"):
        if found.get(name):
            found[name] = {state: _chosen(of, _STATE) for state, of in found[name].items()}
    return found


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
        metadata = _metadata(template.get("metadata") or {}, ("labels", "annotations"))
        spec["template"] = {"metadata": metadata, "spec": _pod_spec(template.get("spec") or {})}
    if "volumeClaimTemplates" in spec:
        spec["volumeClaimTemplates"] = [
            {
                "metadata": _metadata(one["metadata"], ("name", "labels", "annotations")),
                "spec": _chosen(one.get("spec") or {}, _CLAIM_SPEC),
            }
            for one in spec["volumeClaimTemplates"]
        ]
    return {**raw, "spec": spec}


_CLAIM_SPEC = (
    "accessModes", "resources", "selector", "storageClassName", "volumeMode", "volumeName",
    "volumeAttributesClassName",
)  # fmt: skip
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


def _claim(raw: Mapping[str, Any]) -> Raw:
    status = _chosen(raw.get("status") or {}, ("phase", "capacity", "accessModes"))
    return {"spec": _chosen(raw.get("spec") or {}, _CLAIM_SPEC), "status": status}


def _attachment(raw: Mapping[str, Any]) -> Raw:
    spec = _chosen(raw.get("spec") or {}, ("attacher", "nodeName"))
    source = (raw.get("spec") or {}).get("source") or {}
    spec["source"] = _chosen(source, ("persistentVolumeName",))
    return {"spec": spec, "status": _chosen(raw.get("status") or {}, ("attached",))}


def _csi_driver(raw: Mapping[str, Any]) -> Raw:
    kept = ("attachRequired", "storageCapacity", "preventPodSchedulingIfMissing")
    return {"spec": _chosen(raw.get("spec") or {}, kept)}


def _csi_node(raw: Mapping[str, Any]) -> Raw:
    drivers = (raw.get("spec") or {}).get("drivers") or ()
    kept = ("name", "nodeID", "topologyKeys", "allocatable")
    return {"spec": {"drivers": [_chosen(one, kept) for one in drivers]}}


def _autoscaler(raw: Mapping[str, Any]) -> Raw:
    spec = _chosen(raw.get("spec") or {}, ("scaleTargetRef", "minReplicas", "maxReplicas"))
    status = raw.get("status") or {}
    return {"spec": spec, "status": _chosen(status, ("currentReplicas", "desiredReplicas"))}


def _storage_class(raw: Mapping[str, Any]) -> Raw:
    return {key: value for key, value in raw.items() if key != "parameters"}


def _namespace(raw: Mapping[str, Any]) -> Raw:
    return {"spec": raw.get("spec") or {}, "status": _chosen(raw.get("status") or {}, ("phase",))}


_CHANGES: Mapping[str, Callable[[Mapping[str, Any]], Raw]] = {
    NAMESPACES.kind: _namespace,
    NODES.kind: _node,
    PODS.kind: _pod,
    PERSISTENT_VOLUMES.kind: _persistent_volume,
    CLAIMS.kind: _claim,
    VOLUME_ATTACHMENTS.kind: _attachment,
    CSI_DRIVERS.kind: _csi_driver,
    CSI_NODES.kind: _csi_node,
    AUTOSCALERS.kind: _autoscaler,
    STORAGE_CLASSES.kind: _storage_class,
    DEPLOYMENTS.kind: _templated,
    REPLICA_SETS.kind: _templated,
    STATEFUL_SETS.kind: _templated,
    DAEMON_SETS.kind: _templated,
    REPLICATION_CONTROLLERS.kind: _templated,
    JOBS.kind: _templated,
}
