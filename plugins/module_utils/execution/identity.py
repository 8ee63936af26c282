# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which process is which. A PID alone is reused; with its start time it names one process for ever.

A holder, as locks and records name it: user@host:pid:start. `start` is what the kernel counts, in
clock ticks since boot (field 22 of /proc/PID/stat), or 0 where there is no /proc.
"""

from __future__ import annotations

import getpass
import hashlib
import os
import socket
from dataclasses import dataclass
from pathlib import Path

_START_TIME = 22


@dataclass(frozen=True)
class ProcessId:
    """`start` 0 means that it is not known: any process with this PID is then taken for it."""

    pid: int
    start: int

    @classmethod
    def of(cls, pid: int) -> ProcessId:
        return cls(pid, start_time(pid))

    @classmethod
    def parse(cls, text: str) -> ProcessId:
        """Reads str()'s form. Raises ValueError for anything else."""
        pid, _unused, start = text.partition(":")
        return cls(int(pid), int(start))

    def __str__(self) -> str:
        return f"{self.pid}:{self.start}"

    def alive(self) -> bool:
        """A zombie lives no more: it does nothing, and only waits for its parent to look."""
        fields = _stat(self.pid)
        if fields is None:
            return _signalable(self.pid)
        return fields[0] not in "ZX" and (self.start == 0 or _start(fields) == self.start)


def holder() -> str:
    """This process, as a lock names it."""
    return f"{_user()}@{socket.gethostname()}:{ProcessId.of(os.getpid())}"


def start_time(pid: int) -> int:
    """Clock ticks since boot; 0 where it cannot be known."""
    fields = _stat(pid)
    return _start(fields) if fields else 0


def _start(fields: list[str]) -> int:
    # `fields` begins at the third one, the state.
    return int(fields[_START_TIME - 3])


def _stat(pid: int) -> list[str] | None:
    """The fields after the command's name, which may itself hold spaces and parentheses."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()


def _signalable(pid: int) -> bool:
    """Where there is no /proc, and for a PID that is gone from it."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def _user() -> str:
    # A container may run as a UID that no user database knows.
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def process_space() -> str:
    """Names the PID namespace of this boot of this machine, "" where that cannot be known.

    Only within one of these does "no process has this PID" mean that it is gone: machines and
    containers share host names.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        pids = Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return ""
    return hashlib.sha256(f"{boot} {pids}".encode()).hexdigest()[:16]


def holder_is_dead(holder: str, space: str) -> bool:
    """True only when the holder ran in the space where we run, and its process is gone."""
    if not space or space != process_space():
        return False
    machine, _unused, process = holder.partition(":")
    if machine.rpartition("@")[2] != socket.gethostname():
        return False
    try:
        return not ProcessId.parse(process).alive()
    except ValueError:
        return False
