# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What PodDisruptionBudgets allow: their arithmetic, and what the Eviction API will answer.

Sources, 1.37: pkg/controller/disruption (the arithmetic), pkg/registry/core/pod/storage/eviction.go
(the answer). The API judges by the budget's status, so a prediction does too; whether an eviction
can pass at all is judged by the budget's spec.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Iterable, Iterator, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import (
    ALWAYS_ALLOW,
    Budget,
    IntOrPercent,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.controller import Controller
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod

# With more admitted evictions than this that the controller has not seen yet, the API stops.
MAX_DISRUPTED_PODS = 2000

# Owners whose scale the disruption controller can read; others need a scale subresource.
SCALABLE_KINDS = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")

# Failures of the disruption controller that time does not cure (C11). Others, such as a timeout of
# the API server, pass.
_LASTING_SYNC_FAILURES = (
    "does not implement the scale subresource",
    "found no controllers for pod",
    "no matches for kind",
)


# --- arithmetic ----------------------------------------------------------------------------


def of_total(value: IntOrPercent, total: int) -> int:
    """Returns an integer as it is, and a percentage ("30%") of `total`, rounded up (C09).

    Raises ValueError for a text that is not a percentage.
    """
    if isinstance(value, int):
        return value
    percent = value[:-1]
    if not (value.endswith("%") and percent.isascii() and percent.isdigit()):
        raise ValueError(f"neither an integer nor a percentage: {value!r}")
    return -(-int(percent) * total // 100)


def desired_healthy(
    min_available: Optional[IntOrPercent], max_unavailable: Optional[IntOrPercent], expected: int
) -> int:
    """Returns how many of `expected` pods must stay healthy.

    The API lets one of the two be set; maxUnavailable would win.
    """
    if max_unavailable is not None:
        return max(0, expected - of_total(max_unavailable, expected))
    return 0 if min_available is None else of_total(min_available, expected)


def allowed(
    min_available: Optional[IntOrPercent],
    max_unavailable: Optional[IntOrPercent],
    expected: int,
    healthy: int,
) -> int:
    """Returns disruptionsAllowed; 0 for a budget that expects no pods, whatever it says."""
    if expected <= 0:
        return 0
    return max(0, healthy - desired_healthy(min_available, max_unavailable, expected))


def counts_scale(budget: Budget) -> bool:
    """Is `expected` the scale of the owners? An integer minAvailable counts the pods there are."""
    return budget.max_unavailable is not None or isinstance(budget.min_available, str)


def expected_pods(
    budget: Budget, pods: Sequence[Pod], controllers: Mapping[str, Controller]
) -> Optional[int]:
    """Returns what the budget's expectedPods becomes, with these selected pods, of any phase.

    controllers: by UID. None when it rests on the scale of an owner that has none or is not among
    them: the budget's status knows then.
    """
    return wanted_pods(pods, controllers) if counts_scale(budget) else len(pods)


def wanted_pods(pods: Iterable[Pod], controllers: Mapping[str, Controller]) -> Optional[int]:
    """Returns the sum of the scales of the controllers of these pods; unmanaged pods add nothing.

    None when a scale is not known here: another kind of owner, or one without a scale.
    """
    scales: dict[str, int] = {}
    for pod in pods:
        if pod.meta.owner is None:
            continue
        controller = _top(pod.meta.owner.uid, controllers)
        if controller is None or controller.kind not in SCALABLE_KINDS:
            return None
        scales[controller.meta.uid] = controller.replicas
    return sum(scales.values())


def attainable_pods(pods: Iterable[Pod], controllers: Mapping[str, Controller]) -> int:
    """Returns how many of these pods there will be, all healthy, once nothing is going on.

    That is what their controllers want; pods without a controller that is known here count
    themselves, unless they are finished.
    """
    scales: dict[str, int] = {}
    others = 0
    for pod in pods:
        controller = None if pod.meta.owner is None else _top(pod.meta.owner.uid, controllers)
        if controller is not None:
            scales[controller.meta.uid] = controller.replicas
        elif not pod.finished:
            others += 1
    return sum(scales.values()) + others


def _top(uid: str, controllers: Mapping[str, Controller]) -> Optional[Controller]:
    """The Deployment above a ReplicaSet; a ReplicaSet of any other owner counts by itself."""
    found = controllers.get(uid)
    if found is None or found.kind != "ReplicaSet" or found.meta.owner is None:
        return found
    return controllers.get(found.meta.owner.uid, found)


def is_healthy(budget: Budget, pod: Pod) -> bool:
    """As the disruption controller counts: Ready, and neither leaving nor admitted to leave."""
    return pod.ready and not pod.terminating and pod.meta.name not in budget.disrupted_pods


@dataclass(frozen=True)
class UnhealthyPod:
    """`node` is empty for a pod that no node has yet; `why` fits in brackets behind its name."""

    pod: str
    node: str
    why: str

    def __str__(self) -> str:
        return (
            f"{self.pod} on {self.node} ({self.why})" if self.node else f"{self.pod} ({self.why})"
        )


def unhealthy_pods(budget: Budget, pods: Iterable[Pod]) -> tuple[UnhealthyPod, ...]:
    """Returns the selected pods that keep the budget low, by key.

    Finished pods are left out: nobody waits for them to become healthy.
    """
    found = [
        UnhealthyPod(pod.key, pod.node, _why_unhealthy(budget, pod))
        for pod in pods
        if budget.selects(pod.meta.namespace, pod.meta.labels)
        and not pod.finished
        and not is_healthy(budget, pod)
    ]
    return tuple(sorted(found, key=lambda one: one.pod))


def _why_unhealthy(budget: Budget, pod: Pod) -> str:
    if pod.terminating:
        return "terminating"
    if pod.meta.name in budget.disrupted_pods:
        return "its eviction was admitted"
    return pod.waiting or ("not Ready" if pod.phase == "Running" else pod.phase or "not started")


# --- prediction ----------------------------------------------------------------------------


class Kind(Enum):
    """What the Eviction API will answer. WAITS may pass later; NEVER needs a change of something
    else than time."""

    PASSES = "passes"
    WAITS = "waits"
    NEVER = "never"
    UNGUARDED = "unguarded"


@dataclass(frozen=True)
class Prediction:
    """`budgets` are the keys of the budgets that guard the pod; `code` is one of model.codes, ""
    for PASSES and UNGUARDED; `reason` and `remedy` are sentences, `remedy` only with a code."""

    kind: Kind
    budgets: tuple[str, ...]
    code: str
    reason: str
    remedy: str = ""


def predict_all(fleet: Fleet, pods: Iterable[Pod]) -> Iterator[tuple[Pod, Prediction]]:
    """Predicts each of these pods of a fleet, with all that the fleet knows of their owners."""
    attainable: dict[str, Optional[int]] = {}
    for pod in pods:
        budgets = fleet.budgets_for(pod)
        for budget in budgets:
            if budget.key not in attainable:
                attainable[budget.key] = _attainable_in(fleet, budget)
        only = attainable[budgets[0].key] if len(budgets) == 1 else None
        yield pod, predict(pod, budgets, only)


def _attainable_in(fleet: Fleet, budget: Budget) -> Optional[int]:
    """None where the budget's own status is enough to say what it can ever allow."""
    if counts_scale(budget) or budget.disruptions_allowed > 0:
        return None
    selected = [pod for pod in fleet.pods if budget.selects(pod.meta.namespace, pod.meta.labels)]
    return attainable_pods(selected, fleet.controller_by_uid)


def unguarded(pod: Pod) -> bool:
    """Budgets do not count against the eviction of a pod that has ended, ends or has not begun."""
    return pod.finished or pod.terminating or pod.phase == "Pending"


def passes_unhealthy(pod: Pod, budget: Budget) -> bool:
    """C10. A pod that is not Ready passes, and is not charged: by the budget's policy, or where
    the healthy ones suffice without it."""
    if pod.ready:
        return False
    if budget.unhealthy_pod_eviction_policy == ALWAYS_ALLOW:
        return True
    return budget.current_healthy >= budget.desired_healthy > 0


def predict(pod: Pod, budgets: Iterable[Budget], attainable: Optional[int] = None) -> Prediction:
    """Returns what the Eviction API will answer for this pod, by the rules in its order.

    budgets: those that do not select the pod are ignored. attainable: attainable_pods of what the
    budget selects, when known. It matters for an integer minAvailable, whose expectedPods counts
    the pods that there happen to be: it tells a budget that can never spare a pod from one whose
    pods are missing for now.
    """
    if unguarded(pod):
        state = "terminating" if pod.terminating else pod.phase
        return Prediction(Kind.UNGUARDED, (), "", f"Budgets do not guard a pod that is {state}.")
    guards = [one for one in budgets if one.selects(pod.meta.namespace, pod.meta.labels)]
    if not guards:
        return Prediction(Kind.UNGUARDED, (), "", "No budget selects the pod.")
    if len(guards) > 1:
        return _several(guards)
    budget = guards[0]
    return _passes_now(pod, budget) or _never(pod, budget, attainable) or _waits(pod, budget)


def _several(guards: Sequence[Budget]) -> Prediction:
    """C07: the API answers 500, however much each of them allows."""
    keys = tuple(sorted(budget.key for budget in guards))
    return Prediction(
        Kind.NEVER,
        keys,
        "several_budgets",
        f"{len(keys)} budgets select the pod ({', '.join(keys)}); the Eviction API refuses that.",
        "Change the selectors so that one budget selects the pod.",
    )


def _passes_now(pod: Pod, budget: Budget) -> Optional[Prediction]:
    reason = ""
    if passes_unhealthy(pod, budget):
        always = budget.unhealthy_pod_eviction_policy == ALWAYS_ALLOW
        why = f"says {ALWAYS_ALLOW}" if always else "has its healthy pods without it"
        reason = f"The pod is not Ready and budget {budget.key} {why}."
    elif not _held_back(budget) and budget.disruptions_allowed > 0:
        reason = f"Budget {budget.key} allows {budget.disruptions_allowed} now."
    return Prediction(Kind.PASSES, (budget.key,), "", reason) if reason else None


def _held_back(budget: Budget) -> bool:
    return budget.stale or len(budget.disrupted_pods) > MAX_DISRUPTED_PODS


# --- refusals for good ---------------------------------------------------------------------


def _never(pod: Pod, budget: Budget, attainable: Optional[int]) -> Optional[Prediction]:
    # A budget that cannot be worked out stays stale for ever when it never could be: the API then
    # says that it is still being processed. So this comes before any look at staleness.
    if any(text in budget.sync_failure for text in _LASTING_SYNC_FAILURES):
        return _without_scale(budget, budget.sync_failure)
    if _expects_nothing(pod, budget):
        return _without_scale(budget, "its owners count for no pods, so it expects none")
    if _leaves_none(budget, attainable):
        return _allows_none(budget, _total(budget, attainable))
    return None


def _expects_nothing(pod: Pod, budget: Budget) -> bool:
    """C11: a scale of zero, though the pod is there. An owner of the built-in kinds that is scaled
    to zero is about to delete the pod by itself; for others there is no scale to be read."""
    if budget.stale or budget.expected_pods > 0 or not counts_scale(budget):
        return False
    return pod.meta.owner is None or pod.meta.owner.kind not in SCALABLE_KINDS


def _leaves_none(budget: Budget, attainable: Optional[int]) -> bool:
    """C08: even with all its pods healthy, no disruption would be left."""
    total = _total(budget, attainable)
    if total == 0 and not counts_scale(budget):
        return False
    # With no number to go by, any number shows what holds for all of them: maxUnavailable 0,
    # minAvailable 100%.
    total = total or 100
    return desired_healthy(budget.min_available, budget.max_unavailable, total) >= total


def _total(budget: Budget, attainable: Optional[int]) -> int:
    if counts_scale(budget) or attainable is None:
        return budget.expected_pods
    return attainable


def _without_scale(budget: Budget, why: str) -> Prediction:
    return Prediction(
        Kind.NEVER,
        (budget.key,),
        "budget_without_scale",
        f"Budget {budget.key} always refuses: {why}.",
        "Give it an integer minAvailable, which counts pods and needs no scale.",
    )


def _allows_none(budget: Budget, total: int) -> Prediction:
    rule = _rule(budget)
    if budget.max_unavailable is not None:
        remedy = "Raise maxUnavailable to 1 or more, or to a percentage."
    else:
        remedy = "Lower minAvailable, or run more replicas than it asks for."
    of_pods = f" of {total} pods" if total else ""
    return Prediction(
        Kind.NEVER,
        (budget.key,),
        "budget_allows_none",
        f"Budget {budget.key} can never allow an eviction: {rule}{of_pods} spares none.",
        remedy,
    )


def _rule(budget: Budget) -> str:
    if budget.max_unavailable is not None:
        return f"maxUnavailable {budget.max_unavailable}"
    return f"minAvailable {budget.min_available}"


# --- refusals for now ----------------------------------------------------------------------


def _waits(pod: Pod, budget: Budget) -> Prediction:
    code, reason, remedy = _hold(pod, budget)
    return Prediction(Kind.WAITS, (budget.key,), code, f"Budget {budget.key} {reason}.", remedy)


def _hold(pod: Pod, budget: Budget) -> tuple[str, str, str]:
    counts = f"needs {budget.desired_healthy} healthy pods and has {budget.current_healthy}"
    if budget.sync_failure:
        return (
            "budget_sync_failed",
            f"could not be worked out: {budget.sync_failure}",
            "Wait for the next try of the disruption controller; if it lasts, look at its message.",
        )
    if budget.stale:
        return (
            "budget_stale",
            "was changed and the disruption controller has not seen it yet",
            "Wait; if it lasts, see whether kube-controller-manager runs.",
        )
    if len(budget.disrupted_pods) > MAX_DISRUPTED_PODS:
        return (
            "budget_unconfirmed",
            f"has {len(budget.disrupted_pods)} admitted evictions that were not confirmed yet",
            "Wait; the disruption controller drops each after two minutes.",
        )
    if not pod.ready:
        return (
            "budget_exhausted",
            f"{counts}, and keeps a pod that is not Ready until it has them",
            f"Cure its pods, or set its unhealthyPodEvictionPolicy to {ALWAYS_ALLOW}.",
        )
    if budget.expected_pods <= 0:
        return (
            "budget_exhausted",
            "expects no pods yet, or none any more",
            "Wait; the disruption controller counts anew when the pods or their owner change.",
        )
    return "budget_exhausted", counts, "Wait until more of its pods are Ready."
