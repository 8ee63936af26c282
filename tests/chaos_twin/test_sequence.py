# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What sequence.py does is what the playbooks do: the same writes in the same order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.chaos.playing import Playing
from tests.chaos.scenario import OPTIONS, command_line, environment

from .forge import Forge
from .runs import Stage, a_stage

# Locks are renewed by the clock, and Events are numbered by it.
BY_THE_CLOCK = ("/leases/", "/events")


def writes(stage: Stage) -> list[str]:
    """Evictions in any order: pods of equal standing leave as the answers come."""
    found = [
        request
        for request in stage.scenario.recorder.requests
        if not request.startswith("GET ") and not any(part in request for part in BY_THE_CLOCK)
    ]
    others = [one for one in found if "/eviction" not in one]
    evictions = sorted(one for one in found if "/eviction" in one)
    return [*others, *(one.rpartition("/pods/")[2].partition("-")[0] for one in evictions)]


def played(stage: Stage, directory: Path, playbook: str, **more: str) -> None:
    path = directory / "kubeconfig"
    path.write_text(json.dumps(stage.scenario.twin.kubeconfig()))
    options = {"nodes": ",".join(stage.scenario.nodes), **more}
    run = Playing(command_line(playbook, options), environment(path), directory)
    assert run.wait() == 0, run.output


@pytest.mark.parametrize("cordoned", [False, True])
def test_enter_and_exit(forge: Forge, directory: Path, cordoned: bool) -> None:
    with a_stage(forge, directory, cordoned=cordoned) as stage:
        assert stage.end(stage.start("enter_and_exit")) == 0
        short = writes(stage)
    with a_stage(forge, directory, cordoned=cordoned) as stage:
        tasks = str(stage.hook.tasks)
        more = {**OPTIONS, "maintenance_tasks": tasks, "exit_after": "true"}
        played(stage, directory, "maintenance_enter", **more)
        assert writes(stage) == short
        assert [*stage.scenario.judge.wrong_after_exit(), *stage.seen()] == []


def test_enter_and_then_exit(forge: Forge, directory: Path) -> None:
    with a_stage(forge, directory, cordoned=False) as stage:
        for way in ("enter", "exit"):
            assert stage.end(stage.start(way)) == 0
        short = writes(stage)
    with a_stage(forge, directory, cordoned=False) as stage:
        more = {**OPTIONS, "maintenance_tasks": str(stage.hook.tasks)}
        played(stage, directory, "maintenance_enter", **more)
        played(stage, directory, "maintenance_exit")
        assert writes(stage) == short
