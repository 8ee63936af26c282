# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""policy/replaceable: what keeps a node from being replaced, and the setting that lets it go."""

from __future__ import annotations

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.objects import Owner
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.settings import (
    AggressiveModeConfig,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.volumes import (
    Storage,
    parse_scheduling_storage,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.replaceable import (
    Scope,
    kept_by,
    refusals,
)
from tests.unit.builders import NOW, budget, controller, fleet, node, pod

APP = {"app": "web"}
WEB = controller("web", kind="ReplicaSet", replicas=3)
GUARD = budget("web", selects=APP, max_unavailable=1, allowed=1, healthy=3, desired=2, expected=3)
PODS = tuple(pod(f"web-{i}", owner=WEB, node=f"n{i}", labels=APP) for i in (1, 2, 3))
NODES = (node("n1"), node("n2"), node("n3"))
WORLD = (*NODES, WEB, GUARD, *PODS)
JOB = Owner("batch/v1", "Job", "import", "job-1")
LONE = controller("lone", kind="ReplicaSet", replicas=1)
DB = controller("db", kind="StatefulSet", replicas=3, ordered=True)
PROXY = controller("proxy", kind="DaemonSet")

MOVES = [
    pytest.param((), id="replicas-with-a-budget"),
    pytest.param((pod("proxy-1", owner=PROXY), PROXY), id="a-daemonset-pod-goes-with-its-node"),
    pytest.param((pod("static", mirror=True),), id="a-mirror-pod-goes-with-its-node"),
    pytest.param((pod("done", phase="Succeeded", owner=JOB),), id="a-job-pod-that-has-finished"),
    pytest.param((pod("bare", deleted_at=NOW),), id="a-pod-that-goes-anyway"),
    pytest.param(
        (controller("a", replicas=2), pod("a-1", owner=controller("a", replicas=2)),
         pod("a-2", owner=controller("a", replicas=2))),
        id="replicas-that-only-lack-a-budget",
    ),
]  # fmt: skip


def found(*more, storage=None, fragile="defer", **settings):
    scope = Scope(AggressiveModeConfig(**settings), fragile)
    return refusals(fleet(*WORLD, *more), storage or Storage(), scope)


@pytest.mark.parametrize("more", MOVES)
def test_a_node_that_may_be_replaced(more):
    assert found(*more) == ()


KEEPS = [
    pytest.param(pod("bare"), "unmanaged", "ignore_problem_pods_without_controller", id="bare"),
    pytest.param(pod("job-1", owner=JOB), "job_pod", "ignore_problem_job_pods", id="job"),
    pytest.param(
        pod("web-9", owner=WEB, labels=APP, annotations={"karpenter.sh/do-not-disrupt": "true"}),
        "marked_fragile",
        "ignore_problem_removal_disabled_pods",
        id="do-not-disrupt",
    ),
    pytest.param(
        pod("web-9", owner=WEB, labels=APP,
            annotations={"autoscaling.cast.ai/removal-disabled": "true"}),
        "marked_fragile",
        "ignore_problem_removal_disabled_pods",
        id="removal-disabled",
    ),
    pytest.param(
        pod("web-9", owner=WEB, labels=APP,
            annotations={"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}),
        "marked_fragile",
        "ignore_problem_removal_disabled_pods",
        id="safe-to-evict-false",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("one", "code", "setting"), KEEPS)
def test_a_pod_that_keeps_its_node_until_its_setting_lets_it_go(one, code, setting):
    (refusal,) = found(one)
    assert (refusal.node, refusal.object) == ("n1", f"Pod {one.key}")
    assert (refusal.code, refusal.setting) == (code, setting)
    assert one.key in refusal.detail
    assert found(one, **{setting: True}) == ()


def claim_of(key):
    raw = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1"]}
    here = {"key": key, "operator": "In", "values": ["n1"]}
    term = {"matchExpressions": [here if key else raw]}
    volume = {
        "metadata": {"name": "disk"},
        "spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}},
    }
    claim = {
        "metadata": {"namespace": "shop", "name": "data"},
        "spec": {"volumeName": "disk"},
    }
    return parse_scheduling_storage(claims=[claim], volumes=[volume])


def test_data_on_the_node_itself_keeps_it_and_data_of_its_zone_does_not():
    writer = pod("web-9", owner=WEB, labels=APP, claims=("data",))
    local, zonal = claim_of("kubernetes.io/hostname"), claim_of("topology.kubernetes.io/zone")
    (refusal,) = found(writer, storage=local)
    assert (refusal.code, refusal.setting) == ("local_volume", "ignore_local_persistent_volumes")
    assert found(writer, storage=local, ignore_local_persistent_volumes=True) == ()
    assert found(writer, storage=zonal) == ()


def test_a_budget_that_never_lets_go_keeps_a_node_and_one_that_is_used_up_does_not():
    frozen = budget("lone", selects={"app": "b"}, min_available=2, healthy=2, desired=2, expected=2)
    pair = controller("pair", kind="ReplicaSet", replicas=2)
    stays = [pod(f"pair-{i}", owner=pair, labels={"app": "b"}, node=f"n{i}") for i in (1, 2)]
    world = (pair, frozen, *stays)
    assert [one.code for one in found(*world)] == ["budget_allows_none"] * 2
    assert found(*world, ignore_blocking_pdb=True) == ()
    used_up = budget("web", selects=APP, max_unavailable=1, healthy=2, desired=2, expected=3)
    tired = refusals(fleet(*NODES, WEB, used_up, *PODS), Storage(), Scope(AggressiveModeConfig()))
    assert tired == ()


@pytest.mark.parametrize(
    ("world", "code"),
    [
        pytest.param((LONE, pod("lone-1", owner=LONE)), "single_replica", id="single-replica"),
        pytest.param(
            (DB, *(pod(f"db-{i}", owner=DB, node=f"n{i + 1}") for i in range(3))),
            "ordered_stateful_set",
            id="ordered-set",
        ),
    ],
)
def test_fragile_pods_keep_their_nodes_unless_the_user_says_otherwise(world, code):
    assert {one.code for one in found(*world)} == {code}
    assert {one.setting for one in found(*world)} == {"fragile"}
    assert found(*world, fragile="evict") == ()


@pytest.mark.parametrize(
    "mark",
    [
        {"annotations": {"karpenter.sh/do-not-disrupt": "true"}},
        {"annotations": {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}},
        {"labels": {"autoscaling.cast.ai/removal-disabled": "true"}},
    ],
)
def test_a_node_that_asks_to_be_kept(mark):
    setting = "ignore_problem_removal_disabled_nodes"
    (refusal,) = found(node("n4", **mark))
    assert (refusal.node, refusal.code, refusal.setting) == ("n4", "marked_node", setting)
    assert found(node("n4", **mark), **{setting: True}) == ()


def test_the_mark_of_our_own_maintenance_is_none():
    ours = {"karpenter.sh/do-not-disrupt": "true", "fleet.evenkeel.dev/maintenance": "true"}
    assert found(node("n4", annotations=ours)) == ()


def test_no_setting_lets_a_node_of_the_control_plane_go():
    (refusal,) = found(node("n4", control_plane=True))
    assert (refusal.code, refusal.setting) == ("control_plane_node", "")


def test_refusals_by_node():
    some = found(pod("bare"), pod("job-1", owner=JOB), node("n4", control_plane=True))
    assert {name: len(those) for name, those in kept_by(some).items()} == {"n1": 2, "n4": 1}
