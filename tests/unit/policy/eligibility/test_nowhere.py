# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""policy/eligibility/nowhere: the rules that rule nodes out, and the nearest miss."""

from __future__ import annotations

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    parse_scheduling,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility import verdict as v
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.nowhere import (
    Nowhere,
    nowhere,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.verdict import (
    Failing,
)
from tests.unit.policy.eligibility.worlds import cluster, node, pod


def judged(nodes, raw):
    state = cluster(nodes)
    return nowhere(state, state.pod_class(parse_scheduling(raw)), state.nodes.all)


def test_rules_are_summed_up_and_the_nearest_miss_is_named():
    small = {"cpu": "1800m", "memory": "8Gi", "pods": "10"}
    smaller = {"cpu": "1", "memory": "8Gi", "pods": "10"}
    nodes = [
        node("n1", unschedulable=True),
        node("n2", allocatable=smaller),
        node("n3", unschedulable=True, allocatable=small),
        node("n4", allocatable=small),
    ]

    found = judged(nodes, pod(requests={"cpu": "2"}))

    detail = "it asks for 2000m CPU, of which 1800m CPU is free"
    assert found == Nowhere(
        4,
        ((v.RESOURCES, 3), (v.UNSCHEDULABLE, 2)),
        "n4",
        (Failing(v.RESOURCES, detail, (("cpu", 200),)),),
    )
    assert found.sentence == (
        "It fits on none of 4 nodes: resources on 3, unschedulable on 2."
        " It fits on n4 but for 200m CPU."
    )


def test_a_miss_that_is_not_about_room_tells_its_rule():
    assert judged([node("n1", unschedulable=True)], pod()).sentence == (
        "It fits on none of 1 nodes: unschedulable on 1."
        " It fits on n1 but for unschedulable (the node is cordoned)."
    )


def test_no_nodes_at_all():
    assert judged([], pod()) == Nowhere(0, (), "", ())
    assert judged([], pod()).sentence == "There is no node to go to."
