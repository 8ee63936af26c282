# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A process is its PID and its start; the second user of a PID is not the first."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.identity import (
    ProcessId,
    holder,
    start_time,
)

needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="there is no /proc")


def test_a_holder_is_user_host_pid_and_start() -> None:
    who, _unused, process = holder().partition(":")
    assert who.count("@") == 1
    assert ProcessId.parse(process) == ProcessId.of(os.getpid())


def test_text_and_process_are_the_same_thing() -> None:
    assert ProcessId.parse(str(ProcessId(12, 345))) == ProcessId(12, 345)
    with pytest.raises(ValueError):
        ProcessId.parse("12")


def test_this_process_lives_and_one_that_has_ended_does_not() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process = ProcessId.of(child.pid)
    assert process.alive()
    child.communicate()
    assert not process.alive()
    assert ProcessId.of(os.getpid()).alive()


@needs_proc
def test_another_process_with_the_same_pid_is_not_the_same() -> None:
    assert not ProcessId(os.getpid(), start_time(os.getpid()) + 1).alive()
    assert ProcessId(os.getpid(), 0).alive()


@needs_proc
def test_a_zombie_is_dead_before_its_parent_has_looked() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not ProcessId.of(child.pid).alive()
    child.wait()


@needs_proc
def test_a_command_s_name_with_blanks_and_parentheses_is_read_over(tmp_path) -> None:  # type: ignore[no-untyped-def]
    odd = tmp_path / "a) S 1 (b"
    odd.symlink_to("/bin/sleep")
    child = subprocess.Popen([str(odd), "60"])
    try:
        assert start_time(child.pid) >= start_time(os.getpid())
        assert ProcessId.of(child.pid).alive()
    finally:
        child.kill()
        child.wait()
