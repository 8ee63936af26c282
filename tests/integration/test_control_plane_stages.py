# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How KWOK's pods and nodes behave when a test asks them to misbehave."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.control_plane.api import MERGE_PATCH
from tests.control_plane.space import Space, is_ready


def phase(pod: dict[str, Any] | None) -> str | None:
    return str(pod["status"]["phase"]) if pod else None


def waiting_reason(pod: dict[str, Any]) -> str | None:
    state = pod["status"]["containerStatuses"][0]["state"]
    return str(state["waiting"]["reason"]) if "waiting" in state else None


def restarts(pod: dict[str, Any]) -> int:
    return int(pod["status"]["containerStatuses"][0]["restartCount"])


def pod_of(space: Space, name: str) -> dict[str, Any]:
    found = space.pod(name)
    assert found is not None
    return found


def seconds_until(space: Space, condition: Any, what: str) -> float:
    started = time.monotonic()
    space.wait(condition, what)
    return time.monotonic() - started


@pytest.mark.parametrize(
    ("stop_seconds", "grace_seconds", "least", "most"),
    [
        pytest.param(3, 60, 3.0, 20.0, id="takes-as-long-as-it-says"),
        pytest.param(60, 2, 2.0, 20.0, id="is-killed-at-the-end-of-its-grace-period"),
        pytest.param(None, 60, 0.0, 10.0, id="stops-at-once-by-default"),
    ],
)
def test_a_pod_stops(
    space: Space, stop_seconds: int | None, grace_seconds: int, least: float, most: float
) -> None:
    [node] = space.nodes(1)
    space.bare_pod("slow", node=node, stop_seconds=stop_seconds, grace_seconds=grace_seconds)
    space.wait_running()

    space.api.delete(space.path("v1", "pods", "slow"))

    taken = seconds_until(space, lambda: space.pod("slow") is None, "it is gone")
    # The API server's clock starts with the request, this test's after its answer.
    assert least - 0.2 <= taken <= most


def test_an_update_while_a_pod_stops_does_not_start_its_delay_anew(space: Space) -> None:
    [node] = space.nodes(1)
    space.bare_pod("slow", node=node, stop_seconds=3)
    space.wait_running()
    path = space.path("v1", "pods", "slow")
    space.api.delete(path)

    def gone_in_spite_of_another_update() -> bool:
        if space.pod("slow") is None:
            return True
        patch = {"metadata": {"annotations": {"at": str(time.monotonic())}}}
        return space.api.request("PATCH", path, patch, MERGE_PATCH).status == 404

    space.wait(gone_in_spite_of_another_update, "it is gone", seconds=20)


def test_a_pod_that_starts_slowly_is_running_before_it_is_ready(space: Space) -> None:
    [node] = space.nodes(1)
    space.bare_pod("slow", node=node, start_seconds=2)
    space.wait(lambda: phase(space.pod("slow")) == "Running", "it runs")
    assert not is_ready(pod_of(space, "slow"))

    taken = seconds_until(space, lambda: is_ready(pod_of(space, "slow")), "it is Ready")

    assert 1.0 <= taken <= 20.0


def test_a_crash_looping_pod_is_running_not_ready_and_restarts(space: Space) -> None:
    [node] = space.nodes(1)
    space.bare_pod("crash", node=node, behaviour="crash-loop")

    space.wait(lambda: phase(space.pod("crash")) == "Running", "it runs")
    space.wait(lambda: restarts(pod_of(space, "crash")) >= 2, "it restarts")

    pod = pod_of(space, "crash")
    assert (phase(pod), is_ready(pod), waiting_reason(pod)) == (
        "Running",
        False,
        "CrashLoopBackOff",
    )


def test_a_pod_never_becomes_ready_until_its_behaviour_is_taken_back(space: Space) -> None:
    [node] = space.nodes(1)
    space.bare_pod("unready", node=node, behaviour="never-ready")
    space.wait_running()
    assert not is_ready(pod_of(space, "unready"))

    space.annotate_pod("unready", behaviour=None)
    space.wait(lambda: is_ready(pod_of(space, "unready")), "it is Ready")

    space.annotate_pod("unready", behaviour="never-ready")
    space.wait(lambda: not is_ready(pod_of(space, "unready")), "it is not Ready again")


def test_a_pod_that_never_stops_goes_only_by_force(space: Space) -> None:
    [node] = space.nodes(1)
    space.bare_pod("stuck", node=node, behaviour="never-stops", grace_seconds=1)
    space.wait_running()

    path = space.path("v1", "pods", "stuck")
    space.api.delete(path)
    time.sleep(2.5)
    assert pod_of(space, "stuck")["metadata"]["deletionTimestamp"]

    space.api.delete(path, {"gracePeriodSeconds": 0})
    assert space.pod("stuck") is None


@pytest.mark.parametrize(
    ("exit_code", "expected"),
    [pytest.param(0, "Succeeded", id="well"), pytest.param(1, "Failed", id="with-an-error")],
)
def test_a_pod_finishes(space: Space, exit_code: int, expected: str) -> None:
    [node] = space.nodes(1)
    space.bare_pod(
        "once",
        node=node,
        finish_seconds=1,
        exit_code=exit_code,
        spec={"restartPolicy": "Never"},
    )

    space.wait(lambda: phase(space.pod("once")) == expected, "it finishes")


def test_a_job_runs_and_completes(space: Space) -> None:
    space.nodes(1)
    space.job("import", finish_seconds=1, completions=2)

    def succeeded() -> bool:
        status = space.api.get(space.path("batch/v1", "jobs", "import")).get("status", {})
        return bool(status.get("succeeded") == 2)

    space.wait(succeeded, "the Job is complete")


def test_a_daemonset_has_a_pod_on_every_node_cordoned_ones_too(space: Space) -> None:
    names = space.nodes(3)
    space.cordon(names[0])
    space.daemonset("agent")

    space.wait_running()

    assert sorted(pod["spec"]["nodeName"] for pod in space.pods("agent")) == sorted(names)


def test_an_autoscaler_keeps_its_deployment_within_bounds(space: Space) -> None:
    space.nodes(1)
    space.deployment("web", 1)
    space.autoscaler("web", minimum=3, maximum=4)

    space.wait(lambda: len(space.pods("web")) == 3, "it is scaled to the minimum")


def test_an_evicted_pod_moves_to_another_node(space: Space) -> None:
    first, second = space.nodes(2)
    space.deployment("web", 2, node=first)
    space.wait_running()
    assert {pod["spec"]["nodeName"] for pod in space.pods("web")} == {first}

    space.cordon(first)
    for pod in space.pods("web"):
        answer = space.api.evict(space.namespace, pod["metadata"]["name"])
        assert answer.status == 201

    space.wait(
        lambda: [pod["spec"].get("nodeName") for pod in space.pods("web")] == [second, second],
        "both run on the other node",
    )


def test_a_pinned_pod_stays_pending_when_its_node_is_closed(space: Space) -> None:
    first, _unused = space.nodes(2)
    space.deployment("web", 1, node=first, pinned=True)
    space.wait_running()
    space.cordon(first)

    space.api.evict(space.namespace, space.pods("web")[0]["metadata"]["name"])

    space.wait(lambda: [phase(pod) for pod in space.pods("web")] == ["Pending"], "it is Pending")


def test_a_node_without_power_is_tainted_and_its_pods_do_not_stop(space: Space) -> None:
    [node] = space.nodes(1)
    space.bare_pod("app", node=node, grace_seconds=1)
    space.wait_running()

    space.power_off(node)
    space.api.delete(space.path("v1", "pods", "app"))

    space.wait(
        lambda: "node.kubernetes.io/unreachable" in taints(space, node), "the node is tainted"
    )
    assert not is_ready(space.node(node))
    time.sleep(1.5)
    assert pod_of(space, "app")["metadata"]["deletionTimestamp"]

    space.power_on(node)
    space.wait(lambda: space.pod("app") is None, "the pod stops once the node is back")


def test_a_rebooted_node_has_another_boot_id_and_is_ready(space: Space) -> None:
    [node] = space.nodes(1)
    before = space.node(node)["status"]["nodeInfo"]["bootID"]

    space.reboot(node)

    space.wait(lambda: is_ready(space.node(node)), "it is Ready")
    assert space.node(node)["status"]["nodeInfo"]["bootID"] != before


def test_a_kubelet_reports_that_its_node_is_not_ready_and_recovers(space: Space) -> None:
    [node] = space.nodes(1)

    space.not_ready(node)
    space.wait(lambda: "node.kubernetes.io/not-ready" in taints(space, node), "it is tainted")
    assert not is_ready(space.node(node))

    space.recover(node)
    space.wait(lambda: is_ready(space.node(node)) and not taints(space, node), "it is back")


def test_a_node_vanishes(space: Space) -> None:
    first, _unused = space.nodes(2)

    space.remove_node(first)

    assert space.api.find(f"/api/v1/nodes/{first}") is None


def test_a_csi_volume_is_attached_where_its_pod_runs_and_detached_after_it(space: Space) -> None:
    first, second = space.nodes(2)
    space.claim("data")
    space.statefulset("db", 1, node=first, claims=["data"])
    space.wait_running()
    space.wait(lambda: attached(space, first), "it is attached to the first node")

    space.cordon(first)
    space.api.evict(space.namespace, "db-0")

    space.wait(lambda: attached(space, second), "it is attached to the second node")
    assert space.attachments(first) == []


def test_a_local_volume_holds_its_pod_on_its_node(space: Space) -> None:
    names = space.nodes(3)
    space.claim("data", node=names[2])
    space.deployment("db", 1, claims=["data"])

    space.wait_running()

    assert [pod["spec"]["nodeName"] for pod in space.pods("db")] == [names[2]]


def attached(space: Space, node: str) -> bool:
    return [item["status"]["attached"] for item in space.attachments(node)] == [True]


def taints(space: Space, node: str) -> list[str]:
    return [taint["key"] for taint in space.node(node)["spec"].get("taints", [])]
