# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The collections of the Kubernetes API that we read or write: path and parser of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Callable, Generic, Mapping, TypeVar

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import (
    Budget,
    parse_budget,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.controller import (
    Autoscaler,
    Controller,
    parse_autoscaler,
    parse_controller,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.lease import Lease, parse_lease
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node, parse_node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod, parse_pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.storage import (
    PersistentVolume,
    VolumeAttachment,
    parse_persistent_volume,
    parse_volume_attachment,
)

T = TypeVar("T")
Raw = Mapping[str, Any]


@dataclass(frozen=True)
class Resource(Generic[T]):
    """`group` is "" for the core group; `parse` turns a raw object into the model's."""

    kind: str
    group: str
    version: str
    plural: str
    namespaced: bool
    parse: Callable[[Mapping[str, Any]], T]

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The URL path of a collection (all namespaces when `namespace` is empty) or an object."""
        parts = ["/api" if not self.group else f"/apis/{self.group}", self.version]
        if self.namespaced and namespace:
            parts += ["namespaces", namespace]
        parts += [part for part in (self.plural, name, subresource) if part]
        return "/".join(parts)

    @property
    def key(self) -> str:
        """As kubectl names the collection: "pods", "deployments.apps"."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def raw(self) -> Resource[Raw]:
        """The same collection, its objects as the API gives them."""
        return Resource(self.kind, self.group, self.version, self.plural, self.namespaced, _as_is)


def _as_is(raw: Raw) -> Raw:
    return raw


NODES: Resource[Node] = Resource("Node", "", "v1", "nodes", False, parse_node)
PODS: Resource[Pod] = Resource("Pod", "", "v1", "pods", True, parse_pod)
BUDGETS: Resource[Budget] = Resource(
    "PodDisruptionBudget", "policy", "v1", "poddisruptionbudgets", True, parse_budget
)
DEPLOYMENTS: Resource[Controller] = Resource(
    "Deployment", "apps", "v1", "deployments", True, partial(parse_controller, "Deployment")
)
REPLICA_SETS: Resource[Controller] = Resource(
    "ReplicaSet", "apps", "v1", "replicasets", True, partial(parse_controller, "ReplicaSet")
)
STATEFUL_SETS: Resource[Controller] = Resource(
    "StatefulSet", "apps", "v1", "statefulsets", True, partial(parse_controller, "StatefulSet")
)
DAEMON_SETS: Resource[Controller] = Resource(
    "DaemonSet", "apps", "v1", "daemonsets", True, partial(parse_controller, "DaemonSet")
)
REPLICATION_CONTROLLERS: Resource[Controller] = Resource(
    "ReplicationController",
    "",
    "v1",
    "replicationcontrollers",
    True,
    partial(parse_controller, "ReplicationController"),
)
AUTOSCALERS: Resource[Autoscaler] = Resource(
    "HorizontalPodAutoscaler",
    "autoscaling",
    "v2",
    "horizontalpodautoscalers",
    True,
    parse_autoscaler,
)
VOLUME_ATTACHMENTS: Resource[VolumeAttachment] = Resource(
    "VolumeAttachment",
    "storage.k8s.io",
    "v1",
    "volumeattachments",
    False,
    parse_volume_attachment,
)
PERSISTENT_VOLUMES: Resource[PersistentVolume] = Resource(
    "PersistentVolume", "", "v1", "persistentvolumes", False, parse_persistent_volume
)
LEASES: Resource[Lease] = Resource(
    "Lease", "coordination.k8s.io", "v1", "leases", True, parse_lease
)
EVENTS: Resource[Raw] = Resource("Event", "", "v1", "events", True, _as_is)
NAMESPACES: Resource[Raw] = Resource("Namespace", "", "v1", "namespaces", False, _as_is)
VALIDATING_WEBHOOKS: Resource[Raw] = Resource(
    "ValidatingWebhookConfiguration",
    "admissionregistration.k8s.io",
    "v1",
    "validatingwebhookconfigurations",
    False,
    _as_is,
)

CONFIG_MAPS: Resource[Raw] = Resource("ConfigMap", "", "v1", "configmaps", True, _as_is)
JOBS: Resource[Raw] = Resource("Job", "batch", "v1", "jobs", True, _as_is)
CLAIMS: Resource[Raw] = Resource(
    "PersistentVolumeClaim", "", "v1", "persistentvolumeclaims", True, _as_is
)
STORAGE_CLASSES: Resource[Raw] = Resource(
    "StorageClass", "storage.k8s.io", "v1", "storageclasses", False, _as_is
)
CSI_DRIVERS: Resource[Raw] = Resource(
    "CSIDriver", "storage.k8s.io", "v1", "csidrivers", False, _as_is
)
CSI_NODES: Resource[Raw] = Resource("CSINode", "storage.k8s.io", "v1", "csinodes", False, _as_is)

CONTROLLERS: tuple[Resource[Controller], ...] = (
    DEPLOYMENTS,
    REPLICA_SETS,
    STATEFUL_SETS,
    DAEMON_SETS,
    REPLICATION_CONTROLLERS,
)
