# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How long we take to drain 5 nodes of 20 pods each, beside `kubectl drain` of 5 equal nodes.

The 100 pods are those of 100 deployments, one each: a budget of maxUnavailable 30 % allows 1 of 1,
because percentages round up. Pods take 10 s to stop and 2 s to start. One kubectl command gets all
five nodes and drains one after the other; we get all five in one call. Both cordon first. Ours is
timed in process, from the first request to the report; kubectl as a process, whose start takes
0.1 s. Both run on one control plane, one after the other.
"""

from __future__ import annotations

import subprocess
import sys

from tests.control_plane.tools import kubectl

from .worlds import LIMIT_SECONDS, Pace, World, drain_with_ours, emptied, equal_worlds, result

TARGET = 0.4


def main() -> int:
    with equal_worlds(2, Pace(stop_seconds=10, start_seconds=2)) as (first, second):
        ours = emptied(first, lambda world: drain_with_ours(world, closing=True))
        print(f"ours:    {ours:.1f} s", flush=True)
        theirs = emptied(second, drain_with_kubectl)
        print(f"kubectl: {theirs:.1f} s", flush=True)
    return result("drain_vs_kubectl", ours, theirs, TARGET)


def drain_with_kubectl(world: World) -> None:
    config = world.space.kubeconfig("kubectl")
    command = [str(kubectl()), f"--kubeconfig={config}", "drain", *world.nodes]
    command += ["--ignore-daemonsets", "--delete-emptydir-data", f"--timeout={LIMIT_SECONDS:g}s"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
