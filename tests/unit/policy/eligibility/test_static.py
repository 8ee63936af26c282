# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""policy/eligibility/static: gates, names, cordons, taints, node selectors, node affinity."""

from __future__ import annotations

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    parse_scheduling,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility import verdict as v
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.verdict import (
    Failing,
    Verdict,
)
from tests.unit.policy.eligibility.worlds import ZONE, cluster, fitting, node, pod, verdict

CORDON = "node.kubernetes.io/unschedulable"


def taint(value="1", effect="NoSchedule"):
    return {"key": "a", "value": value, "effect": effect}


TOLERATIONS = [
    pytest.param([], [], id="none"),
    pytest.param([{"key": "a", "value": "1"}], ["n1"], id="no-operator-is-equal"),
    pytest.param([{"key": "a", "operator": "Equal", "value": "2"}], [], id="another-value"),
    pytest.param([{"key": "b", "operator": "Exists"}], [], id="another-key"),
    pytest.param([{"key": "a", "operator": "Exists"}], ["n1"], id="any-value"),
    pytest.param([{"operator": "Exists"}], ["n1"], id="everything"),
    pytest.param([{"operator": "Exists", "effect": "NoExecute"}], [], id="another-effect"),
    pytest.param([{"key": "a", "operator": "Gt", "value": "0"}], ["n1"], id="taint-is-greater"),
    pytest.param([{"key": "a", "operator": "Gt", "value": "1"}], [], id="taint-is-not-greater"),
    pytest.param([{"key": "a", "operator": "Lt", "value": "2"}], ["n1"], id="taint-is-less"),
    pytest.param([{"key": "a", "operator": "Lt", "value": "x"}], [], id="no-number"),
]


@pytest.mark.parametrize(("tolerations", "expected"), TOLERATIONS)
def test_a_taint_is_tolerated(tolerations, expected):
    state = cluster([node("n1", taints=[taint()])])

    assert fitting(state, pod({"tolerations": tolerations})) == expected


@pytest.mark.parametrize(
    ("effect", "expected"),
    [("NoSchedule", []), ("NoExecute", []), ("PreferNoSchedule", ["n1"])],
)
def test_an_effect_keeps_pods_off(effect, expected):
    assert fitting(cluster([node("n1", taints=[taint(effect=effect)])]), pod()) == expected


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [
        pytest.param([], ["n2"], id="not-tolerated"),
        pytest.param([{"key": CORDON, "operator": "Exists"}], ["n1", "n2"], id="tolerated"),
        pytest.param(
            [{"key": CORDON, "operator": "Exists", "effect": "NoExecute"}],
            ["n2"],
            id="tolerated-for-another-effect",
        ),
    ],
)
def test_a_cordoned_node_takes_only_pods_that_tolerate_it(tolerations, expected):
    state = cluster([node("n1", unschedulable=True), node("n2")])

    assert fitting(state, pod({"tolerations": tolerations})) == expected


def expression(key, operator, *values):
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def named(operator, name):
    return {"matchFields": [{"key": "metadata.name", "operator": operator, "values": [name]}]}


AFFINITIES = [
    pytest.param([expression("rack", "In", "1", "2")], ["n1", "n2"], id="in"),
    pytest.param([expression("rack", "NotIn", "1")], ["n2", "n3"], id="not-in-takes-absent"),
    pytest.param([expression("rack", "Exists")], ["n1", "n2"], id="exists"),
    pytest.param([expression("rack", "DoesNotExist")], ["n3"], id="does-not-exist"),
    pytest.param([expression("rack", "Gt", "1")], ["n2"], id="greater"),
    pytest.param([expression("rack", "Lt", "2")], ["n1"], id="less"),
    pytest.param([expression(ZONE, "Gt", "1")], [], id="a-word-is-no-number"),
    pytest.param([named("In", "n3")], ["n3"], id="field"),
    pytest.param([named("NotIn", "n3")], ["n1", "n2"], id="not-field"),
    pytest.param([{**expression("rack", "Exists"), **named("In", "n3")}], [], id="both-must-hold"),
    pytest.param([expression("rack", "In", "1"), named("In", "n3")], ["n1", "n3"], id="or"),
    pytest.param([{}], [], id="an-empty-term-selects-nothing"),
]


@pytest.mark.parametrize(("terms", "expected"), AFFINITIES)
def test_required_node_affinity(terms, expected):
    state = cluster(
        [node("n1", "z1", labels={"rack": "1"}), node("n2", labels={"rack": "2"}), node("n3")]
    )
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}

    assert fitting(state, pod({"affinity": {"nodeAffinity": required}})) == expected


def test_all_failing_rules_are_told_with_their_detail():
    state = cluster(
        [node("n1", "z1", unschedulable=True, taints=[taint("1"), taint("2", "NoExecute")])]
    )
    wishes = pod({"nodeSelector": {"rack": "1", ZONE: "z2"}}, requests={"cpu": "5"})

    assert verdict(state, wishes, "n1") == Verdict(
        (
            Failing(v.UNSCHEDULABLE, "the node is cordoned"),
            Failing(v.TAINTS, "it does not tolerate the taint a=1:NoSchedule"),
            Failing(v.TAINTS, "it does not tolerate the taint a=2:NoExecute"),
            Failing(v.NODE_SELECTOR, "it wants rack=1, the node does not have it"),
            Failing(v.NODE_SELECTOR, f"it wants {ZONE}=z2, the node has z1"),
            Failing(
                v.RESOURCES, "it asks for 5000m CPU, of which 4000m CPU is free", (("cpu", 1000),)
            ),
        )
    )


def test_a_gate_keeps_a_pod_off_every_node():
    state = cluster([node("n1")])
    gated = pod({"schedulingGates": [{"name": "example.com/wait"}]})

    assert fitting(state, gated) == []
    assert verdict(state, gated, "n1").rules == (v.SCHEDULING_GATES,)


def test_a_template_that_names_a_node_goes_there_alone():
    state = cluster([node("n1"), node("n2")])

    free = state.pod_class(parse_scheduling(pod({"nodeName": "n1"})))
    bound = state.pod_class(parse_scheduling(pod({"nodeName": "n1"}), node_name="n1"))

    assert state.names(state.eligible(free)) == ["n1", "n2"]
    assert state.names(state.eligible(bound)) == ["n1"]
    assert state.explain(bound, "n2").rules == (v.NODE_NAME,)


UNMODELLED = [
    pytest.param({"resourceClaims": [{"name": "gpu"}]}, id="resource-claims"),
    pytest.param({"schedulingGroup": {"podGroupName": "g"}}, id="pod-group"),
    pytest.param({"hostNetwork": True, "hostUsers": False}, id="user-namespaces"),
    pytest.param({"volumes": [{"name": "v", "iscsi": {}}]}, id="in-tree-volume"),
    pytest.param({"volumes": [{"name": "v", "ephemeral": {}}]}, id="ephemeral-claim"),
    pytest.param(
        {"containers": [{"name": "c", "restartPolicyRules": [{"action": "RestartAllContainers"}]}]},
        id="restart-of-all-containers",
    ),
    pytest.param(
        {"containers": [{"name": "c", "volumeMounts": [{"bindMountOptions": ["noexec"]}]}]},
        id="bind-mount-options",
    ),
    pytest.param(
        {
            "topologySpreadConstraints": [
                {
                    "topologyKey": ZONE,
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": {"-": "x"}},
                }
            ]
        },
        id="broken-selector",
    ),
]


@pytest.mark.parametrize("spec", UNMODELLED)
def test_what_is_not_modelled_never_fits(spec):
    state = cluster([node("n1", "z1")])

    assert fitting(state, pod(spec)) == []
    assert verdict(state, pod(spec), "n1").outcome == v.UNKNOWN
    assert verdict(state, pod(spec), "n1").unknown != ()


def test_what_fails_is_certain_whatever_is_unknown():
    state = cluster([node("n1", unschedulable=True)])

    assert (
        verdict(state, pod({"resourceClaims": [{"name": "gpu"}]}), "n1").outcome == v.DOES_NOT_FIT
    )
