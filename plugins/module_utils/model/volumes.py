# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Claims, volumes and storage classes as the scheduler's filters read them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node_terms import (
    NodeRequirement,
    NodeTerm,
    parse_node_terms,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.quantity import parse_amount
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    UNMODELLED_VOLUMES,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    LabelSelector,
    parse_stored_selector,
)

READ_WRITE_ONCE_POD = "ReadWriteOncePod"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
_BOUND = "pv.kubernetes.io/bind-completed"
_SELECTED_NODE = "volume.kubernetes.io/selected-node"
_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"


@dataclass(frozen=True)
class Claim:
    """`volume` is the PersistentVolume it names, "" for none; `bound`: both sides agreed.

    size in bytes; selector None: any volume; selected_node: where it is being provisioned.
    """

    key: str
    uid: str
    volume: str
    bound: bool
    lost: bool
    terminating: bool
    storage_class: str
    access_modes: tuple[str, ...]
    mode: str
    size: int
    selector: Optional[LabelSelector]
    selected_node: str
    attributes_class: str = ""


@dataclass(frozen=True)
class Volume:
    """node_affinity: None when every node will do. claim: "namespace/name" of its claimRef or "".

    unmodelled: the in-tree kind whose rules a CSI driver took over, or "".
    """

    name: str
    labels: Mapping[str, str]
    node_affinity: Optional[tuple[NodeTerm, ...]]
    driver: str
    handle: str
    claim: str
    claim_uid: str
    storage_class: str
    access_modes: tuple[str, ...]
    mode: str
    size: int
    available: bool
    terminating: bool
    unmodelled: str
    attributes_class: str = ""


@dataclass(frozen=True)
class StorageClass:
    """topologies: allowedTopologies; without any every node will do."""

    name: str
    provisioner: str
    waits_for_consumer: bool
    topologies: tuple[NodeTerm, ...]


@dataclass(frozen=True)
class CsiDriver:
    tracks_capacity: bool
    required_on_node: bool


@dataclass(frozen=True)
class Storage:
    """limits: node name to the drivers it has, each with the most volumes it attaches, or None.

    attached: node name to (driver, handle) of the VolumeAttachments of PersistentVolumes.
    """

    claims: Mapping[str, Claim] = field(default_factory=dict)
    volumes: Mapping[str, Volume] = field(default_factory=dict)
    classes: Mapping[str, StorageClass] = field(default_factory=dict)
    drivers: Mapping[str, CsiDriver] = field(default_factory=dict)
    limits: Mapping[str, Mapping[str, Optional[int]]] = field(default_factory=dict)
    attached: Mapping[str, frozenset[tuple[str, str]]] = field(default_factory=dict)


Raw = Iterable[Mapping[str, Any]]


def parse_scheduling_storage(
    claims: Raw = (),
    volumes: Raw = (),
    classes: Raw = (),
    csi_nodes: Raw = (),
    csi_drivers: Raw = (),
    attachments: Raw = (),
) -> Storage:
    """Returns the storage of raw objects, a list for each kind."""
    volume_of = {volume.name: volume for volume in map(_volume, volumes)}
    return Storage(
        claims={claim.key: claim for claim in map(_claim, claims)},
        volumes=volume_of,
        classes={one.name: one for one in map(_class, classes)},
        drivers={_name(raw): _driver(raw) for raw in csi_drivers},
        limits={_name(raw): _limits(raw) for raw in csi_nodes},
        attached=_attached(attachments, volume_of),
    )


def _claim(raw: Mapping[str, Any]) -> Claim:
    meta, spec = raw.get("metadata") or {}, raw.get("spec") or {}
    annotations = meta.get("annotations") or {}
    return Claim(
        key=f"{meta.get('namespace', '')}/{meta.get('name', '')}",
        uid=meta.get("uid", ""),
        volume=spec.get("volumeName") or "",
        bound=bool(spec.get("volumeName")) and _BOUND in annotations,
        lost=(raw.get("status") or {}).get("phase") == "Lost",
        terminating=bool(meta.get("deletionTimestamp")),
        storage_class=annotations.get(_OLD_CLASS) or spec.get("storageClassName") or "",
        access_modes=tuple(spec.get("accessModes") or ()),
        mode=spec.get("volumeMode") or "Filesystem",
        size=_size((spec.get("resources") or {}).get("requests") or {}),
        selector=parse_stored_selector(spec.get("selector")),
        selected_node=annotations.get(_SELECTED_NODE, ""),
        attributes_class=spec.get("volumeAttributesClassName") or "",
    )


def _volume(raw: Mapping[str, Any]) -> Volume:
    meta, spec = raw.get("metadata") or {}, raw.get("spec") or {}
    csi, reference = spec.get("csi") or {}, spec.get("claimRef") or {}
    required = (spec.get("nodeAffinity") or {}).get("required")
    old_class = (meta.get("annotations") or {}).get(_OLD_CLASS)
    return Volume(
        name=meta.get("name", ""),
        labels=meta.get("labels") or {},
        node_affinity=None if required is None else parse_node_terms(required),
        driver=csi.get("driver", ""),
        handle=csi.get("volumeHandle", ""),
        claim=f"{reference.get('namespace', '')}/{reference['name']}" if reference else "",
        claim_uid=reference.get("uid", ""),
        storage_class=old_class or spec.get("storageClassName") or "",
        access_modes=tuple(spec.get("accessModes") or ()),
        mode=spec.get("volumeMode") or "Filesystem",
        size=_size(spec.get("capacity") or {}),
        available=(raw.get("status") or {}).get("phase") == "Available",
        terminating=bool(meta.get("deletionTimestamp")),
        unmodelled=next((kind for kind in UNMODELLED_VOLUMES if kind in spec), ""),
        attributes_class=spec.get("volumeAttributesClassName") or "",
    )


def _class(raw: Mapping[str, Any]) -> StorageClass:
    return StorageClass(
        name=_name(raw),
        provisioner=raw.get("provisioner") or "",
        waits_for_consumer=raw.get("volumeBindingMode") == "WaitForFirstConsumer",
        topologies=tuple(_topology(term) for term in raw.get("allowedTopologies") or ()),
    )


def _topology(term: Mapping[str, Any]) -> NodeTerm:
    return NodeTerm(
        tuple(
            NodeRequirement(one.get("key", ""), "In", tuple(one.get("values") or ()))
            for one in term.get("matchLabelExpressions") or ()
        )
    )


def _driver(raw: Mapping[str, Any]) -> CsiDriver:
    spec = raw.get("spec") or {}
    return CsiDriver(
        tracks_capacity=bool(spec.get("storageCapacity")),
        required_on_node=bool(spec.get("preventPodSchedulingIfMissing")),
    )


def _limits(raw: Mapping[str, Any]) -> Mapping[str, Optional[int]]:
    drivers = (raw.get("spec") or {}).get("drivers") or ()
    return {one.get("name", ""): (one.get("allocatable") or {}).get("count") for one in drivers}


def _attached(
    attachments: Raw, volumes: Mapping[str, Volume]
) -> Mapping[str, frozenset[tuple[str, str]]]:
    found: dict[str, set[tuple[str, str]]] = {}
    for raw in attachments:
        spec = raw.get("spec") or {}
        volume = volumes.get((spec.get("source") or {}).get("persistentVolumeName") or "")
        if volume is not None and volume.driver and spec.get("attacher"):
            unique = (spec["attacher"], volume.handle)
            found.setdefault(spec.get("nodeName", ""), set()).add(unique)
    return {node: frozenset(those) for node, those in found.items()}


def _name(raw: Mapping[str, Any]) -> str:
    return str((raw.get("metadata") or {}).get("name", ""))


def _size(resources: Mapping[str, Any]) -> int:
    return parse_amount("storage", resources["storage"]) if "storage" in resources else 0
