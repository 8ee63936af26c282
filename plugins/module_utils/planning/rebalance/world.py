# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a rebalancing is planned from, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.offering import Offering
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import SchedulingSpec
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.volumes import Storage
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.placed import Move, Placed


@dataclass(frozen=True)
class World:
    """prices: an hour of each node, by name; a node without one has no entry and stays.

    replaceable: names of the nodes that may go. daemons: one spec for each DaemonSet: what it puts
    on each node that its spec selects. namespaces: name to labels.
    """

    nodes: tuple[Node, ...]
    pods: tuple[Placed, ...]
    prices: Mapping[str, Decimal]
    replaceable: frozenset[str]
    offerings: tuple[Offering, ...]
    daemons: tuple[SchedulingSpec, ...] = ()
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    storage: Storage = field(default_factory=Storage)


@dataclass(frozen=True)
class Wishes:
    """max_nodes, max_moved: no more nodes are replaced, no more pods moved; None is no limit.

    savings_percent: the fewest nodes that save so much of the price of all nodes that have one;
    None is whatever saves the most.
    """

    max_nodes: Optional[int] = None
    max_moved: Optional[int] = None
    savings_percent: Optional[Decimal] = None


@dataclass(frozen=True)
class NewNode:
    """name: of the plan, not of the machine that will come. daemons: how many pods of DaemonSets it
    will have."""

    name: str
    offering: Offering
    daemons: int = 0


@dataclass(frozen=True)
class Point:
    """One point of the savings curve: the worst `replaced` nodes go, `moved` pods move, and all
    nodes that have a price cost `price` an hour afterwards. unplaced: pods without a place, with
    which it cannot be carried out."""

    replaced: int
    moved: int
    price: Decimal
    unplaced: int


@dataclass(frozen=True)
class Rebalance:
    """price_before, price_after: an hour of all nodes that have a price.

    curve: by the number of nodes that are replaced, beginning with none. kept_back: nodes that stay
    because a pod of theirs would fit nowhere else after all, with the pod and the reason.
    """

    removed: tuple[str, ...]
    added: tuple[NewNode, ...]
    moves: tuple[Move, ...]
    price_before: Decimal
    price_after: Decimal
    curve: tuple[Point, ...]
    unpriced: tuple[str, ...]
    kept_back: Mapping[str, str]
