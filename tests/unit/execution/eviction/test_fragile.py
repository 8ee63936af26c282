# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Fragile pods: one at a time, left, or replaced beforehand - C34, C35."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.objects import Owner
from tests.unit.builders import autoscaler, controller, node, pod
from tests.unit.execution.eviction.drained import PREFIX, Drained

N1 = node("n1", cordoned=True)
WEB = controller("web", replicas=3, max_surge=1, max_unavailable=0)
WEB_SET = controller("web-6b", kind="ReplicaSet", owner=WEB)
OLD_SET, NEW_SET = (
    controller(
        f"web-{number}",
        kind="ReplicaSet",
        owner=WEB,
        annotations={"deployment.kubernetes.io/revision": str(number)},
    )
    for number in (9, 10)
)
DB = controller("db", kind="StatefulSet", replicas=3)
RECORD = json.dumps({"nodes": ["n1"], "run": "dead", "since": "2026-11-30T21:00:00Z"})


def web(name, node="n1", **kwargs):
    return pod(name, node=node, owner=WEB_SET, **kwargs)


def db(name, node, **kwargs):
    return pod(name, node=node, owner=DB, **kwargs)


def restarted(name):
    return pod(name, node="n1", owner=NEW_SET)


def marked(deployment, record=RECORD, **kwargs):
    meta = replace(deployment.meta, annotations={PREFIX + "surge": record})
    return replace(deployment, meta=meta, **kwargs)


def test_c34_an_ordinal_is_held_while_another_is_not_ready():
    sick = db("db-1", "n2", ready=False)
    drain = Drained(N1, DB, db("db-0", "n1"), sick, db("db-2", "n3"))
    assert drain.acts() == []
    assert drain.outcomes() == {"pending": {"db-0": "ordinal_not_ready"}}
    assert "2 of 3 ordinals are Ready" in drain.line().text
    drain.seen(db("db-1", "n2"))
    assert drain.acts() == ["evict db-0"]


def test_c34_ordinals_of_one_node_leave_one_after_the_other():
    drain = Drained(N1, DB, *[db(f"db-{number}", "n1") for number in range(3)])
    assert drain.acts() == ["evict db-0"]
    drain.leave("db-0")
    assert drain.acts() == []
    drain.seen(replace(db("db-0", "n2"), meta=replace(db("db-0", "n2").meta, uid="new")))
    assert drain.acts() == ["evict db-1"]


def test_c35_three_replicas_without_a_budget_on_one_node_leave_one_by_one():
    drain = Drained(N1, WEB, WEB_SET, *[web(name) for name in ("a", "b", "c")])
    assert drain.acts() == ["evict a"]
    drain.accept("a")
    assert drain.acts() == []
    drain.leave("a")
    assert drain.acts() == []
    assert drain.outcomes()["pending"] == {"b": "replicas_missing", "c": "replicas_missing"}
    drain.seen(web("a2", node="n2"))
    assert drain.acts() == ["evict b"]


def test_fragile_pods_of_two_owners_do_not_wait_for_each_other():
    drain = Drained(N1, WEB, WEB_SET, DB, web("a"), web("b"), db("db-0", "n1"), *other_ordinals())
    assert drain.acts() == ["evict a", "evict db-0"]


def other_ordinals():
    return [db("db-1", "n2"), db("db-2", "n2")]


def test_defer_leaves_fragile_pods_lists_them_and_says_that_the_node_is_not_empty():
    drain = Drained(N1, WEB, WEB_SET, web("a"), fragile="defer")
    assert drain.acts() == []
    assert drain.finished
    found = drain.report()
    assert drain.outcomes() == {"skipped": {"a": "deferred"}}
    assert found.failure == ""
    assert "Not empty: 1 fragile pod stayed" in found.msg
    assert found.extra["nodes"][0]["emptied"] is False


def test_surge_restarts_the_owner_once_and_evicts_nothing():
    drain = Drained(N1, WEB, WEB_SET, web("a"), web("b"), fragile="surge")
    assert drain.acts() == ["restart web"]
    assert drain.acts() == []
    drain.restarted(WEB)
    # The state from before the restart, still on its way through the watch, ends nothing.
    drain.seen(WEB).gone("a", "b")
    assert drain.acts() == []
    drain.seen(marked(WEB, updated_replicas=2))
    assert drain.acts() == []
    drain.seen(marked(WEB))
    assert drain.acts() == ["forget web"]
    drain.restarted(WEB).acts()
    assert drain.finished
    assert drain.outcomes() == {"done": {"a": "surged", "b": "surged"}}
    assert drain.report().changed is True


def test_surge_a_second_runner_waits_for_the_recorded_restart_and_clears_it():
    old = pod("a", node="n1", owner=OLD_SET)
    drain = Drained(N1, marked(WEB, updated_replicas=1), OLD_SET, NEW_SET, old, fragile="surge")
    assert drain.acts() == []
    assert not drain.finished
    drain.gone("a").seen(marked(WEB))
    assert drain.acts() == ["forget web"]


def test_surge_a_recorded_restart_that_replaces_nothing_any_more_is_cleared_and_begun_anew():
    # Killed after its restart, then an exit: the restarted pods came to the node when it was open.
    drain = Drained(N1, marked(WEB), OLD_SET, NEW_SET, restarted("a"), fragile="surge")
    assert drain.acts() == ["forget web"]
    drain.restarted(WEB)
    assert drain.acts() == ["restart web"]
    drain.restarted(WEB)
    # The watch is behind: it shows the old record, and then none. Neither ends the new rollout.
    drain.seen(marked(WEB)).gone("a")
    assert drain.acts() == []
    drain.seen(WEB)
    assert drain.acts() == []
    drain.seen(marked(WEB, record=RECORD.replace("dead", "us")))
    assert drain.acts() == ["forget web"]
    drain.restarted(WEB).acts()
    assert drain.finished
    assert drain.outcomes() == {"done": {"a": "surged"}}


def test_surge_a_void_record_that_cannot_be_cleared_fails_its_pods():
    drain = Drained(N1, marked(WEB), OLD_SET, NEW_SET, restarted("a"), fragile="surge")
    for _unused in range(6):
        assert drain.acts() == ["forget web"]
        drain.restarted(WEB, "etcd is full").wait(60)
    drain.acts()
    assert drain.outcomes() == {"failed": {"a": "surge_failed"}}


def test_surge_a_restart_that_its_deployment_has_not_seen_yet_is_waited_for():
    drain = Drained(
        N1, marked(WEB, observed=False), OLD_SET, NEW_SET, restarted("a"), fragile="surge"
    )
    assert drain.acts() == []
    assert not drain.finished


@pytest.mark.parametrize("fragile", ["evict", "defer", "surge"])
def test_surge_a_record_is_cleared_even_when_no_pod_is_left(fragile):
    drain = Drained(N1, marked(WEB), WEB_SET, fragile=fragile)
    assert drain.acts() == ["forget web"]
    drain.restarted(WEB).acts()
    assert drain.finished


def test_surge_the_copy_of_a_record_on_a_replica_set_is_no_restart():
    # The deployment controller copies annotations to the ReplicaSet, and never takes them back. A
    # ReplicaSet counts no updated replicas: it was waited for until the time-out.
    copied = replace(NEW_SET, meta=marked(NEW_SET).meta, updated_replicas=0)
    drain = Drained(N1, marked(WEB), OLD_SET, copied, fragile="surge")
    assert drain.acts() == ["forget web"]
    drain.restarted(WEB).acts()
    assert drain.finished


def test_surge_a_record_of_other_nodes_is_not_ours():
    other = replace(WEB.meta, annotations={PREFIX + "surge": RECORD.replace("n1", "n7")})
    drain = Drained(N1, replace(WEB, meta=other), WEB_SET)
    assert drain.acts() == []
    assert drain.finished


def test_surge_a_restart_that_fails_for_good_fails_its_pods():
    drain = Drained(N1, WEB, WEB_SET, web("a"), fragile="surge")
    for _unused in range(6):
        assert drain.acts() == ["restart web"]
        drain.restarted(WEB, "etcd is full").wait(60)
    drain.acts()
    assert drain.finished
    assert drain.outcomes() == {"failed": {"a": "surge_failed"}}


def test_surge_an_ineligible_owner_is_refused_with_its_reason():
    at_maximum = autoscaler(target=WEB, maximum=3, current=3)
    drain = Drained(N1, WEB, WEB_SET, at_maximum, web("a"), fragile="surge")
    assert drain.outcomes() == {"failed": {"a": "surge_autoscaler_at_maximum"}}


def test_owners_are_reported_with_the_ready_replicas_of_the_beginning():
    drain = Drained(N1, WEB, WEB_SET, web("a"), web("b", node="n2"), web("c", ready=False))
    drain.acts()
    drain.leave("a")
    assert drain.report().extra["owners"] == [
        {"kind": "Deployment", "namespace": "shop", "name": "web", "ready": 2}
    ]


def test_an_owner_whose_replicas_cannot_be_counted_is_not_one_to_wait_for():
    job = Owner("batch/v1", "Job", "import", "job")
    drain = Drained(N1, pod("import-x", owner=job))
    drain.acts()
    drain.leave("import-x")
    assert drain.outcomes() == {"done": {"import-x": "evicted"}}
    assert drain.report().extra["owners"] == []
