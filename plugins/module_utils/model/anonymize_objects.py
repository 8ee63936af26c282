# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The objects of a snapshot under the names that anonymize.py has given their fleet.

Every text is replaced but those of fields that are known to say nothing of whose it is, numbers and
times. What is said in words (messages) is left out, and so is an annotation, unless it is a number,
true or false, or the name of something.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Callable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.anonymize import (
    Names,
    says_nothing,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.twin_objects import (
    COLLECTIONS,
    Objects,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.well_known import is_well_known

Raw = dict[str, Any]

# Words of Kubernetes, and amounts.
_KEPT = frozenset((
    "apiVersion", "kind", "phase", "status", "type", "reason", "operator", "effect",
    "whenUnsatisfiable", "restartPolicy", "qosClass", "accessModes", "volumeMode",
    "persistentVolumeReclaimPolicy", "reclaimPolicy", "volumeBindingMode", "podManagementPolicy",
    "completionMode", "unhealthyPodEvictionPolicy", "kubeletVersion", "architecture",
    "operatingSystem", "nodeAffinityPolicy", "nodeTaintsPolicy", "whenDeleted", "whenScaled",
    "medium", "sizeLimit", "maxSurge", "maxUnavailable", "minAvailable", "protocol",
    "podReplacementPolicy", "resize",
))  # fmt: skip
_LABELS = frozenset(("labels", "matchLabels", "nodeSelector"))
_AMOUNTS = frozenset(("requests", "limits", "allocatable", "capacity", "allocatedResources"))
_KEYS = frozenset(
    ("key", "topologyKey", "topologyKeys", "matchLabelKeys", "mismatchLabelKeys", "conditionType")
)
# What a new text is called after; "value" where nothing is said here.
_CALLED = {
    "nodeName": "node",
    "nodeID": "node",
    "nominatedNodeName": "node",
    "namespace": "namespace",
    "namespaces": "namespace",
    "uid": "uid",
    "claimName": "claim",
    "volumeName": "volume",
    "persistentVolumeName": "volume",
    "volumeHandle": "volume",
    "providerID": "provider",
    "bootID": "boot",
    "storageClassName": "storageclass",
    "driver": "driver",
    "attacher": "driver",
    "provisioner": "driver",
    "name": "name",
}
_SAME = ("default-scheduler", "kubernetes", "metadata.name", "yes")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


def anonymized_objects(objects: Objects, names: Names) -> dict[str, list[Raw]]:
    """names: the table with which the fleet of these objects was renamed."""
    kinds = {resource.key: resource.kind.lower() for resource in COLLECTIONS}
    return {
        key: [_object(raw, kinds[key], names) for raw in listed] for key, listed in objects.items()
    }


def _object(raw: Mapping[str, Any], kind: str, names: Names) -> Raw:
    metadata = raw["metadata"]
    own = names.text(metadata["name"], kind)
    found: Raw = _mapping(raw, names)
    found["metadata"]["name"] = own
    return found


def _mapping(raw: Mapping[str, Any], names: Names) -> Raw:
    if isinstance(raw.get("kind"), str) and isinstance(raw.get("name"), str):
        # The name of a reference is called after what it refers to.
        names.text(raw["name"], raw["kind"].lower())
    found = {}
    for field, value in raw.items():
        if field == "values":
            # Of an expression: as a label with that key.
            of_label = partial(names.label, raw.get("key", ""))
            found[field] = [of_label(one) for one in value or ()]
        elif field != "message":
            found[field] = _changed(field, value, names)
    return found


def _changed(field: str, value: Any, names: Names) -> Any:
    if isinstance(value, Mapping):
        change = _of_mapping(field, names)
        return _mapping(value, names) if change is None else change(value)
    if isinstance(value, list):
        return [_changed(field, one, names) for one in value]
    return _text(field, value, names) if isinstance(value, str) else value


def _of_mapping(
    field: str, names: Names
) -> Optional[Callable[[Mapping[str, Any]], dict[str, Any]]]:
    if field in _LABELS:
        return names.labels
    if field in _AMOUNTS:
        return names.resources
    if field == "annotations":
        return partial(_annotations, names)
    if field == "disruptedPods":
        return lambda given: {names.text(name, "pod"): when for name, when in given.items()}
    return None


def _annotations(names: Names, given: Mapping[str, str]) -> Raw:
    found = {}
    for key, value in given.items():
        new = value if value in _SAME or says_nothing(key, value) else names.known(value)
        if new is not None and is_well_known(key):
            found[key] = new
    return found


def _text(field: str, value: str, names: Names) -> str:
    if field in _KEPT or value in _SAME or _TIME.fullmatch(value):
        return value
    called = _CALLED.get(field)
    if field in _KEYS or (called == "driver" and is_well_known(value)):
        return names.key(value)
    return names.value(value) if called is None else names.text(value, called)
