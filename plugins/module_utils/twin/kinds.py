# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The kinds that a twin serves: the built-in ones here, custom ones by the CRDs installed in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Optional

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True)
class Kind:
    """resource: as kubectl names it, "pods" or "deployments.apps"; the key of the store.

    subresources: "status", "scale" and what only some kinds have.
    generation: metadata.generation counts changes of the spec.
    """

    name: str
    group: str
    version: str
    plural: str
    namespaced: bool
    subresources: tuple[str, ...] = ()
    short_names: tuple[str, ...] = ()
    generation: bool = False
    custom: bool = False

    @property
    def resource(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def unconditional(self) -> bool:
        """Whether a PUT without a resourceVersion is taken: it replaces whatever is there."""
        return not self.custom and self.resource not in _CONDITIONAL

    @property
    def singular(self) -> str:
        return self.name.lower()


_CONDITIONAL = (
    "leases.coordination.k8s.io",
    "poddisruptionbudgets.policy",
    "customresourcedefinitions.apiextensions.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "volumeattachments.storage.k8s.io",
    "csinodes.storage.k8s.io",
    "csidrivers.storage.k8s.io",
)
_STATUS = ("status",)
_SCALED = ("scale", "status")

_BUILT_IN = (
    Kind("Node", "", "v1", "nodes", False, _STATUS, ("no",)),
    Kind("Namespace", "", "v1", "namespaces", False, ("finalize", "status"), ("ns",)),
    Kind("Pod", "", "v1", "pods", True, ("binding", "eviction", "status"), ("po",), True),
    Kind("PersistentVolume", "", "v1", "persistentvolumes", False, _STATUS, ("pv",)),
    Kind("PersistentVolumeClaim", "", "v1", "persistentvolumeclaims", True, _STATUS, ("pvc",)),
    Kind("ConfigMap", "", "v1", "configmaps", True, (), ("cm",)),
    Kind("Secret", "", "v1", "secrets", True),
    Kind("Service", "", "v1", "services", True, _STATUS, ("svc",)),
    Kind("ServiceAccount", "", "v1", "serviceaccounts", True, (), ("sa",)),
    Kind("Event", "", "v1", "events", True, (), ("ev",)),
    Kind(
        "ReplicationController",
        "",
        "v1",
        "replicationcontrollers",
        True,
        _SCALED,
        ("rc",),
        True,
    ),
    Kind("Deployment", "apps", "v1", "deployments", True, _SCALED, ("deploy",), True),
    Kind("ReplicaSet", "apps", "v1", "replicasets", True, _SCALED, ("rs",), True),
    Kind("StatefulSet", "apps", "v1", "statefulsets", True, _SCALED, ("sts",), True),
    Kind("DaemonSet", "apps", "v1", "daemonsets", True, _STATUS, ("ds",), True),
    Kind("ControllerRevision", "apps", "v1", "controllerrevisions", True),
    Kind("Job", "batch", "v1", "jobs", True, _STATUS, (), True),
    Kind("CronJob", "batch", "v1", "cronjobs", True, _STATUS, ("cj",), True),
    Kind(
        "HorizontalPodAutoscaler",
        "autoscaling",
        "v2",
        "horizontalpodautoscalers",
        True,
        _STATUS,
        ("hpa",),
    ),
    Kind(
        "PodDisruptionBudget",
        "policy",
        "v1",
        "poddisruptionbudgets",
        True,
        _STATUS,
        ("pdb",),
        True,
    ),
    Kind("Lease", "coordination.k8s.io", "v1", "leases", True),
    Kind("Event", "events.k8s.io", "v1", "events", True, (), ("ev",)),
    Kind("StorageClass", "storage.k8s.io", "v1", "storageclasses", False, (), ("sc",)),
    Kind("VolumeAttachment", "storage.k8s.io", "v1", "volumeattachments", False, _STATUS),
    Kind("CSINode", "storage.k8s.io", "v1", "csinodes", False, _STATUS),
    Kind("CSIDriver", "storage.k8s.io", "v1", "csidrivers", False),
    Kind("PriorityClass", "scheduling.k8s.io", "v1", "priorityclasses", False, (), ("pc",)),
    Kind(
        "ValidatingWebhookConfiguration",
        "admissionregistration.k8s.io",
        "v1",
        "validatingwebhookconfigurations",
        False,
        (),
        (),
        True,
    ),
    Kind(
        "MutatingWebhookConfiguration",
        "admissionregistration.k8s.io",
        "v1",
        "mutatingwebhookconfigurations",
        False,
        (),
        (),
        True,
    ),
    Kind("Role", "rbac.authorization.k8s.io", "v1", "roles", True),
    Kind("RoleBinding", "rbac.authorization.k8s.io", "v1", "rolebindings", True),
    Kind("ClusterRole", "rbac.authorization.k8s.io", "v1", "clusterroles", False),
    Kind("ClusterRoleBinding", "rbac.authorization.k8s.io", "v1", "clusterrolebindings", False),
    Kind(
        "CustomResourceDefinition",
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        False,
        _STATUS,
        ("crd", "crds"),
        True,
    ),
)

# The two groups of Event are two views of the same objects.
SAME_OBJECTS = {"events.events.k8s.io": "events"}
DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"


class Kinds:
    """All kinds that are served now."""

    def __init__(self) -> None:
        self._by_path: dict[tuple[str, str, str], Kind] = {}
        # By the store's key, then by version, in the order in which they came.
        self._by_resource: dict[str, dict[str, Kind]] = {}
        for kind in _BUILT_IN:
            self._add(kind)

    def __iter__(self) -> Iterator[Kind]:
        return iter(tuple(self._by_path.values()))

    def find(self, group: str, version: str, plural: str) -> Optional[Kind]:
        return self._by_path.get((group, version, plural))

    def named(self, resource: str) -> Kind:
        """Of the store's key. Raises KeyError."""
        return next(iter(self._by_resource[resource].values()))

    def install(self, definition: Mapping[str, Any]) -> None:
        """Serves every served version of a CustomResourceDefinition."""
        for kind in _custom(definition):
            self._add(kind)

    def remove(self, definition: Mapping[str, Any]) -> None:
        for kind in _custom(definition):
            self._by_path.pop((kind.group, kind.version, kind.plural), None)
            self._by_resource.pop(kind.resource, None)

    def _add(self, kind: Kind) -> None:
        self._by_path[kind.group, kind.version, kind.plural] = kind
        self._by_resource.setdefault(kind.resource, {})[kind.version] = kind


def _custom(definition: Mapping[str, Any]) -> Iterator[Kind]:
    spec = definition["spec"]
    names = spec["names"]
    for version in spec["versions"]:
        if version.get("served"):
            yield Kind(
                names["kind"],
                spec["group"],
                version["name"],
                names["plural"],
                spec["scope"] == "Namespaced",
                tuple(sorted(version.get("subresources") or ())),
                tuple(names.get("shortNames") or ()),
                generation=True,
                custom=True,
            )
