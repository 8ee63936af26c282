# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Node selector terms: what the required node affinity of a pod and of a volume is made of.

Source: k8s.io/component-helpers/scheduling/corev1/nodeaffinity, 1.37.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Optional

NAME_FIELD = "metadata.name"

_INTEGER = re.compile(r"[+-]?[0-9]+")
_MAX_INT = 2**63 - 1


@dataclass(frozen=True)
class NodeRequirement:
    """One condition on one label (or field); `operator` is the API's: In, NotIn, Exists,
    DoesNotExist, Gt, Lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def holds(self, value: Optional[str]) -> bool:
        """`value` is the label's, None where the label is absent: then only the negative
        operators hold."""
        if self.operator == "NotIn":
            return value not in self.values
        if self.operator == "DoesNotExist":
            return value is None
        if value is None:
            return False
        if self.operator == "In":
            return value in self.values
        return self.operator == "Exists" or self._compares(value)

    def _compares(self, value: str) -> bool:
        number, limit = parse_int64(value), parse_int64(self.values[0] if self.values else "")
        if number is None or limit is None:
            return False
        return number > limit if self.operator == "Gt" else number < limit

    def __str__(self) -> str:
        return (
            f"{self.key} {self.operator} ({', '.join(self.values)})"
            if self.values
            else (f"{self.key} {self.operator}")
        )


@dataclass(frozen=True)
class NodeTerm:
    """All conditions must hold; a term without any selects no node."""

    expressions: tuple[NodeRequirement, ...] = ()
    fields: tuple[NodeRequirement, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.expressions and not self.fields

    def __str__(self) -> str:
        return " and ".join(map(str, self.expressions + self.fields)) or "nothing"


def parse_node_terms(raw: Mapping[str, Any]) -> tuple[NodeTerm, ...]:
    """Returns the terms of a raw v1 NodeSelector, of which one must match."""
    return tuple(
        NodeTerm(
            _requirements(term.get("matchExpressions") or ()),
            _requirements(term.get("matchFields") or ()),
        )
        for term in raw.get("nodeSelectorTerms") or ()
    )


def parse_int64(text: str) -> Optional[int]:
    """Returns the number as strconv.ParseInt(text, 10, 64) reads it, None where it refuses."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -_MAX_INT - 1 <= number <= _MAX_INT else None


def _requirements(raw: Iterable[Mapping[str, Any]]) -> tuple[NodeRequirement, ...]:
    return tuple(
        NodeRequirement(one.get("key", ""), one.get("operator", ""), tuple(one.get("values") or ()))
        for one in raw
    )
