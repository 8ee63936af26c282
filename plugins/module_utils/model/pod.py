# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A Pod as a drain sees it."""

from __future__ import annotations

from dataclasses import dataclass
from sys import intern
from typing import Any, Iterable, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import condition_status
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.objects import (
    Metadata,
    built,
    parse_metadata,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.requests import (
    effective_requests,
)

MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
FINISHED_PHASES = ("Succeeded", "Failed")


@dataclass(frozen=True)
class Pod:
    """`node` is empty until the pod is scheduled; `requests` as Node.allocatable has them.

    claims: names of the PersistentVolumeClaims that it mounts, in its namespace (generic
    ephemeral volumes included, by the name of their claim).
    waiting: the reason of the first container that waits (CrashLoopBackOff, ...), or "".
    unschedulable: the scheduler's words on why no node takes it, or "".
    """

    meta: Metadata
    node: str
    phase: str
    ready: bool
    waiting: str
    has_empty_dir: bool
    claims: tuple[str, ...]
    requests: Mapping[str, int]
    grace_period_seconds: int
    unschedulable: str = ""

    @property
    def key(self) -> str:
        return self.meta.key

    @property
    def finished(self) -> bool:
        return self.phase in FINISHED_PHASES

    @property
    def terminating(self) -> bool:
        return self.meta.terminating

    @property
    def is_mirror(self) -> bool:
        return MIRROR_ANNOTATION in self.meta.annotations

    @property
    def is_daemon(self) -> bool:
        return self.meta.owner is not None and self.meta.owner.kind == "DaemonSet"


def parse_pod(raw: Mapping[str, Any]) -> Pod:
    """Returns the Pod of a raw v1 Pod."""
    spec = raw.get("spec") or {}
    status = raw.get("status") or {}
    meta = parse_metadata(raw)
    has_empty_dir, claims = _volumes(meta.name, spec.get("volumes") or ())
    grace = spec.get("terminationGracePeriodSeconds")
    node = intern(spec.get("nodeName") or "")
    return built(
        Pod,
        {
            "meta": meta,
            "node": node,
            "phase": intern(status.get("phase", "")),
            "ready": condition_status(status, "Ready") == "True",
            "waiting": _waiting_reason(status),
            "has_empty_dir": has_empty_dir,
            "claims": claims,
            "requests": effective_requests(raw),
            "grace_period_seconds": 30 if grace is None else int(grace),
            "unschedulable": "" if node else _scheduling_problem(status),
        },
    )


def _volumes(pod_name: str, volumes: Iterable[Mapping[str, Any]]) -> tuple[bool, tuple[str, ...]]:
    """Is there an emptyDir among them, and the claims; each volume has one source."""
    has_empty_dir, claims = False, []
    for volume in volumes:
        if "emptyDir" in volume:
            has_empty_dir = True
        elif volume.get("persistentVolumeClaim"):
            claims.append(volume["persistentVolumeClaim"]["claimName"])
        elif volume.get("ephemeral") is not None:
            claims.append(f"{pod_name}-{volume['name']}")
    return has_empty_dir, tuple(claims)


def _scheduling_problem(status: Mapping[str, Any]) -> str:
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return str(condition.get("message") or condition.get("reason") or "")
    return ""


def _waiting_reason(status: Mapping[str, Any]) -> str:
    for container in status.get("containerStatuses") or ():
        waiting = (container.get("state") or {}).get("waiting")
        if waiting:
            return str(waiting.get("reason", ""))
    return ""
