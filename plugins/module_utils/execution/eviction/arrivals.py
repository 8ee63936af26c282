# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Pods are judged when the call begins, and each that appears on a cordoned node afterwards.

A pod that waits is judged again when what it was judged by changes: its owner and labels, or the
budgets that may cover it.
"""

from __future__ import annotations

from typing import Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.leaver import (
    Hurdle,
    Leaver,
    Stage,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.state import (
    DrainState,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
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
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.fragility import owner_key

# An owner whose pods tolerate the cordon sends each replacement straight back to the node. Without
# an end to it a drain would evict the same workload for ever.
RETURNS = 3


def admit(state: DrainState, verdict: Verdict, now: float) -> Optional[Leaver]:
    """Enters a judged pod: a leaver, or an outcome in the list of what is left alone (None)."""
    pod = verdict.pod
    if verdict.decision == LEAVE:
        _leave(state, verdict)
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
    if _is_early(pod, fleet, state.options.fragile):
        state.early[pod.meta.uid] = pod
        return None
    leaver = admit(state, judge(pod, fleet, consent), now)
    if leaver is not None and not leaver.settled:
        came_back = state.evicted_before[leaver.place] + state.leaving_from(leaver.place)
        if came_back >= RETURNS * max(1, state.began_with[leaver.place]):
            state.fail(leaver, "comes_back", _comes_back(leaver, came_back))
    return leaver


def judge_again(state: DrainState, leaver: Leaver, consent: Consent) -> None:
    """Applies to a waiting pod what it would be judged to be now.

    A refusal holds it, and is no failure yet: a budget may be deleted and made again.
    """
    fleet = state.world.fleet(leaver.pod.meta.namespace)
    verdict = judge(leaver.pod, fleet, consent)
    leaver.owner = owner_key(leaver.pod, fleet)
    leaver.fragile = verdict.fragile
    leaver.refusal = None
    if verdict.decision == REFUSE:
        leaver.refusal = Hurdle(verdict.code, verdict.detail, for_good=True)
    elif verdict.decision == LEAVE:
        state.ledger.release(leaver.uid)
        del state.leavers[leaver.uid]
        _leave(state, verdict)


def _leave(state: DrainState, verdict: Verdict) -> None:
    pod = verdict.pod
    deferred = state.options.fragile == FRAGILE_DEFER and verdict.fragile
    code = "deferred" if deferred else verdict.code
    state.skipped[pod.meta.uid] = Outcome(pod.key, pod.node, state.action, code, verdict.detail)


def _is_early(pod: Pod, fleet: Fleet, fragile: str) -> bool:
    """Two watches race: a pod can be seen before the new owner without which it is misjudged.

    A DaemonSet, always; under a surge the ReplicaSet that the restart has made.
    """
    owner = pod.meta.owner
    if owner is None or owner.uid in fleet.controller_by_uid:
        return False
    return owner.kind == "DaemonSet" or (owner.kind == "ReplicaSet" and fragile == "surge")


def _comes_back(leaver: Leaver, times: int) -> str:
    if not leaver.owner:
        return (
            f"{leaver.pod.key} was made again on {leaver.node} {times} times, by nobody that its"
            " owner reference names. Stop whoever makes it first."
        )
    return (
        f"{leaver.owner} tolerates the cordon and came back to {leaver.node} {times}"
        " times. Remove that toleration, or scale it down first."
    )


def waits_for_rollout(leaver: Leaver, fragile: str) -> bool:
    """Under fragile: surge a fragile pod is not evicted: the rollout of its owner replaces it."""
    return fragile == "surge" and leaver.fragile and leaver.stage is Stage.WAITING
