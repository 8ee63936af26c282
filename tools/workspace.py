# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How a stage starts its programs: in which environment, where, with which variables."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from tools import environments, sanity, tree
from tools.environments import Environment
from tools.machine import Machine


class Workspace:
    """Runs one stage's commands; each is printed first, so that it can be repeated by hand.

    All methods raise subprocess.CalledProcessError when a command fails.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def call(self, environment: Environment, *command: str) -> None:
        """In the checkout."""
        self._run(command, tree.CHECKOUT, self._variables(environment))

    def call_in_copy(
        self,
        environment: Environment,
        purpose: str,
        *command: str,
    ) -> None:
        """In a real path of the collection, with a home that tools may install things into."""
        copy = tree.copy_tree(purpose)
        ours = {
            "HOME": str(sanity.prepare_home(self._bin(environment))),
            "ANSIBLE_COLLECTIONS_PATH": str(copy.parents[2]),
        }
        self._run(command, copy, {**self._variables(environment), **ours})

    def _bin(self, environment: Environment) -> Path:
        return environments.prepare(environment, self.machine.interpreters, _say)

    def _variables(self, environment: Environment) -> dict[str, str]:
        """The user's environment, with our programs, interpreters and tree put first."""
        variables = dict(os.environ)
        links = sanity.link_interpreters(self.machine.interpreters)
        path = [str(self._bin(environment)), str(links), variables.get("PATH", os.defpath)]
        root = str(tree.link_tree())
        variables.update(
            PATH=os.pathsep.join(path),
            PYTHONPATH=root,
            MYPYPATH=root,
            ANSIBLE_COLLECTIONS_PATH=root,
            ANSIBLE_CONFIG=str(_empty_configuration()),
            ANSIBLE_HOME=str(sanity.home() / ".ansible"),
            ANSIBLE_NOCOLOR="1",
        )
        return variables

    def _run(self, command: tuple[str, ...], cwd: Path, variables: dict[str, str]) -> None:
        print(f"$ {shlex.join(command)}", flush=True)
        subprocess.run(command, cwd=cwd, env=variables, check=True, stdin=subprocess.DEVNULL)


def _empty_configuration() -> Path:
    """The user's ansible.cfg must not decide how the tests end."""
    path = sanity.home() / "ansible.cfg"
    if not path.exists():
        path.write_text("")
    return path


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
