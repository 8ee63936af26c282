# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a person reads at night when nodes did not become empty."""

from __future__ import annotations

from typing import Any

from ansible_collections.evenkeel.fleet.plugins.filter.obstacles import obstacles


def entry(workload: str, node: str, code: str, detail: str = "") -> dict[str, str]:
    return {"workload": workload, "node": node, "action": "evict", "code": code, "detail": detail}


def evicted(
    msg: str, code: str = "", total: int = 0, problem: str = "", **lists: Any
) -> dict[str, Any]:
    result = {name: lists.get(name, []) for name in ("done", "skipped", "pending", "failed")}
    found = {"msg": msg, "result": result, "nodes": [{"name": "n1.example.com", "total": total}]}
    found |= {"problem": problem, "remedy": "Run it again."} if problem else {}
    return {**found, "code": code} if code else found


WAITS = "waits for PDB shop/web (allows 0)"
TIMED_OUT = evicted(
    "Timed out after 600 s (wait_timeout). Run it again. 1 of 4 pods left n1.example.com, n2. ...",
    "timeout",
    total=4,
    problem="Timed out after 600 s (wait_timeout).",
    done=[entry("shop/gone", "n1.example.com", "evicted")],
    pending=[
        entry("shop/web-1", "n1.example.com", "budget_exhausted", WAITS),
        entry("shop/web-2", "n1.example.com", "budget_exhausted", WAITS),
    ],
    failed=[entry("shop/db", "n2", "budget_allows_none", "Budget shop/db allows none. Loosen it.")],
)


def test_pods_that_wait_for_the_same_share_a_line_and_refusals_come_first() -> None:
    assert obstacles(TIMED_OUT) == [
        "Timed out after 600 s (wait_timeout). 3 pods still on n1.example.com, n2:",
        "n2  shop/db: Budget shop/db allows none. Loosen it",
        f"n1.example.com  shop/web-1, shop/web-2: {WAITS}",
    ]


def test_a_node_is_told_its_own_obstacles_in_one_line() -> None:
    assert obstacles(TIMED_OUT, "n1.example.com") == [
        f"2 pods still on this node: shop/web-1, shop/web-2: {WAITS}"
    ]


def test_a_refusal_says_that_nothing_was_changed() -> None:
    refused = evicted(
        "Refused, ...",
        "refused",
        failed=[entry("shop/web-1", "n1", "empty_dir", "shop/web-1 has an emptyDir.")],
    )
    assert obstacles(refused) == [
        "Refused, nothing was changed: 1 pod may not be evicted.",
        "n1  shop/web-1 has an emptyDir",
    ]


def test_pods_put_off_as_fragile_are_obstacles_others_left_alone_are_not() -> None:
    deferred = evicted(
        "0 of 1 pod left n1.",
        total=1,
        skipped=[
            entry("shop/one", "n1", "deferred", "has one replica"),
            entry("shop/agent", "n1", "daemonset_pod"),
        ],
    )
    assert obstacles(deferred) == ["1 pod still on n1:", "n1  shop/one: has one replica"]


def test_an_error_without_lists_is_told_as_it_is() -> None:
    assert obstacles(evicted("Node n1 is held by A until T.", "lock_held")) == [
        "Node n1 is held by A until T."
    ]
    assert obstacles({"msg": "MODULE FAILURE"}, "n1") == ["MODULE FAILURE"]


def test_a_drain_that_ended_early_without_a_pod_left_tells_why_without_its_own_remedy() -> None:
    lost = evicted("Lost it. Run it again. 2 of 2 pods left n1.", "lock_lost", problem="Lost it.")
    assert obstacles(lost) == ["Lost it."]


def test_long_lists_are_cut_and_counted() -> None:
    many = [entry(f"shop/p{i}", "n1", "x", f"reason {i}") for i in range(30)]
    lines = obstacles(evicted("m", "timeout", failed=many))
    assert (len(lines), lines[-1]) == (22, "and 10 more")
    same = [entry(f"shop/p{i}", "n1", "x", "reason") for i in range(5)]
    assert obstacles(evicted("m", "timeout", failed=same))[1] == (
        "n1  shop/p0, shop/p1, shop/p2 and 2 more: reason"
    )
