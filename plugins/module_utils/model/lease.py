# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A coordination.k8s.io/v1 Lease: who acts on a node."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.objects import (
    Metadata,
    parse_metadata,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import parse_instant


@dataclass(frozen=True)
class Lease:
    """`transitions` counts takeovers: the generation of the lock."""

    meta: Metadata
    holder: str
    duration_seconds: int
    acquired_at: Optional[datetime]
    renewed_at: Optional[datetime]
    transitions: int

    @property
    def expires_at(self) -> Optional[datetime]:
        """None when nobody holds it."""
        if not self.holder or self.renewed_at is None:
            return None
        return self.renewed_at + timedelta(seconds=self.duration_seconds)


def parse_lease(raw: Mapping[str, Any]) -> Lease:
    """Returns the Lease of a raw coordination.k8s.io/v1 object."""
    spec = raw.get("spec") or {}
    acquired, renewed = spec.get("acquireTime"), spec.get("renewTime")
    return Lease(
        meta=parse_metadata(raw),
        holder=spec.get("holderIdentity") or "",
        duration_seconds=spec.get("leaseDurationSeconds") or 0,
        acquired_at=parse_instant(acquired) if acquired else None,
        renewed_at=parse_instant(renewed) if renewed else None,
        transitions=spec.get("leaseTransitions") or 0,
    )
