# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Preflight: what a drain of these nodes would meet, told before it starts. Pure; reads a Fleet.

For every pod two questions are asked with the code that a drain uses itself: may it be touched
(policy.consent), and what would the Eviction API answer now (policy.disruption)? What many pods
share is one finding, about the object whose owner can change it: a budget, a controller, a node.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Iterable, Iterator, Mapping, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling_facts import (
    SchedulingFacts,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.budget_findings import (
    budget_findings,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.findings import (
    ERROR,
    INFO,
    NEVER,
    PASSES,
    WAITS,
    WARNING,
    Finding,
    Findings,
    Forecast,
    in_order,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.capacity import (
    Capacity,
    CapacityModel,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.consent import (
    AWAIT,
    EVICT,
    FRAGILE_SURGE,
    LEAVE,
    REFUSE,
    Consent,
    Verdict,
    judge,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.disruption import (
    Kind,
    Prediction,
    predict_all,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.fragility import (
    owner_key,
    owner_replicas,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.last_node import (
    last_node_reasons,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.reason import Reason
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.webhooks import (
    eviction_webhooks,
)

# A kubelet reports a pod's end a little after its grace period.
PAST_GRACE_SECONDS = 30

# Reasons that do not stop an eviction but hurt; the others are worth knowing.
_HURTS = ("single_replica", "last_ready_replica", "marked_fragile", "unmanaged", "daemonset_gone")


@dataclass(frozen=True)
class PreflightQuestion:
    """batches: sets of nodes that would be drained together; nodes of different batches are judged
    one after the other, each with all others in place.
    webhooks: raw ValidatingWebhookConfigurations; None when they could not be read, and
    webhooks_problem says why. unread: why the fleet has no autoscalers though there may be some, a
    sentence each. now: decides what is past its grace. facts_unread: what of `facts` could not be
    read, a sentence each.
    """

    batches: tuple[tuple[Node, ...], ...]
    now: datetime
    facts: SchedulingFacts
    consent: Consent = field(default_factory=Consent)
    allow_last: bool = False
    webhooks: Optional[Sequence[Mapping[str, Any]]] = ()
    webhooks_problem: str = ""
    unread: tuple[str, ...] = ()
    facts_unread: tuple[str, ...] = ()

    @property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(node for batch in self.batches for node in batch)


@dataclass(frozen=True)
class _Judged:
    """A pod of the chosen nodes, with both answers."""

    pod: Pod
    owner: str
    verdict: Verdict
    prediction: Prediction


def assess(fleet: Fleet, question: PreflightQuestion) -> Findings:
    """Returns all findings and the forecast of every pod on the chosen nodes."""
    judged = _judge_all(fleet, question)
    capacities = _capacities(fleet, question, judged)
    found = [
        *_consent_findings(judged),
        *budget_findings(fleet, {one.pod.meta.uid for one in judged if _moves(one)}),
        *_owner_findings(fleet, question, judged),
        *_node_findings(question, judged),
        *_last_node_findings(fleet, question),
        *_capacity_findings(capacities),
        *_webhook_findings(question),
        *_unread_findings(question),
        *_facts_findings(question),
    ]
    return Findings(
        nodes=tuple(node.name for node in question.nodes),
        findings=in_order(found),
        pods=tuple(_forecast(one) for one in judged),
        capacities=capacities,
    )


def _judge_all(fleet: Fleet, question: PreflightQuestion) -> tuple[_Judged, ...]:
    pods = [pod for node in question.nodes for pod in fleet.pods_on(node.name)]
    return tuple(
        _Judged(pod, owner_key(pod, fleet), judge(pod, fleet, question.consent), prediction)
        for pod, prediction in predict_all(fleet, pods)
    )


def _moves(one: _Judged) -> bool:
    return one.verdict.decision == EVICT


# --- pods ----------------------------------------------------------------------------------

_ANSWERS = {
    Kind.PASSES: PASSES,
    Kind.UNGUARDED: PASSES,
    Kind.WAITS: WAITS,
    Kind.NEVER: NEVER,
}


def _forecast(one: _Judged) -> Forecast:
    code, detail = one.verdict.code, one.verdict.detail
    if _moves(one) and one.prediction.code:
        code = one.prediction.code
        detail = f"{one.prediction.reason} {one.prediction.remedy}".strip()
    return Forecast(
        workload=one.pod.key,
        node=one.pod.node,
        answer=_ANSWERS[one.prediction.kind],
        action=one.verdict.decision,
        code=code,
        detail=detail,
    )


def _consent_findings(judged: Sequence[_Judged]) -> Iterator[Finding]:
    """One finding per reason and owner: a DaemonSet of 500 nodes is one thing to decide."""
    groups: dict[tuple[str, str, str], list[Reason]] = defaultdict(list)
    for one in judged:
        for level, reason in _levels(one.verdict):
            subject = one.owner or f"Pod {one.pod.key}"
            groups[(level, reason.code, subject)].append(reason)
    for (level, code, subject), reasons in groups.items():
        reason, more = reasons[0], len(reasons) - 1
        rest = f" So it is with {more} more of its pods on these nodes." if more else ""
        yield Finding(level, code, subject, reason.sentence + rest, reason.remedy)


def _levels(verdict: Verdict) -> Iterator[tuple[str, Reason]]:
    if verdict.decision == REFUSE:
        yield from ((ERROR, reason) for reason in verdict.decisive)
        yield from ((_level(reason), reason) for reason in verdict.further)
    elif verdict.decision == EVICT:
        yield from (
            (_level(reason), reason) for reason in verdict.reasons if reason.code != "finished"
        )
    elif verdict.decision == LEAVE and verdict.fragile:
        # fragile: defer. The node will not be empty.
        yield from ((WARNING, reason) for reason in verdict.decisive)


def _level(reason: Reason) -> str:
    return WARNING if reason.code in _HURTS else INFO


# --- owners --------------------------------------------------------------------------------


def _owner_findings(
    fleet: Fleet, question: PreflightQuestion, judged: Sequence[_Judged]
) -> Iterator[Finding]:
    """C35. Owners whose Ready replicas are all on nodes that would be drained together."""
    by_node: dict[str, list[_Judged]] = defaultdict(list)
    for one in judged:
        if _unguarded(one):
            by_node[one.pod.node].append(one)
    for batch in question.batches:
        names = {node.name for node in batch}
        owners = {one.owner: one for name in sorted(names) for one in by_node[name]}
        for owner, one in owners.items():
            ready = [pod for pod in owner_replicas(one.pod, fleet) if _serves(pod)]
            if len(ready) > 1 and all(pod.node in names for pod in ready):
                yield Finding(
                    WARNING,
                    "all_ready_replicas",
                    owner,
                    f"All {len(ready)} Ready replicas of {owner} are on {_nodes(names)}, and no"
                    " budget guards them: they leave one by one.",
                    "Spread its replicas and add a PodDisruptionBudget.",
                )


def _unguarded(one: _Judged) -> bool:
    return _moves(one) and _serves(one.pod) and one.prediction.kind is Kind.UNGUARDED


def _serves(pod: Pod) -> bool:
    return pod.ready and not pod.terminating


# --- nodes ---------------------------------------------------------------------------------


def _node_findings(question: PreflightQuestion, judged: Sequence[_Judged]) -> Iterator[Finding]:
    """C22. What cannot go because of its node, or has not gone in time."""
    by_node: dict[str, list[_Judged]] = defaultdict(list)
    for one in judged:
        if one.verdict.decision in (EVICT, AWAIT):
            by_node[one.pod.node].append(one)
    for node in question.nodes:
        going = by_node[node.name]
        if going and not node.is_ready:
            yield _dead(node, len(going))
        for one in going:
            if _late(one.pod, question.now) > PAST_GRACE_SECONDS:
                yield _overdue(one.pod, node, question.now)


def _dead(node: Node, pods: int) -> Finding:
    return Finding(
        WARNING,
        "node_dead",
        f"Node {node.name}",
        f"Node {node.name} is not Ready: nothing confirms that its {pods} pods have stopped, so"
        " they stay terminating.",
        "If the node is dead, make sure that it is off, and state that it is fenced"
        " (fenced: true).",
    )


def _late(pod: Pod, now: datetime) -> int:
    """By how many seconds a pod is past its grace period; 0 or less when it is not."""
    # The API's deletionTimestamp is when the grace period ends, not when it began.
    end = pod.meta.deletion_timestamp
    return 0 if end is None else int((now - end).total_seconds())


def _overdue(pod: Pod, node: Node, now: datetime) -> Finding:
    sentence = f"{pod.key} should have been gone from {node.name} {_late(pod, now)} s ago."
    if node.is_ready:
        return Finding(
            WARNING,
            "terminating_past_grace",
            f"Pod {pod.key}",
            sentence,
            "Look for a finalizer, a volume that does not detach, or a kubelet that hangs.",
        )
    return Finding(
        WARNING,
        "node_dead",
        f"Pod {pod.key}",
        f"{sentence} The node is not Ready.",
        "If the node is dead, state that it is fenced (fenced: true).",
    )


def _last_node_findings(fleet: Fleet, question: PreflightQuestion) -> Iterator[Finding]:
    level = INFO if question.allow_last else ERROR
    for batch in question.batches:
        for reason in last_node_reasons(fleet, batch):
            subject = _nodes(node.name for node in batch)
            yield Finding(level, reason.code, subject, reason.sentence, reason.remedy)


# --- room ----------------------------------------------------------------------------------


def _capacities(
    fleet: Fleet, question: PreflightQuestion, judged: Sequence[_Judged]
) -> tuple[Capacity, ...]:
    model = CapacityModel(fleet, question.facts)
    moving: dict[str, list[Pod]] = defaultdict(list)
    for one in judged:
        # Nothing recreates an unmanaged pod elsewhere, and a finished one needs no room.
        if _moves(one) and one.owner and not one.pod.finished:
            moving[one.pod.node].append(one.pod)
    return tuple(
        model.place(
            [pod for node in batch for pod in moving[node.name]], [node.name for node in batch]
        )
        for batch in question.batches
    )


def _capacity_findings(capacities: Iterable[Capacity]) -> Iterator[Finding]:
    for capacity in capacities:
        if capacity.misfits:
            first, more = capacity.misfits[0], len(capacity.misfits) - 1
            rest = f" {more} more do not fit either." if more else ""
            yield Finding(
                ERROR,
                "no_room",
                f"Pod {first.pod.key}",
                f"{first.sentence}{rest}",
                "Add a node or free some room first; the pod would stay Pending.",
            )
        unknown = [one for one in capacity.placed if one.unknown]
        if unknown:
            others = f" So it is with {len(unknown) - 1} more." if len(unknown) > 1 else ""
            yield Finding(
                INFO,
                "placement_unknown",
                f"Pod {unknown[0].pod.key}",
                f"Whether {unknown[0].pod.key} fits elsewhere is not certain:"
                f" {'; '.join(unknown[0].unknown)}.{others}",
            )
        for entry in capacity.left_out:
            yield Finding(INFO, "node_left_out", f"Node {entry.node}", entry.sentence)


# --- webhooks ------------------------------------------------------------------------------


def _webhook_findings(question: PreflightQuestion) -> Iterator[Finding]:
    if question.webhooks is None:
        yield Finding(
            WARNING,
            "webhooks_unreadable",
            "ValidatingWebhookConfiguration",
            f"The admission webhooks could not be read: {question.webhooks_problem}",
            "Allow list on validatingwebhookconfigurations to see which are asked about evictions.",
        )
        return
    for webhook in eviction_webhooks(question.webhooks):
        subject = f"ValidatingWebhookConfiguration {webhook.configuration}"
        sentence = f"Webhook {webhook.name} is asked about evictions and may refuse them."
        if webhook.is_kubevirts:
            sentence = f"Webhook {webhook.name} is KubeVirt's: it turns the eviction of a launcher"
            sentence += " pod into a migration."
        elif webhook.fails_closed:
            sentence += " While it does not answer, none passes (failurePolicy Fail)."
        yield Finding(INFO, "webhook_on_evictions", subject, sentence)


def _unread_findings(question: PreflightQuestion) -> Iterator[Finding]:
    """Only a surge asks for autoscalers: it must not start a rollout that one of them stops."""
    level = WARNING if question.consent.fragile == FRAGILE_SURGE else INFO
    for problem in question.unread:
        yield Finding(
            level,
            "autoscalers_unreadable",
            "HorizontalPodAutoscaler",
            f"The autoscalers could not be read: {problem}",
            "Allow list on horizontalpodautoscalers to see which owners cannot surge.",
        )


def _facts_findings(question: PreflightQuestion) -> Iterator[Finding]:
    for problem in question.facts_unread:
        yield Finding(
            INFO,
            "scheduling_unreadable",
            "Nodes",
            f"Not all that decides where pods may run could be read: {problem}",
            "Allow list as docs/rbac/doctor.yml does.",
        )


def _nodes(names: Iterable[str]) -> str:
    ordered = sorted(names)
    return f"{'Node' if len(ordered) == 1 else 'Nodes'} {', '.join(ordered)}"
