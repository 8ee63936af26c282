# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The pytest fixtures: plane (one per run), space (one per test), own_plane."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import plane as planes
from .build import BuildError, programs
from .files import locked
from .plane import Plane
from .space import Space
from .twin_plane import twin_plane


@pytest.fixture(scope="session")
def plane(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Plane]:
    """The plane of this run: that of EVENKEEL_CONTROL_PLANE, or one that all workers share; with
    EVENKEEL_WORLD=twin, a twin of each worker's own.

    It ends when the last process that holds it is gone.
    """
    if on_twin():
        with twin_plane(tmp_path_factory.mktemp("twin") / "plane") as running:
            yield running
        return
    given = os.environ.get("EVENKEEL_CONTROL_PLANE")
    if given:
        running = planes.find(Path(given).resolve())
        if running is None:
            pytest.fail(f"EVENKEEL_CONTROL_PLANE names {given}, where no control plane runs")
        yield running
        return
    state = _directory_of_this_run(tmp_path_factory) / "plane"
    with locked(state.with_name(state.name + ".lock")):
        running = planes.find(state)
        try:
            lifeline = running.hold() if running else None
        except OSError:
            lifeline = None
        if running is None or lifeline is None:
            running = planes.start(state, _programs_or_skip(request), stay=False)
            lifeline = running.hold()
    with lifeline:
        yield running


@pytest.fixture
def space(plane: Plane, tmp_path: Path) -> Iterator[Space]:
    """Nodes, namespaces and users of this test only; taken away at its end.

    Another node stands by, or whether a test's nodes are the cluster's last ones would depend on
    which other tests run.
    """
    made = Space(plane, tmp_path)
    made.stand_by()
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def own_plane(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Plane]:
    """A whole plane for one test (6 s more): for what every node of the cluster decides."""
    if on_twin():
        with twin_plane(tmp_path / "plane") as running:
            yield running
        return
    running = planes.start(tmp_path / "plane", _programs_or_skip(request), stay=False)
    with running.hold():
        yield running
        planes.stop(running.state)


def on_twin() -> bool:
    return os.environ.get("EVENKEEL_WORLD") == "twin"


def _directory_of_this_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each worker of xdist has a directory in that of the run."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def _programs_or_skip(request: pytest.FixtureRequest) -> dict[str, Path]:
    """Skips where the components cannot be had; with EVENKEEL_REQUIRE_ALL=1 it fails."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    try:
        # Nobody should wait for a build before a silent terminal.
        with capture.global_and_fixture_disabled():
            return programs()
    except BuildError as error:
        if os.environ.get("EVENKEEL_REQUIRE_ALL") == "1":
            pytest.fail(str(error))
        pytest.skip(str(error))
