# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Asks the scheduler's own rules whether a plan holds, and knows nothing of how it was made."""

from __future__ import annotations

from typing import Mapping, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.placed import Move
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.rebalance.world import (
    NewNode,
    World,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.state import (
    ClusterState,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.verdict import (
    FITS,
    Verdict,
)


def misplaced(
    world: World, removed: Sequence[str], added: Sequence[NewNode], moves: Sequence[Move]
) -> Mapping[str, str]:
    """Returns what is wrong by pod that moves: why its target does not take it once all others are
    where the plan has them. Empty for a plan that holds.

    DaemonSet pods of new nodes are counted by what they take. Also wrong is a pod of a removed node
    that does not move, unless it goes with its node.
    """
    gone = set(removed)
    nodes = [node for node in world.nodes if node.name not in gone]
    state = ClusterState(
        [*nodes, *(one.offering.node(one.name, {}) for one in added)],
        world.namespaces,
        world.storage,
    )
    _place_daemons(state, world, added)
    targets = {move.pod: move.target for move in moves}
    wrong = {}
    for pod in world.pods:
        target = targets.get(pod.key, pod.node)
        if target not in gone:
            state.place(pod.key, state.pod_class(pod.spec), target)
        elif pod.moves:
            wrong[pod.key] = "The plan has no place for it."
    specs = {pod.key: pod.spec for pod in world.pods}
    for move in moves:
        judged = state.pod_class(specs[move.pod])
        state.remove(move.pod)
        verdict = state.explain(judged, move.target)
        if verdict.outcome != FITS:
            wrong[move.pod] = _words(verdict)
        state.place(move.pod, judged, move.target)
    return wrong


def _words(verdict: Verdict) -> str:
    failing = [f"{failing.rule} ({failing.detail})" for failing in verdict.failing]
    return f"{'; '.join([*failing, *verdict.unknown])}."


def _place_daemons(state: ClusterState, world: World, added: Sequence[NewNode]) -> None:
    for number, spec in enumerate(world.daemons):
        daemon = state.pod_class(spec)
        mask = state.possible(daemon)
        for one in added:
            if mask >> state.nodes.index[one.name] & 1:
                state.place(f"daemon {number} on {one.name}", daemon, one.name)
