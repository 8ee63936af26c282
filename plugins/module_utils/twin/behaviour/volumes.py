# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The persistent volume controller and the drivers' provisioners: claims get volumes.

Source: pkg/controller/volume/persistentvolume, 1.37. A claim takes the volume that it names or that
is kept for it, then the smallest free one of its class, then a new one of its class's provisioner.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Iterable, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.quantity import parse_quantity
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
    class_of,
    selected_node,
    waits_for_consumer,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.matching import (
    matches_any,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    CLAIMS,
    NODES,
    VOLUMES,
    Raw,
    annotations_of,
    key_of,
    labels_of,
    leaving,
    status_of,
    uid_of,
    with_metadata,
    with_spec,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.selecting import (
    selector_of,
)

# Without it the scheduler waits for the claim.
_BOUND = "pv.kubernetes.io/bind-completed"
NO_PROVISIONER = "kubernetes.io/no-provisioner"


@dataclass(frozen=True)
class Volumes:
    name = "volumes"
    watches = (CLAIMS, VOLUMES)

    def keys(self, change: Change, view: View) -> Iterable[Key]:
        raw = change.object
        if change.resource == CLAIMS:
            if change.type != "DELETED":
                return (key_of(CLAIMS, raw),)
            name = raw["spec"].get("volumeName")
            return (Key(VOLUMES, "", name),) if name else ()
        if change.type == "DELETED":
            return ()
        if raw["spec"].get("claimRef"):
            claim = raw["spec"]["claimRef"]
            return (key_of(VOLUMES, raw), Key(CLAIMS, claim["namespace"], claim["name"]))
        pending = [one for one in view.objects(CLAIMS) if status_of(one).get("phase") != "Bound"]
        return (key_of(VOLUMES, raw), *(key_of(CLAIMS, one) for one in pending))

    def reconcile(self, key: Key, view: View, now: float, draw: Random) -> Iterable[Act]:  # noqa: ARG002
        found = view.get(key)
        if found is None or leaving(found):
            return ()
        return _volume(found, view) if key.resource == VOLUMES else _claim(found, view)


def _with_phase(resource: str, raw: Object, phase: str, **fields: object) -> Iterable[Act]:
    status = {**status_of(raw), "phase": phase, **fields}
    if status == raw.get("status"):
        return ()
    return (Update(resource, {**raw, "status": status}, status=True),)


# --- volumes -------------------------------------------------------------------------------


def _volume(volume: Object, view: View) -> Iterable[Act]:
    reference = volume["spec"].get("claimRef")
    if not reference:
        return _with_phase(VOLUMES, volume, "Available")
    claim = view.get(Key(CLAIMS, reference["namespace"], reference["name"]))
    if not reference.get("uid"):
        return _with_phase(VOLUMES, volume, "Available")
    if claim is not None and uid_of(claim) == reference["uid"]:
        return _with_phase(VOLUMES, volume, "Bound")
    if volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
        return (Delete(key_of(VOLUMES, volume), uid_of(volume)),)
    return _with_phase(VOLUMES, volume, "Released")


# --- claims --------------------------------------------------------------------------------


def _claim(claim: Object, view: View) -> Iterable[Act]:
    name = claim["spec"].get("volumeName")
    if name:
        volume = view.get(Key(VOLUMES, "", name))
        return () if volume is None else _bind(claim, volume)
    held_back = waits_for_consumer(claim, view) and not selected_node(claim)
    kept = _kept_for(claim, view)
    if kept is not None:
        return _bind(claim, kept)
    if held_back:
        return ()
    free = _free(claim, view)
    return _bind(claim, free) if free is not None else _provision(claim, view)


def _bind(claim: Object, volume: Object) -> Iterable[Act]:
    """The volume first, then the claim's spec, then its status: each change leads to the next."""
    spec = volume["spec"]
    reference = spec.get("claimRef") or {}
    if reference.get("uid") not in (None, "", uid_of(claim)):
        return ()
    if not reference.get("uid"):
        return (Update(VOLUMES, with_spec(volume, claimRef=_reference(claim))),)
    name = volume["metadata"]["name"]
    if claim["spec"].get("volumeName") != name:
        annotations = {**annotations_of(claim), _BOUND: "yes"}
        bound = with_metadata(with_spec(claim, volumeName=name), annotations=annotations)
        return (Update(CLAIMS, bound),)
    fields = {"accessModes": spec.get("accessModes"), "capacity": spec.get("capacity")}
    return _with_phase(CLAIMS, claim, "Bound", **fields)


def _reference(claim: Object) -> Raw:
    metadata = claim["metadata"]
    names = ("namespace", "name", "uid")
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        **{name: metadata[name] for name in names},
    }


def _kept_for(claim: Object, view: View) -> Optional[Object]:
    metadata = claim["metadata"]
    for volume in view.objects(VOLUMES):
        kept = volume["spec"].get("claimRef") or {}
        names = (kept.get("namespace"), kept.get("name"))
        if names == (metadata["namespace"], metadata["name"]) and kept.get("uid") in (
            None,
            "",
            metadata["uid"],
        ):
            return volume
    return None


def _free(claim: Object, view: View) -> Optional[Object]:
    node = view.get(Key(NODES, "", selected_node(claim))) if selected_node(claim) else None
    suitable = [
        volume
        for volume in view.objects(VOLUMES)
        if not volume["spec"].get("claimRef") and _suits(claim, volume) and _reaches(volume, node)
    ]
    return min(suitable, key=lambda one: (_size(one), one["metadata"]["name"]), default=None)


def _size(volume: Object) -> int:
    return int(parse_quantity((volume["spec"].get("capacity") or {}).get("storage", 0)))


def _suits(claim: Object, volume: Object) -> bool:
    wanted, offered = claim["spec"], volume["spec"]
    asked = ((wanted.get("resources") or {}).get("requests") or {}).get("storage", 0)
    selector = selector_of(wanted.get("selector"))
    return (
        not leaving(volume)
        and (wanted.get("storageClassName") or "") == (offered.get("storageClassName") or "")
        and set(wanted.get("accessModes") or ()) <= set(offered.get("accessModes") or ())
        and int(parse_quantity(asked)) <= _size(volume)
        and (selector is None or selector.matches(labels_of(volume)))
    )


def _reaches(volume: Object, node: Optional[Object]) -> bool:
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    return node is None or not required or matches_any(required["nodeSelectorTerms"], node)


def _provision(claim: Object, view: View) -> Iterable[Act]:
    found = class_of(claim, view)
    if found is None or found.get("provisioner") in (None, "", NO_PROVISIONER):
        return ()
    name = f"pvc-{uid_of(claim)}"
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "accessModes": claim["spec"].get("accessModes") or ["ReadWriteOnce"],
            "capacity": {"storage": requests.get("storage", "1Gi")},
            "claimRef": _reference(claim),
            "csi": {"driver": found["provisioner"], "volumeHandle": name},
            "persistentVolumeReclaimPolicy": found.get("reclaimPolicy") or "Delete",
            "storageClassName": found["metadata"]["name"],
            "volumeMode": claim["spec"].get("volumeMode") or "Filesystem",
            **_zone_of(claim, view),
        },
    }
    return (Create(VOLUMES, volume),)


def _zone_of(claim: Object, view: View) -> Raw:
    """A volume that waited for its node is made in that node's zone."""
    node = view.get(Key(NODES, "", selected_node(claim))) if selected_node(claim) else None
    key = "topology.kubernetes.io/zone"
    zone = None if node is None else labels_of(node).get(key)
    if zone is None:
        return {}
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": [zone]}]}
    return {"nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}}
