# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Building: once, whoever asks, and nothing half done. A tiny module stands for a component."""

from __future__ import annotations

import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from tests.control_plane import build
from tests.control_plane.build import BuildError, Component, fingerprint

GO = shutil.which("go")
pytestmark = pytest.mark.skipif(GO is None, reason="no go on PATH: https://go.dev/dl")

TINY = Component("kubernetes", {"hello": "evenkeel.test/hello"})


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tiny module, and a cache of its own."""
    # Go's own cache stays where it is: it holds the compiled standard library.
    go_cache = subprocess.run(
        [str(GO), "env", "GOCACHE"], capture_output=True, text=True, check=True
    )
    monkeypatch.setenv("GOCACHE", go_cache.stdout.strip())
    monkeypatch.setattr(build, "MODULES", tmp_path / "modules")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    directory = tmp_path / "modules" / TINY.name
    directory.mkdir(parents=True)
    (directory / "go.mod").write_text("module evenkeel.test/hello\n\ngo 1.26.0\n")
    (directory / "go.sum").write_text("")
    (directory / "main.go").write_text('package main\n\nfunc main() { println("hello") }\n')
    return directory


def built() -> Path:
    return build._built(TINY, Path(str(GO)))


def test_two_builds_at_once_do_the_work_once(
    module: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    results: list[Path] = []
    threads = [threading.Thread(target=lambda: results.append(built())) for _unused in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    said = capfd.readouterr().err
    assert said.count("built kubernetes in") == 1
    assert results[0] == results[1]
    run = subprocess.run([str(results[0] / "hello")], capture_output=True, text=True, check=True)
    assert run.stderr == "hello\n"


def test_a_second_build_finds_the_first_by_its_inputs(
    module: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    first = built()
    capfd.readouterr()

    again = built()

    assert again == first
    assert capfd.readouterr().err == ""
    assert first.name == f"kubernetes-{fingerprint(TINY, build._go_version(Path(str(GO))))}"


def test_a_build_that_fails_shows_what_go_said_and_leaves_nothing(module: Path) -> None:
    (module / "main.go").write_text("package main\n\nfunc main() { undefined() }\n")

    with pytest.raises(BuildError, match=r"undefined: undefined") as caught:
        built()

    assert "make control-plane" in str(caught.value)
    left = [path.name for path in build.cache_directory().iterdir() if path.is_dir()]
    assert left == []
