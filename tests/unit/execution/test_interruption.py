# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Signals and dead parents are noted within a second, and nothing is torn in between."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.identity import ProcessId
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.interruption import (
    Interruption,
)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_becomes_the_cause_and_its_handler_comes_back(number: signal.Signals) -> None:
    heard: list[int] = []
    before = signal.signal(number, lambda signum, _frame: heard.append(signum))
    try:
        with Interruption() as interruption:
            assert interruption.cause() == ""
            signal.raise_signal(number)
            assert interruption.cause() == number.name
            assert heard == []
        interruption.deliver()
        assert heard == [number]
    finally:
        signal.signal(number, before)


def test_the_first_signal_is_the_cause() -> None:
    # A shell's background job has SIGINT ignored, and what is ignored stays so.
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, signal.SIG_DFL) for number in numbers]
    try:
        with Interruption() as interruption:
            for number in numbers:
                signal.raise_signal(number)
            assert interruption.cause() == "SIGINT"
    finally:
        for number, handler in zip(numbers, before):
            signal.signal(number, handler)


def test_what_nohup_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interruption() as interruption:
            signal.raise_signal(signal.SIGHUP)
            assert interruption.cause() == ""
    finally:
        signal.signal(signal.SIGHUP, before)


def test_without_a_cause_nothing_is_delivered() -> None:
    with Interruption() as interruption:
        pass
    interruption.deliver()


def test_the_death_of_a_starter_is_a_cause() -> None:
    starter = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with Interruption([ProcessId.of(os.getpid()), ProcessId.of(starter.pid)]) as interruption:
        assert interruption.cause() == ""
        starter.communicate()
        # The look is at most a quarter of a second old; the next one sees it.
        interruption._next_look = 0.0
        expected = f"the death of the process that started this one (PID {starter.pid})"
        assert interruption.cause() == expected


PARENT = """
    import os, subprocess, sys
    print(subprocess.Popen([sys.executable, "-c", sys.argv[1]], start_new_session=True).pid)
    sys.stdout.flush()
    input()
    os._exit(0)
"""
CHILD = """
    import time
    from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.interruption import (
        Interruption,
    )
    with Interruption() as interruption:
        print("ready", flush=True)
        deadline = time.monotonic() + 20
        while not interruption.cause() and time.monotonic() < deadline:
            time.sleep(0.05)
        print(interruption.cause(), flush=True)
"""


def test_a_child_in_its_own_session_sees_its_parent_die() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PARENT), textwrap.dedent(CHILD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert parent.stdout is not None
    lines = iter(parent.stdout.readline, "")
    int(next(lines))
    assert next(lines) == "ready\n"
    parent.kill()
    assert next(lines).startswith("the death of the process that started this one")
    parent.communicate()
