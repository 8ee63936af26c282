# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Rules: when a workload has settled and a node is back, and what is said while it is not."""

from __future__ import annotations

from typing import Optional

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.settling import (
    MovedWorkload,
    Standing,
    judge_node,
    judge_workload,
)
from tests.unit.builders import NOW, controller, node, pod

WEB = controller("web", kind="Deployment", replicas=3)
SET = controller("web-5d", kind="ReplicaSet", replicas=3, owner=WEB)
DAEMONS = controller("agent", kind="DaemonSet", replicas=1)


def replica(name: str, **fields: object) -> Pod:
    return pod(name, owner=SET, **fields)  # type: ignore[arg-type]


def web(ready: int = 3) -> MovedWorkload:
    return MovedWorkload("Deployment", "shop", "web", ready)


@pytest.mark.parametrize(
    ("wanted", "pods", "expected"),
    [
        pytest.param(
            3,
            [replica("a"), replica("b"), replica("c")],
            Standing(True, "settled", "Deployment shop/web: 3 of 3 Ready."),
            id="all are Ready",
        ),
        pytest.param(
            2,
            [replica("a"), replica("b")],
            Standing(True, "settled", "Deployment shop/web: 2 of 2 Ready."),
            id="as many as before, though the owner wants more",
        ),
        pytest.param(
            5,
            [replica("a"), replica("b"), replica("c")],
            Standing(True, "settled", "Deployment shop/web: 3 of 3 Ready."),
            id="scaled down meanwhile: as many as it wants now",
        ),
        pytest.param(
            3,
            [replica("a"), replica("b"), replica("c", deleted_at=NOW)],
            Standing(
                False,
                "replicas_not_ready",
                "Deployment shop/web: 2 of 3 Ready. 1 not created yet by its controller.",
            ),
            id="one that is leaving does not count",
        ),
        pytest.param(
            3,
            [replica("a"), replica("b"), replica("c", phase="Pending", waiting="ImagePullBackOff")],
            Standing(
                False,
                "replicas_not_ready",
                "Deployment shop/web: 2 of 3 Ready."
                " shop/c is Pending on n1 and waits in ImagePullBackOff.",
            ),
            id="a container that waits is named with its reason",
        ),
    ],
)
def test_a_workload(wanted: int, pods: list[Pod], expected: Standing) -> None:
    fleet = Fleet(pods=tuple(pods), controllers=(WEB, SET))
    assert judge_workload(web(wanted), fleet) == expected


def test_a_workload_that_was_deleted_is_not_waited_for() -> None:
    expected = Standing(True, "owner_gone", "Deployment shop/web was deleted meanwhile.")
    assert judge_workload(web(), Fleet()) == expected


def test_a_pod_of_another_owner_is_not_counted() -> None:
    fleet = Fleet(pods=(replica("a"), pod("stranger")), controllers=(WEB, SET))
    assert not judge_workload(web(2), fleet).settled


def test_many_pods_are_not_all_named() -> None:
    owner = controller("db", kind="StatefulSet", replicas=9)
    pods = tuple(pod(f"db-{n}", owner=owner, ready=False) for n in range(9))
    fleet = Fleet(pods=pods, controllers=(owner,))
    detail = judge_workload(MovedWorkload("StatefulSet", "shop", "db", 9), fleet).detail
    assert "shop/db-4 is Running on n1, not Ready. And 4 more." in detail


@pytest.mark.parametrize(
    ("ready", "boot_before", "pods", "code"),
    [
        pytest.param("True", None, [], "back", id="Ready"),
        pytest.param("False", None, [], "node_not_ready", id="not Ready"),
        pytest.param("Unknown", None, [], "node_not_ready", id="silent"),
        pytest.param("True", "boot-n1", [], "not_rebooted", id="Ready with its old boot ID"),
        pytest.param("True", "boot-before", [], "back", id="Ready with a new boot ID"),
        pytest.param(
            "True",
            None,
            [pod("agent-1", owner=DAEMONS, ready=False)],
            "daemon_pods_not_ready",
            id="its DaemonSet pod is not Ready",
        ),
        pytest.param(
            "True", None, [pod("web-1", ready=False)], "back", id="other pods do not hold it up"
        ),
        pytest.param(
            "True",
            None,
            [pod("agent-1", owner=DAEMONS, ready=False, node="n2")],
            "back",
            id="another node's DaemonSet pod does not hold it up",
        ),
    ],
)
def test_a_node(ready: str, boot_before: Optional[str], pods: list[Pod], code: str) -> None:
    fleet = Fleet(nodes=(node("n1", ready=ready),), pods=tuple(pods))
    standing = judge_node("n1", fleet, boot_before)
    assert (standing.code, standing.settled) == (code, code == "back")


def test_a_node_that_is_not_there_is_waited_for() -> None:
    expected = Standing(False, "node_not_ready", "Node n1 does not exist.")
    assert judge_node("n1", Fleet(), None) == expected
