# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The script of faults as it is read, and what each fault does to requests and to objects."""

from __future__ import annotations

import json
import math
import time

import pytest
import yaml

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.registry import find
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    parse_selector_text,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Key
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.build import twin_of
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.faults import (
    Fault,
    When,
    Where,
    parse_faults,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import parse_spec
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings

START = 1_800_000_000.0


# --- reading -------------------------------------------------------------------------------


def test_an_entry_says_what_where_and_when():
    document = yaml.safe_load(
        """
        - {fault: status, code: 429, retry_after: 1, verb: create, resource: pods/eviction, nth: 3}
        - {fault: not_ready, selector: zone=z1, at: 5m, for: 10m}
        - {fault: reset, moment: after, verb: [patch, update], times: 2, probability: 0.5}
        """
    )
    assert parse_faults(document) == (
        Fault(
            "status",
            Where(("create",), ("pods/eviction",)),
            When(nth=3, times=1),
            code=429,
            retry_after=1,
        ),
        Fault("not_ready", Where(selector=parse_selector_text("zone=z1")), When(300.0, 600.0)),
        Fault("reset", Where(("patch", "update")), When(times=2, probability=0.5), moment="after"),
    )


def test_no_script_is_no_fault():
    assert parse_faults(None) == parse_faults([]) == ()


REFUSED = {
    "no list": ({"fault": "reset"}, "it is no list. Begin each entry with a dash."),
    "no mapping": (["reset"], "entry 1: 'reset' is no mapping. Write keys and values."),
    "no such fault": ([{"fault": "flood"}], "entry 1: no fault 'flood'. Use one of status, "),
    "no fault": ([{"code": 429}], "entry 1: fault is missing. Use one of status, "),
    "unknown key": (
        [{"fault": "reset"}, {"fault": "crash_loop", "nth": 2}],
        "entry 2 (crash_loop): unknown key nth. Known are namespace, name, selector, node, at,",
    ),
    "nothing to say": ([{"fault": "status"}], "entry 1 (status): code is missing."),
    "a success": ([{"fault": "status", "code": 200}], "no whole number from 400 to 599."),
    "a truth": ([{"fault": "status", "code": True}], "code: True is no whole number"),
    "the zeroth": ([{"fault": "reset", "nth": 0}], "nth: 0 is no whole number from 1 on."),
    "more than all": ([{"fault": "truncate", "share": 2}], "share: 2 is no number from 0 to 1."),
    "no moment": ([{"fault": "reset", "moment": "now"}], "no 'now'. Use one of before, after."),
    "no verb": ([{"fault": "reset", "verb": "evict"}], "verb: no 'evict'. Use one of get, list,"),
    "no duration": ([{"fault": "latency", "seconds": "soon"}], "not a duration: 'soon'."),
    "no selector": ([{"fault": "reset", "selector": "a=b=c"}], "Write app=web, or app in"),
    "an empty name": ([{"fault": "not_ready", "name": ""}], "name: '' is no text."),
}


@pytest.mark.parametrize(("document", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_is_refused_in_a_sentence(document, sentence):
    with pytest.raises(InvalidOption) as error:
        parse_faults(document)
    assert str(error.value).startswith("faults: ")
    assert sentence in str(error.value)


def test_the_third_request_alone_or_from_the_third_on():
    assert [n for n in range(1, 7) if When(nth=3, times=1).counts(n)] == [3]
    assert [n for n in range(1, 7) if When(nth=3).counts(n)] == [3, 4, 5, 6]
    assert [n for n in range(1, 7) if When(times=2).counts(n)] == [1, 2]


def test_a_fault_holds_from_its_beginning_to_its_end():
    when = When(at=5, lasts=10)
    assert [t for t in (0, 4.9, 5, 14.9, 15) if when.holds(t)] == [5, 14.9]
    assert When().holds(0)
    assert not When().holds(math.inf)


# --- what happens --------------------------------------------------------------------------

SPEC = """
nodes: [{pool: w, count: 2}]
workloads:
  - {name: web, namespace: shop, replicas: 2, stop: 5s, grace: 60}
"""


class World:
    """A twin with faults, and a run that follows its time."""

    def __init__(self, faults, seed=0):
        settings = Settings(START, virtual=True, seed=seed, faults=parse_faults(faults))
        self.twin = twin_of(parse_spec(yaml.safe_load(SPEC)), settings)
        self.twin.start()
        self.found = find(Connection(kubeconfig=self.twin.kubeconfig()), environment={})
        self.clock = self.found.clock
        self.access = self.found.credentials.current()

    def close(self):
        self.clock.close()
        self.twin.stop()

    def sleep_until(self, seconds):
        self.clock.sleep(START + seconds - self.clock.monotonic())

    def ask(self, method, path, body=None):
        """One try. Returns status, headers, document; raises what urllib3 raises."""
        answer = self.access.pool.request(
            method,
            self.access.server + path,
            body=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": self.access.authorization,
                "Content-Type": "application/merge-patch+json",
            },
            retries=False,
            timeout=10,
        )
        return answer.status, answer.headers, json.loads(answer.data)

    def code(self, method, path, body=None):
        """The status, or "broken"."""
        from urllib3.exceptions import HTTPError

        try:
            return self.ask(method, path, body)[0]
        except (HTTPError, OSError):
            return "broken"

    def pods(self):
        return self.twin.store.objects("pods", "shop")

    def ready(self, resource):
        return [
            one["status"]
            for raw in self.twin.store.objects(resource)
            for one in raw["status"]["conditions"]
            if one["type"] == "Ready"
        ]


@pytest.fixture
def world():
    pytest.importorskip("cryptography", reason="ansible-core brings it; managed nodes run no twin")
    made = []

    def make(*faults, seed=0):
        made.append(World(list(faults), seed))
        return made[-1]

    yield make
    for one in made:
        one.close()


NODE = "/api/v1/nodes/w-1"


def label(world):
    return world.twin.store.get(Key("nodes", "", "w-1"))["metadata"]["labels"].get("x")


def test_the_nth_request_is_answered_otherwise(world):
    one = world({"fault": "status", "code": 429, "retry_after": 7, "verb": "get", "nth": 2})
    assert [one.code("GET", NODE), one.code("GET", "/api/v1/nodes")] == [200, 200]
    status, headers, body = one.ask("GET", NODE)
    assert (status, headers["Retry-After"], body["reason"]) == (429, "7", "TooManyRequests")
    assert one.code("GET", NODE) == 200


def test_without_retry_after_there_is_none(world):
    one = world({"fault": "status", "code": 503, "message": "Back at noon."})
    status, headers, body = one.ask("GET", NODE)
    assert (status, headers.get("Retry-After"), body["message"]) == (503, None, "Back at noon.")


@pytest.mark.parametrize(
    ("fault", "carried_out"),
    [
        ({"fault": "reset", "moment": "before"}, None),
        ({"fault": "reset", "moment": "after"}, "y"),
        ({"fault": "truncate", "share": 0.5}, "y"),
        ({"fault": "stall", "seconds": 3}, "y"),
        ({"fault": "status", "code": 500}, None),
    ],
    ids=["reset-before", "reset-after", "truncated", "stalled", "500"],
)
def test_a_write_was_carried_out_or_not(world, fault, carried_out):
    one = world({**fault, "verb": "patch"})
    code = one.code("PATCH", NODE, {"metadata": {"labels": {"x": "y"}}})
    assert code == (500 if fault["fault"] == "status" else "broken")
    assert label(one) == carried_out


def test_latency_takes_the_twins_time_and_little_of_ours(world):
    one = world({"fault": "latency", "seconds": 40, "resource": "nodes"})
    before, real = one.twin.time.now(), time.monotonic()
    assert one.code("GET", NODE) == 200
    assert one.twin.time.now() - before == pytest.approx(40, abs=0.1)
    assert time.monotonic() - real < 5


def test_only_what_is_named_suffers(world):
    one = world(
        {"fault": "status", "code": 500, "resource": "pods", "namespace": "shop"},
        {
            "fault": "status",
            "code": 503,
            "resource": "nodes",
            "selector": "kubernetes.io/hostname=w-1",
        },
    )
    paths = {
        "/api/v1/namespaces/shop/pods": 500,
        "/api/v1/namespaces/default/pods": 200,
        NODE: 503,
        "/api/v1/nodes/w-2": 200,
        "/api/v1/nodes": 200,
        "/version": 200,
    }
    assert {path: one.code("GET", path) for path in paths} == paths


def test_chance_is_the_seeds(world):
    fault = {"fault": "status", "code": 500, "probability": 0.5}
    first, again, other = (world(fault, seed=seed) for seed in (1, 1, 2))
    drawn = [[one.code("GET", NODE) for _again in range(20)] for one in (first, again, other)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert 4 < drawn[0].count(500) < 16


def test_an_eviction_is_denied_with_the_webhooks_words(world):
    one = world({"fault": "deny_eviction", "message": "not today", "selector": "app=web"})
    one.sleep_until(60)
    name = one.pods()[0]["metadata"]["name"]
    body = {"metadata": {"name": name}}
    status, _headers, answer = one.ask(
        "POST", f"/api/v1/namespaces/shop/pods/{name}/eviction", body
    )
    words = 'admission webhook "faults.twin.evenkeel.dev" denied the request: not today'
    assert (status, answer["message"]) == (403, words)
    assert not any("deletionTimestamp" in pod["metadata"] for pod in one.pods())


def watched(world, path):
    """The types of a watch's events, and how it ended."""
    from urllib3.exceptions import HTTPError

    answer = world.access.pool.request(
        "GET",
        f"{world.access.server}{path}?watch=true&resourceVersion=0&timeoutSeconds=1",
        headers={"Authorization": world.access.authorization},
        preload_content=False,
        retries=False,
        timeout=10,
    )
    data, end = b"", "ended"
    try:
        for chunk in answer.stream(65536):
            data += chunk
    except (HTTPError, OSError):
        end = "broken"
    return [json.loads(line)["type"] for line in data.splitlines()], end


def test_a_watch_is_dropped_or_expires_after_so_many_events(world):
    one = world(
        {"fault": "watch_reset", "events": 1, "resource": "nodes"},
        {"fault": "watch_expired", "events": 2, "resource": "namespaces"},
        {"fault": "watch_expired", "resource": "pods"},
    )
    assert watched(one, "/api/v1/nodes") == (["ADDED"], "broken")
    assert watched(one, "/api/v1/namespaces") == (["ADDED", "ADDED", "ERROR"], "ended")
    assert watched(one, "/api/v1/pods") == (["ERROR"], "ended")


def test_pods_crash_for_a_time(world):
    one = world({"fault": "crash_loop", "selector": "app=web", "at": 60, "for": "1m"})
    seen = []
    for moment in (59, 90, 180):
        one.sleep_until(moment)
        seen.append(one.ready("pods"))
    assert seen == [["True", "True"], ["False", "False"], ["True", "True"]]
    assert all("behaviour" not in pod["metadata"]["annotations"] for pod in one.pods())


@pytest.mark.parametrize(("kind", "value"), [("not_ready", "False"), ("silent", "Unknown")])
def test_a_node_is_not_ready_for_a_time(world, kind, value):
    one = world({"fault": kind, "name": "w-1", "at": 100, "for": 200})
    seen = []
    for moment in (99, 200, 400):
        one.sleep_until(moment)
        seen.append(one.ready("nodes"))
    assert seen == [["True", "True"], [value, "True"], ["True", "True"]]


@pytest.mark.parametrize(
    ("fault", "gone_at"),
    [
        ({"fault": "slow_termination", "seconds": 40}, 101),
        ({"fault": "slow_termination", "for": 200}, 201),
        ({"fault": "slow_termination", "seconds": 40, "node": "elsewhere"}, 66),
    ],
    ids=["seconds", "until-the-fault-is-over", "not-this-one"],
)
def test_a_pod_takes_its_time_to_stop(world, fault, gone_at):
    one = world(fault)
    one.sleep_until(60)
    pod = one.pods()[0]["metadata"]
    key = Key("pods", "shop", pod["name"])
    one.ask("DELETE", f"/api/v1/namespaces/shop/pods/{pod['name']}")
    one.sleep_until(gone_at - 3)
    assert one.twin.store.get(key) is not None
    one.sleep_until(gone_at + 2)
    assert one.twin.store.get(key) is None


def test_a_mark_gives_back_what_it_replaced(world):
    one = world({"fault": "slow_termination", "seconds": 40, "for": 10})
    one.sleep_until(5)
    assert {pod["metadata"]["annotations"]["stop-seconds"] for pod in one.pods()} == {"40"}
    one.sleep_until(20)
    assert [pod["metadata"]["annotations"] for pod in one.pods()] == [{"stop-seconds": "5"}] * 2


def test_a_volume_that_is_stuck_stays_attached_until_the_fault_is_over(world):
    one = world({"fault": "stuck_volume", "name": "disk-1", "for": 100})
    path = "/apis/storage.k8s.io/v1/volumeattachments"
    for name in ("disk-1", "disk-2"):
        source = {"persistentVolumeName": name}
        spec = {"attacher": "csi.example.com", "nodeName": "w-1", "source": source}
        one.ask("POST", path, {"metadata": {"name": name}, "spec": spec})
    one.sleep_until(50)
    for name in ("disk-1", "disk-2"):
        one.ask("DELETE", f"{path}/{name}")
    left = [
        raw["metadata"]["name"]
        for raw in one.twin.store.objects("volumeattachments.storage.k8s.io")
    ]
    assert left == ["disk-1"]
    one.sleep_until(101)
    assert not one.twin.store.objects("volumeattachments.storage.k8s.io")
