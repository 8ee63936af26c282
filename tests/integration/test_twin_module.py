# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The module twin: what it starts is a cluster to kubectl and to our playbooks, and ends whole."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.control_plane.tools import kubectl

from .playbooks import ENTER, Playbooks
from .playing import ELSEWHERE, Stage

SPEC = {
    "nodes": [{"pool": "w", "count": 3}],
    "workloads": [{"name": "web", "namespace": "shop", "replicas": 4, "start": 1, "stop": 1}],
    "budgets": [{"name": "web", "namespace": "shop", "max_unavailable": 1}],
}


@pytest.fixture
def directory(tmp_path: Path) -> str:
    return str(tmp_path / "twin")


@pytest.fixture
def stage(tmp_path: Path, directory: str) -> Iterator[Stage]:
    made = Stage(tmp_path, Path(directory) / "kubeconfig")
    yield made
    if os.path.exists(directory):
        made.task("twin", {"directory": directory, "state": "stopped"})


def start(stage: Stage, directory: str, **more: Any) -> dict[str, Any]:
    return stage.task("twin", {"directory": directory, "spec": SPEC, **more})


@pytest.mark.parametrize("elsewhere", [{}, ELSEWHERE], ids=["action", "module"])
def test_it_is_predicted_then_started_once_and_stopped_once(
    stage: Stage, directory: str, elsewhere: dict[str, Any]
) -> None:
    asked = {"evenkeel.fleet.twin": {"directory": directory, "spec": SPEC}}
    ending = {"evenkeel.fleet.twin": {"directory": directory, "state": "stopped"}}
    in_check_mode = {"check_mode": True}
    tasks = [
        {**asked, **in_check_mode},
        asked,
        asked,
        {**asked, **in_check_mode},
        {**ending, **in_check_mode},
        ending,
        ending,
    ]
    played = stage.play([{**task, **elsewhere} for task in tasks])
    changed = [one["changed"] for one in played.results]
    assert changed == [True, True, False, False, True, True, False]
    predicted, started, again, *_others = played.results
    assert predicted["nodes"] == 3
    assert "pid" not in predicted
    assert (started["nodes"], started["pods"]) == (3, 4)
    assert (again["pid"], again["url"]) == (started["pid"], started["url"])
    assert not os.path.exists(directory)


def test_kubectl_and_a_drain_work_on_it(stage: Stage, directory: str, tmp_path: Path) -> None:
    started = start(stage, directory)
    kubeconfig = Path(started["kubeconfig"])
    ran = Playbooks(tmp_path, kubeconfig).run(ENTER, {"nodes": "w-1"})
    assert ran.returncode == 0, ran.stdout
    command = [str(kubectl()), "--kubeconfig", str(kubeconfig), "get", "pods", "-n", "shop"]
    listed = subprocess.run(
        [*command, "-o", "wide", "--no-headers"], capture_output=True, text=True, check=True
    ).stdout
    assert len(listed.splitlines()) == 4
    assert " w-1 " not in listed
    listed = subprocess.run(
        [*command[:3], "get", "nodes", "--no-headers"], capture_output=True, text=True, check=True
    ).stdout
    assert [line.split()[1] for line in sorted(listed.splitlines())] == [
        "Ready,SchedulingDisabled",
        "Ready",
        "Ready",
    ]


def test_a_snapshot_of_one_makes_another(stage: Stage, directory: str, tmp_path: Path) -> None:
    start(stage, directory)
    copy, file = str(tmp_path / "copy"), str(tmp_path / "fleet.json")
    tasks = [
        {"evenkeel.fleet.fleet_info": {"dest": file}},
        {"evenkeel.fleet.twin": {"directory": copy, "snapshot": file}},
        {"evenkeel.fleet.twin": {"directory": copy, "snapshot": file}},
        {"evenkeel.fleet.twin": {"directory": copy, "state": "stopped"}},
        {"evenkeel.fleet.twin": {"directory": copy, "live": True}},
        {"evenkeel.fleet.twin": {"directory": copy, "state": "stopped"}},
    ]
    _written, first, again, _ended, live, _ended_too = stage.play(tasks).results
    assert [(one["changed"], one.get("pods")) for one in (first, again, live)] == [
        (True, 4),
        (False, 4),
        (True, 4),
    ]


def test_pods_that_fit_nowhere_get_a_node_of_a_pool(stage: Stage, directory: str) -> None:
    large = {"name": "large", "replicas": 2, "cpu": 14}
    spec = {**SPEC, "workloads": [*SPEC["workloads"], large]}
    pools = [{"pool": "spare", "types": [{"name": "big", "price": 1, "cpu": 16}], "delay": "1m"}]
    assert start(stage, directory, spec=spec, pools=pools)["nodes"] == 5


REFUSALS = [
    pytest.param({"spec": None}, "spec: nothing is given to copy. Give one of", id="nothing"),
    pytest.param({"snapshot": "f"}, "spec: spec and snapshot are given. Give one of", id="two"),
    pytest.param({"spec": {**SPEC, "moons": 1}}, "spec: unknown key moons. Known", id="spec"),
    pytest.param({"spec": {"nodes": [{"pool": "W_"}]}}, "is invalid", id="a-bad-name"),
    pytest.param(
        {"spec": None, "snapshot": "/absent.json"}, "snapshot: /absent.json: No such", id="no-file"
    ),
    pytest.param({"faults": [{"fault": "x"}]}, "faults: entry 1: no fault 'x'", id="faults"),
    pytest.param({"pools": [{"pool": "a"}]}, "pools: pool a: it has no types", id="pools"),
    pytest.param({"start": "soon"}, "start: not an RFC 3339 time", id="start"),
    pytest.param({"lifetime": 0}, "lifetime: it must be more than 0", id="lifetime"),
    pytest.param({"port": 70000}, "port: 70000 is no port", id="port"),
]


@pytest.mark.parametrize(("options", "words"), REFUSALS)
def test_bad_input_is_refused_in_a_sentence_and_nothing_is_half_started(
    stage: Stage, directory: str, options: dict[str, Any], words: str
) -> None:
    given = {name: value for name, value in {"spec": SPEC, **options}.items() if value is not None}
    refused = stage.task("twin", {"directory": directory, **given})
    assert refused["failed"]
    assert refused["code"] == "invalid_option"
    assert words in refused["msg"]
    assert not os.path.exists(directory)


@pytest.mark.parametrize("check_mode", [False, True], ids=["real", "check-mode"])
def test_a_port_in_use_is_refused(stage: Stage, directory: str, check_mode: bool) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        asked = {"directory": directory, "spec": SPEC, "port": port}
        refused = stage.task("twin", asked, check_mode=check_mode)
    assert refused["failed"]
    assert refused["msg"] == f"port: {port} is in use. Use another, or 0 for any that is free."
    assert not os.path.exists(directory)
