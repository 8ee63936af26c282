# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How much all our care costs: beside a bare loop that posts evictions for the same pods.

100 pods of 100 deployments on 5 cordoned nodes, under budgets of maxUnavailable 30 %; they stop at
once: their grace period is 0, so that the API server removes each as it admits its eviction. The
floor is 8 threads that know the pods' names, post an eviction for each, and post again after a 429;
it ends with the last answer. We read the cluster, judge, lock the nodes, watch, and end when every
pod is known to be gone and the locks are free. They take turns on one control plane, and the best
of five counts of each: on a shared machine the least disturbed run is the truest.
"""

from __future__ import annotations

import queue
import sys
import threading
import time

from tests.control_plane.api import Api

from .worlds import Pace, World, drain_with_ours, emptied, equal_worlds, result

ROUNDS = 5
THREADS = 8
RETRY_SECONDS = 0.1
TARGET = 1.15


def main() -> int:
    floors, ours = [], []
    for _round in range(ROUNDS):
        # A plane of its own for each: what we read is to be these two worlds and no more.
        with equal_worlds(2, Pace(grace_seconds=0)) as (first, second):
            for world in (first, second):
                _close(world)
            floors.append(emptied(first, floor))
            ours.append(emptied(second, lambda world: drain_with_ours(world, closing=False)))
    print(f"floor: {', '.join(f'{one:.2f}' for one in floors)} s")
    print(f"ours:  {', '.join(f'{one:.2f}' for one in ours)} s")
    return result("drain_vs_floor", min(ours), min(floors), TARGET)


def floor(world: World) -> None:
    """The bare loop; one list tells it the names, which all 100 pods of the world have."""
    names: queue.SimpleQueue[str] = queue.SimpleQueue()
    for pod in world.space.pods():
        names.put(pod["metadata"]["name"])
    _post_all(world, names)


def _close(world: World) -> None:
    """Both sides find the nodes cordoned, or pods would come back to them."""
    for node in world.nodes:
        world.space.cordon(node)


def _post_all(world: World, names: queue.SimpleQueue[str]) -> None:
    threads = [
        threading.Thread(target=_post, args=(world.space.plane.api(), world.space.namespace, names))
        for _each in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _post(api: Api, namespace: str, names: queue.SimpleQueue[str]) -> None:
    while True:
        try:
            name = names.get_nowait()
        except queue.Empty:
            return
        while True:
            answer = api.evict(namespace, name)
            if answer.status != 429:
                assert answer.status == 201, answer
                break
            time.sleep(RETRY_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
