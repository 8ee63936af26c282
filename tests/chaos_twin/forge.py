# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Runs that cost a fork each: a process with one thread that has imported all, and forks.

As a program it reads one request a line, {"way", "nodes", "hook", "kubeconfig", "log"}, and writes
{"pid"} when the run has begun and {"status"} when it has ended. A process of its own, because a
test has the threads of a twin, and a fork of those would be a process with their locks.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

LONGEST_RUN = 60


class Forge:
    """A client of that process. close() ends it."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._runs = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos_twin.forge"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    def start(self, way: str, nodes: list[str], hook: str, kubeconfig: Any) -> Run:
        """kubeconfig: a document. One run at a time: the last one must have been waited for."""
        self._runs += 1
        log = self._directory / f"run-{os.getpid()}-{self._runs}.log"
        path = self._directory / f"kubeconfig-{os.getpid()}"
        path.write_text(json.dumps(kubeconfig))
        request = {"way": way, "nodes": nodes, "hook": hook, "kubeconfig": str(path)}
        self._tell({**request, "log": str(log)})
        return Run(self, int(self.hear()["pid"]), log)

    def hear(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise EOFError("the process that forks the runs has ended")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(LONGEST_RUN)

    def _tell(self, request: dict[str, Any]) -> None:
        if self._process.stdin is None:
            raise EOFError("the process that forks the runs cannot be asked")
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()


class Run:
    """One run, which is going on until wait() has returned."""

    def __init__(self, forge: Forge, pid: int, log: Path) -> None:
        self.pid = pid
        self._forge = forge
        self._log = log

    def wait(self) -> int:
        """The exit status; negative for the signal that ended it."""
        return int(self._forge.hear()["status"])

    @property
    def output(self) -> str:
        return self._log.read_text(errors="replace")


def _serve() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _be(request)
        print(json.dumps({"pid": pid}), flush=True)
        _pid, status = os.waitpid(pid, 0)
        print(json.dumps({"status": os.waitstatus_to_exitcode(status)}), flush=True)


def _be(request: dict[str, Any]) -> None:
    """The run itself; does not return."""
    import signal

    from tests.chaos_twin.sequence import WAYS, Ended

    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT, 0o600)
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    os.environ["KUBECONFIG"] = request["kubeconfig"]
    status = 1
    # A run that hangs must not hang the tests.
    signal.alarm(LONGEST_RUN)
    try:
        WAYS[request["way"]](request["nodes"], request["hook"])
        status = 0
    except Ended as error:
        print(error)
    except BaseException:  # noqa: BLE001 - whatever it is, the process ends here
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    # What every run needs is there when it is forked.
    for name in ("kubernetes.config", "urllib3", "tests.chaos_twin.sequence"):
        importlib.import_module(name)
    _serve()
