# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A twin in virtual time, over HTTPS, with the client and the waits of a real run.

One controller stands for all: it removes each pod when its grace period is over.
"""

from __future__ import annotations

import time

import pytest

pytest.importorskip("cryptography", reason="ansible-core brings it; managed nodes run no twin")

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.registry import find
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.clock import Inbox
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.evict import evict
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.options import (
    EvictOptions,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.watching import (
    Resynced,
    follow,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import PODS
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import parse_instant
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Delete,
    Later,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import key_of
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings, Twin

START = 1_800_000_000.0
HOUR = 3600


class Kubelet:
    name = "kubelet"
    watches = ("pods",)

    def keys(self, change, view):
        yield key_of("pods", change.object)

    def reconcile(self, key, view, now, draw):
        pod = view.get(key)
        ends = (pod or {}).get("metadata", {}).get("deletionTimestamp")
        if ends is None:
            return
        if now < parse_instant(ends).timestamp():
            yield Later(parse_instant(ends).timestamp())
        else:
            yield Delete(key, pod["metadata"]["uid"], 0)


@pytest.fixture
def twin():
    made = Twin(Settings(START, virtual=True), [Kubelet()])
    made.start()
    yield made
    made.stop()


@pytest.fixture
def destination(twin):
    found = find(Connection(kubeconfig=twin.kubeconfig()), environment={})
    yield found
    found.clock.close()


def make(twin, plural, namespace="", **document):
    kind = twin.api.kinds.named(plural)
    return twin.api.lifecycle.create(kind, document, namespace)


def fleet_of(twin, pods, grace):
    make(twin, "nodes", metadata={"name": "n1"}, spec={"unschedulable": True})
    make(twin, "nodes", metadata={"name": "n2"})
    for number in range(pods):
        make(
            twin,
            "pods",
            "default",
            metadata={"name": f"p{number}"},
            spec={
                "nodeName": "n1",
                "terminationGracePeriodSeconds": grace,
                "containers": [{"name": "main", "image": "example.com/p"}],
            },
        )


def test_a_kubeconfig_of_a_twin_in_virtual_time_brings_its_clock(destination):
    assert destination.clock.now().timestamp() == START
    destination.clock.sleep(3 * HOUR)
    assert destination.clock.now().timestamp() == START + 3 * HOUR


def test_hours_of_grace_are_over_in_a_moment_of_real_time(twin, destination):
    fleet_of(twin, pods=20, grace=2 * HOUR)
    began = time.monotonic()
    cluster = destination.cluster()
    run = Run("test", clock=destination.clock)
    selection = NodeSelection(nodes=("n1",))
    report = evict(EvictOptions(selection, force=True, wait_timeout=9 * HOUR), cluster, run)
    cluster.close()
    assert report.failure == ""
    assert [outcome.code for outcome in report.done] == ["evicted"] * 20
    took = destination.clock.monotonic() - START
    assert 2 * HOUR <= took < 2 * HOUR + 10
    assert time.monotonic() - began < 30


def test_a_drain_that_takes_too_long_times_out_in_virtual_time(twin, destination):
    fleet_of(twin, pods=1, grace=2 * HOUR)
    cluster = destination.cluster()
    run = Run("test", clock=destination.clock)
    options = EvictOptions(NodeSelection(nodes=("n1",)), force=True, wait_timeout=HOUR)
    report = evict(options, cluster, run)
    cluster.close()
    assert report.failure == "timeout"
    assert HOUR <= destination.clock.monotonic() - START < HOUR + 10


def test_a_follower_hears_of_each_pod_at_the_moment_it_goes(twin, destination):
    fleet_of(twin, pods=3, grace=0)
    for number, pod in enumerate(twin.store.objects("pods")):
        key = key_of("pods", pod)
        twin.time.at(START + 100 * (number + 1), lambda key=key: twin.store.remove(key))
    cluster, inbox, clock = destination.cluster(), Inbox(), destination.clock
    follower = follow(cluster, PODS, inbox, tag="pods", clock=clock)
    heard = []
    while len(heard) < 4:
        event = clock.receive(inbox, HOUR)
        if event is not None:
            heard.append((isinstance(event[1], Resynced), clock.monotonic() - START))
    follower.stop()
    cluster.close()
    assert heard == [(True, 0), (False, 100), (False, 200), (False, 300)]


def test_a_port_that_is_taken_is_an_error_at_the_start(twin):
    port = int(twin.url.rpartition(":")[2])
    with pytest.raises(OSError, match="in use"):
        Twin(Settings(START, port=port)).start()
