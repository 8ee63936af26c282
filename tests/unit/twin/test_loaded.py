# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A cluster that runs, copied into a twin: it goes on where it was, and nothing starts anew."""

from __future__ import annotations

import pytest

pytest.importorskip("cryptography", reason="ansible-core brings it; managed nodes run no twin")

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.registry import find
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    Forbidden,
    InvalidOption,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin import load
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Key
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.pace import (
    Empirical,
    Fixed,
    Times,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.build import (
    twin_loaded,
    twin_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.loaded import learned_pace
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.rbac import User
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import Made, parse_spec
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings

START = 1_800_000_000.0
RBAC = "rbac.authorization.k8s.io"
SHOP = {
    "nodes": [{"pool": "w", "count": 4}],
    "workloads": [
        {"name": "web", "namespace": "shop", "replicas": 5, "start": 7},
        {"name": "db", "namespace": "shop", "kind": "StatefulSet", "replicas": 3},
        {"name": "agent", "namespace": "kube-system", "kind": "DaemonSet"},
        {"name": "batch", "namespace": "shop", "kind": "Job", "replicas": 2},
    ],
    "budgets": [{"name": "web", "namespace": "shop", "max_unavailable": 1}],
}


@pytest.fixture
def started():
    """Starts twins in virtual time, and ends them."""
    running = []

    def start(twin):
        running.append(twin)
        twin.start()
        return twin

    yield start
    for twin in running:
        twin.stop()


def settings(run_up=0.0):
    return Settings(START, virtual=True, run_up=run_up)


def copied(twin, token=""):
    destination = find(Connection(kubeconfig=twin.kubeconfig(token)), environment={})
    try:
        return load.live(destination.cluster())
    finally:
        destination.clock.close()


@pytest.fixture
def shop(started):
    return started(twin_of(parse_spec(SHOP), settings(run_up=600)))


def let_pass(twin, seconds):
    with twin.time.hurried() as passing:
        passing(seconds)


def writes_of(twin):
    found = []
    twin.store.listen(lambda write: found.append(write.change))
    return found


def pods(twin):
    return {
        one["metadata"]["uid"]: (one["metadata"]["name"], one["spec"].get("nodeName"))
        for one in twin.store.objects("pods")
    }


def test_what_runs_goes_on_and_nothing_is_written(shop, started):
    copy = twin_loaded(copied(shop), settings())
    written = writes_of(copy)
    started(copy)
    let_pass(copy, 600)
    assert len(pods(copy)) == 14
    assert pods(copy) == pods(shop)
    assert written == []


def test_a_pod_that_goes_is_replaced_as_fast_as_those_before_it_started(shop, started):
    copy = started(twin_loaded(copied(shop), settings()))
    lost = next(one for one in copy.store.objects("pods") if one["metadata"]["name"][:3] == "web")
    copy.store.remove(Key("pods", "shop", lost["metadata"]["name"]))
    let_pass(copy, 5)
    new = [one for uid, one in pods(copy).items() if uid not in pods(shop)]
    assert [one[0][:3] for one in new] == ["web"]
    budget = Key("poddisruptionbudgets.policy", "shop", "web")
    assert copy.store.get(budget)["status"]["currentHealthy"] == 4
    let_pass(copy, 10)
    assert copy.store.get(budget)["status"]["currentHealthy"] == 5


def changed(objects, resource, name, change):
    """Copied objects with one of them, found by the beginning of its name, made another."""
    done = []
    for made in objects:
        if (
            not done
            and made.resource == resource
            and made.object["metadata"]["name"].startswith(name)
        ):
            done.append(made)
            yield Made(made.resource, made.namespace, change(made.object))
        else:
            yield made
    assert done


def with_ready(status, **more):
    condition = {"type": "Ready", "status": status, "lastTransitionTime": "2027-01-15T08:00:00Z"}
    return lambda raw: {**raw, "status": {**raw["status"], "conditions": [condition], **more}}


def test_a_replica_set_of_the_past_is_not_taken_for_the_present_one(shop, started):
    """They differ by an image, which is no part of a copy."""
    objects = list(copied(shop))
    (present,) = [one.object for one in objects if one.resource == "replicasets.apps"]
    metadata = {
        **present["metadata"],
        "name": "web-0",
        "uid": "past",
        "creationTimestamp": "2020-01-01T00:00:00Z",
        "annotations": {"deployment.kubernetes.io/revision": "0"},
    }
    status = {"replicas": 0, "observedGeneration": metadata["generation"]}
    past = {"metadata": metadata, "spec": {**present["spec"], "replicas": 0}, "status": status}
    copy = started(twin_loaded([*objects, Made("replicasets.apps", "shop", past)], settings()))
    let_pass(copy, 600)
    assert pods(copy) == pods(shop)


@pytest.mark.parametrize("state", ["False", "Unknown"])
def test_a_node_that_is_not_ready_stays_so(shop, started, state):
    objects = changed(copied(shop), "nodes", "w-1", with_ready(state))
    copy = started(twin_loaded(objects, settings()))
    let_pass(copy, 600)
    (found,) = [
        one["status"]
        for one in copy.store.get(Key("nodes", "", "w-1"))["status"]["conditions"]
        if one["type"] == "Ready"
    ]
    assert found == state


@pytest.mark.parametrize(
    "more",
    [
        pytest.param(
            {"containerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff"}}}]},
            id="a-container-that-crashes",
        ),
        pytest.param({"startTime": "2027-01-15T06:00:00Z"}, id="two-hours-and-not-ready"),
    ],
)
def test_a_pod_that_fails_keeps_failing(shop, started, more):
    objects = changed(copied(shop), "pods", "web", with_ready("False", **more))
    copy = started(twin_loaded(objects, settings()))
    let_pass(copy, 3600)
    budget = copy.store.get(Key("poddisruptionbudgets.policy", "shop", "web"))
    assert budget["status"]["currentHealthy"] == 4


def test_a_pod_on_a_node_that_is_missing_is_refused(shop):
    objects = [made for made in copied(shop) if made.object["metadata"]["name"] != "w-2"]
    with pytest.raises(InvalidOption, match=r"pod .* is on node w-2, which is not in it"):
        twin_loaded(objects, settings())


def reader(twin, name, *resources):
    """The token of a user who may list these."""
    rules = [{"apiGroups": [""], "resources": list(resources), "verbs": ["list"]}]
    subjects = [{"kind": "User", "name": name, "apiGroup": RBAC}]
    role = {"kind": "ClusterRole", "name": name, "apiGroup": RBAC}
    for plural, document in (
        ("clusterroles", {"rules": rules}),
        ("clusterrolebindings", {"subjects": subjects, "roleRef": role}),
    ):
        kind = twin.api.kinds.named(f"{plural}.{RBAC}")
        twin.api.lifecycle.create(kind, {"metadata": {"name": name}, **document}, "")
    return twin.add_user(User(name))


def test_what_may_not_be_read_is_left_out_but_for_nodes_and_pods(shop):
    some, few = reader(shop, "some", "nodes", "pods"), reader(shop, "few", "nodes")
    assert {made.resource for made in copied(shop, some)} == {"nodes", "pods"}
    with pytest.raises(Forbidden):
        copied(shop, few)


def test_a_pace_that_is_given_goes_before_the_one_that_is_learned():
    ran = condition_at("PodScheduled", 0), condition_at("Ready", 7)
    pod = {"metadata": {"name": "a"}, "status": {"conditions": list(ran)}}
    learned = learned_pace([pod], {"stop": 5})
    assert learned.others == Times(Empirical((7.0,)), Fixed(5.0))
    assert learned_pace([pod], {"start": 3}).others == Times(Fixed(3.0))


def condition_at(kind, second):
    moment = f"2026-12-01T10:00:0{second}Z"
    return {"type": kind, "status": "True", "lastTransitionTime": moment}


def test_a_pod_learns_the_zone_of_its_node_and_keeps_it(started):
    zoned = {**SHOP, "nodes": [{"pool": "w", "count": 2, "zones": ["z1", "z2"]}]}
    twin = started(twin_of(parse_spec(zoned), settings(run_up=60)))
    zones = {
        (one["spec"]["nodeName"], one["metadata"]["labels"]["topology.kubernetes.io/zone"])
        for one in twin.store.objects("pods")
    }
    assert zones == {("w-1", "z1"), ("w-2", "z2")}


def test_what_belongs_to_an_object_that_is_no_controller_goes_with_it(started):
    twin = started(twin_of(parse_spec({"nodes": [{"pool": "w"}]}), settings(run_up=10)))
    node = twin.store.get(Key("nodes", "", "w-1"))
    owner = {"apiVersion": "v1", "kind": "Node", "name": "w-1", "uid": node["metadata"]["uid"]}
    lease = {"metadata": {"name": "a", "ownerReferences": [owner]}, "spec": {}}
    kind = twin.api.kinds.named("leases.coordination.k8s.io")
    twin.api.lifecycle.create(kind, lease, "default")
    twin.store.remove(Key("nodes", "", "w-1"))
    let_pass(twin, 5)
    assert twin.store.objects(kind.resource) == []
