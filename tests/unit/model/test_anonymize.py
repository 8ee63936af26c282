# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""An anonymised fleet names nobody, and every relation in it still holds."""

from __future__ import annotations

import json

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.anonymize import anonymized
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.documents import (
    autoscaler_document,
    budget_document,
    controller_document,
    node_document,
    summary_document,
    workload_document,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from tests.unit.builders import autoscaler, budget, controller, node, pod

SECRETS = ("acme", "payroll", "gold", "frankfurt", "salary")

DEPLOYMENT = controller("payroll", namespace="acme-hr", selects={"acme.com/app": "payroll"})
REPLICAS = controller("payroll-5d", kind="ReplicaSet", namespace="acme-hr", owner=DEPLOYMENT)
LABELS = {"acme.com/app": "payroll", "tier": "gold", "kubernetes.io/arch": "arm64"}
FLEET = Fleet(
    nodes=(
        node(
            "acme-1",
            provider_id="aws:///acme",
            labels={
                "kubernetes.io/hostname": "acme-1",
                "topology.kubernetes.io/zone": "frankfurt-1",
                "kubernetes.io/arch": "arm64",
                "node-role.kubernetes.io/worker": "",
            },
            allocatable={"cpu": 4000, "acme.com/fpga": 2, "nvidia.com/gpu": 1},
            taints=("acme.com/only",),
        ),
    ),
    pods=(
        pod(
            "payroll-5d-1",
            namespace="acme-hr",
            node="acme-1",
            owner=REPLICAS,
            labels=LABELS,
            annotations={"contact": "salary@acme.com", "sidecar": "true"},
            claims=("salary",),
            requests={"cpu": 100},
        ),
        pod("stray-acme", namespace="acme-it", node="", labels={"tier": "acme-silver"}),
    ),
    budgets=(
        budget(
            "payroll",
            namespace="acme-hr",
            selector={
                "matchLabels": {"acme.com/app": "payroll"},
                "matchExpressions": [
                    {"key": "tier", "operator": "In", "values": ["gold", "acme-silver"]}
                ],
            },
            max_unavailable="30%",
            sync_failure="acme-hr/payroll has no scale",
        ),
    ),
    controllers=(DEPLOYMENT, REPLICAS),
    autoscalers=(autoscaler("payroll", namespace="acme-hr", target=DEPLOYMENT),),
)


def written(fleet):
    return json.dumps(
        [
            [node_document(one, fleet) for one in fleet.nodes],
            [workload_document(one, fleet) for one in fleet.pods],
            [budget_document(one) for one in fleet.budgets],
            [controller_document(one) for one in fleet.controllers],
            [autoscaler_document(one) for one in fleet.autoscalers],
        ]
    )


def test_no_name_of_the_fleet_is_left():
    text = written(anonymized(FLEET))
    assert [secret for secret in SECRETS if secret in text] == []


def test_owners_selectors_and_targets_still_fit():
    fleet = anonymized(FLEET)
    first, second = fleet.pods
    assert [one.key for one in fleet.budgets_for(first)] == [fleet.budgets[0].key]
    assert fleet.budgets_for(second) == ()
    assert fleet.controller_of(first) == fleet.controllers[0]
    assert fleet.autoscalers[0].target == fleet.controllers[0].key
    assert fleet.pods_on(fleet.nodes[0].name) == (first,)
    assert fleet.controllers[0].selector.matches(first.meta.labels)


def test_quantities_states_and_counts_are_kept():
    fleet = anonymized(FLEET)
    assert fleet.nodes[0].allocatable == {"cpu": 4000, "key-2": 2, "nvidia.com/gpu": 1}
    assert fleet.budgets[0].max_unavailable == "30%"
    assert fleet.budgets[0].sync_failure == "SyncFailed"
    assert summary_document(fleet) == {
        **summary_document(FLEET),
        "allocatable": {"cpu": 4000, "key-2": 2, "nvidia.com/gpu": 1},
    }


def test_the_same_text_gets_the_same_name_wherever_it_stands():
    fleet = anonymized(FLEET)
    assert fleet.nodes[0].meta.labels == {
        "kubernetes.io/hostname": "node-1",
        "topology.kubernetes.io/zone": "value-1",
        "kubernetes.io/arch": "arm64",
        "node-role.kubernetes.io/worker": "",
    }
    assert fleet.nodes[0].name == fleet.pods[0].node == "node-1"
    assert "true" in fleet.pods[0].meta.annotations.values()


def test_the_same_fleet_gives_the_same_names():
    assert anonymized(FLEET) == anonymized(FLEET)
