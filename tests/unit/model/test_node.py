# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""model/node: a Node as the API returns it - C39."""

from __future__ import annotations

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Taint, parse_node


def raw_node(spec=None, status=None, **meta):
    return {"metadata": {"name": "n1", **meta}, "spec": spec or {}, "status": status or {}}


def condition(status):
    return {"conditions": [{"type": "DiskPressure", "status": "True"}, {"type": "Ready", **status}]}


def test_a_node_has_what_a_drain_asks_of_it():
    found = parse_node(
        raw_node(
            {
                "unschedulable": True,
                "providerID": "cloud://n1",
                "taints": [{"key": "k", "effect": "NoSchedule"}],
            },
            {
                **condition({"status": "True"}),
                "nodeInfo": {"bootID": "b1", "kubeletVersion": "v1.37.2"},
                "allocatable": {"cpu": "3920m", "memory": "8Gi", "pods": "110"},
            },
        )
    )
    assert found.allocatable == {"cpu": 3920, "memory": 8 * 2**30, "pods": 110}
    assert (found.name, found.boot_id, found.kubelet_version) == ("n1", "b1", "v1.37.2")
    assert (found.unschedulable, found.provider_id) == (True, "cloud://n1")
    assert found.taints == (Taint("k", "", "NoSchedule"),)


def test_c39_a_node_without_cpu_or_without_a_resource_is_read_as_it_is():
    found = parse_node(raw_node(status={"allocatable": {"cpu": "0"}}))
    assert found.allocatable == {"cpu": 0}


@pytest.mark.parametrize(
    ("raw", "schedulable"),
    [
        pytest.param(raw_node(status=condition({"status": "True"})), True, id="Ready"),
        pytest.param(raw_node(status=condition({"status": "False"})), False, id="not Ready"),
        pytest.param(raw_node(status=condition({"status": "Unknown"})), False, id="unreachable"),
        pytest.param(raw_node(), False, id="never heard of"),
        pytest.param(
            raw_node({"unschedulable": True}, condition({"status": "True"})), False, id="cordoned"
        ),
        pytest.param(
            raw_node(
                status=condition({"status": "True"}), deletionTimestamp="2026-11-30T22:00:00Z"
            ),
            False,
            id="being deleted",
        ),
    ],
)
def test_pods_may_land_on_a_ready_open_node_that_stays(raw, schedulable):
    assert parse_node(raw).schedulable is schedulable


@pytest.mark.parametrize(
    ("label", "is_control_plane"),
    [("node-role.kubernetes.io/control-plane", True), ("node-role.kubernetes.io/worker", False)],
)
def test_the_control_plane_is_known_by_its_label(label, is_control_plane):
    assert parse_node(raw_node(labels={label: ""})).is_control_plane is is_control_plane
