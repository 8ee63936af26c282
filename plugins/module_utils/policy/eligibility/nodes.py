# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Nodes as bits: node i of the sorted names is bit i of every mask of this package."""

from __future__ import annotations

from typing import Callable, Iterable, Iterator, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node, Taint
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node_terms import (
    NAME_FIELD,
    NodeRequirement,
    NodeTerm,
)

NO_NODE = 0


class Domains:
    """The nodes by their value of one topology key."""

    def __init__(self, key: str, values: list[Optional[str]]) -> None:
        self.key = key
        self.of = values
        grouped: dict[str, list[int]] = {}
        for index, value in enumerate(values):
            if value is not None:
                grouped.setdefault(value, []).append(index)
        self.masks = {value: mask_of(those, len(values)) for value, those in grouped.items()}
        self.labelled = union(self.masks.values())


class NodeTable:
    """The fixed side of the nodes: names, labels, taints. Masks are made once for each question."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes = tuple(sorted(nodes, key=lambda node: node.name))
        self.index = {node.name: index for index, node in enumerate(self.nodes)}
        self.all = (1 << len(self.nodes)) - 1
        self.unschedulable = self.where(lambda node: node.unschedulable)
        self._domains: dict[str, Domains] = {}
        self.tainted = self._by_taint()

    def __len__(self) -> int:
        return len(self.nodes)

    def where(self, holds: Callable[[Node], bool]) -> int:
        chosen = [index for index, node in enumerate(self.nodes) if holds(node)]
        return mask_of(chosen, len(self.nodes))

    def named(self, name: str) -> int:
        index = self.index.get(name)
        return NO_NODE if index is None else 1 << index

    def domains(self, key: str) -> Domains:
        found = self._domains.get(key)
        if found is None:
            found = Domains(key, [node.meta.labels.get(key) for node in self.nodes])
            self._domains[key] = found
        return found

    def labelled(self, labels: Iterable[tuple[str, str]]) -> int:
        """The nodes that carry all these labels."""
        mask = self.all
        for key, value in labels:
            mask &= self.domains(key).masks.get(value, NO_NODE)
        return mask

    def matching(self, term: NodeTerm, by_name: bool = True) -> int:
        """The nodes that one term selects; a volume's term does not look at fields (by_name)."""
        if term.empty:
            return NO_NODE
        mask = self.all
        for requirement in term.expressions:
            mask &= self._holding(requirement)
        for requirement in term.fields if by_name else ():
            mask &= self._named_as(requirement)
        return mask

    def matching_any(self, terms: Iterable[NodeTerm], by_name: bool = True) -> int:
        return union(self.matching(term, by_name) for term in terms)

    def _holding(self, requirement: NodeRequirement) -> int:
        domains = self.domains(requirement.key)
        mask = union(m for value, m in domains.masks.items() if requirement.holds(value))
        return mask | (self.all & ~domains.labelled if requirement.holds(None) else NO_NODE)

    def _named_as(self, requirement: NodeRequirement) -> int:
        if requirement.key != NAME_FIELD:
            return NO_NODE
        named = union(map(self.named, requirement.values))
        return named if requirement.operator == "In" else self.all & ~named

    def _by_taint(self) -> Mapping[Taint, int]:
        """Only the taints that keep pods off: PreferNoSchedule is advice."""
        grouped: dict[Taint, list[int]] = {}
        for index, node in enumerate(self.nodes):
            for taint in dict.fromkeys(node.taints):
                if taint.effect in ("NoSchedule", "NoExecute"):
                    grouped.setdefault(taint, []).append(index)
        ordered = sorted(grouped, key=lambda taint: (taint.key, taint.value, taint.effect))
        return {taint: mask_of(grouped[taint], len(self.nodes)) for taint in ordered}


def mask_of(indexes: Iterable[int], size: int) -> int:
    """Returns the mask of these nodes in O(size): a chain of ors would copy it for each."""
    digits = bytearray(b"0" * (size or 1))
    for index in indexes:
        digits[-1 - index] = 49
    return int(digits, 2)


def union(masks: Iterable[int]) -> int:
    result = NO_NODE
    for mask in masks:
        result |= mask
    return result


def bits(mask: int) -> Iterator[int]:
    """The indexes of the nodes in a mask, in ascending order."""
    text = bin(mask)[:1:-1]
    index = text.find("1")
    while index >= 0:
        yield index
        index = text.find("1", index + 1)
