# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is there a place elsewhere for what a drain moves? By all of the scheduler's rules.

The largest pod goes first, each to the node with the most room left of those that take it, as the
scheduler spreads by default.

Cost: O(pods x log nodes) where the nodes have room, O(pods x nodes) at worst.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Iterable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling_facts import (
    SchedulingFacts,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.nowhere import (
    Nowhere,
    nowhere,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.pods import PodClass
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.state import (
    ClusterState,
)

# Room is counted in parts per million of a node's allocatable: integers, so ties are exact.
PPM = 1_000_000
SCHEDULED_BY = ("cpu", "memory", "pods")


@dataclass(frozen=True)
class Placement:
    """One pod that found a place. unknown: why that is not certain; empty when it is."""

    pod: Pod
    node: str
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Misfit:
    """A pod that fits nowhere, and why. short: by what it misses on the nearest node, resource to
    amount (cpu in millicores, else base units)."""

    pod: Pod
    why: Nowhere

    @property
    def nearest(self) -> str:
        return self.why.nearest

    @property
    def short(self) -> Mapping[str, int]:
        return dict(pair for failing in self.why.missing for pair in failing.short)

    @property
    def sentence(self) -> str:
        if not self.nearest:
            return (
                f"{self.pod.key} has no node to go to: no other is Ready, open to it and tells what"
                " it can hold."
            )
        return (
            f"{self.pod.key} fits on none of {self.why.nodes} nodes ({self.why.counts});"
            f" on {self.nearest} but for {self.why.wants}."
        )


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
    """Where everything is, worked out once; `place` can be asked for many sets of nodes."""

    def __init__(self, fleet: Fleet, facts: SchedulingFacts) -> None:
        self._facts = facts
        self.nodes = fleet.node_by_name
        self.state = ClusterState(fleet.nodes, facts.namespaces, facts.storage)
        for pod in fleet.pods:
            if pod.node in self.nodes and not pod.finished:
                self.state.place(pod.meta.uid, self.judged(pod), pod.node, pod.terminating)
        usable = [node for node in fleet.nodes if node.schedulable and not _unusable(node)]
        self.ranked = sorted(self.rank(node.name) for node in usable)
        self._shut = set(self.nodes) - {node.name for node in usable}
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
        pods = sorted(leaving, key=self._largest_first)
        self.state.close({*self._shut, *away})
        placing = _Placing(self, away | self._shut)
        try:
            placed = [placing.put(pod) for pod in pods]
        finally:
            placing.take_back(pods)
            self.state.reopen()
        return Capacity(
            tuple(one for one in placed if isinstance(one, Placement)),
            tuple(one for one in placed if isinstance(one, Misfit)),
            tuple(entry for entry in self._left_out if entry.node not in away),
        )

    def judged(self, pod: Pod) -> PodClass:
        return self.state.pod_class(self._facts.specs[pod.meta.uid])

    def rank(self, name: str) -> Rank:
        """Most room first, by the scarcer of cpu and memory; then by name."""
        index, allocatable = self.state.nodes.index[name], self.nodes[name].allocatable
        shares = [
            self.state.room.free(index, resource) * PPM // allocatable[resource]
            for resource in ("cpu", "memory")
        ]
        return (-min(shares), name)

    def _largest_first(self, pod: Pod) -> tuple[int, str]:
        """By the greater share of the fleet's cpu or memory, then by key: ties never depend on
        the order of a listing."""
        shares = [
            pod.requests.get(name, 0) * PPM // total for name, total in self._total.items() if total
        ]
        return (-max(shares, default=0), pod.key)


class _Placing:
    """Pods on their way. closed: nodes that take none."""

    def __init__(self, model: CapacityModel, closed: set[str]) -> None:
        self._model = model
        self._state = model.state
        # A part of a sorted list is sorted, and so a heap.
        self._heap = [rank for rank in model.ranked if rank[1] not in closed]
        self._open = sum(1 << self._state.nodes.index[name] for _room, name in self._heap)
        self._placed: set[str] = set()
        self._moved: set[str] = set()
        self._known: dict[PodClass, Nowhere] = {}

    def put(self, pod: Pod) -> Placement | Misfit:
        """Gives the pod to the node with the most room that takes it."""
        judged = self._model.judged(pod)
        self._state.remove(pod.meta.uid)
        self._moved.add(pod.meta.uid)
        name = self._roomiest(self._state.possible(judged))
        if name is None:
            return Misfit(pod, self._why(judged))
        self._state.place(pod.meta.uid, judged, name)
        self._placed.add(pod.meta.uid)
        heapq.heappush(self._heap, self._model.rank(name))
        return Placement(pod, name, tuple(self._state.unknown(judged)))

    def take_back(self, pods: Iterable[Pod]) -> None:
        for pod in pods:
            if pod.meta.uid in self._moved:
                if pod.meta.uid in self._placed:
                    self._state.remove(pod.meta.uid)
                judged = self._model.judged(pod)
                self._state.place(pod.meta.uid, judged, pod.node, pod.terminating)

    def _roomiest(self, mask: int) -> Optional[str]:
        """Taken off the heap: its rank is another once the pod is on it."""
        passed, found = [], None
        while self._heap and found is None and mask:
            rank = heapq.heappop(self._heap)
            if mask >> self._state.nodes.index[rank[1]] & 1:
                found = rank[1]
            else:
                passed.append(rank)
        for rank in passed:
            heapq.heappush(self._heap, rank)
        return found

    def _why(self, judged: PodClass) -> Nowhere:
        """Once for all pods that ask for the same: every rule is asked about every node."""
        if judged not in self._known:
            self._known[judged] = nowhere(self._state, judged, self._open)
        return self._known[judged]


def _unusable(node: Node) -> str:
    """C39. Why a node's room cannot be counted, or "": it must tell all that the scheduler asks."""
    missing = [name for name in SCHEDULED_BY if node.allocatable.get(name, 0) <= 0]
    if not missing:
        return ""
    return f"Node {node.name} is left out: it reports no allocatable {', '.join(missing)}."
