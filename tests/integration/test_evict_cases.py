# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Cases about owners and races, on a real control plane - C11, C14, C29, C34, C35."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction import (
    evict as evict_module,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.lock import hold
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.preflight import (
    PreflightOptions,
    preflight,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import Unreachable
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import LEASES, NODES
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
)
from tests.control_plane.space import Space, is_ready

from .calling import cluster_of, run_of
from .draining import InBackground, by_code, drain


@pytest.fixture
def cluster(space: Space) -> Iterator[Cluster]:
    with cluster_of(space) as opened:
        yield opened


class Racing:
    """Passes everything on; somebody else deletes the first pod just before its eviction."""

    def __init__(self, cluster: Cluster, space: Space) -> None:
        self._cluster = cluster
        self._space = space
        self._guard = threading.Lock()
        self.deleted = ""

    def evict(self, namespace: str, name: str, *arguments: Any, **named: Any) -> Any:
        with self._guard:
            if not self.deleted:
                self.deleted = name
                path = self._space.path("v1", "pods", name)
                self._space.api.delete(path, {"gracePeriodSeconds": 0})
        return self._cluster.evict(namespace, name, *arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)


class Silent:
    """Passes everything on; while `cut`, no renewal of a lock arrives."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.cut = False

    def patch(self, resource: Any, *arguments: Any, **named: Any) -> Any:
        if self.cut and resource is LEASES:
            raise Unreachable("The connection was cut.")
        return self._cluster.patch(resource, *arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)


@contextmanager
def fewest_ready(space: Space, app: str) -> Iterator[list[int]]:
    """Its one item, at the end: the fewest Ready pods of `app` at any time."""
    fewest: list[int] = [len(space.pods(app))]
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.05):
            there = [pod for pod in space.pods(app) if not pod["metadata"].get("deletionTimestamp")]
            fewest[0] = min(fewest[0], sum(map(is_ready, there)))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield fewest
    finally:
        over.set()
        thread.join(5.0)


def test_c11_a_budget_over_an_owner_without_scale_is_refused_with_the_way_out(
    space: Space, cluster: Cluster
) -> None:
    first = space.nodes(2)[0]
    space.job("work", completions=3, node=first)
    space.deployment("web", 1, node=first)
    space.budget("work", max_unavailable=1)
    space.budget("typo", "wbe", max_unavailable=1)
    budget = space.path("policy/v1", "poddisruptionbudgets", "work")

    def failed() -> bool:
        conditions = space.api.get(budget).get("status", {}).get("conditions", ())
        return any(each["reason"] == "SyncFailed" for each in conditions)

    space.wait(lambda: len(space.pods("work", node=first)) == 3, "the pods")
    space.wait(failed, "the budget cannot be worked out")
    space.wait(lambda: space.pods("web", node=first), "the other pod")
    space.cordon(first)

    report = drain(cluster, first)

    assert by_code(report) == {"done": ["evicted"], "failed": ["budget_without_scale"] * 3}
    assert "minAvailable" in report.failed[0].detail


def test_c14_a_pod_that_is_deleted_between_the_list_and_its_eviction_is_done(
    space: Space, cluster: Cluster
) -> None:
    first = space.nodes(2)[0]
    space.deployment("web", 2, node=first)
    space.budget("web", max_unavailable=2)
    space.wait_running()
    space.cordon(first)
    racing = Racing(cluster, space)

    report = drain(racing, first)  # type: ignore[arg-type]

    assert report.failure == ""
    codes = {outcome.workload.partition("/")[2]: outcome.code for outcome in report.done}
    assert sorted(codes.values()) == ["already_gone", "evicted"]
    assert codes[racing.deleted] == "already_gone"


def test_c29_a_drain_that_was_silent_past_its_time_evicts_nothing_after_it_was_replaced(
    space: Space, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = space.nodes(2)[0]
    space.deployment("web", 2, node=first, start_seconds=7)
    space.budget("web", max_unavailable=1)
    space.wait_running()
    space.cordon(first)
    monkeypatch.setattr(evict_module, "hold", partial(hold, ttl=2))
    silent = Silent(cluster)

    def evicted() -> list[str]:
        return [each.name for each in space.writes("runner") if each.subresource == "eviction"]

    background = InBackground(lambda: drain(silent, first, holder="a"))  # type: ignore[arg-type]
    space.wait(evicted, "the first eviction", 20)
    silent.cut = True
    with cluster_of(space, "other") as theirs:
        nodes = [theirs.get(NODES, first)]
        with hold(nodes, theirs, run_of("b"), purpose=evict_module.PURPOSE):
            assert background.running
            silent.cut = False
            report = background.result()

    assert report.failure == "lock_lost"
    assert "taken over by b" in report.msg
    assert len(report.pending) == 1
    assert len(evicted()) == 1


def test_c34_ordinals_leave_one_at_a_time_and_none_while_another_is_not_ready(
    space: Space, cluster: Cluster
) -> None:
    first = space.nodes(2)[0]
    space.statefulset("db", 3, node=first, start_seconds=1)
    space.wait_running()
    space.annotate_pod("db-1", behaviour="never-ready")
    space.wait(lambda: not is_ready(space.pod("db-1") or {}), "db-1 is not Ready", 20)
    space.cordon(first)

    report = drain(
        cluster, first, wait_timeout=3.0, pod_selector="statefulset.kubernetes.io/pod-name=db-0"
    )

    assert (report.failure, by_code(report)["pending"]) == ("timeout", ["ordinal_not_ready"])
    assert "2 of 3 ordinals are Ready" in report.pending[0].detail

    space.annotate_pod("db-1", behaviour=None)
    space.wait_running()
    with fewest_ready(space, "db") as fewest:
        assert by_code(drain(cluster, first)) == {"done": ["evicted"] * 3}
    assert fewest[0] >= 2


def test_c35_replicas_that_all_landed_on_one_node_are_foretold_and_leave_one_by_one(
    space: Space, cluster: Cluster
) -> None:
    first, second = space.nodes(2)
    space.deployment("web", 3, node=first, start_seconds=1)
    space.wait_running()
    space.cordon(first)
    assert by_code(drain(cluster, first)) == {"done": ["evicted"] * 3}
    space.wait_running()
    space.uncordon(first)
    assert len(space.pods("web", node=second)) == 3

    foretold = preflight(PreflightOptions(NodeSelection(nodes=(second,))), cluster, run_of())

    told = [
        (finding["level"], finding["code"])
        for finding in foretold.extra["findings"]
        if f"{space.namespace}/web" in finding["subject"]
    ]
    assert ("warning", "all_ready_replicas") in told
    space.cordon(second)
    assert drain(cluster, second, fragile="refuse").failure == "refused"
    with fewest_ready(space, "web") as fewest:
        assert by_code(drain(cluster, second)) == {"done": ["evicted"] * 3}
    assert fewest[0] >= 2
