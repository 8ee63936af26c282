# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the demo shows: narration, commands, and the lines of Ansible that tell something."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.integration.playing import Stage

_BOLD, _DIM, _RED, _OFF = "\033[1m", "\033[2m", "\033[31m", "\033[0m"

# Columns of a line that is cut.
WIDTH = 110

_TASK = re.compile(r"^TASK \[(?:evenkeel\.fleet\.maintenance : )?(.*?)\] \*+$")
# Ansible's frame around what the tasks tell.
_FRAME = re.compile(
    r"^(PLAY |ok: |changed: |included: |skipping: |fatal: |Origin: |localhost +: |[{}]|$)"
    r"|^(test|admin)? ?\(?https?://|^\s+(\"changed\"|\"assertion\"|\"evaluated_to\")"
    r"|^\d+( |$)|^ +\^ column|^\s*\}$|^\w[\w-]* \(https://"
)


def say(text: str, style: str = "") -> None:
    print(f"{style}{text}{_OFF}" if style and sys.stdout.isatty() else text, flush=True)


def chapter(number: int, text: str) -> None:
    say(f"\n{number}. {text}", _BOLD)


def command(text: str) -> None:
    say(f"   $ {text}", _DIM)


def wrapped(line: str, indent: str) -> str:
    """Long lines go on below their own text, not below the frame."""
    return textwrap.fill(
        line,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + " " * 9,
        break_on_hyphens=False,
    )


def cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 3] + "..."


def show(lines: Iterable[str]) -> None:
    for line in lines:
        say(f"     {line}")


class Failed(Exception):
    """A playbook did not end as the demo says."""


class Terminal:
    """Runs the collection's playbooks as the user of a kubeconfig."""

    def __init__(self, directory: Path, kubeconfig: Path) -> None:
        self._stage = Stage(directory, kubeconfig)

    def play(self, name: str, *options: str, fails: bool = False) -> None:
        """Shows it while it runs. Raises Failed, with all the output, when it ends otherwise."""
        arguments = [part for option in options for part in ("-e", option)]
        words = " ".join(f"-e {option}" for option in options)
        command(f"ansible-playbook evenkeel.fleet.{name} {words}")
        program = Path(sys.executable).with_name("ansible-playbook")
        process = subprocess.Popen(
            [str(program), f"evenkeel.fleet.{name}", *arguments],
            env=self._stage.environment(
                {"PYTHONUNBUFFERED": "1", "ANSIBLE_NOCOWS": "1", "COLUMNS": "100"}
            ),
            cwd=self._stage.directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert process.stdout is not None
        output: list[str] = []
        for task, line in telling(_kept(iter(process.stdout.readline, ""), output)):
            if task:
                say(f"     {task}", _DIM)
            say(wrapped(line, " " * 7), _RED if line.startswith("error ") else "")
        if (process.wait() != 0) is not fails:
            raise Failed("".join(output))


def telling(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(task, line) of each line that says something; the task only before its first line."""
    task, inside_error = "", False
    for line in lines:
        heading = _TASK.match(line)
        if heading is not None:
            task, inside_error = heading.group(1), False
        elif line.startswith("[ERROR]: "):
            inside_error = True
            yield task, re.sub(r"^\[ERROR\]: Task failed: Action failed: ", "", line)
            task = ""
        elif line.strip().startswith('"msg": "'):
            # An error has said it before.
            if task:
                yield task, line.strip().removeprefix('"msg": "').removesuffix('"')
        elif _FRAME.search(line):
            inside_error = False
        elif inside_error or not line.startswith("["):
            yield task, line.strip()
            task = ""


def _kept(lines: Iterable[str], output: list[str]) -> Iterator[str]:
    for line in lines:
        output.append(line)
        yield line.rstrip("\n")
