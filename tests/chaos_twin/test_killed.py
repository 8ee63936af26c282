# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A run is killed at each of its requests, before it arrives and after it was carried out; the next
person makes all well again."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.messages import Request
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.treatment import (
    UNDISTURBED,
    Treatment,
)

from .forge import Forge
from .runs import RECOVERIES, a_stage
from .world import Recorder

# No run makes more requests: a test sees to it that this stays true.
MOST_REQUESTS = 120
KINDS = (signal.SIGKILL, signal.SIGTERM)


@dataclass(frozen=True)
class Case:
    """before: the request never arrives; otherwise it is carried out, and is never answered."""

    request: int
    kind: signal.Signals
    before: bool

    @property
    def recovery(self) -> str:
        return RECOVERIES[(self.request + self.before) % len(RECOVERIES)]

    @property
    def cordoned(self) -> bool:
        return self.request // len(RECOVERIES) % 2 == 0

    def __str__(self) -> str:
        moment = "before" if self.before else "after"
        return f"{self.request:03}-{self.kind.name}-{moment}-then-{self.recovery}"


# A signal that a run hears is the milder death: it has one of the two moments at each request.
CASES = [
    Case(request, kind, before)
    for request in range(1, MOST_REQUESTS + 1)
    for kind in KINDS
    for before in (True, False)
    if kind is signal.SIGKILL or before is (request % 2 == 0)
]


def test_every_request_of_a_run_is_among_the_cases(forge: Forge, directory: Path) -> None:
    with a_stage(forge, directory, cordoned=False) as stage:
        assert stage.end(stage.start("enter_and_exit")) == 0, stage.told([])
        assert [*stage.scenario.judge.wrong_after_exit(), *stage.seen()] == []
        assert 50 < len(stage.scenario.recorder.requests) <= MOST_REQUESTS
        assert stage.scenario.watched.restarts == 1


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_killed_run_is_made_good(forge: Forge, directory: Path, case: Case) -> None:
    with a_stage(forge, directory, cordoned=case.cordoned) as stage:
        trap = Trap(stage.scenario.recorder, case)
        stage.scenario.recorder.script = trap
        run = stage.start("enter_and_exit")
        trap.victim.put(run.pid)
        status = stage.end(run)
        if not trap.struck:
            assert status == 0, stage.told([])
            return
        wrong = [*stage.recovered(case.recovery), *stage.seen()]
        if case.kind is signal.SIGKILL and status != -signal.SIGKILL:
            wrong.append(f"the killed run ended with status {status}")
    if wrong:
        pytest.fail(stage.told(wrong))


@dataclass
class Trap:
    """treatment.Script: strikes at one request. victim: the PID, as soon as it is known."""

    recorder: Recorder
    case: Case
    victim: SimpleQueue[int] = field(default_factory=SimpleQueue)
    struck: bool = False

    def __call__(self, request: Request) -> Treatment:
        if len(self.recorder.requests) != self.case.request:
            return UNDISTURBED
        self.struck = True
        if self.case.before:
            return Treatment(before=self._strike, lost=True)
        return Treatment(after=self._strike, share=0.0)

    def _strike(self) -> None:
        os.kill(self.victim.get(timeout=10), self.case.kind)
