# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the benchmarks of draining share: equal worlds on one control plane, and our side of it.

All worlds of a benchmark are made before the first is drained, so that nobody is measured while
another's pods are being made or taken away.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.cordon import (
    CORDONED,
    CordonOptions,
    cordon,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
)
from tests.control_plane import plane as planes
from tests.control_plane.build import programs
from tests.control_plane.plane import Plane
from tests.control_plane.space import Space, is_ready
from tests.integration.calling import cluster_of, run_of
from tests.integration.draining import drain

# Its import belongs to starting Python, not to draining.
import_module("kubernetes")

NODES, PODS_PER_NODE = 5, 20
PODS = NODES * PODS_PER_NODE
# Any drain that takes longer has failed.
LIMIT_SECONDS = 600.0


@dataclass(frozen=True)
class World:
    """`nodes` are to be emptied; as many others are there to take their pods."""

    space: Space
    nodes: tuple[str, ...]
    directory: Path

    def pods_left(self) -> list[str]:
        found = self.space.pods()
        return [
            pod["metadata"]["name"] for pod in found if pod["spec"].get("nodeName") in self.nodes
        ]


@dataclass(frozen=True)
class Pace:
    """How many seconds a pod takes to stop and to start; None is as soon as a kubelet sees it.

    grace_seconds: with 0 the API server itself removes the pod as it admits the eviction.
    """

    stop_seconds: float | None = None
    start_seconds: float | None = None
    grace_seconds: int = 30


@contextmanager
def equal_worlds(count: int, pace: Pace, *, deployments: int = PODS) -> Iterator[list[World]]:
    """Worlds of 100 pods on 5 nodes, of so many deployments under budgets of 30 %."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        plane = stack.enter_context(one_plane(directory))
        made = [
            _world(stack, plane, directory / f"world-{n}", pace, deployments) for n in range(count)
        ]
        yield made


@contextmanager
def one_plane(directory: Path) -> Iterator[Plane]:
    """That of EVENKEEL_CONTROL_PLANE, or one of its own: others' work would be measured too."""
    given = os.environ.get("EVENKEEL_CONTROL_PLANE")
    running = planes.find(Path(given).resolve()) if given else None
    if running is not None:
        yield running
        return
    running = planes.start(directory / "plane", programs(), stay=False)
    with running.hold():
        yield running
        planes.stop(running.state)


def _world(stack: ExitStack, plane: Plane, directory: Path, pace: Pace, deployments: int) -> World:
    directory.mkdir()
    space = Space(plane, directory)
    stack.callback(space.close)
    nodes = space.nodes(NODES)
    for number in range(deployments):
        # The k-th deployment starts on the k-th node in turn: 20 pods on each.
        for_all = {"node": nodes[number % NODES], **vars(pace)}
        name = f"web-{number:03}"
        space.deployment(name, PODS // deployments, **for_all)
        space.budget(name, max_unavailable="30%")
    space.wait(lambda: _ready(space), "all pods are Ready and counted", LIMIT_SECONDS)
    space.nodes(NODES)
    world = World(space, tuple(nodes), directory)
    counts = [len(space.pods(node=node)) for node in nodes]
    assert counts == [PODS_PER_NODE] * NODES, counts
    return world


def _ready(space: Space) -> bool:
    """Two lists instead of two requests for each of a hundred deployments."""
    pods = space.pods()
    budgets = space.api.list(space.path("policy/v1", "poddisruptionbudgets"))
    healthy = sum(budget["status"].get("currentHealthy", 0) for budget in budgets)
    return len(pods) == healthy == PODS and all(map(is_ready, pods))


def drain_with_ours(world: World, *, closing: bool, user: str = "ours") -> Report:
    """The functions behind our modules, called in this process: cordon, if `closing`, and evict."""
    with cluster_of(world.space, user) as cluster:
        if closing:
            options = CordonOptions(NodeSelection(nodes=world.nodes), CORDONED)
            assert not cordon(options, cluster, run_of(user)).failure
        report = drain(cluster, *world.nodes, holder=user, wait_timeout=LIMIT_SECONDS)
    assert not report.failure, report.msg
    assert len(report.done) == PODS, report.msg
    return report


def seconds(act: Callable[[], Any]) -> float:
    begin = time.monotonic()
    act()
    return time.monotonic() - begin


def emptied(world: World, act: Callable[[World], Any]) -> float:
    """Seconds that `act` takes; the world's nodes must be empty when it returns."""
    took = seconds(lambda: act(world))
    left = world.pods_left()
    assert left == [], left
    # What it set off, the replacements, must not fall into the next one's time.
    world.space.wait(lambda: _ready(world.space), "the pods are Ready elsewhere", LIMIT_SECONDS)
    return took


def result(name: str, ours: float, theirs: float, target: float) -> int:
    """Prints the line that `make bench` repeats; returns the exit status."""
    ratio = ours / theirs
    print(f"bench {name} value={ours:.2f} ratio={ratio:.2f} target={target:.2f}", flush=True)
    return 0 if ratio <= target else 1
