# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Draining when things go wrong: dead and vanishing nodes, interruptions, fragile owners, disks."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    Refused,
    Superseded,
)
from tests.control_plane.space import Space

from .calling import PREFIX, Listener, cluster_of
from .draining import InBackground, by_code, drain, evictions

OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
REQUEST = PREFIX + "maintenance"


@pytest.fixture
def cluster(space: Space) -> Iterator[Cluster]:
    with cluster_of(space) as opened:
        yield opened


def taints(space: Space, name: str) -> list[str]:
    return [taint["key"] for taint in space.node(name)["spec"].get("taints", [])]


def test_c22_a_dead_node_asks_for_the_statement_that_it_is_fenced_and_then_is_emptied(
    space: Space, cluster: Cluster
) -> None:
    first = space.nodes(2)[0]
    space.deployment("db", 1, node=first, grace_seconds=1)
    space.wait_running()
    space.cordon(first)
    space.power_off(first)
    listener = Listener()

    report = drain(cluster, first, wait_timeout=15.0, progress=listener)

    assert report.failure == "timeout"
    assert by_code(report) == {"pending": ["node_dead"]}
    assert "fenced: true" in report.msg
    assert any("is dead" in text for text in listener.texts())

    assert drain(cluster, first, fenced=True, check_mode=True).changed
    assert OUT_OF_SERVICE not in taints(space, first)

    fenced = drain(cluster, first, fenced=True, wait_timeout=90.0)

    assert by_code(fenced) == {"done": ["fenced"]}
    assert fenced.failure == ""
    assert OUT_OF_SERVICE not in taints(space, first)
    assert PREFIX + "fenced" not in space.node(first)["metadata"]["annotations"]


def test_c22_a_node_that_is_ready_cannot_be_stated_to_be_fenced(
    space: Space, cluster: Cluster
) -> None:
    first = space.nodes(2)[0]
    space.cordon(first)
    with pytest.raises(Refused) as refused:
        drain(cluster, first, fenced=True)
    assert refused.value.code == "node_is_ready"
    assert space.writes("runner") == []


def test_c22_a_taint_that_a_killed_run_left_is_removed_by_the_next(
    space: Space, cluster: Cluster
) -> None:
    first = space.nodes(2)[0]
    space.cordon(first)
    taint = {"key": OUT_OF_SERVICE, "value": "nodeshutdown", "effect": "NoExecute"}
    space.annotate_node(first, **{PREFIX + "fenced": "{}"})
    found = space.node(first)["spec"].get("taints", [])
    space.patch_node(first, {"spec": {"taints": [*found, taint]}})

    assert drain(cluster, first, check_mode=True).changed
    assert OUT_OF_SERVICE in taints(space, first)

    report = drain(cluster, first)

    assert report.changed is True
    assert OUT_OF_SERVICE not in taints(space, first)


def test_c23_a_node_that_vanishes_ends_its_pods_and_the_next_node_goes_on(
    space: Space, cluster: Cluster
) -> None:
    first, second = space.nodes(3)[:2]
    space.deployment("a", 4, node=first, stop_seconds=30, grace_seconds=30)
    space.deployment("b", 1, node=second)
    space.budget("a", max_unavailable=2)
    space.budget("b", max_unavailable=1)
    space.wait_running()
    space.cordon(first)
    space.cordon(second)
    background = InBackground(lambda: drain(cluster, first, second))
    space.wait(
        lambda: any(pod["metadata"].get("deletionTimestamp") for pod in space.pods("a")),
        "the first evictions",
        30,
    )
    space.remove_node(first)

    report = background.result()

    assert report.failure == ""
    assert {outcome.code for outcome in report.skipped} <= {"node_gone"}
    assert [each["gone"] for each in report.extra["nodes"]] == [True, False]
    assert space.pods(node=second) == []


def test_c23_a_node_that_was_gone_before_is_told_and_the_next_node_is_emptied(
    space: Space, cluster: Cluster
) -> None:
    first, second = space.nodes(3)[:2]
    space.deployment("web", 1, node=second)
    space.wait_running()
    space.cordon(second)
    space.remove_node(first)
    with pytest.raises(Refused, match=f"Node {first}: not in this cluster"):
        drain(cluster, first, second)
    listener = Listener()

    report = drain(cluster, first, second, ignore_not_found=True, progress=listener)

    assert (report.failure, by_code(report)) == ("", {"done": ["evicted"]})
    assert report.extra["warnings"] == []
    assert "node gone" in listener.texts()
    gone = {node["name"]: node["gone"] for node in report.extra["nodes"]}
    assert gone == {first: True, second: False}
    alone = drain(cluster, first, ignore_not_found=True)
    assert (alone.failure, alone.changed) == ("", False)


def test_an_interruption_ends_the_call_within_a_second_with_a_true_report(
    space: Space, cluster: Cluster
) -> None:
    first = space.nodes(2)[0]
    space.deployment("web", 4, node=first, start_seconds=60)
    space.budget("web", max_unavailable=1)
    space.wait(lambda: len(space.pods("web")) == 4, "the pods", 20)
    space.cordon(first)
    cause: list[str] = []
    background = InBackground(
        lambda: drain(cluster, first, interruption=lambda: cause[0] if cause else "")
    )
    time.sleep(3)
    assert background.running
    cause.append("SIGTERM")
    began = time.monotonic()

    report = background.result()

    assert time.monotonic() - began < 4
    assert report.failure == "interrupted"
    assert "SIGTERM" in report.msg
    assert len(report.pending) + len(report.done) == 4


def test_a_withdrawn_request_stops_the_run_before_its_next_act(
    space: Space, cluster: Cluster
) -> None:
    first = space.nodes(2)[0]
    space.deployment("web", 2, node=first, start_seconds=4)
    space.budget("web", max_unavailable=1)
    space.wait_running()
    space.cordon(first)
    space.annotate_node(first, **{REQUEST: "true"})
    background = InBackground(lambda: drain(cluster, first, only_while={REQUEST: "true"}))
    space.wait(lambda: len(space.pods("web", node=first)) == 1, "the first to leave", 20)
    space.annotate_node(first, **{REQUEST: "false"})

    report = background.result()

    assert report.failure == "superseded"
    # Of the first it may not have seen the end yet.
    assert len(report.done) + len(report.pending) == 2
    assert len(report.done) <= 1
    assert len(evictions(space)) == 1
    with pytest.raises(Superseded):
        drain(cluster, first, only_while={REQUEST: "true"})


def test_defer_leaves_the_fragile_and_says_so(space: Space, cluster: Cluster) -> None:
    first = space.nodes(2)[0]
    space.deployment("web", 1, node=first)
    space.wait_running()
    space.cordon(first)

    report = drain(cluster, first, fragile="defer")

    assert by_code(report) == {"skipped": ["deferred"]}
    assert report.failure == ""
    assert report.changed is False
    assert len(space.pods("web", node=first)) == 1


def test_refuse_stops_before_any_write(space: Space, cluster: Cluster) -> None:
    first = space.nodes(2)[0]
    space.deployment("web", 1, node=first)
    space.wait_running()
    space.cordon(first)

    report = drain(cluster, first, fragile="refuse")

    assert report.failure == "refused"
    assert space.writes("runner") == []


SURGING = {
    "type": "RollingUpdate",
    "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
}


def test_surge_starts_a_replacement_elsewhere_first(space: Space, cluster: Cluster) -> None:
    first, second = space.nodes(2)
    space.deployment("web", 1, node=first, strategy=SURGING, start_seconds=2)
    space.wait_running()
    space.cordon(first)

    report = drain(cluster, first, fragile="surge")

    assert by_code(report) == {"done": ["surged"]}
    assert len(space.pods("web", node=second)) == 1
    deployment = space.api.get(space.path("apps/v1", "deployments", "web"))
    assert PREFIX + "surge" not in deployment["metadata"].get("annotations", {})
    template = deployment["spec"]["template"]["metadata"]["annotations"]
    assert "kubectl.kubernetes.io/restartedAt" in template


def test_surge_a_second_runner_finishes_what_a_killed_one_began(
    space: Space, cluster: Cluster
) -> None:
    first = space.nodes(2)[0]
    space.deployment("web", 1, node=first, strategy=SURGING, start_seconds=4)
    space.wait_running()
    space.cordon(first)
    cause: list[str] = []
    killed = InBackground(
        lambda: drain(
            cluster, first, fragile="surge", interruption=lambda: cause[0] if cause else ""
        )
    )
    path = space.path("apps/v1", "deployments", "web")

    def annotations() -> dict[str, str]:
        return dict(space.api.get(path)["metadata"].get("annotations", {}))

    space.wait(lambda: PREFIX + "surge" in annotations(), "the restart", 20)
    cause.append("SIGTERM")
    killed.result()
    restarted = space.api.get(path)["spec"]["template"]

    report = drain(cluster, first, fragile="surge")

    assert by_code(report) == {"done": ["surged"]}
    assert PREFIX + "surge" not in annotations()
    assert space.api.get(path)["spec"]["template"] == restarted


def test_surge_on_an_open_node_is_refused(space: Space, cluster: Cluster) -> None:
    first = space.nodes(2)[0]
    space.deployment("web", 1, node=first, strategy=SURGING)
    space.wait_running()
    with pytest.raises(Refused, match="Cordon it first"):
        drain(cluster, first, fragile="surge")


def test_surge_of_an_open_node_is_foretold_for_those_who_check_before_they_close_it(
    space: Space, cluster: Cluster
) -> None:
    first = space.nodes(2)[0]
    space.deployment("web", 1, node=first, strategy=SURGING)
    space.wait_running()

    report = drain(cluster, first, fragile="surge", check_mode=True)

    assert (report.failure, by_code(report)) == ("", {"done": ["surged"]})
    assert "not cordoned" in report.msg
    assert space.writes("runner") == []


def test_a_volume_that_is_still_attached_keeps_the_node_from_being_empty(
    space: Space, cluster: Cluster
) -> None:
    first = space.nodes(2)[0]
    claim = _claim(space, first)
    space.deployment(
        "db",
        1,
        node=first,
        spec={"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": claim}}]},
    )
    space.wait_running()
    space.cordon(first)
    attachment = _attach(space, first)
    background = InBackground(lambda: drain(cluster, first))
    space.wait(lambda: space.pods("db", node=first) == [], "the pod to leave", 30)
    time.sleep(2)
    assert background.running
    space.api.patch(attachment, {"metadata": {"finalizers": None}})
    space.api.delete(attachment)

    assert by_code(background.result()) == {"done": ["evicted"]}


def _claim(space: Space, _node: str) -> str:
    volume = f"{space.namespace}-pv"
    space.add(
        "/api/v1/persistentvolumes",
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": volume},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "",
                "csi": {"driver": "test.example.com", "volumeHandle": volume},
                "claimRef": {"namespace": space.namespace, "name": "data"},
            },
        },
    )
    space.add(
        space.path("v1", "persistentvolumeclaims", "").rstrip("/"),
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "",
                "volumeName": volume,
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
    )
    return "data"


def _attach(space: Space, node: str) -> str:
    name = f"{space.namespace}-va"
    space.add(
        "/apis/storage.k8s.io/v1/volumeattachments",
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "VolumeAttachment",
            "metadata": {"name": name, "finalizers": ["test.example.com/attached"]},
            "spec": {
                "attacher": "test.example.com",
                "nodeName": node,
                "source": {"persistentVolumeName": f"{space.namespace}-pv"},
            },
        },
    )
    return f"/apis/storage.k8s.io/v1/volumeattachments/{name}"
