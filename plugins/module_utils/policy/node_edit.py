# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is to be written on a node: the decision as a value, before any request is made of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model import json_patch
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.node import Node


@dataclass(frozen=True)
class NodeEdit:
    """annotations: key to new value, None removes it. unschedulable: new value, None leaves it.

    guarded: the annotation keys, and guards_unschedulable: whether spec.unschedulable, that the
    decision was made from; the write must fail when one of them has another value by then.
    """

    annotations: Mapping[str, Optional[str]] = field(default_factory=dict)
    unschedulable: Optional[bool] = None
    guarded: tuple[str, ...] = ()
    guards_unschedulable: bool = False

    @property
    def empty(self) -> bool:
        return not self.annotations and self.unschedulable is None


# How a decision is reported: the four lists of a Report that a node's outcome can be in.
DONE = "done"
SKIPPED = "skipped"
FAILED = "failed"


@dataclass(frozen=True)
class NodeDecision:
    """What one node's turn comes to. A skipped one may still write (a claim on a closed node)."""

    result: str
    code: str
    detail: str = ""
    edit: NodeEdit = field(default_factory=NodeEdit)


def needed(node: Node, wanted: Mapping[str, Optional[str]]) -> dict[str, Optional[str]]:
    """Returns those of the wanted annotations that the node does not have like that already."""
    found = node.meta.annotations
    return {key: value for key, value in wanted.items() if found.get(key) != value}


def documents(node: Node, edit: NodeEdit) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the node before and after the edit, cut to what the edit touches (for --diff)."""
    before: dict[str, Any] = {
        "annotations": {
            key: node.meta.annotations[key]
            for key in sorted(edit.annotations)
            if key in node.meta.annotations
        }
    }
    after: dict[str, Any] = {
        "annotations": {
            key: value for key, value in sorted(edit.annotations.items()) if value is not None
        }
    }
    if edit.unschedulable is not None:
        before["unschedulable"] = node.unschedulable
        after["unschedulable"] = edit.unschedulable
    return before, after


def operations(raw: Mapping[str, Any], edit: NodeEdit) -> list[dict[str, Any]]:
    """Returns the JSON patch of an edit, for a raw Node as it was read.

    `test` operations hold the write to what was decided from: the UID (a node of the same name may
    have replaced this one), the guarded annotations, spec.unschedulable. No resourceVersion: a
    kubelet that writes its status in between is no conflict. A `test` against null passes where the
    member is absent.
    """
    metadata = raw.get("metadata") or {}
    tests = [json_patch.test("/metadata/uid", metadata.get("uid"))]
    if edit.guards_unschedulable:
        # `false` is never serialised: an open node has no such member.
        closed = (raw.get("spec") or {}).get("unschedulable")
        tests.append(json_patch.test("/spec/unschedulable", closed or None))
    annotations = metadata.get("annotations")
    if annotations:
        tests += [json_patch.test(_annotation(key), annotations.get(key)) for key in edit.guarded]
        writes = _annotation_writes(annotations, edit.annotations)
    else:
        # The map itself is missing, and "add" cannot add into a map that is not there. Making it
        # would throw away what somebody else put into it meanwhile, hence the test.
        tests.append(json_patch.test(json_patch.ANNOTATIONS, None))
        values = {key: value for key, value in edit.annotations.items() if value is not None}
        writes = [json_patch.add(json_patch.ANNOTATIONS, values)] if values else []
    if edit.unschedulable is not None:
        writes.append(_unschedulable_write(edit.unschedulable))
    return tests + writes


def _annotation_writes(
    found: Mapping[str, str], wanted: Mapping[str, Optional[str]]
) -> list[dict[str, Any]]:
    writes = []
    for key, value in wanted.items():
        if value is not None:
            writes.append(json_patch.add(_annotation(key), value))
        elif key in found:
            writes.append(json_patch.remove(_annotation(key)))
    return writes


def _unschedulable_write(closed: bool) -> dict[str, Any]:
    if closed:
        return json_patch.add("/spec/unschedulable", True)
    return json_patch.remove("/spec/unschedulable")


def _annotation(key: str) -> str:
    return json_patch.member(json_patch.ANNOTATIONS, key)
