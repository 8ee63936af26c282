# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Label and field selectors of lists and watches, on raw objects."""

from __future__ import annotations

from typing import Any, Callable, Mapping

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.selector import (
    InvalidSelector,
    parse_selector_text,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.answers import bad_request
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.base import Object
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.kinds import Kind

Matches = Callable[[Object], bool]

# What the API server can select by, beside metadata.name and metadata.namespace.
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "pods": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    "nodes": ("spec.unschedulable",),
    "namespaces": ("status.phase",),
    "secrets": ("type",),
    "events": (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    "jobs.batch": ("status.successful",),
}
_ALWAYS = ("metadata.name", "metadata.namespace")


def matcher(kind: Kind, label_selector: str, field_selector: str) -> Matches:
    """Raises Refusal (400) for a selector that the API server would not take."""
    tests = _label_tests(label_selector) + _field_tests(kind, field_selector)
    return lambda raw: all(test(raw) for test in tests)


def _label_tests(text: str) -> list[Matches]:
    if not text:
        return []
    try:
        selector = parse_selector_text(text)
    except InvalidSelector as error:
        raise bad_request(f"unable to parse requirement: {error}") from error
    return [lambda raw: selector.matches(raw["metadata"].get("labels") or {})]


def _field_tests(kind: Kind, text: str) -> list[Matches]:
    return [_field_test(kind, term) for term in text.split(",") if term]


def _field_test(kind: Kind, term: str) -> Matches:
    for sign in ("!=", "==", "="):
        path, found, value = term.partition(sign)
        if found:
            break
    else:
        raise bad_request(f"invalid selector: '{term}'; can't understand '{term}'")
    more = _FIELDS.get(kind.resource, ())
    if path not in _ALWAYS + more:
        known = 'only "metadata.name", "metadata.namespace"'
        text = f'"{path}" is not a known field selector: {known}'
        raise bad_request(f"field label not supported: {path}" if more else text)
    equal = sign != "!="
    return lambda raw: (_text(raw, path) == value) is equal


def _text(raw: Object, path: str) -> str:
    found: Any = raw
    for step in path.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    if isinstance(found, bool):
        return "true" if found else "false"
    if path == "spec.unschedulable" and found is None:
        return "false"
    return "" if found is None else str(found)
