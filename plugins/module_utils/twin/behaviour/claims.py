# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The PersistentVolumeClaims of a pod, and how far each is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Key,
    Object,
    View,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    CLAIMS,
    STORAGE_CLASSES,
    annotations_of,
    status_of,
)

SELECTED_NODE = "volume.kubernetes.io/selected-node"


@dataclass(frozen=True)
class Claims:
    """volumes: names of the PVs of bound claims. waiting: claims that get theirs once a node is
    chosen. refusal: why the pod can go nowhere yet, or ""."""

    volumes: tuple[str, ...] = ()
    waiting: tuple[Object, ...] = ()
    refusal: str = ""


def claim_names(pod: Object) -> Iterable[str]:
    for volume in pod["spec"].get("volumes") or ():
        if volume.get("persistentVolumeClaim"):
            yield str(volume["persistentVolumeClaim"]["claimName"])
        elif volume.get("ephemeral"):
            yield f"{pod['metadata']['name']}-{volume['name']}"


def claims_of(pod: Object, view: View) -> Claims:
    volumes, waiting = [], []
    for name in claim_names(pod):
        claim = view.get(Key(CLAIMS, pod["metadata"]["namespace"], name))
        if claim is None:
            return Claims(refusal=f'persistentvolumeclaim "{name}" not found')
        if status_of(claim).get("phase") == "Bound":
            volumes.append(str(claim["spec"]["volumeName"]))
        elif waits_for_consumer(claim, view):
            waiting.append(claim)
        else:
            return Claims(refusal="pod has unbound immediate PersistentVolumeClaims")
    return Claims(tuple(volumes), tuple(waiting))


def class_of(claim: Object, view: View) -> Optional[Object]:
    name = claim["spec"].get("storageClassName") or ""
    return view.get(Key(STORAGE_CLASSES, "", name)) if name else None


def waits_for_consumer(claim: Object, view: View) -> bool:
    found = class_of(claim, view)
    return found is not None and found.get("volumeBindingMode") == "WaitForFirstConsumer"


def selected_node(claim: Object) -> str:
    return annotations_of(claim).get(SELECTED_NODE, "")
