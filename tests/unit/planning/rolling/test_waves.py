# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""planning/rolling: which nodes are drained together, in which order, and what cannot be."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import parse_node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    parse_scheduling,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.placed import Placed
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rolling.board import Rolling
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rolling.waves import (
    Limits,
    waves,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.state import (
    ClusterState,
)
from tests.unit.policy.eligibility import worlds
from tests.unit.policy.eligibility.worlds import HOSTNAME

MASTER = {"node-role.kubernetes.io/control-plane": ""}


def pod(name, where, cpu="1", moves=True, labels=None, **spec):
    raw = worlds.pod(spec, labels, {"cpu": cpu})
    return Placed(name, parse_scheduling(raw), where, moves)


def rolling(size, pods, due=None, **more):
    nodes = [
        worlds.node(f"n{number}", **more.pop(f"n{number}", {})) for number in range(1, size + 1)
    ]
    names = tuple(node["metadata"]["name"] for node in nodes)
    return Rolling(
        tuple(map(parse_node, nodes)), tuple(pods), names if due is None else due, **more
    )


def planned(asked, **limits):
    """The nodes of each wave."""
    found = waves(asked, Limits(**limits))
    assert found.stuck == ()
    return [wave.nodes for wave in found.waves]


ONE_EACH = [pod(f"p{number}", f"n{number}") for number in range(1, 5)]


@pytest.mark.parametrize(("due", "batch"), [(1, 5), (50, 5), (51, 6), (100, 10), (1000, 10)])
def test_a_batch_is_a_tenth_of_the_nodes_5_at_least_and_10_at_most(due, batch):
    assert Limits().size(due) == batch
    assert Limits(max_unavailable=7).size(due) == min(7, batch)
    assert Limits(batch=3).size(due) == 3


def test_the_emptiest_go_first_and_as_many_as_there_is_room_for():
    pods = [pod("a", "n1", "3"), pod("b", "n2", "1"), pod("c", "n3", "2")]
    assert planned(rolling(4, pods)) == [("n4", "n2"), ("n3", "n1")]


def test_no_more_at_a_time_than_the_limits_allow():
    assert planned(rolling(4, ONE_EACH), batch=2) == [("n1", "n2"), ("n3", "n4")]
    assert planned(rolling(4, ONE_EACH), max_unavailable=1) == [(f"n{i}",) for i in (1, 2, 3, 4)]


def test_a_group_has_a_limit_of_its_own():
    groups = {"n1": "a", "n2": "a", "n3": "b", "n4": "b"}
    asked = rolling(4, ONE_EACH, groups=groups)
    assert planned(asked, by_group={"a": 1}) == [("n1", "n3", "n4"), ("n2",)]


def test_canaries_go_before_all_others():
    assert planned(rolling(4, ONE_EACH, canaries=("n3",))) == [("n3",), ("n1", "n2", "n4")]


def test_control_plane_nodes_go_first_and_one_by_one():
    masters = {"n3": {"labels": MASTER}, "n4": {"labels": MASTER}}
    asked = rolling(4, ONE_EACH, canaries=("n1",), **masters)
    assert planned(asked) == [("n3",), ("n4",), ("n1",), ("n2",)]


def test_only_what_is_due_is_drained():
    assert planned(rolling(4, ONE_EACH, due=("n2", "n4"))) == [("n2", "n4")]


def test_pods_go_to_what_is_done_then_to_what_is_not_due_and_move_once():
    pods = [pod("a", "n1"), pod("b", "n2", "2")]
    first, second = waves(rolling(3, pods, due=("n1", "n2")), Limits(batch=1)).waves
    assert [(move.pod, move.target) for move in first.moves] == [("a", "n3")]
    assert [(move.pod, move.target) for move in second.moves] == [("b", "n1")]


def test_what_goes_with_its_node_stays():
    (wave,) = waves(rolling(1, [pod("agent", "n1", moves=False)]), Limits()).waves
    assert (wave.nodes, wave.moves) == (("n1",), ())


def test_a_pod_that_fits_nowhere_else_keeps_its_node_and_the_others_go():
    pods = [pod("huge", "n1", "4"), pod("a", "n2")]
    found = waves(rolling(2, pods), Limits())
    assert [wave.nodes for wave in found.waves] == []
    assert [(one.node, one.pod) for one in found.stuck] == [("n2", "a"), ("n1", "huge")]
    assert "It fits on n2 but for 1000m CPU" in found.stuck[1].sentence


def test_a_selector_that_only_one_node_has_is_told():
    labelled = {"n1": {"labels": {"disk": "fast"}}}
    asked = rolling(3, [pod("db", "n1", nodeSelector={"disk": "fast"})], **labelled)
    found = waves(asked, Limits())
    assert [wave.nodes for wave in found.waves] == [("n2", "n3")]
    (stuck,) = found.stuck
    assert (stuck.node, stuck.pod) == ("n1", "db")
    assert "node selector" in stuck.sentence


@st.composite
def fleets(draw):
    size = draw(st.integers(1, 8))
    pods = []
    for i in range(1, size + 1):
        for j in range(draw(st.integers(0, 3))):
            labels = {"app": draw(st.sampled_from(["web", "db"]))}
            term = worlds.term(HOSTNAME, labels)
            spec = worlds.affinity("podAntiAffinity", term) if not j and draw(st.booleans()) else {}
            cpu = draw(st.sampled_from(["200m", "1", "1300m"]))
            pods.append(pod(f"p{i}-{j}", f"n{i}", cpu, labels=labels, **spec))
    due = tuple(f"n{i}" for i in range(1, size + 1) if draw(st.booleans()))
    return rolling(size, pods, due=due)


@settings(max_examples=80, deadline=None)
@given(asked=fleets(), batch=st.integers(1, 4))
def test_every_wave_can_be_carried_out_by_the_scheduler_and_each_node_is_due_once(asked, batch):
    found = waves(asked, Limits(batch=batch))
    state = ClusterState(asked.nodes)
    where = {}
    for one in asked.pods:
        where[one.key] = one.node
        state.place(one.key, state.pod_class(one.spec), one.node)
    specs = {one.key: one.spec for one in asked.pods}
    for wave in found.waves:
        assert 1 <= len(wave.nodes) <= batch
        state.close(wave.nodes)
        for move in wave.moves:
            assert where[move.pod] == move.source
            state.remove(move.pod)
            judged = state.pod_class(specs[move.pod])
            assert move.target in state.names(state.eligible(judged))
            state.place(move.pod, judged, move.target)
            where[move.pod] = move.target
        assert not set(where.values()) & set(wave.nodes)
        state.reopen()
    rolled = [name for wave in found.waves for name in wave.nodes]
    assert sorted([*rolled, *(one.node for one in found.stuck)]) == sorted(asked.due)
