# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What every Kubernetes object has: its identity, labels and owner."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import parse_instant

# Written by kubectl apply: a second copy of the whole object, and no rule of ours reads it.
_NOISE = "kubectl.kubernetes.io/last-applied-configuration"


@dataclass(frozen=True)
class Owner:
    """The controller owner reference: who recreates this object."""

    api_version: str
    kind: str
    name: str
    uid: str


@dataclass(frozen=True)
class Metadata:
    """`namespace` is empty for cluster-scoped objects; identity is the UID, never the name alone."""

    namespace: str
    name: str
    uid: str
    resource_version: str
    generation: int
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    owner: Optional[Owner]
    creation_timestamp: Optional[datetime]
    deletion_timestamp: Optional[datetime]
    deletion_grace_seconds: Optional[int]

    @property
    def key(self) -> str:
        """namespace/name, or the name alone: how users write it."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def terminating(self) -> bool:
        return self.deletion_timestamp is not None


def parse_metadata(raw: Mapping[str, Any]) -> Metadata:
    """Returns the metadata of a raw API object (the whole object, not its metadata)."""
    meta = raw.get("metadata") or {}
    annotations = meta.get("annotations") or {}
    if _NOISE in annotations:
        annotations = {key: value for key, value in annotations.items() if key != _NOISE}
    return Metadata(
        namespace=meta.get("namespace", ""),
        name=meta.get("name", ""),
        uid=meta.get("uid", ""),
        resource_version=meta.get("resourceVersion", ""),
        generation=meta.get("generation", 0),
        labels=meta.get("labels") or {},
        annotations=annotations,
        owner=_controller(meta.get("ownerReferences") or ()),
        creation_timestamp=_instant(meta.get("creationTimestamp")),
        deletion_timestamp=_instant(meta.get("deletionTimestamp")),
        deletion_grace_seconds=meta.get("deletionGracePeriodSeconds"),
    )


def _controller(references: Any) -> Optional[Owner]:
    for reference in references:
        if reference.get("controller"):
            return Owner(
                api_version=reference.get("apiVersion", ""),
                kind=reference.get("kind", ""),
                name=reference.get("name", ""),
                uid=reference.get("uid", ""),
            )
    return None


def _instant(text: Optional[str]) -> Optional[datetime]:
    return parse_instant(text) if text else None
