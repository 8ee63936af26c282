# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Where the twin's scheduler puts pods that fit on several nodes."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.unit.twin.behaviour.world import World, add_nodes, template, workload

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


@pytest.fixture
def world() -> World:
    made = World()
    add_nodes(made, "n1", "n2", **{ZONE: "a"})
    add_nodes(made, "n3", **{ZONE: "b"})
    return made


def places(world: World, app: str) -> Counter[str]:
    return Counter(pod["spec"]["nodeName"] for pod in world.pods(app=app))


def web(world: World, replicas: int, **spec: object) -> None:
    world.add("deployments.apps", workload("web", template("web", spec=spec), replicas=replicas))
    world.run(60)


def test_replicas_are_spread_over_nodes(world: World) -> None:
    web(world, 6)
    assert sorted(places(world, "web").values()) == [2, 2, 2]


def test_two_replicas_are_in_two_zones(world: World) -> None:
    web(world, 2)
    assert places(world, "web")["n3"] == 1


def test_a_node_that_is_preferred_is_taken_where_nothing_is_to_be_spread(world: World) -> None:
    wanted = {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": ["n2"]}]}
    term = {"weight": 100, "preference": wanted}
    affinity = {"preferredDuringSchedulingIgnoredDuringExecution": [term]}
    one_domain = {
        "maxSkew": 1,
        "topologyKey": HOSTNAME,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "nobody"}},
    }
    web(world, 3, affinity={"nodeAffinity": affinity}, topologySpreadConstraints=[one_domain])
    assert places(world, "web") == {"n2": 3}


def test_a_pod_of_nobody_goes_where_the_least_is_asked_for(world: World) -> None:
    spec = template("big")["spec"]
    for name, node in (("p1", "n1"), ("p2", "n3")):
        metadata = {"name": name, "labels": {"app": "big"}}
        world.add("pods", {"metadata": metadata, "spec": {**spec, "nodeName": node}})
    world.add("pods", {"metadata": {"name": "p3", "labels": {"app": "last"}}, "spec": spec})
    world.run(10)
    assert places(world, "last") == {"n2": 1}
