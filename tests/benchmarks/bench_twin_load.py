# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How long a twin of 5,000 nodes and 100,000 pods takes from a file until it is at rest.

The file is what fleet_info would write of such a fleet: pods of Deployments with a sidecar each,
and a budget for every tenth one. At rest means that every controller has seen everything. Loading
runs in a process of its own, whose memory is counted.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.snapshot_file import (
    write_snapshot,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    BUDGETS,
    DEPLOYMENTS,
    NODES,
    PODS,
    REPLICA_SETS,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.twin_objects import (
    COLLECTIONS,
    reduced,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.build import twin_loaded
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.snapshot import read
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings

from .bench_fleet_info_50k import node, pod, uid

NODE_COUNT, POD_COUNT, REPLICAS = 5_000, 100_000, 5
START = 1_800_000_000.0
TARGET_SECONDS, TARGET_BYTES = 120.0, 16_384

Raw = dict[str, Any]


def main() -> int:
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        path = str(Path(directory) / "fleet.json.gz")
        write_snapshot(path, Fleet(), objects(), dry=False)
        ours, theirs = context.Pipe()
        process = context.Process(target=load, args=(path, theirs))
        process.start()
        read_seconds, made, started, per_pod = ours.recv()
        process.join()
    value = read_seconds + made + started
    print(f"read the file: {read_seconds:.1f} s, make the twin: {made:.1f} s", end="")
    print(f", start it: {started:.1f} s; {per_pod:.0f} bytes a pod (target {TARGET_BYTES})")
    print(f"bench twin_load value={value:.1f} target={TARGET_SECONDS:.0f}")
    return 0 if value <= TARGET_SECONDS and per_pod <= TARGET_BYTES else 1


def load(path: str, pipe: Any) -> None:
    before, begin = _peak(), time.monotonic()
    made = read(path)
    was_read = time.monotonic()
    twin = twin_loaded(made, Settings(START, virtual=True))
    del made
    was_made = time.monotonic()
    twin.start()
    with twin.time.hurried() as let_pass:
        let_pass(1.0)
    started = time.monotonic()
    assert len(twin.store.objects("pods")) == POD_COUNT
    twin.stop()
    per_pod = (_peak() - before) / POD_COUNT
    pipe.send((was_read - begin, was_made - was_read, started - was_made, per_pod))


def _peak() -> int:
    """The most memory that this process has had, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def objects() -> dict[str, list[Raw]]:
    owners = range(POD_COUNT // REPLICAS)
    found: dict[str, list[Raw]] = {one.key: [] for one in COLLECTIONS}
    found[NODES.key] = [reduced(NODES, node(number)) for number in range(NODE_COUNT)]
    found[PODS.key] = [reduced(PODS, _pod(number)) for number in range(POD_COUNT)]
    found[DEPLOYMENTS.key] = [reduced(DEPLOYMENTS, deployment(number)) for number in owners]
    found[REPLICA_SETS.key] = [reduced(REPLICA_SETS, replica_set(number)) for number in owners]
    found[BUDGETS.key] = [reduced(BUDGETS, budget(number)) for number in owners if not number % 10]
    return found


def _pod(number: int) -> Raw:
    raw = pod(number)
    raw["spec"]["nodeName"] = f"node-{number % NODE_COUNT:04}"
    raw["metadata"]["labels"]["owner"] = f"o{number // REPLICAS}"
    return raw


def replica_set(owner: int) -> Raw:
    first = pod(owner * REPLICAS)
    labels = {**first["metadata"]["labels"], "owner": f"o{owner}"}
    reference = first["metadata"]["ownerReferences"][0]
    above = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": f"web-{owner}",
        "uid": uid(owner, 9),
        "controller": True,
    }
    metadata = {
        "name": reference["name"],
        "uid": reference["uid"],
        "ownerReferences": [above],
        "annotations": {"deployment.kubernetes.io/revision": "1"},
        **_common(first),
    }
    return {"metadata": metadata, **_scaled(labels, first)}


def deployment(owner: int) -> Raw:
    first = pod(owner * REPLICAS)
    labels = {**first["metadata"]["labels"], "owner": f"o{owner}"}
    del labels["pod-template-hash"]
    metadata = {
        "name": f"web-{owner}",
        "uid": uid(owner, 9),
        "annotations": {"deployment.kubernetes.io/revision": "1"},
        **_common(first),
    }
    return {"metadata": metadata, **_scaled(labels, first)}


def budget(owner: int) -> Raw:
    first = pod(owner * REPLICAS)
    metadata = {"name": f"web-{owner}", "uid": uid(owner, 10), **_common(first)}
    selector = {"matchLabels": {"owner": f"o{owner}"}}
    return {"metadata": metadata, "spec": {"maxUnavailable": 1, "selector": selector}}


def _common(first: Raw) -> Raw:
    given = first["metadata"]
    return {
        "namespace": given["namespace"],
        "creationTimestamp": "2026-11-01T08:00:00Z",
        "generation": 1,
    }


def _scaled(labels: dict[str, str], first: Raw) -> Raw:
    spec = {key: value for key, value in first["spec"].items() if key != "nodeName"}
    template = {"metadata": {"labels": labels}, "spec": spec}
    counts = ("replicas", "readyReplicas", "availableReplicas", "updatedReplicas")
    return {
        "spec": {
            "replicas": REPLICAS,
            "selector": {"matchLabels": {"owner": labels["owner"]}},
            "template": template,
        },
        "status": {"observedGeneration": 1, **dict.fromkeys(counts, REPLICAS)},
    }


if __name__ == "__main__":
    sys.exit(main())
