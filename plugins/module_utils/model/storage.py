# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What keeps a disk on a node: VolumeAttachments, and the volumes behind claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.objects import (
    Metadata,
    parse_metadata,
)


@dataclass(frozen=True)
class VolumeAttachment:
    """`volume` is the PersistentVolume's name, "" for an inline volume."""

    meta: Metadata
    node: str
    volume: str
    attached: bool


@dataclass(frozen=True)
class PersistentVolume:
    """`claim` is the bound claim, "namespace/name", or "" when unbound."""

    meta: Metadata
    claim: str


def parse_volume_attachment(raw: Mapping[str, Any]) -> VolumeAttachment:
    """Returns the VolumeAttachment of a raw storage.k8s.io/v1 object."""
    spec = raw.get("spec") or {}
    return VolumeAttachment(
        meta=parse_metadata(raw),
        node=spec.get("nodeName", ""),
        volume=(spec.get("source") or {}).get("persistentVolumeName") or "",
        attached=bool((raw.get("status") or {}).get("attached", False)),
    )


def parse_persistent_volume(raw: Mapping[str, Any]) -> PersistentVolume:
    """Returns the PersistentVolume of a raw v1 object."""
    claim = (raw.get("spec") or {}).get("claimRef") or {}
    return PersistentVolume(
        meta=parse_metadata(raw),
        claim=f"{claim['namespace']}/{claim['name']}" if claim.get("name") else "",
    )
