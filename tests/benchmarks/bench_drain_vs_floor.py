# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How much all our care costs: beside a bare loop that posts evictions for the same pods.

100 pods of 100 deployments on 5 nodes, under budgets of maxUnavailable 30 %; they stop at once. The
floor is 8 threads that know the pods' names, post an eviction for each, and post again after a 429;
it ends with the last answer. We read the cluster, judge, lock the nodes, watch, and end when every
pod is gone. They take turns on one control plane, and the better of three counts of each: on a
shared machine the least disturbed run is the truest.
"""

from __future__ import annotations

import queue
import sys
import threading
import time

from tests.control_plane.api import Api

from .worlds import Pace, World, drain_with_ours, emptied, equal_worlds, result, seconds

ROUNDS = 3
THREADS = 8
RETRY_SECONDS = 0.1
TARGET = 1.15


def main() -> int:
    floors, ours = [], []
    with equal_worlds(2 * ROUNDS, Pace()) as worlds:
        for world in worlds:
            _close(world)
        for number in range(ROUNDS):
            floors.append(floor(worlds[2 * number]))
            ours.append(
                emptied(worlds[2 * number + 1], lambda world: drain_with_ours(world, closing=False))
            )
    print(f"floor: {', '.join(f'{one:.2f}' for one in floors)} s")
    print(f"ours:  {', '.join(f'{one:.2f}' for one in ours)} s")
    return result("drain_vs_floor", min(ours), min(floors), TARGET)


def floor(world: World) -> float:
    """Returns the seconds of the bare loop."""
    names: queue.SimpleQueue[str] = queue.SimpleQueue()
    for node in world.nodes:
        for pod in world.space.pods(node=node):
            names.put(pod["metadata"]["name"])
    return seconds(lambda: _post_all(world, names))


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
