# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What fleet_info writes makes a twin that goes on; another file is refused in a sentence."""

from __future__ import annotations

import gzip
import json

import pytest

pytest.importorskip("cryptography", reason="ansible-core brings it; managed nodes run no twin")

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.registry import find
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.fleet_info import (
    FleetInfoOptions,
    fleet_info,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.build import (
    twin_loaded,
    twin_of,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.snapshot import read
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import parse_spec
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings

START = 1_800_000_000.0
ANTI = {"labelSelector": {"matchLabels": {"app": "payroll"}}, "topologyKey": "acme.com/rack"}
SPEC = {
    "nodes": [
        {
            "pool": "acme",
            "count": 4,
            "labels": {"acme.com/rack": "salary"},
            "taints": [{"key": "acme.com/only", "value": "salary", "effect": "PreferNoSchedule"}],
        }
    ],
    "workloads": [
        {
            "name": "payroll",
            "namespace": "acme-hr",
            "replicas": 5,
            "pod": {
                "nodeSelector": {"acme.com/rack": "salary"},
                "tolerations": [{"key": "acme.com/only", "operator": "Exists"}],
                "affinity": {
                    "podAntiAffinity": {
                        "preferredDuringSchedulingIgnoredDuringExecution": [
                            {"weight": 1, "podAffinityTerm": ANTI}
                        ]
                    }
                },
            },
        },
        {"name": "salary-db", "namespace": "acme-hr", "kind": "StatefulSet", "replicas": 3},
        {"name": "acme-agent", "namespace": "kube-system", "kind": "DaemonSet"},
        {"name": "payday", "namespace": "acme-hr", "kind": "Job", "replicas": 2},
    ],
    "budgets": [{"name": "payroll", "namespace": "acme-hr", "max_unavailable": 1}],
}


@pytest.fixture
def started():
    running = []

    def start(twin):
        running.append(twin)
        twin.start()
        return twin

    yield start
    for twin in running:
        twin.stop()


@pytest.fixture
def original(started):
    return started(twin_of(parse_spec(SPEC), Settings(START, virtual=True, run_up=600)))


def written(twin, path, **options):
    destination = find(Connection(kubeconfig=twin.kubeconfig()), environment={})
    try:
        fleet_info(FleetInfoOptions(dest=str(path), **options), destination.cluster(), Run("tests"))
    finally:
        destination.clock.close()
    return str(path)


def pods(twin):
    return {
        one["metadata"]["uid"]: (one["metadata"]["name"], one["spec"].get("nodeName"))
        for one in twin.store.objects("pods")
    }


def copy_of(path, started):
    copy = started(twin_loaded(read(path), Settings(START, virtual=True)))
    before = pods(copy)
    with copy.time.hurried() as let_pass:
        let_pass(600)
    return copy, before


@pytest.mark.parametrize("name", ["fleet.json", "fleet.json.gz"])
def test_a_twin_of_the_file_goes_on_where_the_cluster_was(original, started, tmp_path, name):
    copy, before = copy_of(written(original, tmp_path / name), started)
    assert len(before) == 14
    assert pods(copy) == before == pods(original)


def test_so_does_one_of_an_anonymised_file_which_names_nothing(original, started, tmp_path):
    path = written(original, tmp_path / "fleet.json", anonymize=True)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert [word for word in ("acme", "payroll", "salary", "payday") if word in text] == []
    copy, before = copy_of(path, started)
    assert len(before) == 14
    assert pods(copy) == before
    (budget,) = copy.store.objects("poddisruptionbudgets.policy")
    assert budget["status"]["expectedPods"] == 5


def test_a_part_of_a_fleet_is_a_twin_of_that_part(original, started, tmp_path):
    path = written(
        original, tmp_path / "fleet.json", selection=NodeSelection(nodes=("acme-1", "acme-2"))
    )
    made = read(path)
    assert sorted(one.object["metadata"]["name"] for one in made if one.resource == "nodes") == [
        "acme-1",
        "acme-2",
    ]
    assert {one.object["spec"]["nodeName"] for one in made if one.resource == "pods"} == {
        "acme-1",
        "acme-2",
    }


NODE = {"metadata": {"name": "n1", "uid": "1"}}
POD = {"metadata": {"name": "a", "namespace": "s", "uid": "2"}, "spec": {"nodeName": "n2"}}


def document(version=2, **objects):
    return json.dumps({"version": version, "objects": objects}).encode()


WHOLE = document(nodes=[NODE] * 9)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(b"", "it is no JSON", id="empty"),
        pytest.param(b"nodes: []", "it is no JSON", id="yaml"),
        pytest.param(b"\xff\xfe", "it is no JSON", id="bytes"),
        pytest.param(b"[]", "it has no version", id="a-list"),
        pytest.param(b"{}", "it has no version", id="another-document"),
        pytest.param(b'{"version": 2}', "it has no objects", id="no-objects"),
        pytest.param(WHOLE[:-1], "it is cut off", id="cut-off-by-a-brace"),
        pytest.param(WHOLE[:40], "it is cut off", id="cut-off"),
        pytest.param(gzip.compress(WHOLE)[:40], "it is cut off", id="cut-off-and-gzipped"),
        pytest.param(gzip.compress(WHOLE)[:9] + b"x" * 40, "it is damaged", id="damaged"),
        pytest.param(document(1), "it is of version 1, which says too little", id="older"),
        pytest.param(document(3), "it is of version 3, and this collection knows 2", id="newer"),
        pytest.param(document(moons=[]), "unknown collection moons", id="unknown-collection"),
        pytest.param(document(nodes=[{}]), "nodes, entry 1 has no name", id="nameless"),
        pytest.param(
            document(nodes=[NODE], pods=[POD]),
            "pod s/a is on node n2, which is not in it",
            id="a-pod-on-a-node-that-is-missing",
        ),
    ],
)
def test_what_is_no_snapshot_is_refused_with_a_remedy(tmp_path, content, words):
    path = tmp_path / "fleet.json"
    path.write_bytes(content)
    with pytest.raises(InvalidOption, match=words) as caught:
        read(str(path))
    assert str(caught.value).startswith(f"snapshot: {path}: ")
    assert caught.value.remedy


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidOption, match="No such file or directory"):
        read(str(tmp_path / "absent.json"))
