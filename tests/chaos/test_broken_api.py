# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The API server answers with errors, breaks off, stalls and forgets; the run still ends well."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control_plane.plane import Plane
from tests.control_plane.space import Space

from .conftest import a_proxy, a_scenario
from .weather import Weather


def test_a_run_ends_well_in_bad_weather(
    plane: Plane, space: Space, tmp_path: Path, weather_seed: int
) -> None:
    weather = Weather(weather_seed)
    cordoned = weather_seed % 2 == 0
    with a_scenario(space, tmp_path, cordoned=cordoned) as scenario, a_proxy(plane) as proxy:
        proxy.script = weather
        run = scenario.enter_and_exit("first", proxy)
        status = run.wait()
        wrong = [f"it ended with status {status}"] if status else []
        wrong += scenario.wrong_after_exit()
        wrong += scenario.watcher.stop()
        wrong += [found for call in scenario.hook.calls for found in call]
        if len(scenario.hook.calls) != 1:
            wrong.append(f"the hook ran {len(scenario.hook.calls)} times")
    if wrong:
        pytest.fail("\n".join([*wrong, str(weather), *map(str, proxy.exchanges), run.output]))
