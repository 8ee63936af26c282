# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Pods whose eviction hurts more than it shows, and when one more of an owner may go.

A drain that asks only the Eviction API takes down whatever no budget guards. These rules see to it
that such pods leave one at a time per owner, and never faster than their replacements come up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Collection, Iterable, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.controller import Controller
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.duration import parse_duration
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.reason import Reason

AUTOSCALER_MARK = "cluster-autoscaler.kubernetes.io/safe-to-evict"
KARPENTER_MARK = "karpenter.sh/do-not-disrupt"
OWN_MARK = "fragile"

FRAGILE_CODES = (
    "single_replica",
    "no_budget",
    "ordered_stateful_set",
    "last_ready_replica",
    "marked_fragile",
)


@dataclass(frozen=True)
class OwnerState:
    """What `may_leave` needs to know of one owner, cheap enough to be made anew on every event.

    owner: "Deployment shop/web". wanted: replicas to come back to before the next pod goes; 0 for
    an owner that does not replace pods one for one (a Job).
    ordered: an OrderedReady StatefulSet.
    baseline_ready: Ready replicas when the drain began.
    ready_now: Ready, not terminating and not in leaving_now.
    leaving_now: pods that this drain has asked to go and that are not gone yet.
    """

    owner: str
    wanted: int
    ordered: bool
    baseline_ready: int
    ready_now: int
    leaving_now: int


@dataclass(frozen=True)
class Hold:
    """Why a pod must wait for its turn; the drain asks again whenever the owner's pods change."""

    code: str
    sentence: str


def fragile_reasons(pod: Pod, fleet: Fleet, prefix: str) -> tuple[Reason, ...]:
    """Returns every reason for which this pod is fragile; `prefix` is Run.prefix."""
    controller = fleet.controller_of(pod)
    owner = owner_key(pod, fleet)
    found = (
        _single_replica(pod, owner, controller, fleet),
        _no_budget(pod, fleet),
        _ordered(owner, controller),
        _last_ready(pod, owner, controller, fleet),
        _marked(pod, prefix),
    )
    return tuple(reason for reason in found if reason is not None)


def owner_key(pod: Pod, fleet: Fleet) -> str:
    """Returns whom `one at a time` counts by: "Deployment shop/web"; "" for an unmanaged pod."""
    controller = fleet.controller_of(pod)
    if controller is not None:
        return controller.key
    owner = pod.meta.owner
    return "" if owner is None else f"{owner.kind} {pod.meta.namespace}/{owner.name}"


def owner_replicas(pod: Pod, fleet: Fleet) -> tuple[Pod, ...]:
    """Returns all pods of this pod's owner, this one included."""
    controller = fleet.controller_of(pod)
    if controller is not None:
        return fleet.replicas_of(controller)
    return fleet.siblings_of(pod)


def count_ready(pods: Iterable[Pod], leaving: Collection[str] = ()) -> int:
    """Returns how many are Ready and stay: neither terminating nor among these UIDs."""
    return sum(
        1 for pod in pods if pod.ready and not pod.terminating and pod.meta.uid not in leaving
    )


def owner_state(
    owner: str,
    controller: Optional[Controller],
    baseline_ready: int,
    pods: Collection[Pod],
    leaving: Collection[str],
) -> OwnerState:
    """Returns the owner's state from its current pods and the UIDs that this drain asked to go.

    An owner of unknown kind is taken to want what was Ready at the start.
    """
    return OwnerState(
        owner=owner,
        wanted=_wanted(owner, controller, baseline_ready),
        ordered=controller is not None and controller.ordered,
        baseline_ready=baseline_ready,
        ready_now=count_ready(pods, leaving),
        leaving_now=sum(1 for pod in pods if pod.meta.uid in leaving),
    )


def may_leave(pod: Pod, state: OwnerState) -> Optional[Hold]:
    """Returns why this fragile pod must wait, or None when it may go now.

    A pod that is not Ready takes nothing away from its owner: only the pods that are on their way,
    and the order of a StatefulSet, hold it.
    """
    if state.leaving_now > 0:
        return Hold("one_at_a_time", f"{state.owner}: another of its pods is still leaving")
    if state.ordered:
        return _ordinal_hold(pod, state)
    if not pod.ready:
        return None
    if state.wanted > 1 and state.ready_now <= 1:
        return Hold(
            "last_ready_replica",
            f"{state.owner}: {pod.key} is its last Ready replica; waits until another is Ready",
        )
    return _replicas_hold(state)


def _wanted(owner: str, controller: Optional[Controller], baseline_ready: int) -> int:
    if controller is not None:
        return controller.replicas
    # A Job's pods finish by themselves: its number of Ready pods need not come back.
    return 0 if owner.startswith("Job ") else baseline_ready


def _ordinal_hold(pod: Pod, state: OwnerState) -> Optional[Hold]:
    # C34: with OrderedReady an ordinal is replaced only while all before it are Ready, so a second
    # one taken early may never come back. The one that is not Ready itself may move.
    others_ready = state.ready_now - (1 if pod.ready else 0)
    if others_ready >= state.wanted - 1:
        return None
    return Hold(
        "ordinal_not_ready",
        f"{state.owner}: {state.ready_now} of {state.wanted} ordinals are Ready;"
        " waits until all are",
    )


def _replicas_hold(state: OwnerState) -> Optional[Hold]:
    target = min(state.baseline_ready, state.wanted)
    if state.ready_now >= target:
        return None
    return Hold(
        "replicas_missing",
        f"{state.owner}: {state.ready_now} of {target} replicas are Ready;"
        f" waits for {target - state.ready_now} more",
    )


def _single_replica(
    pod: Pod, owner: str, controller: Optional[Controller], fleet: Fleet
) -> Optional[Reason]:
    if controller is None:
        alone = bool(owner) and len(fleet.siblings_of(pod)) == 1
    else:
        alone = controller.replicas <= 1
    if not alone:
        return None
    return Reason(
        "single_replica",
        f"{owner} has one replica: it is down from the eviction of {pod.key} until the"
        " replacement is Ready.",
        "Give it a second replica, or accept the gap with fragile: evict.",
    )


def _no_budget(pod: Pod, fleet: Fleet) -> Optional[Reason]:
    if fleet.budgets_for(pod):
        return None
    return Reason(
        "no_budget",
        f"No PodDisruptionBudget covers {pod.key}: the Eviction API would let all of its kind go"
        " at once.",
        "Add a PodDisruptionBudget, or accept one at a time with fragile: evict.",
    )


def _ordered(owner: str, controller: Optional[Controller]) -> Optional[Reason]:
    if controller is None or not controller.ordered:
        return None
    return Reason(
        "ordered_stateful_set",
        f"{owner} starts its pods in order (OrderedReady): an ordinal comes back only while all"
        " before it are Ready.",
        "Accept one at a time, each waiting until all ordinals are Ready, with fragile: evict.",
    )


def _last_ready(
    pod: Pod, owner: str, controller: Optional[Controller], fleet: Fleet
) -> Optional[Reason]:
    # C35. An owner of one replica is `single_replica`: waiting for another would never end.
    if controller is None or controller.replicas <= 1 or not pod.ready:
        return None
    others = (other for other in fleet.replicas_of(controller) if other is not pod)
    if any(other.ready and not other.terminating for other in others):
        return None
    return Reason(
        "last_ready_replica",
        f"{pod.key} is the last Ready replica of {owner}, which wants {controller.replicas}.",
        "Find out why the others are not Ready; it waits until one is.",
    )


def _marked(pod: Pod, prefix: str) -> Optional[Reason]:
    marks = (
        (AUTOSCALER_MARK, pod.meta.annotations.get(AUTOSCALER_MARK) == "false"),
        (KARPENTER_MARK, _protects(pod.meta.annotations.get(KARPENTER_MARK, ""))),
        (prefix + OWN_MARK, pod.meta.annotations.get(prefix + OWN_MARK) == "true"),
    )
    keys = [key for key, set_to_protect in marks if set_to_protect]
    if not keys:
        return None
    said = ", ".join(f'{key}: "{pod.meta.annotations[key]}"' for key in keys)
    return Reason(
        "marked_fragile",
        f"{pod.key} asks not to be disturbed ({said}).",
        "Ask its owner for a moment that suits, or accept it with fragile: evict.",
    )


def _protects(value: str) -> bool:
    """Karpenter reads "true", or for how long since the pod's start; the start is not looked at."""
    if value == "true":
        return True
    try:
        return parse_duration(value) > 0
    except ValueError:
        return False
