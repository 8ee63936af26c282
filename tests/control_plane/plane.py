# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A running control plane, as its users see it; starting and stopping one."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .api import Api
from .components import Layout
from .files import remove_tree
from .supervisor import START_SECONDS

ROOT = Path(__file__).parents[2]


class PlaneError(Exception):
    """The plane does not start, or there is none; the message says what to do."""


@dataclass(frozen=True)
class Plane:
    """Where a plane serves. `version` is the API server's, such as v1.37.2."""

    state: Path
    server: str
    version: str
    lifeline: int

    @property
    def layout(self) -> Layout:
        return Layout(self.state)

    @property
    def kubeconfig(self) -> Path:
        """Of a user who may do everything and whom the audit helpers leave out."""
        return self.layout.kubeconfig

    def api(self, token: str = "admin") -> Api:
        return Api(self.server, token, self.layout.certificate)

    def hold(self) -> socket.socket:
        """A connection that keeps the plane running until it is closed, or this process ends."""
        connection = socket.create_connection(("127.0.0.1", self.lifeline), timeout=5.0)
        if not connection.recv(1):
            raise ConnectionError("the plane is ending")
        return connection


def find(state: Path) -> Plane | None:
    """The plane of this state directory, if it serves."""
    try:
        description = json.loads(Layout(state).description.read_text())
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not is_running(description["supervisor"], str(state)):
        return None
    return Plane(state, description["server"], description["version"], description["lifeline"])


def start(state: Path, programs: Mapping[str, Path], stay: bool) -> Plane:
    """A new plane in `state`, which must not hold a running one. About 5 s.

    With `stay` it runs until `stop`; else until the last holder is gone, and then removes its
    state. Raises PlaneError.
    """
    stop(state)
    remove_tree(state)
    layout = Layout(state)
    layout.log("supervisor").parent.mkdir(parents=True)
    arguments = [sys.executable, "-m", "tests.control_plane.supervisor", str(state)]
    arguments += ["--programs", json.dumps({name: str(path) for name, path in programs.items()})]
    arguments += ["--stay"] if stay else ["--remove"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with open(layout.log("supervisor"), "wb") as log:
        # Its own session: a signal to the test run's process group must not reach it first.
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            start_new_session=True,
        )
        return _wait_for(process, state, Path(log.name))


def _wait_for(process: subprocess.Popen[bytes], state: Path, log: Path) -> Plane:
    # Opened now: a plane that does not start removes its state.
    with open(log, errors="replace") as text:
        deadline = time.monotonic() + START_SECONDS + 10
        while time.monotonic() < deadline:
            plane = find(state)
            if plane is not None:
                return plane
            if process.poll() is not None:
                raise PlaneError(f"the control plane did not start: {text.read()}")
            time.sleep(0.1)
    process.terminate()
    raise PlaneError("the control plane did not start in time")


def stop(state: Path) -> bool:
    """Ends every process of a plane, also those that a killed supervisor left; False: none ran."""
    try:
        processes: dict[str, int] = json.loads(Layout(state).processes.read_text())
    except (FileNotFoundError, NotADirectoryError):
        return False
    supervisor = processes.pop("supervisor")
    found = is_running(supervisor, str(state))
    if found:
        os.kill(supervisor, signal.SIGTERM)
        _wait_until_gone(supervisor, str(state))
    for pid in processes.values():
        if is_running(pid, str(state)):
            found = True
            os.kill(pid, signal.SIGKILL)
    return found


def _wait_until_gone(pid: int, marker: str, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while is_running(pid, marker):
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            return
        time.sleep(0.05)


def is_running(pid: int, marker: str) -> bool:
    """Whether `pid` is a process whose command line names `marker`: ids are used again."""
    proc = Path("/proc")
    if (proc / "self" / "cmdline").exists():
        try:
            return marker.encode() in (proc / str(pid) / "cmdline").read_bytes()
        except OSError:
            return False
    shown = subprocess.run(
        ["ps", "-ww", "-o", "command=", "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
    )
    return marker in shown.stdout
