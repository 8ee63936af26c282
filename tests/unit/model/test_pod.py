# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""model/pod: a Pod as a drain sees it."""

from __future__ import annotations

from dataclasses import fields

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.objects import Owner
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.pod import parse_pod

REPLICA_SET = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-abc", "uid": "rs"}
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def raw_pod(spec=None, status=None, **meta):
    return {
        "metadata": {"namespace": "shop", "name": "web-1", "uid": "u1", **meta},
        "spec": spec or {},
        "status": status or {},
    }


def test_a_pod_has_what_a_drain_asks_of_it():
    raw = raw_pod(
        {
            "nodeName": "n1",
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "app", "resources": {"requests": {"cpu": "100m"}}}],
            "volumes": [
                {"name": "tmp", "emptyDir": {}},
                {"name": "data", "persistentVolumeClaim": {"claimName": "disk"}},
                {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}},
                {"name": "settings", "configMap": {"name": "web"}},
            ],
        },
        {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        labels={"app": "web"},
        ownerReferences=[{**REPLICA_SET, "uid": "other"}, {**REPLICA_SET, "controller": True}],
        annotations={LAST_APPLIED: "{}", "a": "b"},
    )
    found = parse_pod(raw)
    assert (found.key, found.node, found.phase, found.ready) == (
        "shop/web-1",
        "n1",
        "Running",
        True,
    )
    assert (found.claims, found.has_empty_dir) == (("disk", "web-1-scratch"), True)
    assert (dict(found.requests), found.grace_period_seconds) == ({"cpu": 100}, 0)
    assert found.meta.owner == Owner("apps/v1", "ReplicaSet", "web-abc", "rs")
    assert found.meta.annotations == {"a": "b"}


def test_a_pod_that_no_node_takes_says_why_in_the_schedulers_words():
    why = "0/3 nodes are available: 3 Insufficient cpu."
    condition = {"type": "PodScheduled", "status": "False", "message": why}
    pending = raw_pod(status={"phase": "Pending", "conditions": [condition]})
    assert parse_pod(pending).unschedulable == why
    assert parse_pod(raw_pod({"nodeName": "n1"})).unschedulable == ""


def test_what_is_built_without_its_constructor_lacks_no_field():
    found = parse_pod(raw_pod())
    for built in (found, found.meta):
        assert set(vars(built)) == {field.name for field in fields(built)}


def test_an_empty_pod_is_neither_ready_nor_anywhere():
    found = parse_pod({})
    assert (found.node, found.phase, found.ready, found.waiting) == ("", "", False, "")
    assert (found.claims, found.has_empty_dir, dict(found.requests)) == ((), False, {})
    assert found.grace_period_seconds == 30
    assert found.meta.owner is None


def test_the_first_container_that_waits_says_why():
    statuses = [
        {"name": "a", "state": {"running": {}}},
        {"name": "b", "state": {"waiting": {"reason": "CrashLoopBackOff"}}},
        {"name": "c", "state": {"waiting": {"reason": "ImagePullBackOff"}}},
    ]
    assert parse_pod(raw_pod(status={"containerStatuses": statuses})).waiting == "CrashLoopBackOff"


@pytest.mark.parametrize(
    ("phase", "finished"),
    [
        ("Pending", False),
        ("Running", False),
        ("Unknown", False),
        ("Succeeded", True),
        ("Failed", True),
    ],
)
def test_a_pod_is_finished_in_two_phases(phase, finished):
    assert parse_pod(raw_pod(status={"phase": phase})).finished is finished


def test_mirror_daemon_and_terminating_pods_are_told():
    mirror = parse_pod(raw_pod(annotations={"kubernetes.io/config.mirror": "hash"}))
    daemon = parse_pod(
        raw_pod(ownerReferences=[{**REPLICA_SET, "kind": "DaemonSet", "controller": True}])
    )
    leaving = parse_pod(raw_pod(deletionTimestamp="2026-11-30T22:00:00Z"))
    flags = [(one.is_mirror, one.is_daemon, one.terminating) for one in (mirror, daemon, leaving)]
    assert flags == [(True, False, False), (False, True, False), (False, False, True)]
