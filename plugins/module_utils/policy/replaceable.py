# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which nodes a rebalancing may take away: what keeps a node, and the setting that lets it go.

A node stays for its own sake (its mark, its part in the control plane) or for one of its pods: one
that nobody brings back, whose data or work is lost, that asks to be left alone, that its budgets
never let go, or whose absence hurts. Source: docs/guides/plan.md, the settings of aggressive mode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Iterator, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node_terms import NodeTerm
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.document import Refusal
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.plan.settings import (
    AggressiveModeConfig,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.volumes import Storage
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.consent import (
    EVICT,
    FRAGILE_DEFER,
    REFUSE,
    Consent,
    judge,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.disruption import (
    Kind,
    Prediction,
    predict_all,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.fragility import (
    fragile_reasons,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.reason import Reason

REMOVAL_DISABLED = "autoscaling.cast.ai/removal-disabled"
NODE_MARKS = (
    "karpenter.sh/do-not-disrupt",
    "cluster-autoscaler.kubernetes.io/scale-down-disabled",
    REMOVAL_DISABLED,
)
HOSTNAME = "kubernetes.io/hostname"

# What makes a pod fragile and is enough to keep its node: a pod that only lacks a budget moves, one
# at a time.
_KEEPING = ("single_replica", "ordered_stateful_set", "last_ready_replica")


@dataclass(frozen=True)
class Scope:
    """settings: of the plan. fragile: defer keeps the nodes of fragile pods, evict and surge do
    not. prefix: of our annotations; our own marks on a node are no marks."""

    settings: AggressiveModeConfig
    fragile: str = FRAGILE_DEFER
    prefix: str = "fleet.evenkeel.dev/"


def refusals(fleet: Fleet, storage: Storage, scope: Scope) -> tuple[Refusal, ...]:
    """Returns what keeps nodes, by node and object; a node without any may be replaced."""
    predictions = {pod.meta.uid: prediction for pod, prediction in predict_all(fleet, fleet.pods)}
    found: list[Refusal] = []
    for node in fleet.nodes:
        found += _of_node(node, scope)
        for pod in fleet.pods_on(node.name):
            found += _of_pod(pod, fleet, storage, predictions[pod.meta.uid], scope)
    return tuple(found)


def _of_node(node: Node, scope: Scope) -> Iterator[Refusal]:
    if node.is_control_plane:
        sentence = f"Node {node.name} is of the control plane, which no price decides about."
        yield Refusal(node.name, f"Node {node.name}", "control_plane_node", sentence)
    marks = [key for key in NODE_MARKS if _set(node, key) and not _ours(node, key, scope.prefix)]
    if marks and not scope.settings.ignore_problem_removal_disabled_nodes:
        yield Refusal(
            node.name,
            f"Node {node.name}",
            "marked_node",
            f"Node {node.name} asks to be kept ({', '.join(marks)}).",
            "ignore_problem_removal_disabled_nodes",
        )


def _set(node: Node, key: str) -> bool:
    return "true" in (node.meta.annotations.get(key), node.meta.labels.get(key))


def _ours(node: Node, key: str, prefix: str) -> bool:
    """Set by a maintenance of ours, which takes it away again."""
    return f"{prefix}maintenance" in node.meta.annotations and key not in node.meta.labels


def _of_pod(
    pod: Pod, fleet: Fleet, storage: Storage, prediction: Prediction, scope: Scope
) -> Iterator[Refusal]:
    verdict = judge(pod, fleet, _LEAVING)
    if pod.finished or pod.terminating or verdict.decision not in (EVICT, REFUSE):
        return
    problems = (
        _machine(verdict.reasons),
        _unmanaged(verdict.reasons, scope.settings),
        _of_job(pod, scope.settings),
        _local(pod, storage, scope.settings),
        _marked(pod, fleet, scope),
        _blocked(prediction, scope.settings),
        _fragile(pod, fleet, scope),
    )
    for problem in problems:
        if problem is not None:
            reason, setting = problem
            yield Refusal(pod.node, f"Pod {pod.key}", reason.code, str(reason), setting)


# DaemonSet and mirror pods go with their node; all else must leave it.
_LEAVING = Consent(ignore_daemonsets=True, delete_emptydir_data=True)
_Problem = Optional[tuple[Reason, str]]


def _machine(reasons: Iterable[Reason]) -> _Problem:
    found = next((one for one in reasons if one.code in ("machine_pod", "hotplug_pod")), None)
    return None if found is None else (found, "")


def _unmanaged(reasons: Iterable[Reason], settings: AggressiveModeConfig) -> _Problem:
    found = next((one for one in reasons if one.code in ("unmanaged", "daemonset_gone")), None)
    if found is None or settings.ignore_problem_pods_without_controller:
        return None
    return Reason(found.code, found.sentence), "ignore_problem_pods_without_controller"


def _of_job(pod: Pod, settings: AggressiveModeConfig) -> _Problem:
    if not _is_of_a_job(pod) or settings.ignore_problem_job_pods:
        return None
    sentence = f"{pod.key} is of a Job: the work that it has done is lost."
    return Reason("job_pod", sentence), "ignore_problem_job_pods"


def _is_of_a_job(pod: Pod) -> bool:
    return pod.meta.owner is not None and pod.meta.owner.kind == "Job"


def _local(pod: Pod, storage: Storage, settings: AggressiveModeConfig) -> _Problem:
    """A volume that only this node can reach."""
    if settings.ignore_local_persistent_volumes:
        return None
    for claim in pod.claims:
        found = storage.claims.get(f"{pod.meta.namespace}/{claim}")
        volume = storage.volumes.get(found.volume) if found is not None else None
        if volume is not None and _is_bound_to_a_node(volume.node_affinity):
            sentence = f"{pod.key} keeps its data on the node itself (volume {volume.name})."
            return Reason("local_volume", sentence), "ignore_local_persistent_volumes"
    return None


def _is_bound_to_a_node(terms: Optional[Sequence[NodeTerm]]) -> bool:
    return any(one.key == HOSTNAME for term in terms or () for one in term.expressions)


def _marked(pod: Pod, fleet: Fleet, scope: Scope) -> _Problem:
    if scope.settings.ignore_problem_removal_disabled_pods:
        return None
    setting = "ignore_problem_removal_disabled_pods"
    if pod.meta.annotations.get(REMOVAL_DISABLED) == "true":
        sentence = f'{pod.key} asks not to be disturbed ({REMOVAL_DISABLED}: "true").'
        return Reason("marked_fragile", sentence), setting
    for reason in fragile_reasons(pod, fleet, scope.prefix):
        if reason.code == "marked_fragile":
            return Reason(reason.code, reason.sentence), setting
    return None


def _blocked(prediction: Prediction, settings: AggressiveModeConfig) -> _Problem:
    """Never, as things stand; a budget that is used up for now is waited for."""
    if prediction.kind is not Kind.NEVER or settings.ignore_blocking_pdb:
        return None
    return (
        Reason(prediction.code, prediction.reason, prediction.remedy),
        "ignore_blocking_pdb",
    )


def _fragile(pod: Pod, fleet: Fleet, scope: Scope) -> _Problem:
    if scope.fragile != FRAGILE_DEFER or _is_of_a_job(pod):
        return None
    for reason in fragile_reasons(pod, fleet, scope.prefix):
        if reason.code in _KEEPING:
            return Reason(reason.code, reason.sentence), "fragile"
    return None


def kept_by(found: Iterable[Refusal]) -> Mapping[str, tuple[Refusal, ...]]:
    """Returns the refusals by node."""
    by_node: dict[str, list[Refusal]] = {}
    for refusal in found:
        by_node.setdefault(refusal.node, []).append(refusal)
    return {node: tuple(some) for node, some in by_node.items()}
