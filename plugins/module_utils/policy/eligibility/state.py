# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The state of a cluster while moves are planned, and the question that planners ask of it: which
nodes may this pod run on?

The rules are kube-scheduler's filters (1.37, its default plugins and feature gates). Each gives the
nodes that pass as a mask; a pod may go where all agree. `explain` asks the same rules about one
node and lists all that fail. Preemption and scores are not looked at.

Cost: `place` and `remove` are O(what the pod asks for); `eligible` is a handful of operations on
masks of as many bits as there are nodes, once the masks of its class are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Mapping, Optional, Protocol

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    SchedulingSpec,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.volumes import Storage
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.binding import (
    VolumeRule,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.counting import (
    Census,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.disks import (
    AttachRule,
    OnePodRule,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.neighbours import (
    AffinityRule,
    AntiAffinityOfOthersRule,
    AntiAffinityRule,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.nodes import (
    NO_NODE,
    NodeTable,
    bits,
    union,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.pods import (
    Group,
    PodClass,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.room import (
    PortRule,
    ResourceRule,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.spread import (
    SpreadRule,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.static import (
    StaticRules,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.eligibility.verdict import (
    Failing,
    Verdict,
)


class Rule(Protocol):
    """passing: the nodes that the rule does not keep the pod off. failing: why one node fails."""

    @property
    def name(self) -> str: ...

    def passing(self, pod: PodClass) -> int: ...

    def failing(self, pod: PodClass, node: int) -> Iterable[Failing]: ...


class CountingRule(Protocol):
    """A rule that follows what is placed; amount is 1 or -1."""

    def add(self, pod: PodClass, node: int, amount: int) -> None: ...


@dataclass(frozen=True)
class _Placed:
    pod: PodClass
    group: Group
    node: int


class ClusterState:
    """Nodes with the pods that are placed on them.

    namespaces: name to labels, for terms with a namespaceSelector.
    """

    def __init__(
        self,
        nodes: Iterable[Node],
        namespaces: Optional[Mapping[str, Mapping[str, str]]] = None,
        storage: Optional[Storage] = None,
    ) -> None:
        table = self.nodes = NodeTable(nodes)
        namespaces, storage = namespaces or {}, storage or Storage()
        self._journal: list[int] = []
        self._census = Census(namespaces)
        self._classes: dict[SchedulingSpec, PodClass] = {}
        self._placed: dict[str, _Placed] = {}
        self._static = StaticRules(table)
        self.room = ResourceRule(table, self._journal)
        ports = PortRule(table, self._journal)
        others = AntiAffinityOfOthersRule(table, namespaces)
        attach, one_pod = AttachRule(table, storage, self._journal), OnePodRule(table, storage)
        self._volumes = VolumeRule(table, storage)
        self._counting: tuple[CountingRule, ...] = (self.room, ports, others, attach, one_pod)
        self._spread = SpreadRule(table, self._census, self._static)
        self._rules: tuple[Rule, ...] = (
            self.room, ports, one_pod, attach, self._volumes, self._spread,
            AffinityRule(table, self._census, namespaces),
            AntiAffinityRule(table, self._census),
            others,
        )  # fmt: skip

    def pod_class(self, spec: SchedulingSpec) -> PodClass:
        """The class of the pods that have this spec."""
        found = self._classes.get(spec)
        if found is None:
            found = self._classes[spec] = PodClass(spec)
        return found

    def place(self, key: str, pod: PodClass, node: str, terminating: bool = False) -> None:
        """Puts a pod, known by any `key` of its own, on a node, whether it fits or not.

        Pods that have finished take nothing: leave them out. Raises KeyError for a node that is not
        there, ValueError for a key that is placed already.
        """
        if key in self._placed:
            raise ValueError(f"{key} is placed already")
        index = self.nodes.index[node]
        spec = pod.spec
        group = self._census.group(spec.namespace, pod.labels, spec.labels, not terminating)
        self._placed[key] = _Placed(pod, group, index)
        self._count(self._placed[key], 1)

    def remove(self, key: str) -> None:
        """Takes a placed pod off its node. Raises KeyError when it is not placed."""
        self._count(self._placed.pop(key), -1)

    def close(self, names: Iterable[str]) -> None:
        """Cordons these nodes until `reopen`, as a drain does; another call replaces the first.

        Their pods stay placed, and pods that tolerate a cordon still fit.
        """
        self.reopen()
        self._static.close(union(self.nodes.named(name) for name in names))

    def reopen(self) -> None:
        """Takes back what `close` did."""
        self._static.close(NO_NODE)
        self._spread.reopened()

    def eligible(self, pod: PodClass) -> int:
        """The nodes of which it is certain that the pod fits, as a mask (see NodeTable)."""
        return NO_NODE if self.unknown(pod) else self.possible(pod)

    def possible(self, pod: PodClass) -> int:
        """The nodes that no rule keeps the pod off, be the verdict fits or unknown."""
        mask = self._static.passing(pod)
        for rule in self._rules:
            if not mask:
                break
            mask &= rule.passing(pod)
        return mask

    def by_rule(self, pod: PodClass) -> tuple[tuple[str, int], ...]:
        """Each rule with the nodes that it does not keep the pod off, in the rules' order."""
        rest = ((rule.name, rule.passing(pod)) for rule in self._rules)
        return (*self._static.by_rule(pod), *rest)

    def names(self, mask: int) -> list[str]:
        """The names of the nodes in a mask, sorted."""
        return [self.nodes.nodes[index].name for index in bits(mask)]

    def unknown(self, pod: PodClass) -> tuple[str, ...]:
        """Why no node can be said to fit; empty when all that the pod asks for is modelled."""
        return (*pod.spec.unmodelled, *self._volumes.unknown(pod))

    def explain(self, pod: PodClass, node: str) -> Verdict:
        """The verdict on one node, with every rule that fails. Raises KeyError for no such node."""
        index = self.nodes.index[node]
        failing = [*self._static.failing(pod, index)]
        failing += [one for rule in self._rules for one in rule.failing(pod, index)]
        return Verdict(tuple(failing), self.unknown(pod))

    def _count(self, placed: _Placed, amount: int) -> None:
        for rule in self._counting:
            rule.add(placed.pod, placed.node, amount)
        self._census.add(placed.group, placed.node, amount)
        self._journal.append(placed.node)
