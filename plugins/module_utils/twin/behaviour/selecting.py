# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The objects that a label selector selects, found through the View's index of labels."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Iterable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    EQUALS,
    IN,
    LabelSelector,
    parse_stored_selector,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Object, View
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.raw import (
    labels_of,
)

_Frozen = tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str, tuple[str, ...]], ...]]
# The label that tells most: only one replica set has its value.
_FEWEST = ("pod-template-hash", "controller-revision-hash")


def selector_of(raw: Optional[Mapping[str, Any]]) -> Optional[LabelSelector]:
    """None for what selects nothing. The same selector is parsed once."""
    if raw is None:
        return None
    labels = tuple((raw.get("matchLabels") or {}).items())
    expressions = tuple(
        (one.get("key", ""), one.get("operator", ""), tuple(one.get("values") or ()))
        for one in raw.get("matchExpressions") or ()
    )
    return _parsed((labels, expressions))


@lru_cache(maxsize=4096)
def _parsed(frozen: _Frozen) -> Optional[LabelSelector]:
    labels, expressions = frozen
    return parse_stored_selector(
        {
            "matchLabels": dict(labels),
            "matchExpressions": [
                {"key": key, "operator": operator, "values": list(values)}
                for key, operator, values in expressions
            ],
        }
    )


def selected(
    view: View, resource: str, namespace: str, selector: Optional[LabelSelector]
) -> list[Object]:
    """In the order of creation. Without a label to go by, all of the namespace are looked at."""
    if selector is None:
        return []
    candidates = _candidates(view, resource, namespace, selector)
    return [one for one in candidates if selector.matches(labels_of(one))]


def _candidates(
    view: View, resource: str, namespace: str, selector: LabelSelector
) -> Iterable[Object]:
    exact = [
        one
        for one in selector.requirements
        if one.operator == EQUALS or (one.operator == IN and len(one.values) == 1)
    ]
    if not exact:
        return view.objects(resource, namespace)
    best = min(exact, key=lambda one: one.key not in _FEWEST)
    return view.labelled(resource, namespace, best.key, best.values[0])
