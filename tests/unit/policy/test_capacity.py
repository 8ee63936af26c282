# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""policy/capacity: what fits elsewhere by requests, and by how much a misfit misses - C39."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import PodTerm
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling_facts import (
    SchedulingFacts,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    parse_label_selector,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.capacity import CapacityModel
from tests.unit.builders import GIB, fleet, node, pod, scheduling_facts


def sized(name, cpu=0, memory=0, **kwargs):
    return pod(name, requests={"cpu": cpu, "memory": memory}, **kwargs)


def placed_and_missed(world, chosen=("n1",)):
    leaving = [found for name in chosen for found in world.pods_on(name)]
    capacity = CapacityModel(world, scheduling_facts(world)).place(leaving, chosen)
    return (
        [(entry.pod.meta.name, entry.node) for entry in capacity.placed],
        [(entry.pod.meta.name, entry.nearest, dict(entry.short)) for entry in capacity.misfits],
        [entry.node for entry in capacity.left_out],
    )


CASES = [
    pytest.param(
        (node("n1"), node("n2"), node("n3"), sized("a", 1000), sized("b", 3000)),
        ([("b", "n2"), ("a", "n3")], [], []),
        id="largest-first-to-the-emptiest",
    ),
    pytest.param(
        (node("n1"), node("n2"), sized("there", 3500, node="n2"), sized("a", 700)),
        ([], [("a", "n2", {"cpu": 200})], []),
        id="what-is-there-counts",
    ),
    pytest.param(
        (
            node("n1"),
            node("n2"),
            sized("there", 3500, node="n2", phase="Succeeded"),
            sized("a", 700),
        ),
        ([("a", "n2")], [], []),
        id="what-has-finished-does-not-count",
    ),
    pytest.param(
        (node("n1"), node("n2", pods=1), sized("a"), sized("b")),
        ([("a", "n2")], [("b", "n2", {"pods": 1})], []),
        id="pods-without-requests-need-a-place-too",
    ),
    pytest.param(
        (node("n1"), node("n2"), node("n3", cordoned=True), node("n4", ready="False"), sized("a")),
        ([("a", "n2")], [], []),
        id="only-open-nodes",
    ),
    pytest.param((node("n1"), sized("a")), ([], [("a", "", {})], []), id="no-other-node"),
    pytest.param(
        (node("n1"), node("m1", taints=("control-plane",)), sized("a")),
        ([], [("a", "m1", {})], []),
        id="a-tainted-node-keeps-others-out",
    ),
    pytest.param(
        (node("n1", taints=("gpu",)), node("n2", taints=("gpu",)), sized("a")),
        ([("a", "n2")], [], []),
        id="a-node-with-the-same-taint-takes-over",
    ),
    pytest.param(
        (node("n1"), node("n2", cpu=0), node("n3", allocatable={}), node("n4"), sized("a", 100)),
        ([("a", "n4")], [], ["n2", "n3"]),
        id="C39-nodes-without-allocatable-are-left-out",
    ),
    pytest.param(
        (node("n1"), node("n2"), pod("a", requests={"example.com/gpu": 1})),
        ([], [("a", "n2", {"example.com/gpu": 1})], []),
        id="C39-a-node-without-the-gpu-key",
    ),
    pytest.param(
        (node("n1"), node("n2", cpu=1000), node("n3", cpu=1900), sized("a", 2000)),
        ([], [("a", "n3", {"cpu": 100})], []),
        id="the-nearest-miss",
    ),
]


@pytest.mark.parametrize(("members", "expected"), CASES)
def test_places(members, expected):
    assert placed_and_missed(fleet(*members)) == expected


def test_a_misfit_is_one_sentence():
    world = fleet(node("n1"), node("n4", cpu=500, memory=GIB), sized("a", 700, 2 * GIB))
    (misfit,) = (
        CapacityModel(world, scheduling_facts(world)).place(world.pods_on("n1"), ["n1"]).misfits
    )
    assert misfit.sentence == (
        "shop/a fits on none of 1 nodes (resources on 1); on n4 but for 200m CPU and 1024Mi of"
        " memory."
    )


def test_a_misfit_names_every_rule_that_keeps_it_off():
    full, tainted = node("n2", cpu=100), node("m1", taints=("control-plane",))
    world = fleet(node("n1"), full, tainted, sized("a", 700))
    facts = scheduling_facts(world)
    (misfit,) = CapacityModel(world, facts).place(world.pods_on("n1"), ["n1"]).misfits
    assert misfit.why.rules == (("resources", 1), ("taints", 1))
    assert (misfit.nearest, misfit.short) == ("n2", {"cpu": 600})


def test_replicas_that_avoid_each_other_need_a_node_each():
    world = fleet(node("n1"), node("n2"), sized("a"), sized("b", node="n2"))
    facts = scheduling_facts(world)
    term = PodTerm("kubernetes.io/hostname", parse_label_selector({}), ("shop",), None)
    specs = {uid: replace(spec, anti_affinity=(term,)) for uid, spec in facts.specs.items()}
    labelled = [
        replace(one, meta=replace(one.meta, labels={"kubernetes.io/hostname": one.name}))
        for one in world.nodes
    ]
    world = replace(world, nodes=tuple(labelled))
    (misfit,) = (
        CapacityModel(world, SchedulingFacts(specs)).place(world.pods_on("n1"), ["n1"]).misfits
    )
    assert "pod anti-affinity" in misfit.sentence


def test_a_volume_that_is_not_looked_at_makes_a_place_uncertain():
    world = fleet(node("n1"), node("n2"), sized("a"))
    facts = scheduling_facts(world)
    specs = {
        uid: replace(spec, unmodelled=("it has DRA claims",)) for uid, spec in facts.specs.items()
    }
    (placed,) = (
        CapacityModel(world, SchedulingFacts(specs)).place(world.pods_on("n1"), ["n1"]).placed
    )
    assert (placed.node, placed.unknown) == ("n2", ("it has DRA claims",))


def test_c39_no_node_is_left_but_one_that_reports_nothing():
    world = fleet(node("n1"), node("n2", allocatable={}), sized("a"))
    capacity = CapacityModel(world, scheduling_facts(world)).place(world.pods_on("n1"), ["n1"])
    assert [misfit.sentence for misfit in capacity.misfits] == [
        "shop/a has no node to go to: no other is Ready, open to it and tells what it can hold."
    ]
    assert [entry.sentence for entry in capacity.left_out] == [
        "Node n2 is left out: it reports no allocatable cpu, memory, pods."
    ]


def test_the_same_model_answers_for_other_nodes():
    world = fleet(node("n1"), node("n2"), sized("a", 3000), sized("b", 3000, node="n2"))
    model = CapacityModel(world, scheduling_facts(world))
    for name, other in (("n1", "n2"), ("n2", "n1")):
        (misfit,) = model.place(world.pods_on(name), [name]).misfits
        assert (misfit.nearest, misfit.short) == (other, {"cpu": 2000})
