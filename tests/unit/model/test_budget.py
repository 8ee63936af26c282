# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""model/budget: a PodDisruptionBudget as the API returns it."""

from __future__ import annotations

from datetime import datetime, timezone

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import (
    ALWAYS_ALLOW,
    IF_HEALTHY_BUDGET,
    Budget,
    parse_budget,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    parse_selector_text,
)


def raw_budget(spec, status=None):
    meta = {"namespace": "shop", "name": "web", "uid": "u", "generation": 3}
    return {"metadata": meta, "spec": spec, "status": status or {}}


def test_a_budget_has_its_rule_its_policy_and_the_status_last_written():
    raw = raw_budget(
        {
            "selector": {"matchLabels": {"app": "web"}},
            "maxUnavailable": "30%",
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
        {
            "disruptionsAllowed": 1,
            "currentHealthy": 3,
            "desiredHealthy": 2,
            "expectedPods": 4,
            "disruptedPods": {"web-1": "2026-11-30T22:00:00Z"},
            "observedGeneration": 3,
        },
    )
    found = parse_budget(raw)
    assert found == Budget(
        meta=found.meta,
        selector=parse_selector_text("app=web"),
        min_available=None,
        max_unavailable="30%",
        unhealthy_pod_eviction_policy=ALWAYS_ALLOW,
        disruptions_allowed=1,
        current_healthy=3,
        desired_healthy=2,
        expected_pods=4,
        disrupted_pods={"web-1": datetime(2026, 11, 30, 22, tzinfo=timezone.utc)},
        observed_generation=3,
        sync_failure="",
    )
    assert (found.key, found.stale) == ("shop/web", False)


def test_a_budget_that_nobody_has_looked_at_is_stale_and_allows_none():
    found = parse_budget(raw_budget({"minAvailable": 1, "selector": {}}))
    assert (found.stale, found.disruptions_allowed) == (True, 0)
    assert found.unhealthy_pod_eviction_policy == IF_HEALTHY_BUDGET


def test_c11_the_failure_to_work_it_out_is_kept_and_other_reasons_are_not():
    def failure(reason, message):
        condition = {"type": "DisruptionAllowed", "reason": reason, "message": message}
        return parse_budget(raw_budget({}, {"conditions": [condition]})).sync_failure

    assert failure("SyncFailed", "no scale") == "no scale"
    assert failure("SyncFailed", "") == "SyncFailed"
    assert failure("InsufficientPods", "") == ""


def test_an_empty_selector_selects_its_namespace_and_a_missing_one_nothing():
    everything = parse_budget(raw_budget({"selector": {}}))
    assert everything.selects("shop", {})
    assert not everything.selects("other", {})
    assert not parse_budget(raw_budget({})).selects("shop", {})


def test_a_stored_selector_that_breaks_the_rules_of_today_selects_nothing():
    found = parse_budget(raw_budget({"selector": {"matchLabels": {"app": "not a value"}}}))
    assert found.selector is None
    assert not found.selects("shop", {"app": "not a value"})
