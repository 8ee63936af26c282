# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the watcher calls wrong, and what it does not."""

from __future__ import annotations

from typing import Any

import pytest

from .watcher import STATE, Floor, Guard, Kept

Event = tuple[str, dict[str, Any]]


def pod(name: str, *, ready: bool = True, leaving: bool = False) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "uid": name, "labels": {"app": "web"}}
    if leaving:
        metadata["deletionTimestamp"] = "2026-11-30T22:00:00Z"
    condition = {"type": "Ready", "status": "True" if ready else "False"}
    return {"metadata": metadata, "status": {"conditions": [condition]}}


def budget(desired: int) -> dict[str, Any]:
    return {
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}},
        "status": {"desiredHealthy": desired},
    }


CASES: dict[str, tuple[int, list[Event], int]] = {
    "one may leave while enough stay": (2, [("MODIFIED", pod("a", leaving=True))], 0),
    "one too many leaves": (
        2,
        [("MODIFIED", pod("a", leaving=True)), ("MODIFIED", pod("b", leaving=True))],
        1,
    ),
    "one too many vanishes at once": (3, [("DELETED", pod("a"))], 1),
    "a pod that leaves is counted once": (
        3,
        [("MODIFIED", pod("a", leaving=True)), ("DELETED", pod("a", leaving=True))],
        1,
    ),
    "a pod that fails by itself is nobody's disruption": (
        3,
        [("MODIFIED", pod("a", ready=False))],
        0,
    ),
    "nor is the removal of one that had failed": (
        3,
        [("MODIFIED", pod("a", ready=False)), ("DELETED", pod("a", ready=False))],
        0,
    ),
    "but a healthy one may not leave then": (
        2,
        [("MODIFIED", pod("a", ready=False)), ("MODIFIED", pod("b", leaving=True))],
        1,
    ),
    "a replacement makes room": (
        3,
        [("ADDED", pod("d")), ("MODIFIED", pod("a", leaving=True))],
        0,
    ),
}


@pytest.mark.parametrize(("desired", "events", "faults"), CASES.values(), ids=CASES.keys())
def test_what_violates_a_budget(desired: int, events: list[Event], faults: int) -> None:
    guard = Guard()
    guard.budget("ADDED", budget(desired))
    for name in ("a", "b", "c"):
        assert guard.pod("ADDED", pod(name)) == []
    assert len([fault for event in events for fault in guard.pod(*event)]) == faults


def test_a_floor_is_kept_without_a_budget() -> None:
    guard = Guard((Floor("surge", {"app": "web"}, 1),))
    guard.pod("ADDED", pod("a"))
    assert guard.pod("DELETED", pod("a")) == [
        "a was taken away: 0 of the 1 healthy pods that surge asks for are left"
    ]


def test_what_somebody_else_set_on_a_node_must_stay() -> None:
    guard = Guard(kept={"n1": Kept(True, {"rack": "r1"})})
    metadata = {"name": "n1", "annotations": {"rack": "r1", STATE: "InMaintenance"}}
    held = {"metadata": metadata, "spec": {"unschedulable": True}}
    assert guard.node("MODIFIED", held) == []
    assert guard.node("MODIFIED", {"metadata": {"name": "n1"}, "spec": {}}) == [
        "rack of n1 became None",
        "somebody's cordon of n1 was taken away",
    ]
    assert guard.node("MODIFIED", held) == []
    assert guard.arrivals == {"n1": 2}
