# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which budgets of a namespace select which of its pods, without matching labels twice.

Both questions are asked of all that waits, at each decision: 100 pods under 100 budgets are 10,000
matches. So a pod's budgets are remembered until a budget comes, goes or selects others, and a
budget's pods are kept as they come, change and go.
"""

from __future__ import annotations

from typing import Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import Budget
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod

# The labels that were matched, and the UIDs of the budgets that select them, by the budgets' keys.
_Guards = tuple[Mapping[str, str], tuple[str, ...]]


class Coverage:
    """pods, budgets: all of one namespace, by UID. They are their owner's to change, who tells."""

    def __init__(self, pods: Mapping[str, Pod], budgets: Mapping[str, Budget]) -> None:
        self._pods = pods
        self._budgets = budgets
        self._guards: dict[str, _Guards] = {}
        self._selected: dict[str, dict[str, Pod]] = {}

    def budgets_of(self, pod: Pod) -> tuple[Budget, ...]:
        """By key. The pod may be one that is not known here."""
        labels = pod.meta.labels
        known = self._guards.get(pod.meta.uid)
        if known is None or known[0] != labels:
            found = [one for one in self._budgets.values() if _selects(one, pod)]
            found.sort(key=lambda budget: budget.key)
            known = labels, tuple(budget.meta.uid for budget in found)
            self._guards[pod.meta.uid] = known
        return tuple(self._budgets[uid] for uid in known[1])

    def pods_of(self, budget: Budget) -> tuple[Pod, ...]:
        """The newest state of the pods that this budget selects."""
        known = self._selected.get(budget.meta.uid)
        if known is None:
            known = {uid: pod for uid, pod in self._pods.items() if _selects(budget, pod)}
            self._selected[budget.meta.uid] = known
        return tuple(known.values())

    def pod_changed(self, before: Optional[Pod], now: Optional[Pod]) -> None:
        """None: it was not there, or is not any more."""
        if now is None:
            self._forget(before)
            return
        same = before is not None and before.meta.labels == now.meta.labels
        for budget, selected in self._selected.items():
            if selected.get(now.meta.uid) if same else _selects(self._budgets[budget], now):
                selected[now.meta.uid] = now
            else:
                selected.pop(now.meta.uid, None)

    def budget_changed(self, before: Optional[Budget], now: Optional[Budget]) -> None:
        """None: it was not there, or is not any more."""
        if before is not None and now is not None and before.selector == now.selector:
            return
        self._guards.clear()
        if before is not None:
            self._selected.pop(before.meta.uid, None)

    def _forget(self, pod: Optional[Pod]) -> None:
        if pod is None:
            return
        self._guards.pop(pod.meta.uid, None)
        for selected in self._selected.values():
            selected.pop(pod.meta.uid, None)


def _selects(budget: Budget, pod: Pod) -> bool:
    return budget.selects(pod.meta.namespace, pod.meta.labels)
