# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The attach-detach controller and the drivers' attachers: a CSI volume is attached to the nodes on
which pods use it, at once, and detached when the last such pod has left.

Source: pkg/controller/volume/attachdetach and pkg/volume/csi/csi_attacher.go, 1.37. The six minutes
that it waits for a node that still reports the volume in use are left out: no kubelet here reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from random import Random
from typing import Iterable, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Act,
    Change,
    Create,
    Delete,
    Key,
    Object,
    Update,
    View,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.claims import (
    claim_names,
    claims_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    ATTACHMENTS,
    PODS,
    VOLUMES,
    finished,
    key_of,
    leaving,
    node_of,
    status_of,
    uid_of,
)

# A key that is no object: namespace is the volume, name the node.
USE = "use"


@dataclass(frozen=True)
class Attach:
    name = "attach"
    watches = (PODS, ATTACHMENTS)

    def keys(self, change: Change, view: View) -> Iterable[Key]:
        if change.resource == ATTACHMENTS:
            return () if change.type == "DELETED" else (key_of(ATTACHMENTS, change.object),)
        node = node_of(change.object)
        if not node or not any(True for _name in claim_names(change.object)):
            return ()
        return [Key(USE, volume, node) for volume in claims_of(change.object, view).volumes]

    def reconcile(self, key: Key, view: View, now: float, draw: Random) -> Iterable[Act]:  # noqa: ARG002
        if key.resource == ATTACHMENTS:
            return _attached(view.get(key))
        volume = view.get(Key(VOLUMES, "", key.namespace))
        csi = None if volume is None else volume["spec"].get("csi")
        if not csi or not _attachable(csi["driver"], view):
            return ()
        name = attachment_name(csi["volumeHandle"], csi["driver"], key.name)
        found = view.get(Key(ATTACHMENTS, "", name))
        used = _used(key.namespace, key.name, view)
        if used and found is None:
            return (Create(ATTACHMENTS, _attachment(name, csi["driver"], key)),)
        if not used and found is not None and not leaving(found):
            return (Delete(key_of(ATTACHMENTS, found), uid_of(found)),)
        return ()


def attachment_name(handle: str, driver: str, node: str) -> str:
    return "csi-" + sha256(f"{handle}{driver}{node}".encode()).hexdigest()


def _attachable(driver: str, view: View) -> bool:
    found = view.get(Key("csidrivers.storage.k8s.io", "", driver))
    return found is None or (found.get("spec") or {}).get("attachRequired") is not False


def _used(volume: str, node: str, view: View) -> bool:
    return any(
        not finished(pod) and volume in claims_of(pod, view).volumes for pod in view.pods_on(node)
    )


def _attachment(name: str, driver: str, key: Key) -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": name},
        "spec": {
            "attacher": driver,
            "nodeName": key.name,
            "source": {"persistentVolumeName": key.namespace},
        },
    }


def _attached(found: Optional[Object]) -> Iterable[Act]:
    if found is None or leaving(found) or status_of(found).get("attached"):
        return ()
    status = {**status_of(found), "attached": True}
    return (Update(ATTACHMENTS, {**found, "status": status}, status=True),)
