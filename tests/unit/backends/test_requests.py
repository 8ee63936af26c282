# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is tried again and what is not, against a server that fails on purpose."""

from __future__ import annotations

import socket

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    ApiFailure,
    Conflict,
    Forbidden,
    Gone,
    NotFound,
    Unauthorized,
    Unreachable,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import (
    LEASES,
    NODES,
    PODS,
)
from tests.unit.backends.serving import (
    RESET,
    SHORT,
    FakeApi,
    QuickClock,
    Say,
    cluster_of,
    node,
    page,
    status,
)

CLOSE = [{"op": "test", "path": "/metadata/uid", "value": "uid-n1"},
         {"op": "add", "path": "/spec/unschedulable", "value": True}]  # fmt: skip
UNGUARDED = CLOSE[1:]
BROKEN = Say(503, status(503, "ServiceUnavailable"))
TEST_FAILED = Say(422, status(422, "Invalid", "the server rejected our request"))


@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param(RESET, id="connection-reset"),
        pytest.param(SHORT, id="body-cut-short"),
        pytest.param(BROKEN, id="503"),
        pytest.param(Say(500, status(500, "InternalError")), id="500"),
        pytest.param(Say(429, status(429, "TooManyRequests")), id="throttled"),
    ],
)
def test_a_read_is_tried_again_after_any_trouble(trouble):
    with FakeApi([trouble, trouble, page(["n1"])]) as api:
        listing = cluster_of(api.url).list(NODES)
    assert [one.name for one in listing.items] == ["n1"]
    assert len(api.seen) == 3


def test_throttling_waits_at_least_as_long_as_the_server_asks():
    clock = QuickClock()
    with FakeApi([Say(429, headers={"Retry-After": "7"}), page([])]) as api:
        cluster_of(api.url, clock).list(NODES)
    assert 7.0 <= sum(clock.slept) < 8.0


def test_a_server_that_stays_broken_ends_in_its_own_words_after_two_minutes():
    clock = QuickClock()
    with FakeApi([Say(503, status(503, "ServiceUnavailable", "etcd is down"))]) as api:
        with pytest.raises(ApiFailure) as caught:
            cluster_of(api.url, clock).list(NODES)
    assert str(caught.value) == "The API server answered 503 to list nodes: etcd is down."
    assert 90.0 < sum(clock.slept) <= 120.0


def test_an_address_where_nobody_listens_is_named_after_ten_seconds():
    clock = QuickClock()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    with pytest.raises(Unreachable) as caught:
        cluster_of(url, clock).list(NODES)
    assert f"{url} did not answer to list nodes: Connection refused (" in str(caught.value)
    assert "may or may not" not in str(caught.value)
    assert sum(clock.slept) <= 10.0


def test_a_run_that_must_stop_does_not_wait_for_a_broken_server():
    clock = QuickClock()
    with FakeApi([BROKEN]) as api:
        with pytest.raises(ApiFailure):
            cluster_of(api.url, clock, interruption=lambda: "SIGTERM").list(NODES)
    assert len(api.seen) == 3
    assert sum(clock.slept) < 1.0


@pytest.mark.parametrize("trouble", [RESET, BROKEN], ids=["answer-lost", "503"])
def test_a_patch_with_a_test_is_repeated_and_its_own_change_is_no_conflict(trouble):
    """The first try was carried out: the repeat's test fails, and the object is as it should be."""
    after = Say(body=node("n1", "2", unschedulable=True))
    with FakeApi([trouble, TEST_FAILED, after]) as api:
        patched = cluster_of(api.url).patch(NODES, "n1", CLOSE)
    assert patched.unschedulable
    assert [seen.method for seen in api.seen] == ["PATCH", "PATCH", "GET"]


def test_a_patch_whose_repeat_meets_a_foreign_change_is_a_conflict():
    with FakeApi([RESET, TEST_FAILED, Say(body=node("n1", "2"))]) as api:
        with pytest.raises(Conflict, match="Node n1 has changed meanwhile"):
            cluster_of(api.url).patch(NODES, "n1", CLOSE)


def test_a_patch_without_a_test_is_not_repeated_once_it_may_have_been_carried_out():
    with FakeApi([RESET]) as api:
        with pytest.raises(Unreachable, match="may or may not have been carried out"):
            cluster_of(api.url).patch(NODES, "n1", UNGUARDED)
    assert len(api.seen) == 1


def test_a_failed_test_at_the_first_try_is_a_conflict_without_a_second_look():
    with FakeApi([TEST_FAILED]) as api:
        with pytest.raises(Conflict):
            cluster_of(api.url).patch(NODES, "n1", CLOSE)
    assert len(api.seen) == 1


def test_a_create_that_finds_its_own_object_has_created_it():
    body = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "us"}}
    found = {"metadata": {"name": "l", "uid": "1"}, "spec": {"holderIdentity": "us"}}
    exists = Say(409, status(409, "AlreadyExists"))
    with FakeApi([RESET, exists, Say(body=found)]) as api:
        lease = cluster_of(api.url).create(LEASES, body, namespace="kube-system")
    assert (lease.holder, lease.meta.uid) == ("us", "1")


def test_a_create_that_finds_somebody_elses_object_is_a_conflict():
    body = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "us"}}
    found = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "them"}}
    with FakeApi([RESET, Say(409, status(409, "AlreadyExists")), Say(body=found)]) as api:
        with pytest.raises(Conflict):
            cluster_of(api.url).create(LEASES, body, namespace="kube-system")


def test_a_replace_that_finds_its_own_object_has_replaced_it():
    body = {"metadata": {"name": "l", "resourceVersion": "1"}, "spec": {"holderIdentity": "us"}}
    found = {"metadata": {"name": "l", "resourceVersion": "2"}, "spec": {"holderIdentity": "us"}}
    with FakeApi([BROKEN, Say(409, status(409, "Conflict")), Say(body=found)]) as api:
        lease = cluster_of(api.url).replace(LEASES, "l", body, namespace="kube-system")
    assert lease.meta.resource_version == "2"


@pytest.mark.parametrize("code", [404, 409], ids=["gone", "another-uid"])
def test_a_delete_whose_answer_was_lost_is_done_when_the_object_is_no_longer_there(code):
    with FakeApi([RESET, Say(code, status(code, "x"))]) as api:
        cluster_of(api.url).delete(PODS, "web", namespace="shop", uid="1")
    assert [seen.body["preconditions"] for seen in api.seen] == [{"uid": "1"}] * 2


def test_a_delete_at_the_first_try_tells_that_the_object_is_gone():
    with FakeApi([Say(404, status(404, "NotFound"))]) as api:
        with pytest.raises(NotFound, match="Pod shop/web does not exist"):
            cluster_of(api.url).delete(PODS, "web", namespace="shop", uid="1")


@pytest.mark.parametrize("code", [429, 500, 403, 201])
def test_an_eviction_is_sent_once_and_every_answer_returned(code):
    body = status(code, "some reason", "words")
    with FakeApi([Say(code, body, {"Retry-After": "10"})]) as api:
        answer = cluster_of(api.url).evict("shop", "web", uid="1", grace_period_seconds=5)
    assert (answer.status, answer.body, answer.retry_after) == (code, body, 10.0)
    assert [(seen.path, seen.body["deleteOptions"]) for seen in api.seen] == [
        (
            "/api/v1/namespaces/shop/pods/web/eviction",
            {
                "apiVersion": "v1",
                "kind": "DeleteOptions",
                "preconditions": {"uid": "1"},
                "gracePeriodSeconds": 5,
            },
        )
    ]


def test_an_eviction_whose_answer_was_lost_is_not_repeated():
    with FakeApi([RESET]) as api:
        with pytest.raises(Unreachable, match="may or may not"):
            cluster_of(api.url).evict("shop", "web", uid="1")
    assert len(api.seen) == 1


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        pytest.param(
            Say(403, status(403, "Forbidden", 'nodes is forbidden: User "eve" cannot list '
                            'resource "nodes" in API group "" at the cluster scope')),
            Forbidden,
            'User "eve" may not list nodes in the whole cluster. Grant the verb "list" on "nodes" '
            "to this user by RBAC, or use another user.",
            id="rbac",
        ),
        pytest.param(
            Say(403, status(403, "Forbidden", 'admission webhook "w" denied the request: no')),
            Forbidden,
            'The API server forbids to list nodes: admission webhook "w" denied the request: no.',
            id="webhook",
        ),
        pytest.param(Say(404, status(404, "NotFound")), NotFound,
                     "Node (the API serves no nodes) does not exist.", id="no-such-api"),
        pytest.param(Say(400, status(400, "BadRequest", "a bad selector")), ApiFailure,
                     "The API server answered 400 to list nodes: a bad selector.", id="bad"),
    ],
)  # fmt: skip
def test_an_answer_becomes_one_sentence(answer, error, words):
    with FakeApi([answer]) as api:
        with pytest.raises(error) as caught:
            cluster_of(api.url).list(NODES)
    assert str(caught.value) == words


def test_a_refused_token_that_cannot_be_renewed_is_refused_once():
    with FakeApi([Say(401, status(401, "Unauthorized"))]) as api:
        with pytest.raises(Unauthorized, match="does not accept the credentials"):
            cluster_of(api.url).list(NODES)
    assert len(api.seen) == 1


def test_every_request_says_who_we_are_and_whom_we_act_for():
    with FakeApi([page([])]) as api:
        cluster_of(api.url, impersonate_user="ada", impersonate_groups=("ops",)).list(NODES)
    headers = api.seen[0].headers
    assert headers["User-Agent"].startswith("evenkeel.fleet/")
    assert headers["Authorization"] == "Bearer secret"
    assert (headers["Impersonate-User"], headers["Impersonate-Group"]) == ("ada", "ops")


def test_a_list_reads_all_pages_of_one_version():
    pages = {"0": page(["a", "b"], "t1"), "t1": page(["c"], "t2"), "t2": page(["d"])}

    def answer(seen):
        return pages[seen.path.partition("continue=")[2] or "0"]

    with FakeApi(answer) as api:
        listing = cluster_of(api.url).list(NODES, label_selector="a=b,c")
    assert [one.name for one in listing.items] == ["a", "b", "c", "d"]
    assert listing.resource_version == "7"
    assert api.seen[0].path == "/api/v1/nodes?limit=500&labelSelector=a%3Db%2Cc"


def test_a_list_whose_token_has_expired_starts_again():
    expired = Say(410, status(410, "Expired", "the token is too old"))
    with FakeApi([page(["a"], "t"), expired, page(["a"], "t2"), page(["b"], version="9")]) as api:
        listing = cluster_of(api.url).list(NODES)
    assert [one.name for one in listing.items] == ["a", "b"]


def test_a_list_whose_tokens_always_expire_gives_up():
    expired = Say(410, status(410, "Expired"))

    def answer(seen):
        return expired if "continue" in seen.path else page(["a"], "t")

    with FakeApi(answer) as api:
        with pytest.raises(Gone):
            cluster_of(api.url).list(NODES)
    assert len(api.seen) == 6
