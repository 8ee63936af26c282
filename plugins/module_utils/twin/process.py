# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A twin as a process of its own, which outlives the task that starts it.

    started = start(source, Settings(now, virtual=True, seed=7), "/tmp/twin", lifetime=3600)
    ... -e kubeconfig=/tmp/twin/kubeconfig
    stop("/tmp/twin")
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings

LIFETIME = 3600.0


@dataclass(frozen=True)
class Started:
    """directory: its state. kubeconfig: a path in it. new: False when it ran already.
    time: the twin's own, at the start, in seconds since the epoch."""

    directory: str
    kubeconfig: str
    url: str
    pid: int
    new: bool
    time: float


def start(source: Any, settings: Settings, directory: str, lifetime: float = LIFETIME) -> Started:
    """Returns once it answers and its pods run.

    source: what build.twin_of() takes; it is pickled for the new process.
    lifetime: seconds of real time without any client after which it ends by itself.
    Raises FleetError, and leaves nothing half started: a bad source, a port that is taken
    (InvalidOption), a directory of somebody else, another twin in it (Refused).
    """
    raise NotImplementedError


def stop(directory: str) -> bool:
    """Returns once it is gone, whether there was one; its state goes with it.

    Raises InvalidOption for a directory that is no twin's.
    """
    raise NotImplementedError


def running(directory: str) -> Optional[Started]:
    """The twin whose state this directory holds; None when it ended, or never was."""
    raise NotImplementedError
