# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a person at the terminal sees while a module works, and what ends it before its end."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.control_plane.space import Space

from .playing import ELSEWHERE, Stage

pytestmark = pytest.mark.smoke


@pytest.fixture
def stage(space: Space, tmp_path: Path) -> Stage:
    return Stage(tmp_path, space.kubeconfig())


def evict(node: str, **keywords: Any) -> dict[str, Any]:
    return {"evenkeel.fleet.evict": {"nodes": node, "wait_timeout": "2m"}, **keywords}


@contextmanager
def running(stage: Stage, task: dict[str, Any]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        stage.command(stage.write([task])),
        env=stage.environment({"PYTHONUNBUFFERED": "1"}),
        cwd=stage.directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def lines(process: subprocess.Popen[str]) -> Iterator[str]:
    assert process.stdout is not None
    return (line.rstrip("\n") for line in iter(process.stdout.readline, ""))


def stuck_pod(space: Space) -> str:
    """A node with a pod that was asked to leave and never does."""
    first, _second = space.nodes(2)
    space.deployment("web", 1, node=first, behaviour="never-stops", grace_seconds=300)
    space.wait_running()
    space.cordon(first)
    return first


def test_lines_come_while_the_call_works_and_name_cluster_node_and_wait(
    space: Space, stage: Stage
) -> None:
    first, _second = space.nodes(2)
    space.deployment("web", 3, node=first, stop_seconds=8)
    space.wait_running()
    space.cordon(first)
    with running(stage, evict(first)) as process:
        told = []
        for line in lines(process):
            if line.startswith((first, "changed: ", "fatal: ")) or "https://" in line:
                told.append((time.monotonic(), line))
            if line.startswith(("changed: ", "fatal: ")):
                break
    began, opening = told[0]
    assert space.plane.server in opening
    ended, last = told[-1]
    assert last == "changed: [localhost]"
    assert told[1][0] - began < 2
    assert ended - told[1][0] > 5
    assert [line for _unused, line in told[1:-1] if "/3  " not in line] == []
    of_the_node = [moment for moment, _unused in told[1:-1]]
    assert all(later - sooner > 0.5 for sooner, later in zip(of_the_node, of_the_node[1:-1]))


def test_a_task_with_no_log_tells_nothing(space: Space, stage: Stage) -> None:
    (name,) = space.nodes(1)
    played = stage.play([{"evenkeel.fleet.cordon": {"nodes": name}, "no_log": True}])
    assert name not in played.stdout
    assert space.plane.server not in played.stdout


def test_elsewhere_the_same_is_told_afterwards_as_timeline(space: Space, stage: Stage) -> None:
    first, _second = space.nodes(2)
    space.deployment("web", 1, node=first, stop_seconds=2)
    space.wait_running()
    space.cordon(first)
    played = stage.play([evict(first, **ELSEWHERE)])
    (result,) = played.results
    assert space.plane.server not in played.stdout
    timeline = result["timeline"]
    assert space.plane.server in timeline[0]["text"]
    assert {event["node"] for event in timeline[1:]} == {first}
    assert timeline[-1]["done"] == timeline[-1]["total"] == 1
    seconds = [event["seconds"] for event in timeline]
    assert seconds == sorted(seconds)


def test_a_task_with_async_is_left_to_ansible(space: Space, stage: Stage) -> None:
    (name,) = space.nodes(1)
    task = {"evenkeel.fleet.cordon": {"nodes": name}, "async": 60, "poll": 1}
    (result,) = stage.play([task]).results
    assert (result["finished"], result["changed"]) == (1, True)
    assert "timeline" in result


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize(
    "keywords", [pytest.param({}, id="in-process"), pytest.param(ELSEWHERE, id="as-a-module")]
)
def test_a_signal_to_ansible_playbook_ends_the_wait_within_a_second_and_frees_the_node(
    space: Space, stage: Stage, number: signal.Signals, keywords: dict[str, Any]
) -> None:
    """SIGKILL reaches neither worker nor module: they see that ansible-playbook is gone."""
    first = stuck_pod(space)
    with running(stage, evict(first, **keywords)) as process:
        lease = f"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/fleet-node-{first}"

        def held() -> bool:
            found = space.api.find(lease)
            return bool(found and found["spec"].get("holderIdentity"))

        space.wait(held, "the node is locked")
        space.wait(lambda: space.pods("web", node=first)[0]["metadata"].get("deletionTimestamp"))
        os.kill(process.pid, number)
        # A second for the wait, and what a busy machine takes to write the Lease.
        space.wait(lambda: not held(), "the node is free again", seconds=4)
        process.wait(timeout=10)
    mark = space.audit.mark()
    time.sleep(1.5)
    assert space.requests(since=mark) == []
