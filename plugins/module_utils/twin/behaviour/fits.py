# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which nodes a pod fits on: what the scheduler asks; and how much room there is on them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Iterable, Mapping, Protocol

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.quantity import (
    QuantityText,
    parse_resources,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.requests import (
    effective_requests,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import (
    Change,
    Object,
    View,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    finished,
    status_of,
)


@dataclass(frozen=True)
class Fit:
    """nodes: those that pass all rules, by name. reasons: why the others do not, as the scheduler
    words it, with the number of nodes. refusal: what is wrong wherever the pod would go, or ""."""

    nodes: tuple[str, ...]
    reasons: Mapping[str, int] = field(default_factory=dict)
    refusal: str = ""


class Fits(Protocol):
    def hear(self, change: Change) -> None:
        """Is told of every change that the scheduler hears of, before it is asked again."""

    def find(self, pod: Object, view: View) -> Fit: ...


class Room:
    """What the pods of each node ask for, together. Remembers it as long as those pods are the
    same objects, which is a fast look: objects are never changed in place."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[list[Object], Mapping[str, int]]] = {}

    def used(self, node: str, view: View) -> Mapping[str, int]:
        """By resource, with "pods" for their number."""
        pods = list(view.pods_on(node))
        known = self._known.get(node)
        if known is not None and known[0] == pods:
            return known[1]
        total: Counter[str] = Counter()
        for pod in pods:
            if not finished(pod):
                total.update(effective_requests(pod))
                total["pods"] += 1
        self._known[node] = (pods, total)
        return total


def allocatable(node: Object) -> Mapping[str, int]:
    """Read-only: nodes of one type share it."""
    return _parsed(tuple((status_of(node).get("allocatable") or {}).items()))


@lru_cache(maxsize=4096)
def _parsed(quantities: tuple[tuple[str, QuantityText], ...]) -> Mapping[str, int]:
    return MappingProxyType(parse_resources(dict(quantities)))


def short_of(
    asked: Mapping[str, int], there: Mapping[str, int], used: Mapping[str, int]
) -> Iterable[str]:
    """In the scheduler's words, each resource of which too little is left."""
    for name, amount in asked.items():
        if amount > 0 and amount > there.get(name, 0) - used.get(name, 0):
            yield "Too many pods" if name == "pods" else f"Insufficient {name}"
