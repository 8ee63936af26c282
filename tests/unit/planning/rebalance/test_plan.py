# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""planning/rebalance/plan: a rebalancing as a document, with every number worked out by hand."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal

import pytest
from jsonschema import Draft202012Validator

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import parse_node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.offering import parse_offerings
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.codec import (
    api_document,
    snake_document,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.document import begun
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.schema import json_schema
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.settings import (
    AggressiveModeConfig,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.status import REBALANCE
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import parse_pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    parse_scheduling,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling_facts import (
    SchedulingFacts,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.volumes import Storage
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.inputs import (
    world_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.plan import (
    Outcome,
    planned,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.rebalance import (
    rebalance,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.world import (
    Wishes,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.replaceable import (
    Scope,
    kept_by,
    refusals,
)
from tests.unit.builders import controller

NOW = datetime(2026, 12, 1, 12, 0, 0, tzinfo=timezone.utc)
TYPE = "node.kubernetes.io/instance-type"
OFFERINGS = parse_offerings(
    [
        {
            "instance_type": name,
            "capacity_type": kind,
            "price_per_hour": price,
            "capacity": {"cpu": cpu, "memory": memory, "pods": 20},
        }
        for name, kind, price, cpu, memory in (
            ("old", "on-demand", "0.10", "4", "8Gi"),
            ("small", "spot", "0.05", "3", "6Gi"),
        )
    ]
)


def node(name, instance_type="old"):
    room = {"cpu": "4", "memory": "8Gi", "pods": "20"}
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": {TYPE: instance_type}},
        "status": {
            "allocatable": room,
            "capacity": room,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(name, where, owner=("ReplicaSet", "web"), cpu="1"):
    kind, of = owner
    uid = f"{kind.lower()}:shop/{of}"
    references = [
        {"apiVersion": "apps/v1", "kind": kind, "name": of, "uid": uid, "controller": True}
    ]
    resources = {"requests": {"cpu": cpu, "memory": "1Gi"}}
    return {
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": f"uid-{name}",
            "ownerReferences": references if kind else [],
        },
        "spec": {"nodeName": where, "containers": [{"name": "c", "resources": resources}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


CONTROLLERS = (
    controller("agent", kind="DaemonSet"),
    controller("big", kind="ReplicaSet", replicas=2),
    controller("web", kind="ReplicaSet", replicas=2),
)
AGENT = ("DaemonSet", "agent")
BARE = ("", "")


def plan_of(nodes, pods, savings="5"):
    fleet = Fleet(
        tuple(map(parse_node, nodes)), tuple(map(parse_pod, pods)), controllers=CONTROLLERS
    )
    specs = {raw["metadata"]["uid"]: parse_scheduling(raw) for raw in pods}
    refused = refusals(fleet, Storage(), Scope(AggressiveModeConfig()))
    replaceable = {one.name for one in fleet.nodes} - set(kept_by(refused))
    world = world_of(fleet, SchedulingFacts(specs), OFFERINGS, replaceable)
    found = rebalance(world, Wishes())
    asked = begun("p1", "org", "cluster", REBALANCE, NOW)
    made = planned(asked, Outcome(fleet, world, found, refused), Decimal(savings), NOW)
    assert list(Draft202012Validator(json_schema()).iter_errors(api_document(made))) == []
    return snake_document(made)


# Two half-empty nodes go; one that a bare pod keeps and one of unknown price stay, both full.
NODES = [node("n1"), node("n2"), node("n3"), node("n4", "unknown")]
PODS = [
    pod("web-1", "n1"),
    pod("web-2", "n2"),
    pod("agent-1", "n1", AGENT, "100m"),
    pod("agent-2", "n2", AGENT, "100m"),
    pod("agent-3", "n3", AGENT, "100m"),
    pod("bare", "n3", BARE, "3900m"),
    pod("big-1", "n4", ("ReplicaSet", "big"), "2"),
    pod("big-2", "n4", ("ReplicaSet", "big"), "2"),
]


def test_every_number_of_a_plan_that_is_ready():
    plan = plan_of(NODES, PODS)
    assert (plan["status"], plan["unpriced_nodes"]) == ("READY", 1)
    found = plan["configurations"]
    old = {"instance_type": "old", "milli_cpu": 4000, "memory_mib": 8192, "is_spot": False}
    assert found["blue"]["nodes"] == [
        {**old, "price_hourly": "0.1", "name": name} for name in ("n1", "n2")
    ]
    assert found["green"]["nodes"] == [
        {
            "instance_type": "small",
            "milli_cpu": 3000,
            "memory_mib": 6144,
            "is_spot": True,
            "price_hourly": "0.05",
        }
    ]
    assert found["blue"]["totals"] == {
        "nodes": 2,
        "replaceable_nodes": 2,
        "migratable_pods": 2,
        "milli_cpu": 8000,
        "memory_mib": 16384,
        "price_hourly": "0.2",
        "price_monthly": "146",
        "pods": 4,
        "problematic_pods": 0,
    }
    assert found["green"]["totals"] == {
        "nodes": 1,
        "replaceable_nodes": 1,
        "migratable_pods": 2,
        "milli_cpu": 3000,
        "memory_mib": 6144,
        "price_hourly": "0.05",
        "price_monthly": "36.5",
        "pods": 3,
        "problematic_pods": 0,
    }
    assert found["blue"]["cluster_totals"] == {
        "nodes": 4,
        "replaceable_nodes": 2,
        "migratable_pods": 2,
        "milli_cpu": 16000,
        "memory_mib": 32768,
        "price_hourly": "0.3",
        "price_monthly": "219",
        "pods": 8,
        "problematic_pods": 1,
    }
    assert found["green"]["cluster_totals"] == {
        "nodes": 3,
        "replaceable_nodes": 1,
        "migratable_pods": 2,
        "milli_cpu": 11000,
        "memory_mib": 22528,
        "price_hourly": "0.15",
        "price_monthly": "109.5",
        "pods": 7,
        "problematic_pods": 1,
    }
    assert found["diff"] == {
        "price_hourly": "0.15",
        "price_monthly": "109.5",
        "savings_percentage": "75",
        "cluster_savings_percentage": "50",
    }


def test_new_nodes_come_first_and_all_old_ones_are_closed_before_any_is_drained():
    steps = plan_of(NODES, PODS)["steps"]
    assert [(step["action"], step["object"], step["target"]) for step in steps] == [
        ("provision", "new-1", "small/*/spot"),
        ("cordon", "n1", ""),
        ("cordon", "n2", ""),
        ("drain", "n1", ""),
        ("drain", "n2", ""),
        ("delete", "n1", ""),
        ("delete", "n2", ""),
    ]
    assert [step["uid"] for step in steps] == ["", *["uid-n1", "uid-n2"] * 3]


def test_what_keeps_a_node_is_told_with_the_setting_that_lets_it_go():
    (refusal,) = plan_of(NODES, PODS)["refusals"]
    assert (refusal["node"], refusal["object"], refusal["code"]) == (
        "n3",
        "Pod shop/bare",
        "unmanaged",
    )
    assert refusal["setting"] == "ignore_problem_pods_without_controller"


@pytest.mark.parametrize(
    ("nodes", "pods", "savings", "reason", "words"),
    [
        pytest.param([], [], "5", "NO_NODES", "There are no nodes", id="no-nodes"),
        pytest.param(
            [node("n1")],
            [pod("bare", "n1", BARE)],
            "5",
            "NO_REPLACEABLE",
            "None of 1 nodes can be replaced: 1 are kept by what is on them, 0 have no price.",
            id="nothing-to-replace",
        ),
        pytest.param(
            [node("n1", "unknown")],
            [],
            "5",
            "NO_REPLACEABLE",
            "0 are kept by what is on them, 1 have no price.",
            id="no-price-is-known",
        ),
        pytest.param(
            NODES,
            PODS,
            "51",
            "LOW_SAVINGS",
            "It would save 50 % of 0.3 an hour; at least 51 % is asked for.",
            id="too-little",
        ),
        pytest.param(
            [node("n1")],
            [pod("a", "n1", cpu="2"), pod("b", "n1", cpu="2")],
            "0",
            "LOW_SAVINGS",
            "It would save 0 %",
            id="nothing-cheaper",
        ),
    ],
)
def test_a_plan_that_is_skipped_says_why(nodes, pods, savings, reason, words):
    plan = plan_of(nodes, pods, savings)
    assert (plan["status"], plan["skipped_reason"], plan["steps"]) == ("SKIPPED", reason, [])
    assert words in plan["skipped_message"]
