# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""fleet_info against a real API server: what it returns, writes, limits and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.kubernetes.connection import (
    Connection,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.registry import find
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.fleet_info import (
    FleetInfoOptions,
    fleet_info,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Run
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    Forbidden,
    InvalidOption,
    Refused,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
)

ALL = ("nodes", "workloads", "budgets")
READ_ALL_BUT = """
kind: ClusterRole
metadata: {name: reader}
rules:
  - {apiGroups: [""], resources: [nodes, pods, replicationcontrollers], verbs: [list]}
  - {apiGroups: [apps], resources: ["*"], verbs: [list]}
"""
BUDGETS = "  - {apiGroups: [policy], resources: [poddisruptionbudgets], verbs: [list]}\n"


@pytest.fixture
def world(space):
    """Two nodes; two pods of `web` with a budget on the first, one of `db` on the second."""
    first, second = space.nodes(2, zones=("z1", "z2"))
    space.deployment("web", 2, node=first, cpu="100m", memory="64Mi")
    space.budget("web", max_unavailable=1)
    space.deployment("db", 1, node=second)
    space.wait_running()
    return first, second


def read(space, options, user="runner", check_mode=False, **kubeconfig):
    config = space.kubeconfig(user, **kubeconfig)
    cluster = find(Connection(kubeconfig=str(config)), environment={}).cluster()
    try:
        return fleet_info(options, cluster, Run("test", check_mode=check_mode))
    finally:
        cluster.close()


def options(space, **more):
    selection = NodeSelection(node_selector=f"test-space={space.id}")
    return FleetInfoOptions(**{"selection": selection, "namespaces": (space.namespace,), **more})


def test_nodes_are_returned_with_what_runs_on_them(space, world):
    report = read(space, options(space))
    first, second = report.extra["nodes"]
    assert [(one["name"], one["zone"], one["pods"]) for one in (first, second)] == [
        (world[0], "z1", 2),
        (world[1], "z2", 1),
    ]
    assert first["requested"] == {"cpu": 200, "memory": 2 * 64 * 2**20}
    assert report.extra["summary"]["pods"] == 3
    assert "workloads" not in report.extra
    assert not report.changed


def test_a_selection_limits_workloads_budgets_and_controllers(space, world, tmp_path):
    dest = tmp_path / "fleet.json"
    chosen = NodeSelection(nodes=(world[0],))
    report = read(space, options(space, selection=chosen, gather=ALL, dest=str(dest)))
    assert {one["node"] for one in report.extra["workloads"]} == {world[0]}
    assert {one["controller"] for one in report.extra["workloads"]} == {
        f"Deployment {space.namespace}/web"
    }
    assert [one["name"] for one in report.extra["budgets"]] == ["web"]
    kinds = [one["kind"] for one in json.loads(dest.read_text())["controllers"]]
    assert kinds == ["Deployment", "ReplicaSet"]


def test_a_file_is_written_once_and_check_mode_only_predicts_it(space, world, tmp_path):
    dest = tmp_path / "fleet.json.gz"
    asked = options(space, dest=str(dest))
    predicted = read(space, asked, check_mode=True)
    assert (predicted.changed, dest.exists()) == (True, False)
    assert [read(space, asked).changed for _each in range(2)] == [True, False]


def test_an_anonymised_snapshot_names_nothing_of_the_space(space, world):
    report = read(space, options(space, gather=ALL, anonymize=True))
    text = json.dumps(report.extra)
    assert space.id not in text
    assert [one["budgets"] for one in report.extra["workloads"]].count([]) == 1


@pytest.mark.parametrize(("dest", "requests"), [("", 9), ("f.json", 17)], ids=["read", "written"])
def test_only_lists_are_sent_one_for_each_collection(space, world, tmp_path, dest, requests):
    read(space, options(space, gather=ALL, dest=str(tmp_path / dest) if dest else ""))
    assert {request.verb for request in space.requests()} == {"list"}
    assert len({request.resource for request in space.requests()}) == requests
    assert len(space.requests()) == requests


def test_autoscalers_may_be_forbidden_and_are_then_named(space, world, tmp_path):
    roles = tmp_path / "roles.yml"
    roles.write_text(READ_ALL_BUT + BUDGETS)
    report = read(space, options(space), user="reader", roles=roles)
    (sentence,) = report.extra["unread"]
    assert "may not list horizontalpodautoscalers" in sentence


def test_budgets_may_not_be_forbidden(space, world, tmp_path: Path):
    roles = tmp_path / "roles.yml"
    roles.write_text(READ_ALL_BUT)
    with pytest.raises(Forbidden, match="may not list poddisruptionbudgets in namespace"):
        read(space, options(space), user="reader", roles=roles)


def test_an_unknown_node_is_refused(space):
    with pytest.raises(Refused, match="nobody"):
        read(space, options(space, selection=NodeSelection(nodes=("nobody",))))


def test_an_unknown_collection_is_refused_before_anything_is_read(space):
    with pytest.raises(InvalidOption, match="gather: 'secrets' is not one of nodes, workloads"):
        read(space, options(space, gather=("secrets",)))
    assert space.requests() == []
