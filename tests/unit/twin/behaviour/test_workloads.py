# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Deployments, replica sets, stateful sets, daemon sets and jobs of a twin, as whole stories."""

from __future__ import annotations

import pytest

from tests.unit.twin.behaviour.world import (
    World,
    add_nodes,
    budget,
    template,
    workload,
)

DEPLOYMENTS, REPLICA_SETS = "deployments.apps", "replicasets.apps"
STATEFUL_SETS, DAEMON_SETS = "statefulsets.apps", "daemonsets.apps"


@pytest.fixture
def world() -> World:
    made = World()
    add_nodes(made, "n1", "n2", "n3")
    return made


def deploy(world: World, replicas: int = 3, pod=None, **spec) -> None:
    world.add(DEPLOYMENTS, workload("web", pod or template("web"), replicas=replicas, **spec))
    world.until(lambda: world.settled(DEPLOYMENTS, "web", replicas))


def test_a_deployment_spreads_over_the_least_requested_nodes(world):
    deploy(world)

    assert sorted(pod["spec"]["nodeName"] for pod in world.pods(app="web")) == ["n1", "n2", "n3"]
    conditions = world.get(DEPLOYMENTS, "web")["status"]["conditions"]
    assert [(one["type"], one["reason"]) for one in conditions] == [
        ("Available", "MinimumReplicasAvailable"),
        ("Progressing", "NewReplicaSetAvailable"),
    ]


@pytest.mark.parametrize(
    ("rolling", "least", "most"),
    [
        pytest.param({"maxSurge": 1, "maxUnavailable": 0}, 3, 4, id="one more and none fewer"),
        pytest.param({"maxSurge": 0, "maxUnavailable": 1}, 2, 3, id="none more and one fewer"),
        pytest.param({"maxSurge": "25%", "maxUnavailable": "25%"}, 3, 4, id="percentages"),
    ],
)
def test_a_rollout_keeps_within_its_surge_and_what_may_be_missing(world, rolling, least, most):
    deploy(world, strategy={"type": "RollingUpdate", "rollingUpdate": rolling})
    seen: list[tuple[int, int]] = []

    def rolled() -> bool:
        living = [
            pod for pod in world.pods(app="web") if "deletionTimestamp" not in pod["metadata"]
        ]
        seen.append((len(world.ready_pods(app="web")), len(living)))
        return world.settled(DEPLOYMENTS, "web", 3)

    newer = template("web", **{"start-seconds": "2", "version": "2"})
    world.change(DEPLOYMENTS, "web", spec={"template": newer})
    world.until(rolled)

    assert min(ready for ready, _all in seen) == least
    assert max(every for _ready, every in seen) == most
    sets = world.store.objects(REPLICA_SETS)
    assert [one["spec"]["replicas"] for one in sets] == [0, 3]
    assert world.get(DEPLOYMENTS, "web")["metadata"]["annotations"] == {
        "deployment.kubernetes.io/revision": "2"
    }


def test_recreate_starts_no_new_pod_before_the_old_ones_have_gone(world):
    stopping = template("web", **{"stop-seconds": "5"})
    deploy(world, pod=stopping, strategy={"type": "Recreate"})
    seen: list[int] = []

    def rolled() -> bool:
        hashes = {pod["metadata"]["labels"]["pod-template-hash"] for pod in world.pods(app="web")}
        seen.append(len(hashes))
        return world.settled(DEPLOYMENTS, "web", 3)

    world.change(DEPLOYMENTS, "web", spec={"template": template("web", version="2")})
    world.until(rolled)

    assert max(seen) == 1


def test_a_paused_deployment_scales_but_does_not_roll(world):
    deploy(world)
    newer = template("web", version="2")
    world.change(DEPLOYMENTS, "web", spec={"template": newer, "paused": True, "replicas": 5})
    world.run(30)

    assert [one["spec"]["replicas"] for one in world.store.objects(REPLICA_SETS)] == [5]
    assert len(world.ready_pods(app="web")) == 5


def test_a_rollout_that_makes_no_progress_passes_its_deadline(world):
    deploy(world, progressDeadlineSeconds=60)
    stuck = template("web", behaviour="never-ready")
    world.change(DEPLOYMENTS, "web", spec={"template": stuck})

    def progressing() -> dict:
        conditions = world.get(DEPLOYMENTS, "web")["status"]["conditions"]
        return next(one for one in conditions if one["type"] == "Progressing")

    began = world.now
    ended = world.until(lambda: progressing()["reason"] == "ProgressDeadlineExceeded")

    assert progressing()["status"] == "False"
    assert 59 <= ended - began <= 62


def test_old_sets_go_beyond_the_history_limit(world):
    deploy(world, revisionHistoryLimit=1)
    for version in ("2", "3", "4"):
        world.change(DEPLOYMENTS, "web", spec={"template": template("web", version=version)})
        world.until(lambda: world.settled(DEPLOYMENTS, "web", 3))
        world.run(5)

    revisions = [
        one["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
        for one in world.store.objects(REPLICA_SETS)
    ]
    assert revisions == ["3", "4"]


def test_a_set_gives_up_first_what_costs_least(world):
    deploy(world)
    kept = world.pods(app="web")[0]["metadata"]["name"]
    for pod in world.pods(app="web"):
        cost = "5" if pod["metadata"]["name"] == kept else "1"
        annotations = {"controller.kubernetes.io/pod-deletion-cost": cost}
        world.change("pods", pod["metadata"]["name"], metadata={"annotations": annotations})
    world.change(DEPLOYMENTS, "web", spec={"replicas": 1})
    world.until(lambda: world.settled(DEPLOYMENTS, "web", 1))

    assert [pod["metadata"]["name"] for pod in world.pods(app="web")] == [kept]


def test_a_set_releases_a_pod_that_it_no_longer_selects_and_adopts_an_orphan(world):
    world.add(REPLICA_SETS, workload("web", template("web"), replicas=2))
    world.run(5)
    first = world.pods(app="web")[0]["metadata"]["name"]
    world.change("pods", first, metadata={"labels": {"app": "other"}})
    world.run(5)

    assert len(world.pods(app="web")) == 2
    assert "ownerReferences" not in world.get("pods", first)["metadata"]
    world.change("pods", first, metadata={"labels": {"app": "web"}})
    world.run(5)
    assert len(world.pods(app="web")) == 2


def test_a_drain_under_a_budget_waits_for_each_replacement(world):
    deploy(world, pod=template("web", **{"start-seconds": "4", "stop-seconds": "2"}))
    world.add("poddisruptionbudgets.policy", budget("web", maxUnavailable=1))
    world.run(1)
    for name in [pod["metadata"]["name"] for pod in world.pods(app="web")]:
        world.until(lambda name=name: world.evict(name))
        others = [pod["metadata"]["name"] for pod in world.ready_pods(app="web")]
        world.run(0.5)
        assert not world.evict(others[0])
    world.until(lambda: world.settled(DEPLOYMENTS, "web", 3))


def test_an_ordered_set_starts_one_after_the_other_and_gives_each_its_claim(world):
    claims = [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]
    pod = template("db", **{"start-seconds": "2"})
    storage = {"metadata": {"name": "fast"}, "provisioner": "csi.example.com"}
    world.add("storageclasses.storage.k8s.io", storage)
    claims[0]["spec"]["storageClassName"] = "fast"
    world.add(STATEFUL_SETS, workload("db", pod, replicas=3, volumeClaimTemplates=claims))
    most: list[int] = []

    def settled() -> bool:
        waiting = [one for one in world.pods(app="db") if one not in world.ready_pods(app="db")]
        most.append(len(waiting))
        return world.settled(STATEFUL_SETS, "db", 3)

    world.until(settled)
    world.run(1)

    assert max(most) == 1
    assert [one["metadata"]["name"] for one in world.pods(app="db")] == ["db-0", "db-1", "db-2"]
    bound = [one["status"]["phase"] for one in world.store.objects("persistentvolumeclaims")]
    assert bound == ["Bound"] * 3
    attached = world.store.objects("volumeattachments.storage.k8s.io")
    assert [one["status"]["attached"] for one in attached] == [True] * 3


def test_a_parallel_set_starts_all_at_once(world):
    pod = template("db", **{"start-seconds": "2"})
    world.add(STATEFUL_SETS, workload("db", pod, replicas=3, podManagementPolicy="Parallel"))
    world.run(1)

    assert len(world.pods(app="db")) == 3
    assert world.ready_pods(app="db") == []


def test_a_stateful_rollout_goes_down_to_its_partition(world):
    world.add(STATEFUL_SETS, workload("db", template("db"), replicas=3))
    world.until(lambda: world.settled(STATEFUL_SETS, "db", 3))
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
    newer = template("db", version="2")
    world.change(STATEFUL_SETS, "db", spec={"template": newer, "updateStrategy": strategy})
    world.run(30)

    by_name = {
        one["metadata"]["name"]: one["metadata"].get("annotations", {}).get("version")
        for one in world.pods(app="db")
    }
    assert by_name == {"db-0": None, "db-1": "2", "db-2": "2"}
    status = world.get(STATEFUL_SETS, "db")["status"]
    assert (status["updatedReplicas"], status["currentReplicas"]) == (2, 1)
    assert status["currentRevision"] != status["updateRevision"]


def test_daemons_run_on_cordoned_nodes_too_and_on_those_that_come(world):
    world.change("nodes", "n1", spec={"unschedulable": True})
    world.run(1)
    world.add(DAEMON_SETS, workload("agent", template("agent")))
    world.run(5)
    add_nodes(world, "n4")
    world.run(5)

    on = sorted(pod["spec"]["nodeName"] for pod in world.ready_pods(app="agent"))
    assert on == ["n1", "n2", "n3", "n4"]
    status = world.get(DAEMON_SETS, "agent")["status"]
    assert (status["desiredNumberScheduled"], status["numberReady"]) == (4, 4)


def test_daemons_roll_one_node_at_a_time(world):
    world.add(DAEMON_SETS, workload("agent", template("agent")))
    world.run(5)
    newer = template("agent", **{"start-seconds": "2", "version": "2"})
    world.change(DAEMON_SETS, "agent", spec={"template": newer})
    world.run(0.1)
    least: list[int] = []

    def rolled() -> bool:
        least.append(len(world.ready_pods(app="agent")))
        status = world.get(DAEMON_SETS, "agent")["status"]
        return status.get("updatedNumberScheduled") == 3 and status["numberReady"] == 3

    world.until(rolled)

    assert min(least) == 2


def test_a_job_completes_with_as_many_pods_as_it_asks_for(world):
    pod = template("once", spec={"restartPolicy": "Never"}, **{"finish-seconds": "3"})
    job = {"metadata": {"name": "once"}, "spec": {"completions": 3, "parallelism": 2}}
    job["spec"]["template"] = pod
    world.add("jobs.batch", job)
    world.run(30)

    status = world.get("jobs.batch", "once")["status"]
    assert status["succeeded"] == 3
    assert [one["type"] for one in status["conditions"]] == ["SuccessCriteriaMet", "Complete"]


def test_a_job_fails_beyond_its_backoff_limit(world):
    pod = template("once", spec={"restartPolicy": "Never"})
    pod["metadata"]["annotations"] = {"finish-seconds": "1", "exit-code": "1"}
    spec = {"backoffLimit": 1, "template": pod}
    world.add("jobs.batch", {"metadata": {"name": "once"}, "spec": spec})
    world.run(120)

    status = world.get("jobs.batch", "once")["status"]
    assert status["failed"] == 2
    assert [one["type"] for one in status["conditions"]] == ["FailureTarget", "Failed"]


@pytest.mark.parametrize(
    ("propagation", "sets", "pods"),
    [("Background", 0, 0), ("Foreground", 0, 0), ("Orphan", 1, 3)],
)
def test_what_a_deleted_deployment_owned(world, propagation, sets, pods):
    deploy(world)
    world.delete(DEPLOYMENTS, "web", propagation)
    world.run(10)

    assert world.get(DEPLOYMENTS, "web") is None
    assert len(world.store.objects(REPLICA_SETS)) == sets
    assert len(world.pods(app="web")) == pods
