# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Calls the functions behind the modules in this process, as a user of the space."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.registry import find
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Progress, Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from tests.control_plane.space import Space

PREFIX = "fleet.evenkeel.dev/"


@contextmanager
def cluster_of(space: Space, user: str = "runner", **how: Any) -> Iterator[Cluster]:
    """`how`: as Space.kubeconfig takes it."""
    path = str(space.kubeconfig(user, **how))
    cluster = find(Connection(kubeconfig=path), environment={}).cluster()
    try:
        yield cluster
    finally:
        cluster.close()


@dataclass
class Listener:
    """Keeps what a run told of itself."""

    told: list[Progress] = field(default_factory=list)

    def __call__(self, progress: Progress) -> None:
        self.told.append(progress)

    def texts(self) -> list[str]:
        return [progress.text for progress in self.told]


def run_of(
    holder: str = "runner",
    *,
    check_mode: bool = False,
    progress: Callable[[Progress], None] = lambda _progress: None,
    interruption: Callable[[], str] = lambda: "",
    prefix: str = PREFIX,
    state_namespace: str = "kube-system",
) -> Run:
    return Run(
        holder=holder,
        check_mode=check_mode,
        progress=progress,
        interruption=interruption,
        prefix=prefix,
        state_namespace=state_namespace,
    )


def codes(report: Report) -> dict[str, list[tuple[str, str]]]:
    """What became of each node: the lists that are not empty, as (node, code)."""
    return {
        name: [(outcome["node"], outcome["code"]) for outcome in outcomes]
        for name, outcomes in report.result().items()
        if outcomes
    }
