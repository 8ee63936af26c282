# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How long the scheduler's rules take for 5,000 nodes and 100,000 pods of 2,000 workloads.

Half of the workloads are spread over zones, a fifth keep their pods on different nodes, a tenth
want a node with a label. After all pods are placed, 5,000 moves are planned: a pod leaves its node,
all nodes are asked, and it goes to the first that fits. Times are of the processor.
"""

from __future__ import annotations

import gc
import sys
import time
from typing import Any

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import parse_node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    SchedulingParser,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.nodes import bits
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.state import (
    ClusterState,
)

NODES, WORKLOADS, REPLICAS, MOVES = 5_000, 2_000, 50, 5_000
ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
TARGET_SECONDS = 2.0

Raw = dict[str, Any]


def main() -> int:
    state = ClusterState([parse_node(node(number)) for number in range(NODES)])
    raws = [pod(w, replica) for w in range(WORKLOADS) for replica in range(REPLICAS)]
    gc.freeze()  # what is there already is not what is measured
    started = time.process_time()
    parser = SchedulingParser()
    specs = [parser.parse(raw) for raw in raws]
    parsed = time.process_time()
    for number, spec in enumerate(specs):
        state.place(str(number), state.pod_class(spec), f"n{number * 7919 % NODES:04}")
    placed = time.process_time()
    for workload in range(WORKLOADS):
        state.eligible(state.pod_class(specs[workload * REPLICAS]))
    asked = time.process_time()
    for number in range(MOVES):
        move(state, specs, number * 19 % len(specs))
    moved = time.process_time()
    print(f"parse {len(raws)} pods: {parsed - started:.2f} s, place: {placed - parsed:.2f} s")
    print(f"first masks of {WORKLOADS} classes: {asked - placed:.2f} s")
    print(f"a move: {(moved - asked) / MOVES * 1e6:.0f} us")
    value = moved - asked
    print(f"bench eligibility value={value:.2f} target={TARGET_SECONDS}")
    return 0 if value <= TARGET_SECONDS else 1


def move(state: ClusterState, specs: list[Any], number: int) -> None:
    judged = state.pod_class(specs[number])
    state.remove(str(number))
    target = next(bits(state.eligible(judged)))
    state.place(str(number), judged, state.nodes.nodes[target].name)


def node(number: int) -> Raw:
    name = f"n{number:04}"
    labels = {HOSTNAME: name, ZONE: f"z{number % 3}", "pool": f"p{number % 10}"}
    allocatable = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    return {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": allocatable}}


def pod(workload: int, replica: int) -> Raw:
    labels = {"app": f"app-{workload}"}
    selector = {"matchLabels": labels}
    spec: Raw = {}
    if workload % 2:
        constraint = {"topologyKey": ZONE, "maxSkew": 5, "whenUnsatisfiable": "DoNotSchedule"}
        spec["topologySpreadConstraints"] = [{**constraint, "labelSelector": selector}]
    if not workload % 5:
        term = {"topologyKey": HOSTNAME, "labelSelector": selector}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        spec["affinity"] = {"podAntiAffinity": required}
    if not workload % 10:
        spec["nodeSelector"] = {"pool": f"p{workload // 10 % 10}"}
    requests = {"cpu": f"{100 + workload % 20 * 10}m", "memory": f"{128 + workload % 15 * 16}Mi"}
    container = {"name": "main", "resources": {"requests": requests}}
    meta = {"name": f"{workload}-{replica}", "namespace": f"ns-{workload % 100}", "labels": labels}
    return {"metadata": meta, "spec": {"containers": [container], **spec}}


if __name__ == "__main__":
    sys.exit(main())
