# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Every method of the Cluster against a real API server."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.registry import find
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import (
    Inbox,
    SystemClock,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.watching import (
    Selection,
    follow,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    ApiFailure,
    Conflict,
    Forbidden,
    Gone,
    InvalidOption,
    NotFound,
    Refused,
    Unauthorized,
    Unreachable,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    AUTOSCALERS,
    LEASES,
    NODES,
    PODS,
    Resource,
)

READ_NODES = """
kind: ClusterRole
metadata: {name: nodes}
rules: [{apiGroups: [""], resources: [nodes], verbs: [get, list, watch]}]
"""


@pytest.fixture
def cluster(space):
    cluster = find(Connection(kubeconfig=str(space.kubeconfig())), environment={}).cluster()
    yield cluster
    cluster.close()


@pytest.fixture
def reader(space, tmp_path: Path):
    """A user who may read nodes, and nothing else."""
    roles = tmp_path / "roles.yml"
    roles.write_text(READ_NODES)
    cluster = find(
        Connection(kubeconfig=str(space.kubeconfig("reader", roles=roles))), environment={}
    ).cluster()
    yield cluster
    cluster.close()


def definition(group: str) -> dict:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object"}},
    }
    names = {"plural": "probes", "singular": "probe", "kind": "Probe", "listKind": "ProbeList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"probes.{group}"},
        "spec": {"group": group, "names": names, "scope": "Cluster", "versions": [version]},
    }


def served(cluster, resource) -> bool:
    try:
        cluster.list(resource)
    except NotFound:
        return False
    return True


def lease(name: str, holder: str, version: str = "") -> dict:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name, **({"resourceVersion": version} if version else {})},
        "spec": {"holderIdentity": holder},
    }


def test_the_description_names_context_and_server(cluster, plane):
    assert cluster.description.endswith(f"({plane.server})")


def test_a_list_is_limited_by_namespace_and_selectors(space, cluster):
    (node,) = space.nodes(1)
    space.bare_pod("a", node=node)
    space.bare_pod("b", node=node)
    space.wait_running()
    found = cluster.list(PODS, namespace=space.namespace, label_selector="app=a")
    assert [pod.key for pod in found.items] == [f"{space.namespace}/a"]
    found = cluster.list(PODS, field_selector=f"spec.nodeName={node}")
    assert sorted(pod.meta.name for pod in found.items) == ["a", "b"]


def test_an_object_is_created_read_replaced_and_deleted(space, cluster):
    where = {"namespace": space.namespace}
    created = cluster.create(LEASES, lease("l", "us"), **where)
    assert cluster.get(LEASES, "l", **where) == created
    version = created.meta.resource_version
    replaced = cluster.replace(LEASES, "l", lease("l", "them", version), **where)
    assert (replaced.holder, replaced.meta.uid) == ("them", created.meta.uid)
    cluster.delete(LEASES, "l", uid=created.meta.uid, **where)
    with pytest.raises(NotFound, match=f"Lease {space.namespace}/l does not exist"):
        cluster.get(LEASES, "l", **where)


def test_a_create_of_what_exists_is_a_conflict(space, cluster):
    cluster.create(LEASES, lease("l", "us"), namespace=space.namespace)
    with pytest.raises(Conflict):
        cluster.create(LEASES, lease("l", "them"), namespace=space.namespace)


def test_a_replace_of_an_older_version_is_a_conflict(space, cluster):
    where = {"namespace": space.namespace}
    first = cluster.create(LEASES, lease("l", "us"), **where)
    cluster.replace(LEASES, "l", lease("l", "them", first.meta.resource_version), **where)
    with pytest.raises(Conflict):
        cluster.replace(LEASES, "l", lease("l", "us", first.meta.resource_version), **where)


def test_a_patch_whose_test_holds_is_carried_out_and_otherwise_a_conflict(space, cluster):
    (name,) = space.nodes(1)
    uid = cluster.get(NODES, name).meta.uid
    close = {"op": "add", "path": "/spec/unschedulable", "value": True}
    with pytest.raises(Conflict, match=f"Node {name} has changed meanwhile; nothing was written"):
        cluster.patch(
            NODES, name, [{"op": "test", "path": "/metadata/uid", "value": "other"}, close]
        )
    assert not cluster.get(NODES, name).unschedulable
    test = {"op": "test", "path": "/metadata/uid", "value": uid}
    assert cluster.patch(NODES, name, [test, close]).unschedulable


def test_a_patch_that_makes_an_invalid_object_is_no_conflict(space, cluster):
    (name,) = space.nodes(1)
    uid = cluster.get(NODES, name).meta.uid
    operations = [
        {"op": "test", "path": "/metadata/uid", "value": uid},
        {"op": "add", "path": "/metadata/labels/bad label", "value": "x"},
    ]
    with pytest.raises(ApiFailure, match="bad label") as caught:
        cluster.patch(NODES, name, operations)
    assert caught.value.code == "api_failure"


def test_a_delete_with_another_uid_is_a_conflict(space, cluster):
    cluster.create(LEASES, lease("l", "us"), namespace=space.namespace)
    with pytest.raises(Conflict):
        cluster.delete(LEASES, "l", uid="other", namespace=space.namespace)


def test_an_eviction_returns_what_the_api_answers(space, cluster):
    (node,) = space.nodes(1)
    space.bare_pod("free", node=node)
    space.bare_pod("guarded", node=node)
    space.budget("guarded", max_unavailable=0)
    space.wait_running()
    uid = cluster.get(PODS, "guarded", namespace=space.namespace).meta.uid
    refused = cluster.evict(space.namespace, "guarded", uid=uid)
    other = cluster.evict(space.namespace, "free", uid="other")
    unknown = cluster.evict(space.namespace, "nobody", uid=uid)
    assert (refused.status, other.status, unknown.status) == (429, 409, 404)
    assert refused.body["details"]["causes"][0]["reason"] == "DisruptionBudget"


def test_an_accepted_eviction_takes_the_pod_away(space, cluster):
    (node,) = space.nodes(1)
    space.bare_pod("web", node=node)
    space.wait_running()
    uid = cluster.get(PODS, "web", namespace=space.namespace).meta.uid
    assert cluster.evict(space.namespace, "web", uid=uid, grace_period_seconds=1).status == 201
    space.wait(lambda: space.pod("web") is None, "the pod is gone")


def test_allowed_answers_for_this_user(cluster, reader):
    assert cluster.allowed("create", PODS, subresource="eviction")
    assert reader.allowed("list", NODES)
    assert not reader.allowed("patch", NODES)
    assert not reader.allowed("create", PODS, namespace="default", subresource="eviction")


def test_a_missing_right_is_one_sentence_with_verb_and_resource(space, reader):
    with pytest.raises(Forbidden) as caught:
        reader.list(PODS, namespace=space.namespace)
    assert (caught.value.verb, caught.value.resource) == ("list", "pods")
    assert str(caught.value) == (
        f'User "{caught.value.user}" may not list pods in namespace {space.namespace}. '
        'Grant the verb "list" on "pods" to this user by RBAC, or use another user.'
    )
    with pytest.raises(Forbidden, match="may not list horizontalpodautoscalers in the whole"):
        reader.list(AUTOSCALERS)


def test_a_watch_goes_on_from_a_listing_and_ends_after_its_time(space, cluster):
    (name,) = space.nodes(1)
    listing = cluster.list(NODES, field_selector=f"metadata.name={name}")
    space.cordon(name)
    events = cluster.watch(
        NODES,
        listing.resource_version,
        field_selector=f"metadata.name={name}",
        timeout_seconds=1,
    )
    assert [event.object.unschedulable for event in events if event.type == "MODIFIED"][-1]


def test_a_watch_from_a_version_that_is_none_is_an_error(cluster):
    with pytest.raises(ApiFailure):
        list(cluster.watch(NODES, "not-a-version", timeout_seconds=1))


def test_a_version_that_is_older_than_all_the_server_knows_is_gone(space, cluster):
    """The API server's memory of a new kind of object begins when the kind is made."""
    group = f"{space.id}.example.com"
    space.add("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition(group))
    probes = Resource("Probe", group, "v1", "probes", False, lambda raw: raw)
    space.wait(lambda: served(cluster, probes), "the new kind is served")
    with pytest.raises(Gone):
        list(cluster.watch(probes, "1", timeout_seconds=1))


def test_a_follower_sees_a_node_come_change_and_vanish(space, cluster):
    inbox, clock = Inbox(), SystemClock()
    follower = follow(
        cluster,
        NODES,
        inbox,
        tag="n",
        clock=clock,
        selection=Selection(label_selector=f"test-space={space.id}"),
    )
    assert clock.receive(inbox, 10)[1].items == ()
    (name,) = space.nodes(1)
    space.remove_node(name)
    seen = []
    while not (seen and seen[-1].gone):
        seen.append(clock.receive(inbox, 20)[1])
    follower.stop()
    assert {event.object.name for event in seen} == {name}


def test_a_token_that_expires_is_renewed_once_while_eight_threads_work(space):
    """The API server keeps a token for valid up to 10 s longer: 35 s are three lives of it."""
    config = space.kubeconfig("short", token_seconds=10)
    cluster = find(Connection(kubeconfig=str(config)), environment={}).cluster()
    until = time.monotonic() + 35
    problems = []

    def work():
        while time.monotonic() < until:
            try:
                cluster.list(NODES, label_selector=f"test-space={space.id}")
            except Exception as error:  # noqa: BLE001 - whatever it is, the test tells it
                problems.append(error)
            time.sleep(0.5)

    workers = [threading.Thread(target=work) for _each in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    cluster.close()
    assert problems == []
    assert 3 <= space.token_requests("short") <= 8


def test_an_address_where_no_server_is_gets_one_sentence():
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:1 did not answer to list nodes: Connect"):
        find(Connection(host="https://127.0.0.1:1", api_key="x"), environment={}).cluster().list(
            NODES
        )


def test_a_certificate_that_nobody_vouches_for_is_refused_at_once(plane):
    cluster = find(Connection(host=plane.server, api_key="x"), environment={}).cluster()
    with pytest.raises(Unreachable, match=r"TLS failed: .*certificate verify failed"):
        cluster.list(NODES)


def test_a_wrong_token_is_unauthorized(plane):
    connection = Connection(host=plane.server, api_key="wrong", validate_certs=False)
    with pytest.raises(Unauthorized, match="does not accept the credentials"):
        find(connection, environment={}).cluster().list(NODES)


def test_another_cluster_than_the_one_named_is_refused(space):
    connection = Connection(kubeconfig=str(space.kubeconfig()), cluster="production")
    with pytest.raises(Refused, match="Cluster production: the connection leads to "):
        find(connection, environment={}).cluster()


def test_a_kubeconfig_that_is_not_there_is_named():
    with pytest.raises(InvalidOption, match="there is no kubeconfig at /nowhere"):
        find(Connection(kubeconfig="/nowhere"), environment={}).cluster()


def test_a_context_that_the_kubeconfig_lacks_is_named(space):
    with pytest.raises(InvalidOption, match=r"context: .*staging"):
        find(
            Connection(kubeconfig=str(space.kubeconfig()), context="staging"), environment={}
        ).cluster()
