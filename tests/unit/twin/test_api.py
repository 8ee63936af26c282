# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The API of a twin without its server. Its answers beside the real ones: test_twin_agreement."""

from __future__ import annotations

import json
from random import Random

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.api import Api
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.kinds import Kinds
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.messages import Request
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.rbac import MASTERS, User
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.store import Store

ADMIN = User("admin", (MASTERS,))
MAPS = "/api/v1/namespaces/shop/configmaps"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


class Client:
    def __init__(self, history=1000):
        self.api = Api(Store(history), Kinds(), lambda: 1_800_000_000.0, Random(7))
        self.send("POST", "/api/v1/namespaces", {"metadata": {"name": "shop"}})

    def answer(self, method, target, body=None, user=ADMIN, **headers):
        data = b"" if body is None else json.dumps(body).encode()
        return self.api.handle(Request.parse(method, target, headers, data, user))

    def send(self, method, target, body=None, user=ADMIN):
        answer = self.answer(method, target, body, user)
        return answer.status, json.loads(answer.body)

    def make(self, *names, labels=None):
        for name in names:
            body = {"metadata": {"name": name, "labels": labels or {}}}
            assert self.send("POST", MAPS, body)[0] == 201

    def version(self):
        return self.send("GET", MAPS)[1]["metadata"]["resourceVersion"]

    def watch(self, query):
        answer = self.answer("GET", f"{MAPS}?watch=1&{query}")
        return answer if answer.stream is None else Watched(answer.stream)


class Watched:
    def __init__(self, stream):
        self.stream = stream

    def rest(self):
        """What was sent so far, as "ADDED a"; the watch is over then."""
        self.stream.close()
        events = [json.loads(line) for line in self.stream]
        return [f"{one['type']} {one['object']['metadata']['name']}" for one in events]


@pytest.fixture
def client():
    return Client()


def names(body):
    return [item["metadata"]["name"] for item in body["items"]]


def test_all_pages_of_a_list_are_of_its_first_moment(client):
    client.make("a", "b", "c")
    _status, first = client.send("GET", f"{MAPS}?limit=2")
    client.make("bb")
    client.send("DELETE", f"{MAPS}/c")
    _status, second = client.send("GET", f"{MAPS}?limit=2&continue={first['metadata']['continue']}")
    assert names(first) + names(second) == ["a", "b", "c"]
    assert second["metadata"] == {"resourceVersion": first["metadata"]["resourceVersion"]}
    assert first["metadata"]["remainingItemCount"] == 1


def test_a_continue_token_expires_with_the_compaction(client):
    client.make("a", "b")
    token = client.send("GET", f"{MAPS}?limit=1")[1]["metadata"]["continue"]
    client.api.compact()
    status, body = client.send("GET", f"{MAPS}?limit=1&continue={token}")
    assert (status, body["reason"]) == (410, "Expired")


def test_a_watch_tells_all_that_came_after_a_version_and_nothing_else(client):
    client.make("a")
    version = client.version()
    client.make("b")
    watch = client.watch(f"resourceVersion={version}")
    client.make("c")
    client.send("DELETE", f"{MAPS}/a")
    client.send("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
    assert watch.rest() == ["ADDED b", "ADDED c", "DELETED a"]


def test_a_watch_without_a_version_begins_with_what_there_is(client):
    client.make("a", "b")
    assert client.watch("").rest() == ["ADDED a", "ADDED b"]


def test_what_leaves_a_selection_is_deleted_for_its_watch(client):
    client.make("a", "b", labels={"app": "web"})
    watch = client.watch(f"resourceVersion={client.version()}&labelSelector=app%3Dweb")
    moved = {"metadata": {"name": "a", "labels": {"app": "db"}}}
    client.send("PUT", f"{MAPS}/a", moved)
    client.send("PUT", f"{MAPS}/a", {**moved, "data": {"x": "1"}})
    client.send("PUT", f"{MAPS}/a", {"metadata": {"name": "a", "labels": {"app": "web"}}})
    assert watch.rest() == ["DELETED a", "ADDED a"]


@pytest.mark.parametrize("how", ["compacted", "overrun"])
def test_a_watch_of_a_past_that_is_forgotten_is_gone(how):
    client = Client(history=3)
    client.make("a")
    version = client.version()
    if how == "compacted":
        client.api.compact()
        client.make("b")
        version = str(int(version) - 1)
    else:
        client.make("b", "c", "d", "e")
    (event,) = (json.loads(line) for line in client.watch(f"resourceVersion={version}").stream)
    assert (event["type"], event["object"]["code"]) == ("ERROR", 410)
    assert event["object"]["reason"] == "Expired"


def test_a_write_that_changes_nothing_is_none(client):
    client.make("a")
    before = client.version()
    body = client.send("GET", f"{MAPS}/a")[1]
    client.send("PUT", f"{MAPS}/a", body)
    assert client.version() == before


def test_a_dry_run_answers_and_writes_nothing(client):
    client.make("a")
    before = client.version()
    assert client.send("DELETE", f"{MAPS}/a?dryRun=All")[0] == 200
    assert client.send("POST", f"{MAPS}?dryRun=All", {"metadata": {"name": "b"}})[0] == 201
    assert client.version() == before


def test_a_custom_resource_is_served_once_its_definition_is_there(client):
    things = "/apis/example.com/v1/namespaces/shop/things"
    thing = {"kind": "Thing", "metadata": {"name": "t"}, "spec": {"a": 1}}
    assert client.answer("GET", things).status == 404
    definition = {
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": True, "subresources": {"status": {}}}],
        },
    }
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert client.send("POST", path, definition)[0] == 201
    status, made = client.send("POST", things, thing)
    assert (status, made["apiVersion"], made["spec"]) == (201, "example.com/v1", {"a": 1})
    assert made["metadata"]["generation"] == 1
    groups = client.send("GET", "/apis")[1]["groups"]
    assert "example.com" in [group["name"] for group in groups]


# --- rights --------------------------------------------------------------------------------

READER = User("reader")
ROLE = {
    "metadata": {"name": "reader"},
    "rules": [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]},
        {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]},
        {"apiGroups": ["apps"], "resources": ["*"], "resourceNames": ["web"], "verbs": ["get"]},
    ],
}


def bind(client, kind, path):
    subjects = [{"kind": "User", "name": "reader"}]
    reference = {"kind": "ClusterRole", "name": "reader"}
    body = {"metadata": {"name": "reader"}, "subjects": subjects, "roleRef": reference}
    assert client.send("POST", f"{RBAC}/clusterroles", ROLE)[0] == 201
    assert client.send("POST", f"{RBAC}/{path}", body)[0] == 201


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        pytest.param("GET", MAPS, 200, id="granted"),
        pytest.param("GET", f"{MAPS}?watch=1", 403, id="another-verb"),
        pytest.param("GET", "/api/v1/namespaces/shop/secrets", 403, id="another-resource"),
        pytest.param("POST", "/api/v1/namespaces/shop/pods/p/eviction", 404, id="subresource"),
        pytest.param("GET", "/api/v1/namespaces/shop/pods/p", 403, id="not-the-resource-itself"),
        pytest.param("GET", "/apis/apps/v1/namespaces/shop/deployments/web", 404, id="by-name"),
        pytest.param("GET", "/apis/apps/v1/namespaces/shop/deployments/db", 403, id="other-name"),
        pytest.param("GET", "/api/v1/configmaps", 403, id="other-namespaces"),
        pytest.param("GET", "/version", 200, id="discovery"),
    ],
)
def test_a_user_may_do_what_a_binding_in_the_namespace_grants(client, method, target, status):
    bind(client, "RoleBinding", "namespaces/shop/rolebindings")
    body = {} if method == "POST" else None
    assert client.answer(method, target, body, READER).status == status


def test_a_binding_of_the_cluster_grants_everywhere(client):
    bind(client, "ClusterRoleBinding", "clusterrolebindings")
    assert client.answer("GET", "/api/v1/configmaps", None, READER).status == 200


def test_a_refusal_names_user_verb_resource_and_place(client):
    status, body = client.send("DELETE", f"{MAPS}/a", None, READER)
    assert status == 403
    assert body["message"] == (
        'configmaps "a" is forbidden: User "reader" cannot delete resource "configmaps" in API'
        ' group "" in the namespace "shop"'
    )
