# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The status of a deployment and its conditions Available and Progressing.

Source: pkg/controller/deployment (sync.go calculateStatus, progress.go), 1.37.
"""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Object
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    Raw,
    condition,
    seconds_of,
    status_of,
    text_of,
    without_zeros,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.rollout import limits

_COUNTS = {
    "replicas": "replicas",
    "readyReplicas": "readyReplicas",
    "availableReplicas": "availableReplicas",
    "terminatingReplicas": "terminatingReplicas",
}


def status_for(
    deployment: Object, new: Optional[Object], sets: Iterable[Object], now: float
) -> Mapping[str, Any]:
    every = list(sets)
    counts: Raw = {
        mine: sum(int(status_of(one).get(theirs) or 0) for one in every)
        for mine, theirs in _COUNTS.items()
    }
    counts["updatedReplicas"] = int(status_of(new or {}).get("replicas") or 0)
    wanted = sum(int(one["spec"].get("replicas", 1)) for one in every)
    counts["unavailableReplicas"] = max(0, wanted - counts["availableReplicas"])
    status = without_zeros(counts, always=("terminatingReplicas",))
    status["observedGeneration"] = deployment["metadata"].get("generation", 1)
    if "collisionCount" in status_of(deployment):
        status["collisionCount"] = status_of(deployment)["collisionCount"]
    progressing = _progressing(deployment, new, counts, now)
    conditions = [_available(deployment, counts), *([progressing] if progressing else [])]
    status["conditions"] = [_kept(deployment, one, now) for one in conditions]
    return status


def _available(deployment: Object, counts: Mapping[str, int]) -> Raw:
    spec = deployment["spec"]
    replicas = int(spec.get("replicas", 1))
    rolling = (spec.get("strategy") or {}).get("rollingUpdate") or {}
    recreates = (spec.get("strategy") or {}).get("type") == "Recreate"
    missing = (
        0
        if recreates
        else limits(replicas, rolling.get("maxSurge"), rolling.get("maxUnavailable")).unavailable
    )
    enough = counts["availableReplicas"] >= replicas - missing
    return {
        "type": "Available",
        "status": "True" if enough else "False",
        "reason": "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable",
        "message": "Deployment has minimum availability."
        if enough
        else "Deployment does not have minimum availability.",
    }


def _progressing(
    deployment: Object, new: Optional[Object], counts: Mapping[str, int], now: float
) -> Optional[Raw]:
    """None when the deployment has no deadline, or has none yet that could pass."""
    if deployment["spec"].get("progressDeadlineSeconds") in (None, 2**31 - 1):
        return None
    before = condition(deployment, "Progressing")
    name = "" if new is None else new["metadata"]["name"]
    if new is not None and _done(deployment, counts):
        said = f'ReplicaSet "{name}" has successfully progressed.'
        return _progress("True", "NewReplicaSetAvailable", said)
    if deployment["spec"].get("paused"):
        return _progress("Unknown", "DeploymentPaused", "Deployment is paused")
    if before.get("reason") == "NewReplicaSetAvailable" and not _rolls(deployment, counts):
        # A pod that is lost after the rollout is no rollout.
        return dict(before)
    if _moved(deployment, counts) or before.get("reason") in (None, "DeploymentPaused"):
        reason = "ReplicaSetUpdated" if before else "NewReplicaSetCreated"
        verb = "is progressing." if before else None
        said = f'ReplicaSet "{name}" {verb}' if verb else f'Created new replica set "{name}"'
        return {**_progress("True", reason, said), "lastUpdateTime": text_of(now)}
    due = progress_due(deployment, status_of(deployment))
    if due is not None and due <= now:
        said = f'ReplicaSet "{name}" has timed out progressing.'
        return _progress("False", "ProgressDeadlineExceeded", said)
    return dict(before)


def _progress(value: str, reason: str, message: str) -> Raw:
    return {"type": "Progressing", "status": value, "reason": reason, "message": message}


def _done(deployment: Object, counts: Mapping[str, int]) -> bool:
    replicas = int(deployment["spec"].get("replicas", 1))
    names = ("updatedReplicas", "replicas", "availableReplicas")
    return all(counts[name] == replicas for name in names)


def _rolls(deployment: Object, counts: Mapping[str, int]) -> bool:
    replicas = int(deployment["spec"].get("replicas", 1))
    return counts["updatedReplicas"] < replicas or counts["replicas"] > counts["updatedReplicas"]


def _moved(deployment: Object, counts: Mapping[str, int]) -> bool:
    """More updated, more available, or fewer old pods than at the last look."""
    before = {name: int(status_of(deployment).get(name) or 0) for name in counts}
    return (
        counts["updatedReplicas"] > before["updatedReplicas"]
        or counts["readyReplicas"] > before["readyReplicas"]
        or counts["availableReplicas"] > before["availableReplicas"]
        or counts["replicas"] - counts["updatedReplicas"]
        < before["replicas"] - before["updatedReplicas"]
    )


def _kept(deployment: Object, wanted: Raw, now: float) -> Raw:
    """lastUpdateTime moves with the reason, lastTransitionTime with the status. A condition of a
    copied cluster has no message."""
    before = condition(deployment, wanted["type"])
    names = ("status", "reason", "message")
    if "lastUpdateTime" not in wanted and all(before.get(key) == wanted.get(key) for key in names):
        return dict(before)
    same = before.get("status") == wanted["status"]
    since = before.get("lastTransitionTime") if same else None
    return {"lastUpdateTime": text_of(now), **wanted, "lastTransitionTime": since or text_of(now)}


def progress_due(deployment: Object, status: Mapping[str, Any]) -> Optional[float]:
    """When the rollout will have made no progress for too long; None when none is under way."""
    limit = deployment["spec"].get("progressDeadlineSeconds")
    found = condition({"status": status}, "Progressing")
    if limit is None or found.get("reason") not in (
        "NewReplicaSetCreated",
        "ReplicaSetUpdated",
        "FoundNewReplicaSet",
    ):
        return None
    since = found.get("lastUpdateTime") or found["lastTransitionTime"]
    return seconds_of(since) + int(limit)
