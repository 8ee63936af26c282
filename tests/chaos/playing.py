# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Processes of ansible-playbook, and the three ways in which the world ends them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

PROGRAM = str(Path(sys.executable).with_name("ansible-playbook"))
JOB = Path(__file__).with_name("job.py")

# All processes of a run inherit it, in whatever session or under whatever parent they are.
MARK = "EVENKEEL_CHAOS_RUN"

LONGEST_RUN = 180.0
# Seconds that ansible-playbook may take to end once it was told to.
LONGEST_END = 20.0


class Playing:
    """ansible-playbook in a process group of its own, as an AWX job has one; killed with it."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], directory: Path
    ) -> None:
        self.mark = uuid.uuid4().hex
        self.killed_at: float | None = None
        self._killing = threading.Lock()
        self._log = directory / f"run-{self.mark}.log"
        self._start(arguments, {**environment, MARK: self.mark}, directory)

    def _start(
        self, arguments: Sequence[str], environment: Mapping[str, str], directory: Path
    ) -> None:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command(arguments, directory),
                env=dict(environment),
                cwd=directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _command(self, arguments: Sequence[str], directory: Path) -> list[str]:
        return [PROGRAM, *arguments]

    def kill(self) -> None:
        """Returns once ansible-playbook is dead, or after LONGEST_END."""
        with self._killing:
            self._strike()
            self._await_end()
            self.killed_at = time.monotonic()

    def _strike(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)

    def _await_end(self) -> None:
        try:
            self._process.wait(LONGEST_END)
        except subprocess.TimeoutExpired:
            # Whoever waits for the run sees that it goes on.
            return

    def wait(self) -> int:
        """The exit status. A run that does not end is killed, and TimeoutError raised."""
        status = self._status()
        with self._killing:
            return status

    def _status(self) -> int:
        try:
            return self._process.wait(LONGEST_RUN)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            raise TimeoutError(f"the run has not ended:\n{self.output}") from None

    @property
    def output(self) -> str:
        return self._log.read_text(errors="replace")

    def survivors(self, seconds: float) -> list[str]:
        """Processes of this run that are still alive after so many seconds of waiting for them.

        Only where there is a /proc; elsewhere the requests alone tell of orphans.
        """
        deadline = time.monotonic() + seconds
        while True:
            found = _marked(f"{MARK}={self.mark}".encode())
            if not found or time.monotonic() > deadline:
                return found
            time.sleep(0.05)


class Terminated(Playing):
    """SIGTERM, as systemd or a container's end sends it: to ansible-playbook alone."""

    def _strike(self) -> None:
        os.kill(self._process.pid, signal.SIGTERM)

    def _await_end(self) -> None:
        """Not waited for: it goes on with the request that it has made."""
        time.sleep(0.1)


class Cancelled(Playing):
    """A job of ansible-runner, cancelled as AWX does it."""

    def _command(self, arguments: Sequence[str], directory: Path) -> list[str]:
        self._cancel = directory / f"cancel-{self.mark}"
        private = directory / f"runner-{self.mark}"
        private.mkdir()
        return [sys.executable, str(JOB), str(private), str(self._cancel), PROGRAM, *arguments]

    def _strike(self) -> None:
        self._cancel.touch()


def _marked(needle: bytes) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if needle in (entry / "environ").read_bytes().split(b"\0"):
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
                found.append(f"{entry.name} {command}")
        except OSError:
            continue  # It has ended, or belongs to somebody else.
    return found
