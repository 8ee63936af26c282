# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which pods must not share a node, and of which a node takes only so many.

Stricter than the scheduler: a namespaceSelector is taken to select every namespace, and a spread by
hostname allows as many pods as its skew, as if another node had none.
"""

from __future__ import annotations

from typing import Iterator, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.scheduling import (
    PodTerm,
    SchedulingSpec,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import LabelSelector

HOSTNAME = "kubernetes.io/hostname"


def limits(specs: Sequence[SchedulingSpec]) -> list[Optional[int]]:
    """By spec, how many pods of it one node takes at most; None is as many as fit."""
    return [min(_own_limits(spec), default=None) for spec in specs]


def avoiding(specs: Sequence[SchedulingSpec]) -> list[int]:
    """By spec, a mask of the other specs whose pods must not be on a node with its own."""
    masks = [0] * len(specs)
    for i, spec in enumerate(specs):
        if not (spec.anti_affinity or spec.spread or spec.host_ports):
            continue
        for j, other in enumerate(specs):
            if i != j and _avoids(spec, other):
                masks[i] |= 1 << j
                masks[j] |= 1 << i
    return masks


def _own_limits(spec: SchedulingSpec) -> Iterator[int]:
    if spec.host_ports or any(_means(term, spec) for term in _by_hostname(spec)):
        yield 1
    for constraint in spec.spread:
        if constraint.topology_key == HOSTNAME and _selects(constraint.selector, spec):
            yield constraint.max_skew


def _avoids(spec: SchedulingSpec, other: SchedulingSpec) -> bool:
    if any(mine.conflicts(its) for mine in spec.host_ports for its in other.host_ports):
        return True
    if any(_means(term, other) for term in _by_hostname(spec)):
        return True
    return spec.namespace == other.namespace and any(
        constraint.topology_key == HOSTNAME
        and _selects(constraint.selector, spec)
        and _selects(constraint.selector, other)
        for constraint in spec.spread
    )


def _by_hostname(spec: SchedulingSpec) -> list[PodTerm]:
    return [term for term in spec.anti_affinity if term.topology_key == HOSTNAME]


def _means(term: PodTerm, spec: SchedulingSpec) -> bool:
    in_scope = spec.namespace in term.namespaces or term.namespace_selector is not None
    return in_scope and _selects(term.selector, spec)


def _selects(selector: Optional[LabelSelector], spec: SchedulingSpec) -> bool:
    return selector is not None and selector.matches(dict(spec.labels))
