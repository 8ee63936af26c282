# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Pod affinity and anti-affinity, both ways round.

Source: kube-scheduler 1.37, pkg/scheduler/framework/plugins/interpodaffinity (filtering.go).
"""

from __future__ import annotations

from typing import Iterator, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import PodTerm
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility import verdict
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.counting import (
    Census,
    Counter,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.nodes import (
    NO_NODE,
    NodeTable,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.pods import (
    PodClass,
    PodMatcher,
    matcher,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.verdict import (
    Failing,
)

_Namespaces = Mapping[str, Mapping[str, str]]


class AffinityRule:
    """Every domain of its terms must hold a pod that matches all of them at once.

    The first pod of a group that wants to be together matches its own terms, and no placed pod
    does: it may go to any node that has the labels.
    """

    name = verdict.POD_AFFINITY

    def __init__(self, nodes: NodeTable, census: Census, namespaces: _Namespaces) -> None:
        self._nodes = nodes
        self._census = census
        self._namespaces = namespaces
        self._counters: dict[PodClass, tuple[Counter, ...]] = {}

    def passing(self, pod: PodClass) -> int:
        if not pod.spec.affinity:
            return self._nodes.all
        mask = labelled = self._labelled(pod)
        occupied = [counter.occupied for counter in self._of(pod)]
        if not any(occupied):
            return labelled if self._matches_itself(pod) else NO_NODE
        for nodes in occupied:
            mask &= nodes
        return mask

    def failing(self, pod: PodClass, node: int) -> Iterator[Failing]:
        if self.passing(pod) >> node & 1:
            return
        labels = self._nodes.nodes[node].meta.labels
        for term, counter in zip(pod.spec.affinity, self._of(pod)):
            if term.topology_key not in labels:
                detail = f"the node has no label {term.topology_key}"
                yield Failing(verdict.POD_AFFINITY, detail)
            elif not counter.count_at(node):
                detail = (
                    f"no pod that it must be with ({term.selector}) is in {_domain(term, labels)}"
                )
                yield Failing(verdict.POD_AFFINITY, detail)

    def _labelled(self, pod: PodClass) -> int:
        mask = self._nodes.all
        for term in pod.spec.affinity:
            mask &= self._nodes.domains(term.topology_key).labelled
        return mask

    def _of(self, pod: PodClass) -> tuple[Counter, ...]:
        if pod not in self._counters:
            terms = pod.spec.affinity
            matchers = tuple(map(matcher, terms))
            self._counters[pod] = tuple(
                self._census.counter(
                    ("affinity", terms, term.topology_key),
                    matchers,
                    self._nodes.domains(term.topology_key),
                    self._nodes.all,
                )
                for term in terms
            )
        return self._counters[pod]

    def _matches_itself(self, pod: PodClass) -> bool:
        return all(
            matcher(term).matches(pod.spec.namespace, pod.labels, self._namespaces)
            for term in pod.spec.affinity
        )


class AntiAffinityRule:
    """No domain of any of its terms may hold a pod that the term matches."""

    name = verdict.POD_ANTI_AFFINITY

    def __init__(self, nodes: NodeTable, census: Census) -> None:
        self._nodes = nodes
        self._census = census
        self._counters: dict[PodClass, tuple[Counter, ...]] = {}

    def passing(self, pod: PodClass) -> int:
        mask = self._nodes.all
        for counter in self._of(pod):
            mask &= ~counter.occupied
        return mask

    def failing(self, pod: PodClass, node: int) -> Iterator[Failing]:
        labels = self._nodes.nodes[node].meta.labels
        for term, counter in zip(pod.spec.anti_affinity, self._of(pod)):
            if counter.count_at(node):
                where = _domain(term, labels)
                detail = f"a pod that it must not be with ({term.selector}) is in {where}"
                yield Failing(verdict.POD_ANTI_AFFINITY, detail)

    def _of(self, pod: PodClass) -> tuple[Counter, ...]:
        if pod not in self._counters:
            self._counters[pod] = tuple(
                self._census.counter(
                    ("anti-affinity", term),
                    (matcher(term),),
                    self._nodes.domains(term.topology_key),
                    self._nodes.all,
                )
                for term in pod.spec.anti_affinity
            )
        return self._counters[pod]


class _Holders:
    """The placed pods that have one term of anti-affinity."""

    def __init__(self, term: PodTerm, counter: Counter) -> None:
        self.term = term
        self.matcher: PodMatcher = matcher(term)
        self.counter = counter


class AntiAffinityOfOthersRule:
    """No domain may hold a pod whose anti-affinity means this pod.

    Terms are found by the namespaces they are limited to, and each is asked once about a class.
    """

    name = verdict.ANTI_AFFINITY_OF_OTHERS

    def __init__(self, nodes: NodeTable, namespaces: _Namespaces) -> None:
        self._nodes = nodes
        self._namespaces = namespaces
        self._holders: dict[PodTerm, _Holders] = {}
        self._everywhere: list[_Holders] = []
        self._in_namespace: dict[str, list[_Holders]] = {}
        self._against: dict[PodClass, tuple[list[_Holders], int, int]] = {}

    def add(self, pod: PodClass, node: int, amount: int) -> None:
        for term in pod.spec.anti_affinity:
            self._holders_of(term).counter.add(node, amount)

    def passing(self, pod: PodClass) -> int:
        mask = self._nodes.all
        for holders in self._of(pod):
            mask &= ~holders.counter.occupied
        return mask

    def failing(self, pod: PodClass, node: int) -> Iterator[Failing]:
        labels = self._nodes.nodes[node].meta.labels
        for holders in self._of(pod):
            if holders.counter.count_at(node):
                where, selector = _domain(holders.term, labels), holders.term.selector
                detail = f"a pod that must not be with it ({selector}) is in {where}"
                yield Failing(verdict.ANTI_AFFINITY_OF_OTHERS, detail)

    def _holders_of(self, term: PodTerm) -> _Holders:
        found = self._holders.get(term)
        if found is None:
            domains = self._nodes.domains(term.topology_key)
            found = self._holders[term] = _Holders(term, Counter(domains, self._nodes.all))
            names = found.matcher.only_in()
            if names is None:
                self._everywhere.append(found)
            for name in names or ():
                self._in_namespace.setdefault(name, []).append(found)
        return found

    def _of(self, pod: PodClass) -> list[_Holders]:
        """Only terms that came since the last question are asked."""
        known, seen, seen_everywhere = self._against.get(pod, ([], 0, 0))
        near = self._in_namespace.get(pod.spec.namespace, [])
        if seen == len(near) and seen_everywhere == len(self._everywhere):
            return known
        namespace, labels = pod.spec.namespace, pod.labels
        for holders in near[seen:] + self._everywhere[seen_everywhere:]:
            if holders.matcher.matches(namespace, labels, self._namespaces):
                known.append(holders)
        self._against[pod] = (known, len(near), len(self._everywhere))
        return known


def _domain(term: PodTerm, labels: Mapping[str, str]) -> str:
    return f"{term.topology_key}={labels.get(term.topology_key, '')}"
