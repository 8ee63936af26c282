# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How many requests a drain of 100 pods makes, by the API server's audit log.

The value is (requests - 30) / pods: 30 is what any call may take for reading, locking, watching.
Two worlds of 5 nodes, under budgets of maxUnavailable 30 %: 100 deployments of one pod, whose
budgets let all go at once, and 10 deployments of ten, which have to wait for their budgets again
and again. The worse counts.
"""

from __future__ import annotations

import sys
from collections import Counter

from .worlds import PODS, Pace, drain_with_ours, equal_worlds

CONSTANT, TARGET = 30, 1.5


def main() -> int:
    values = [value_of(deployments) for deployments in (PODS, 10)]
    value = max(values)
    ratio = value / TARGET
    print(f"bench requests_per_pod value={value:.2f} ratio={ratio:.2f} target={TARGET}")
    return 0 if value <= TARGET else 1


def value_of(deployments: int) -> float:
    pace = Pace(stop_seconds=2, start_seconds=2)
    with equal_worlds(1, pace, deployments=deployments) as (world,):
        drain_with_ours(world, closing=True)
        requests = world.space.requests("ours")
    kinds = Counter(f"{one.verb} {one.resource}/{one.subresource} {one.status}" for one in requests)
    print(f"{deployments} deployments: {len(requests)} requests for {PODS} pods")
    print("\n".join(f"  {count:4} {kind}" for kind, count in kinds.most_common()), flush=True)
    return (len(requests) - CONSTANT) / PODS


if __name__ == "__main__":
    sys.exit(main())
