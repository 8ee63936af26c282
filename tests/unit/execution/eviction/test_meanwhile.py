# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What others do while a drain runs: to its budgets, its pods, their owners and the nodes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.objects import Owner
from tests.unit.builders import budget, controller, node, pod
from tests.unit.execution.eviction.drained import PREFIX, Drained, terminating

N1 = node("n1", cordoned=True)
WEB = controller("web-6b", kind="ReplicaSet", replicas=3)
APP = {"app": "web"}
VM = Owner("example.com/v1", "Machine", "vm", "machine:vm")
OPEN = budget("all", selector={}, max_unavailable=9, allowed=9, healthy=9, expected=9)


def web(name, node="n1", **kwargs):
    return pod(name, **{"node": node, "owner": WEB, "labels": APP, **kwargs})


def at_least(number, *, expected, healthy, allowed=0):
    """An integer minAvailable: its expectedPods counts the pods that there happen to be."""
    counts = {"expected": expected, "healthy": healthy, "desired": number, "allowed": allowed}
    return budget("web", selects=APP, min_available=number, **counts)


# --- budgets -------------------------------------------------------------------------------


@pytest.mark.parametrize("on_refusal", ["continue", "fail_fast"])
def test_c08_a_budget_whose_third_pod_is_missing_for_now_is_waited_for(on_refusal):
    pods = (web("a"), web("b", node="n3"))
    drain = Drained(N1, WEB, at_least(2, expected=2, healthy=2), *pods, on_refusal=on_refusal)
    assert drain.acts() == []
    assert not drain.finished
    drain.seen(at_least(2, expected=3, healthy=3, allowed=1))
    assert drain.acts() == ["evict a"]


def test_c08_a_budget_that_asks_for_all_that_the_owner_wants_never_passes():
    drain = Drained(N1, WEB, at_least(3, expected=2, healthy=2), web("a"), web("b", node="n3"))
    drain.acts()
    assert drain.finished
    assert drain.outcomes() == {"failed": {"a": "budget_allows_none"}}


def test_c11_pods_of_an_owner_that_is_not_known_count_themselves():
    pods = [web(name, owner=VM, node=where) for name, where in (("a", "n1"), ("b", "n3"))]
    drain = Drained(N1, at_least(2, expected=2, healthy=2), *pods)
    drain.acts()
    assert drain.outcomes() == {"failed": {"a": "budget_allows_none"}}


@pytest.mark.parametrize("on_refusal", ["continue", "fail_fast"])
def test_pods_whose_owner_is_scaled_to_0_are_waited_for_though_their_budget_never_passes_now(
    on_refusal,
):
    sick = web("sick", node="n3", owner=VM, ready=False)
    waits = at_least(2, expected=3, healthy=2)
    drain = Drained(N1, WEB, waits, web("a"), web("b"), sick, on_refusal=on_refusal)
    assert drain.acts() == []
    drain.seen(replace(WEB, replicas=0), at_least(2, expected=1, healthy=0))
    assert drain.acts() == []
    assert not drain.finished
    drain.wait(5).seen(terminating(drain.pods["a"]), terminating(drain.pods["b"])).gone("a", "b")
    drain.acts()
    assert drain.finished
    assert drain.outcomes() == {"done": {"a": "already_gone", "b": "already_gone"}}


@pytest.mark.parametrize("on_refusal", ["continue", "fail_fast"])
def test_pods_whose_budget_becomes_one_that_never_passes_fail_ten_seconds_later(on_refusal):
    waits = at_least(2, expected=3, healthy=2)
    drain = Drained(N1, WEB, waits, web("a"), web("b", node="n3"), on_refusal=on_refusal)
    assert drain.acts() == []
    drain.seen(at_least(3, expected=3, healthy=2))
    assert drain.acts() == []
    assert drain.machine.wakes_at(drain.now) == drain.time + 10
    drain.wait(10).acts()
    assert drain.finished
    assert drain.outcomes() == {"failed": {"a": "budget_allows_none"}}


def test_pods_whose_budget_is_deleted_leave_one_at_a_time_from_then_on():
    guard = budget("web", selects=APP, max_unavailable=0, healthy=3, expected=3)
    drain = Drained(N1, WEB, BUSY, OPEN_ELSEWHERE, guard, busy("x"), web("a"), web("b"), web("c"))
    assert drain.acts() == ["evict x"]
    drain.vanished(guard)
    assert drain.acts() == ["evict a"]
    drain.accept("a")
    assert drain.acts() == []
    assert drain.outcomes()["pending"]["b"] == "one_at_a_time"


def test_pods_that_a_new_budget_covers_leave_as_it_allows():
    drain = Drained(N1, WEB, web("a"), web("b"), web("c"))
    assert drain.acts() == ["evict a"]
    drain.seen(budget("web", selects=APP, max_unavailable=2, allowed=2, healthy=3, expected=3))
    assert drain.acts() == ["evict b", "evict c"]


@pytest.mark.parametrize(
    ("fragile", "bucket", "code"),
    [("defer", "skipped", "deferred"), ("refuse", "failed", "no_budget")],
)
def test_what_becomes_fragile_meanwhile_is_treated_as_the_option_says(fragile, bucket, code):
    guard = budget("web", selects=APP, max_unavailable=1, healthy=2, desired=2, expected=3)
    drain = Drained(N1, WEB, guard, web("a"), web("b"), web("c"), fragile=fragile)
    assert drain.acts() == []
    drain.vanished(guard).acts()
    drain.wait(10).acts()
    assert drain.finished
    assert drain.outcomes() == {bucket: dict.fromkeys("abc", code)}


def test_a_budget_that_is_deleted_and_made_again_refuses_nothing_for_good():
    guard = budget("web", selects=APP, max_unavailable=1, healthy=2, desired=2, expected=3)
    drain = Drained(
        N1, WEB, BUSY, OPEN_ELSEWHERE, guard, busy("x"), web("a"), web("b"), fragile="refuse"
    )
    assert drain.acts() == ["evict x"]
    drain.vanished(guard).acts()
    drain.seen(replace(guard, disruptions_allowed=1, current_healthy=3))
    assert drain.acts() == ["evict a"]


# --- pods and their owners -----------------------------------------------------------------

OPEN_ELSEWHERE = budget("x", selects={"app": "x"}, max_unavailable=1, allowed=1, healthy=2)
BUSY = controller("x", kind="ReplicaSet", replicas=2)


def busy(name):
    """A pod that may leave at once."""
    return pod(name, owner=BUSY, labels={"app": "x"}, ready=False)


def shut():
    return budget("web", selects=APP, max_unavailable=1, healthy=2, desired=2, expected=3)


@pytest.mark.parametrize(
    ("force", "expected"), [(False, {"failed": {"a": "unmanaged"}}), (True, {})]
)
def test_c06_a_pod_that_loses_its_owner_meanwhile_needs_the_consent_too(force, expected):
    drain = Drained(N1, WEB, shut(), web("a"), web("b", node="n3"), force=force)
    assert drain.acts() == []
    drain.seen(web("a", owner=None)).seen(replace(shut(), disruptions_allowed=1))
    assert drain.acts() == (["evict a"] if force else [])
    assert {key: found for key, found in drain.outcomes().items() if key == "failed"} == expected


def test_a_pod_that_is_relabelled_out_of_the_selection_stays():
    drain = Drained(N1, WEB, shut(), web("a"), web("b", node="n3"), pod_selector="app=web")
    assert drain.acts() == []
    drain.seen(web("a", labels={"app": "debug"}))
    assert drain.acts() == []
    assert drain.finished
    assert drain.outcomes() == {"skipped": {"a": "out_of_scope"}}


def test_a_refused_pod_that_somebody_deletes_is_gone_in_the_report():
    drain = Drained(N1, WEB, OPEN, web("a"), web("b"), web("c", node="n3"))
    drain.acts()
    drain.refuse("a", 403, 'admission webhook "guard.example" denied the request: no')
    drain.gone("a").leave("b").acts()
    assert drain.outcomes() == {"done": {"a": "already_gone", "b": "evicted"}}
    assert drain.report().failure == ""


def test_bare_pods_that_somebody_makes_again_on_the_node_are_refused_in_the_end():
    def bare(number):
        return pod("bare", uid=f"bare-{number}")

    drain = Drained(N1, bare(0), pod("other"), force=True)
    assert drain.acts() == ["evict bare", "evict other"]
    drain.leave("other")
    for number in (1, 2, 3):
        drain.leave("bare").seen(bare(number)).acts()
    assert drain.outcomes()["failed"] == {"bare": "comes_back"}


AGENT = controller("agent", kind="DaemonSet")


def test_a_daemonsets_pod_that_is_seen_before_its_daemonset_is_no_orphan():
    drain = Drained(N1, WEB, OPEN, web("a"), ignore_daemonsets=True, force=True)
    drain.acts()
    drain.seen(pod("agent-1", owner=AGENT))
    assert drain.acts() == []
    drain.seen(AGENT)
    assert drain.acts() == []
    drain.leave("a").acts()
    assert drain.outcomes() == {"done": {"a": "evicted"}, "skipped": {"agent-1": "daemonset_pod"}}


# --- nodes ---------------------------------------------------------------------------------


def test_c25_pods_that_came_while_the_node_was_open_join_when_it_is_closed_again():
    drain = Drained(N1, WEB, OPEN, web("a"), web("z", node="n3"))
    drain.acts()
    drain.seen(node("n1")).seen(web("late"))
    assert drain.acts() == []
    drain.seen(N1)
    assert drain.acts() == ["evict late"]


# --- the API -------------------------------------------------------------------------------


def test_a_pause_of_no_seconds_is_a_pause_all_the_same():
    drain = Drained(N1, WEB, OPEN, web("a"), web("z", node="n3"))
    drain.acts()
    drain.refuse("a", 429, "slow down", retry_after=0)
    assert drain.acts() == []
    assert drain.wait(1).acts() == ["evict a"]


@pytest.mark.parametrize(
    "members",
    [
        pytest.param((web("a"), web("z", node="n3")), id="by-a-budget-that-was-not-shown-yet"),
        pytest.param(
            (
                budget("web", selects=APP, max_unavailable=1, unhealthy_policy="AlwaysAllow"),
                web("a", ready=False),
            ),
            id="of-a-pod-that-is-not-ready",
        ),
    ],
)
def test_a_refusal_that_nothing_explains_is_tried_again_with_growing_pauses(members):
    drain = Drained(N1, WEB, *members)
    posted = []
    for second in range(60):
        if drain.acts() == ["evict a"]:
            posted.append(second)
            drain.refuse_by_budget("a")
        drain.wait(1)
    assert posted == [0, 1, 3, 7, 15, 31]


# --- a surge -------------------------------------------------------------------------------

SURGED = controller("shop", max_surge=1, max_unavailable=0)
SURGED_SET = controller("shop-1", kind="ReplicaSet", owner=SURGED)


def surging(*members, **options):
    pods = (pod("a", owner=SURGED_SET), pod("b", owner=SURGED_SET, node="n3"))
    return Drained(N1, SURGED, SURGED_SET, *pods, *members, fragile="surge", **options)


def test_without_wait_the_answer_to_a_restart_is_waited_for():
    drain = surging(wait=False)
    assert drain.acts() == ["restart shop"]
    drain.acts()
    assert not drain.finished
    drain.restarted(SURGED).acts()
    assert drain.finished
    assert drain.report().changed is True


def test_a_pod_that_goes_before_its_owner_was_restarted_was_not_surged():
    drain = surging()
    drain.acts()
    drain.gone("a")
    drain.restarted(SURGED, "Deployment shop/shop does not exist.").vanished(SURGED).acts()
    assert drain.outcomes() == {"done": {"a": "already_gone"}}


def test_a_restart_that_was_not_sent_is_not_waited_for():
    drain = surging()
    (command,) = drain.commands()
    drain.machine.withdraw(command, drain.now)
    assert not drain.machine.under_way


def revision(number):
    annotations = {"deployment.kubernetes.io/revision": str(number)}
    return controller(f"shop-{number}", kind="ReplicaSet", owner=SURGED, annotations=annotations)


def recorded(nodes=("n1",), template=2, **kwargs):
    annotations = {
        PREFIX + "surge": json.dumps({"nodes": list(nodes), "run": "x", "since": ""}),
        "deployment.kubernetes.io/revision": str(template),
    }
    return controller("shop", max_surge=1, max_unavailable=0, annotations=annotations, **kwargs)


@pytest.mark.parametrize("late", [False, True], ids=["in-order", "before-its-replica-set"])
def test_a_new_pod_of_the_rollout_on_the_closed_node_is_refused(late):
    drain = Drained(N1, SURGED, revision(1), pod("a", owner=revision(1)), fragile="surge")
    drain.acts()
    new_set, new_pod = revision(2), pod("b", owner=revision(2))
    drain.restarted(SURGED).seen(recorded())
    drain.seen(*((new_pod, new_set) if late else (new_set, new_pod)))
    drain.acts()
    drain.gone("a").acts()
    assert drain.outcomes() == {"done": {"a": "surged"}, "failed": {"b": "comes_back"}}


def test_a_restart_of_another_run_for_other_nodes_that_is_long_over_is_begun_anew():
    drain = Drained(
        N1, recorded(["n7"], 1), revision(1), pod("a", owner=revision(1)), fragile="surge"
    )
    assert drain.acts() == ["restart shop"]
    drain.restarted(SURGED, wrote=False)
    assert drain.acts() == []
    assert drain.acts() == ["forget shop"]
    drain.restarted(SURGED)
    assert drain.acts() == ["restart shop"]


def test_a_restart_that_another_run_saw_through_before_this_node_was_closed_is_begun_anew():
    drain = Drained(
        N1,
        recorded(["n7"], 1, ready_replicas=0),
        revision(1),
        pod("a", owner=revision(1)),
        fragile="surge",
    )
    drain.acts()
    drain.restarted(SURGED, wrote=False).acts()
    drain.seen(SURGED)
    assert drain.acts() == []
    assert drain.acts() == ["restart shop"]


def test_pods_that_outlive_their_deleted_deployment_fail_in_the_end():
    drain = surging()
    drain.acts()
    drain.restarted(SURGED).seen(recorded()).acts()
    drain.vanished(recorded()).acts()
    assert not drain.finished
    drain.wait(31).acts()
    drain.acts()
    assert drain.finished
    assert drain.outcomes() == {"failed": {"a": "surge_failed"}}


def test_a_rollout_that_is_paused_meanwhile_says_so():
    drain = surging()
    drain.acts()
    drain.restarted(SURGED).seen(recorded(paused=True)).acts()
    assert drain.line().text == (
        "waits for the rollout of Deployment shop/shop, which is paused: resume it"
    )


def test_a_rollout_whose_new_pod_is_not_ready_names_it():
    drain = Drained(N1, SURGED, revision(1), pod("a", owner=revision(1)), fragile="surge")
    drain.acts()
    sick = pod("b", node="n3", owner=revision(2), waiting="CrashLoopBackOff")
    drain.restarted(SURGED).seen(recorded(), revision(2), sick).acts()
    assert drain.line().text == (
        "waits for the rollout of Deployment shop/shop"
        " (3 of 3 updated, 3 available; shop/b (CrashLoopBackOff))"
    )


# --- options that mean nothing here --------------------------------------------------------


def test_a_namespace_without_any_pod_is_warned_of():
    drain = Drained(N1, WEB, OPEN, web("a"), namespaces=("shop", "shpo"))
    drain.acts()
    assert drain.report(planned=True).extra["warnings"] == [
        "There is no pod in namespace shpo: check the spelling of namespaces."
    ]


# --- stopping ------------------------------------------------------------------------------


def test_a_pod_that_is_past_its_grace_on_a_node_that_works_says_where_to_look():
    drain = Drained(N1, WEB, OPEN, web("a"), web("z", node="n3"))
    drain.acts()
    drain.accept("a").seen(terminating(drain.pods["a"])).wait(60)
    assert drain.outcomes() == {"pending": {"a": "terminating_past_grace"}}
    assert "finalizer" in drain.report().pending[0].detail
