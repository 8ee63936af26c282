# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""model/controller: who recreates pods, as the API returns them."""

from __future__ import annotations

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.controller import (
    Autoscaler,
    parse_autoscaler,
    parse_controller,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    parse_selector_text,
)

META = {"namespace": "shop", "name": "web", "uid": "u", "generation": 2}


def counts(found):
    return (
        found.replicas,
        found.ready_replicas,
        found.updated_replicas,
        found.available_replicas,
    )


def test_a_deployment_has_its_counts_and_its_rolling_update():
    found = parse_controller(
        "Deployment",
        {
            "metadata": META,
            "spec": {
                "replicas": 4,
                "paused": True,
                "selector": {"matchLabels": {"app": "web"}},
                "strategy": {
                    "type": "RollingUpdate",
                    "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0},
                },
            },
            "status": {
                "readyReplicas": 3,
                "updatedReplicas": 2,
                "availableReplicas": 1,
                "observedGeneration": 2,
            },
        },
    )
    assert (found.key, counts(found)) == ("Deployment shop/web", (4, 3, 2, 1))
    assert (found.update_strategy, found.max_surge, found.max_unavailable) == (
        "RollingUpdate",
        "25%",
        0,
    )
    assert (found.paused, found.observed, found.ordered) == (True, True, False)
    assert found.selector == parse_selector_text("app=web")


def test_a_controller_without_a_status_has_no_ready_replicas_and_was_not_observed():
    found = parse_controller("ReplicaSet", {"metadata": META})
    assert (counts(found), found.observed, found.update_strategy) == ((1, 0, 0, 0), False, "")
    assert found.selector is None


def test_a_daemon_set_counts_nodes():
    status = {
        "desiredNumberScheduled": 5,
        "numberReady": 4,
        "updatedNumberScheduled": 3,
        "numberAvailable": 2,
    }
    spec = {"updateStrategy": {"type": "OnDelete"}}
    found = parse_controller("DaemonSet", {"metadata": META, "spec": spec, "status": status})
    assert (counts(found), found.update_strategy) == ((5, 4, 3, 2), "OnDelete")


@pytest.mark.parametrize(
    ("kind", "policy", "ordered"),
    [
        ("StatefulSet", None, True),
        ("StatefulSet", "OrderedReady", True),
        ("StatefulSet", "Parallel", False),
        ("Deployment", None, False),
    ],
)
def test_only_a_stateful_set_that_is_not_parallel_is_ordered(kind, policy, ordered):
    spec = {} if policy is None else {"podManagementPolicy": policy}
    assert parse_controller(kind, {"metadata": META, "spec": spec}).ordered is ordered


@pytest.mark.parametrize(
    ("selector", "expected"),
    [({"app": "web"}, "app=web"), ({}, ""), (None, None)],
    ids=["labels", "no labels", "no selector"],
)
def test_a_replication_controllers_selector_is_a_bare_map_of_labels(selector, expected):
    spec = {} if selector is None else {"selector": selector}
    found = parse_controller("ReplicationController", {"metadata": META, "spec": spec})
    assert (None if found.selector is None else str(found.selector)) == expected


def test_an_autoscaler_names_its_target_as_controllers_are_keyed():
    found = parse_autoscaler(
        {
            "metadata": META,
            "spec": {"maxReplicas": 9, "scaleTargetRef": {"kind": "Deployment", "name": "web"}},
            "status": {"currentReplicas": 3, "desiredReplicas": 4},
        }
    )
    assert found == Autoscaler(found.meta, "Deployment shop/web", 9, 3, 4)
