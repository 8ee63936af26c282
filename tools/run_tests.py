# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""`make test`: run every stage that this machine allows, and say loudly what was skipped.

Stages that do not depend on each other run side by side, as many as there are cores. The output
of each goes to build/logs and is printed when it ends, so that two never mix. With
EVENKEEL_REQUIRE_ALL=1 a skipped stage fails the run; EVENKEEL_SKIP="NAME ..." leaves stages out.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable

from tools import tree
from tools.machine import Machine, Missing, not_left_out
from tools.setup import main as make_setup
from tools.setup import warn_of_installed_copies
from tools.stages import CATALOGUE, Stage

HEARTBEAT = 20  # seconds between two signs of life
TAIL = 25  # lines of a passed stage's output that are shown
LOGS = tree.CHECKOUT / "build" / "logs"


@dataclass(frozen=True)
class Outcome:
    """How a stage ended: state is "passed", "failed" or "skipped"; seconds is its duration."""

    stage: Stage
    state: str
    seconds: float = 0.0
    missing: Missing | None = None


@dataclass(frozen=True)
class Running:
    stage: Stage
    process: subprocess.Popen[bytes]
    log: Path
    since: float

    def seconds(self) -> float:
        return time.monotonic() - self.since


def main(arguments: list[str]) -> int:
    stages = _chosen(arguments)
    if make_setup() != 0:
        return 1
    runner = Runner(Machine(), cores=os.cpu_count() or 1)
    try:
        outcomes = runner.run(stages)
    except KeyboardInterrupt:
        runner.stop()
        print("interrupted", file=sys.stderr)
        return 130
    warn_of_installed_copies()
    return summarize(outcomes, require_all=os.environ.get("EVENKEEL_REQUIRE_ALL") == "1")


class Runner:
    """Starts stages as cores and dependencies allow, and collects how they end."""

    def __init__(self, machine: Machine, cores: int) -> None:
        self.machine = machine
        self.cores = cores
        self.running: list[Running] = []
        self.outcomes: dict[str, Outcome] = {}

    def run(self, stages: list[Stage]) -> list[Outcome]:
        waiting = list(stages)
        names = {stage.name for stage in stages}
        beat = time.monotonic()
        while waiting or self.running:
            for stage in list(waiting):
                if self._start(stage, names):
                    waiting.remove(stage)
            self._collect()
            if time.monotonic() - beat > HEARTBEAT and self.running:
                beat = time.monotonic()
                print(f"... {', '.join(map(_progress, self.running))}", flush=True)
            time.sleep(0.2)
        return [self.outcomes[stage.name] for stage in stages]

    def stop(self) -> None:
        """End what still runs, each with all the processes that it started."""
        for one in self.running:
            os.killpg(one.process.pid, signal.SIGTERM)
        for one in self.running:
            one.process.wait()

    def _start(self, stage: Stage, names: set[str]) -> bool:
        """Start or skip the stage; False = not yet."""
        needs = (not_left_out(stage.name), *stage.needs)
        missing = next(filter(None, (need(self.machine) for need in needs)), None)
        before = [name for name in stage.after if name in names]
        if missing is None and any(name not in self.outcomes for name in before):
            return False
        missing = missing or _held_up(self.outcomes[name] for name in before)
        if missing is not None:
            self.outcomes[stage.name] = Outcome(stage, "skipped", missing=missing)
            return True
        load = sum(one.stage.weight for one in self.running)
        if self.running and load + stage.weight > self.cores:
            return False
        self._launch(stage)
        return True

    def _launch(self, stage: Stage) -> None:
        LOGS.mkdir(parents=True, exist_ok=True)
        log = LOGS / f"{stage.name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "tools.stage", stage.name],
                cwd=tree.CHECKOUT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        print(f">>> {stage.name}: {stage.shows}", flush=True)
        self.running.append(Running(stage, process, log, time.monotonic()))

    def _collect(self) -> None:
        for one in [one for one in self.running if one.process.poll() is not None]:
            self.running.remove(one)
            state = "passed" if one.process.returncode == 0 else "failed"
            self.outcomes[one.stage.name] = Outcome(one.stage, state, one.seconds())
            _show(one, state)


def summarize(outcomes: list[Outcome], require_all: bool) -> int:
    """Print one line per stage, then the counts; returns the exit status."""
    print("\n" + "=" * 78)
    for outcome in outcomes:
        print(f"{outcome.state:8}{outcome.stage.name:20}{outcome.seconds:7.0f} s  {_why(outcome)}")
    count = {state: _count(outcomes, state) for state in ("passed", "failed", "skipped")}
    if count["skipped"]:
        print(
            f"\nNOT TESTED: {count['skipped']} of {len(outcomes)} stages were skipped, see above."
        )
        if require_all:
            print("EVENKEEL_REQUIRE_ALL=1: a skipped stage fails the run.")
    print(f"stages: {count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if count["failed"] or (require_all and count["skipped"]) else 0


def _chosen(arguments: list[str]) -> list[Stage]:
    parser = argparse.ArgumentParser(prog="python -m tools.run_tests", description=__doc__)
    parser.add_argument("--group", choices=sorted({stage.group for stage in CATALOGUE}))
    parser.add_argument("stage", nargs="*", help="stages to run; default: all")
    options = parser.parse_args(arguments)
    unknown = set(options.stage) - {stage.name for stage in CATALOGUE}
    if unknown:
        parser.error(f"no stage {', '.join(sorted(unknown))}; see tools/stages.py")
    return [
        stage
        for stage in CATALOGUE
        if options.group in (None, stage.group)
        and (not options.stage or stage.name in options.stage)
    ]


def _held_up(before: Iterable[Outcome]) -> Missing | None:
    """Why a stage cannot run after these."""
    for outcome in before:
        if outcome.missing is not None:
            return outcome.missing
        if outcome.state == "failed" and outcome.stage.name == "control-plane":
            return Missing("the control plane was not built", "see build/logs/control-plane.log")
    return None


def _progress(one: Running) -> str:
    lines = one.log.read_text(errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f"{one.stage.name} {one.seconds():.0f} s [{last[-60:]}]"


def _show(one: Running, state: str) -> None:
    lines = one.log.read_text(errors="replace").rstrip().split("\n")
    shown = lines if state == "failed" else lines[-TAIL:]
    left_out = len(lines) - len(shown)
    print(f"\n===== {one.stage.name}: {state} after {one.seconds():.0f} s =====")
    if left_out:
        print(f"({left_out} lines above these are in {one.log.relative_to(tree.CHECKOUT)})")
    print("\n".join(shown), end="\n\n", flush=True)


def _why(outcome: Outcome) -> str:
    if outcome.missing is not None:
        return str(outcome.missing)
    if outcome.state == "failed":
        return f"see build/logs/{outcome.stage.name}.log"
    return outcome.stage.shows


def _count(outcomes: list[Outcome], state: str) -> int:
    return sum(outcome.state == state for outcome in outcomes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
