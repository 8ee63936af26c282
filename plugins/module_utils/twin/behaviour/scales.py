# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The scale of the owners of pods, as the disruption controller finds it.

Source: pkg/controller/disruption/disruption.go (finders, getExpectedScale), 1.37.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Key,
    Object,
    View,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    DEPLOYMENTS,
    REPLICA_SETS,
    STATEFUL_SETS,
    controller_of,
    uid_of,
)

_DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
_SCALED = {
    ("apps", "Deployment"): DEPLOYMENTS,
    ("apps", "ReplicaSet"): REPLICA_SETS,
    ("apps", "StatefulSet"): STATEFUL_SETS,
    ("", "ReplicationController"): "replicationcontrollers",
}
# Kinds whose pods have an owner, but one without a scale.
_WITHOUT_SCALE = {
    ("apps", "DaemonSet"): "daemonsets.apps",
    ("batch", "Job"): "jobs.batch",
    ("", "Node"): "nodes",
}


class NoScale(Exception):
    """str(): the message of the budget's SyncFailed condition, in the real controller's words."""


@dataclass(frozen=True)
class Scale:
    uid: str
    replicas: int


def expected_scale(view: View, namespace: str, pods: Iterable[Object]) -> int:
    """The sum of the scales of the owners of these pods; unmanaged pods add nothing.

    Raises NoScale for an owner that has none.
    """
    seen: dict[str, str] = {}
    scales: dict[str, int] = {}
    for pod in pods:
        owner = controller_of(pod)
        if owner is None or owner["uid"] in seen:
            continue
        found = scale_of(view, namespace, owner)
        if found is None:
            raise NoScale(f'found no controllers for pod "{pod["metadata"]["name"]}"')
        seen[owner["uid"]] = found.uid
        scales[found.uid] = found.replicas
    return sum(scales.values())


def scale_of(view: View, namespace: str, owner: Mapping[str, Any]) -> Optional[Scale]:
    """The scale of a controller, a Deployment's for its ReplicaSet; None when it is gone."""
    group, version = _group_and_version(owner)
    kind = (group, str(owner["kind"]))
    if kind in _WITHOUT_SCALE:
        raise NoScale(_no_scale(_WITHOUT_SCALE[kind]))
    if kind not in _SCALED:
        return _custom_scale(view, namespace, owner, group, version)
    found = view.get(Key(_SCALED[kind], namespace, owner["name"]))
    if found is None or uid_of(found) != owner["uid"]:
        return None
    above = controller_of(found)
    if kind == ("apps", "ReplicaSet") and above is not None and above["kind"] == "Deployment":
        deployment = view.get(Key(DEPLOYMENTS, namespace, above["name"]))
        if deployment is None or uid_of(deployment) != above["uid"]:
            return None
        found = deployment
    return Scale(uid_of(found), int(found["spec"].get("replicas", 1)))


def _group_and_version(owner: Mapping[str, Any]) -> tuple[str, str]:
    group, slash, version = str(owner["apiVersion"]).rpartition("/")
    return (group if slash else "", version)


def _no_scale(resource: str) -> str:
    return f"{resource} does not implement the scale subresource"


def _custom_scale(
    view: View, namespace: str, owner: Mapping[str, Any], group: str, version: str
) -> Optional[Scale]:
    definition = _definition(view, group, str(owner["kind"]))
    if definition is None:
        raise NoScale(f'no matches for kind "{owner["kind"]}" in version "{owner["apiVersion"]}"')
    resource = f"{definition['spec']['names']['plural']}.{group}"
    path = _replicas_path(definition, version)
    if not path:
        raise NoScale(_no_scale(resource))
    found = view.get(Key(resource, namespace, owner["name"]))
    if found is None or uid_of(found) != owner["uid"]:
        return None
    value: Any = found
    for step in path.strip(".").split("."):
        value = (value or {}).get(step)
    return Scale(uid_of(found), int(value or 0))


def _definition(view: View, group: str, kind: str) -> Optional[Object]:
    for one in view.objects(_DEFINITIONS):
        if one["spec"]["group"] == group and one["spec"]["names"]["kind"] == kind:
            return one
    return None


def _replicas_path(definition: Object, version: str) -> str:
    for one in definition["spec"]["versions"]:
        if one["name"] == version:
            scale = (one.get("subresources") or {}).get("scale") or {}
            return str(scale.get("specReplicasPath") or "")
    return ""
