# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Fixtures of the chaos tests. Every test has a world of its own on the control plane."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.control_plane.files import locked
from tests.control_plane.fixtures import plane, space
from tests.control_plane.plane import Plane
from tests.control_plane.space import Space

from .proxy import Proxy
from .sampling import cases, seed_of_this_run, takes_all, weathers
from .scenario import Scenario

__all__ = ["plane", "space"]

# Here, before workers start: they inherit it.
SEED = seed_of_this_run()
os.environ["EVENKEEL_SEED"] = str(SEED)


def pytest_report_header() -> str:
    return f"chaos: EVENKEEL_SEED={SEED}" + (" EVENKEEL_CHAOS=all" if takes_all() else "")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        drawn = cases(SEED, every=takes_all())
        names = [f"{number:03}-{case}" for number, case in enumerate(drawn, 1)]
        metafunc.parametrize("case", drawn, ids=names)
    if "weather_seed" in metafunc.fixturenames:
        metafunc.parametrize("weather_seed", weathers(SEED, every=takes_all()))


@contextmanager
def a_scenario(space: Space, directory: Path, *, cordoned: bool) -> Iterator[Scenario]:
    scenario = Scenario.build(space, directory, cordoned=cordoned)
    try:
        yield scenario
    finally:
        scenario.close()


@contextmanager
def a_proxy(plane: Plane) -> Iterator[Proxy]:
    proxy = Proxy(plane)
    try:
        yield proxy
    finally:
        proxy.close()


@pytest.fixture(scope="session")
def requests_of_a_run(plane: Plane, tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many requests a run makes that nobody disturbs; the first worker counts for all."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    note = shared / "requests-of-a-run.json"
    with locked(note.with_suffix(".lock")):
        if not note.exists():
            note.write_text(json.dumps(_count(plane, tmp_path_factory.mktemp("count"))))
    return int(json.loads(note.read_text()))


def _count(plane: Plane, directory: Path) -> int:
    space = Space(plane, directory)
    try:
        with a_scenario(space, directory, cordoned=False) as scenario, a_proxy(plane) as proxy:
            run = scenario.enter_and_exit("first", proxy)
            assert run.wait() == 0, run.output
            assert scenario.wrong_after_exit() == []
            assert scenario.watcher.stop() == []
            return len(proxy.exchanges)
    finally:
        space.close()
