# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How many evictions a second a drain makes on a twin, beside the same drain on the control plane.

100 pods of ten deployments on 5 nodes, under budgets of maxUnavailable 30 %, so that pods leave in
turns; they take 10 s to stop and 2 s to start. The twin is a copy of that world in virtual time, in
a process of its own, and is spoken to through HTTPS. Both drains are the functions behind our
modules. The value is of the twin; the ratio is to what the control plane makes.
"""

from __future__ import annotations

import sys
import time
from functools import partial

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.registry import find
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.cordon import (
    CORDONED,
    CordonOptions,
    cordon,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.evict import evict
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.options import (
    EvictOptions,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin import load, process
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.build import twin_loaded
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings
from tests.integration.calling import cluster_of

from .worlds import (
    LIMIT_SECONDS,
    PODS,
    Pace,
    World,
    drain_with_ours,
    emptied,
    equal_worlds,
    seconds,
)

DEPLOYMENTS = 10
TARGET = 15.0


def main() -> int:
    with equal_worlds(1, Pace(stop_seconds=10, start_seconds=2), deployments=DEPLOYMENTS) as made:
        (world,) = made
        on_twin = PODS / seconds_on_a_twin(world)
        print(f"twin:          {on_twin:.1f} evictions a second", flush=True)
        on_plane = PODS / emptied(world, lambda one: drain_with_ours(one, closing=True))
        print(f"control plane: {on_plane:.1f} evictions a second", flush=True)
    ratio = on_twin / on_plane
    print(f"bench twin_evictions value={on_twin:.1f} ratio={ratio:.1f} target={TARGET:.0f}")
    return 0 if ratio >= TARGET else 1


def seconds_on_a_twin(world: World) -> float:
    with cluster_of(world.space, "reader") as cluster:
        make = partial(twin_loaded, load.live(cluster))
    directory = str(world.directory / "twin")
    started = process.start(make, Settings(time.time(), virtual=True), directory)
    try:
        return seconds(lambda: drain(world, started.kubeconfig))
    finally:
        process.stop(directory)


def drain(world: World, kubeconfig: str) -> None:
    destination = find(Connection(kubeconfig=kubeconfig), environment={})
    cluster, run = destination.cluster(), Run("ours", clock=destination.clock)
    nodes = NodeSelection(nodes=world.nodes)
    try:
        assert not cordon(CordonOptions(nodes, CORDONED), cluster, run).failure
        report = evict(EvictOptions(nodes, wait_timeout=LIMIT_SECONDS), cluster, run)
        assert not report.failure, report.msg
        assert len(report.done) == PODS, report.msg
    finally:
        cluster.close()
        destination.clock.close()


if __name__ == "__main__":
    sys.exit(main())
