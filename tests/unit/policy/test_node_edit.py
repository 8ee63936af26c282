# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The JSON patch of an edit: only what changes, held to what was decided from."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.policy.node_edit import (
    NodeEdit,
    documents,
    operations,
)
from tests.unit.builders import node

UID = {"op": "test", "path": "/metadata/uid", "value": "u1"}
KEY = "fleet.evenkeel.dev/cordon-owners"
PATH = "/metadata/annotations/fleet.evenkeel.dev~1cordon-owners"


def raw(annotations: Any = None, closed: Any = None) -> dict[str, Any]:
    metadata: dict[str, Any] = {"uid": "u1"}
    if annotations is not None:
        metadata["annotations"] = annotations
    return {"metadata": metadata, "spec": {} if closed is None else {"unschedulable": closed}}


@pytest.mark.parametrize(
    ("found", "edit", "expected"),
    [
        pytest.param(
            raw({"a": "1"}),
            NodeEdit({KEY: "x"}, unschedulable=True, guarded=(KEY,), guards_unschedulable=True),
            [
                UID,
                {"op": "test", "path": "/spec/unschedulable", "value": None},
                {"op": "test", "path": PATH, "value": None},
                {"op": "add", "path": PATH, "value": "x"},
                {"op": "add", "path": "/spec/unschedulable", "value": True},
            ],
            id="a slash in a key is escaped",
        ),
        pytest.param(
            raw({KEY: "x"}, closed=True),
            NodeEdit({KEY: None}, unschedulable=False, guarded=(KEY,), guards_unschedulable=True),
            [
                UID,
                {"op": "test", "path": "/spec/unschedulable", "value": True},
                {"op": "test", "path": PATH, "value": "x"},
                {"op": "remove", "path": PATH},
                {"op": "remove", "path": "/spec/unschedulable"},
            ],
            id="removing",
        ),
        pytest.param(
            raw(),
            NodeEdit({KEY: "x", "b": None}, guarded=(KEY,)),
            [
                UID,
                {"op": "test", "path": "/metadata/annotations", "value": None},
                {"op": "add", "path": "/metadata/annotations", "value": {KEY: "x"}},
            ],
            id="a node without annotations gets the map, if nobody else made it",
        ),
        pytest.param(
            raw({"a": "1"}),
            NodeEdit({KEY: None}),
            [UID],
            id="what is not there is not removed: the server would refuse that",
        ),
    ],
)
def test_operations(found: dict[str, Any], edit: NodeEdit, expected: list[dict[str, Any]]) -> None:
    assert operations(found, edit) == expected


def test_documents_show_only_what_the_edit_touches() -> None:
    target = node("n1", annotations={"a": "1", "b": "2", "c": "3"})
    edit = NodeEdit({"a": "9", "b": None, "d": "4"}, unschedulable=True)
    assert documents(target, edit) == (
        {"annotations": {"a": "1", "b": "2"}, "unschedulable": False},
        {"annotations": {"a": "9", "d": "4"}, "unschedulable": True},
    )
