# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""execution/scheduling: what plans ask of a live cluster, and what a user may not read of it."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.scheduling import (
    read_scheduling,
)
from tests.control_plane.space import Space

from .calling import cluster_of

# What a drain touches, and no storage.
FEW = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: few}
rules:
  - apiGroups: [""]
    resources: [nodes, pods, replicationcontrollers]
    verbs: [list]
  - apiGroups: [apps]
    resources: [deployments, replicasets, statefulsets, daemonsets]
    verbs: [list]
  - apiGroups: [policy]
    resources: [poddisruptionbudgets]
    verbs: [list]
  - apiGroups: [autoscaling]
    resources: [horizontalpodautoscalers]
    verbs: [list]
"""


def test_pods_come_with_what_they_ask_for_and_namespaces_with_their_labels(space: Space) -> None:
    first = space.nodes(1)[0]
    space.deployment("web", 2, node=first, cpu="250m")
    space.wait_running()
    with cluster_of(space, "admin") as cluster:
        found = read_scheduling(cluster)
    pods = [pod for pod in found.reading.fleet.pods if pod.meta.namespace == space.namespace]
    assert [dict(found.facts.specs[pod.meta.uid].requests)["cpu"] for pod in pods] == [250, 250]
    assert found.facts.namespaces[space.namespace]["kubernetes.io/metadata.name"] == space.namespace
    assert found.unread == ()


def test_what_may_not_be_read_is_told_and_the_rest_is_there(space: Space, tmp_path: Path) -> None:
    space.nodes(1)
    roles = tmp_path / "roles.yml"
    roles.write_text(FEW)
    with cluster_of(space, "few", roles=roles) as cluster:
        found = read_scheduling(cluster)
    assert found.reading.fleet.nodes
    assert (found.facts.namespaces, found.facts.storage.claims) == ({}, {})
    assert len(found.unread) == 7
    assert any("namespaces" in sentence for sentence in found.unread)
