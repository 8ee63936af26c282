# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is there room elsewhere for what a drain moves? By requests, the number of pods and taints.

The largest pod goes first, each to the node with the most room left, as the scheduler spreads by
default. Affinity, topology and volumes are not looked at: what does not fit here does not fit at
all, what fits here may still be kept out by them.

Cost: O(pods x log nodes) where the nodes have room, O(pods x nodes) at worst.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Iterable, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.last_node import may_take_over

# Room is counted in parts per million of a node's allocatable: integers, so ties are exact.
PPM = 1_000_000
MIB = 2**20
SCHEDULED_BY = ("cpu", "memory", "pods")


@dataclass(frozen=True)
class Placement:
    """One pod that found a place."""

    pod: Pod
    node: str


@dataclass(frozen=True)
class Misfit:
    """A pod that fits nowhere.

    nearest: the node that it misses by the least, "" when no node could take it at all.
    short: by what it misses there, resource to amount (cpu in millicores, else base units).
    """

    pod: Pod
    nearest: str
    short: Mapping[str, int]

    @property
    def sentence(self) -> str:
        if not self.nearest:
            return (
                f"{self.pod.key} has no node to go to: no other is Ready, open to it and tells what"
                " it can hold."
            )
        missing = " and ".join(_amount(name, self.short[name]) for name in sorted(self.short))
        return f"{self.pod.key} fits nowhere; on {self.nearest} but for {missing}."


@dataclass(frozen=True)
class LeftOut:
    """A node that could not be counted (C39), and why."""

    node: str
    sentence: str


@dataclass(frozen=True)
class Capacity:
    placed: tuple[Placement, ...]
    misfits: tuple[Misfit, ...]
    left_out: tuple[LeftOut, ...]


Rank = tuple[int, str]


class CapacityModel:
    """The free room of a fleet, worked out once; `place` can be asked for many sets of nodes."""

    def __init__(self, fleet: Fleet) -> None:
        self.nodes = fleet.node_by_name
        usable = [node for node in fleet.nodes if not _unusable(node)]
        self.free = {node.name: _free(node, fleet) for node in usable}
        self.ranked = sorted(
            _rank(node, self.free[node.name]) for node in usable if node.schedulable
        )
        self._total = {
            name: sum(node.allocatable[name] for node in usable) for name in ("cpu", "memory")
        }
        self._left_out = tuple(
            LeftOut(node.name, _unusable(node))
            for node in fleet.nodes
            if node.schedulable and _unusable(node)
        )

    def place(self, leaving: Iterable[Pod], chosen: Iterable[str]) -> Capacity:
        """Places the leaving pods of the chosen nodes on all other nodes that take new pods."""
        away = set(chosen)
        placing = _Placing(self, away)
        placed, misfits = [], []
        for pod in sorted(leaving, key=self._largest_first):
            name = placing.put(pod)
            if name:
                placed.append(Placement(pod, name))
            else:
                misfits.append(placing.misfit(pod))
        out = tuple(entry for entry in self._left_out if entry.node not in away)
        return Capacity(tuple(placed), tuple(misfits), out)

    def _largest_first(self, pod: Pod) -> tuple[int, str]:
        """By the greater share of the fleet's cpu or memory, then by key: ties never depend on
        the order of a listing."""
        shares = [
            pod.requests.get(name, 0) * PPM // total for name, total in self._total.items() if total
        ]
        return (-max(shares, default=0), pod.key)


class _Placing:
    """The room while pods are placed. Only nodes that were given a pod are copied."""

    def __init__(self, model: CapacityModel, away: set[str]) -> None:
        self._model = model
        # A part of a sorted list is sorted, and so a heap.
        self._heap = [rank for rank in model.ranked if rank[1] not in away]
        self._changed: dict[str, dict[str, int]] = {}

    def put(self, pod: Pod) -> str:
        """Gives the pod to the node with the most room that fits; "" when none does.

        Nodes are taken off the heap until one fits; those that did not go back as they were.
        """
        needs, passed, found = _needs(pod), [], ""
        while self._heap and not found:
            rank = heapq.heappop(self._heap)
            if self._open_to(pod, rank[1]) and not _short(self._free(rank[1]), needs):
                found = rank[1]
            else:
                passed.append(rank)
        if found:
            passed.append(self._take(found, needs))
        for rank in passed:
            heapq.heappush(self._heap, rank)
        return found

    def misfit(self, pod: Pod) -> Misfit:
        """Names the node that the pod misses by the least; ties go to the first by name."""
        needs = _needs(pod)
        shorts = {
            name: _short(self._free(name), needs)
            for _unused, name in self._heap
            if self._open_to(pod, name)
        }
        if not shorts:
            return Misfit(pod, "", {})
        nearest = min(shorts, key=lambda name: (_distance(shorts[name], needs), name))
        return Misfit(pod, nearest, shorts[nearest])

    def _take(self, name: str, needs: Mapping[str, int]) -> Rank:
        free = self._changed.setdefault(name, dict(self._model.free[name]))
        for resource, amount in needs.items():
            free[resource] -= amount
        return _rank(self._model.nodes[name], free)

    def _free(self, name: str) -> Mapping[str, int]:
        return self._changed.get(name, self._model.free[name])

    def _open_to(self, pod: Pod, name: str) -> bool:
        current = self._model.nodes.get(pod.node)
        return current is None or may_take_over(self._model.nodes[name], current)


def _rank(node: Node, free: Mapping[str, int]) -> Rank:
    """Most room first, by the scarcer of cpu and memory; then by name."""
    shares = [free[name] * PPM // node.allocatable[name] for name in ("cpu", "memory")]
    return (-min(shares), node.name)


def _short(free: Mapping[str, int], needs: Mapping[str, int]) -> dict[str, int]:
    """What is missing for these needs; empty when they fit."""
    return {
        name: amount - free.get(name, 0)
        for name, amount in needs.items()
        if amount > free.get(name, 0)
    }


def _unusable(node: Node) -> str:
    """C39. Why a node's room cannot be counted, or "": it must tell all that the scheduler asks."""
    missing = [name for name in SCHEDULED_BY if node.allocatable.get(name, 0) <= 0]
    if not missing:
        return ""
    return f"Node {node.name} is left out: it reports no allocatable {', '.join(missing)}."


def _free(node: Node, fleet: Fleet) -> dict[str, int]:
    free = dict(node.allocatable)
    for pod in fleet.pods_on(node.name):
        if not pod.finished:
            for name, amount in _needs(pod).items():
                free[name] = free.get(name, 0) - amount
    return free


def _needs(pod: Pod) -> dict[str, int]:
    return {**{name: amount for name, amount in pod.requests.items() if amount > 0}, "pods": 1}


def _distance(short: Mapping[str, int], needs: Mapping[str, int]) -> int:
    """How far a node is from taking the pod: the greatest missing part of a need, in ppm."""
    return max((amount * PPM // needs[name] for name, amount in short.items()), default=0)


def _amount(name: str, amount: int) -> str:
    if name == "cpu":
        return f"{amount}m CPU"
    if name == "pods":
        return f"{amount} place for a pod" if amount == 1 else f"{amount} places for pods"
    if name in ("memory", "ephemeral-storage") or name.startswith("hugepages-"):
        return f"{-(-amount // MIB)}Mi of {name}"
    return f"{amount} of {name}"
