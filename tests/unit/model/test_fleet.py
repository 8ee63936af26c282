# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""model/fleet: a snapshot and what can be looked up in it."""

from __future__ import annotations

from tests.unit.builders import budget, controller, fleet, node, pod

DEPLOYMENT = controller("web")
OLD = controller("web-old", kind="ReplicaSet", owner=DEPLOYMENT)
NEW = controller("web-new", kind="ReplicaSet", owner=DEPLOYMENT)
ALONE = controller("db", kind="StatefulSet")


def names(pods):
    return [one.meta.name for one in pods]


def test_pods_are_found_by_their_node():
    world = fleet(node("n1"), pod("a"), pod("b", node="n2"), pod("c"))
    assert (names(world.pods_on("n1")), names(world.pods_on("n3"))) == (["a", "c"], [])
    assert world.node_by_name["n1"].name == "n1"


def test_the_top_controller_of_a_pod_is_the_deployment_above_its_replica_set():
    of_web, of_db = pod("a", owner=NEW), pod("b", owner=ALONE)
    unmanaged, stranger = pod("c"), pod("d", owner=controller("gone"))
    world = fleet(DEPLOYMENT, OLD, NEW, ALONE, of_web, of_db, unmanaged, stranger)
    assert world.controller_of(of_web) == DEPLOYMENT
    assert world.controller_of(of_db) == ALONE
    assert world.controller_of(unmanaged) is None
    assert world.controller_of(stranger) is None


def test_the_replicas_of_a_deployment_are_those_of_all_its_replica_sets():
    pods = (pod("a", owner=OLD), pod("b", owner=NEW), pod("c", owner=ALONE))
    world = fleet(DEPLOYMENT, OLD, NEW, ALONE, *pods)
    assert sorted(names(world.replicas_of(DEPLOYMENT))) == ["a", "b"]
    assert names(world.replicas_of(OLD)) == ["a"]
    assert names(world.replicas_of(ALONE)) == ["c"]


def test_budgets_of_a_pod_are_those_of_its_namespace_that_select_it():
    labels = {"app": "web", "tier": "front"}
    world = fleet(
        budget("by-tier", selects={"tier": "front"}),
        budget("by-app", selects={"app": "web"}),
        budget("other-app", selects={"app": "db"}),
        budget("elsewhere", namespace="other", selects={"app": "web"}),
        budget("without-selector"),
    )
    found = world.budgets_for(pod(labels=labels))
    assert [one.key for one in found] == ["shop/by-app", "shop/by-tier"]
