# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Manifests that tests create, built from what tells them apart. Pure."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .api import Document

SPACE_LABEL = "test-space"
HOSTNAME = "kubernetes.io/hostname"
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
UNREADY_BEHAVIOURS = ("never-ready", "crash-loop")


@dataclass(frozen=True)
class PodShape:
    """What may differ between pods; every builder of Space takes these as keyword arguments.

    `node`: where they start if it is open; they may move. With `pinned` they may be nowhere else.
    `start_seconds`, `stop_seconds`, `finish_seconds`, `exit_code`, `behaviour` (never-ready,
    crash-loop, never-stops): see stages/README.md. `spec` is merged over the pod's spec at last.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    node: str | None = None
    pinned: bool = False
    cpu: str = "10m"
    memory: str = "16Mi"
    grace_seconds: int = 30
    start_seconds: float | None = None
    stop_seconds: float | None = None
    finish_seconds: float | None = None
    exit_code: int | None = None
    behaviour: str | None = None
    empty_dir: bool = False
    claims: Sequence[str] = ()
    spec: Mapping[str, Any] = field(default_factory=dict)

    @property
    def becomes_ready(self) -> bool:
        return self.behaviour not in UNREADY_BEHAVIOURS


def node(
    name: str,
    space: str,
    *,
    labels: Mapping[str, str],
    cpu: str,
    memory: str,
    pods: int,
    control_plane: bool,
    kubelet_version: str,
    taints: Sequence[Document] = (),
) -> Document:
    """A node as a kubelet registers it: with its status."""
    allocatable = {"cpu": cpu, "memory": memory, "pods": str(pods), "ephemeral-storage": "100Gi"}
    all_labels = {HOSTNAME: name, "kubernetes.io/os": "linux", SPACE_LABEL: space, **labels}
    all_taints = list(taints)
    if control_plane:
        all_labels[CONTROL_PLANE] = ""
        all_taints.append({"key": CONTROL_PLANE, "effect": "NoSchedule"})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": all_labels,
            # As kubelets say it: the attach-detach controller works for nodes that carry this.
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
        },
        "spec": {"taints": all_taints, "providerID": f"test:///{space}/{name}"},
        "status": {
            "allocatable": allocatable,
            "capacity": allocatable,
            "addresses": [{"type": "Hostname", "address": name}],
            "nodeInfo": node_info(kubelet_version),
        },
    }


def node_info(kubelet_version: str) -> Document:
    """With a boot id of its own, as each start of a machine has one."""
    return {
        "architecture": "amd64",
        "operatingSystem": "linux",
        "bootID": str(uuid.uuid4()),
        "machineID": uuid.uuid4().hex,
        "systemUUID": str(uuid.uuid4()),
        "kernelVersion": "6.12.0",
        "osImage": "Debian GNU/Linux 13 (trixie)",
        "containerRuntimeVersion": "containerd://2.1.0",
        "kubeletVersion": kubelet_version,
        "kubeProxyVersion": kubelet_version,
    }


def pod_template(name: str, space: str, shape: PodShape) -> Document:
    """metadata and spec of a pod; the label app=NAME is what selects it."""
    spec: Document = {
        "terminationGracePeriodSeconds": shape.grace_seconds,
        "nodeSelector": {SPACE_LABEL: space},
        "containers": [
            {
                "name": "main",
                "image": "registry.test/main:1",
                "resources": {"requests": {"cpu": shape.cpu, "memory": shape.memory}},
            }
        ],
        **_placement(space, shape),
    }
    spec["volumes"] = _volumes(shape)
    return {
        "metadata": {
            "labels": {"app": name, **shape.labels},
            "annotations": {**_stage_annotations(shape), **shape.annotations},
        },
        "spec": {**spec, **shape.spec},
    }


def _volumes(shape: PodShape) -> list[Document]:
    volumes: list[Document] = [
        {"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in shape.claims
    ]
    if shape.empty_dir:
        volumes.append({"name": "scratch", "emptyDir": {}})
    return volumes


def _stage_annotations(shape: PodShape) -> dict[str, str]:
    chosen = {
        "start-seconds": shape.start_seconds,
        "stop-seconds": shape.stop_seconds,
        "finish-seconds": shape.finish_seconds,
        "exit-code": shape.exit_code,
        "behaviour": shape.behaviour,
    }
    return {key: str(value) for key, value in chosen.items() if value is not None}


def _placement(space: str, shape: PodShape) -> Document:
    if shape.node is None:
        return {}
    if shape.pinned:
        return {"nodeSelector": {SPACE_LABEL: space, HOSTNAME: shape.node}}
    here = {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": [shape.node]}]}
    return {
        "affinity": {
            "nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 100, "preference": here}
                ]
            }
        },
        # Replaces the scheduler's default, which would spread replicas over nodes: all nodes of
        # the space are one domain.
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": SPACE_LABEL,
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {},
            }
        ],
    }


def deployment(
    name: str, space: str, replicas: int, strategy: Document | None, shape: PodShape
) -> Document:
    spec: Document = {
        "replicas": replicas,
        "selector": {"matchLabels": {"app": name}},
        "template": pod_template(name, space, shape),
    }
    if strategy is not None:
        spec["strategy"] = strategy
    return _object("apps/v1", "Deployment", name, spec)


def stateful_set(name: str, space: str, replicas: int, parallel: bool, shape: PodShape) -> Document:
    spec = {
        "replicas": replicas,
        "serviceName": name,
        "podManagementPolicy": "Parallel" if parallel else "OrderedReady",
        "selector": {"matchLabels": {"app": name}},
        "template": pod_template(name, space, shape),
    }
    return _object("apps/v1", "StatefulSet", name, spec)


def daemon_set(name: str, space: str, shape: PodShape) -> Document:
    """On every node of the space, cordoned and tainted ones too."""
    template = pod_template(name, space, shape)
    template["spec"].setdefault("tolerations", [{"operator": "Exists"}])
    spec = {"selector": {"matchLabels": {"app": name}}, "template": template}
    return _object("apps/v1", "DaemonSet", name, spec)


def job(name: str, space: str, completions: int, shape: PodShape) -> Document:
    template = pod_template(name, space, shape)
    template["spec"].setdefault("restartPolicy", "Never")
    spec = {"completions": completions, "parallelism": completions, "template": template}
    return _object("batch/v1", "Job", name, spec)


def bare_pod(name: str, space: str, shape: PodShape) -> Document:
    """Without an owner; `node` binds it there, past the scheduler and a cordon."""
    template = pod_template(name, space, PodShape(**{**vars(shape), "node": None}))
    if shape.node is not None:
        template["spec"]["nodeName"] = shape.node
    return {"apiVersion": "v1", "kind": "Pod", **_named(template, name)}


def mirror_pod(name: str, space: str, node: Document, shape: PodShape) -> Document:
    """As the kubelet of `node` shows a static pod."""
    document = bare_pod(name, space, PodShape(**{**vars(shape), "node": node["metadata"]["name"]}))
    document["metadata"]["annotations"]["kubernetes.io/config.mirror"] = "static"
    document["metadata"]["ownerReferences"] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "name": node["metadata"]["name"],
            "uid": node["metadata"]["uid"],
            "controller": True,
        }
    ]
    return document


def budget(
    name: str,
    selector: Document,
    min_available: int | str | None,
    max_unavailable: int | str | None,
    policy: str | None,
) -> Document:
    """`selector` is a LabelSelector; `policy` an unhealthyPodEvictionPolicy."""
    fields = {
        "selector": selector,
        "minAvailable": min_available,
        "maxUnavailable": max_unavailable,
        "unhealthyPodEvictionPolicy": policy,
    }
    spec = {key: value for key, value in fields.items() if value is not None}
    return _object("policy/v1", "PodDisruptionBudget", name, spec)


def autoscaler(name: str, minimum: int, maximum: int) -> Document:
    """Of a Deployment, by processor use, which nothing here measures: it only keeps the bounds."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}
    spec = {
        "scaleTargetRef": target,
        "minReplicas": minimum,
        "maxReplicas": maximum,
        "metrics": [{"type": "Resource", "resource": cpu}],
    }
    return _object("autoscaling/v2", "HorizontalPodAutoscaler", name, spec)


def persistent_volume(
    name: str, claim: str, namespace: str, node: str, zone: str, mode: str
) -> Document:
    """Bound beforehand to a claim: local to `node`, or of a CSI driver and reachable in `zone`."""
    spec: Document = {
        "capacity": {"storage": "1Gi"},
        "accessModes": [mode],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
        "claimRef": {"namespace": namespace, "name": claim},
    }
    if node:
        spec["local"] = {"path": "/var/lib/data"}
    else:
        spec["csi"] = {"driver": "csi.test", "volumeHandle": name}
    for key, value in ((HOSTNAME, node), ("topology.kubernetes.io/zone", zone)):
        if value:
            term = {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    return _object("v1", "PersistentVolume", name, spec)


def claim(name: str, volume: str, mode: str) -> Document:
    spec = {
        "accessModes": [mode],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "",
        "volumeName": volume,
    }
    return _object("v1", "PersistentVolumeClaim", name, spec)


def _object(api_version: str, kind: str, name: str, spec: Document) -> Document:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _named(template: Document, name: str) -> Document:
    return {"metadata": {**template["metadata"], "name": name}, "spec": template["spec"]}
