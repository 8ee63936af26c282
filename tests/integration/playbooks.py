# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Runs the collection's playbooks as a user does, in a process of their own."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .playing import Stage

ENTER = "maintenance_enter"
STATUS = "maintenance_status"
EXIT = "maintenance_exit"
DOCTOR = "doctor"
REHEARSE = "rehearse"

# Two users' runs may be under way in one directory.
_NUMBERS = itertools.count(1)


@dataclass(frozen=True)
class Task:
    """status: ok, failed or skipped. result: what the task returned."""

    name: str
    status: str
    result: dict[str, Any]


@dataclass(frozen=True)
class Ran:
    """stdout: what a person reads, errors too."""

    returncode: int
    stdout: str
    tasks: tuple[Task, ...]

    @property
    def changed(self) -> int:
        """The number in Ansible's recap."""
        found = re.search(r"changed=(\d+)", self.stdout)
        assert found, self.stdout
        return int(found.group(1))

    @property
    def failed(self) -> Task:
        """The task that ended the play."""
        failed = [task for task in self.tasks if task.status == "failed"]
        assert failed, self.stdout
        return failed[-1]

    @property
    def message(self) -> str:
        return str(self.failed.result["msg"])

    def named(self, part: str) -> list[Task]:
        """The tasks with `part` in their name that were not skipped, in order."""
        return [task for task in self.tasks if part in task.name and task.status != "skipped"]

    def good(self) -> Ran:
        assert self.returncode == 0, self.stdout
        return self


class Playing:
    """A run that is under way."""

    def __init__(self, process: subprocess.Popen[str], record: Path) -> None:
        self.process = process
        self._record = record
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def stdout(self) -> str:
        return "".join(self._lines)

    def end(self, seconds: float = 120.0) -> Ran:
        self.process.wait(seconds)
        self._reader.join(5.0)
        return Ran(self.process.returncode, self.stdout, tuple(_tasks(self._record)))

    def _read(self) -> None:
        assert self.process.stdout is not None
        self._lines.extend(iter(self.process.stdout.readline, ""))


class Playbooks:
    """directory: where playbooks are started and hooks are looked for."""

    def __init__(self, directory: Path, kubeconfig: Path) -> None:
        self.directory = directory
        self._stage = Stage(directory, kubeconfig)

    def run(
        self,
        name: str,
        options: Mapping[str, Any] | None = None,
        *flags: str,
        as_json: bool = False,
        environment: Mapping[str, str] | None = None,
        limit: float = 180.0,
    ) -> Ran:
        """Options are given as `-e k=v` each, or all of them as one JSON. limit: seconds."""
        extra = environment or {}
        with self.start(name, options, *flags, as_json=as_json, environment=extra) as playing:
            return playing.end(limit)

    @contextmanager
    def start(
        self,
        name: str,
        options: Mapping[str, Any] | None = None,
        *flags: str,
        as_json: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> Iterator[Playing]:
        """A run that is killed at the end of the context, if it still runs.

        `name`: a playbook of the collection, or the path of another.
        """
        record = self.directory / f"record-{Path(name).stem}-{next(_NUMBERS)}.jsonl"
        program = Path(sys.executable).with_name("ansible-playbook")
        full = name if "/" in name else f"evenkeel.fleet.{name}"
        process = subprocess.Popen(
            [str(program), full, *_extra_vars(options or {}, as_json), *flags],
            env=self._environment(record, environment or {}),
            cwd=self.directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        playing = Playing(process, record)
        try:
            yield playing
        finally:
            process.kill()
            process.wait()

    def _environment(self, record: Path, extra: Mapping[str, str]) -> dict[str, str]:
        ours = {
            "ANSIBLE_CALLBACK_PLUGINS": str(Path(__file__).with_name("callbacks")),
            "ANSIBLE_CALLBACKS_ENABLED": "record",
            "EVENKEEL_RECORD": str(record),
            "PYTHONUNBUFFERED": "1",
        }
        return self._stage.environment({**ours, **extra})


def _extra_vars(options: Mapping[str, Any], as_json: bool) -> Sequence[str]:
    if as_json:
        return ["-e", json.dumps(dict(options))]
    return [part for key, value in options.items() for part in ("-e", f"{key}={_quoted(value)}")]


def _quoted(value: Any) -> str:
    """Ansible splits `k=v` as a shell does."""
    text = str(value)
    return f"'{text}'" if re.search(r"\s", text) else text


def _tasks(record: Path) -> Iterator[Task]:
    if not record.exists():
        return
    for line in record.read_text(encoding="utf-8").splitlines():
        document = json.loads(line)
        yield Task(document["task"], document["status"], document["result"])
