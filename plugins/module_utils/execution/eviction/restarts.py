# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The two writes of a surge: restart a Deployment with its record, and remove the record."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.rollouts import (
    RECORD,
    left_over,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.model import json_patch
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    Conflict,
    NotFound,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    DEPLOYMENTS,
    Raw,
)

# What `kubectl rollout restart` sets: a change of the template is what starts a rollout.
RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"

_RAW_DEPLOYMENTS = DEPLOYMENTS.raw()
_ATTEMPTS = 5

Operations = Sequence[Mapping[str, Any]]


def restart(
    cluster: Cluster, namespace: str, name: str, uid: str, key: str, record: str, at: str
) -> bool:
    """Restarts once: with a record on the Deployment another run did so, and False is returned.

    Raises NotFound when the Deployment, or the one with this UID, is gone.
    """
    for _attempt in range(_ATTEMPTS):
        raw = _read(cluster, namespace, name, uid)
        if key in (raw["metadata"].get("annotations") or {}):
            return False
        try:
            cluster.patch(DEPLOYMENTS, name, restarting(raw, key, record, at), namespace=namespace)
            return True
        except Conflict as error:
            conflict = error
    raise conflict


def forget(cluster: Cluster, namespace: str, name: str, uid: str, key: str) -> bool:
    """Removes the record; False when somebody removed it, or the Deployment, before."""
    try:
        raw = _read(cluster, namespace, name, uid)
        found = (raw["metadata"].get("annotations") or {}).get(key)
        if found is not None:
            path = json_patch.member(json_patch.ANNOTATIONS, key)
            patch = [json_patch.test(path, found), json_patch.remove(path)]
            cluster.patch(DEPLOYMENTS, name, patch, namespace=namespace)
            return True
    except (NotFound, Conflict):
        pass
    return False


def forget_left_over(nodes: Sequence[Node], cluster: Cluster, run: Run) -> bool:
    """Removes what dead runs recorded of restarts that should empty these nodes.

    The rollouts themselves go on: the deployment controller sees them through. Returns whether
    one was removed, or in check mode would be. A user who may not do this leaves the records, as
    one who may never have surged: the next surge takes them over.
    """
    if not all(cluster.allowed(verb, DEPLOYMENTS) for verb in ("list", "get", "patch")):
        return False
    names = [node.name for node in nodes]
    found = [
        each.meta for each in cluster.list(DEPLOYMENTS).items if left_over(each, run.prefix, names)
    ]
    if run.check_mode:
        return bool(found)
    key = run.prefix + RECORD
    removed = [forget(cluster, meta.namespace, meta.name, meta.uid, key) for meta in found]
    return any(removed)


def restarting(raw: Raw, key: str, record: str, at: str) -> Operations:
    """Returns the JSON patch of a restart and its record, both or neither."""
    template = "/spec/template/metadata"
    metadata = ((raw["spec"].get("template") or {}).get("metadata")) or {}
    return (
        json_patch.test("/metadata/resourceVersion", raw["metadata"]["resourceVersion"]),
        *_annotate("/metadata", raw["metadata"], key, record),
        *([] if metadata else [json_patch.add(template, {})]),
        *_annotate(template, metadata, RESTARTED_AT, at),
    )


def _annotate(path: str, metadata: Mapping[str, Any], key: str, value: str) -> Operations:
    """An "add" cannot add into a map that is not there."""
    annotations = f"{path}/annotations"
    if metadata.get("annotations"):
        return (json_patch.add(json_patch.member(annotations, key), value),)
    return (json_patch.add(annotations, {key: value}),)


def _read(cluster: Cluster, namespace: str, name: str, uid: str) -> Raw:
    raw = cluster.get(_RAW_DEPLOYMENTS, name, namespace=namespace)
    if raw["metadata"].get("uid") != uid:
        raise NotFound("Deployment", f"{namespace}/{name}", "Another one has its name now.")
    return raw
