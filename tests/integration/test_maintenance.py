# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Maintenance on a real API server: annotations, Events, and what maintenance_info tells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.cordon import (
    CordonOptions,
    cordon,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.fencing import (
    fence,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.lock import hold
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.maintenance import (
    MaintenanceOptions,
    maintenance,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.maintenance_info import (
    MaintenanceInfoOptions,
    maintenance_info,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import Refused
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Report
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.resources import NODES
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_selection import (
    NodeSelection,
)
from tests.control_plane.space import Space

from .calling import PREFIX, cluster_of, codes, run_of

KARPENTER = "karpenter.sh/do-not-disrupt"
AUTOSCALER = "cluster-autoscaler.kubernetes.io/scale-down-disabled"


@pytest.fixture
def cluster(space: Space) -> Iterator[Cluster]:
    with cluster_of(space) as opened:
        yield opened


def put(cluster: Cluster, state: str, *names: str, **options: Any) -> Report:
    how = {key: options.pop(key) for key in ("check_mode", "prefix") if key in options}
    chosen = MaintenanceOptions(NodeSelection(nodes=names), state, **options)
    return maintenance(chosen, cluster, run_of(**how))


def annotations(space: Space, name: str) -> dict[str, str]:
    return dict(space.node(name)["metadata"].get("annotations", {}))


def reasons(space: Space, name: str) -> list[str]:
    """Of the Events that are ours."""
    return [
        event["reason"]
        for event in space.events("Node", name)
        if event["source"].get("component") == "evenkeel.fleet"
    ]


def test_a_node_goes_through_maintenance_and_is_as_before(space: Space, cluster: Cluster) -> None:
    (n1,) = space.nodes(1)
    before = annotations(space, n1)

    assert codes(put(cluster, "entering", n1, message="disk swap")) == {"done": [(n1, "entering")]}
    found = annotations(space, n1)
    assert found[PREFIX + "maintenance"] == "true"
    assert found[PREFIX + "maintenance-state"] == "Entering"
    assert found[PREFIX + "maintenance-message"] == "disk swap"
    assert (found[KARPENTER], found[AUTOSCALER]) == ("true", "true")
    assert reasons(space, n1) == []

    assert codes(put(cluster, "in_maintenance", n1)) == {"done": [(n1, "in_maintenance")]}
    assert annotations(space, n1)[PREFIX + "maintenance-state"] == "InMaintenance"
    assert reasons(space, n1) == ["MaintenanceReady"]

    assert codes(put(cluster, "withdrawn", n1)) == {"done": [(n1, "withdrawn")]}
    assert PREFIX + "maintenance" not in annotations(space, n1)
    assert codes(put(cluster, "absent", n1)) == {"done": [(n1, "left_maintenance")]}
    assert annotations(space, n1) == before
    assert sorted(reasons(space, n1)) == ["MaintenanceExited", "MaintenanceReady"]


@pytest.mark.parametrize("state", ["entering", "in_maintenance", "withdrawn", "absent"])
def test_a_second_run_changes_nothing_and_tells_no_event_again(
    space: Space, cluster: Cluster, state: str
) -> None:
    (n1,) = space.nodes(1)
    put(cluster, "entering", n1)
    assert put(cluster, state, n1).changed is (state != "entering")
    mark = space.audit.mark()
    again = put(cluster, state, n1)
    assert (again.changed, again.failure, again.diff) == (False, "", {})
    assert space.writes(since=mark) == []


@pytest.mark.parametrize("state", ["entering", "in_maintenance", "withdrawn", "absent"])
def test_c16_check_mode_predicts_and_writes_nothing(
    space: Space, cluster: Cluster, state: str
) -> None:
    (n1,) = space.nodes(1)
    if state != "entering":
        put(cluster, "entering", n1)
    mark = space.audit.mark()
    predicted = put(cluster, state, n1, check_mode=True)
    assert space.writes(since=mark) == []
    assert predicted.changed
    assert predicted.result() == put(cluster, state, n1).result()


def test_the_event_is_on_this_very_node(space: Space, cluster: Cluster) -> None:
    (n1,) = space.nodes(1)
    put(cluster, "entering", n1)
    put(cluster, "in_maintenance", n1)
    (event,) = [each for each in space.events("Node", n1) if each["reason"] == "MaintenanceReady"]
    assert event["involvedObject"] == {
        "apiVersion": "v1",
        "kind": "Node",
        "name": n1,
        "uid": space.node(n1)["metadata"]["uid"],
    }


def test_declaring_empty_a_node_whose_request_was_withdrawn_fails(
    space: Space, cluster: Cluster
) -> None:
    n1, n2 = space.nodes(2)
    put(cluster, "entering", n1, n2)
    put(cluster, "withdrawn", n1)
    report = put(cluster, "in_maintenance", n1, n2)
    assert codes(report) == {"done": [(n2, "in_maintenance")], "failed": [(n1, "not_requested")]}
    assert report.failure == "not_requested"


def test_the_message_alone_is_updated_while_the_node_enters(space: Space, cluster: Cluster) -> None:
    (n1,) = space.nodes(1)
    put(cluster, "entering", n1)
    before = annotations(space, n1)
    report = put(cluster, "entering", n1, message="3 pod(s) still on this node")
    assert report.changed
    message = {PREFIX + "maintenance-message": "3 pod(s) still on this node"}
    assert annotations(space, n1) == {**before, **message}


def test_an_autoscaler_protection_of_somebody_else_is_neither_owned_nor_removed(
    space: Space, cluster: Cluster
) -> None:
    (n1,) = space.nodes(1)
    space.annotate_node(n1, **{KARPENTER: "true"})
    put(cluster, "entering", n1)
    put(cluster, "absent", n1)
    found = annotations(space, n1)
    assert found[KARPENTER] == "true"
    assert AUTOSCALER not in found


def test_without_protection_nothing_is_set_for_autoscalers(space: Space, cluster: Cluster) -> None:
    (n1,) = space.nodes(1)
    put(cluster, "entering", n1, protect_from_autoscalers=False)
    assert not {KARPENTER, AUTOSCALER} & set(annotations(space, n1))


def test_the_prefix_is_configurable(space: Space, cluster: Cluster) -> None:
    (n1,) = space.nodes(1)
    put(cluster, "entering", n1, prefix="kairon.zyvor.dev/")
    found = annotations(space, n1)
    assert found["kairon.zyvor.dev/maintenance-state"] == "Entering"
    assert not any(key.startswith(PREFIX) for key in found)


def test_a_malformed_record_is_refused_before_any_write(space: Space, cluster: Cluster) -> None:
    n1, n2 = space.nodes(2)
    # What a drain left on the other node would be taken away first.
    space.annotate_node(n1, **{PREFIX + "fenced": "{}"})
    space.annotate_node(n2, **{PREFIX + "maintenance-record": "{"})
    with pytest.raises(Refused) as refusal:
        put(cluster, "absent", n1, n2)
    assert (refusal.value.code, space.writes()) == ("malformed_record", [])


def test_an_event_that_may_not_be_written_is_told_and_does_not_fail_the_step(
    space: Space, tmp_path: Path
) -> None:
    (n1,) = space.nodes(1)
    roles = tmp_path / "roles.yml"
    roles.write_text(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: silent}\n"
        'rules: [{apiGroups: [""], resources: [nodes], verbs: [get, list, patch]}]\n',
        encoding="utf-8",
    )
    with cluster_of(space, "silent", roles=roles) as silent:
        put(silent, "entering", n1)
        report = put(silent, "in_maintenance", n1)
    assert report.failure == ""
    assert report.done[0].detail.startswith("The Event MaintenanceReady was not recorded:")


def told(cluster: Cluster, *names: str) -> list[dict[str, Any]]:
    selection = NodeSelection(nodes=names) if names else None
    report = maintenance_info(MaintenanceInfoOptions(selection), cluster, run_of())
    return list(report.extra["nodes"])


def test_status_tells_all_of_a_node_in_maintenance(space: Space, cluster: Cluster) -> None:
    n1, n2 = space.nodes(2)
    space.deployment("web", 2, node=n1)
    space.daemonset("agent")
    space.wait_running()
    put(cluster, "entering", n1, message="disk swap")
    chosen = CordonOptions(NodeSelection(nodes=(n1,)), "cordoned", reason="disk swap")
    cordon(chosen, cluster, run_of())
    (node,) = (each for each in cluster.list(NODES).items if each.name == n1)
    with hold([node], cluster, run_of("runner-1"), purpose="maintenance"):
        (document,) = told(cluster, n1)
    lock, since = document.pop("lock"), document.pop("since")
    owner_since = document["cordon_owners"][0].pop("since")
    assert document == {
        "name": n1,
        "state": "Entering",
        "message": "disk swap",
        "requested": True,
        "cordoned": True,
        "cordon_owners": [{"owner": "maintenance", "reason": "disk swap"}],
        "drift": False,
        "pods_left": 2,
        "problem": "",
    }
    assert lock["holder"] == "runner-1"
    assert lock["until"].endswith("Z")
    assert since <= owner_since
    assert n1 in [each["name"] for each in told(cluster)]
    assert n2 not in [each["name"] for each in told(cluster)]


def test_status_of_a_selected_node_without_maintenance(space: Space, cluster: Cluster) -> None:
    (n1,) = space.nodes(1)
    assert told(cluster, n1) == [
        {
            "name": n1,
            "state": "",
            "message": "",
            "requested": False,
            "since": None,
            "cordoned": False,
            "cordon_owners": [],
            "drift": False,
            "pods_left": 0,
            "lock": None,
            "problem": "",
        }
    ]


def test_c25_status_reports_the_drift_and_writes_nothing(space: Space, cluster: Cluster) -> None:
    (n1,) = space.nodes(1)
    put(cluster, "entering", n1)
    cordon(CordonOptions(NodeSelection(nodes=(n1,)), "cordoned"), cluster, run_of())
    space.uncordon(n1)
    mark = space.audit.mark()
    report = maintenance_info(MaintenanceInfoOptions(NodeSelection(nodes=(n1,))), cluster, run_of())
    assert report.extra["nodes"][0]["drift"]
    assert "uncordoned by somebody though held by maintenance" in report.msg
    assert space.writes(since=mark) == []


def test_status_names_an_unreadable_annotation_and_still_tells_the_rest(
    space: Space, cluster: Cluster
) -> None:
    n1, n2 = space.nodes(2)
    space.annotate_node(n1, **{PREFIX + "cordon-owners": "{"})
    documents = told(cluster, n1, n2)
    assert [bool(document["problem"]) for document in documents] == [True, False]
    assert "cordon-owners" in documents[0]["problem"]


def test_absent_takes_away_the_out_of_service_taint_that_a_drain_left(
    space: Space, cluster: Cluster
) -> None:
    (n1,) = space.nodes(1)
    mine = {"key": "dedicated", "value": "x", "effect": "NoSchedule"}
    space.patch_node(n1, {"spec": {"taints": [mine]}})
    put(cluster, "entering", n1)
    fence(cluster.get(NODES, n1), cluster, run_of())

    assert put(cluster, "absent", n1, check_mode=True).changed
    assert len(space.node(n1)["spec"]["taints"]) == 2
    assert put(cluster, "absent", n1).changed
    assert space.node(n1)["spec"]["taints"] == [mine]
    assert not put(cluster, "absent", n1).changed


@pytest.mark.parametrize("may", [True, False])
def test_leaving_removes_what_a_dead_run_recorded_of_a_surge_where_the_user_may(
    space: Space, may: bool
) -> None:
    n1 = space.nodes(1)[0]
    space.deployment("web", 1)
    path = space.path("apps/v1", "deployments", "web")
    record = {PREFIX + "surge": f'{{"nodes": ["{n1}"], "run": "dead", "since": ""}}'}
    space.api.patch(path, {"metadata": {"annotations": record}})
    roles = {} if may else {"roles": Path("docs/rbac/maintenance-exit.yml")}

    def records() -> list[str]:
        annotations = space.api.get(path)["metadata"]["annotations"]
        return [key for key in annotations if key.startswith(PREFIX)]

    with cluster_of(space, "leaver", **roles) as cluster:
        assert put(cluster, "absent", n1, check_mode=True).changed is may
        assert len(records()) == 1
        assert put(cluster, "absent", n1).changed is may
        assert len(records()) == (0 if may else 1)
        assert not (may and put(cluster, "absent", n1).changed)
