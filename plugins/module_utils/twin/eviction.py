# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""POST pods/NAME/eviction: the answer of the real API, from the budgets' status.

Source: pkg/registry/core/pod/storage/eviction.go, 1.37. An admitted eviction is charged to the
budget's status before the pod is deleted, so that two at once cannot both pass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Callable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import (
    Budget,
    parse_budget,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod, parse_pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import (
    format_instant,
    instant_at,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.disruption import (
    MAX_DISRUPTED_PODS,
    passes_unhealthy,
    unguarded,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin import answers
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Key, Object
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.kinds import Kind
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.lifecycle import (
    DeleteOptions,
    Lifecycle,
    meets_preconditions,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.store import Store

_BUDGETS = "poddisruptionbudgets.policy"
# Seconds that the API asks a client to wait for a budget that was not worked out yet.
_STALE_SECONDS = 10
# What a full or a negative budget is refused with: the message's end, and the cause's.
_NEGATIVE = ("pdb disruptions allowed is negative", "pdb disruptions allowed is negative")
_TOO_MANY = (
    "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
    "too many pending evictions not confirmed by PDB controller",
)


@dataclass(frozen=True)
class Evictions:
    store: Store
    lifecycle: Lifecycle
    pods: Kind
    budgets: Kind
    now: Callable[[], float]

    def evict(self, key: Key, options: DeleteOptions) -> None:
        """Raises Refusal: 404, 409 for another UID, 429 or 403 by a budget, 500 for several."""
        with self.store.lock:
            raw = self.store.get(key)
            if raw is None:
                raise answers.not_found(self.pods, key.name)
            pod = parse_pod(raw)
            if not unguarded(pod):
                self._pass_budget(pod, options)
            if not options.dry_run:
                options = self._announced(key, options)
            # Only here is the UID looked at, by the real one too: an eviction of another pod of
            # the same name is refused, and has been charged to the budget.
            self.lifecycle.delete(self.pods, key, options)

    def _announced(self, key: Key, options: DeleteOptions) -> DeleteOptions:
        """The pod's condition says who ends it, unless the deletion is going to be refused. Returns
        the options for the pod as it is then."""
        found = self.store.get(key)
        if found is None or not meets_preconditions(found, options):
            return options
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting",
            "lastProbeTime": None,
            "lastTransitionTime": format_instant(instant_at(self.now())),
        }
        status = dict(found.get("status") or {})
        conditions = list(status.get("conditions") or ())
        others = [one for one in conditions if one.get("type") != condition["type"]]
        if len(others) < len(conditions):
            return options
        status["conditions"] = [*others, condition]
        stored = self.store.put("pods", {**found, "status": status})
        if not options.resource_version:
            return options
        return replace(options, resource_version=stored["metadata"]["resourceVersion"])

    def _pass_budget(self, pod: Pod, options: DeleteOptions) -> None:
        found = [
            (raw, budget)
            for raw in self.store.objects(_BUDGETS, pod.meta.namespace)
            for budget in (parse_budget(raw),)
            if budget.selects(pod.meta.namespace, pod.meta.labels)
        ]
        if len(found) > 1:
            raise _several()
        for raw, budget in found:
            if passes_unhealthy(pod, budget):
                continue
            _check(budget)
            if not options.dry_run:
                self._charge(raw, pod.meta.name)

    def _charge(self, raw: Object, pod: str) -> None:
        key = Key(_BUDGETS, raw["metadata"]["namespace"], raw["metadata"]["name"])
        moment = format_instant(instant_at(self.now()))

        def charged(found: Object) -> Mapping[str, Any]:
            status = dict(found["status"])
            left = int(status["disruptionsAllowed"]) - 1
            status["disruptionsAllowed"] = left
            if left == 0:
                status["conditions"] = [_insufficient(one, moment) for one in status["conditions"]]
            status["disruptedPods"] = {**(status.get("disruptedPods") or {}), pod: moment}
            return {**found, "status": status}

        self.lifecycle.update(self.budgets, key, charged, subresource="status")


def _insufficient(condition: Mapping[str, Any], moment: str) -> Mapping[str, Any]:
    if condition.get("type") != "DisruptionAllowed" or condition.get("status") == "False":
        return condition
    changed = {"status": "False", "reason": "InsufficientPods", "lastTransitionTime": moment}
    return {**condition, **changed}


def _check(budget: Budget) -> None:
    name = budget.meta.name
    if budget.stale:
        text = f"The disruption budget {name} is still being processed by the server."
        raise _refusal(429, "TooManyRequests", text, _STALE_SECONDS)
    if budget.disruptions_allowed < 0:
        raise _forbidden(name, *_NEGATIVE)
    if len(budget.disrupted_pods) > MAX_DISRUPTED_PODS:
        raise _forbidden(name, *_TOO_MANY)
    if budget.disruptions_allowed == 0:
        raise _refusal(429, "TooManyRequests", _exhausted(budget), None)


def _exhausted(budget: Budget) -> str:
    name = budget.meta.name
    if budget.sync_failure:
        return (
            f"The disruption budget {name} does not allow evicting pods currently because it failed"
            f" sync: {budget.sync_failure}"
        )
    if budget.current_healthy <= budget.desired_healthy:
        return (
            f"The disruption budget {name} needs {budget.desired_healthy} healthy pods and has"
            f" {budget.current_healthy} currently"
        )
    # An eviction took the last one a moment ago, and the controller has not counted since.
    return f"The disruption budget {name} does not allow evicting pods currently"


def _forbidden(name: str, why: str, cause: str) -> answers.Refusal:
    subject = f'poddisruptionbudget.policy "{name}"'
    text = f"The disruption budget {name} does not allow evicting pods currently: {cause}"
    details = {
        "name": name,
        "group": "policy",
        "kind": "poddisruptionbudget",
        "causes": [{"reason": "DisruptionBudget", "message": text}],
    }
    message = f"{subject} is forbidden: {why}"
    return answers.Refusal(answers.status(403, "Forbidden", message, details))


def _refusal(code: int, reason: str, text: str, retry_after: Optional[int]) -> answers.Refusal:
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    details: dict[str, Any] = {"causes": [{"reason": "DisruptionBudget", "message": text}]}
    headers: tuple[tuple[str, str], ...] = ()
    if retry_after is not None:
        details["retryAfterSeconds"] = retry_after
        headers = (("Retry-After", str(retry_after)),)
    return answers.Refusal(answers.status(code, reason, message, details), headers)


def _several() -> answers.Refusal:
    """C07."""
    text = (
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not"
        " support."
    )
    return answers.Refusal(answers.status(500, "", text))
