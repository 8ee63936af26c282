# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""From pods that must move to a packing problem: which node or offering takes which pod.

The scheduler's rules are read in two ways. What a node alone decides (selectors, taints, volumes)
is a mask of bins. What neighbours decide is made simpler and stricter, so that it can be counted:
- a pod whose affinity, anti-affinity or spread goes by a topology key other than the hostname keeps
  the value of that key that it has now: then no count changes;
- what goes by the hostname, and host ports, become a limit for a node, or pairs that avoid each
  other (apart.py).
verify.py asks the rules themselves about the result.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from typing import Iterable, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.offering import Offering
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import SchedulingSpec
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.problem import (
    BinType,
    Item,
    Problem,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.placed import Placed
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.apart import (
    HOSTNAME,
    avoiding,
    limits,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.world import (
    World,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.binding import (
    VolumeRule,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.nodes import (
    NodeTable,
    bits,
    mask_of,
    union,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.pods import PodClass
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.state import (
    ClusterState,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.static import (
    StaticRules,
)

# Prices are counted in 10^-9 of their unit.
PRICE_PARTS = Decimal(10**9)
_PODS = "pods"


class Market:
    """The offerings as empty nodes, of which each pod class is asked once.

    daemons: by the key of an offering, how many DaemonSet pods a node of it has.
    """

    def __init__(self, world: World) -> None:
        nodes = [offering.node(offering.key, {}) for offering in world.offerings]
        table = NodeTable(nodes)
        by_key = {offering.key: offering for offering in world.offerings}
        self._static = StaticRules(table)
        self._volumes = VolumeRule(table, world.storage)
        self.offerings = tuple(by_key[node.name] for node in table.nodes)
        daemons = [PodClass(spec) for spec in world.daemons]
        taken = [self._taken(daemons, index) for index in range(len(self.offerings))]
        self.nodes = tuple(
            offering.node(offering.key, room) for offering, room in zip(self.offerings, taken)
        )
        self.daemons = {
            offering.key: room.get(_PODS, 0) for offering, room in zip(self.offerings, taken)
        }
        self._table = table

    def admitting(self, pod: PodClass, tied: Mapping[str, str]) -> int:
        """The offerings open to it, as a mask; tied: labels that their nodes must have."""
        return (
            self._static.passing(pod)
            & self._volumes.passing(pod)
            & self._table.labelled(tied.items())
        )

    def _taken(self, daemons: Iterable[PodClass], index: int) -> dict[str, int]:
        """What the DaemonSets' pods take of a node of this offering."""
        taken: dict[str, int] = defaultdict(int)
        for daemon in daemons:
            if self._static.passing(daemon) >> index & 1:
                taken[_PODS] += 1
                for name, amount in daemon.spec.requests:
                    taken[name] += amount
        return dict(taken)


@dataclass(frozen=True)
class Demand:
    """A packing problem and what its indexes mean: pods by item; by bin the node that is there
    already, or the offering."""

    problem: Problem
    pods: tuple[tuple[Placed, ...], ...]
    rooms: tuple[str, ...]
    offerings: tuple[Offering, ...]

    def room(self, index: int) -> Optional[str]:
        return self.rooms[index] if index < len(self.rooms) else None

    def offering(self, index: int) -> Offering:
        return self.offerings[index - len(self.rooms)]


def demand(state: ClusterState, market: Market, moving: Sequence[Placed]) -> Demand:
    """Returns the problem of placing these pods, which are not in `state` any more.

    state: its closed nodes take none of them.
    """
    kinds = _kinds(state, moving)
    classes = [state.pod_class(kind[0].spec) for kind in kinds]
    possible = [state.possible(pod) for pod in classes]
    rooms = tuple(bits(union(possible)))
    dimensions = _dimensions(classes)
    admitted = _admitted(state, market, kinds, possible, rooms)
    specs = [pod.spec for pod in classes]
    items = [
        Item(_amounts(kind[0].spec, dimensions), len(kind), mask, limit, avoids)
        for kind, mask, limit, avoids in zip(kinds, admitted, limits(specs), avoiding(specs))
    ]
    bins = [BinType(_free(state, index, dimensions), 0, 1) for index in rooms]
    bins += [
        BinType(_capacity(node, dimensions), price_of(offering))
        for node, offering in zip(market.nodes, market.offerings)
    ]
    return Demand(
        Problem(tuple(items), tuple(bins)),
        tuple(tuple(kind) for kind in kinds),
        tuple(state.nodes.nodes[index].name for index in rooms),
        market.offerings,
    )


def _admitted(
    state: ClusterState,
    market: Market,
    kinds: Sequence[Sequence[Placed]],
    possible: Sequence[int],
    rooms: Sequence[int],
) -> list[int]:
    """By kind, a mask of bins: the rooms in their order, then the offerings."""
    place = {index: number for number, index in enumerate(rooms)}
    masks = []
    for kind, mask in zip(kinds, possible):
        tied = _tied(kind[0].spec, state, kind[0].node)
        near = mask & state.nodes.labelled(tied.items())
        bought = market.admitting(state.pod_class(kind[0].spec), tied)
        masks.append(
            mask_of((place[index] for index in bits(near)), len(rooms)) | bought << len(rooms)
        )
    return masks


def price_of(offering: Offering) -> int:
    """At least 1: what is for sale is not room that is there anyway."""
    return max(1, int((offering.price * PRICE_PARTS).to_integral_value()))


def _kinds(state: ClusterState, moving: Sequence[Placed]) -> list[list[Placed]]:
    """Pods of equal specs that are tied to equal places, each kind sorted by key."""
    grouped: dict[tuple[SchedulingSpec, tuple[tuple[str, str], ...]], list[Placed]] = {}
    for pod in sorted(moving, key=lambda one: one.key):
        tied = tuple(sorted(_tied(pod.spec, state, pod.node).items()))
        grouped.setdefault((pod.spec, tied), []).append(pod)
    return list(grouped.values())


def _tied(spec: SchedulingSpec, state: ClusterState, node: str) -> dict[str, str]:
    """The topology labels of its node that a pod must find again."""
    keys = {term.topology_key for term in (*spec.affinity, *spec.anti_affinity)}
    keys |= {constraint.topology_key for constraint in spec.spread}
    labels = state.nodes.nodes[state.nodes.index[node]].meta.labels
    return {key: labels[key] for key in keys if key in labels and key != HOSTNAME}


def _dimensions(classes: Iterable[PodClass]) -> tuple[str, ...]:
    """cpu and memory first, whatever is asked for, and the count of pods."""
    asked = {name for pod in classes for name, _amount in pod.spec.requests}
    return ("cpu", "memory", *sorted(asked - {"cpu", "memory"}), _PODS)


def _amounts(spec: SchedulingSpec, dimensions: Sequence[str]) -> tuple[int, ...]:
    asked = {**dict(spec.requests), _PODS: 1}
    return tuple(asked.get(name, 0) for name in dimensions)


def _capacity(node: Node, dimensions: Sequence[str]) -> tuple[int, ...]:
    return tuple(node.allocatable.get(name, 0) for name in dimensions)


def _free(state: ClusterState, index: int, dimensions: Sequence[str]) -> tuple[int, ...]:
    return tuple(max(0, state.room.free(index, name)) for name in dimensions)
