# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""When the holder of a Lease is known to be gone, and what no server can be made to answer.

The rest of the lock is shown in integration.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from typing import Any, Callable, Optional

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import SystemClock
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.identity import (
    ProcessId,
    holder,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.lock import (
    hold,
    holder_is_dead,
    process_space,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    Conflict,
    NotFound,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.lease import Lease
from tests.unit.builders import metadata, node

PREFIX = "fleet.evenkeel.dev/"
HERE = f"me@{socket.gethostname()}"


def lease(named: str, space: Optional[str] = None) -> Lease:
    where = process_space() if space is None else space
    annotations = {PREFIX + "lock-process-space": where}
    meta = metadata("Lease", "fleet-node-n1", annotations=annotations)
    return Lease(meta, named, 30, None, None, 1)


@pytest.fixture
def gone() -> str:
    """The name of a process of this machine that has ended."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    named = f"{HERE}:{ProcessId.of(process.pid)}"
    process.kill()
    process.wait()
    return named


needs_proc = pytest.mark.skipif(not process_space(), reason="this system has no /proc")


@needs_proc
def test_c23_a_process_of_this_machine_that_has_ended_is_dead(gone: str) -> None:
    assert holder_is_dead(lease(gone), PREFIX)


@needs_proc
def test_a_process_that_took_the_pid_of_another_is_not_that_one() -> None:
    assert holder_is_dead(lease(f"{HERE}:{os.getpid()}:1"), PREFIX)


def test_this_process_lives() -> None:
    assert not holder_is_dead(lease(holder()), PREFIX)


def test_a_process_of_another_container_or_boot_is_not_judged_by_our_pids(gone: str) -> None:
    assert not holder_is_dead(lease(gone, space="another"), PREFIX)
    assert not holder_is_dead(lease(gone, space=""), PREFIX)


def test_a_process_of_another_machine_is_not_judged(gone: str) -> None:
    elsewhere = gone.replace(socket.gethostname(), "elsewhere")
    assert not holder_is_dead(lease(elsewhere), PREFIX)


@pytest.mark.parametrize("named", ["", "somebody", f"{HERE}:", f"{HERE}:x:y", f"{HERE}:1"])
def test_a_name_of_another_form_is_not_judged(named: str) -> None:
    assert not holder_is_dead(lease(named), PREFIX)


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
