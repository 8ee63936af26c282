# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The function behind the module rehearsal: one twin and one inner run for each seed."""

from __future__ import annotations

import functools
import json
import shutil
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Callable, Iterator, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Progress, Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.model import journal
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import FleetError
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.prediction import (
    Rehearsal,
    predict,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.prediction_text import (
    document,
    span,
    table,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.rehearsal.inner_run import (
    InnerRun,
    collections_root,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.rehearsal.options import (
    Hook,
    RehearsalOptions,
    check,
    hooks_of,
    playbook_of,
    variables_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.rehearsal.recorded import (
    Result,
    problem_of,
    refused_of,
    unfinished_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin import load, snapshot
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.asking import Asking
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.build import twin_loaded, twin_of
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.process import (
    last_words,
    start,
    stop,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import Made, parse_spec
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings, Twin

Make = Callable[[Settings], Twin]

# Seconds of real time between two looks at the inner run.
_LOOK = 0.05
# Seconds of the twin's time: in which what a spec tells of comes up, and in which what moved last
# may find its node.
_RUN_UP, _AFTER = 3600.0, 60.0
# Seconds of real time after which a twin that nobody asks any more ends: whoever rehearsed is gone.
_LIFETIME = 120.0


def rehearse(options: RehearsalOptions, cluster: Optional[Cluster], run: Run) -> Report:
    """cluster: the live one, of which nothing but reads is asked; None where none is needed.

    Raises InvalidOption, FleetError (not on the controller), Interrupted.
    """
    check(options)
    collections_root()
    make, run_up = _maker(options, cluster, run)
    rehearsals = []
    for number, seed in enumerate(options.seeds, 1):
        title = f"rehearsal {number} of {len(options.seeds)}"
        with_room = tempfile.mkdtemp(prefix="evenkeel-rehearsal-")
        try:
            once = _Once(options, Path(with_room), run, title)
            rehearsals.append(
                once.rehearsed(make, Settings(time.time(), True, seed, run_up=run_up))
            )
        finally:
            shutil.rmtree(with_room, ignore_errors=True)
    return _report(options, rehearsals)


def _maker(options: RehearsalOptions, cluster: Optional[Cluster], run: Run) -> tuple[Make, float]:
    """How a twin is made, and the run-up that it needs."""
    if options.spec is not None:
        return functools.partial(twin_of, parse_spec(options.spec), pace=options.pace), _RUN_UP
    objects = _objects(options, cluster)
    pods = sum(one.resource == "pods" for one in objects)
    run.progress(Progress("", f"a twin of {pods} pods is made", urgent=True))
    return functools.partial(twin_loaded, objects, pace=options.pace), 0.0


def _objects(options: RehearsalOptions, cluster: Optional[Cluster]) -> tuple[Made, ...]:
    if options.snapshot or cluster is None:
        return snapshot.read(options.snapshot)
    return load.live(cluster)


class _Once:
    """One rehearsal, with one seed, in a directory of its own."""

    def __init__(self, options: RehearsalOptions, room: Path, run: Run, title: str) -> None:
        self._options = options
        self._room = room
        self._run = run
        self._title = title
        self._place = str(room / "twin")

    def rehearsed(self, make: Make, settings: Settings) -> Rehearsal:
        try:
            started = start(
                make, settings, self._place, _LIFETIME, interruption=self._run.interruption
            )
            with open(started.kubeconfig, encoding="utf-8") as file:
                asking = Asking(json.load(file))
            results = self._play(started.kubeconfig)
            ended, _entries = asking.journal()
            asking.let_pass(_AFTER)
            return _rehearsal(settings.seed, started.time, ended, asking, results)
        finally:
            stop(self._place)

    def _play(self, kubeconfig: str) -> list[Result]:
        directory = self._room / "inner"
        directory.mkdir()
        inner = InnerRun(directory, kubeconfig)
        files = inner.hook_files(hooks_of(self._options))
        inner.start(playbook_of(self._options), variables_of(self._options, files, kubeconfig))
        try:
            results = list(self._results(inner))
        finally:
            inner.stop()
        if not inner.succeeded and not problem_of(results):
            raise FleetError(f"The rehearsed run ended without a result:\n{inner.last_words()}")
        return results

    def _results(self, inner: InnerRun) -> Iterator[Result]:
        over = False
        while not over:
            self._run.check()
            self._check_twin()
            over = inner.over
            for one in inner.news():
                if "begins" in one:
                    self._tell(one["begins"])
                else:
                    yield Result(**one)
            if not over:
                time.sleep(_LOOK)

    def _check_twin(self) -> None:
        fault = last_words(self._place)
        if fault:
            raise RuntimeError(f"the twin ended:\n{fault}")

    def _tell(self, task: str) -> None:
        self._run.progress(Progress("", f"{self._title}: {task.rpartition(' : ')[2]}"))


def _rehearsal(
    seed: int, started: float, ended: float, asking: Asking, results: Sequence[Result]
) -> Rehearsal:
    _now, entries = asking.journal()
    left = {one.subject for one in entries if one.event in journal.LEAVING and one.at <= ended}
    return Rehearsal(
        seed,
        started,
        ended,
        problem_of(results),
        entries,
        refused_of(results, left),
        unfinished_of(results, left),
    )


def _report(options: RehearsalOptions, rehearsals: Sequence[Rehearsal]) -> Report:
    prediction = predict(rehearsals)
    hooks = hooks_of(options)
    moved = len(prediction.moved)
    takes = span(prediction.duration.median)
    outcome = "would succeed" if prediction.succeeds else "would fail"
    fails = not prediction.succeeds and options.fail_on == "failure"
    extra: dict[str, Any] = {
        "prediction": document(prediction),
        "hooks": [asdict(hook) for hook in hooks],
        "lines": [*table(prediction), *_not_counted(hooks)],
    }
    return Report(
        msg=f"{playbook_of(options)} {outcome}: {moved} pods moved in {takes}.",
        failure="would_fail" if fails else "",
        extra=extra,
    )


def _not_counted(hooks: Sequence[Hook]) -> Iterator[str]:
    names = [hook.name for hook in hooks if not hook.given]
    if names:
        yield f"{'not counted':<13} {', '.join(names)} (say how long with hook_durations)"
