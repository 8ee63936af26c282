# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""In which waves nodes are drained, so that every pod finds a place at each step.

The emptiest nodes go first: they free the most room for the least that moves. Each wave takes as
many as its limits allow and as can be emptied at once; then its nodes come back empty. Pods go to
nodes that are done, then to those that are not due, then to those that are drained last: so most
move once. Where a pod goes in the end is the scheduler's decision: a wave says that there is a way.

Limits are counted over what is drained at once: `batch`, and shares or counts of the whole and of
each group. Canaries go in a wave of their own before all others, control-plane nodes one by one.

Cost: each pod is judged once for each wave that its node is tried for, O(pods x rules); nodes that
did not fit into a wave are tried again in the next one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Iterator, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.placed import Move
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rolling.board import (
    Board,
    Rolling,
)

SMALLEST_BATCH, LARGEST_BATCH = 5, 10


@dataclass(frozen=True)
class Limits:
    """batch: None is a tenth of the due nodes, 5 at least and 10 at most. max_unavailable: nodes;
    None is no limit beside the batch. by_group: the same for each group that has a limit."""

    batch: Optional[int] = None
    max_unavailable: Optional[int] = None
    by_group: Mapping[str, int] = field(default_factory=dict)

    def size(self, due: int) -> int:
        batch = self.batch
        if batch is None:
            batch = min(LARGEST_BATCH, max(SMALLEST_BATCH, -(-due // 10)))
        return batch if self.max_unavailable is None else min(batch, self.max_unavailable)


@dataclass(frozen=True)
class Wave:
    """moves: a way to empty these nodes at once."""

    nodes: tuple[str, ...]
    moves: tuple[Move, ...]


@dataclass(frozen=True)
class Stuck:
    """A node that cannot be emptied even alone, and the first pod that fits nowhere else."""

    node: str
    pod: str
    sentence: str


@dataclass(frozen=True)
class Waves:
    """stuck: nodes that are in no wave."""

    waves: tuple[Wave, ...]
    stuck: tuple[Stuck, ...]


def waves(rolling: Rolling, limits: Limits) -> Waves:
    """Returns the waves in their order. Limits are at least 1."""
    return _Planner(rolling, limits).plan()


class _Planner:
    def __init__(self, rolling: Rolling, limits: Limits) -> None:
        self._rolling = rolling
        self._limits = limits
        self._board = Board(rolling)

    def plan(self) -> Waves:
        found: list[Wave] = []
        stuck: list[Stuck] = []
        for stage, size in self._stages():
            waiting = stage
            while waiting:
                wave = self._wave(waiting, size)
                if wave is None:
                    stuck += [Stuck(name, *self._board.obstacle(name)) for name in waiting]
                    break
                found.append(wave)
                waiting = [name for name in waiting if name not in wave.nodes]
        return Waves(tuple(found), tuple(stuck))

    def _stages(self) -> Iterator[tuple[list[str], int]]:
        """Nodes that may share waves, each stage with the size of its waves."""
        order = self._board.order
        masters = {node.name for node in self._rolling.nodes if node.is_control_plane}
        canaries = set(self._rolling.canaries)
        size = self._limits.size(len(order))
        for name in order:
            if name in masters:
                yield [name], 1
        yield [name for name in order if name in canaries - masters], size
        yield [name for name in order if name not in canaries | masters], size

    def _wave(self, waiting: Sequence[str], size: int) -> Optional[Wave]:
        """The first of these that can be emptied together; None when not even one can.

        A pod may have been given a node that joins the wave later: it moves on from there.
        """
        names: list[str] = []
        moves: dict[str, Move] = {}
        in_group: Counter[str] = Counter()
        for name in waiting:
            group = self._rolling.groups.get(name, "")
            if in_group[group] >= self._limits.by_group.get(group, size):
                continue
            found = self._board.emptied(name, names)
            if found is not None:
                names.append(name)
                for move in found:
                    before = moves.get(move.pod)
                    source = move.source if before is None else before.source
                    moves[move.pod] = Move(move.pod, source, move.target)
                in_group[group] += 1
            if len(names) == size:
                break
        self._board.done(names)
        return Wave(tuple(names), tuple(moves.values())) if names else None
