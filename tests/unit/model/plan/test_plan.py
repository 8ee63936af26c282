# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""model/plan: legal ways of a status, documents that keep everything, settings that are refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan import document as d
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan import status
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.codec import (
    api_document,
    parse_plan,
    snake_document,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.money import (
    exact,
    monthly,
    percentage,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.schema import json_schema
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.settings import (
    AggressiveModeConfig,
    check_settings,
)
from tests.unit.model.plan.plans import NOW, plans
from tests.unit.model.plan.reference import ENUMERATIONS, REFERENCE

LATER = NOW + timedelta(minutes=5)
VALIDATOR = Draft202012Validator(json_schema())


def plan(state=status.GENERATING, **fields):
    made = d.begun("p1", "org", "cluster", status.REBALANCE, NOW)
    return replace(made, status=state, **fields)


# Statuses

WAYS = [(before, after) for before, ways in status.TRANSITIONS.items() for after in ways]
NO_WAYS = [
    (before, after)
    for before in status.STATUSES
    for after in status.STATUSES
    if (before, after) not in WAYS
]


@pytest.mark.parametrize(("before", "after"), WAYS)
def test_a_way_that_there_is(before, after):
    found = d.advanced(plan(before), after, LATER)
    assert (found.status, found.update_time, found.create_time) == (after, LATER, NOW)
    assert found.execute_time == (LATER if after == status.EXECUTING else None)
    ended = before == status.EXECUTING
    assert found.complete_time == (LATER if ended else None)


@pytest.mark.parametrize(("before", "after"), NO_WAYS)
def test_a_way_that_there_is_not(before, after):
    with pytest.raises(status.IllegalTransition, match=f"{before} cannot become {after}"):
        d.advanced(plan(before), after, LATER)


def test_drift_after_an_act_makes_a_plan_partially_completed_and_never_stale():
    acted = plan(status.EXECUTING, steps=(d.Step("1", "drain", "n1", "u1", state=d.DONE),))
    with pytest.raises(ValueError, match="partially completed, not stale"):
        d.advanced(acted, status.STALE, LATER)


# Documents


@given(plans)
def test_what_is_stored_is_read_as_it_was_and_keeps_the_schema(made):
    document = api_document(made)
    assert parse_plan(document) == made
    assert list(VALIDATOR.iter_errors(document)) == []


def test_the_two_forms_of_names():
    made = plan(rebalancing_nodes=(d.RebalancingNode("n1"),))
    assert api_document(made)["rebalancingNodes"] == [{"nodeName": "n1"}]
    assert snake_document(made)["rebalancing_nodes"] == [{"node_name": "n1"}]
    assert api_document(made)["createTime"] == "2026-12-01T12:00:00Z"
    assert "executeTime" not in api_document(made)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"colour": "blue"}, "plan.colour is unknown", id="unknown-field"),
        pytest.param({"status": 3}, "plan.status is no str", id="another-type"),
        pytest.param({"unpricedNodes": True}, "plan.unpricedNodes is no int", id="a-boolean"),
        pytest.param({"errors": {}}, "plan.errors is no list", id="no-list"),
        pytest.param({"errors": [3]}, r"plan.errors\[0\] is no map", id="no-map"),
        pytest.param({"errors": [{}]}, "code", id="a-field-that-is-missing"),
        pytest.param({"createTime": "noon"}, "not an RFC 3339 time", id="a-time-that-is-none"),
    ],
)
def test_a_document_that_was_edited_by_hand_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        parse_plan({**api_document(plan()), **change})


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"status": "DONE"}, id="unknown-status"),
        pytest.param({"kind": "upgrade"}, id="unknown-kind"),
        pytest.param({"errors": [{"code": "OOPS", "message": ""}]}, id="unknown-code"),
        pytest.param({"skippedReason": "LAZY"}, id="unknown-reason"),
        pytest.param({"more": 1}, id="a-field-that-is-none"),
    ],
)
def test_the_schema_refuses(change):
    assert list(VALIDATOR.iter_errors({**api_document(plan()), **change})) != []


# The reference

OURS = {
    "RebalancingPlan": "Plan",
    "Configuration_Node": "ConfigurationNode",
    "Configuration_FailedNode": "FailedNode",
    "FailedNode_FailedAttempt": "FailedAttempt",
    "Configurations_Configuration": "Configuration",
    "Configurations_ConfigurationTotals": "ConfigurationTotals",
    "Configurations_Diff": "Diff",
    "Configurations_Recommendations": "Recommendations",
    "Configurations_Totals": "Totals",
    "NodePoolBudgetInfo": "NodePoolBudget",
}
ADDED = {"kind", "steps", "refusals", "fingerprint", "unpricedNodes"}


@pytest.mark.parametrize("name", REFERENCE)
def test_every_field_of_the_reference_is_there_with_its_type_and_no_other(name):
    wanted = dict(pair.split(":") for pair in REFERENCE[name].split())
    ours = json_schema()["$defs"][OURS.get(name, name)]["properties"]
    added = ADDED if name == "RebalancingPlan" else set()
    assert {
        key: schema.get("type", "object") for key, schema in ours.items() if key not in added
    } == wanted
    assert added <= set(ours)


def test_the_enumerations_are_the_references_without_what_says_nothing():
    definitions = json_schema()["$defs"]
    enumerated = {
        "status": definitions["Plan"]["properties"]["status"]["enum"],
        "code": definitions["RebalancingError"]["properties"]["code"]["enum"],
    }
    for name, ours in enumerated.items():
        theirs = [value for value in ENUMERATIONS[name] if not value.endswith("UNSPECIFIED")]
        assert sorted(ours) == sorted(theirs)
    assert sorted(status.WAIT_STATES) == sorted(ENUMERATIONS["budgetWaitState"])


# Settings

WITH = {"aggressive_eviction": True}
PDB = {"ignore_blocking_pdb": True}
REFUSED = [
    pytest.param({"drain_timeout_seconds": "120"}, "without aggressive_eviction", id="no-switch"),
    pytest.param({**WITH, "drain_timeout_seconds": "59"}, "'59' is out of range", id="59"),
    pytest.param({**WITH, "drain_timeout_seconds": "3601"}, "'3601' is out of range", id="3601"),
    pytest.param({**WITH, "drain_timeout_seconds": "1m"}, "'1m' is out of range", id="no-number"),
    pytest.param({"ignore_blocking_pdb_timeout": "5s"}, "without ignore_blocking_pdb", id="no-pdb"),
    pytest.param({**PDB, "ignore_blocking_pdb_timeout": "0s"}, "not positive", id="0s"),
    pytest.param({**PDB, "ignore_blocking_pdb_timeout": "-5s"}, "-5s", id="-5s"),
    pytest.param({**PDB, "ignore_blocking_pdb_timeout": "soon"}, "soon", id="soon"),
    pytest.param(
        {"ignore_problem_removal_disabled_pods_timeout": "5s"},
        "without ignore_problem_removal_disabled_pods",
        id="no-marked-pods",
    ),
]


@pytest.mark.parametrize(("given", "words"), REFUSED)
def test_a_setting_that_is_wrong_is_named(given, words):
    with pytest.raises(InvalidOption) as refusal:
        check_settings(AggressiveModeConfig(**given))
    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        pytest.param({}, None, id="off"),
        pytest.param(WITH, 600.0, id="unset"),
        pytest.param({**WITH, "drain_timeout_seconds": "0"}, None, id="no-deadline"),
        pytest.param({**WITH, "drain_timeout_seconds": "60"}, 60.0, id="60"),
        pytest.param({**WITH, "drain_timeout_seconds": "3600"}, 3600.0, id="3600"),
    ],
)
def test_the_deadline_of_a_drain(given, seconds):
    settings = AggressiveModeConfig(**given)
    check_settings(settings)
    assert settings.drain_timeout == seconds


def test_the_patience_with_budgets_and_marks():
    unset = AggressiveModeConfig(**PDB, ignore_problem_removal_disabled_pods=True)
    assert (unset.blocking_pdb_timeout, unset.removal_disabled_pods_timeout) == (600.0, 600.0)
    given = replace(
        unset,
        ignore_blocking_pdb_timeout="5s",
        ignore_problem_removal_disabled_pods_timeout="1m30s",
    )
    check_settings(given)
    assert (given.blocking_pdb_timeout, given.removal_disabled_pods_timeout) == (5.0, 90.0)


# Money


@pytest.mark.parametrize(
    ("amount", "text"),
    [("0.190", "0.19"), ("1E+2", "100"), ("0", "0"), ("-0.0", "0"), ("1e-9", "0.000000001")],
)
def test_amounts_are_exact_and_plain(amount, text):
    assert exact(Decimal(amount)) == text


def test_a_month_has_730_hours_and_no_digit_is_lost():
    assert exact(monthly(Decimal("0.019003238553599998"))) == "13.87236414412799854"


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [("1", "3", "33.33"), ("1", "8", "12.5"), ("-1", "4", "-25"), ("1", "0", "0"), ("0", "5", "0")],
)
def test_shares_are_told_in_hundredths_of_a_percent(part, whole, text):
    assert percentage(Decimal(part), Decimal(whole)) == text
