# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""policy/last_node: the last node that takes new pods, and a control plane's majority."""

from __future__ import annotations

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.last_node import (
    last_node_reasons,
)
from tests.unit.builders import NOW, fleet, node

LAST = "last_schedulable_node"
MAJORITY = "control_plane_majority"
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


def worker(name, **kwargs):
    return node(name, **kwargs)


def master(name, **kwargs):
    return node(name, control_plane=True, taints=(CONTROL_PLANE,), **kwargs)


def masters(*ready):
    return tuple(master(f"m{index}", ready=status) for index, status in enumerate(ready, 1))


CASES = [
    pytest.param(("n1",), (worker("n1"), worker("n2")), [], id="another-is-open"),
    pytest.param(("n1",), (worker("n1"),), [LAST], id="the-only-node"),
    pytest.param(("n1", "n2"), (worker("n1"), worker("n2")), [LAST], id="a-batch-of-all"),
    pytest.param(
        ("n1",), (worker("n1"), worker("n2", cordoned=True)), [LAST], id="the-other-is-cordoned"
    ),
    pytest.param(
        ("n1",), (worker("n1"), worker("n2", ready="Unknown")), [LAST], id="the-other-is-not-ready"
    ),
    pytest.param(
        ("n1",), (worker("n1"), worker("n2", deleted_at=NOW)), [LAST], id="the-other-is-deleted"
    ),
    pytest.param(
        ("n1",), (worker("n1", cordoned=True), worker("n2")), [], id="C20-cordoned-already"
    ),
    pytest.param(
        ("n1",),
        (worker("n1", cordoned=True), worker("n2", cordoned=True)),
        [LAST],
        id="a-cordoned-node-s-pods-need-a-place-too",
    ),
    pytest.param(
        ("n1",), (worker("n1", ready="Unknown"),), [], id="a-dead-node-s-pods-have-lost-it-already"
    ),
    pytest.param(
        ("n1",),
        (worker("n1"), *masters("True", "True", "True")),
        [LAST],
        id="masters-keep-pods-out",
    ),
    pytest.param(
        ("g1",),
        (worker("g1", taints=("gpu",)), worker("n1")),
        [],
        id="an-open-node-takes-over-from-a-tainted-one",
    ),
    pytest.param(
        ("n1",),
        (worker("n1", taints=("node.kubernetes.io/unschedulable",)), worker("n2")),
        [],
        id="condition-taints-say-nothing-of-whom-it-is-for",
    ),
    pytest.param(
        ("m1",), (worker("n1"), *masters("True", "True", "True")), [], id="two-of-three-left"
    ),
    pytest.param(
        ("m1", "m2"),
        (worker("n1"), *masters("True", "True", "True")),
        [MAJORITY],
        id="a-batch-counts-together",
    ),
    pytest.param(
        ("m1",), (worker("n1"), *masters("True", "True", "False")), [MAJORITY], id="one-is-down"
    ),
    pytest.param(
        ("m3",), (worker("n1"), *masters("True", "True", "False")), [], id="the-one-that-is-down"
    ),
    pytest.param(("m1",), (worker("n1"), *masters("True", "True")), [MAJORITY], id="one-of-two"),
    pytest.param(("m1",), (worker("n1"), *masters("True")), [MAJORITY], id="the-only-master"),
    pytest.param(
        ("m1", "n1"), (worker("n1"), *masters("True")), [LAST, MAJORITY], id="both-are-told"
    ),
    pytest.param(
        ("m1",),
        (worker("n1"), *masters("True", "True"), master("m3", cordoned=True)),
        [],
        id="a-cordoned-master-still-votes",
    ),
]


@pytest.mark.parametrize(("chosen", "nodes", "codes"), CASES)
def test_what_may_not_be_taken(chosen, nodes, codes):
    world = fleet(*nodes)
    reasons = last_node_reasons(world, [world.node_by_name[name] for name in chosen])
    assert [reason.code for reason in reasons] == codes


def test_the_sentence_counts_the_masters():
    world = fleet(worker("n1"), *masters("True", "True", "False"))
    (reason,) = last_node_reasons(world, [world.node_by_name["m1"]])
    assert str(reason) == (
        "Node m1: without it 1 of 3 control-plane nodes are Ready, which is no majority."
        " Take control-plane nodes one at a time, while the others are Ready."
        " Set allow_last: true to do it all the same."
    )
