# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Calls `evict` in this process as a user of the space, and reads what became of the pods."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.evict import evict
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.options import (
    EvictOptions,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
)
from tests.control_plane.space import Space

from .calling import run_of

RUN_OPTIONS = ("holder", "check_mode", "progress", "interruption")


def drain(cluster: Cluster, *nodes: str, **options: Any) -> Report:
    """Options of EvictOptions and of run_of; a minute is enough for every test."""
    run = run_of(**{key: options.pop(key) for key in RUN_OPTIONS if key in options})
    chosen = EvictOptions(NodeSelection(nodes=nodes), **{"wait_timeout": 60.0, **options})
    return evict(chosen, cluster, run)


def by_code(report: Report) -> dict[str, list[str]]:
    """{"done": ["evicted", "evicted"]}: the lists that are not empty, as sorted codes."""
    return {
        bucket: sorted(outcome["code"] for outcome in outcomes)
        for bucket, outcomes in report.result().items()
        if outcomes
    }


def evictions(space: Space, since: int | None = None) -> list[str]:
    """The pods whose eviction was accepted, in order."""
    return [
        write.name
        for write in space.writes("runner", since=since)
        if write.resource == "pods" and write.subresource == "eviction"
    ]


class InBackground:
    """Runs `call` in a thread; result() waits for its report."""

    def __init__(self, call: Callable[[], Report]) -> None:
        self._report: Optional[Report] = None
        self._error: Optional[BaseException] = None
        self._call = call
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def result(self, seconds: float = 60.0) -> Report:
        self._thread.join(seconds)
        assert not self._thread.is_alive(), "the call did not end"
        if self._error is not None:
            raise self._error
        assert self._report is not None
        return self._report

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def _work(self) -> None:
        try:
            self._report = self._call()
        except BaseException as error:  # noqa: BLE001 - handed on by result()
            self._error = error
