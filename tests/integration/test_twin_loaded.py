# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A copy of the live control plane goes on as the original: nothing is written, no pod moves."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.backends.base import Cluster
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin import load
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.build import twin_loaded
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import Made
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings
from tests.control_plane.space import Space

from .calling import cluster_of


@pytest.fixture
def cluster(space: Space) -> Iterator[Cluster]:
    with cluster_of(space) as opened:
        yield opened


def test_a_copy_of_the_live_cluster_goes_on_where_it_was(space: Space, cluster: Cluster) -> None:
    first, second = space.nodes(2)
    space.deployment("web", 3, node=first)
    space.statefulset("db", 2)
    space.daemonset("agent")
    space.budget("web", max_unavailable=1)
    space.wait_running()
    objects = [made for made in load.live(cluster) if _of(space, made)]
    twin = twin_loaded(objects, Settings(time.time(), virtual=True))
    written = []
    twin.store.listen(lambda write: written.append(write.change))
    twin.start()
    try:
        with twin.time.hurried() as let_pass:
            let_pass(600)
        found = {
            one["metadata"]["uid"]: one["spec"]["nodeName"] for one in twin.store.objects("pods")
        }
    finally:
        twin.stop()
    assert found == {one["metadata"]["uid"]: one["spec"]["nodeName"] for one in space.pods()}
    assert {first, second} == set(found.values())
    assert written == []


def _of(space: Space, made: Made) -> bool:
    """Other tests share the control plane, and may be in the middle of something."""
    name = made.object["metadata"]["name"]
    if made.resource == "nodes":
        return name in space.node_names
    return space.namespace in (made.namespace, name)
