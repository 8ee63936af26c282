# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A cluster in a few lines: what it is made of, and what is refused."""

from __future__ import annotations

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import made_of, parse_spec

POOL = {"pool": "workers"}


def made(**document):
    return list(made_of(parse_spec({"nodes": [POOL], **document})))


def one(resource, **document):
    found = [each for each in made(**document) if each.resource == resource]
    assert len(found) == 1
    return found[0]


def test_nodes_of_a_pool_take_turns_in_its_zones():
    pool = {**POOL, "count": 3, "zones": ["z1", "z2"], "cpu": 8, "labels": {"a": "b"}}
    nodes = [each.object for each in made(nodes=[pool]) if each.resource == "nodes"]
    assert [node["metadata"]["name"] for node in nodes] == ["workers-1", "workers-2", "workers-3"]
    labels = [node["metadata"]["labels"] for node in nodes]
    assert [each["topology.kubernetes.io/zone"] for each in labels] == ["z1", "z2", "z1"]
    assert {each["a"] for each in labels} == {"b"}
    assert nodes[0]["status"]["allocatable"] == {"cpu": "8", "memory": "16Gi", "pods": "110"}


def test_a_control_plane_pool_is_labelled_and_tainted():
    node = made(nodes=[{**POOL, "control_plane": True}])[0].object
    assert "node-role.kubernetes.io/control-plane" in node["metadata"]["labels"]
    assert node["spec"]["taints"] == [
        {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
    ]


@pytest.mark.parametrize(
    ("kind", "resource"),
    [
        ("Deployment", "deployments.apps"),
        ("StatefulSet", "statefulsets.apps"),
        ("DaemonSet", "daemonsets.apps"),
        ("Job", "jobs.batch"),
    ],
)
def test_a_workload_is_an_object_of_its_kind(kind, resource):
    workload = {"name": "web", "namespace": "shop", "kind": kind, "start": "1m", "stop": 5}
    found = one(resource, workloads=[workload])
    template = found.object["spec"]["template"]
    assert found.namespace == "shop"
    assert template["metadata"]["labels"] == {"app": "web"}
    assert template["metadata"]["annotations"] == {"start-seconds": "60", "stop-seconds": "5"}
    assert template["spec"]["containers"][0]["resources"]["requests"] == {
        "cpu": "100m",
        "memory": "128Mi",
    }


def test_what_a_pod_needs_beside_is_merged_over_its_spec():
    workload = {"name": "web", "pod": {"nodeSelector": {"a": "b"}, "priority": 7}}
    spec = one("deployments.apps", workloads=[workload]).object["spec"]["template"]["spec"]
    assert (spec["nodeSelector"], spec["priority"]) == ({"a": "b"}, 7)
    assert spec["containers"][0]["name"] == "main"


def test_a_budget_is_for_the_workload_of_its_name_unless_it_says_otherwise():
    found = one("poddisruptionbudgets.policy", budgets=[{"name": "web", "max_unavailable": "30%"}])
    assert found.object["spec"] == {
        "maxUnavailable": "30%",
        "selector": {"matchLabels": {"app": "web"}},
    }
    budget = {"name": "all", "min_available": 0, "selector": "tier in (a,b),!x"}
    found = one("poddisruptionbudgets.policy", budgets=[budget])
    assert found.object["spec"] == {
        "minAvailable": 0,
        "selector": {
            "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["a", "b"]},
                {"key": "x", "operator": "DoesNotExist"},
            ]
        },
    }


def test_each_namespace_comes_once_and_first():
    workloads = [{"name": name, "namespace": "shop"} for name in ("a", "b")]
    found = made(workloads=workloads, budgets=[{"name": "a", "min_available": 1}])
    names = [each.object["metadata"]["name"] for each in found if each.resource == "namespaces"]
    assert names == ["shop", "default"]
    assert [each.resource for each in found][:2] == ["namespaces", "namespaces"]


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        pytest.param([], "spec: [] is no mapping.", id="no-mapping"),
        pytest.param({}, "spec: it has no nodes.", id="no-nodes"),
        pytest.param({"node": []}, "spec: unknown key node.", id="unknown-part"),
        pytest.param({"nodes": {}}, "spec: it has no nodes.", id="empty-nodes"),
        pytest.param({"nodes": "x"}, "spec: nodes: it is no list.", id="no-list"),
        pytest.param({"nodes": [{}]}, "spec: nodes, entry 1: pool is missing.", id="no-name"),
        pytest.param(
            {"nodes": [{**POOL, "cpus": 4}]},
            "spec: nodes, entry 1: unknown key cpus.",
            id="unknown-key",
        ),
        pytest.param(
            {"nodes": [{**POOL, "count": -1}]},
            "spec: pool workers: count: -1 is no whole number from 0 on.",
            id="count",
        ),
        pytest.param(
            {"nodes": [{**POOL, "memory": "much"}]}, "spec: pool workers: ", id="quantity"
        ),
        pytest.param({"nodes": [POOL, POOL]}, "spec: pool workers is there twice.", id="twice"),
        pytest.param(
            {"nodes": [POOL], "workloads": [{"name": "w", "kind": "Pod"}]},
            "spec: workload default/w: no kind 'Pod'.",
            id="kind",
        ),
        pytest.param(
            {"nodes": [POOL], "workloads": [{"name": "w", "stop": "soon"}]},
            "spec: workload default/w: stop: ",
            id="duration",
        ),
        pytest.param(
            {"nodes": [POOL], "budgets": [{"name": "b"}]},
            "spec: budget default/b: it needs one of min_available and max_unavailable.",
            id="no-number",
        ),
        pytest.param(
            {"nodes": [POOL], "budgets": [{"name": "b", "min_available": 1, "selector": "a b"}]},
            "spec: budget default/b: ",
            id="selector",
        ),
        pytest.param(
            {"nodes": [POOL], "budgets": [{"name": "b", "min_available": 1, "selector": "a>1"}]},
            "spec: budget default/b: a>1: a LabelSelector has no >.",
            id="selector-of-nodes",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place_and_a_remedy(document, sentence):
    with pytest.raises(InvalidOption) as caught:
        parse_spec(document)
    assert str(caught.value).startswith(sentence)
    assert caught.value.remedy
