# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which nodes a pod may run on: our rules beside the real kube-scheduler, over random worlds.

The scheduler tells all its verdicts on a pod at once: a filter extender is given the nodes that
passed every filter in the tree. So one attempt of one pod is compared over all nodes, and then the
extender lets no node pass, so that the pod stays where it is. That this is the same as binding is
shown for some pairs of each world, which are pinned by the extender and really bound or not: by a
nodeName or an affinity the pod would be another pod than the one in question.

Nothing but etcd, the API server and the scheduler runs (see scheduler_lab.py). The scheduler's view
of objects that were just made lags by moments, so a difference counts when it is there again half a
second later. EVENKEEL_SEED=NUMBER repeats a run. A difference becomes a unit test of its rule.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    parse_scheduling,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.verdict import (
    FITS,
    Verdict,
)
from tests.control_plane import build
from tests.control_plane.scheduler_lab import SchedulerLab

from .scheduler_stage import Stage, prepare
from .scheduler_worlds import ENDING, FINISHED, random_world

Document = dict[str, Any]

SEED = int(os.environ.get("EVENKEEL_SEED") or random.randrange(10**6))
WORLDS = int(os.environ.get("EVENKEEL_SCHEDULER_WORLDS") or 4)
NODES, RUNNING, CANDIDATES, BOUND = 12, 24, 24, 6
RETRIES, SETTLE_SECONDS = 3, 0.5


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SchedulerLab]:
    try:
        programs = build.programs()
    except build.BuildError as error:
        if os.environ.get("EVENKEEL_REQUIRE_ALL") == "1":
            pytest.fail(str(error))
        pytest.skip(str(error))
    running = SchedulerLab(tmp_path_factory.mktemp("lab") / "state", programs)
    try:
        prepare(running)
        yield running
    finally:
        running.close()


def test_every_verdict_is_the_schedulers(lab: SchedulerLab) -> None:
    draw = random.Random(SEED)
    compared, decided = 0, Counter[str]()
    differences: list[str] = []
    for number in range(WORLDS):
        world = random_world(draw, NODES, RUNNING, CANDIDATES)
        stage = Stage(lab, world)
        time.sleep(SETTLE_SECONDS)
        differences += _differences(stage, world.candidates, decided)
        _move(stage, draw)
        differences += _differences(stage, world.candidates, decided)
        compared += 2 * NODES * CANDIDATES
        assert not differences, f"EVENKEEL_SEED={SEED}, world {number}:\n" + "\n".join(differences)
    print(f"EVENKEEL_SEED={SEED}: {compared} pairs agree; decided by {dict(decided)}")
    assert compared >= 2000


def _differences(stage: Stage, pods: list[Document], decided: Counter[str]) -> list[str]:
    """What the scheduler and our rules still see differently after some moments."""
    open_questions, found = list(pods), list[str]()
    for _attempt in range(RETRIES):
        found, again = [], []
        for pod, (stored, passed) in zip(open_questions, stage.ask(open_questions)):
            words = _compare(stage, stored, passed, decided)
            if words:
                found.append(words)
                again.append(pod)
        open_questions = again
        if not again:
            return []
        time.sleep(SETTLE_SECONDS)
    return found


def _compare(stage: Stage, stored: Document, passed: frozenset[str], decided: Counter[str]) -> str:
    """Both ways of asking our rules must agree with the scheduler, and so with each other."""
    state = stage.state
    pod = state.pod_class(parse_scheduling(stored))
    verdicts = {node.name: state.explain(pod, node.name) for node in state.nodes.nodes}
    decided.update(_decisive(verdict) for verdict in verdicts.values())
    explained = {name for name, verdict in verdicts.items() if verdict.outcome == FITS}
    eligible = set(state.names(state.eligible(pod)))
    if eligible == explained == passed:
        return ""
    odd = sorted(eligible ^ passed | explained ^ passed)
    lines = [f"pod {stored['metadata']['name']}: {stored['spec']} {stored['metadata']['labels']}"]
    for name in odd:
        lines.append(
            f"  {name}: scheduler {name in passed}, eligible {name in eligible},"
            f" explained {verdicts[name]}; {state.nodes.nodes[state.nodes.index[name]]}"
        )
    return "\n".join(lines)


def _decisive(verdict: Verdict) -> str:
    """The one rule that decides; where several fail, none of them is put to the test."""
    if len(verdict.rules) > 1:
        return "several rules"
    return verdict.rules[0] if verdict.rules else FITS


def _move(stage: Stage, draw: random.Random) -> None:
    """Some pods end, and some are really bound: to nodes that fit and to nodes that do not."""
    for pod in draw.sample(stage.world.running[ENDING + FINISHED :], 4):
        stage.remove(pod)
    time.sleep(SETTLE_SECONDS)
    movable = [pod for pod in stage.world.candidates if not pod["spec"].get("volumes")]
    names = [node.name for node in stage.state.nodes.nodes]
    for pod in draw.sample(movable, BOUND):
        judged = stage.state.pod_class(parse_scheduling(pod))
        fitting = stage.state.names(stage.state.eligible(judged))
        node = draw.choice(fitting or names) if draw.random() < 0.7 else draw.choice(names)
        assert stage.bind(pod, node) == (node in fitting), f"EVENKEEL_SEED={SEED}: {pod} on {node}"
