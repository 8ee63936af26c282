# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A whole drain on a twin in virtual time: its controllers, its API, and the modules' functions."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import yaml

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.registry import (
    Destination,
    find,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.cordon import (
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
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.build import twin_of
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import parse_spec
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings, Twin

START = 1_800_000_000.0
SHOP = """
nodes:
  - {pool: workers, count: 6, zones: [z1, z2, z3]}
workloads:
  - {name: web, namespace: shop, replicas: 12, cpu: 500m, memory: 1Gi, start: 20s, stop: 10s}
  - {name: db, namespace: shop, kind: StatefulSet, replicas: 3, start: 60, stop: 30}
  - {name: agent, namespace: kube-system, kind: DaemonSet}
budgets:
  - {name: web, namespace: shop, max_unavailable: 1}
  - {name: db, namespace: shop, max_unavailable: 1}
"""


@pytest.fixture
def twin() -> Iterator[Twin]:
    made = twin_of(parse_spec(yaml.safe_load(SHOP)), Settings(START, virtual=True))
    made.start()
    yield made
    made.stop()


@pytest.fixture
def destination(twin: Twin) -> Iterator[Destination]:
    """Five minutes later: all pods run."""
    found = find(Connection(kubeconfig=twin.kubeconfig()), environment={})
    found.clock.sleep(300)
    yield found
    found.clock.close()


def ready(twin: Twin, app: str) -> list[str]:
    """The nodes of this workload's Ready pods, sorted."""
    return sorted(
        pod["spec"]["nodeName"]
        for pod in twin.store.objects("pods")
        if pod["metadata"]["labels"]["app"] == app
        for condition in pod["status"]["conditions"]
        if (condition["type"], condition["status"]) == ("Ready", "True")
    )


def test_a_cluster_told_in_a_few_lines_runs_by_itself(twin: Twin, destination: Destination) -> None:
    assert destination.clock.monotonic() == START + 300
    workers = [f"workers-{number}" for number in range(1, 7)]
    assert ready(twin, "agent") == workers
    assert len(ready(twin, "web")) == 12
    assert len(ready(twin, "db")) == 3


def test_a_drain_takes_as_long_as_budgets_and_pods_make_it_take(
    twin: Twin, destination: Destination
) -> None:
    began, real = destination.clock.monotonic(), time.monotonic()
    cluster, run = destination.cluster(), Run("test", clock=destination.clock)
    # The scheduler has spread db over the zones: two of its pods are on these.
    nodes = NodeSelection(nodes=("workers-1", "workers-3"))
    cordon(CordonOptions(nodes, "cordoned"), cluster, run)
    report = evict(EvictOptions(nodes, ignore_daemonsets=True, wait_timeout=3600), cluster, run)
    cluster.close()
    took = destination.clock.monotonic() - began
    assert report.failure == ""
    assert {outcome.code for outcome in report.done} == {"evicted"}
    # Four pods of web, one at a time, each 20 s until Ready elsewhere; meanwhile two of db in turn:
    # 30 s to stop, 60 s to start again, 30 s to stop.
    assert 120 < took < 130
    assert time.monotonic() - real < 60
    assert set(ready(twin, "web")) <= {f"workers-{number}" for number in (2, 4, 5, 6)}
