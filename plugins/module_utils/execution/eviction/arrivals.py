# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Pods are judged when the call begins, and each that appears on a cordoned node afterwards."""

from __future__ import annotations

from typing import Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.leaver import (
    Leaver,
    Stage,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.state import (
    DrainState,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.report import Outcome
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.consent import (
    AWAIT,
    FRAGILE_DEFER,
    LEAVE,
    REFUSE,
    Consent,
    Verdict,
    judge,
)

# An owner whose pods tolerate the cordon sends each replacement straight back to the node. Without
# an end to it a drain would evict the same workload for ever.
RETURNS = 3


def admit(state: DrainState, verdict: Verdict, now: float) -> Optional[Leaver]:
    """Enters a judged pod: a leaver, or an outcome in the list of what is left alone (None)."""
    pod = verdict.pod
    if verdict.decision == LEAVE:
        deferred = state.options.fragile == FRAGILE_DEFER and verdict.fragile
        code = "deferred" if deferred else verdict.code
        state.skipped[pod.meta.uid] = Outcome(pod.key, pod.node, state.action, code, verdict.detail)
        return None
    leaver = Leaver(pod, fragile=verdict.fragile, waiting_since=now)
    state.add(leaver)
    if verdict.decision == AWAIT or state.targets[pod.node].fenced:
        leaver.leave(now)
    elif verdict.decision == REFUSE:
        state.fail(leaver, verdict.code, verdict.detail)
    return leaver


def arrive(state: DrainState, pod: Pod, consent: Consent, now: float) -> Optional[Leaver]:
    """Judges a pod that the watch shows on a target node and that was not there before.

    On a node that is not cordoned nothing new joins: its pods may come back as fast as they leave.
    """
    target = state.targets.get(pod.node)
    if target is None or target.gone or not target.cordoned:
        return None
    fleet = state.world.fleet(pod.meta.namespace)
    leaver = admit(state, judge(pod, fleet, consent), now)
    if leaver is not None and not leaver.settled:
        place = (pod.node, leaver.owner)
        came_back = state.evicted_before[place]
        if leaver.owner and came_back >= RETURNS * max(1, state.began_with[place]):
            state.fail(
                leaver,
                "comes_back",
                f"{leaver.owner} tolerates the cordon and came back to {pod.node} {came_back} "
                "times. Remove that toleration, or scale it down first.",
            )
    return leaver


def waits_for_rollout(leaver: Leaver, fragile: str) -> bool:
    """Under fragile: surge a fragile pod is not evicted: the rollout of its owner replaces it."""
    return fragile == "surge" and leaver.fragile and leaver.stage is Stage.WAITING
