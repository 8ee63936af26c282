# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Kubelets, lost nodes, the scheduler and the scaler of a twin."""

from __future__ import annotations

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.catalogue import (
    Settings,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.pace import (
    Fixed,
    Pace,
    Times,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.scaler import (
    InstanceType,
    Pool,
)
from tests.unit.twin.behaviour.world import World, add_nodes, template, workload

DEPLOYMENTS, ATTACHMENTS = "deployments.apps", "volumeattachments.storage.k8s.io"


@pytest.fixture
def world() -> World:
    made = World()
    add_nodes(made, "n1", "n2", "n3")
    return made


def run_pod(world: World, settle: float = 1, **annotations: str) -> None:
    metadata = {"name": "p", "labels": {"app": "p"}, "annotations": annotations}
    spec = {**template("p")["spec"], "terminationGracePeriodSeconds": 30}
    world.add("pods", {"metadata": metadata, "spec": spec})
    world.run(settle)


def taints(world: World, node: str) -> list[tuple[str, str]]:
    found = world.get("nodes", node)["spec"].get("taints", [])
    return [(one["key"].rpartition("/")[2], one["effect"]) for one in found]


# --- kubelets ------------------------------------------------------------------------------


def test_a_new_node_becomes_ready_and_loses_its_taint(world):
    assert taints(world, "n1") == []
    conditions = world.get("nodes", "n1")["status"]["conditions"]
    assert ("Ready", "True") in [(one["type"], one["status"]) for one in conditions]


def test_a_pod_without_annotations_is_ready_and_gone_at_once(world):
    run_pod(world)
    assert len(world.ready_pods(app="p")) == 1
    world.delete("pods", "p")
    world.run(0.1)
    assert world.pods() == []


def test_a_pod_takes_as_long_to_start_as_it_says_and_less_than_a_second_more(world):
    run_pod(world, settle=0, **{"start-seconds": "5"})
    assert 5 <= world.until(lambda: world.ready_pods(app="p")) - 1 <= 6.1


@pytest.mark.parametrize(
    ("stop", "grace", "least"),
    [("10", None, 10), ("60", 30, 30), ("10", 3, 3), ("0", None, 0)],
)
def test_a_pod_stops_within_its_grace_period(world, stop, grace, least):
    run_pod(world, **{"stop-seconds": stop})
    world.delete("pods", "p", grace=grace)
    began = world.now
    assert least <= world.until(lambda: not world.pods()) - began <= least + 1.1


def test_a_pod_that_never_stops_goes_by_force_only(world):
    run_pod(world, behaviour="never-stops")
    world.delete("pods", "p")
    world.run(600)
    assert len(world.pods()) == 1
    world.delete("pods", "p", grace=0)
    assert world.pods() == []


def test_a_crashing_pod_is_restarted_every_five_seconds(world):
    run_pod(world, settle=21, behaviour="crash-loop")
    status = world.get("pods", "p")["status"]["containerStatuses"][0]
    assert status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert 4 <= status["restartCount"] <= 5


def test_a_pod_becomes_ready_when_its_fault_is_taken_away(world):
    run_pod(world, settle=5, behaviour="never-ready")
    assert world.ready_pods() == []
    world.change("pods", "p", metadata={"annotations": {}})
    world.run(1)
    assert len(world.ready_pods()) == 1


@pytest.mark.parametrize(("code", "phase"), [("0", "Succeeded"), ("3", "Failed")])
def test_a_pod_ends_by_itself(world, code, phase):
    run_pod(world, settle=10, **{"finish-seconds": "3", "exit-code": code})
    assert world.get("pods", "p")["status"]["phase"] == phase


def test_a_pace_by_class_holds_for_pods_without_annotations():
    slow = Times(Fixed(20.0), Fixed(8.0))
    world = World(Settings(pace=Pace(Times(), "app", {"p": slow})))
    add_nodes(world, "n1")
    run_pod(world, settle=0)
    assert 20 <= world.until(lambda: world.ready_pods(app="p")) - 1 <= 21
    world.delete("pods", "p")
    began = world.now
    assert 7.5 <= world.until(lambda: not world.pods()) - began <= 8.6


# --- lost nodes ----------------------------------------------------------------------------


def test_a_node_that_dies_loses_its_pods_after_grace_and_toleration(world):
    world.add(DEPLOYMENTS, workload("web", template("web"), replicas=3))
    world.until(lambda: world.settled(DEPLOYMENTS, "web", 3))
    began = world.now
    world.change("nodes", "n1", metadata={"labels": {"kubelet": "stopped"}})
    unknown = world.until(lambda: ("unreachable", "NoExecute") in taints(world, "n1"))
    assert 49 <= unknown - began <= 52
    world.run(1)
    assert len(world.ready_pods(app="web")) == 2

    replaced = world.until(lambda: len(world.ready_pods(app="web")) == 3)
    assert 299 <= replaced - unknown <= 302
    assert len(world.pods(app="web")) == 4
    world.change("nodes", "n1", metadata={"labels": {}})
    world.run(2)
    assert len(world.pods(app="web")) == 3
    assert taints(world, "n1") == []


def test_a_kubelet_that_reports_not_ready_keeps_its_pods_for_five_minutes(world):
    run_pod(world)
    node = world.get("pods", "p")["spec"]["nodeName"]
    world.change("nodes", node, metadata={"annotations": {"behaviour": "not-ready"}})
    world.run(1)
    assert taints(world, node) == [("not-ready", "NoSchedule"), ("not-ready", "NoExecute")]
    world.run(290)
    assert len(world.pods()) == 1
    world.run(15)
    assert world.pods() == []


def test_out_of_service_frees_pods_and_volumes_of_a_dead_node(world):
    storage = {"metadata": {"name": "fast"}, "provisioner": "csi.example.com"}
    world.add("storageclasses.storage.k8s.io", storage)
    claim = {"metadata": {"name": "data"}}
    claim["spec"] = {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"]}
    pod = template("db")
    world.add("statefulsets.apps", workload("db", pod, replicas=1, volumeClaimTemplates=[claim]))
    world.until(lambda: world.ready_pods(app="db"))
    dead = world.get("pods", "db-0")["spec"]["nodeName"]
    world.change("nodes", dead, metadata={"labels": {"kubelet": "stopped"}})
    world.run(400)
    assert [one["spec"]["nodeName"] for one in world.pods()] == [dead]

    out = {"key": "node.kubernetes.io/out-of-service", "value": "x", "effect": "NoExecute"}
    world.change("nodes", dead, spec={"taints": [*world.get("nodes", dead)["spec"]["taints"], out]})
    world.until(lambda: world.ready_pods(app="db"), 30)
    world.run(1)
    elsewhere = world.get("pods", "db-0")["spec"]["nodeName"]
    assert elsewhere != dead
    assert [one["spec"]["nodeName"] for one in world.store.objects(ATTACHMENTS)] == [elsewhere]


def test_pods_of_a_vanished_node_are_collected_within_a_minute(world):
    run_pod(world)
    world.delete("nodes", world.get("pods", "p")["spec"]["nodeName"])
    began = world.now
    assert 40 <= world.until(lambda: not world.pods()) - began <= 61


def test_a_cordon_taints_the_node_and_keeps_pods_away(world):
    for node in ("n1", "n2"):
        world.change("nodes", node, spec={"unschedulable": True})
    world.run(1)
    run_pod(world)
    assert taints(world, "n1") == [("unschedulable", "NoSchedule")]
    assert world.get("pods", "p")["spec"]["nodeName"] == "n3"


# --- the scheduler and the scaler ----------------------------------------------------------


def test_a_pod_that_fits_nowhere_says_why_and_comes_when_there_is_room(world):
    world.change("nodes", "n1", spec={"unschedulable": True})
    world.run(1)
    world.add("pods", {"metadata": {"name": "p"}, "spec": template("p", cpu="8")["spec"]})
    world.run(1)
    condition = world.get("pods", "p")["status"]["conditions"][0]
    assert (condition["type"], condition["reason"], condition["message"]) == (
        "PodScheduled",
        "Unschedulable",
        "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.",
    )
    add_nodes(world, "n4", cpu="16")
    world.run(1)
    assert world.get("pods", "p")["spec"]["nodeName"] == "n4"


def test_the_scaler_packs_waiting_pods_on_the_cheapest_type_once_it_has_come():
    small = InstanceType("small", 1.0, {"cpu": "2", "memory": "8Gi", "pods": "50"})
    large = InstanceType("large", 3.0, {"cpu": "8", "memory": "32Gi", "pods": "50"})
    pool = Pool("burst", (small, large), delay=Fixed(60.0))
    world = World(Settings(pools=(pool,)))
    add_nodes(world, "n1", cpu="1")
    world.add(DEPLOYMENTS, workload("web", template("web", cpu="1500m"), replicas=5))
    world.run(50)
    assert world.ready_pods() == []
    world.run(15)

    assert len(world.ready_pods(app="web")) == 5
    added = [one for one in world.store.objects("nodes") if one["metadata"]["name"] != "n1"]
    kinds = [one["metadata"]["labels"]["node.kubernetes.io/instance-type"] for one in added]
    assert kinds == ["large"]


def test_the_scaler_stops_at_the_limit_of_its_pool():
    small = InstanceType("small", 1.0, {"cpu": "2", "memory": "8Gi", "pods": "50"})
    world = World(Settings(pools=(Pool("burst", (small,), limit=2),)))
    add_nodes(world, "n1", cpu="1")
    world.add(DEPLOYMENTS, workload("web", template("web", cpu="1500m"), replicas=5))
    world.run(100)

    assert len(world.store.objects("nodes")) == 3
    assert len(world.ready_pods(app="web")) == 2
