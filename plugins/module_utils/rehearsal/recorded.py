# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a run told of itself: the results of its tasks, and what they refused or left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Iterator, Mapping, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.prediction import Left


@dataclass(frozen=True)
class Result:
    """status: ok, failed or skipped. result: what the task returned."""

    task: str
    status: str
    result: Mapping[str, Any]


def problem_of(results: Sequence[Result]) -> str:
    """What the play failed with: the last task that failed."""
    failed = [one for one in results if one.status == "failed"]
    return str(failed[-1].result.get("msg", failed[-1].task)) if failed else ""


def refused_of(results: Iterable[Result], left: Iterable[str] = ()) -> tuple[Left, ...]:
    """Pods that were refused for good, each once. left: those that left all the same."""
    return _outcomes(results, "failed", set(left))


def unfinished_of(results: Sequence[Result], left: Iterable[str] = ()) -> tuple[Left, ...]:
    """Pods with which the run was not finished when it ended."""
    return _outcomes(results, "pending", set(left)) if problem_of(results) else ()


def _outcomes(results: Iterable[Result], bucket: str, left: set[str]) -> tuple[Left, ...]:
    found: dict[tuple[str, str], Left] = {}
    for outcome in _listed(results, bucket):
        pod = outcome["workload"]
        if pod and pod not in left:
            found[pod, outcome["node"]] = Left(
                pod, outcome["node"], outcome["code"], outcome["detail"]
            )
    return tuple(found.values())


def _listed(results: Iterable[Result], bucket: str) -> Iterator[Mapping[str, str]]:
    for one in results:
        listed = one.result.get("result")
        if isinstance(listed, Mapping):
            yield from listed.get(bucket) or ()
