# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""execution/eviction/world: what the watches have told so far."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.world import World
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import LabelSelector
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.disruption import (
    attainable_pods,
    counts_scale,
    unhealthy_pods,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.fragility import owner_replicas
from tests.unit.builders import budget, controller, fleet, owner_of, pod

WEB, DATA = {"app": "web"}, {"app": "data"}


def test_the_budgets_of_a_pod_are_those_of_its_namespace_that_select_it_by_key():
    second, first = budget("b", selects=WEB), budget("a", selects=WEB)
    others = [budget("data", selects=DATA), budget("a", namespace="other", selects=WEB)]
    world = World(fleet(second, first, *others))

    assert world.budgets_of(pod(labels=WEB)) == (first, second)
    assert world.budgets_of(pod(labels=DATA)) == (others[0],)
    assert world.budgets_of(pod()) == ()


def test_the_newest_state_of_a_budget_is_given():
    before = budget("web", selects=WEB, allowed=0)
    world = World(fleet(before))
    assert world.budgets_of(pod(labels=WEB)) == (before,)

    world.put(replace(before, disruptions_allowed=1))

    assert world.budgets_of(pod(labels=WEB)) == (replace(before, disruptions_allowed=1),)


def test_a_budget_that_comes_goes_or_selects_others_is_noticed():
    web = budget("web", selects=WEB)
    world = World(fleet())
    assert world.budgets_of(pod(labels=WEB)) == ()

    world.put(web)
    assert world.budgets_of(pod(labels=WEB)) == (web,)

    world.put(replace(web, selector=budget("any", selects=DATA).selector))
    assert world.budgets_of(pod(labels=WEB)) == ()

    world.put(web)
    world.drop(web)
    assert world.budgets_of(pod(labels=WEB)) == ()


def test_a_pod_whose_labels_change_has_other_budgets():
    web, data = budget("web", selects=WEB), budget("data", selects=DATA)
    world = World(fleet(web, data))

    assert world.budgets_of(pod(labels=WEB)) == (web,)
    assert world.budgets_of(pod(labels=DATA)) == (data,)


def test_labels_are_not_matched_again_when_a_status_changes(monkeypatch: pytest.MonkeyPatch):
    web = budget("web", selects=WEB)
    world = World(fleet(web))
    world.budgets_of(pod(labels=WEB))

    def matched_again(_selector: LabelSelector, _labels: object) -> bool:
        raise AssertionError("matched again")

    monkeypatch.setattr(LabelSelector, "matches", matched_again)
    world.put(replace(web, disruptions_allowed=7))

    assert world.budgets_of(pod(labels=WEB))[0].disruptions_allowed == 7


# What changes in a namespace, drawn at random: two Deployments with a ReplicaSet each, a bare
# StatefulSet, pods that come, are adopted, orphaned or relabelled, and budgets that select others.
DEPLOYMENTS = [controller(name) for name in ("web", "data")]
SETS = [controller(f"{one.meta.name}-1", kind="ReplicaSet", owner=one) for one in DEPLOYMENTS]
DATABASE = controller("db", kind="StatefulSet")
OWNERS = [None, *SETS, DATABASE, owner_of(controller("unknown", kind="ReplicaSet"))]
LABELS = [WEB, DATA, {}]
MEMBERS = st.one_of(
    st.builds(
        pod,
        st.sampled_from(["p1", "p2", "p3", "p4"]),
        owner=st.sampled_from(OWNERS),
        labels=st.sampled_from(LABELS),
        ready=st.booleans(),
    ),
    st.builds(
        budget,
        st.sampled_from(["a", "b"]),
        selects=st.sampled_from([WEB, DATA]),
        min_available=st.sampled_from([1, "50%"]),
    ),
    st.sampled_from([*DEPLOYMENTS, *SETS, DATABASE]),
)


@given(st.lists(st.tuples(st.sampled_from(["put", "drop", "ask"]), MEMBERS), max_size=30))
def test_after_any_changes_a_world_answers_as_one_that_is_made_of_what_there_is(changes):
    world, there = World(fleet()), {}
    for change, member in changes:
        if change == "put":
            world.put(member)
            there[member.meta.uid] = member
        elif change == "drop":
            world.drop(member)
            there.pop(member.meta.uid, None)
        _same_answers(world, fleet(*there.values()))


def _same_answers(world, whole):
    for one in whole.pods:
        family = world.family(one)
        assert family.controller_of(one) == whole.controller_of(one)
        assert set(_keys(owner_replicas(one, family))) == set(_keys(owner_replicas(one, whole)))
        assert world.budgets_of(one) == whole.budgets_for(one)
    for one in whole.budgets:
        assert world.unhealthy(one) == unhealthy_pods(one, whole.pods)
        selected = [each for each in whole.pods if one.selects("shop", each.meta.labels)]
        expected = attainable_pods(selected, whole.controller_by_uid)
        assert world.attainable(one) == (None if counts_scale(one) else expected)


def _keys(pods):
    return [one.key for one in pods]
