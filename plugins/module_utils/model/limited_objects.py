# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The objects of a part of a fleet: its own, and what its pods and nodes use."""

from __future__ import annotations

from typing import Any, Callable, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    CLAIMS,
    CSI_DRIVERS,
    CSI_NODES,
    JOBS,
    NAMESPACES,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
    VOLUME_ATTACHMENTS,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.twin_objects import Objects, Raw

_Test = Callable[[Mapping[str, Any]], bool]


def limited_objects(objects: Objects, fleet: Fleet) -> dict[str, list[Raw]]:
    """fleet: the part, as its documents will show it."""
    tests = _tests(fleet)
    kinds = (fleet.nodes, fleet.pods, fleet.budgets, fleet.controllers, fleet.autoscalers)
    uids = {item.meta.uid for some in kinds for item in some}

    def of_the_fleet(raw: Mapping[str, Any]) -> bool:
        return raw["metadata"]["uid"] in uids

    return {
        key: [raw for raw in listed if tests.get(key, of_the_fleet)(raw)]
        for key, listed in objects.items()
    }


def _tests(fleet: Fleet) -> Mapping[str, _Test]:
    nodes = {node.name for node in fleet.nodes}
    namespaces = {pod.meta.namespace for pod in fleet.pods}
    claims = {(pod.meta.namespace, claim) for pod in fleet.pods for claim in pod.claims}
    owners = {pod.meta.owner.uid for pod in fleet.pods if pod.meta.owner is not None}
    return {
        NAMESPACES.key: lambda raw: raw["metadata"]["name"] in namespaces,
        JOBS.key: lambda raw: raw["metadata"]["uid"] in owners,
        CLAIMS.key: lambda raw: _key(raw["metadata"]) in claims,
        PERSISTENT_VOLUMES.key: lambda raw: _key(raw["spec"].get("claimRef") or {}) in claims,
        STORAGE_CLASSES.key: bool,
        CSI_DRIVERS.key: bool,
        CSI_NODES.key: lambda raw: raw["metadata"]["name"] in nodes,
        VOLUME_ATTACHMENTS.key: lambda raw: raw["spec"].get("nodeName") in nodes,
    }


def _key(metadata: Mapping[str, Any]) -> tuple[str, str]:
    return metadata.get("namespace", ""), metadata.get("name", "")
