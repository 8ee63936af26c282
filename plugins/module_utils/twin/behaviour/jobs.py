# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The job controller, for jobs that count completions.

Source: pkg/controller/job/job_controller.go, 1.37. Without indexes, failure policies and the
finalizers that make the real controller count pods which were deleted.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Iterable, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Act,
    Change,
    Create,
    Delete,
    Key,
    Later,
    Object,
    Update,
    View,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    JOBS,
    PODS,
    Raw,
    active,
    condition,
    key_of,
    leaving,
    own_keys,
    pod_from,
    ready,
    seconds_of,
    status_of,
    text_of,
    uid_of,
    with_conditions,
    with_metadata,
    without_zeros,
)

# Seconds after the first failure until the next pod; doubled for each further one, to ten minutes.
_BACKOFF, _LONGEST = 10.0, 600.0


@dataclass(frozen=True)
class Jobs:
    name = "jobs"
    watches = (JOBS, PODS)

    def keys(self, change: Change, view: View) -> Iterable[Key]:  # noqa: ARG002
        return own_keys(change, JOBS, "Job")

    def reconcile(self, key: Key, view: View, now: float, draw: Random) -> Iterable[Act]:  # noqa: ARG002
        job = view.get(key)
        if job is None or leaving(job) or _over(job):
            return ()
        found = _Found.of(job, list(view.owned(PODS, uid_of(job))))
        acts = list(_next(found, now))
        status = _status(found, now)
        if status != job.get("status"):
            acts.append(Update(JOBS, {**job, "status": status}, status=True))
        return acts


def _over(job: Object) -> bool:
    return any(condition(job, kind).get("status") == "True" for kind in ("Complete", "Failed"))


@dataclass(frozen=True)
class _Found:
    """succeeded, failed: never fewer than were counted before, though their pods be gone."""

    job: Object
    living: Sequence[Object]
    leaving: int
    succeeded: int
    failed: int
    last_failure: Optional[float]

    @staticmethod
    def of(job: Object, pods: Sequence[Object]) -> _Found:
        by_phase = {
            phase: [pod for pod in pods if status_of(pod).get("phase") == phase]
            for phase in ("Succeeded", "Failed")
        }
        before = status_of(job)
        ends = [_ended_at(pod) for pod in by_phase["Failed"]]
        return _Found(
            job,
            [pod for pod in pods if active(pod)],
            sum(leaving(pod) for pod in pods),
            max(len(by_phase["Succeeded"]), int(before.get("succeeded") or 0)),
            max(len(by_phase["Failed"]), int(before.get("failed") or 0)),
            max((one for one in ends if one is not None), default=None),
        )

    @property
    def completions(self) -> Optional[int]:
        """None for a work queue: done when one succeeded and none runs."""
        found = self.job["spec"].get("completions")
        return None if found is None else int(found)

    @property
    def suspended(self) -> bool:
        return bool(self.job["spec"].get("suspend"))

    @property
    def too_many_failures(self) -> bool:
        return self.failed > int(self.job["spec"].get("backoffLimit", 6))

    @property
    def complete(self) -> bool:
        if self.completions is None:
            return self.succeeded > 0 and not self.living
        return self.succeeded >= self.completions

    @property
    def wanted(self) -> int:
        """Pods that shall run now."""
        if self.suspended or self.too_many_failures or self.complete:
            return 0
        parallel = int(self.job["spec"].get("parallelism", 1))
        if self.completions is None:
            return len(self.living) if self.succeeded else parallel
        return min(parallel, self.completions - self.succeeded)


def _ended_at(pod: Object) -> Optional[float]:
    for one in status_of(pod).get("containerStatuses") or ():
        when = ((one.get("state") or {}).get("terminated") or {}).get("finishedAt")
        if when:
            return seconds_of(when)
    return None


def _next(found: _Found, now: float) -> Iterable[Act]:
    missing = found.wanted - len(found.living)
    for pod in found.living[: max(0, -missing)]:
        yield Delete(key_of(PODS, pod), uid_of(pod))
    if missing <= 0:
        return
    due = _backed_off_until(found)
    if due > now:
        yield Later(due)
        return
    name = f"{found.job['metadata']['name']}-"
    for _each in range(missing):
        pod = pod_from(found.job["spec"]["template"], found.job)
        yield Create(PODS, with_metadata(pod, generateName=name))


def _backed_off_until(found: _Found) -> float:
    if found.last_failure is None or not found.failed:
        return 0.0
    return found.last_failure + min(_BACKOFF * float(2 ** min(found.failed - 1, 10)), _LONGEST)


# --- status --------------------------------------------------------------------------------


def _status(found: _Found, now: float) -> Raw:
    before = status_of(found.job)
    counts: dict[str, Any] = {
        "active": len(found.living),
        "succeeded": found.succeeded,
        "failed": found.failed,
        "ready": sum(map(ready, found.living)),
        "terminating": found.leaving,
    }
    status = {**before, **counts}
    if not found.suspended:
        status.setdefault("startTime", text_of(now))
    status["uncountedTerminatedPods"] = {}
    reached = [{**one, "lastProbeTime": text_of(now)} for one in _reached(found)]
    if reached:
        conditions = before.get("conditions") or ()
        status["conditions"] = with_conditions(conditions, *reached, now=now)
        if found.complete:
            status["completionTime"] = text_of(now)
    return without_zeros(status, always=("ready", "terminating"))


def _reached(found: _Found) -> list[Raw]:
    if found.complete:
        said = {
            "status": "True",
            "reason": "CompletionsReached",
            "message": "Reached expected number of succeeded pods",
        }
        return [{"type": kind, **said} for kind in ("SuccessCriteriaMet", "Complete")]
    if found.too_many_failures:
        said = {
            "status": "True",
            "reason": "BackoffLimitExceeded",
            "message": "Job has reached the specified backoff limit",
        }
        return [{"type": kind, **said} for kind in ("FailureTarget", "Failed")]
    return []
