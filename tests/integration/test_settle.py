# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Waiting for workloads and nodes on a real control plane."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.maintenance import (
    MaintenanceOptions,
    maintenance,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.settle import (
    SettleOptions,
    settle,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    Interrupted,
    InvalidOption,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
)
from tests.control_plane.space import Space

from .calling import Listener, cluster_of, run_of


@pytest.fixture
def cluster(space: Space) -> Iterator[Cluster]:
    with cluster_of(space) as opened:
        yield opened


def workload(space: Space, name: str, ready: int, kind: str = "Deployment") -> dict[str, Any]:
    return {"kind": kind, "namespace": space.namespace, "name": name, "ready": ready}


def waited(cluster: Cluster, *, listener: Any = None, **options: Any) -> Report:
    run = run_of(progress=listener or Listener())
    return settle(SettleOptions(**{"wait_timeout": 30, **options}), cluster, run)


def later(seconds: float, act: Callable[[], Any]) -> threading.Timer:
    timer = threading.Timer(seconds, act)
    timer.start()
    return timer


def found(report: Report) -> list[tuple[str, str]]:
    """Name and code of each outcome, what has settled first."""
    return [
        (outcome.workload or outcome.node, outcome.code)
        for outcome in (*report.done, *report.pending)
    ]


def test_workloads_that_are_ready_have_settled_at_once(space: Space, cluster: Cluster) -> None:
    space.nodes(2)
    space.deployment("web", 3)
    space.statefulset("db", 2)
    space.wait_running()
    report = waited(
        cluster, workloads=(workload(space, "web", 3), workload(space, "db", 2, "StatefulSet"))
    )
    assert found(report) == [
        (f"{space.namespace}/web", "settled"),
        (f"{space.namespace}/db", "settled"),
    ]
    assert (report.failure, report.changed) == ("", False)


def test_it_waits_until_the_replacement_is_ready_and_tells_what_it_waits_for(
    space: Space, cluster: Cluster
) -> None:
    space.nodes(2)
    space.deployment("web", 2, start_seconds=3)
    space.wait_running()
    pod = space.pods("web")[0]["metadata"]["name"]
    assert space.api.evict(space.namespace, pod).status == 201
    space.wait(lambda: space.pod(pod) is None, "the evicted pod is gone")
    listener = Listener()
    mark = space.audit.mark()
    began = time.monotonic()
    report = waited(cluster, workloads=(workload(space, "web", 2),), listener=listener)
    assert report.failure == ""
    assert time.monotonic() - began > 1.5
    assert any("web: 1 of 2 Ready" in text for text in listener.texts())
    # One list and one watch per collection: deployments, replicasets, pods.
    assert len(space.requests(since=mark)) == 6


def test_an_owner_that_is_scaled_down_or_deleted_meanwhile_has_settled(
    space: Space, cluster: Cluster
) -> None:
    space.nodes(1)
    space.deployment("small", 1)
    space.deployment("gone", 2)
    space.wait_running()
    later(1, lambda: space.api.delete(space.path("apps/v1", "deployments", "gone")))
    report = waited(cluster, workloads=(workload(space, "small", 3), workload(space, "gone", 5)))
    assert found(report)[0] == (f"{space.namespace}/small", "settled")
    assert found(report)[1][1] in ("owner_gone", "settled")
    assert report.failure == ""


def test_a_workload_that_was_deleted_before_has_settled(space: Space, cluster: Cluster) -> None:
    report = waited(cluster, workloads=(workload(space, "never", 2),))
    assert found(report) == [(f"{space.namespace}/never", "owner_gone")]


def unschedulable(pod: dict[str, Any]) -> bool:
    conditions = pod["status"].get("conditions", ())
    return any(condition.get("reason") == "Unschedulable" for condition in conditions)


def test_a_timeout_names_the_pods_and_why_no_node_takes_them(
    space: Space, cluster: Cluster
) -> None:
    space.nodes(1, cpu="2")
    space.deployment("web", 1, cpu="1500m")
    space.wait_running()
    space.scale("web", 2)
    space.wait(lambda: any(map(unschedulable, space.pods("web"))), "the scheduler has tried")
    report = waited(cluster, workloads=(workload(space, "web", 2),), wait_timeout=3)
    assert report.failure == "timeout"
    assert found(report) == [(f"{space.namespace}/web", "replicas_not_ready")]
    assert "is Pending, no node takes it: 0/" in report.msg
    assert "Insufficient cpu" in report.msg


def test_a_node_is_back_when_it_is_ready_with_a_new_boot_id_and_its_daemon_pods(
    space: Space, cluster: Cluster
) -> None:
    (n1,) = space.nodes(1)
    space.daemonset("agent")
    space.wait_running()
    chosen = MaintenanceOptions(NodeSelection(nodes=(n1,)), "entering")
    maintenance(chosen, cluster, run_of())
    early = waited(cluster, nodes=(n1,), boot_id_changed=True, wait_timeout=2)
    assert (early.failure, found(early)) == ("timeout", [(n1, "not_rebooted")])
    space.power_off(n1)
    later(1.5, lambda: space.power_on(n1))
    listener = Listener()
    report = waited(cluster, nodes=(n1,), boot_id_changed=True, listener=listener)
    assert (report.failure, found(report)) == ("", [(n1, "back")])
    assert listener.told[0].node == n1


def test_a_node_whose_daemon_pods_are_not_ready_is_not_back(space: Space, cluster: Cluster) -> None:
    (n1,) = space.nodes(1)
    space.daemonset("agent", behaviour="never-ready")
    space.wait_running()
    report = waited(cluster, nodes=(n1,), wait_timeout=2)
    assert (report.failure, found(report)) == ("timeout", [(n1, "daemon_pods_not_ready")])
    assert f"{space.namespace}/agent-" in report.msg


def test_a_node_that_does_not_exist_yet_is_waited_for(space: Space, cluster: Cluster) -> None:
    (n1,) = space.nodes(1)
    document = space.node(n1)
    space.remove_node(n1)
    fresh = {
        "metadata": {"name": n1, "labels": document["metadata"]["labels"]},
        "status": document["status"],
    }
    later(1, lambda: space.api.create("/api/v1/nodes", fresh))
    assert found(waited(cluster, nodes=(n1,))) == [(n1, "back")]


def test_a_reboot_of_a_node_without_a_record_cannot_be_told_and_fails_at_once(
    space: Space, cluster: Cluster
) -> None:
    (n1,) = space.nodes(1)
    began = time.monotonic()
    report = waited(cluster, nodes=(n1,), boot_id_changed=True)
    assert (report.failure, found(report)) == ("no_boot_id", [(n1, "no_boot_id")])
    assert time.monotonic() - began < 5


def test_c16_check_mode_tells_how_things_stand_and_neither_waits_nor_fails(
    space: Space, cluster: Cluster
) -> None:
    (n1,) = space.nodes(1)
    space.power_off(n1)
    report = settle(SettleOptions(nodes=(n1,)), cluster, run_of(check_mode=True))
    assert (report.failure, found(report)) == ("", [(n1, "node_not_ready")])
    assert report.msg.startswith("It would wait for this: ")
    assert space.writes() == []


@pytest.mark.parametrize("wait_timeout", [60, 0], ids=["a-limit", "zero-is-no-limit"])
def test_an_interruption_ends_the_wait_within_a_second(
    space: Space, cluster: Cluster, wait_timeout: int
) -> None:
    (n1,) = space.nodes(1)
    space.power_off(n1)
    began = time.monotonic()
    run = run_of(interruption=lambda: "SIGTERM" if time.monotonic() - began > 2 else "")
    with pytest.raises(Interrupted):
        settle(SettleOptions(nodes=(n1,), wait_timeout=wait_timeout), cluster, run)
    assert time.monotonic() - began < 5


def test_nothing_to_wait_for_asks_nobody(space: Space, cluster: Cluster) -> None:
    assert waited(cluster).msg == "There is nothing to wait for."
    assert space.requests() == []


@pytest.mark.parametrize(
    "raw",
    [
        {"kind": "Deployment", "namespace": "a", "name": "b"},
        {"kind": "Job", "namespace": "a", "name": "b", "ready": 1},
        {"kind": "Deployment", "namespace": "a", "name": "b", "ready": "many"},
    ],
)
def test_what_is_not_a_workload_is_refused_before_anything_is_read(
    space: Space, cluster: Cluster, raw: dict[str, Any]
) -> None:
    with pytest.raises(InvalidOption) as problem:
        waited(cluster, workloads=(raw,))
    assert problem.value.option == "workloads"
    assert space.requests() == []
