# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The patches of a fence and of a restart: what they write, and what they are held to."""

from __future__ import annotations

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.fencing import (
    TAINT,
    lifting,
    setting,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.restarts import (
    restarting,
)

KEY = "fleet.evenkeel.dev/fenced"
CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def a_node(taints=None, annotations=None):
    spec = {} if taints is None else {"taints": taints}
    metadata = {"uid": "u1"} if annotations is None else {"uid": "u1", "annotations": annotations}
    return {"metadata": metadata, "spec": spec}


def test_a_fence_keeps_other_taints_and_annotations_and_is_held_to_both():
    assert setting(a_node([CORDON], {"a": "b"}), KEY, "{}") == (
        {"op": "test", "path": "/metadata/uid", "value": "u1"},
        {"op": "test", "path": "/spec/taints", "value": [CORDON]},
        {"op": "test", "path": "/metadata/annotations", "value": {"a": "b"}},
        {"op": "add", "path": "/spec/taints", "value": [CORDON, dict(TAINT)]},
        {"op": "add", "path": "/metadata/annotations", "value": {"a": "b", KEY: "{}"}},
    )


def test_a_taint_that_somebody_else_set_is_neither_recorded_nor_removed():
    foreign = a_node([dict(TAINT)], {"a": "b"})
    assert setting(foreign, KEY, "{}") == ()
    assert lifting(foreign, KEY) == ()


def test_lifting_takes_back_exactly_what_was_set():
    fenced = a_node([CORDON, dict(TAINT)], {"a": "b", KEY: "{}"})
    assert lifting(fenced, KEY)[3:] == (
        {"op": "add", "path": "/spec/taints", "value": [CORDON]},
        {"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}},
    )


def test_a_restart_and_its_record_are_one_patch_held_to_the_state_read():
    raw = {
        "metadata": {"resourceVersion": "7"},
        "spec": {"template": {"metadata": {"annotations": {"x": "y"}}}},
    }
    restarted_at = "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt"
    assert restarting(raw, "fleet.evenkeel.dev/surge", "{}", "now") == (
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {
            "op": "add",
            "path": "/metadata/annotations",
            "value": {"fleet.evenkeel.dev/surge": "{}"},
        },
        {"op": "add", "path": restarted_at, "value": "now"},
    )


def test_a_template_without_metadata_is_given_some():
    raw = {"metadata": {"resourceVersion": "7", "annotations": {"a": "b"}}, "spec": {}}
    assert [each["path"] for each in restarting(raw, "k/surge", "{}", "now")] == [
        "/metadata/resourceVersion",
        "/metadata/annotations/k~1surge",
        "/spec/template/metadata",
        "/spec/template/metadata/annotations",
    ]
