# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The process that owns one control plane: starts its components, watches them, ends them.

It ends them when it is told to (SIGTERM), when one of them dies, and, unless the plane is to stay,
when the last process that uses the plane is gone: each keeps a connection open to it, which the
operating system closes for it however it dies. On Linux the kernel ends the components too, should
this process itself be killed; elsewhere `down` and the next `up` find them by their recorded ids.

Run as: python -m tests.control_plane.supervisor STATE [--stay] [--remove]
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from . import credentials
from .api import Api, Unreachable
from .components import ORDER, Layout, Ports, command
from .files import remove_tree, write_atomically

STAGES = Path(__file__).parent / "stages"
START_SECONDS = 90.0
START_ATTEMPTS = 3
# How long a plane waits for its first user, and for another one after the last has gone.
FIRST_USER_SECONDS = 60.0
LINGER_SECONDS = 2.0
_PR_SET_PDEATHSIG = 1


class Supervisor:
    """One plane's processes, as children of this one."""

    def __init__(self, layout: Layout, programs: Mapping[str, Path]) -> None:
        self.layout = layout
        self.programs = programs
        self.children: dict[str, subprocess.Popen[bytes]] = {}
        self.stopping = False
        self.lifeline = socket.create_server(("127.0.0.1", 0))

    def start(self) -> None:
        """Returns when the API server serves and every component runs; raises RuntimeError.

        A port that was free may be taken a moment later: other ports are tried then.
        """
        for attempt in range(1, START_ATTEMPTS + 1):
            try:
                self._start_once(Ports(*_free_ports(3)))
                return
            except RuntimeError as error:
                if "address already in use" not in str(error) or attempt == START_ATTEMPTS:
                    raise
                self._kill_children()
                remove_tree(self.layout.state / "etcd")

    def _start_once(self, ports: Ports) -> None:
        server = f"https://127.0.0.1:{ports.api}"
        credentials.write_credentials(self.layout)
        self.layout.audit_policy.write_text(json.dumps(AUDIT_POLICY))
        for name in ORDER[2:]:
            self.layout.component_kubeconfig(name).write_text(
                credentials.component_kubeconfig(server, self.layout.certificate, name)
            )
        self._launch("etcd", ports)
        self._launch("kube-apiserver", ports)
        version = self._wait_until_served(server)
        for name in ORDER[2:]:
            self._launch(name, ports)
        self.layout.kubeconfig.write_text(
            credentials.kubeconfig(server, self.layout.certificate, {"token": "admin"})
        )
        self._describe(server, version)

    def _launch(self, name: str, ports: Ports) -> None:
        arguments = command(name, self.programs[name], self.layout, ports, STAGES)
        with open(self.layout.log(name), "wb") as log:
            self.children[name] = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - this process has one thread
            )
        pids = {child: process.pid for child, process in self.children.items()}
        pids["supervisor"] = os.getpid()
        write_atomically(self.layout.processes, json.dumps(pids))

    def _wait_until_served(self, server: str) -> str:
        """The API server's version, once it is ready."""
        deadline = time.monotonic() + START_SECONDS
        api = Api(server, "admin", certificate=None)
        while not self.stopping:
            self._raise_if_dead()
            try:
                if api.request("GET", "/readyz").status == 200:
                    return str(api.get("/version")["gitVersion"])
            except Unreachable:
                pass
            if time.monotonic() > deadline:
                raise RuntimeError(f"kube-apiserver is not ready after {START_SECONDS:.0f} s")
            time.sleep(0.1)
        raise RuntimeError("told to stop while starting")

    def _describe(self, server: str, version: str) -> None:
        description = {
            "server": server,
            "version": version,
            "supervisor": os.getpid(),
            "lifeline": self.lifeline.getsockname()[1],
        }
        write_atomically(self.layout.description, json.dumps(description))

    def _raise_if_dead(self) -> None:
        for name, process in self.children.items():
            code = process.poll()
            if code is not None:
                raise RuntimeError(f"{name} ended with {code}:\n{_tail(self.layout.log(name))}")

    def serve(self, stay: bool) -> None:
        """Until told to stop, a component dies (RuntimeError), or nobody uses the plane."""
        users = 0
        idle_since, patience = time.monotonic(), FIRST_USER_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(self.lifeline, selectors.EVENT_READ)
            while not self.stopping:
                for key, _unused in selector.select(timeout=0.5):
                    users += self._user_came_or_went(selector, key.fileobj)
                    idle_since, patience = time.monotonic(), LINGER_SECONDS
                self._raise_if_dead()
                if not stay and not users and time.monotonic() - idle_since > patience:
                    return

    def _user_came_or_went(self, selector: selectors.BaseSelector, ready: object) -> int:
        """1 for a new user, -1 for one that is gone."""
        assert isinstance(ready, socket.socket)
        if ready is self.lifeline:
            connection, _unused = ready.accept()
            connection.sendall(b"\n")
            selector.register(connection, selectors.EVENT_READ)
            return 1
        try:
            if ready.recv(64):
                return 0
        except OSError:
            pass
        selector.unregister(ready)
        ready.close()
        return -1

    def end(self) -> None:
        """Kills every child: nothing of a plane outlives it, so there is nothing to shut down."""
        self.lifeline.close()
        self._kill_children()
        self.layout.description.unlink(missing_ok=True)

    def _kill_children(self) -> None:
        for process in self.children.values():
            if process.poll() is None:
                process.kill()
        for process in self.children.values():
            process.wait()
        self.children.clear()


# Who is observed is recorded, writes with what they sent. The components, whose traffic is many
# times that of the tests, are not.
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "userGroups": ["components"]},
        {"level": "None", "users": ["system:apiserver"]},
        {
            "level": "Request",
            "verbs": ["create", "update", "patch", "delete", "deletecollection"],
            "userGroups": ["observed", "system:serviceaccounts"],
        },
        {"level": "Metadata"},
    ],
}


def _free_ports(count: int) -> list[int]:
    """Ports that are free now; all are held until all are found, so that they differ."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _unused in range(count)]
    ports = [held.getsockname()[1] for held in sockets]
    for held in sockets:
        held.close()
    return ports


def _die_with_parent() -> None:
    """Between fork and exec: a session of its own, and death when the supervisor dies."""
    os.setsid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _tail(path: Path, lines: int = 15) -> str:
    return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])


def _on_signals(callback: Callable[[], None]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_unused: callback())


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("state", type=Path)
    parser.add_argument("--programs", required=True, help="JSON: component name to path")
    parser.add_argument("--stay", action="store_true", help="also when nobody uses the plane")
    parser.add_argument("--remove", action="store_true", help="delete the state at the end")
    options = parser.parse_args(arguments)
    programs = {name: Path(path) for name, path in json.loads(options.programs).items()}
    supervisor = Supervisor(Layout(options.state), programs)
    _on_signals(lambda: setattr(supervisor, "stopping", True))
    try:
        supervisor.start()
        supervisor.serve(options.stay)
        return 0
    except RuntimeError as error:
        print(error, file=sys.stderr, flush=True)
        return 1
    finally:
        supervisor.end()
        if options.remove:
            remove_tree(options.state)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
