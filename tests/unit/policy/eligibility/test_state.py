# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""policy/eligibility/state: pods come and go, and every mask follows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import parse_node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    parse_scheduling,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.nodes import (
    bits,
    mask_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.state import (
    ClusterState,
)
from tests.unit.policy.eligibility.worlds import (
    HOSTNAME,
    NAMESPACES,
    ZONE,
    affinity,
    cluster,
    fitting,
    node,
    pod,
    spread,
    term,
)

NODES = [node(f"n{i}", f"z{i % 3}") for i in range(6)] + [node("n6")]
WEB, DB = {"app": "web"}, {"app": "db"}
PODS = [
    pod(labels=WEB, requests={"cpu": "1"}),
    pod({"topologySpreadConstraints": [spread(ZONE)]}, WEB),
    pod({"topologySpreadConstraints": [spread(HOSTNAME)]}, WEB, {"cpu": "2"}),
    pod(affinity("podAntiAffinity", term(ZONE, WEB)), DB),
    pod(affinity("podAffinity", term(ZONE, DB)), WEB, {"memory": "3Gi"}),
    pod({"containers": [{"name": "c", "ports": [{"hostPort": 80}]}]}, DB),
]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6), st.booleans()), max_size=25))
def test_masks_kept_up_to_date_equal_masks_made_anew(moves):
    """moves: a pod, a node, and whether an older pod leaves first."""
    state = cluster(NODES)
    placed: list[tuple[str, int, str]] = []
    for number, (which, where, leaves) in enumerate(moves):
        if leaves and placed:
            state.remove(placed.pop(0)[0])
        key, target = f"p{number}", f"n{where}"
        state.place(key, state.pod_class(parse_scheduling(PODS[which])), target)
        placed.append((key, which, target))
        fitting(state, PODS[number % len(PODS)])

    anew = cluster(NODES, [(target, PODS[which]) for _key, which, target in placed])
    assert [fitting(state, one) for one in PODS] == [fitting(anew, one) for one in PODS]


CORDON = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}
MINDFUL = {**spread(ZONE), "nodeTaintsPolicy": "Honor"}
CLOSING = [
    *PODS,
    pod({"tolerations": [CORDON]}, WEB),
    pod({"topologySpreadConstraints": [MINDFUL]}, WEB),
    pod({"topologySpreadConstraints": [MINDFUL], "tolerations": [CORDON]}, WEB),
]
placements = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 6)), max_size=12)
closings = st.lists(st.sets(st.integers(0, 6)), min_size=1, max_size=3)


def cordoned(raw):
    """As a cordon leaves it: the taint comes with the field."""
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    return {**raw, "spec": {"unschedulable": True, "taints": [taint]}}


@settings(max_examples=60, deadline=None)
@given(placements, closings)
def test_nodes_that_are_closed_count_as_cordoned_until_they_are_reopened(placed, turns):
    where = [(f"n{node}", CLOSING[which]) for which, node in placed]
    state = cluster(NODES, where)
    open_masks = [fitting(state, one) for one in CLOSING]
    for closed in turns:
        state.close(f"n{index}" for index in closed)
        anew = cluster(
            [cordoned(raw) if index in closed else raw for index, raw in enumerate(NODES)], where
        )
        assert [fitting(state, one) for one in CLOSING] == [fitting(anew, one) for one in CLOSING]

    state.reopen()
    assert [fitting(state, one) for one in CLOSING] == open_masks


@settings(max_examples=30, deadline=None)
@given(placements, st.sets(st.integers(0, 6)))
def test_the_masks_of_the_rules_make_up_the_mask_of_all(placed, closed):
    state = cluster(NODES, [(f"n{node}", CLOSING[which]) for which, node in placed])
    state.close(f"n{index}" for index in closed)
    for one in CLOSING:
        judged = state.pod_class(parse_scheduling(one))
        mask = state.nodes.all
        for _rule, passing in state.by_rule(judged):
            mask &= passing
        assert mask == state.possible(judged)


def test_the_order_of_nodes_and_pods_does_not_matter():
    placed = [(f"n{i}", PODS[i]) for i in range(6)]
    one, other = cluster(NODES, placed), cluster(NODES[::-1], placed[::-1])

    assert [fitting(one, p) for p in PODS] == [fitting(other, p) for p in PODS]


def test_equal_pods_are_of_one_class():
    state = cluster(NODES)

    assert state.pod_class(parse_scheduling(PODS[1])) is state.pod_class(parse_scheduling(PODS[1]))


def test_a_key_is_placed_once_and_on_a_node_that_is_there():
    state = ClusterState([parse_node(NODES[0])], NAMESPACES)
    judged = state.pod_class(parse_scheduling(PODS[0]))
    state.place("a", judged, "n0")

    with pytest.raises(ValueError, match="a is placed already"):
        state.place("a", judged, "n0")
    with pytest.raises(KeyError):
        state.place("b", judged, "nowhere")
    with pytest.raises(KeyError):
        state.remove("b")


def test_no_nodes_no_place():
    assert fitting(cluster([]), PODS[1]) == []


@given(st.sets(st.integers(0, 200)))
def test_a_mask_tells_its_nodes_in_order(indexes):
    assert list(bits(mask_of(indexes, 201))) == sorted(indexes)
