# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What others do while a drain runs: to its budgets, its pods, their owners and the nodes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.objects import Owner
from tests.unit.builders import budget, controller, node, pod
from tests.unit.execution.eviction.drained import Drained, terminating

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
