# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is predicted from journals that were written by hand."""

from __future__ import annotations

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.journal import (
    Entry,
    parse_entry,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.prediction import (
    Happening,
    Left,
    Move,
    Rehearsal,
    Spread,
    Wait,
    predict,
    unplaced_of,
    waits_of,
)

WEB = "Deployment shop/web"
REFUSED = Left("shop/solo", "n1", "bare_pod", "Pod shop/solo: nothing recreates it.")


def pod(at, event, name, node="n1", budgets=("shop/web",), detail="", owner=WEB):
    guarded = budgets if event in ("concerned", "evicted", "deleted") else ()
    return Entry(at, event, f"shop/{name}", owner, node, guarded, detail)


def rehearsal(*entries, seed=1, ended=200.0, **more):
    return Rehearsal(seed, 100.0, ended, more.pop("problem", ""), tuple(entries), **more)


TWO_IN_TURN = (
    Entry(100, "cordoned", "n1"),
    pod(100, "concerned", "web-a"),
    pod(100, "concerned", "web-b"),
    pod(101, "evicted", "web-a"),
    Entry(101, "exhausted", "shop/web"),
    pod(101, "created", "web-c", node=""),
    pod(102, "bound", "web-c", node="n2"),
    pod(105, "gone", "web-a"),
    pod(120, "ready", "web-c", node="n2"),
    Entry(120, "open", "shop/web"),
    pod(121, "evicted", "web-b"),
    Entry(121, "exhausted", "shop/web"),
    pod(122, "bound", "web-d", node="n3"),
    pod(125, "gone", "web-b"),
    Entry(140, "open", "shop/web"),
)


def test_a_pod_waits_while_its_node_is_closed_and_its_budget_allows_nothing():
    assert waits_of(rehearsal(*TWO_IN_TURN)) == (Wait("shop/web", 1, 19.0, WEB),)


def test_a_pod_that_never_leaves_waits_until_the_end():
    stuck = (
        Entry(90, "exhausted", "shop/web"),
        Entry(110, "cordoned", "n1"),
        pod(110, "concerned", "web-a"),
    )
    assert waits_of(rehearsal(*stuck)) == (Wait("shop/web", 1, 90.0, WEB),)


def test_a_pod_that_stays_though_its_budget_would_let_it_go_waits_for_something_else():
    deferred = (Entry(110, "cordoned", "n1"), pod(110, "concerned", "web-a"))
    assert waits_of(rehearsal(*deferred)) == ()


def test_a_budget_that_was_exhausted_before_the_run_began_is_waited_for_until_it_opens():
    opened = (
        Entry(90, "exhausted", "shop/web"),
        Entry(100, "cordoned", "n1"),
        pod(100, "concerned", "web-a"),
        Entry(130, "open", "shop/web"),
        pod(131, "evicted", "web-a"),
    )
    assert waits_of(rehearsal(*opened)) == (Wait("shop/web", 1, 30.0, WEB),)


def test_pods_that_no_budget_holds_up_wait_for_none():
    free = (pod(100, "concerned", "web-a"), pod(101, "evicted", "web-a"))
    assert waits_of(rehearsal(*free)) == ()


def test_what_moved_is_told_with_where_its_owner_started_another():
    assert predict([rehearsal(*TWO_IN_TURN)]).moved == (
        Move("shop/web-a", WEB, "n1", "n2", 1.0, "evicted"),
        Move("shop/web-b", WEB, "n1", "n3", 21.0, "evicted"),
    )


def test_a_pod_that_nobody_replaces_goes_nowhere():
    bare = pod(110, "deleted", "solo", owner="Pod shop/solo")
    (move,) = predict([rehearsal(Entry(100, "closed", "n1"), bare)]).moved
    assert (move.to, move.how) == ("", "deleted")


def test_what_others_delete_meanwhile_is_not_of_the_run():
    others = pod(110, "deleted", "rolling", node="n7", owner="Deployment shop/rolling")
    found = predict([rehearsal(*TWO_IN_TURN, others, pod(112, "gone", "rolling", node="n7"))])
    assert len(found.moved) == 2
    assert "shop/rolling" not in {one.subject for one in found.timeline}


def test_pods_elsewhere_that_an_owner_replaces_because_of_one_that_must_leave_are():
    surged = pod(110, "deleted", "web-x", node="n7")
    assert len(predict([rehearsal(*TWO_IN_TURN, surged)]).moved) == 3


def test_what_happens_after_the_run_is_not_of_it():
    late = predict([rehearsal(pod(150, "evicted", "web-a"), ended=140.0)])
    assert (late.moved, late.timeline) == ((), ())


def test_the_timeline_counts_from_the_beginning_and_leaves_out_what_nobody_asks_for():
    told = predict([rehearsal(*TWO_IN_TURN)]).timeline
    assert told[0] == Happening(0.0, "cordoned", "n1", "", "", "")
    assert [(one.seconds, one.event) for one in told[1:]] == [
        (1.0, "evicted"),
        (5.0, "gone"),
        (21.0, "evicted"),
        (25.0, "gone"),
    ]


def test_of_several_seeds_the_duration_is_a_spread_and_the_pods_are_of_the_middle_one():
    three = [
        rehearsal(pod(110, "evicted", f"web-{seed}"), seed=seed, ended=ended)
        for seed, ended in ((1, 190.0), (2, 160.0), (3, 140.0))
    ]
    found = predict(three)
    assert found.duration == Spread(40.0, 60.0, 90.0)
    assert found.seeds == (1, 2, 3)
    assert [move.workload for move in found.moved] == ["shop/web-2"]


def test_of_several_seeds_the_longest_wait_counts():
    closed = Entry(90, "exhausted", "shop/web")
    short = rehearsal(closed, Entry(110, "open", "shop/web"), pod(110, "evicted", "web-a"))
    long = rehearsal(closed, Entry(150, "open", "shop/web"), pod(150, "evicted", "web-a"), seed=2)
    assert [wait.longest for wait in predict([short, long]).waits] == [50.0]


def test_a_budget_of_the_pods_that_leave_is_violated_or_it_is_none_of_ours():
    entries = (
        pod(101, "deleted", "web-a"),
        Entry(101, "violated", "shop/web"),
        Entry(101, "violated", "shop/other"),
    )
    closed = Entry(100, "closed", "n1")
    assert predict([rehearsal(closed, *entries)]).violated == ("shop/web",)
    assert predict([rehearsal(*TWO_IN_TURN)]).violated == ()


def test_refusals_of_all_seeds_are_told_once_and_come_first_in_what_to_change():
    found = predict(
        [
            rehearsal(*TWO_IN_TURN, refused=(REFUSED,), problem="1 pod may not be evicted."),
            rehearsal(*TWO_IN_TURN, refused=(REFUSED,), seed=2),
        ]
    )
    assert not found.succeeds
    assert found.problem == "1 pod may not be evicted."
    assert found.refused == (REFUSED,)
    assert [advice.code for advice in found.first] == ["bare_pod", "budget_wait"]
    assert found.first[1].subject == "PodDisruptionBudget shop/web"


def test_a_pod_that_finds_a_node_later_is_placed():
    entries = (
        pod(101, "unplaced", "web-c", node="", detail="0/3 nodes are available."),
        pod(101, "unplaced", "web-d", node="", detail="0/3 nodes are available."),
        pod(130, "bound", "web-c", node="n2"),
    )
    detail = f"{WEB}: 0/3 nodes are available."
    assert unplaced_of(rehearsal(*entries)) == (Left("shop/web-d", "", "unplaced", detail),)


def test_a_journal_comes_back_from_its_document():
    entry = pod(101.5, "evicted", "web-a")
    assert parse_entry({**entry.document(), "budgets": ["shop/web"]}) == entry
