# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which of a machine's programs are taken for interpreters. Each is a script that answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.environments import CORE_219, DEV, PYTHON_39, Environment
from tools.interpreters import Interpreter, find_interpreters, newest


def _python(
    directory: Path, name: str, version: str, final: bool = True, usable: bool = True
) -> Path:
    """A program that answers the probe as an interpreter of that version would."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    facts = {
        "version": [int(part) for part in version.split(".")],
        "final": final,
        "path": str(path),
        "ensurepip": True,
        "usable": usable,
    }
    path.write_text(f"#!/bin/sh\ncat <<'ANSWER'\n{json.dumps(facts)}\nANSWER\n")
    path.chmod(0o755)
    return path


def _found(tmp_path: Path, **environ: str) -> list[str]:
    environment = {"HOME": str(tmp_path), "PATH": str(tmp_path / "bin"), **environ}
    return [str(Path(one.path).relative_to(tmp_path)) for one in find_interpreters(environment)]


def test_the_newest_comes_first_wherever_it_lies(tmp_path: Path) -> None:
    _python(tmp_path / "bin", "python3", "3.11.2")
    _python(tmp_path / ".pyenv/versions/3.9.18/bin", "python3.9", "3.9.18")
    _python(tmp_path / ".pyenv/versions/3.13.0/bin", "python3.13", "3.13.0")
    _python(tmp_path / ".local/share/uv/python/cpython-3.14.1-linux/bin", "python3.14", "3.14.1")

    assert _found(tmp_path) == [
        ".local/share/uv/python/cpython-3.14.1-linux/bin/python3.14",
        ".pyenv/versions/3.13.0/bin/python3.13",
        "bin/python3",
        ".pyenv/versions/3.9.18/bin/python3.9",
    ]


def test_of_two_patch_releases_under_pyenv_the_newer_is_taken(tmp_path: Path) -> None:
    _python(tmp_path / ".pyenv/versions/3.13.9/bin", "python3.13", "3.13.9")
    _python(tmp_path / ".pyenv/versions/3.13.10/bin", "python3.13", "3.13.10")

    assert _found(tmp_path) == [".pyenv/versions/3.13.10/bin/python3.13"]


def test_an_explicit_interpreter_comes_before_those_on_path(tmp_path: Path) -> None:
    _python(tmp_path / "bin", "python3.13", "3.13.0")
    chosen = _python(tmp_path / "mine", "python3.13", "3.13.5")

    assert _found(tmp_path, EVENKEEL_PYTHON=str(chosen)) == ["mine/python3.13"]


@pytest.mark.parametrize(
    ("name", "final", "usable"),
    [
        pytest.param("python3.14", False, True, id="a-pre-release"),
        pytest.param("python3.14", True, False, id="an-interpreter-without-the-venv-module"),
        pytest.param("python3.14-config", True, True, id="another-program-of-that-prefix"),
    ],
)
def test_what_carries_no_environment_is_left_out(
    tmp_path: Path, name: str, final: bool, usable: bool
) -> None:
    _python(tmp_path / "bin", name, "3.14.0", final, usable)

    assert _found(tmp_path) == []


def test_a_shim_that_has_no_version_to_start_is_left_out(tmp_path: Path) -> None:
    shim = _python(tmp_path / "bin", "python3.12", "3.12.1")
    shim.write_text("#!/bin/sh\necho 'pyenv: python3.12: command not found' >&2\nexit 127\n")

    assert _found(tmp_path) == []


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        pytest.param(DEV, (3, 14), id="the-newest-core-takes-the-newest-python-that-it-knows"),
        pytest.param(CORE_219, (3, 11), id="core-2.19-is-tested-on-3.11"),
        pytest.param(PYTHON_39, (3, 9), id="managed-nodes-are-tested-on-3.9"),
    ],
)
def test_each_environment_takes_an_interpreter_that_carries_it(
    environment: Environment, expected: tuple[int, int]
) -> None:
    found = [Interpreter("p", (3, minor, 0), True) for minor in (15, 14, 13, 12, 11, 10, 9)]

    interpreter = environment.interpreter(found)

    assert interpreter is not None
    assert interpreter.minor == expected


def test_no_interpreter_is_taken_when_all_are_too_old() -> None:
    assert newest([Interpreter("p", (3, 10, 0), True)], (3, 11), (3, 14)) is None
