# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What each budget still allows, between what its last event said and what was posted since.

A PodDisruptionBudget's status is behind: the API server lowers disruptionsAllowed when it admits an
eviction, and the watch tells it a moment later. Without a view of its own a fast drain would post
evictions that are bound to be refused. So every eviction charges its budgets when it is posted, and
the charge ends once an event of the budget lists the pod among its disruptedPods (from there on
the event's own numbers hold it), or the pod is gone, or its eviction was refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Iterable, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.budget import Budget
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import Pod

# After a refusal that no newer event explains, a budget is tried again after 1, 2, 4 ... seconds:
# the status of a budget that the disruption controller has just made or cannot compute may
# stay as it is for long, and a watch that says nothing must not stop a drain for ever.
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0


@dataclass
class Account:
    """One budget: its last event, how many events there were, who is charged, and any pause."""

    budget: Budget
    events: int = 1
    charged: set[str] = field(default_factory=set)
    closed_until: float = 0.0
    pause: float = 0.0

    def free(self, now: float) -> int:
        """How many healthy pods may be posted now; 0 while a refusal pauses it."""
        if now < self.closed_until:
            return 0
        return max(0, self.budget.disruptions_allowed - len(self.charged))


class Ledger:
    """The accounts of all budgets, by "namespace/name"."""

    def __init__(self, budgets: Iterable[Budget] = ()) -> None:
        self._accounts = {budget.key: Account(budget) for budget in budgets}
        # By UID: the name of a pod that was posted, and the accounts that it was charged to.
        self._names: dict[str, str] = {}
        self._charges: dict[str, tuple[str, ...]] = {}

    def observe(self, budget: Budget) -> None:
        """A newer state: it opens the budget, and ends the charges that it already counts."""
        account = self._accounts.get(budget.key)
        if account is None or account.budget.meta.uid != budget.meta.uid:
            self._accounts[budget.key] = Account(budget)
            return
        account.budget = budget
        account.events += 1
        account.closed_until = 0.0
        account.charged -= {
            uid for uid in account.charged if self._names.get(uid) in budget.disrupted_pods
        }

    def known(self, budget: Budget) -> Optional[Budget]:
        """The last state of this very budget that was observed."""
        account = self._accounts.get(budget.key)
        same = account is not None and account.budget.meta.uid == budget.meta.uid
        return account.budget if account is not None and same else None

    def forget(self, budget: Budget) -> None:
        self._accounts.pop(budget.key, None)

    def charge(self, pod: Pod, budgets: tuple[Budget, ...]) -> None:
        """Called as the eviction is posted. A pod that is not Ready costs its budgets nothing."""
        self._names[pod.meta.uid] = pod.meta.name
        if pod.ready:
            self._charges[pod.meta.uid] = tuple(budget.key for budget in budgets)
            for budget in budgets:
                self._accounts[budget.key].charged.add(pod.meta.uid)

    def release(self, uid: str) -> None:
        """The eviction was refused, or its pod is gone."""
        self._names.pop(uid, None)
        for key in self._charges.pop(uid, ()):
            if key in self._accounts:
                self._accounts[key].charged.discard(uid)

    def events_of(self, budgets: tuple[Budget, ...]) -> int:
        """A number that grows with each event of these budgets; taken at each posting."""
        accounts = (self._accounts.get(budget.key) for budget in budgets)
        return sum(account.events for account in accounts if account is not None)

    def refused(self, budgets: tuple[Budget, ...], seen: int, now: float) -> None:
        """A 429 of the budget: closed until its next event, or until the pause is over.

        `seen` is events_of() at the posting: when an event came since, it already tells more than
        the refusal does, and nothing is closed.
        """
        if self.events_of(budgets) != seen:
            return
        for account in (self._accounts.get(budget.key) for budget in budgets):
            if account is not None:
                account.pause = min(LONGEST_PAUSE, max(FIRST_PAUSE, account.pause * 2))
                account.closed_until = now + account.pause

    def accepted(self, budgets: tuple[Budget, ...]) -> None:
        """An eviction passed: the next refusal starts with the shortest pause again."""
        for account in (self._accounts.get(budget.key) for budget in budgets):
            if account is not None:
                account.pause = 0.0

    def views(self, budgets: tuple[Budget, ...], now: float) -> tuple[Budget, ...]:
        """The same budgets with disruptions_allowed as this ledger knows it."""
        return tuple(self._view(budget, now) for budget in budgets)

    def opens_at(self, now: float) -> Optional[float]:
        """When the first pause ends, None when no budget is paused."""
        pauses = [
            account.closed_until
            for account in self._accounts.values()
            if account.closed_until > now
        ]
        return min(pauses) if pauses else None

    def _view(self, budget: Budget, now: float) -> Budget:
        account = self._accounts.get(budget.key)
        if account is None:
            return budget
        return replace(account.budget, disruptions_allowed=account.free(now))
