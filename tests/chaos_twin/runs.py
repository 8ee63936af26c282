# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Runs against the twin of a scenario, and what is wrong when they are over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.faults import Fault
from tests.chaos.hook import Hook

from .forge import Forge, Run
from .world import Scenario, a_scenario

RECOVERIES = ("enter", "exit", "stop")


@dataclass
class Stage:
    """outputs: of the runs that are over."""

    scenario: Scenario
    hook: Hook
    forge: Forge
    outputs: list[str] = field(default_factory=list)

    def start(self, way: str) -> Run:
        """way: one of sequence.WAYS."""
        kubeconfig = self.scenario.twin.kubeconfig()
        return self.forge.start(way, self.scenario.nodes, self.hook.url, kubeconfig)

    def end(self, run: Run) -> int:
        status = run.wait()
        self.outputs.append(run.output)
        return status

    def recovered(self, recovery: str) -> list[str]:
        """By somebody else, at once; returns what is wrong then."""
        judge, wrong = self.scenario.judge, []
        if recovery == "stop":
            wrong += self._well("enter")
            wrong += judge.wrong_in_maintenance()
        wrong += self._well("enter_and_exit" if recovery == "enter" else "exit")
        return wrong + judge.wrong_after_exit()

    def seen(self) -> list[str]:
        """What went wrong while the runs went on."""
        return [
            *self.scenario.watched.faults,
            *self.scenario.recorder.twice,
            *(found for call in self.hook.calls for found in call),
        ]

    def told(self, wrong: list[str]) -> str:
        return "\n".join([*wrong, *self.scenario.recorder.requests[-5:], *self.outputs])

    def _well(self, way: str) -> list[str]:
        status = self.end(self.start(way))
        return [f"the recovery ended with status {status}"] if status else []


@contextmanager
def a_stage(
    forge: Forge, directory: Path, *, cordoned: bool, faults: tuple[Fault, ...] = (), seed: int = 0
) -> Iterator[Stage]:
    with a_scenario(cordoned=cordoned, faults=faults, seed=seed) as scenario:
        judge = scenario.judge
        hook = Hook(lambda _nodes: judge.not_ready_for_patching(), directory)
        try:
            yield Stage(scenario, hook, forge)
        finally:
            hook.close()
