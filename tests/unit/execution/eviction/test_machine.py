# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The drain machine under budgets: who leaves when, what became of it - C01 to C17, C23, C28."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.events import (
    Answered,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import Forbidden
from tests.unit.builders import NOW, budget, controller, node, pod
from tests.unit.execution.eviction.drained import Drained, attachment, terminating

N1 = node("n1", cordoned=True)
N2 = node("n2", cordoned=True)
N3 = node("n3")
WEB = controller("web-6b", kind="ReplicaSet", replicas=4)
DB = controller("db", kind="StatefulSet", replicas=2, ordered=False)
APP = {"app": "web"}
# Guards all pods of the namespace, so that none of them is fragile.
OPEN = budget("all", selector={}, max_unavailable=9, allowed=9, healthy=9, expected=9)
OPEN_WEB = budget("web", selects=APP, max_unavailable=5, allowed=5, healthy=5, expected=5)


def web(name, node="n1", **kwargs):
    return pod(name, node=node, owner=WEB, labels=APP, **kwargs)


# Replicas elsewhere, so that no pod of the node is its owner's last Ready one.
SPARE = tuple(pod(name, node="n9", owner=WEB) for name in ("s-1", "s-2"))


def drained(*members, **options):
    return Drained(*members, *SPARE, **options)


def web_budget(allowed, *, disrupted=(), **kwargs):
    spec = {"max_unavailable": 2, "expected": 4, "healthy": 4, "desired": 2, **kwargs}
    names = dict.fromkeys(disrupted, NOW)
    return budget("web", selects=APP, allowed=allowed, disrupted=names, **spec)


def test_pods_leave_and_the_drain_ends():
    drain = drained(N1, WEB, OPEN, web("web-1"), web("web-2"))
    assert drain.acts() == ["evict web-1", "evict web-2"]
    drain.leave("web-1", "web-2")
    assert drain.acts() == []
    assert drain.finished
    assert drain.outcomes() == {"done": {"web-1": "evicted", "web-2": "evicted"}}
    assert drain.report().changed is True


def test_a_node_without_pods_is_empty_at_once_and_nothing_changed():
    drain = drained(N1)
    assert drain.acts() == []
    assert drain.finished
    assert drain.report().changed is False


def test_c01_a_terminating_pod_is_not_evicted_but_waited_for_by_its_uid():
    guard = budget("db", selects={"app": "db"}, min_available=1, allowed=0, expected=2)
    leaving = terminating(pod("db-1", owner=DB, labels={"app": "db"}))
    drain = drained(N1, DB, guard, leaving)
    assert drain.acts() == []
    # Its replacement, of the same name, is another pod, on another node.
    drain.seen(pod("db-1", uid="new", node="n2", owner=DB))
    assert drain.acts() == []
    assert not drain.finished
    drain.vanished(leaving)
    assert drain.acts() == []
    assert drain.finished
    assert drain.outcomes() == {"done": {"db-1": "already_gone"}}
    assert drain.report().changed is False


def test_c03_a_single_pod_with_a_long_grace_period_is_waited_for():
    drain = drained(N1, WEB, OPEN, web("web-1", grace=60))
    assert drain.acts() == ["evict web-1"]
    drain.accept("web-1").seen(terminating(drain.pods["web-1"], grace=60)).wait(59)
    assert drain.acts() == []
    assert not drain.finished
    drain.gone("web-1")
    drain.acts()
    assert drain.finished


def test_c04_a_finished_bare_pod_never_blocks_and_passes_a_closed_budget():
    shut = budget("all", selector={}, max_unavailable=0, expected=1)
    drain = drained(N1, shut, pod("job-1", phase="Succeeded", ready=False))
    assert drain.acts() == ["evict job-1"]


def test_c05_only_the_deployments_pod_is_evicted():
    daemons = controller("agent", kind="DaemonSet")
    drain = drained(
        N1,
        WEB,
        OPEN,
        daemons,
        pod("etcd-n1", mirror=True),
        pod("agent-1", owner=daemons, empty_dir=True),
        web("web-1", empty_dir=True),
        delete_emptydir_data=True,
        ignore_daemonsets=True,
    )
    assert drain.acts() == ["evict web-1"]
    drain.leave("web-1").acts()
    assert drain.finished
    assert drain.outcomes() == {
        "done": {"web-1": "evicted"},
        "skipped": {"agent-1": "daemonset_pod", "etcd-n1": "mirror_pod"},
    }


def test_c07_two_budgets_for_one_pod_fail_it_and_the_others_go_on():
    both = pod("both", owner=WEB, labels={"a": "1", "b": "1"})
    drain = drained(
        N1,
        WEB,
        budget("p1", selects={"a": "1"}, max_unavailable=1, allowed=1, healthy=1, expected=1),
        budget("p2", selects={"b": "1"}, max_unavailable=1, allowed=1, healthy=1, expected=1),
        budget("rest", selects=APP, max_unavailable=1, allowed=1, healthy=1, expected=1),
        both,
        web("web-1"),
    )
    assert drain.acts() == ["evict web-1"]
    drain.leave("web-1")
    drain.acts()
    drain.wait(11).acts()
    assert drain.finished
    found = drain.report()
    assert drain.outcomes() == {
        "done": {"web-1": "evicted"},
        "failed": {"both": "several_budgets"},
    }
    assert found.failure == "several_budgets"
    assert "shop/p1, shop/p2" in found.failed[0].detail


def test_c07_a_second_budget_that_appeared_meanwhile_fails_the_pod_by_the_answer():
    drain = drained(N1, WEB, OPEN, web("web-1"))
    drain.acts()
    drain.refuse("web-1", 500, "This pod has more than one PodDisruptionBudget, which the eviction")
    drain.acts()
    assert drain.finished
    assert drain.outcomes() == {"failed": {"web-1": "several_budgets"}}


@pytest.mark.parametrize(
    "guard",
    [
        pytest.param(web_budget(0, max_unavailable=0, expected=1), id="max-unavailable-0"),
        pytest.param(
            web_budget(0, max_unavailable=None, min_available=1, healthy=1, expected=1),
            id="min-available-1-of-1",
        ),
    ],
)
def test_c08_a_budget_that_can_never_pass_is_refused_at_once_with_the_remedy(guard):
    small = replace(WEB, replicas=1)
    drain = drained(N1, small, guard, web("web-1"))
    assert drain.acts() == []
    assert drain.finished
    found = drain.report()
    assert [outcome.code for outcome in found.failed] == ["budget_allows_none"]
    assert "Unavailable" in found.failed[0].detail or "minAvailable" in found.failed[0].detail


def test_c08_an_exhausted_budget_is_waited_for_and_says_what_is_not_healthy():
    sick = web("web-9", node="n3", waiting="CrashLoopBackOff", phase="Running")
    drain = drained(N1, N3, WEB, web_budget(0), web("web-1"), sick)
    assert drain.acts() == []
    assert not drain.finished
    assert drain.line().text == (
        "waits for PDB shop/web (allows 0; shop/web-9 on n3 (CrashLoopBackOff))"
    )
    drain.seen(web_budget(1))
    assert drain.acts() == ["evict web-1"]


def test_c10_the_pending_one_passes_and_the_crash_looping_one_waits():
    guard = web_budget(0, healthy=0, desired=1, max_unavailable=1, expected=2)
    drain = drained(
        N1,
        WEB,
        guard,
        web("a", waiting="CrashLoopBackOff", ready=False),
        web("b", phase="Pending", ready=False),
    )
    assert drain.acts() == ["evict b"]
    assert drain.outcomes()["pending"]["a"] == "budget_exhausted"


def test_c10_with_always_allow_both_pass():
    guard = web_budget(0, healthy=0, desired=1, unhealthy_policy="AlwaysAllow")
    drain = drained(N1, WEB, guard, web("a", waiting="CrashLoopBackOff"), web("b", phase="Pending"))
    assert drain.acts() == ["evict a", "evict b"]


def test_c10_an_unhealthy_pod_above_the_budget_passes_at_zero_allowed():
    guard = web_budget(0, min_available=2, max_unavailable=None, healthy=2, desired=2, expected=3)
    drain = drained(N1, WEB, guard, web("sick", waiting="CrashLoopBackOff"), web("fine"))
    assert drain.acts() == ["evict sick"]


def test_c11_a_budget_on_an_owner_without_scale_always_refuses():
    guard = web_budget(
        0, sync_failure="virtualmachineinstances does not implement the scale subresource"
    )
    drain = drained(N1, WEB, guard, web("web-1"))
    assert drain.acts() == []
    assert drain.finished
    assert [outcome.code for outcome in drain.report().failed] == ["budget_without_scale"]


def test_c11_a_budget_that_selects_nothing_blocks_nothing():
    drain = drained(N1, WEB, OPEN, budget("other", selects={"app": "x"}), web("web-1"))
    assert drain.acts() == ["evict web-1"]


def test_c12_the_pod_whose_budget_opens_last_leaves_last_though_it_is_listed_first():
    guard = web_budget(0, min_available=1, max_unavailable=None, healthy=1, desired=1, expected=3)
    drain = drained(
        N1,
        WEB,
        guard,
        web("x"),
        web("y", waiting="CrashLoopBackOff"),
        web("z", waiting="CrashLoopBackOff"),
    )
    assert drain.acts() == ["evict y", "evict z"]
    drain.leave("y", "z")
    assert drain.acts() == []
    drain.seen(replace(guard, disruptions_allowed=2, current_healthy=3))
    assert drain.acts() == ["evict x"]
    drain.leave("x").acts()
    assert drain.finished


def test_c12_a_budget_that_an_operator_removes_after_the_last_pod_it_stands_for_opens_in_time():
    owner = controller("manager", kind="ReplicaSet", replicas=1)
    manager = pod("manager", owner=owner, labels={"part": "manager"})
    guard = budget(
        "manager", selects={"part": "manager"}, min_available=1, desired=1, healthy=1, expected=1
    )
    drain = drained(N1, WEB, owner, OPEN_WEB, guard, manager, web("y"), web("z"))
    assert drain.acts() == ["evict y", "evict z"]
    drain.leave("y", "z")
    assert drain.acts() == []
    assert not drain.finished
    drain.wait(3).vanished(guard)
    assert drain.acts() == ["evict manager"]


def test_c14_a_pod_that_was_deleted_before_its_eviction_is_done():
    drain = drained(N1, WEB, OPEN, web("web-1"))
    drain.acts()
    gone = {"message": "not found", "reason": "NotFound", "details": {"name": "web-1"}}
    drain.observe(Answered(drain.uid("web-1"), 404, gone, None))
    drain.acts()
    assert drain.finished
    assert drain.outcomes() == {"done": {"web-1": "already_gone"}}
    assert drain.report().changed is False


def test_c16_the_plan_is_the_first_decision_of_the_run():
    members = (N1, WEB, web_budget(2), web("web-1"), web("web-2"), web("web-3"))
    planned, real = drained(*members, slots=99), drained(*members)
    assert planned.acts() == real.acts() == ["evict web-1", "evict web-2"]
    assert planned.outcomes(planned=True) == {
        "done": {"web-1": "evicted", "web-2": "evicted"},
        "pending": {"web-3": "budget_exhausted"},
    }


def test_pods_behind_a_full_row_of_requests_are_judged_when_a_place_is_free():
    drain = drained(N1, WEB, web_budget(1), web("web-1"), web("web-2"), slots=1)
    assert drain.acts() == ["evict web-1"]
    assert drain.outcomes()["pending"]["web-2"] == "not_tried"
    drain.accept("web-1")
    assert drain.acts() == []
    assert drain.outcomes()["pending"]["web-2"] == "budget_exhausted"


def test_c17_one_blocked_pod_of_five_stops_nobody_and_is_listed():
    db = pod("db-0", owner=DB, labels={"app": "db"})
    other = pod("db-1", node="n9", owner=DB, labels={"app": "db"})
    shut = budget("db", selects={"app": "db"}, max_unavailable=1, allowed=0, expected=2)
    names = [f"web-{number}" for number in range(4)]
    drain = drained(N1, WEB, DB, OPEN_WEB, shut, db, other, *[web(name) for name in names])
    assert drain.acts() == [f"evict {name}" for name in names]
    drain.leave(*names)
    assert drain.acts() == []
    assert not drain.finished
    found = drain.report(failure="timeout", problem="Timed out after 60 s (wait_timeout).")
    assert found.failure == "timeout"
    assert [(each.workload, each.code) for each in found.pending] == [
        ("shop/db-0", "budget_exhausted")
    ]
    assert "waits for PDB shop/db" in found.msg
    assert found.extra["nodes"][0] == {
        "name": "n1",
        "total": 5,
        "emptied": False,
        "gone": False,
        "done": 4,
        "skipped": 0,
        "pending": 1,
        "failed": 0,
    }


def test_c22_a_pod_past_its_grace_on_a_dead_node_asks_for_the_statement_that_it_is_off():
    dead = node("n1", cordoned=True, ready="Unknown")
    stuck = pod("db-0", owner=DB, ready=False, deleted_at=NOW - timedelta(seconds=90))
    drain = drained(dead, DB, stuck)
    assert drain.acts() == []
    assert not drain.finished
    assert drain.outcomes() == {"pending": {"db-0": "node_dead"}}
    assert "fenced: true" in drain.line().text


def test_c22_on_a_fenced_node_nothing_is_evicted_and_volumes_are_waited_for():
    dead = node("n1", cordoned=True, ready="Unknown")
    drain = drained(
        dead,
        DB,
        pod("db-0", owner=DB, ready=False, claims=("data",)),
        attachments=[attachment("n1", "pv-1")],
        volumes={"shop/data": "pv-1"},
        fenced=True,
    )
    assert drain.acts() == []
    drain.gone("db-0").acts()
    assert not drain.finished
    drain.vanished(attachment("n1", "pv-1")).acts()
    assert drain.finished
    assert drain.outcomes() == {"done": {"db-0": "fenced"}}


def test_c23_a_node_that_vanishes_takes_its_pods_along_and_the_next_node_goes_on():
    pods = [web(f"a-{number}") for number in range(4)] + [web("b-0", node="n2")]
    drain = drained(N1, N2, WEB, OPEN, *pods, nodes=("n1", "n2"), max_parallel=2)
    first = drain.acts()
    assert first == ["evict b-0", "evict a-0"]
    drain.leave("b-0", "a-0").acts()
    drain.leave("a-1").vanished(N1)
    assert drain.acts() == []
    assert not drain.finished
    drain.accept("a-2").acts()
    assert drain.finished
    assert drain.outcomes() == {
        "done": {"b-0": "evicted", "a-0": "evicted", "a-1": "evicted"},
        "skipped": {"a-2": "node_gone", "a-3": "node_gone"},
    }
    assert drain.line().text == "node gone"


def test_c28_an_eviction_without_an_answer_that_was_carried_out_is_not_posted_again():
    drain = drained(N1, WEB, OPEN, web("a"))
    drain.acts()
    drain.lose("a")
    assert drain.acts() == ["read a"]
    drain.read("a", terminating(drain.pods["a"]))
    assert drain.acts() == []
    drain.gone("a").acts()
    assert drain.outcomes() == {"done": {"a": "evicted"}}
    assert drain.report().changed is True


def test_c28_an_eviction_without_an_answer_that_was_not_carried_out_is_posted_again():
    drain = drained(N1, WEB, OPEN, web("a"))
    drain.acts()
    drain.lose("a").acts()
    drain.read("a", drain.pods["a"])
    assert drain.acts() == []
    assert drain.wait(1).acts() == ["evict a"]


def test_c28_the_replacement_of_an_evicted_pod_is_not_evicted():
    drain = drained(N1, WEB, OPEN, web("a"))
    drain.acts()
    drain.seen(web("a", uid="another", node="n2"))
    assert drain.acts() == []


def test_an_eviction_that_was_lost_while_the_pod_went_counts_as_ours():
    drain = drained(N1, WEB, OPEN, web("a"))
    drain.acts()
    drain.lose("a").acts()
    drain.gone("a").acts()
    assert drain.finished
    assert drain.outcomes() == {"done": {"a": "evicted"}}


def test_a_pod_that_is_gone_before_the_answer_came_counts_as_ours_when_it_comes():
    drain = drained(N1, WEB, OPEN, web("a"))
    drain.acts()
    drain.gone("a").acts()
    assert not drain.finished
    drain.accept("a").acts()
    assert drain.finished
    assert drain.outcomes() == {"done": {"a": "evicted"}}
    assert drain.report().changed is True


def test_a_conflict_over_the_uid_is_answered_by_reading_the_pod():
    drain = drained(N1, WEB, OPEN, web("a"))
    drain.acts()
    drain.refuse("a", 409, "Precondition failed: UID in precondition: x, UID in object meta: y")
    assert drain.acts() == ["read a"]
    drain.read("a", web("a", uid="another"))
    drain.acts()
    assert drain.finished
    assert drain.outcomes() == {"done": {"a": "already_gone"}}


def test_the_budget_of_our_own_evictions_is_kept_before_the_watch_tells():
    drain = drained(N1, WEB, web_budget(1), web("web-1"), web("web-2"))
    assert drain.acts() == ["evict web-1"]
    drain.accept("web-1")
    assert drain.acts() == []
    # The server's own write: it allows no more and names the pod.
    drain.seen(web_budget(0, disrupted=("web-1",)))
    assert drain.acts() == []
    drain.gone("web-1").seen(web_budget(1))
    assert drain.acts() == ["evict web-2"]


def test_a_refusal_closes_the_budget_until_its_next_event():
    drain = drained(N1, WEB, web_budget(1), web("web-1"))
    drain.acts()
    drain.refuse_by_budget("web-1")
    assert drain.acts() == []
    drain.seen(web_budget(1))
    assert drain.acts() == ["evict web-1"]


def test_a_refusal_that_a_newer_event_has_overtaken_closes_nothing():
    drain = drained(N1, WEB, web_budget(1), web("web-1"))
    drain.acts()
    drain.seen(web_budget(1)).refuse_by_budget("web-1")
    assert drain.acts() == ["evict web-1"]


def test_a_refusal_without_news_is_tried_again_with_growing_pauses():
    drain = drained(N1, WEB, web_budget(1), web("web-1"))
    for pause in (1, 2, 4):
        assert drain.acts() == ["evict web-1"]
        drain.refuse_by_budget("web-1")
        assert drain.machine.wakes_at(drain.now) == drain.time + pause
        drain.wait(pause)


def test_throttling_pauses_the_whole_call_for_as_long_as_the_server_says():
    drain = drained(N1, WEB, OPEN, web("a"), web("b"), slots=1)
    assert drain.acts() == ["evict a"]
    drain.refuse("a", 429, "too many requests", retry_after=5)
    assert drain.acts() == []
    assert drain.wait(4.9).acts() == []
    assert drain.wait(0.1).acts() == ["evict a"]


def test_a_webhooks_denial_fails_the_pod_and_names_the_webhook():
    drain = drained(N1, WEB, OPEN, web("a"), web("b"))
    drain.acts()
    drain.refuse("a", 403, 'admission webhook "guard.example.com" denied the request: not today')
    drain.leave("b").acts()
    assert drain.finished
    assert drain.outcomes() == {"done": {"b": "evicted"}, "failed": {"a": "webhook_denied"}}
    assert "guard.example.com" in drain.report().msg


def test_an_evacuation_under_way_is_waited_for():
    drain = drained(N1, WEB, OPEN, web("a"))
    drain.acts()
    drain.refuse(
        "a",
        429,
        'admission webhook "virt" denied the request: Eviction triggered evacuation of VMI "x"',
    )
    assert drain.acts() == []
    assert drain.wait(10).acts() == ["evict a"]


def test_trouble_inside_the_server_is_tried_six_times_and_then_given_up():
    drain = drained(N1, WEB, OPEN, web("a"))
    tries = 0
    for _unused in range(99):
        if drain.acts() == ["evict a"]:
            tries += 1
            drain.refuse("a", 503, "etcdserver: leader changed")
        drain.wait(1)
    assert tries == 6
    assert drain.outcomes() == {"failed": {"a": "api_failure"}}


def test_a_missing_verb_ends_the_call():
    drain = drained(N1, WEB, OPEN, web("a"))
    drain.acts()
    with pytest.raises(Forbidden, match="create"):
        drain.refuse(
            "a",
            403,
            'pods "a" is forbidden: User "joe" cannot create resource "pods/eviction"'
            ' in API group "" in the namespace "shop"',
        )
    assert drain.outcomes() == {"pending": {"a": "forbidden"}}


def test_fail_fast_evicts_no_further_pod_and_waits_for_those_on_their_way():
    drain = drained(N1, WEB, OPEN, *[web(name) for name in "abc"], slots=2, on_refusal="fail_fast")
    assert drain.acts() == ["evict a", "evict b"]
    drain.refuse("a", 403, 'admission webhook "guard" denied the request: no').accept("b")
    assert drain.acts() == []
    assert not drain.finished
    drain.gone("b").acts()
    assert drain.finished
    assert drain.outcomes() == {
        "done": {"b": "evicted"},
        "failed": {"a": "webhook_denied"},
        "pending": {"c": "not_tried"},
    }


def test_fail_fast_stops_before_the_first_eviction_at_a_budget_that_can_never_pass():
    shut = web_budget(0, max_unavailable=0)
    free = pod("free", owner=WEB, labels={"app": "free"})
    guard = budget("free", selects={"app": "free"}, max_unavailable=1, allowed=1, expected=1)
    drain = drained(N1, WEB, shut, guard, free, web("web-1"), on_refusal="fail_fast")
    assert drain.acts() == []
    drain.acts()
    assert drain.finished
    assert drain.outcomes() == {
        "failed": {"web-1": "budget_allows_none"},
        "pending": {"free": "not_tried"},
    }


def test_max_parallel_counts_all_that_are_leaving_over_all_nodes():
    pods = [web("a"), web("b"), web("c", node="n2")]
    drain = drained(N1, N2, WEB, OPEN, *pods, nodes=("n1", "n2"), max_parallel=2)
    assert drain.acts() == ["evict c", "evict a"]
    drain.accept("a", "c")
    assert drain.acts() == []
    assert drain.outcomes()["pending"]["b"] == "max_parallel"
    drain.gone("c")
    assert drain.acts() == ["evict b"]


def test_disable_eviction_deletes_past_the_budgets():
    drain = drained(N1, WEB, web_budget(0), web("web-1"), disable_eviction=True)
    assert drain.acts() == ["delete web-1"]
    drain.leave("web-1").acts()
    assert drain.finished
    assert drain.outcomes() == {"done": {"web-1": "forced"}}


def test_without_wait_the_call_ends_with_what_was_accepted_on_its_way():
    drain = drained(N1, WEB, web_budget(1), web("web-1"), web("web-2"), wait=False)
    assert drain.acts() == ["evict web-1"]
    assert not drain.finished
    drain.accept("web-1").acts()
    assert drain.finished
    assert drain.outcomes() == {"pending": {"web-1": "terminating", "web-2": "budget_exhausted"}}
    assert drain.report().failure == ""


def test_a_pod_that_tolerates_the_cordon_joins_the_drain():
    drain = drained(N1, WEB, OPEN, web("a"))
    drain.acts()
    drain.leave("a").seen(web("late"))
    assert drain.acts() == ["evict late"]


def test_an_owner_that_comes_back_for_ever_is_refused_in_the_end():
    drain = drained(N1, WEB, OPEN, web("a-0"))
    for number in range(3):
        assert drain.acts() == [f"evict a-{number}"]
        drain.leave(f"a-{number}").seen(web(f"a-{number + 1}"))
    drain.acts()
    assert drain.finished
    assert drain.outcomes()["failed"] == {"a-3": "comes_back"}


def test_replacements_that_come_while_the_pod_before_them_still_stops_count_too():
    drain = drained(N1, WEB, OPEN, web("a-0"))
    for number in range(3):
        assert drain.acts() == [f"evict a-{number}"]
        drain.accept(f"a-{number}").seen(terminating(drain.pods[f"a-{number}"]))
        drain.seen(web(f"a-{number + 1}"))
    assert drain.acts() == []
    assert drain.outcomes()["failed"] == {"a-3": "comes_back"}


def test_on_an_open_node_nothing_new_joins_and_the_report_warns():
    drain = drained(node("n1"), WEB, OPEN, web("a"))
    drain.acts()
    drain.leave("a").seen(web("late")).acts()
    assert drain.finished
    assert "Node n1 is not cordoned" in drain.report().msg


def test_c25_a_node_that_somebody_opens_meanwhile_takes_nothing_new_into_the_drain():
    drain = drained(N1, WEB, OPEN, web("a"))
    drain.acts()
    drain.seen(node("n1")).leave("a").seen(web("late")).acts()
    assert drain.finished
    assert "Node n1 is not cordoned" in drain.report().msg


def test_what_a_new_list_does_not_show_is_gone():
    drain = drained(N1, WEB, OPEN, web("a"), web("b"))
    drain.acts()
    drain.accept("a", "b").listed("Pod", terminating(drain.pods["b"]))
    assert drain.outcomes() == {"done": {"a": "evicted"}, "pending": {"b": "terminating"}}


def test_the_longest_queue_leaves_first_and_then_the_node_with_the_fewest_pods():
    pods = [web(f"w-{number}", node="n2") for number in range(3)]
    lone = [pod(name, owner=WEB, labels={"app": name}) for name in ("a", "b")]
    guards = [
        budget(name, selects={"app": name}, max_unavailable=1, allowed=1, expected=1)
        for name in ("a", "b")
    ]
    drain = drained(N1, N2, WEB, web_budget(1), *guards, *pods, *lone, nodes=("n1", "n2"), slots=9)
    assert drain.acts() == ["evict w-0", "evict a", "evict b"]


def test_an_unsent_eviction_goes_back_as_if_it_had_never_been_decided():
    drain = drained(N1, WEB, web_budget(1), web("web-1"))
    (command,) = drain.commands()
    drain.machine.withdraw(command, drain.now)
    assert drain.acts() == ["evict web-1"]


def test_a_pod_that_went_before_its_eviction_was_sent_is_gone_in_the_report():
    drain = drained(N1, WEB, web_budget(1), web("web-1"))
    (command,) = drain.commands()
    drain.gone("web-1")
    assert drain.outcomes()["pending"] == {"web-1": "posted"}
    drain.machine.withdraw(command, drain.now)
    assert drain.outcomes() == {"done": {"web-1": "already_gone"}}
