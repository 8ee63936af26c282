# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The API fails at each request of a run, in one way after the other; the run still ends well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.faults import parse_faults

from .forge import Forge
from .runs import a_stage
from .test_killed import MOST_REQUESTS

READS_AND_WRITES = ["get", "list", "create", "update", "patch", "delete"]
TROUBLES: tuple[dict[str, Any], ...] = (
    {"fault": "status", "code": 429, "retry_after": 1},
    {"fault": "status", "code": 500},
    {"fault": "status", "code": 503},
    {"fault": "reset", "moment": "before"},
    {"fault": "reset", "moment": "after"},
    {"fault": "latency", "seconds": 2},
    {"fault": "stall", "seconds": 2},
    {"fault": "truncate", "share": 0.5},
)
WATCH_TROUBLES: tuple[dict[str, Any], ...] = (
    {"fault": "watch_reset", "events": 0},
    {"fault": "watch_reset", "events": 2},
    {"fault": "watch_expired", "events": 0},
    {"fault": "watch_expired", "events": 2},
)
WATCHES = 8
# One request in eight suffers, and one watch in two.
WEATHER = [
    {**trouble, "verb": READS_AND_WRITES, "probability": 1 / 8 / len(TROUBLES)}
    for trouble in TROUBLES
] + [{**trouble, "probability": 1 / 2 / len(WATCH_TROUBLES)} for trouble in WATCH_TROUBLES]

AT_EACH = [
    {**TROUBLES[number % len(TROUBLES)], "verb": READS_AND_WRITES, "nth": number, "times": 1}
    for number in range(1, MOST_REQUESTS + 1)
] + [
    {**trouble, "nth": number, "times": 1}
    for number in range(1, WATCHES + 1)
    for trouble in WATCH_TROUBLES
]


def name(script: dict[str, Any]) -> str:
    more = "-".join(str(value) for key, value in script.items() if key not in ("verb", "times"))
    return f"{script['nth']:03}-{more}"


@pytest.mark.parametrize("script", AT_EACH, ids=name)
def test_one_failure_at_any_request_changes_nothing_in_the_end(
    forge: Forge, directory: Path, script: dict[str, Any]
) -> None:
    assert wrong_under(forge, directory, [script], seed=script["nth"]) == ""


@pytest.mark.parametrize("seed", range(10))
def test_a_run_ends_well_in_bad_weather(forge: Forge, directory: Path, seed: int) -> None:
    assert wrong_under(forge, directory, WEATHER, seed=seed) == ""


def wrong_under(forge: Forge, directory: Path, script: list[dict[str, Any]], *, seed: int) -> str:
    faults = parse_faults(script)
    with a_stage(forge, directory, cordoned=seed % 2 == 0, faults=faults, seed=seed) as stage:
        status = stage.end(stage.start("enter_and_exit"))
        wrong = [f"it ended with status {status}"] if status else []
        wrong += [*stage.scenario.judge.wrong_after_exit(), *stage.seen()]
        if len(stage.hook.calls) != 1:
            wrong.append(f"the hook ran {len(stage.hook.calls)} times")
        return stage.told(wrong) if wrong else ""
