# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which nodes to replace by which offerings, so that the fleet costs less.

1. All replaceable nodes are packed anew: that gives each pod a worth (packing/values.py). Nodes
   whose pods are worth the least for what the node costs are the worst.
2. The savings curve: for some numbers k, the worst k nodes go; their pods take the room of nodes
   that stay first, then offerings.
3. The point that the wishes ask for is packed once more with care.
4. verify.py asks the rules. A node with a pod that would not fit stays, and it begins again.

Integers only, no clock, no chance: the same world gives the same plan. Cost: about one packing for
each point of the curve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Iterable, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.offering import ZONE, Offering
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.pack import (
    Budget,
    pack,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.problem import (
    Packing,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.values import (
    item_values,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.placed import Move, Placed
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.demand import (
    Demand,
    Market,
    demand,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.verify import (
    misplaced,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.world import (
    NewNode,
    Point,
    Rebalance,
    Wishes,
    World,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.state import (
    ClusterState,
)

# Points of the curve beside none; a fleet with fewer replaceable nodes has one for each.
_POINTS = 10
_ROUGH, _CAREFUL = Budget(50_000), Budget(1_000_000)
_ATTEMPTS = 5


def rebalance(world: World, wishes: Wishes) -> Rebalance:
    """Returns the plan; nothing is removed where nothing is saved, or the wishes allow nothing."""
    world = replace(world, offerings=tuple(_in_zones(world)))
    replaceable = frozenset(name for name in world.replaceable if world.prices.get(name))
    node_of = {pod.key: pod.node for pod in world.pods}
    kept_back: dict[str, str] = {}
    for _attempt in range(_ATTEMPTS):
        planner = _Planner(world, replaceable - set(kept_back))
        plan = planner.plan(wishes, kept_back)
        wrong = misplaced(world, plan.removed, plan.added, plan.moves)
        if not wrong:
            return plan
        kept_back.update({node_of[pod]: f"{pod}: {why}" for pod, why in sorted(wrong.items())})
    return _Planner(world, frozenset()).plan(wishes, kept_back)


def _in_zones(world: World) -> Iterable[Offering]:
    """An offering of any zone becomes one for each zone that there is."""
    zones = {node.meta.labels[ZONE] for node in world.nodes if ZONE in node.meta.labels}
    zones |= {offering.zone for offering in world.offerings if offering.zone}
    for offering in world.offerings:
        if offering.zone or not zones:
            yield offering
        else:
            yield from (replace(offering, zone=zone) for zone in sorted(zones))


@dataclass(frozen=True)
class _Packed:
    demand: Demand
    packing: Packing

    @property
    def price(self) -> Decimal:
        """Of what is bought, exact."""
        return sum(
            (
                self.demand.offering(load.bin).price * load.times
                for load in self.packing.loads
                if self.demand.room(load.bin) is None
            ),
            Decimal(0),
        )


class _Planner:
    """The fleet with the pods of the worst k nodes taken off; k only ever shrinks or stays."""

    def __init__(self, world: World, replaceable: frozenset[str]) -> None:
        self._world = world
        self._market = Market(world)
        self._state = ClusterState(world.nodes, world.namespaces, world.storage)
        self._pods: dict[str, list[Placed]] = {}
        for pod in world.pods:
            self._state.place(pod.key, self._state.pod_class(pod.spec), pod.node)
            self._pods.setdefault(pod.node, []).append(pod)
        self._before = sum(world.prices.values(), Decimal(0))
        self._gone: list[str] = []
        self._worst = self._ranked(sorted(replaceable))

    def plan(self, wishes: Wishes, kept_back: dict[str, str]) -> Rebalance:
        curve = self._curve()
        chosen = _chosen(curve, wishes, self._before)
        removed = self._worst[: chosen.replaced]
        added, moves = self._carried_out(self._packed(removed, _CAREFUL)) if removed else ([], [])
        bought = sum((one.offering.price for one in added), Decimal(0))
        return Rebalance(
            removed=tuple(sorted(removed)),
            added=tuple(added),
            moves=tuple(moves),
            price_before=self._before,
            price_after=self._before - self._price(removed) + bought,
            curve=curve,
            unpriced=tuple(
                sorted(
                    node.name for node in self._world.nodes if node.name not in self._world.prices
                )
            ),
            kept_back=dict(kept_back),
        )

    def _ranked(self, names: list[str]) -> list[str]:
        """The worst first: the least worth of pods for the price of their node.

        Nodes with a pod that no offering takes come last: it needs the room of a node that stays.
        """
        found = self._demand(names)
        worth, homeless = dict.fromkeys(names, 0), set()
        for value, pods in zip(item_values(found.problem), found.pods):
            for pod in pods:
                worth[pod.node] += value
                if not value:
                    homeless.add(pod.node)
        prices = self._world.prices
        return sorted(names, key=lambda name: (name in homeless, worth[name] / prices[name], name))

    def _curve(self) -> tuple[Point, ...]:
        points = [self._point(k) for k in reversed(_steps(len(self._worst)))]
        return (Point(0, 0, self._before, 0), *reversed(points))

    def _point(self, k: int) -> Point:
        found = self._packed(self._worst[:k], _ROUGH)
        price = self._before - self._price(self._worst[:k]) + found.price
        return Point(k, sum(map(len, found.demand.pods)), price, sum(found.packing.left))

    def _price(self, names: Iterable[str]) -> Decimal:
        return sum((self._world.prices[name] for name in names), Decimal(0))

    def _packed(self, names: Sequence[str], budget: Budget) -> _Packed:
        found = self._demand(names)
        return _Packed(found, pack(found.problem, budget))

    def _demand(self, names: Sequence[str]) -> Demand:
        """The pods of these nodes, which are closed, are off; those of all others are on."""
        self._state.close(names)
        for name in set(self._gone) - set(names):
            for pod in self._moving(name):
                self._state.place(pod.key, self._state.pod_class(pod.spec), name)
        for name in set(names) - set(self._gone):
            for pod in self._moving(name):
                self._state.remove(pod.key)
        self._gone = list(names)
        return demand(self._state, self._market, [p for name in names for p in self._moving(name)])

    def _moving(self, name: str) -> list[Placed]:
        return [pod for pod in self._pods.get(name, ()) if pod.moves]

    def _carried_out(self, packed: _Packed) -> tuple[list[NewNode], list[Move]]:
        """Names for what is bought, and a target for each pod."""
        waiting = [list(reversed(pods)) for pods in packed.demand.pods]
        added: list[NewNode] = []
        moves = []
        for load in packed.packing.loads:
            for _one in range(load.times):
                target = packed.demand.room(load.bin)
                if target is None:
                    target = f"new-{len(added) + 1}"
                    offering = packed.demand.offering(load.bin)
                    added.append(NewNode(target, offering, self._market.daemons[offering.key]))
                for item, count in load.content:
                    for _pod in range(count):
                        pod = waiting[item].pop()
                        moves.append(Move(pod.key, pod.node, target))
        return added, sorted(moves, key=lambda move: move.pod)


def _steps(nodes: int) -> list[int]:
    """Some of 1 to `nodes`, the last one too."""
    points = min(nodes, _POINTS)
    return [(number + 1) * nodes // points for number in range(points)]


def _chosen(curve: Sequence[Point], wishes: Wishes, before: Decimal) -> Point:
    """The first point is always allowed: nothing is replaced."""
    allowed = [point for point in curve if not point.unplaced and _within(point, wishes)]
    wanted = wishes.savings_percent
    if wanted is not None:
        for point in allowed:
            if (before - point.price) * 100 >= wanted * before:
                return point
    return min(allowed, key=lambda point: (point.price, point.replaced))


def _within(point: Point, wishes: Wishes) -> bool:
    return _at_most(point.replaced, wishes.max_nodes) and _at_most(point.moved, wishes.max_moved)


def _at_most(number: int, limit: Optional[int]) -> bool:
    return limit is None or number <= limit
