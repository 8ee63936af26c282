# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""planning/rebalance: what is replaced by what, for which price, and what stays and why."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import parse_node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.offering import parse_offerings
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    parse_scheduling,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.placed import Move, Placed
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.rebalance import (
    rebalance,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.verify import (
    misplaced,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.world import (
    Wishes,
    World,
)
from tests.unit.policy.eligibility import worlds
from tests.unit.policy.eligibility.worlds import HOSTNAME, ZONE

SIZES = {"small": ("2", "4Gi", "0.05"), "large": ("8", "16Gi", "0.19")}


def offering(name, zone="", price=None, **more):
    cpu, memory, usual = SIZES[name]
    return {
        "instance_type": name,
        "zone": zone,
        "price_per_hour": price or usual,
        "capacity": {"cpu": cpu, "memory": memory, "pods": 20},
        **more,
    }


SMALL, LARGE = offering("small"), offering("large")


def placed(name, where, cpu="1", memory="1Gi", moves=True, labels=None, **spec):
    raw = worlds.pod(spec, labels, {"cpu": cpu, "memory": memory})
    return Placed(name, parse_scheduling(raw), where, moves)


def world(nodes, pods, offerings=(SMALL, LARGE), price="0.10", **more):
    parsed = tuple(parse_node(node) for node in nodes)
    names = [node.name for node in parsed]
    given = {
        "prices": {name: Decimal(price) for name in names},
        "replaceable": frozenset(names),
        **more,
    }
    return World(parsed, tuple(pods), offerings=parse_offerings(list(offerings)), **given)


def planned(asked, **wishes):
    return rebalance(asked, Wishes(**wishes))


def bought(plan):
    return sorted(one.offering.key for one in plan.added)


def targets(plan):
    return {move.pod: move.target for move in plan.moves}


TWO = (worlds.node("n1"), worlds.node("n2"))


def test_two_half_empty_nodes_become_one_small_one():
    plan = planned(world(TWO, [placed("a", "n1"), placed("b", "n2")]))
    assert (plan.removed, bought(plan)) == (("n1", "n2"), ["small/*/on-demand"])
    assert (plan.price_before, plan.price_after) == (Decimal("0.20"), Decimal("0.05"))
    assert targets(plan) == {"a": "new-1", "b": "new-1"}


def test_room_that_is_there_costs_nothing():
    asked = world(TWO, [placed("a", "n1"), placed("b", "n2")], replaceable=frozenset(["n1"]))
    plan = planned(asked)
    assert (plan.removed, plan.added, targets(plan)) == (("n1",), (), {"a": "n2"})
    assert plan.price_after == Decimal("0.10")


def test_what_is_cheap_and_full_stays():
    plan = planned(world(TWO, [placed("a", "n1", "4"), placed("b", "n2", "4")], price="0.04"))
    assert (plan.removed, plan.price_after) == ((), plan.price_before)


def test_a_node_without_a_price_stays_and_is_named():
    asked = world(TWO, [placed("a", "n1"), placed("b", "n2")], prices={"n2": Decimal("0.10")})
    plan = planned(asked)
    assert (plan.removed, plan.unpriced, targets(plan)) == (("n2",), ("n1",), {"b": "n1"})
    assert plan.price_before == Decimal("0.10")


def test_what_goes_with_its_node_is_not_moved_and_daemons_take_their_part_of_a_new_one():
    daemon = placed("agent-1", "n1", "500m", moves=False)
    pods = [placed("a", "n1", "1600m"), daemon]
    asked = world(TWO[:1], pods, daemons=(daemon.spec,))
    plan = planned(asked)
    assert (plan.removed, targets(plan)) == ((), {})
    cheaper = planned(replace(asked, daemons=()))
    assert (cheaper.removed, targets(cheaper)) == (("n1",), {"a": "new-1"})


def test_the_fewest_nodes_that_save_what_is_wanted():
    names = [f"n{number}" for number in range(1, 6)]
    pods = [placed(f"{name}-{i}", name) for name in names for i in range(2)]
    asked = world([worlds.node(name) for name in names], pods)
    most, some = planned(asked), planned(asked, savings_percent=Decimal(10))
    assert (len(most.removed), most.price_after) == (5, Decimal("0.24"))
    assert (len(some.removed), some.price_after) == (1, Decimal("0.40"))
    assert [point.replaced for point in most.curve] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("wish", ["max_nodes", "max_moved"])
def test_no_more_is_touched_than_is_allowed(wish):
    names = [f"n{number}" for number in range(1, 5)]
    asked = world([worlds.node(name) for name in names], [placed(name, name) for name in names])
    plan = planned(asked, **{wish: 2})
    assert (len(plan.removed), len(plan.moves)) == (2, 2)


def test_a_selector_decides_what_is_bought():
    arm = offering("small", price="0.09", labels={"arch": "arm64"})
    nodes = [worlds.node("n1", labels={"arch": "arm64"})]
    plan = planned(world(nodes, [placed("a", "n1", nodeSelector={"arch": "arm64"})], [LARGE, arm]))
    assert bought(plan) == ["small/*/on-demand"]
    assert plan.price_after == Decimal("0.09")


def test_a_taint_that_a_pod_does_not_tolerate_rules_an_offering_out():
    taints = [{"key": "batch", "effect": "NoSchedule"}]
    tainted = offering("small", taints=taints)
    plain, tolerant = (
        planned(world(TWO[:1], [placed("a", "n1", tolerations=tolerations)], [tainted]))
        for tolerations in ([], [{"key": "batch", "operator": "Exists"}])
    )
    assert (bought(plain), bought(tolerant)) == ([], ["small/*/on-demand"])


def test_replicas_that_avoid_each_other_by_hostname_get_a_node_each():
    term = worlds.term(HOSTNAME, {"app": "web"})
    apart = {
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    }
    pods = [
        placed(n, w, "500m", labels={"app": "web"}, **apart) for n, w in (("a", "n1"), ("b", "n2"))
    ]
    plan = planned(world(TWO, pods))
    assert bought(plan) == ["small/*/on-demand"] * 2
    assert targets(plan) == {"a": "new-1", "b": "new-2"}


def test_a_pod_that_is_spread_over_zones_keeps_its_zone():
    constraint = {
        "topologyKey": ZONE,
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    nodes = [worlds.node("n1", "z1"), worlds.node("n2", "z2")]
    pods = [
        placed(n, w, labels={"app": "web"}, topologySpreadConstraints=[constraint])
        for n, w in (("a", "n1"), ("b", "n2"))
    ]
    plan = planned(world(nodes, pods, [SMALL]))
    zones = {one.name: one.offering.zone for one in plan.added}
    assert {pod: zones[target] for pod, target in targets(plan).items()} == {"a": "z1", "b": "z2"}


def test_a_pod_that_follows_another_keeps_its_node_when_the_rules_say_so():
    term = worlds.term(HOSTNAME, {"app": "db"})
    near = {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    pods = [placed("db", "n1", labels={"app": "db"}), placed("web", "n1", **near)]
    plan = planned(world(TWO, pods, replaceable=frozenset(["n1"])))
    assert misplaced(world(TWO, pods), plan.removed, plan.added, plan.moves) == {}


def test_a_pod_that_fits_no_offering_keeps_its_node():
    pods = [placed("huge", "n1", "4", "8Gi"), placed("b", "n2")]
    plan = planned(world(TWO, pods, [SMALL]))
    assert (plan.removed, targets(plan)) == (("n2",), {"b": "new-1"})


def test_verification_names_what_has_no_place_and_what_does_not_fit():
    pods = [placed("a", "n1", "3"), placed("b", "n2", "3"), placed("c", "n1")]
    wrong = misplaced(world(TWO, pods), ["n1"], [], [Move("a", "n1", "n2")])
    assert wrong == {
        "a": "resources (it asks for 3000m CPU, of which 1000m CPU is free).",
        "c": "The plan has no place for it.",
    }


@st.composite
def fleets(draw):
    size = draw(st.integers(1, 6))
    nodes = [worlds.node(f"n{i}", draw(st.sampled_from(["z1", "z2"]))) for i in range(size)]
    pods = []
    for i in range(size):
        for j in range(draw(st.integers(0, 3))):
            labels = {"app": draw(st.sampled_from(["web", "db"]))}
            apart = worlds.term(HOSTNAME, labels)
            required = {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}
            alone = not j and draw(st.booleans())
            spec = {"affinity": {"podAntiAffinity": required}} if alone else {}
            cpu = draw(st.sampled_from(["100m", "500m", "1"]))
            pods.append(placed(f"p{i}-{j}", f"n{i}", cpu, labels=labels, **spec))
    prices = {
        f"n{i}": Decimal(draw(st.integers(1, 40))) / 100 for i in range(size) if draw(st.booleans())
    }
    return world(nodes, pods, prices=prices)


@settings(max_examples=60, deadline=None)
@given(asked=fleets(), limit=st.one_of(st.none(), st.integers(0, 4)))
def test_a_plan_never_costs_more_moves_every_pod_once_and_holds(asked, limit):
    plan = planned(asked, max_nodes=limit)
    assert plan.price_after <= plan.price_before
    assert limit is None or len(plan.removed) <= limit
    assert sorted(targets(plan)) == sorted(p.key for p in asked.pods if p.node in plan.removed)
    assert misplaced(asked, plan.removed, plan.added, plan.moves) == {}
    rest = sum(
        (price for name, price in asked.prices.items() if name not in plan.removed), Decimal(0)
    )
    assert plan.price_after == rest + sum(one.offering.price for one in plan.added)
    assert planned(asked, max_nodes=limit) == plan
