# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Runs tasks as a user does, with ansible-playbook, and reads what they returned."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Sequence

from ansible_collections.evenkeel.fleet import plugins

Task = dict[str, Any]

# Makes an action plugin run the module in a process of its own: it cannot give an environment.
ELSEWHERE: Task = {"environment": {"ANYTHING": "at all"}}


@dataclass(frozen=True)
class Played:
    """`results`: what each task registered, in order."""

    returncode: int
    stdout: str
    results: list[dict[str, Any]]


@dataclass(frozen=True)
class Stage:
    """Where playbooks are written, and the kubeconfig of the user they act as."""

    directory: Path
    kubeconfig: Path

    def command(self, playbook: Path, arguments: Sequence[str] = ()) -> list[str]:
        program = Path(sys.executable).with_name("ansible-playbook")
        return [str(program), str(playbook), *arguments]

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        collections = Path(next(iter(plugins.__path__))).parents[3]
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ANSIBLE_", "K8S_AUTH_"))
        }
        return {
            **inherited,
            "ANSIBLE_COLLECTIONS_PATH": str(collections),
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
            "ANSIBLE_NOCOLOR": "1",
            "KUBECONFIG": str(self.kubeconfig),
            **(extra or {}),
        }

    def write(self, tasks: Sequence[Task], play: Task | None = None) -> Path:
        """A playbook that goes on after failures and writes down what the tasks registered."""
        registered = [
            {**task, "register": f"result_{number}", "ignore_errors": True}
            for number, task in enumerate(tasks)
        ]
        names = ", ".join(f"result_{number}" for number in range(len(tasks)))
        keep: Task = {
            "name": "Keep the results",
            "ansible.builtin.copy": {
                "content": "{{ [" + names + "] | to_json }}",
                "dest": str(self._results),
                "mode": "0600",
            },
            "check_mode": False,
            "environment": {},
        }
        document = [
            {
                "hosts": "localhost",
                "gather_facts": False,
                **(play or {}),
                "tasks": [*registered, keep],
            }
        ]
        path = self.directory / "playbook.yml"
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    def play(
        self,
        tasks: Sequence[Task],
        arguments: Sequence[str] = (),
        *,
        play: Task | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Played:
        self._results.unlink(missing_ok=True)
        finished = subprocess.run(
            self.command(self.write(tasks, play), arguments),
            env=self.environment(environment),
            cwd=self.directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        assert self._results.exists(), finished.stdout
        results = json.loads(self._results.read_text(encoding="utf-8"))
        return Played(finished.returncode, finished.stdout, results)

    def task(self, module: str, arguments: Mapping[str, Any], **keywords: Any) -> dict[str, Any]:
        """The result of one task; `keywords` are those of a task, such as check_mode."""
        return self.play([{f"evenkeel.fleet.{module}": dict(arguments), **keywords}]).results[0]

    @property
    def _results(self) -> Path:
        return self.directory / "results.json"
