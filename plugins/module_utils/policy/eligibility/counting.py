# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How many pods of a kind each topology domain holds, kept up to date as pods come and go.

Cost: placing a pod is O(counters that count it), whatever the number of nodes; a mask is
O(distinct counts).
"""

from __future__ import annotations

from typing import Hashable, Iterable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.nodes import (
    NO_NODE,
    Domains,
    union,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.pods import (
    Group,
    PodMatcher,
)


class Counter:
    """Counts by the domains of one topology key.

    included: the nodes whose pods count, and whose domains exist even while they are empty.
    by_count: number of pods to the nodes of the domains that hold so many.
    """

    def __init__(self, domains: Domains, included: int) -> None:
        self._domains = domains
        self._included = included
        self._count = {value: 0 for value, mask in domains.masks.items() if mask & included}
        self.by_count: dict[int, int] = {}
        existing = union(domains.masks[value] for value in self._count)
        if existing:
            self.by_count[0] = existing

    def add(self, node: int, amount: int) -> None:
        value = self._domains.of[node]
        if value is None or not self._included >> node & 1:
            return
        before = self._count[value]
        self._count[value] = before + amount
        mask = self._domains.masks[value]
        left = self.by_count[before] & ~mask
        if left:
            self.by_count[before] = left
        else:
            del self.by_count[before]
        self.by_count[before + amount] = self.by_count.get(before + amount, NO_NODE) | mask

    @property
    def number_of_domains(self) -> int:
        return len(self._count)

    @property
    def least(self) -> int:
        """The smallest count of a domain, 0 when there is none."""
        return min(self.by_count, default=0)

    @property
    def occupied(self) -> int:
        """The nodes of domains with at least one pod."""
        return union(mask for count, mask in self.by_count.items() if count > 0)

    def count_at(self, node: int) -> int:
        value = self._domains.of[node]
        return 0 if value is None else self._count.get(value, 0)


class _Watch:
    """A counter and whom it counts."""

    def __init__(self, counter: Counter, matchers: tuple[PodMatcher, ...], alive: bool) -> None:
        self.counter = counter
        self.matchers = matchers
        self.alive_only = alive

    def only_in(self) -> Optional[frozenset[str]]:
        """The namespaces that all its matchers allow, None when they do not limit them."""
        limits = [one.only_in() for one in self.matchers]
        limited = [limit for limit in limits if limit is not None]
        return frozenset.intersection(*limited) if limited else None


class Census:
    """The placed pods by group, and every counter over them."""

    def __init__(self, namespaces: Mapping[str, Mapping[str, str]]) -> None:
        self._namespaces = namespaces
        self._groups: dict[tuple[str, Hashable, bool], Group] = {}
        self._in_namespace: dict[str, list[Group]] = {}
        self._watches: dict[Hashable, _Watch] = {}
        self._watching: dict[Optional[str], list[_Watch]] = {}
        self._counters_of: dict[Group, list[Counter]] = {}

    def group(self, namespace: str, labels: Mapping[str, str], key: Hashable, alive: bool) -> Group:
        """The group of these labels, whose sorted pairs are `key`."""
        identity = (namespace, key, alive)
        found = self._groups.get(identity)
        if found is None:
            found = self._groups[identity] = Group(namespace, labels, alive)
            self._in_namespace.setdefault(namespace, []).append(found)
            watches = self._watching.get(namespace, []) + self._watching.get(None, [])
            self._counters_of[found] = [w.counter for w in watches if self._counts(w, found)]
        return found

    def add(self, group: Group, node: int, amount: int) -> None:
        group.on[node] = group.on.get(node, 0) + amount
        for counter in self._counters_of[group]:
            counter.add(node, amount)

    def counter(
        self,
        key: Hashable,
        matchers: tuple[PodMatcher, ...],
        domains: Domains,
        included: int,
        alive_only: bool = False,
    ) -> Counter:
        """The counter of the pods that all `matchers` mean; `key` tells it from all others."""
        watch = self._watches.get(key)
        if watch is None:
            watch = _Watch(Counter(domains, included), matchers, alive_only)
            self._watches[key] = watch
            self._start(watch)
        return watch.counter

    def forget(self, key: Hashable) -> None:
        """Ends the counter of this key, which nobody asks any more."""
        watch = self._watches.pop(key)
        names = watch.only_in()
        for name in [None] if names is None else names:
            self._watching[name].remove(watch)
        for group in self._groups_in(names):
            if watch.counter in self._counters_of[group]:
                self._counters_of[group].remove(watch.counter)

    def _start(self, watch: _Watch) -> None:
        names = watch.only_in()
        for name in [None] if names is None else names:
            self._watching.setdefault(name, []).append(watch)
        for group in self._groups_in(names):
            if self._counts(watch, group):
                self._counters_of[group].append(watch.counter)
                for node, number in group.on.items():
                    watch.counter.add(node, number)

    def _groups_in(self, names: Optional[frozenset[str]]) -> Iterable[Group]:
        if names is None:
            return list(self._groups.values())
        return [group for name in names for group in self._in_namespace.get(name, ())]

    def _counts(self, watch: _Watch, group: Group) -> bool:
        if watch.alive_only and not group.alive:
            return False
        return all(
            one.matches(group.namespace, group.labels, self._namespaces) for one in watch.matchers
        )
