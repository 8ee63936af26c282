# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How many waves a rolling drain needs beside the fewest that the room allows.

Fleets of 60 to 1,000 equal nodes, filled to 50, 70, 80 and 90 %, no limit on the size of a wave.
The fewest are N / (N x (1 - fill)), both rounded: as many nodes at once as there is room for.
"""

from __future__ import annotations

import math
import random
import sys
import time

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import parse_node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import SchedulingSpec
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.placed import Placed
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rolling.board import Rolling
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rolling.waves import (
    Limits,
    waves,
)

TARGET = 1.4
CPU = 16_000
SIZES = (250, 500, 1_000, 2_000)


def main() -> int:
    worst, moved_most = 0.0, 0.0
    for nodes in (60, 250, 1_000):
        for fill in (0.5, 0.7, 0.8, 0.9):
            asked = fleet(nodes, fill)
            started = time.process_time()
            found = waves(asked, Limits(batch=nodes))
            seconds = time.process_time() - started
            used = sum(dict(pod.spec.requests)["cpu"] for pod in asked.pods) / (nodes * CPU)
            fewest = math.ceil(nodes / math.floor(nodes * (1 - used)))
            ratio = len(found.waves) / fewest
            moves = sum(len(wave.moves) for wave in found.waves) / len(asked.pods)
            worst, moved_most = max(worst, ratio), max(moved_most, moves)
            print(
                f"{nodes:>5} nodes {used:5.1%} full: {len(found.waves):>3} waves, fewest"
                f" {fewest:>3}, {len(found.stuck)} stuck, {moves:.2f} moves a pod, {seconds:.2f} s"
            )
    print(f"bench waves value={moved_most:.2f} ratio={worst:.2f} target={TARGET}")
    return 0 if worst <= TARGET else 1


def fleet(nodes: int, fill: float) -> Rolling:
    chance = random.Random(nodes)
    pods = []
    for number in range(nodes):
        left = round(CPU * (fill + chance.uniform(-0.08, 0.08)))
        while left >= SIZES[0]:
            cpu = chance.choice([size for size in SIZES if size <= left])
            spec = SchedulingSpec("shop", (), requests=(("cpu", cpu), ("memory", cpu << 20)))
            pods.append(Placed(f"shop/p{len(pods)}", spec, name(number)))
            left -= cpu
    raws = [
        {
            "metadata": {"name": name(number)},
            "status": {"allocatable": {"cpu": f"{CPU}m", "memory": "64Gi", "pods": "110"}},
        }
        for number in range(nodes)
    ]
    return Rolling(tuple(map(parse_node, raws)), tuple(pods), tuple(map(name, range(nodes))))


def name(number: int) -> str:
    return f"n{number:04}"


if __name__ == "__main__":
    sys.exit(main())
