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

# It reads what a drain touches, and no storage.
DOCTOR = Path(__file__).parents[2] / "docs" / "rbac" / "doctor.yml"


def test_pods_come_with_what_they_ask_for_and_namespaces_with_their_labels(space: Space) -> None:
    first = space.nodes(1)[0]
    space.deployment("web", 2, node=first, cpu="250m")
    space.wait_running()
    with cluster_of(space, "admin") as cluster:
        found = read_scheduling(cluster)
    pods = [pod for pod in found.reading.fleet.pods if pod.meta.namespace == space.namespace]
    assert [dict(found.specs[pod.meta.uid].requests)["cpu"] for pod in pods] == [250, 250]
    assert found.namespaces[space.namespace]["kubernetes.io/metadata.name"] == space.namespace
    assert found.unread == ()


def test_what_may_not_be_read_is_told_and_the_rest_is_there(space: Space) -> None:
    space.nodes(1)
    with cluster_of(space, "doctor", roles=DOCTOR) as cluster:
        found = read_scheduling(cluster)
    assert found.reading.fleet.nodes
    assert (found.namespaces, found.storage.claims) == ({}, {})
    assert len(found.unread) == 7
    assert any("namespaces" in sentence for sentence in found.unread)
