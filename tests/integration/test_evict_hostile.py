# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Draining while others interfere, on a real control plane. Unit: test_meanwhile.py.

Whatever happens, each pod is in one list of the report, and in one only.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import LockHeld
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from tests.chaos.proxy import Answer, Proxy, Treatment
from tests.control_plane.space import Space
from tests.control_plane.webhooks import Denied

from .calling import Listener, cluster_of
from .draining import InBackground, by_code, drain

TOLERANT = {"tolerations": [{"operator": "Exists"}]}
SURGING = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}


@pytest.fixture
def cluster(space: Space) -> Iterator[Cluster]:
    with cluster_of(space) as opened:
        yield opened


def listed(report: Report) -> list[str]:
    """All pods of the report; each is there once."""
    found = [o["workload"] for outcomes in report.result().values() for o in outcomes]
    assert len(found) == len(set(found)), "a pod is in two lists, or twice in one"
    return sorted(name.partition("/")[2] for name in found)


def evictions(space: Space) -> list[str]:
    return [write.name for write in space.writes("runner") if write.subresource == "eviction"]


def started(space: Space, cluster: Cluster, *nodes: str, **options: Any) -> InBackground:
    """A drain that is past its first decision: it told something of its nodes."""
    listener = Listener()
    background = InBackground(lambda: drain(cluster, *nodes, progress=listener, **options))
    space.wait(lambda: listener.told or not background.running, "the drain's first line", 30)
    return background


def blocked(
    space: Space, node: str, spare: str, name: str = "shut", replicas: int = 2
) -> list[str]:
    """Pods on the node whose budget allows nothing for now: a pod on `spare` is never Ready."""
    guarded = {"guard": name}
    space.deployment(name, replicas, node=node, labels=guarded)
    space.deployment(f"{name}-sick", 1, node=spare, labels=guarded, behaviour="never-ready")
    space.wait_running()
    space.budget(name, guarded, min_available=replicas)
    space.wait_running()
    return [pod["metadata"]["name"] for pod in space.pods(name)]


def test_pods_that_come_straight_back_are_refused_in_the_end(
    space: Space, cluster: Cluster
) -> None:
    first = space.nodes(2)[0]
    space.deployment("web", 1, node=first, pinned=True, spec=TOLERANT)
    # A drain that is over does not see who comes later.
    space.deployment("slow", 1, node=first, stop_seconds=20)
    space.wait_running()
    space.cordon(first)

    report = drain(cluster, first)

    assert report.failure == "comes_back"
    assert by_code(report) == {"done": ["evicted"] * 4, "failed": ["comes_back"]}
    assert "toleration" in report.msg


def test_a_budget_that_is_deleted_opens_the_way_one_pod_at_a_time(
    space: Space, cluster: Cluster
) -> None:
    first, second = space.nodes(2)
    names = blocked(space, first, second)
    space.cordon(first)
    background = started(space, cluster, first)
    space.api.delete(space.path("policy/v1", "poddisruptionbudgets", "shut"))

    report = background.result()

    assert by_code(report) == {"done": ["evicted"] * 2}
    assert listed(report) == sorted(names)


def test_an_owner_that_is_scaled_to_0_meanwhile_takes_its_pods_along(
    space: Space, cluster: Cluster
) -> None:
    first, second = space.nodes(2)
    names = blocked(space, first, second)
    space.cordon(first)
    background = started(space, cluster, first)
    space.scale("shut", 0)

    report = background.result()

    assert by_code(report) == {"done": ["already_gone"] * 2}
    assert report.changed is False
    assert listed(report) == sorted(names)


def test_an_owner_that_is_deleted_without_its_pods_leaves_them_unmanaged(
    space: Space, cluster: Cluster
) -> None:
    first, second = space.nodes(2)
    names = blocked(space, first, second)
    space.cordon(first)
    background = started(space, cluster, first)
    replica_set = next(
        owner["name"]
        for owner in space.pod(names[0])["metadata"]["ownerReferences"]  # type: ignore[index]
    )
    for path in (
        space.path("apps/v1", "deployments", "shut"),
        space.path("apps/v1", "replicasets", replica_set),
    ):
        space.api.delete(path, {"propagationPolicy": "Orphan"})

    report = background.result()

    assert by_code(report) == {"failed": ["unmanaged"] * 2}
    assert "force: true" in report.msg
    assert evictions(space) == []


def test_a_namespace_that_is_deleted_meanwhile_takes_its_pods_along(
    space: Space, cluster: Cluster
) -> None:
    first = space.nodes(2)[0]
    other = space.add_namespace(f"{space.id}-other")
    space.deployment("web", 3, node=first, namespace=other, stop_seconds=2)
    space.budget("web", max_unavailable=1, namespace=other)
    space.wait_running()
    space.cordon(first)
    background = started(space, cluster, first)
    space.api.delete(f"/api/v1/namespaces/{other}")

    report = background.result()

    assert report.failure == ""
    assert set(by_code(report)) == {"done"}
    assert len(listed(report)) == 3


def test_a_node_that_is_made_again_under_its_name_is_another_node(
    space: Space, cluster: Cluster
) -> None:
    first, second = space.nodes(2)
    blocked(space, first, second)
    space.cordon(first)
    background = started(space, cluster, first)
    document = space.node(first)
    space.remove_node(first)
    for key in ("uid", "resourceVersion", "creationTimestamp", "managedFields"):
        document["metadata"].pop(key, None)
    space.api.create("/api/v1/nodes", document)

    report = background.result()

    assert [each["gone"] for each in report.extra["nodes"]] == [True]
    assert {outcome.code for outcome in report.skipped + report.done} <= {
        "node_gone",
        "already_gone",
    }
    assert evictions(space) == []


def test_two_drains_of_overlapping_nodes_in_opposite_order_do_not_block_each_other_for_ever(
    space: Space, cluster: Cluster
) -> None:
    first, second = space.nodes(3)[:2]
    for name, node in (("a", first), ("b", second)):
        space.deployment(name, 3, node=node, stop_seconds=1)
        space.budget(name, max_unavailable=2)
    space.wait_running()
    space.cordon(first)
    space.cordon(second)
    reports: list[Report] = []
    held: list[LockHeld] = []

    def one(holder: str, *nodes: str) -> None:
        try:
            reports.append(drain(cluster, *nodes, holder=holder))
        except LockHeld as error:
            held.append(error)

    threads = [
        threading.Thread(target=one, args=("one", first, second)),
        threading.Thread(target=one, args=("two", second, first)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)

    assert not any(thread.is_alive() for thread in threads)
    assert {report.failure for report in reports} == {""}
    assert len(evictions(space)) == len(set(evictions(space)))
    assert space.pods(node=first) == space.pods(node=second) == []


def test_max_parallel_1_is_not_used_up_by_a_pod_that_is_blocked(
    space: Space, cluster: Cluster
) -> None:
    first, second = space.nodes(2)
    blocked(space, first, second, "a")
    space.deployment("z", 2, node=first)
    space.budget("z", max_unavailable=2)
    space.wait_running()
    space.cordon(first)

    report = drain(cluster, first, max_parallel=1, wait_timeout=15.0)

    assert by_code(report) == {"done": ["evicted"] * 2, "pending": ["budget_exhausted"] * 2}
    assert report.failure == "timeout"


def test_without_time_nothing_is_touched_and_all_is_listed(space: Space, cluster: Cluster) -> None:
    first = space.nodes(2)[0]
    space.deployment("web", 2, node=first)
    space.budget("web", max_unavailable=1)
    space.wait_running()
    space.cordon(first)

    report = drain(cluster, first, wait_timeout=0.001)

    assert (report.failure, report.changed) == ("timeout", False)
    assert by_code(report) == {"pending": ["not_tried"] * 2}
    assert evictions(space) == []


def test_a_pod_with_a_finalizer_is_deleted_once_and_told_as_past_its_grace(
    space: Space, cluster: Cluster
) -> None:
    first = space.nodes(2)[0]
    space.bare_pod("stuck", node=first, grace_seconds=1)
    space.wait_running()
    path = space.path("v1", "pods", "stuck")
    space.api.patch(path, {"metadata": {"finalizers": ["example.com/keep"]}})
    space.cordon(first)

    options = {"disable_eviction": True, "force": True, "grace_period_seconds": 0}
    report = drain(cluster, first, wait_timeout=14.0, **options)
    space.api.patch(path, {"metadata": {"finalizers": None}})

    assert (report.failure, report.changed) == ("timeout", True)
    assert by_code(report) == {"pending": ["terminating_past_grace"]}
    assert "finalizer" in report.msg
    assert len([write for write in space.writes("runner") if write.verb == "delete"]) == 1


def test_a_daemonset_that_is_deleted_meanwhile_takes_its_pods_along(
    space: Space, cluster: Cluster
) -> None:
    first, second = space.nodes(2)
    space.daemonset("agent")
    blocked(space, first, second)
    space.cordon(first)
    background = started(space, cluster, first, ignore_daemonsets=True, wait_timeout=12.0)
    space.api.delete(space.path("apps/v1", "daemonsets", "agent"))

    report = background.result()

    assert by_code(report) == {"pending": ["budget_exhausted"] * 2}


def test_a_jobs_pod_is_evicted_and_made_again_elsewhere(space: Space, cluster: Cluster) -> None:
    first, second = space.nodes(2)
    space.job("batch", node=first)
    space.wait(lambda: len(space.pods("batch", node=first)) == 1, "the job's pod", 20)
    space.cordon(first)

    report = drain(cluster, first)

    assert by_code(report) == {"done": ["evicted"]}
    space.wait(lambda: len(space.pods("batch", node=second)) == 1, "the job's next pod", 20)


def test_two_budgets_that_become_one_meanwhile_let_the_pod_go(
    space: Space, cluster: Cluster
) -> None:
    first = space.nodes(2)[0]
    space.deployment("web", 2, node=first)
    # Before the budgets: what becomes Ready wakes only one of two budgets that select it.
    space.wait_running()
    space.budget("one", "web", max_unavailable=1)
    space.budget("two", "web", max_unavailable=1)
    space.deployment("slow", 1, node=first, stop_seconds=8)
    space.wait_running()
    space.cordon(first)
    background = started(space, cluster, first)
    space.api.delete(space.path("policy/v1", "poddisruptionbudgets", "two"))

    assert by_code(background.result()) == {"done": ["evicted"] * 3}


def test_several_deployments_surge_at_once(space: Space, cluster: Cluster) -> None:
    first = space.nodes(2)[0]
    for name in ("a", "b", "c"):
        space.deployment(name, 2, node=first, strategy=SURGING, start_seconds=1)
    space.wait_running()
    space.cordon(first)

    report = drain(cluster, first, fragile="surge")

    assert by_code(report) == {"done": ["surged"] * 6}
    assert evictions(space) == []
    assert space.pods(node=first) == []
    again = drain(cluster, first, fragile="surge")
    assert (again.changed, by_code(again)) == (False, {})


def test_a_surge_whose_rollout_is_paused_meanwhile_says_so_at_the_timeout(
    space: Space, cluster: Cluster
) -> None:
    first = space.nodes(2)[0]
    space.deployment("web", 2, node=first, strategy=SURGING, start_seconds=8)
    space.wait_running()
    space.cordon(first)
    path = space.path("apps/v1", "deployments", "web")
    background = started(space, cluster, first, fragile="surge", wait_timeout=15.0)
    space.wait(lambda: len(space.pods("web")) == 3, "the first new pod", 15)
    space.api.patch(path, {"spec": {"paused": True}})

    report = background.result()

    assert report.failure == "timeout"
    assert "paused" in report.msg


def test_a_surge_whose_new_pod_lands_on_the_same_node_is_refused(
    space: Space, cluster: Cluster
) -> None:
    first = space.nodes(2)[0]
    space.deployment("web", 1, node=first, pinned=True, strategy=SURGING, spec=TOLERANT)
    space.wait_running()
    space.cordon(first)

    report = drain(cluster, first, fragile="surge", wait_timeout=30.0)

    assert report.failure == "comes_back"
    assert by_code(report) == {"done": ["surged"], "failed": ["comes_back"]}


def test_300_pods_leave_in_one_call(space: Space, cluster: Cluster) -> None:
    first = space.nodes(2, cpu="64", memory="256Gi", pods=400)[0]
    for number in range(10):
        space.deployment(f"web-{number}", 30, node=first)
        space.budget(f"web-{number}", max_unavailable="30%")
    space.wait_running(120)
    space.cordon(first)
    spent = time.process_time()

    report = drain(cluster, first, wait_timeout=240.0)

    assert time.process_time() - spent < 30
    assert by_code(report) == {"done": ["evicted"] * 300}
    assert len(listed(report)) == 300


def test_a_wait_costs_next_to_no_processor_and_leaves_no_thread(
    space: Space, cluster: Cluster
) -> None:
    first, second = space.nodes(2)
    blocked(space, first, second, replicas=20)
    space.cordon(first)
    threads = threading.active_count()
    spent = time.process_time()

    report = drain(cluster, first, wait_timeout=20.0)

    assert report.failure == "timeout"
    assert time.process_time() - spent < 2
    space.wait(lambda: threading.active_count() <= threads, "the drain's threads to end", 5)


class Fickle:
    """A webhook that does not answer in time at first, and denies or allows later."""

    def __init__(self, *decisions: Any) -> None:
        self._decisions = list(decisions)

    def __call__(self, _request: Any) -> Denied | None:
        decision = self._decisions.pop(0) if len(self._decisions) > 1 else self._decisions[0]
        if decision == "slow":
            time.sleep(12)
            return None
        found: Denied | None = decision
        return found


def test_a_webhook_that_does_not_answer_in_time_is_asked_again(
    space: Space, cluster: Cluster
) -> None:
    first = space.nodes(2)[0]
    space.deployment("web", 1, node=first)
    space.wait_running()
    space.cordon(first)
    space.webhook(Fickle("slow", None), failure_policy="Fail")

    report = drain(cluster, first)

    assert by_code(report) == {"done": ["evicted"]}


def test_a_kubevirt_denial_is_waited_for_until_it_is_over(space: Space, cluster: Cluster) -> None:
    first = space.nodes(2)[0]
    space.deployment("web", 1, node=first)
    space.wait_running()
    space.cordon(first)
    denial = Denied("Evacuation in progress: Eviction triggered evacuation of VMI a/b", 429)
    space.webhook(Fickle(denial, None))

    report = drain(cluster, first)

    assert by_code(report) == {"done": ["evicted"]}


def test_a_right_that_is_taken_away_meanwhile_ends_the_call_with_its_name(
    space: Space, tmp_path: Path
) -> None:
    first, second = space.nodes(2)
    blocked(space, first, second)
    space.cordon(first)
    roles = tmp_path / "roles.yml"
    roles.write_text(RIGHTS, encoding="utf-8")
    with cluster_of(space, "evictor", roles=roles) as limited:
        background = started(space, limited, first)
        role = next(
            item["metadata"]["name"]
            for item in space.api.list("/apis/rbac.authorization.k8s.io/v1/clusterroles")
            if space.id in item["metadata"]["name"]
        )
        rules = yaml.safe_load(RIGHTS)["rules"][:-1]
        space.api.patch(f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{role}", {"rules": rules})
        time.sleep(2)
        space.scale("shut", 3)

        report = background.result()

    assert report.failure == "forbidden"
    assert "create pods/eviction" in report.msg
    assert len(listed(report)) >= 2


RIGHTS = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: evictor}
rules:
  - apiGroups: ["", apps, policy, autoscaling, storage.k8s.io]
    resources: ["*"]
    verbs: [get, list, watch]
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [get, list, create, update, patch, delete]
  - apiGroups: [""]
    resources: [pods/eviction]
    verbs: [create]
"""


def test_watches_that_end_after_every_second_event_lose_nothing(space: Space) -> None:
    first = space.nodes(2)[0]
    space.deployment("web", 6, node=first)
    space.budget("web", max_unavailable=2)
    space.wait_running()
    space.cordon(first)
    proxy = Proxy(
        space.plane,
        lambda exchange: Treatment(events=2) if exchange.watches else Treatment(),
    )
    try:
        with cluster_of(space, server=proxy.url) as through:
            report = drain(through, first, wait_timeout=120.0)
    finally:
        proxy.close()

    assert by_code(report) == {"done": ["evicted"] * 6}
    assert space.pods(node=first) == []


def test_an_api_that_throttles_every_eviction_is_asked_at_its_pace(space: Space) -> None:
    first = space.nodes(2)[0]
    space.deployment("web", 4, node=first)
    space.budget("web", max_unavailable=4)
    space.wait_running()
    space.cordon(first)
    busy = Treatment(instead=Answer(429, "TooManyRequests", "slow down", retry_after=0))
    proxy = Proxy(
        space.plane,
        lambda exchange: busy if exchange.path.endswith("/eviction") else Treatment(),
    )
    try:
        with cluster_of(space, server=proxy.url) as through:
            report = drain(through, first, wait_timeout=10.0)
    finally:
        proxy.close()

    posted = [each for each in proxy.exchanges if each.path.endswith("/eviction")]
    assert by_code(report) == {"pending": ["throttled"] * 4}
    assert len(posted) <= 4 * 11
