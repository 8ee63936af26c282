# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The conditions of a deployment that was copied, without messages and times of updates."""

from __future__ import annotations

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import parse_instant
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.progress import (
    progress_due,
    status_for,
)

THEN, NOW = "2026-12-01T10:00:00Z", 1_800_000_000.0


def deployment(reason):
    kept = {"type": "Progressing", "status": "True", "reason": reason, "lastTransitionTime": THEN}
    counts = {"replicas": 1, "readyReplicas": 1, "availableReplicas": 1, "updatedReplicas": 1}
    return {
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": 2, "progressDeadlineSeconds": 600},
        "status": {**counts, "conditions": [kept]},
    }


def test_a_copied_condition_stays_as_it_is_while_nothing_rolls():
    new = {"metadata": {"name": "web-1"}, "spec": {"replicas": 2}, "status": {"replicas": 2}}
    copied = deployment("NewReplicaSetAvailable")
    (_available, progressing) = status_for(copied, new, [new], NOW)["conditions"]
    assert progressing == copied["status"]["conditions"][0]


def test_a_copied_rollout_has_been_under_way_since_its_condition_changed():
    rolling = deployment("ReplicaSetUpdated")
    assert progress_due(rolling, rolling["status"]) == parse_instant(THEN).timestamp() + 600
