# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A process is its PID and its start; the second user of a PID is not the first."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.identity import (
    ProcessId,
    holder,
    holder_is_dead,
    process_space,
    start_time,
)

HERE = f"me@{socket.gethostname()}"
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


@pytest.fixture
def gone() -> str:
    """The name of a process of this machine that has ended."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    named = f"{HERE}:{ProcessId.of(process.pid)}"
    process.kill()
    process.wait()
    return named


@needs_proc
def test_c23_a_process_of_this_machine_that_has_ended_is_dead(gone: str) -> None:
    assert holder_is_dead(gone, process_space())


@needs_proc
def test_a_process_that_took_the_pid_of_another_is_not_that_one() -> None:
    assert holder_is_dead(f"{HERE}:{os.getpid()}:1", process_space())


def test_this_process_lives() -> None:
    assert not holder_is_dead(holder(), process_space())


def test_a_process_of_another_container_or_boot_is_not_judged_by_our_pids(gone: str) -> None:
    assert not holder_is_dead(gone, "another")
    assert not holder_is_dead(gone, "")


def test_a_process_of_another_machine_is_not_judged(gone: str) -> None:
    elsewhere = gone.replace(socket.gethostname(), "elsewhere")
    assert not holder_is_dead(elsewhere, process_space())


@pytest.mark.parametrize("named", ["", "somebody", f"{HERE}:", f"{HERE}:x:y", f"{HERE}:1"])
def test_a_name_of_another_form_is_not_judged(named: str) -> None:
    assert not holder_is_dead(named, process_space())
