# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How much a packing costs above the least that the linear relaxation allows, and its time.

Price lists: one that is made up here; with EVENKEEL_DATA=DIRECTORY also AWS's and GCP's of that
directory (aws_catalog.json.gz, gcp_prices.json.gz). Pods: made up, of 2,000 to 20,000; with
EVENKEEL_DATA also those of the openb trace (openb_pods.csv.gz). Times are of the processor.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, Iterator

from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.bound import (
    lower_bound,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.pack import pack
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.problem import (
    BinType,
    Item,
    Problem,
    cost_of,
)

TARGET_MEAN, TARGET_WORST = 1.055, 1.08
MICRO = 1_000_000

Bins = list[BinType]
Pods = Counter[tuple[int, int]]


def main() -> int:
    data = os.environ.get("EVENKEEL_DATA", "")
    found = []
    print(f"{'price list':<25} {'pods':<22} {'types':>5} {'kinds':>5} {'ratio':>7} {'seconds':>7}")
    for list_name, bins in price_lists(data):
        for name, pods in fleets(data):
            ratio, seconds = measure(bins, pods)
            found.append(ratio)
            row = f"{list_name:<25} {name:<22} {len(bins):>5} {len(pods):>5}"
            print(f"{row} {ratio:7.4f} {seconds:7.2f}")
    mean, worst = sum(found) / len(found), max(found)
    print(f"bench rebalance_quality value={worst:.4f} ratio={mean:.4f} target={TARGET_MEAN}")
    return 0 if mean <= TARGET_MEAN and worst <= TARGET_WORST else 1


def measure(bins: Bins, pods: Pods) -> tuple[float, float]:
    everywhere = (1 << len(bins)) - 1
    items = tuple(Item((*needs, 1), count, everywhere) for needs, count in sorted(pods.items()))
    problem = Problem(items, tuple(bins))
    started = time.process_time()
    packing = pack(problem)
    seconds = time.process_time() - started
    if any(packing.left):
        raise AssertionError("a pod fits into no type")
    return cost_of(problem, packing.loads) / lower_bound(problem), seconds


def price_lists(data: str) -> Iterator[tuple[str, Bins]]:
    yield "made up", list(made_up_types())
    if data:
        yield "aws", list(aws_types(Path(data)))
        for region in ("us-east1", "europe-west4", "asia-south1"):
            for kind in ("on_demand", "spot"):
                yield f"gcp {region} {kind}", list(gcp_types(Path(data), region, kind))


def fleets(data: str) -> Iterator[tuple[str, Pods]]:
    for number, kinds in ((2_000, 50), (20_000, 100), (20_000, 300)):
        yield f"{number} of {kinds} kinds", made_up_pods(number, kinds)
    if data:
        yield "openb", openb(Path(data))


def made_up_types() -> Iterator[BinType]:
    """Three families with 2, 4 and 8 GiB a core, of 1 to 128 cores; small and large ones are a
    little dearer by their size."""
    for gib, price in ((2, 34_000), (4, 40_000), (8, 52_000)):
        for power in range(8):
            cores = 2**power
            capacity = (cores * 1000 - 70, cores * gib * 1024 - 700, min(110, 8 * cores))
            yield BinType(capacity, cores * price * (100 + abs(power - 3)) // 100)


def made_up_pods(number: int, kinds: int) -> Pods:
    chance = random.Random(kinds)
    sizes = [
        (round(50 * 2 ** chance.uniform(0, 7)), round(64 * 2 ** chance.uniform(0, 8)))
        for _kind in range(kinds)
    ]
    weights = [1 / (rank + 1) for rank in range(kinds)]
    return Counter(chance.choices(sizes, weights, k=number))


def aws_types(data: Path) -> Iterator[BinType]:
    for one in _loaded(data / "aws_catalog.json.gz"):
        if one["arch"] == "amd64" and not one["gpu"] and one["price"]:
            yield BinType((one["cpu"], one["mem"], one["pods"]), round(one["price"] * MICRO))


def gcp_types(data: Path, region: str, kind: str) -> Iterator[BinType]:
    """GCP's names tell family, ratio and cores: n2-highmem-16."""
    ratios = {"standard": 4, "highmem": 8, "highcpu": 1}
    for name, price in _loaded(data / "gcp_prices.json.gz")["prices"][region][kind].items():
        _family, ratio, cores = (*name.split("-"), "", "")[:3]
        if ratio in ratios and cores.isdigit():
            capacity = (int(cores) * 1000 - 100, int(cores) * ratios[ratio] * 1024 * 9 // 10, 110)
            yield BinType(capacity, round(price * MICRO))


def openb(data: Path) -> Pods:
    with gzip.open(data / "openb_pods.csv.gz", "rt", encoding="utf-8") as file:
        return Counter(
            (int(row["cpu_milli"]), int(row["memory_mib"])) for row in csv.DictReader(file)
        )


def _loaded(path: Path) -> Any:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


if __name__ == "__main__":
    sys.exit(main())
