# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A run of enter and exit is killed at one of its requests; the next person makes all well again.

`make chaos` kills at every request, the normal run at a sample of them: see sampling.py.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.control_plane.plane import Plane
from tests.control_plane.space import Space

from .conftest import a_proxy, a_scenario
from .playing import Playing
from .proxy import UNDISTURBED, Exchange, Proxy, Script, Treatment
from .sampling import MOST_REQUESTS, Case
from .scenario import Scenario

# Seconds after its death in which what a run had begun may still arrive. Freeing its own locks is
# no act: an orphan may do that until it ends.
LAST_ACTS = 2.0
LOCKS = "/leases/fleet-node-"
# Seconds in which every process of a run has ended, on a busy machine too.
LAST_BREATH = 10.0


def test_every_request_of_a_run_is_among_the_cases(requests_of_a_run: int) -> None:
    assert 50 < requests_of_a_run <= MOST_REQUESTS


def test_a_killed_run_is_made_good(
    plane: Plane, space: Space, tmp_path: Path, requests_of_a_run: int, case: Case
) -> None:
    strikes_at = case.strikes_at(requests_of_a_run)
    if strikes_at > requests_of_a_run + 5:
        return  # Beyond the end of every run.
    with a_scenario(space, tmp_path, cordoned=case.cordoned) as scenario, a_proxy(plane) as proxy:
        killed = _killed_run(scenario, proxy, case, strikes_at)
        outputs = [killed.output]
        wrong = _recover(scenario, case.recovery, outputs)
        wrong += scenario.watcher.stop()
        wrong += _orphans(killed, proxy)
        wrong += [found for call in scenario.hook.calls for found in call]
    if wrong:
        told = "\n".join([*wrong, *map(str, proxy.exchanges[-5:]), *outputs])
        pytest.fail(f"killed at request {strikes_at}:\n{told}")


def _killed_run(scenario: Scenario, proxy: Proxy, case: Case, strikes_at: int) -> Playing:
    """Dead, or well ended where it made fewer requests than that."""
    holder: list[Playing] = []
    proxy.script = _trap(holder, case, strikes_at)
    run = scenario.enter_and_exit("first", proxy, case.kind)
    holder.append(run)
    status = run.wait()
    if run.killed_at is None:
        assert len(proxy.exchanges) < strikes_at, run.output
        assert status == 0, run.output
    else:
        assert status != 0, run.output
    return run


def _trap(holder: list[Playing], case: Case, strikes_at: int) -> Script:
    def strike() -> None:
        while not holder:
            time.sleep(0.01)
        holder[0].kill()

    def script(exchange: Exchange) -> Treatment:
        if exchange.number != strikes_at:
            return UNDISTURBED
        if case.moment == "before":
            return Treatment(before=strike, lost="request")
        return Treatment(after=strike, lost="answer")

    return script


def _recover(scenario: Scenario, recovery: str, outputs: list[str]) -> list[str]:
    """By another user, at once; returns what is wrong then."""
    wrong = []
    if recovery == "stop":
        wrong += _well(scenario.enter("second"), outputs)
        wrong += scenario.wrong_in_maintenance()
    if recovery == "enter":
        wrong += _well(scenario.enter_and_exit("second"), outputs)
    else:
        wrong += _well(scenario.exit("second"), outputs)
    return wrong + scenario.wrong_after_exit()


def _well(run: Playing, outputs: list[str]) -> list[str]:
    status = run.wait()
    outputs.append(run.output)
    return [f"the recovery ended with status {status}"] if status else []


def _orphans(killed: Playing, proxy: Proxy) -> list[str]:
    """What went on acting when the run was dead."""
    wrong = [f"alive after the kill: {process}" for process in killed.survivors(LAST_BREATH)]
    if killed.killed_at is not None:
        end = killed.killed_at + LAST_ACTS
        acts = [each for each in proxy.exchanges if each.writes and LOCKS not in each.path]
        late = [each for each in acts if each.at > end]
        wrong += [f"{each.at - end + LAST_ACTS:.1f} s after the kill: {each}" for each in late]
    return wrong
