# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""May this runner take a node's Lease? Pure: the Lease as read, who asks, and what both clocks say.

The Lease of a node is free when it has no holder. A held one is taken over

1. at once, when its holder ran where we run and that process is gone;
2. when its time is over by the wall clock, and it has not moved while we watched it for a renewal
   interval: a holder whose clock is behind ours looks expired, but goes on renewing;
3. when it has not moved while we watched it for its whole duration, whatever the wall clocks say: a
   holder whose clock is ahead of ours would else never expire (the rule of client-go's leader
   election, which reads the local clock alone).

Until then a runner with the same purpose waits, and another one is told who holds the node: at once
when the Lease is in force by a wall clock that can be right, else as soon as a renewal is seen.
Every change of holder raises leaseTransitions: the generation, which each write of a holder tests.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model import json_patch
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.lease import Lease
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import format_micro_instant

PURPOSE_ANNOTATION = "lock-purpose"
SPACE_ANNOTATION = "lock-process-space"

_NAME_PREFIX = "fleet-node-"
_NAME_MAX = 253


class Step(Enum):
    """What to do about a Lease."""

    CREATE = "create"
    TAKE = "take"
    KEEP = "keep"
    TAKE_OVER = "take over"
    WAIT = "wait"
    REFUSE = "refuse"


@dataclass(frozen=True)
class Claimant:
    """Who asks. space: names the PID namespace of one boot of one machine, "" where unknown."""

    holder: str
    purpose: str
    space: str
    ttl: int

    @property
    def renew_interval(self) -> float:
        """Seconds between two renewals: two may fail before the claim ends."""
        return self.ttl / 3

    @property
    def validity(self) -> float:
        """Seconds after a renewal was sent during which we act on it without asking again.

        Shorter than the ttl by a tenth: others count from when the server stored it, and no two
        clocks run equally fast.
        """
        return self.ttl * 0.9


@dataclass(frozen=True)
class Sighting:
    """A Lease since when it looks as it does: until its resourceVersion moves, nobody renewed it.

    moved: it has moved while we watched, so its holder lives.
    """

    resource_version: str
    since: float
    moved: bool = False


def sight(lease: Lease, earlier: Optional[Sighting], monotonic: float) -> Sighting:
    """Returns the earlier sighting as long as the Lease has not moved, a new one otherwise."""
    if earlier is not None and earlier.resource_version == lease.meta.resource_version:
        return earlier
    return Sighting(lease.meta.resource_version, monotonic, moved=earlier is not None)


def decide(
    lease: Optional[Lease],
    claimant: Claimant,
    *,
    prefix: str,
    now: datetime,
    unmoved: float,
    moved: bool,
    holder_is_dead: bool,
) -> Step:
    """Returns the step for a Lease (None: there is none).

    unmoved: seconds since the sighting; moved: as the sighting has it.
    """
    if lease is None:
        return Step.CREATE
    if not lease.holder:
        return Step.TAKE
    if lease.holder == claimant.holder:
        return Step.KEEP
    if holder_is_dead:
        return Step.TAKE_OVER
    expired = lease.expires_at is None or now >= lease.expires_at
    if expired and unmoved >= claimant.renew_interval:
        return Step.TAKE_OVER
    if unmoved >= max(lease.duration_seconds, 1):
        return Step.TAKE_OVER
    if lease.meta.annotations.get(prefix + PURPOSE_ANNOTATION) == claimant.purpose:
        return Step.WAIT
    return Step.REFUSE if moved or _in_force(lease, now) else Step.WAIT


def _in_force(lease: Lease, now: datetime) -> bool:
    """By the wall clock, unless it cannot be right: renewed further ahead than the Lease lasts."""
    if lease.renewed_at is None or lease.expires_at is None:
        return False
    ahead = (lease.renewed_at - now).total_seconds()
    return now < lease.expires_at and ahead <= lease.duration_seconds


def lease_name(node: str) -> str:
    """fleet-node-<node>; a name past 253 characters is cut and ends in a hash of the whole."""
    name = _NAME_PREFIX + node
    if len(name) <= _NAME_MAX:
        return name
    digest = hashlib.sha256(node.encode()).hexdigest()[:12]
    # A DNS subdomain has no label that begins or ends with a dash, nor an empty one.
    return f"{name[: _NAME_MAX - len(digest) - 1].rstrip('.-')}-{digest}"


def new_lease(
    node: Node, claimant: Claimant, *, namespace: str, prefix: str, now: datetime
) -> dict[str, Any]:
    """Returns the body of a Lease that is ours from the start."""
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": lease_name(node.name),
            "namespace": namespace,
            "annotations": _annotations(claimant, prefix),
            "ownerReferences": _owner_references(node),
        },
        "spec": _spec(claimant, now, transitions=1),
    }


def taking(
    lease: Lease, node: Node, claimant: Claimant, *, prefix: str, now: datetime
) -> list[dict[str, Any]]:
    """Returns the JSON patch that makes a free or forfeited Lease ours, if nobody was faster."""
    return [
        json_patch.test("/metadata/resourceVersion", lease.meta.resource_version),
        json_patch.add(
            json_patch.ANNOTATIONS, {**lease.meta.annotations, **_annotations(claimant, prefix)}
        ),
        # A node of the same name may have replaced the one that this Lease belonged to.
        json_patch.add("/metadata/ownerReferences", _owner_references(node)),
        json_patch.add("/spec", _spec(claimant, now, transitions=lease.transitions + 1)),
    ]


def renewing(claimant: Claimant, generation: int, now: datetime) -> list[dict[str, Any]]:
    """Returns the JSON patch that renews, and fails once somebody else has taken the Lease."""
    return [
        *_still_ours(claimant, generation),
        json_patch.add("/spec/renewTime", format_micro_instant(now)),
    ]


def releasing(claimant: Claimant, generation: int) -> list[dict[str, Any]]:
    """Returns the JSON patch that frees the Lease, and fails once it is not ours any more."""
    return [
        *_still_ours(claimant, generation),
        json_patch.remove("/spec/holderIdentity"),
    ]


def _still_ours(claimant: Claimant, generation: int) -> list[dict[str, Any]]:
    return [
        json_patch.test("/spec/holderIdentity", claimant.holder),
        json_patch.test("/spec/leaseTransitions", generation),
    ]


def _spec(claimant: Claimant, now: datetime, transitions: int) -> dict[str, Any]:
    return {
        "holderIdentity": claimant.holder,
        "leaseDurationSeconds": claimant.ttl,
        "acquireTime": format_micro_instant(now),
        "renewTime": format_micro_instant(now),
        "leaseTransitions": transitions,
    }


def _annotations(claimant: Claimant, prefix: str) -> Mapping[str, str]:
    return {
        prefix + PURPOSE_ANNOTATION: claimant.purpose,
        prefix + SPACE_ANNOTATION: claimant.space,
    }


def _owner_references(node: Node) -> list[dict[str, str]]:
    """The garbage collector removes the Lease of a node that is gone."""
    return [{"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": node.meta.uid}]
