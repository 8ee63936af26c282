# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a preflight finds about PodDisruptionBudgets: C07, C08, C10, C11, and the idle ones."""

from __future__ import annotations

from collections import defaultdict
from typing import Collection, Iterator, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import Budget
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.fleet import Fleet
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.findings import (
    ERROR,
    INFO,
    WARNING,
    Finding,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.disruption import (
    Kind,
    Prediction,
    predict_all,
    unhealthy_pods,
)

# So many names are told in a sentence; the rest is a number.
NAMED = 5


def budget_findings(fleet: Fleet, moving: Collection[str]) -> Iterator[Finding]:
    """`moving` holds the UIDs of the pods that a drain would evict: what blocks one of them is an
    error, what would block only others is worth knowing."""
    yield from _idle(fleet, {pod.meta.namespace for pod in fleet.pods if pod.meta.uid in moving})
    groups: dict[Prediction, list[Pod]] = defaultdict(list)
    for pod, prediction in predict_all(fleet, fleet.pods):
        if prediction.code:
            groups[prediction].append(pod)
    for prediction, pods in groups.items():
        concerned = [pod for pod in pods if pod.meta.uid in moving]
        if prediction.kind is Kind.NEVER:
            yield _blocked(prediction, concerned or pods, ERROR if concerned else INFO)
        elif concerned:
            yield _exhausted(prediction, concerned, fleet)


def _idle(fleet: Fleet, concerned: Collection[str]) -> Iterator[Finding]:
    """A budget over no pod shows 0 allowed and looks like one that blocks; it blocks nothing.

    concerned: the namespaces from which pods would be evicted. There it may be a misspelled label,
    and those pods are without the guard that somebody meant for them.
    """
    guarding = {budget.key for pod in fleet.pods for budget in fleet.budgets_for(pod)}
    for budget in fleet.budgets:
        if budget.key in guarding:
            continue
        level = WARNING if budget.meta.namespace in concerned else INFO
        yield Finding(
            level,
            "budget_selects_nothing",
            _subject((budget.key,)),
            f"Budget {budget.key} selects no pod ({_selector(budget)}): it guards nothing, and"
            " blocks nothing.",
            "Correct its selector, or delete it.",
        )


def _selector(budget: Budget) -> str:
    if budget.selector is None:
        return "it has no selector"
    return str(budget.selector) or "every pod of an empty namespace"


def _blocked(prediction: Prediction, pods: list[Pod], level: str) -> Finding:
    return Finding(
        level,
        prediction.code,
        _subject(prediction.budgets),
        f"{prediction.reason} It concerns {_named(pods)}.",
        prediction.remedy,
    )


def _exhausted(prediction: Prediction, pods: list[Pod], fleet: Fleet) -> Finding:
    sick = [
        str(one)
        for key in prediction.budgets
        for budget in [_budget(key, fleet)]
        if budget is not None
        for one in unhealthy_pods(budget, fleet.pods)
    ]
    why = f" Not healthy: {_listed(sick)}." if sick else ""
    return Finding(
        WARNING,
        prediction.code,
        _subject(prediction.budgets),
        f"{prediction.reason} {_named(pods)} would wait.{why}",
        prediction.remedy,
    )


def _budget(key: str, fleet: Fleet) -> Optional[Budget]:
    return next((budget for budget in fleet.budgets if budget.key == key), None)


def _subject(keys: tuple[str, ...]) -> str:
    return f"{'PodDisruptionBudget' if len(keys) == 1 else 'PodDisruptionBudgets'} " + ", ".join(
        keys
    )


def _named(pods: list[Pod]) -> str:
    return _listed([f"{pod.key} on {pod.node}" if pod.node else pod.key for pod in pods])


def _listed(names: list[str]) -> str:
    more = len(names) - NAMED
    text = ", ".join(names[:NAMED])
    return f"{text} and {more} more" if more > 0 else text
