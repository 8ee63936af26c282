# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which programs are used, what their cache depends on, and what is said where none can be had."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from tests.control_plane import build
from tests.control_plane.build import COMPONENTS, BuildError, fingerprint, programs, progress
from tests.control_plane.components import ORDER

ETCD, KWOK, KUBERNETES = COMPONENTS


def test_every_component_has_one_place_that_builds_it() -> None:
    built = [name for component in COMPONENTS for name in component.packages]

    assert sorted(built) == sorted(ORDER)


def test_the_server_is_told_the_version_that_is_pinned() -> None:
    flags = KUBERNETES.linker_flags()

    assert "version.gitVersion=v1.37.2" in flags
    assert "version.gitMajor=1" in flags
    assert "version.gitMinor=37" in flags


def test_a_directory_of_all_programs_is_used_as_it_is_and_needs_no_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ORDER:
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    monkeypatch.setenv("PATH", "")

    assert programs() == {name: tmp_path / name for name in ORDER}


def test_without_go_and_without_pypi_the_message_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("PIP_FIND_LINKS", "PIP_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")

    with pytest.raises(BuildError) as caught:
        programs()

    message = str(caught.value)
    assert "built with Go 1.26 or later" in message
    assert message.endswith("and then run:\n  make control-plane")
    assert list((tmp_path / "evenkeel-fleet" / "control-plane").glob(".go-*")) == []


def test_the_cache_of_a_component_depends_on_its_pins_its_flags_and_on_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "MODULES", tmp_path)
    module = tmp_path / "etcd"
    module.mkdir()
    (module / "go.mod").write_text("module etcd\n")
    (module / "go.sum").write_text("")
    before = fingerprint(ETCD, "go1.26.8")

    (module / "go.sum").write_text("changed\n")

    seen = {
        before,
        fingerprint(ETCD, "go1.26.8"),
        fingerprint(ETCD, "go1.26.9"),
        fingerprint(dataclasses.replace(ETCD, linker="-X a=b"), "go1.26.9"),
    }
    assert len(seen) == 4
    assert before == before.lower()
    assert len(before) == 16


@pytest.mark.parametrize(
    ("lines", "seconds", "expected"),
    [
        pytest.param([], 10.2, "0 modules downloaded, 0:10 min", id="nothing-yet"),
        pytest.param(
            ["go: downloading k8s.io/api v0.37.2", "go: downloading k8s.io/kms v0.37.2"],
            20,
            "2 modules downloaded, 0:20 min",
            id="downloading",
        ),
        pytest.param(
            ["go: downloading k8s.io/api v0.37.2", "internal/cpu", "k8s.io/api/core/v1"],
            130.9,
            "2 of 2455 packages, 2:10 min",
            id="compiling",
        ),
    ],
)
def test_progress_counts_packages_and_time(lines: list[str], seconds: float, expected: str) -> None:
    assert progress(lines, 2455, seconds) == expected


def test_a_build_that_a_signal_ended_is_not_blamed_on_the_network():
    sentence = build.build_failure(ETCD, ["go: downloading x"], -9)
    assert sentence.startswith(f"building {ETCD.name} was ended by SIGKILL.")
    assert "make control-plane" in sentence
