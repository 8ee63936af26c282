# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""model/scheduling: what is read of a pod's spec, and that equal pods share it."""

from __future__ import annotations

from copy import deepcopy

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node_terms import (
    NodeRequirement,
    NodeTerm,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    HostPort,
    PodTerm,
    SchedulingParser,
    SchedulingSpec,
    SpreadConstraint,
    Toleration,
    parse_scheduling,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    parse_selector_text,
)

ZONE = "topology.kubernetes.io/zone"
NEAR = {
    "topologyKey": ZONE,
    "labelSelector": {"matchLabels": {"app": "db"}},
    "matchLabelKeys": ["v", "absent"],
    "mismatchLabelKeys": ["app"],
}
APART = {"topologyKey": "rack", "namespaces": ["b", "a"], "namespaceSelector": {}}
SPREAD = {
    "topologyKey": ZONE,
    "maxSkew": 2,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {},
    "matchLabelKeys": ["v"],
    "nodeTaintsPolicy": "Honor",
}
POD = {
    "metadata": {"namespace": "shop", "name": "web-1", "labels": {"v": "1", "app": "web"}},
    "spec": {
        "nodeName": "n1",
        "schedulingGates": [{"name": "wait"}],
        "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}],
        "nodeSelector": {"b": "2", "a": "1"},
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "rack", "operator": "Gt", "values": ["3"]}]}
                    ]
                }
            },
            "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [NEAR]},
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [APART]},
        },
        "topologySpreadConstraints": [SPREAD, {**SPREAD, "whenUnsatisfiable": "ScheduleAnyway"}],
        "containers": [
            {
                "name": "main",
                "ports": [{"containerPort": 1}, {"containerPort": 80, "hostPort": 80}],
                "resources": {"requests": {"cpu": "100m", "memory": "0"}},
            }
        ],
        "volumes": [
            {"name": "data", "persistentVolumeClaim": {"claimName": "data-1"}},
            {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}},
            {"name": "tmp", "emptyDir": {}},
        ],
    },
}
SPEC = SchedulingSpec(
    namespace="shop",
    labels=(("app", "web"), ("v", "1")),
    gates=("wait",),
    tolerations=(Toleration("a", "Exists", "", "NoSchedule"),),
    node_selector=(("a", "1"), ("b", "2")),
    node_affinity=(NodeTerm((NodeRequirement("rack", "Gt", ("3",)),)),),
    requests=(("cpu", 100),),
    host_ports=(HostPort("TCP", "0.0.0.0", 80),),
    affinity=(
        PodTerm(ZONE, parse_selector_text("app notin (web),app=db,v in (1)"), ("shop",), None),
    ),
    anti_affinity=(PodTerm("rack", None, ("a", "b"), parse_selector_text("")),),
    spread=(SpreadConstraint(2, ZONE, parse_selector_text("v=1"), 1, "Honor", "Honor"),),
    claims=("data-1",),
    ephemeral_claims=("web-1-scratch",),
)


def test_the_wishes_of_a_pod_are_read():
    assert parse_scheduling(POD) == SPEC


def test_an_empty_pod_wishes_nothing():
    assert parse_scheduling({}) == SchedulingSpec("default", ())


def test_a_selector_that_the_api_server_has_merged_already_stays_as_it_is():
    merged = deepcopy(POD)
    term = merged["spec"]["affinity"]["podAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ][0]
    term["labelSelector"]["matchExpressions"] = [
        {"key": "v", "operator": "In", "values": ["1"]},
        {"key": "app", "operator": "NotIn", "values": ["web"]},
    ]

    assert parse_scheduling(merged) == SPEC


def test_pods_that_ask_for_the_same_share_one_spec():
    parser = SchedulingParser()
    twin = deepcopy(POD)
    twin["spec"]["volumes"][2]["name"] = "kube-api-access-x1"

    assert parser.parse(POD) is parser.parse(twin)
    assert parser.parse(POD) == parse_scheduling(POD)


CHANGES = [
    pytest.param(("metadata", "labels"), {"app": "web"}, id="labels"),
    pytest.param(("metadata", "namespace"), "other", id="namespace"),
    pytest.param(("spec", "tolerations"), [], id="tolerations"),
    pytest.param(("spec", "containers"), [], id="containers"),
    pytest.param(("spec", "volumes"), [], id="volumes"),
    pytest.param(("spec", "resourceClaims"), [{"name": "gpu"}], id="what-is-not-modelled"),
]


@pytest.mark.parametrize(("path", "value"), CHANGES)
def test_pods_that_differ_share_nothing(path, value):
    parser, other = SchedulingParser(), deepcopy(POD)
    other[path[0]][path[1]] = value

    assert parser.parse(POD) != parser.parse(other)
    assert parser.parse(other) == parse_scheduling(other)
