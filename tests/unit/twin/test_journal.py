# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a twin's journal tells of a small world, and how it is asked for."""

from __future__ import annotations

import pytest

pytest.importorskip("cryptography", reason="ansible-core brings it; managed nodes run no twin")

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.asking import Asking
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.build import twin_of
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import parse_spec
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings

START = 1_800_000_000.0
POD = "/api/v1/namespaces/shop/pods/"
SHOP = {
    "nodes": [{"pool": "w", "count": 2}],
    "workloads": [
        {"name": "web", "namespace": "shop", "replicas": 2, "start": 5, "stop": 3},
        {"name": "agent", "namespace": "shop", "kind": "DaemonSet"},
    ],
    "budgets": [{"name": "web", "namespace": "shop", "max_unavailable": 1}],
}


@pytest.fixture
def twin():
    made = twin_of(parse_spec(SHOP), Settings(START, virtual=True, run_up=120))
    made.start()
    yield made
    made.stop()


@pytest.fixture
def asking(twin):
    return Asking(twin.kubeconfig())


def close(twin, node):
    raw = next(one for one in twin.store.objects("nodes") if one["metadata"]["name"] == node)
    twin.store.put("nodes", {**raw, "spec": {**raw["spec"], "unschedulable": True}})


def web_on(twin, node):
    return [pod for pod in twin.store.pods_on(node) if pod["metadata"]["labels"]["app"] == "web"]


def test_nothing_of_the_run_up_is_told(asking):
    now, entries = asking.journal()
    assert now == START
    assert entries == ()


def test_closing_a_node_concerns_the_pods_that_would_have_to_leave(twin, asking):
    close(twin, "w-1")
    _now, (closed, concerned) = asking.journal()
    assert (closed.event, closed.subject, closed.at) == ("cordoned", "w-1", START)
    assert (concerned.event, concerned.owner) == ("concerned", "Deployment shop/web")
    assert (concerned.node, concerned.budgets) == ("w-1", ("shop/web",))


def test_an_eviction_is_told_from_its_beginning_to_the_replacement(twin, asking):
    close(twin, "w-1")
    (pod,) = web_on(twin, "w-1")
    name = pod["metadata"]["name"]
    assert asking.post(f"{POD}{name}/eviction", eviction(name))[0] == 201
    asking.let_pass(60)
    now, entries = asking.journal()
    assert now == START + 60
    of_pods = [one for one in entries if one.event not in ("exhausted", "open")][2:]
    assert [one.event for one in of_pods] == ["evicted", "created", "bound", "gone", "ready"]
    assert {one.owner for one in of_pods} == {"Deployment shop/web"}
    assert of_pods[0].budgets == ("shop/web",)
    assert of_pods[2].node == "w-2"


def test_a_denied_eviction_is_told_with_the_servers_sentence(twin, asking):
    for pod in (*web_on(twin, "w-1"), *web_on(twin, "w-2")):
        name = pod["metadata"]["name"]
        status, _body = asking.post(f"{POD}{name}/eviction", eviction(name))
    assert status == 429
    (denied,) = [one for one in asking.journal()[1] if one.event == "denied"]
    assert denied.subject == f"shop/{name}"
    assert denied.detail.startswith("The disruption budget web ")


def eviction(name):
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}


def test_an_owner_in_a_namespace_that_is_being_deleted_starts_nothing_and_time_goes_on(
    twin, asking
):
    raw = next(one for one in twin.store.objects("namespaces") if one["metadata"]["name"] == "shop")
    metadata = {**raw["metadata"], "deletionTimestamp": "2027-01-15T08:00:00Z"}
    twin.store.put("namespaces", {**raw, "metadata": metadata, "status": {"phase": "Terminating"}})
    (pod,) = web_on(twin, "w-1")
    name = pod["metadata"]["name"]
    assert asking.post(f"{POD}{name}/eviction", eviction(name))[0] == 201
    asking.let_pass(60)
    now, entries = asking.journal()
    assert now == START + 60
    assert [one.event for one in entries if one.subject == f"shop/{name}"] == ["evicted", "gone"]
    assert "created" not in {one.event for one in entries}
