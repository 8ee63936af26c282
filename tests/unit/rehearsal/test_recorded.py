# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is read from the results of a run."""

from __future__ import annotations

from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.prediction import Left
from ansible_collections.evenkeel.fleet.plugins.module_utils.rehearsal.recorded import (
    Result,
    problem_of,
    refused_of,
    unfinished_of,
)


def outcome(pod, code):
    return {"workload": pod, "node": "n1", "action": "evict", "code": code, "detail": f"{code}."}


def evicted(failed=(), pending=()):
    return Result("Empty the nodes", "ok", {"result": {"failed": failed, "pending": pending}})


FAILED = Result("Say what stands in the way", "failed", {"msg": "1 pod may not be evicted."})


def test_a_run_fails_with_its_last_words():
    assert problem_of([evicted(), FAILED]) == "1 pod may not be evicted."
    assert problem_of([evicted()]) == ""


def test_a_pod_that_is_refused_twice_is_one_refusal():
    results = [evicted([outcome("shop/a", "bare_pod")])] * 2
    assert refused_of(results) == (Left("shop/a", "n1", "bare_pod", "bare_pod."),)


def test_a_pod_that_was_judged_hopeless_and_left_all_the_same_is_none():
    assert refused_of([evicted([outcome("shop/a", "never")])], ["shop/a"]) == ()


def test_what_concerns_a_node_itself_is_no_pod():
    assert refused_of([evicted([outcome("", "node_is_ready")])]) == ()


def test_what_is_pending_counts_only_where_the_run_failed():
    waiting = evicted(pending=[outcome("shop/a", "timeout")])
    assert unfinished_of([waiting]) == ()
    assert unfinished_of([waiting, FAILED]) == (Left("shop/a", "n1", "timeout", "timeout."),)
