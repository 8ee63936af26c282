# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What every function behind a module is given beside its options and its backend."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import (
    Clock,
    SystemClock,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import Interrupted

# Every cluster has it.
DEFAULT_STATE_NAMESPACE = "kube-system"


@dataclass(frozen=True)
class Progress:
    """One thing worth telling while a call works.

    node: whom it is about ("" = the whole call); text: a clause without a full stop;
    done, total: workloads of this node (0, 0 where that means nothing);
    waiting_since: Clock.monotonic() when the wait it tells of began, or None;
    urgent: not to be held back by the limit of one line a second per node;
    once: the same for every call of a playbook's run, and told by the first of them only.
    """

    node: str
    text: str
    done: int = 0
    total: int = 0
    waiting_since: float | None = None
    urgent: bool = False
    once: bool = False


def _silent(progress: Progress) -> None:
    """The default listener."""


def _never() -> str:
    return ""


@dataclass(frozen=True)
class Run:
    """holder: who we are, as a lock names it. prefix: of our annotations, ends in "/".

    interruption() returns why the run must stop now ("SIGTERM", ...), or "". It is cheap: every
    wait asks it at least once a second, and every act before it is done.
    """

    holder: str
    clock: Clock = field(default_factory=SystemClock)
    progress: Callable[[Progress], None] = _silent
    interruption: Callable[[], str] = _never
    check_mode: bool = False
    prefix: str = "fleet.evenkeel.dev/"
    state_namespace: str = DEFAULT_STATE_NAMESPACE

    def check(self) -> None:
        """Raises Interrupted when the run must stop."""
        cause = self.interruption()
        if cause:
            raise Interrupted(cause)
