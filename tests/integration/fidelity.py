# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Random maintenances, rehearsed and then really run on the control plane; how far they agree.

What really happened is read with other eyes than the collection's where that is possible: from the
API server's audit log what was evicted, from the budgets' status, again and again, which of them
were violated. The real duration is the sum of what the modules took, as is the predicted one: what
Ansible itself takes between its tasks is not the fleet's.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from ansible_collections.evenkeel.fleet.plugins.module_utils.rehearsal.recorded import (
    Result,
    refused_of,
    unfinished_of,
)
from tests.control_plane.space import Space

from .playbooks import ENTER, REHEARSE, Playbooks, Ran

# Of a predicted duration: a quarter of the real one, or two seconds.
SHARE, SECONDS = 0.25, 2.0
# Of the evictions per owner, where several batches move what has moved before, or one: among nodes
# that it likes the same, the real scheduler draws.
PER_OWNER = 0.10

Document = dict[str, Any]


@dataclass(frozen=True)
class Workload:
    kind: str
    name: str
    replicas: int
    pod: Document
    budget: Document | None


@dataclass(frozen=True)
class Scenario:
    """drained: of `nodes`, the first ones. options: of maintenance_enter."""

    seed: int
    nodes: int
    drained: int
    workloads: tuple[Workload, ...]
    options: Document = field(default_factory=dict)

    @property
    def batches(self) -> bool:
        return "batch" in self.options


@dataclass(frozen=True)
class Outcome:
    """Of one run: evicted, left (refused or never passing) as pods; violated: budgets."""

    evicted: Counter[str]
    left: Counter[str]
    violated: frozenset[str]
    seconds: float


@dataclass(frozen=True)
class Comparison:
    scenario: Scenario
    rehearsed: Outcome
    real: Outcome

    @property
    def same_left(self) -> bool:
        return self._seen(self.rehearsed.left) == self._seen(self.real.left)

    @property
    def same_evicted(self) -> bool:
        """Where several batches are emptied, what was started meanwhile has names of its own."""
        if not self.scenario.batches:
            return self.rehearsed.evicted == self.real.evicted
        mine, theirs = owners(self.rehearsed.evicted), owners(self.real.evicted)
        return all(
            abs(mine[name] - theirs[name]) <= max(1, PER_OWNER * theirs[name])
            for name in mine | theirs
        )

    @property
    def same_violations(self) -> bool:
        return self.rehearsed.violated == self.real.violated

    @property
    def same_duration(self) -> bool:
        apart = abs(self.rehearsed.seconds - self.real.seconds)
        return apart <= max(SECONDS, SHARE * self.real.seconds)

    def differences(self) -> dict[str, tuple[Any, Any]]:
        """By what differs: what was rehearsed, and what was real."""
        return {
            name: (getattr(self.rehearsed, what), getattr(self.real, what))
            for name, what in (
                ("same_left", "left"),
                ("same_evicted", "evicted"),
                ("same_violations", "violated"),
                ("same_duration", "seconds"),
            )
            if not getattr(self, name)
        }

    def _seen(self, pods: Counter[str]) -> Counter[str]:
        return owners(pods) if self.scenario.batches else pods


def owners(pods: Counter[str]) -> Counter[str]:
    """namespace/w3-7d9f-x2x: of w3."""
    found: Counter[str] = Counter()
    for pod, count in pods.items():
        found[pod.partition("/")[2].partition("-")[0]] += count
    return found


# --- making --------------------------------------------------------------------------------


def random_scenario(seed: int) -> Scenario:
    """Two to four nodes of which some are drained, two to five workloads, and often a blocker."""
    draw = Random(seed)
    drained = draw.choice((1, 1, 2, 2, 3))
    nodes = drained + draw.choice((1, 2, 2, 3))
    workloads = tuple(_workload(draw, f"w{number}") for number in range(draw.randint(2, 5)))
    options: Document = {
        "force": draw.random() < 0.7,
        "delete_emptydir_data": draw.random() < 0.7,
        "wait_timeout": 40,
    }
    if drained > 1 and draw.random() < 0.4:
        options["batch"] = 1
    if draw.random() < 0.2:
        options["max_parallel"] = 2
    return Scenario(seed, nodes, drained, workloads, options)


def _workload(draw: Random, name: str) -> Workload:
    kind = draw.choice(
        ("deployment", "deployment", "deployment", "statefulset", "daemonset", "bare")
    )
    replicas = {"bare": 1, "daemonset": 1, "statefulset": draw.randint(1, 3)}.get(
        kind, draw.randint(1, 6)
    )
    pod: Document = {"cpu": "100m", "memory": "64Mi"}
    if draw.random() < 0.6:
        pod["start_seconds"] = draw.choice((1, 2, 4))
    if draw.random() < 0.6:
        pod["stop_seconds"] = draw.choice((1, 2, 3))
    if draw.random() < 0.1:
        pod["empty_dir"] = True
    # The next pod of a StatefulSet would wait for it.
    if draw.random() < 0.05 and kind == "deployment":
        pod["behaviour"] = "never-ready"
    return Workload(kind, name, replicas, pod, _budget(draw, kind, replicas))


def _budget(draw: Random, kind: str, replicas: int) -> Document | None:
    if kind in ("bare", "daemonset") or draw.random() < 0.3:
        return None
    choices: list[Document] = [
        {"max_unavailable": 1},
        {"max_unavailable": 1},
        {"max_unavailable": "30%"},
        {"min_available": max(0, replicas - 1)},
        {"min_available": "50%"},
        {"max_unavailable": 0},
    ]
    return draw.choice(choices)


def build(space: Space, scenario: Scenario) -> list[str]:
    """Makes it and returns the nodes to drain. The others are closed until all pods run."""
    nodes = space.nodes(scenario.nodes)
    for workload in scenario.workloads:
        if workload.kind == "bare":
            space.bare_pod(workload.name, node=nodes[0], **workload.pod)
        elif workload.kind == "daemonset":
            space.daemonset(workload.name, **workload.pod)
        else:
            getattr(space, workload.kind)(workload.name, workload.replicas, **workload.pod)
        if workload.budget is not None:
            space.budget(workload.name, **workload.budget)
    space.wait_running()
    return nodes[: scenario.drained]


# --- comparing -----------------------------------------------------------------------------


def compare(space: Space, scenario: Scenario, directory: Path) -> Comparison:
    nodes = build(space, scenario)
    books = Playbooks(directory, space.kubeconfig())
    options = {**scenario.options, "nodes": nodes}
    rehearse = {**options, "playbook": ENTER, "seeds": [1], "fail_on": "never"}
    rehearsed = books.run(REHEARSE, rehearse, as_json=True).good()
    assert space.writes() == []
    with _watched(space) as violated:
        real = books.run(ENTER, options, as_json=True)
    return Comparison(
        scenario, _rehearsed(space, rehearsed), _real(space, real, frozenset(violated))
    )


def _rehearsed(space: Space, ran: Ran) -> Outcome:
    found = ran.named("Rehearse")[-1].result["prediction"]
    ours = f"{space.namespace}/"
    return Outcome(
        Counter(
            one["workload"]
            for one in found["moved"]
            if one["how"] == "evicted" and one["workload"].startswith(ours)
        ),
        Counter(one["workload"] for one in (*found["refused"], *found["unfinished"])),
        frozenset(name for name in found["violated"] if name.startswith(ours)),
        found["duration"]["median"],
    )


def _real(space: Space, ran: Ran, violated: frozenset[str]) -> Outcome:
    posted = [one for one in space.writes() if one.subresource == "eviction" and one.status < 400]
    evicted = Counter(f"{one.namespace}/{one.name}" for one in posted)
    results = [Result(task.name, task.status, task.result) for task in ran.tasks]
    left = (*refused_of(results, evicted), *unfinished_of(results, evicted))
    return Outcome(
        evicted,
        Counter(one.workload for one in left),
        violated,
        sum(float(one.result.get("duration") or 0) for one in results),
    )


@contextmanager
def _watched(space: Space, seconds: float = 0.1) -> Iterator[set[str]]:
    """Budgets that had fewer healthy pods than they want while they had enough before."""
    found: set[str] = set()
    path = space.path("policy/v1", "poddisruptionbudgets")
    over = threading.Event()
    before = _short(space.api.list(path))
    api = space.plane.api()

    def watch() -> None:
        while not over.wait(seconds):
            found.update(_short(api.list(path)) - before)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()
        api.close()


def _short(budgets: list[Document]) -> set[str]:
    return {
        f"{one['metadata']['namespace']}/{one['metadata']['name']}"
        for one in budgets
        if one["status"].get("currentHealthy", 0) < one["status"].get("desiredHealthy", 0)
    }
