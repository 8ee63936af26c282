# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The status of budgets in a twin: the arithmetic, failures to work it out, admitted evictions."""

from __future__ import annotations

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import text_of
from tests.unit.twin.behaviour.world import World, add_nodes, budget, template, workload

BUDGETS, REPLICA_SETS = "poddisruptionbudgets.policy", "replicasets.apps"


@pytest.fixture
def world() -> World:
    made = World()
    add_nodes(made, "n1", "n2", "n3")
    return made


def counts(world: World, name: str = "web") -> tuple[int, int, int, int]:
    """Expected, desired, healthy, allowed."""
    status = world.get(BUDGETS, name)["status"]
    names = ("expectedPods", "desiredHealthy", "currentHealthy", "disruptionsAllowed")
    return tuple(status[one] for one in names)


def condition(world: World, name: str = "web") -> tuple[str, str, str]:
    one = world.get(BUDGETS, name)["status"]["conditions"][0]
    return one["status"], one["reason"], one["message"]


@pytest.mark.parametrize(
    ("replicas", "spec", "wanted"),
    [
        pytest.param(1, {"minAvailable": 1}, (1, 1, 1, 0), id="C08 one of one"),
        pytest.param(3, {"maxUnavailable": 0}, (3, 3, 3, 0), id="C08 none may be missing"),
        pytest.param(7, {"minAvailable": "50%"}, (7, 4, 7, 3), id="C09 half of 7 is 4"),
        pytest.param(3, {"maxUnavailable": "40%"}, (3, 1, 3, 2), id="C09 40 % of 3 are 2"),
        pytest.param(1, {"maxUnavailable": "20%"}, (1, 0, 1, 1), id="C09 20 % of 1 is 1"),
        pytest.param(1, {"minAvailable": "80%"}, (1, 1, 1, 0), id="C09 80 % of 1 is 1"),
        pytest.param(8, {"minAvailable": "80%"}, (8, 7, 8, 1), id="C09 80 % of 8 are 7"),
    ],
)
def test_percentages_round_up(world, replicas, spec, wanted):
    world.add("deployments.apps", workload("web", template("web"), replicas=replicas))
    world.add(BUDGETS, budget("web", **spec))
    world.run(5)

    assert counts(world) == wanted
    reason = ("True", "SufficientPods", "") if wanted[3] else ("False", "InsufficientPods", "")
    assert condition(world) == reason
    assert world.get(BUDGETS, "web")["status"]["observedGeneration"] == 1


def test_c10_a_crashing_pod_is_not_healthy(world):
    world.add(REPLICA_SETS, workload("web", template("web"), replicas=3))
    world.run(2)
    first = world.pods(app="web")[0]["metadata"]["name"]
    world.change("pods", first, metadata={"annotations": {"behaviour": "crash-loop"}})
    world.add(BUDGETS, budget("web", minAvailable=2))
    world.run(2)

    assert counts(world) == (3, 2, 2, 0)


@pytest.mark.parametrize(
    ("owner", "message"),
    [
        pytest.param(
            {"apiVersion": "apps/v1", "kind": "DaemonSet"},
            "daemonsets.apps does not implement the scale subresource",
            id="a kind without a scale",
        ),
        pytest.param(
            {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance"},
            'no matches for kind "VirtualMachineInstance" in version "kubevirt.io/v1"',
            id="a kind that is not there",
        ),
        pytest.param(
            {"apiVersion": "apps/v1", "kind": "StatefulSet"},
            'found no controllers for pod "p"',
            id="an owner that is gone",
        ),
    ],
)
def test_c11_an_owner_without_a_scale_allows_nothing(world, owner, message):
    metadata = {"name": "p", "labels": {"app": "web"}}
    metadata["ownerReferences"] = [{**owner, "name": "x", "uid": "u", "controller": True}]
    world.add("pods", {"metadata": metadata, "spec": template("web")["spec"]})
    world.add(BUDGETS, budget("web", maxUnavailable=1))
    world.run(5)

    assert counts(world) == (0, 0, 0, 0)
    assert condition(world) == ("False", "SyncFailed", message)


def test_c11_an_integer_counts_the_pods_of_any_owner(world):
    metadata = {"name": "p", "labels": {"app": "web"}}
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "x", "uid": "u"}
    metadata["ownerReferences"] = [{**owner, "controller": True}]
    world.add("pods", {"metadata": metadata, "spec": template("web")["spec"]})
    world.add(BUDGETS, budget("web", minAvailable=0))
    world.run(5)

    assert counts(world) == (1, 0, 1, 1)


def test_c11_a_custom_owner_with_a_scale_is_asked_for_it(world):
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"scale": {"specReplicasPath": ".spec.size"}, "status": {}},
    }
    names = {"plural": "pools", "kind": "Pool"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    definition = {"metadata": {"name": "pools.example.com"}, "spec": spec}
    world.add("customresourcedefinitions.apiextensions.k8s.io", definition)
    pool = world.add("pools.example.com", {"metadata": {"name": "x"}, "spec": {"size": 4}})
    owner = {"apiVersion": "example.com/v1", "kind": "Pool", "name": "x", "controller": True}
    metadata = {"name": "p", "labels": {"app": "web"}}
    metadata["ownerReferences"] = [{**owner, "uid": pool["metadata"]["uid"]}]
    world.add("pods", {"metadata": metadata, "spec": template("web")["spec"]})
    world.add(BUDGETS, budget("web", maxUnavailable=1))
    world.run(5)

    assert counts(world) == (4, 3, 1, 0)


def test_c12_a_budget_opens_when_others_have_left_and_come_again(world):
    pod = template("web", **{"start-seconds": "3"})
    world.add("deployments.apps", workload("web", pod, replicas=3))
    world.add(BUDGETS, budget("web", maxUnavailable=1))
    world.run(10)
    first, second = (one["metadata"]["name"] for one in world.pods(app="web")[:2])

    assert world.evict(first)
    world.run(1)
    assert not world.evict(second)
    world.until(lambda: world.evict(second), 10)


def test_a_budget_without_pods_allows_none(world):
    world.add(BUDGETS, budget("web", maxUnavailable=1))
    world.run(1)

    assert counts(world) == (0, 0, 0, 0)
    assert condition(world) == ("False", "InsufficientPods", "")


def test_an_admitted_eviction_that_never_shows_is_forgotten_after_two_minutes(world):
    world.add(REPLICA_SETS, workload("web", template("web"), replicas=2))
    world.add(BUDGETS, budget("web", maxUnavailable=1))
    world.run(5)
    name = world.pods(app="web")[0]["metadata"]["name"]
    found = world.get(BUDGETS, "web")
    disrupted = {"disruptedPods": {name: text_of(world.seconds)}, "disruptionsAllowed": 0}
    world._put(BUDGETS, {**found, "status": {**found["status"], **disrupted}}, True)
    world.run(1)
    assert counts(world) == (2, 1, 1, 0)

    began = world.now
    ended = world.until(lambda: counts(world) == (2, 1, 2, 1))
    assert 118 <= ended - began <= 121
    assert "disruptedPods" not in world.get(BUDGETS, "web")["status"]
