# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""execution/eviction/world: what the watches have told so far."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.world import World
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import LabelSelector
from tests.unit.builders import budget, fleet, pod

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
