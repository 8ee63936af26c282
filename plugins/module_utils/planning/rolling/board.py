# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Where every pod is while waves are planned, and where it can go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.volumes import Storage
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.placed import Move, Placed
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.nodes import (
    NO_NODE,
    bits,
    union,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.nowhere import (
    nowhere,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.state import (
    ClusterState,
)

_PPM = 1_000_000


@dataclass(frozen=True)
class Rolling:
    """What is to be rolled. due: names of the nodes to drain; the others stay, and take pods.

    canaries: of the due ones, those of the first wave. groups: by name of a node, its group.
    """

    nodes: tuple[Node, ...]
    pods: tuple[Placed, ...]
    due: tuple[str, ...]
    canaries: tuple[str, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    storage: Storage = field(default_factory=Storage)


class Board:
    """order: the due nodes, the emptiest first."""

    def __init__(self, rolling: Rolling) -> None:
        self._state = ClusterState(rolling.nodes, rolling.namespaces, rolling.storage)
        self._on: dict[str, dict[str, Placed]] = {node.name: {} for node in rolling.nodes}
        for pod in rolling.pods:
            self._state.place(pod.key, self._state.pod_class(pod.spec), pod.node)
            self._on[pod.node][pod.key] = pod
        self._total = {
            name: sum(node.allocatable.get(name, 0) for node in rolling.nodes)
            for name in ("cpu", "memory")
        }
        self.order = sorted(rolling.due, key=lambda name: (self._fill(name), name))
        self._undone = union(self._state.nodes.named(name) for name in rolling.due)
        self._ready = NO_NODE

    def emptied(self, name: str, closed: Sequence[str]) -> Optional[list[Move]]:
        """Moves what must leave this node while `closed` are closed, too.

        None, and nothing is moved, when a pod finds no place.
        """
        self._state.close([*closed, name])
        moves: list[Move] = []
        for pod in self._leaving(name):
            target = self._target(pod, name)
            if target is None:
                self._take_back(moves)
                return None
            self._put(pod.key, name, target)
            moves.append(Move(pod.key, name, target))
        return moves

    def done(self, names: Sequence[str]) -> None:
        """These nodes are back, empty and open."""
        self._state.reopen()
        back = union(self._state.nodes.named(name) for name in names)
        self._ready |= back
        self._undone &= ~back

    def obstacle(self, name: str) -> tuple[str, str]:
        """Of a node that cannot be emptied alone: the first pod without a place, and why.

        Raises LookupError when it can.
        """
        self._state.close([name])
        moves: list[Move] = []
        try:
            for pod in self._leaving(name):
                target = self._target(pod, name)
                if target is None:
                    return pod.key, self._why(pod, name)
                self._put(pod.key, name, target)
                moves.append(Move(pod.key, name, target))
        finally:
            self._take_back(moves)
            self._state.reopen()
        raise LookupError(name)

    def _why(self, pod: Placed, name: str) -> str:
        judged = self._state.pod_class(pod.spec)
        self._state.remove(pod.key)
        others = self._state.nodes.all & ~self._state.nodes.named(name)
        sentence = nowhere(self._state, judged, others).sentence
        self._state.place(pod.key, judged, name)
        return sentence

    def _target(self, pod: Placed, source: str) -> Optional[str]:
        """First a node that is done, then one that is not due, then the due one that is last."""
        judged = self._state.pod_class(pod.spec)
        self._state.remove(pod.key)
        mask = self._state.eligible(judged)
        self._state.place(pod.key, judged, source)
        for tier in (mask & self._ready, mask & ~self._undone):
            if tier:
                return self._state.nodes.nodes[next(bits(tier))].name
        index = self._state.nodes.index
        return next((name for name in reversed(self.order) if mask >> index[name] & 1), None)

    def _leaving(self, name: str) -> list[Placed]:
        """The largest first."""
        pods = (pod for pod in self._on[name].values() if pod.moves)
        return sorted(pods, key=lambda pod: (-self._share(pod), pod.key))

    def _put(self, key: str, source: str, target: str) -> None:
        pod = self._on[source].pop(key)
        self._on[target][key] = pod
        self._state.remove(key)
        self._state.place(key, self._state.pod_class(pod.spec), target)

    def _take_back(self, moves: Sequence[Move]) -> None:
        for move in reversed(moves):
            self._put(move.pod, move.target, move.source)

    def _fill(self, name: str) -> int:
        """What must leave a node, in ppm of the fleet's cpu or memory, whichever is scarcer."""
        return sum(self._share(pod) for pod in self._leaving(name))

    def _share(self, pod: Placed) -> int:
        asked = dict(pod.spec.requests)
        shares = [
            asked.get(name, 0) * _PPM // total for name, total in self._total.items() if total
        ]
        return max(shares, default=0)
