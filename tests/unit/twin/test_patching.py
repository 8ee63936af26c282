# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The three patches of the API. The control plane's answers: test_twin_agreement.py."""

from __future__ import annotations

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.answers import Refusal
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.patching import (
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    apply,
)


def operation(op, path, *value):
    return {"op": op, "path": path, **({"value": value[0]} if value else {})}


@pytest.mark.parametrize(
    ("raw", "operations", "expected"),
    [
        pytest.param({}, [operation("add", "/a", 1)], {"a": 1}, id="add"),
        pytest.param({"a": [1, 2]}, [operation("add", "/a/1", 9)], {"a": [1, 9, 2]}, id="insert"),
        pytest.param({"a": [1]}, [operation("add", "/a/-", 2)], {"a": [1, 2]}, id="append"),
        pytest.param({"a": [1, 2]}, [operation("remove", "/a/0")], {"a": [2]}, id="remove-item"),
        pytest.param({"a": 1}, [operation("replace", "/a", 2)], {"a": 2}, id="replace"),
        pytest.param({}, [operation("replace", "/a", 2)], {"a": 2}, id="replace-adds"),
        pytest.param({}, [operation("test", "/a", None)], {}, id="null-is-absent"),
        pytest.param({"a/b": 1}, [operation("remove", "/a~1b")], {}, id="escaped-slash"),
        pytest.param({"a~b": 1}, [operation("remove", "/a~0b")], {}, id="escaped-tilde"),
        pytest.param({"a": 1}, [{"op": "move", "from": "/a", "path": "/b"}], {"b": 1}, id="move"),
        pytest.param(
            {"a": 1}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": 1, "b": 1}, id="copy"
        ),
    ],
)
def test_a_json_patch(raw, operations, expected):
    assert apply(JSON_PATCH, raw, operations) == expected


@pytest.mark.parametrize(
    ("operations", "code"),
    [
        pytest.param([operation("test", "/a", 2)], 422, id="test-fails"),
        pytest.param([operation("remove", "/missing")], 422, id="remove-missing"),
        pytest.param([operation("replace", "/list/7", 1)], 422, id="replace-beyond-the-end"),
        pytest.param([operation("add", "/no/parent", 1)], 422, id="no-parent"),
        pytest.param([operation("add", "/list/7", 1)], 422, id="beyond-the-end"),
        pytest.param([operation("add", "a", 1)], 400, id="no-pointer"),
        pytest.param([operation("unheard-of", "/a")], 422, id="no-operation"),
        pytest.param({"a": 1}, 400, id="no-list"),
    ],
)
def test_a_json_patch_that_does_not_apply_changes_nothing(operations, code):
    raw = {"a": 1, "list": []}
    with pytest.raises(Refusal) as caught:
        apply(JSON_PATCH, raw, operations)
    assert caught.value.code == code
    assert raw == {"a": 1, "list": []}


def test_a_merge_patch_removes_what_is_null_and_replaces_lists():
    raw = {"a": {"b": 1, "c": 2}, "list": [1, 2]}
    patch = {"a": {"b": None, "d": {"e": 3}}, "list": [3]}
    assert apply(MERGE_PATCH, raw, patch) == {"a": {"c": 2, "d": {"e": 3}}, "list": [3]}


CONDITIONS = [{"type": "Ready", "status": "False"}, {"type": "Other", "status": "True"}]


@pytest.mark.parametrize(
    ("raw", "patch", "expected"),
    [
        pytest.param(
            {"conditions": CONDITIONS},
            {"conditions": [{"type": "Ready", "status": "True"}]},
            {"conditions": [{"type": "Ready", "status": "True"}, CONDITIONS[1]]},
            id="by-key-in-place",
        ),
        pytest.param(
            {"conditions": CONDITIONS},
            {"conditions": [{"type": "New"}]},
            {"conditions": [{"type": "New"}, *CONDITIONS]},
            id="what-is-new-comes-first",
        ),
        pytest.param(
            {"conditions": CONDITIONS},
            {"conditions": [{"type": "Ready", "$patch": "delete"}]},
            {"conditions": [CONDITIONS[1]]},
            id="delete",
        ),
        pytest.param(
            {"taints": [{"key": "a"}]},
            {"taints": [{"key": "b"}]},
            {"taints": [{"key": "b"}]},
            id="taints-are-replaced",
        ),
        pytest.param(
            {"finalizers": ["a", "b"]},
            {"finalizers": ["c", "b"]},
            {"finalizers": ["c", "a", "b"]},
            id="a-set",
        ),
        pytest.param(
            {"finalizers": ["a", "b"]},
            {"$deleteFromPrimitiveList/finalizers": ["a"]},
            {"finalizers": ["b"]},
            id="out-of-a-set",
        ),
        pytest.param(
            {"spec": {"a": 1}},
            {"spec": {"$patch": "replace", "b": 2}},
            {"spec": {"b": 2}},
            id="replace",
        ),
    ],
)
def test_a_strategic_merge(raw, patch, expected):
    assert apply(STRATEGIC_PATCH, raw, patch) == expected
