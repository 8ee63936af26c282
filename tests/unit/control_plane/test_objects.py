# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The manifests of the builders."""

from __future__ import annotations

import pytest

from tests.control_plane import objects
from tests.control_plane.api import Document
from tests.control_plane.objects import PodShape


def node(control_plane: bool = False) -> Document:
    return objects.node(
        "n1",
        "abc",
        labels={"tier": "gold"},
        cpu="8",
        memory="32Gi",
        pods=110,
        control_plane=control_plane,
        kubelet_version="v1.36.0",
    )


def test_a_control_plane_node_has_the_role_and_its_taint() -> None:
    document = node(control_plane=True)

    assert objects.CONTROL_PLANE in document["metadata"]["labels"]
    assert document["spec"]["taints"] == [{"key": objects.CONTROL_PLANE, "effect": "NoSchedule"}]


def test_a_worker_has_no_taint_and_the_labels_it_was_given() -> None:
    document = node()

    assert document["spec"]["taints"] == []
    assert document["metadata"]["labels"] == {
        "kubernetes.io/hostname": "n1",
        "kubernetes.io/os": "linux",
        "test-space": "abc",
        "tier": "gold",
    }


@pytest.mark.parametrize(
    ("shape", "annotations"),
    [
        pytest.param(PodShape(), {}, id="an-ordinary-pod"),
        pytest.param(
            PodShape(start_seconds=2, stop_seconds=10),
            {"start-seconds": "2", "stop-seconds": "10"},
            id="a-slow-pod",
        ),
        pytest.param(
            PodShape(behaviour="crash-loop", annotations={"a": "b"}),
            {"behaviour": "crash-loop", "a": "b"},
            id="a-crashing-pod-with-an-annotation",
        ),
    ],
)
def test_a_pod_asks_for_its_behaviour_by_annotations(
    shape: PodShape, annotations: dict[str, str]
) -> None:
    assert objects.pod_template("web", "abc", shape)["metadata"] == {
        "labels": {"app": "web"},
        "annotations": annotations,
    }


def test_a_pod_lands_only_on_nodes_of_its_space() -> None:
    loose = objects.pod_template("web", "abc", PodShape(node="n1"))["spec"]
    pinned = objects.pod_template("web", "abc", PodShape(node="n1", pinned=True))["spec"]

    assert loose["nodeSelector"] == {"test-space": "abc"}
    assert pinned["nodeSelector"] == {"test-space": "abc", "kubernetes.io/hostname": "n1"}
    assert "affinity" not in pinned


def test_a_bare_pod_is_bound_to_its_node_without_the_scheduler() -> None:
    spec = objects.bare_pod("app", "abc", PodShape(node="n1"))["spec"]

    assert spec["nodeName"] == "n1"
    assert "affinity" not in spec


def test_a_budget_says_only_what_it_was_given() -> None:
    document = objects.budget("web", {"matchLabels": {"app": "web"}}, None, "25%", None)

    assert document["spec"] == {
        "selector": {"matchLabels": {"app": "web"}},
        "maxUnavailable": "25%",
    }
