# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Topology spread constraints with DoNotSchedule.

A node passes when (pods in its domain) + (1 if the pod counts itself) - (pods of the emptiest
domain) is at most maxSkew. With fewer domains than minDomains the emptiest counts as 0.
Source: kube-scheduler 1.37, pkg/scheduler/framework/plugins/podtopologyspread (filtering.go).
"""

from __future__ import annotations

from typing import Hashable, Iterator, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    HONOR,
    SchedulingSpec,
    SpreadConstraint,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    LabelSelector,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility import verdict
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.counting import (
    Census,
    Counter,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.nodes import (
    NO_NODE,
    NodeTable,
    union,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.pods import (
    PodClass,
    PodMatcher,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.static import (
    StaticRules,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.verdict import (
    Failing,
)


class SpreadRule:
    """Terminating pods are not counted, and only pods of the pod's own namespace are.

    Where taints count, a node that is closed for a while needs counters of its own for that while.
    """

    name = verdict.TOPOLOGY_SPREAD

    def __init__(self, nodes: NodeTable, census: Census, static: StaticRules) -> None:
        self._nodes = nodes
        self._census = census
        self._static = static
        self._counters: dict[PodClass, tuple[Counter, ...]] = {}
        self._while_closed: dict[PodClass, tuple[Counter, ...]] = {}
        self._passing_keys: set[Hashable] = set()

    def passing(self, pod: PodClass) -> int:
        mask = self._nodes.all
        for constraint, counter in zip(pod.spec.spread, self._of(pod)):
            mask &= self._within_skew(pod, constraint, counter)
        return mask

    def failing(self, pod: PodClass, node: int) -> Iterator[Failing]:
        labels = self._nodes.nodes[node].meta.labels
        for constraint, counter in zip(pod.spec.spread, self._of(pod)):
            key = constraint.topology_key
            if key not in labels:
                yield Failing(verdict.TOPOLOGY_SPREAD, f"the node has no label {key}")
            elif not self._within_skew(pod, constraint, counter) >> node & 1:
                detail = (
                    f"{key}={labels[key]} holds {counter.count_at(node)} of its kind, the emptiest"
                    f" {_least(constraint, counter)}; maxSkew is {constraint.max_skew}"
                )
                yield Failing(verdict.TOPOLOGY_SPREAD, detail)

    def _within_skew(self, pod: PodClass, constraint: SpreadConstraint, counter: Counter) -> int:
        limit = constraint.max_skew + _least(constraint, counter) - _self_match(pod, constraint)
        allowed = union(mask for count, mask in counter.by_count.items() if count <= limit)
        labelled = self._nodes.domains(constraint.topology_key).labelled
        # A domain of which no node is eligible is not counted: it holds 0.
        uncounted = labelled & ~union(counter.by_count.values())
        return allowed | (uncounted if limit >= 0 else 0)

    def reopened(self) -> None:
        """What was counted for closed nodes is over."""
        for key in self._passing_keys:
            self._census.forget(key)
        self._passing_keys.clear()
        self._while_closed.clear()

    def _of(self, pod: PodClass) -> tuple[Counter, ...]:
        special = self._static.closed and any(_minds_taints(one) for one in pod.spec.spread)
        known = self._while_closed if special else self._counters
        if pod not in known:
            labelled = self._nodes.all
            for constraint in pod.spec.spread:
                labelled &= self._nodes.domains(constraint.topology_key).labelled
            known[pod] = tuple(
                self._counter(pod.spec, constraint, labelled) for constraint in pod.spec.spread
            )
        return known[pod]

    def _counter(
        self, spec: SchedulingSpec, constraint: SpreadConstraint, labelled: int
    ) -> Counter:
        included = labelled
        if constraint.node_affinity_policy == HONOR:
            included &= self._static.selected(spec)
        closed = NO_NODE
        if _minds_taints(constraint):
            included &= self._static.tolerating(spec)
            closed = self._static.closed
        selector, key = constraint.selector, constraint.topology_key
        identity = ("spread", spec.namespace, selector, key, included, closed)
        if closed:
            self._passing_keys.add(identity)
        return self._census.counter(
            identity,
            (PodMatcher(_counted(selector), (spec.namespace,)),),
            self._nodes.domains(key),
            included,
            alive_only=True,
        )


def _minds_taints(constraint: SpreadConstraint) -> bool:
    return constraint.node_taints_policy == HONOR


def _counted(selector: Optional[LabelSelector]) -> Optional[LabelSelector]:
    """The scheduler counts nothing for a selector that selects everything."""
    return None if selector is None or selector.empty else selector


def _self_match(pod: PodClass, constraint: SpreadConstraint) -> int:
    return int(constraint.selector is not None and constraint.selector.matches(pod.labels))


def _least(constraint: SpreadConstraint, counter: Counter) -> int:
    return counter.least if counter.number_of_domains >= constraint.min_domains else 0
