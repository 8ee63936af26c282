# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What no server can be made to answer; the rest of the lock is shown in integration."""

from __future__ import annotations

import threading
from typing import Any, Callable

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import SystemClock
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.lock import hold
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    Conflict,
    NotFound,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.lease import Lease
from tests.unit.builders import metadata, node


def lease(named: str) -> Lease:
    return Lease(metadata("Lease", "fleet-node-n1"), named, 30, None, None, 1)


class Rewritten:
    """A cluster whose Lease names us whenever it is read, and never as we wrote it."""

    def __init__(self) -> None:
        self.made = False
        self.renewals = 0

    def allowed(self, *_args: Any, **_kwargs: Any) -> bool:
        return True

    def create(self, *_args: Any, **_kwargs: Any) -> Lease:
        self.made = True
        return lease("me")

    def get(self, *_args: Any, **_kwargs: Any) -> Lease:
        if not self.made:
            raise NotFound("Lease", "fleet-node-n1")
        return lease("me")

    def patch(self, *_args: Any, **_kwargs: Any) -> Lease:
        self.renewals += 1
        raise Conflict("The Lease has changed meanwhile.")


class Late(SystemClock):
    """Stands still but for `time`, and starts no thread that would renew."""

    time = 0.0

    def monotonic(self) -> float:
        return self.time

    def start_thread(self, work: Callable[[], None], name: str) -> threading.Thread:
        return super().start_thread(lambda: None, name)


def test_c29_a_lease_that_names_us_but_was_not_renewed_lets_nothing_be_done() -> None:
    cluster, clock = Rewritten(), Late()
    with hold([node("n1")], cluster, Run("me", clock=clock), purpose="maintenance") as locks:  # type: ignore[arg-type]
        locks.check("n1")
        assert cluster.renewals == 0
        clock.time = 100.0
        with pytest.raises(Conflict):
            locks.check("n1")
        assert cluster.renewals == 2
