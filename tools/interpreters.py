# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Find the Python interpreters of this machine; none is hard-coded.

Looked at, in this order: EVENKEEL_PYTHON (a path), every directory of PATH, pyenv's versions,
uv's. Each candidate is asked who it is, so that a pyenv shim of a version that is not active, a
broken link or a virtual environment is never taken for an interpreter.
"""

from __future__ import annotations

import glob
import json
import os
import re
import subprocess
from dataclasses import dataclass
from typing import Iterator

NAME = re.compile(r"python3(\.\d+)?$")
PROBE = """
import importlib.util, json, os, sys
print(json.dumps({
    "version": list(sys.version_info[:3]),
    "final": sys.version_info.releaselevel == "final",
    "path": os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable),
    "ensurepip": importlib.util.find_spec("ensurepip") is not None,
    "usable": all(importlib.util.find_spec(name) for name in ("venv", "ssl")),
}))
"""


@dataclass(frozen=True)
class Interpreter:
    """A real interpreter (no shim, no virtual environment).

    ensurepip: whether `python -m venv` can install pip by itself; Debian leaves that out.
    """

    path: str
    version: tuple[int, int, int]
    ensurepip: bool

    @property
    def minor(self) -> tuple[int, int]:
        return self.version[:2]

    @property
    def name(self) -> str:
        return f"python{self.version[0]}.{self.version[1]}"

    def __str__(self) -> str:
        return "Python {}.{}.{} ({})".format(*self.version, self.path)


def find_interpreters(environ: dict[str, str] | None = None) -> list[Interpreter]:
    """All usable final interpreters, newest first; of two with one minor version the first found.

    An explicit EVENKEEL_PYTHON comes before all others of its minor version.
    """
    found: dict[tuple[int, int], Interpreter] = {}
    for path in _candidates(dict(os.environ) if environ is None else environ):
        interpreter = _probe(path)
        if interpreter is not None:
            found.setdefault(interpreter.minor, interpreter)
    return sorted(found.values(), key=lambda one: one.version, reverse=True)


def newest(
    interpreters: list[Interpreter], lowest: tuple[int, int], highest: tuple[int, int]
) -> Interpreter | None:
    """The newest one with lowest <= minor version <= highest."""
    for interpreter in interpreters:
        if lowest <= interpreter.minor <= highest:
            return interpreter
    return None


def _candidates(environ: dict[str, str]) -> Iterator[str]:
    seen: set[str] = set()
    explicit = environ.get("EVENKEEL_PYTHON")
    if explicit:
        yield explicit
    for directory in _directories(environ):
        for path in sorted(glob.glob(os.path.join(directory, "python3*"))):
            real = os.path.realpath(path)
            if NAME.match(os.path.basename(path)) and real not in seen:
                seen.add(real)
                yield path


def _directories(environ: dict[str, str]) -> list[str]:
    home = environ.get("HOME", os.path.expanduser("~"))
    pyenv = environ.get("PYENV_ROOT") or os.path.join(home, ".pyenv")
    uv = environ.get("UV_PYTHON_INSTALL_DIR") or os.path.join(home, ".local/share/uv/python")
    # A shim starts whatever version is active in the current directory: it is not an interpreter.
    on_path = [
        directory
        for directory in environ.get("PATH", "").split(os.pathsep)
        if directory and os.path.basename(directory) != "shims"
    ]
    installed = sorted(
        glob.glob(os.path.join(pyenv, "versions", "3.*", "bin"))
        + glob.glob(os.path.join(uv, "cpython-3.*", "bin")),
        key=_version_key,
        reverse=True,
    )
    return on_path + installed


def _version_key(path: str) -> list[int]:
    """Numbers in the path, so that 3.13.10 sorts after 3.13.9."""
    return [int(number) for number in re.findall(r"\d+", path)]


def _probe(path: str) -> Interpreter | None:
    try:
        answer = subprocess.run(
            [path, "-I", "-c", PROBE], capture_output=True, text=True, timeout=30, check=True
        )
        facts = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    if not (facts["final"] and facts["usable"]):
        return None
    return Interpreter(facts["path"], tuple(facts["version"]), facts["ensurepip"])
