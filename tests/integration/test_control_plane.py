# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How a plane of the tests begins and ends, and what runs in it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from tests.control_plane import plane as planes
from tests.control_plane.api import Api
from tests.control_plane.build import programs
from tests.control_plane.components import ORDER, Layout
from tests.control_plane.plane import ROOT, Plane, is_running
from tests.control_plane.space import Space

GONE_SECONDS = 20.0


def pids(state: Path) -> dict[str, int]:
    """Of the supervisor and every component."""
    found: dict[str, int] = json.loads(Layout(state).processes.read_text())
    return found


def wait_until_gone(processes: dict[str, int], state: Path) -> None:
    deadline = time.monotonic() + GONE_SECONDS
    while True:
        left = [name for name, pid in processes.items() if is_running(pid, str(state))]
        if not left:
            return
        assert time.monotonic() < deadline, f"still running: {left}"
        time.sleep(0.1)


def test_the_server_reports_the_version_that_is_pinned(plane: Plane) -> None:
    version = plane.api().get("/version")

    assert (version["gitVersion"], version["major"], version["minor"]) == ("v1.37.2", "1", "37")


def test_every_component_runs_under_one_supervisor(plane: Plane) -> None:
    assert sorted(pids(plane.state)) == sorted([*ORDER, "supervisor"])


def test_a_killed_test_run_leaves_no_process_and_no_state(tmp_path: Path) -> None:
    state = tmp_path / "plane"
    runner = subprocess.Popen([sys.executable, "-c", RUNNER, str(state)], stdout=subprocess.PIPE)
    assert runner.stdout is not None
    assert runner.stdout.readline() == b"holds\n"
    processes = pids(state)

    runner.kill()
    runner.wait()

    wait_until_gone(processes, state)
    assert not state.exists()


RUNNER = f"""
import sys, time
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from tests.control_plane import plane
from tests.control_plane.api import Api
from tests.control_plane.build import programs
held = plane.start(Path(sys.argv[1]), programs(), stay=False).hold()
print("holds", flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only the Linux kernel ends orphans by itself")
def test_components_die_with_a_killed_supervisor(own_plane: Plane) -> None:
    processes = pids(own_plane.state)

    os.kill(processes["supervisor"], signal.SIGKILL)

    wait_until_gone(processes, own_plane.state)


def test_a_plane_ends_when_one_of_its_components_dies(own_plane: Plane) -> None:
    processes = pids(own_plane.state)

    os.kill(processes["kube-scheduler"], signal.SIGKILL)

    wait_until_gone(processes, own_plane.state)
    assert planes.find(own_plane.state) is None


def test_up_leaves_a_plane_running_and_down_ends_it(tmp_path: Path) -> None:
    state = tmp_path / "cluster"

    shown = control_plane("up", "--state", str(state), "--sample")
    again = control_plane("up", "--state", str(state), "--sample")

    assert shown.splitlines()[-1] == f"export KUBECONFIG={state / 'kubeconfig'}"
    assert again == shown
    running = planes.find(state)
    assert running is not None
    assert len(running.api().list("/api/v1/nodes")) == 10
    processes = pids(state)
    assert control_plane("down", "--state", str(state)) == "ended\n"
    assert [name for name, pid in processes.items() if is_running(pid, str(state))] == []
    assert control_plane("down", "--state", str(state)) == "nothing was running\n"


def control_plane(*arguments: str) -> str:
    command = [sys.executable, "-m", "tests.control_plane", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def test_two_xdist_workers_share_one_plane_that_ends_with_them(tmp_path: Path) -> None:
    suite = tmp_path / "test_sharing.py"
    suite.write_text(SHARING)
    seen = tmp_path / "seen"
    seen.mkdir()
    environment = {key: value for key, value in os.environ.items() if key not in OUTER_RUN}
    environment.update(SEEN=str(seen), PYTHONPATH=str(ROOT))

    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [*command, str(suite)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    states = {path.read_text() for path in seen.iterdir()}
    assert {path.name for path in seen.iterdir()} == {"gw0", "gw1"}
    assert len(states) == 1
    state = Path(states.pop())
    deadline = time.monotonic() + GONE_SECONDS
    while state.exists():
        assert time.monotonic() < deadline, f"{state} is still there"
        time.sleep(0.1)


OUTER_RUN = (
    "EVENKEEL_CONTROL_PLANE",
    "PYTEST_XDIST_TESTRUNUID",
    "PYTEST_XDIST_WORKER",
    "PYTEST_XDIST_WORKER_COUNT",
    "PYTEST_CURRENT_TEST",
    "PYTEST_ADDOPTS",
)

SHARING = """
import os, pathlib, time
import pytest
from tests.control_plane.fixtures import plane

@pytest.mark.parametrize("number", [1, 2])
def test_meets_the_other(plane, number):
    seen = pathlib.Path(os.environ["SEEN"])
    (seen / os.environ["PYTEST_XDIST_WORKER"]).write_text(str(plane.state))
    assert plane.api().get("/version")
    deadline = time.monotonic() + 60
    while len(list(seen.iterdir())) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
"""


def test_a_plane_that_cannot_start_says_which_component_failed_and_why(tmp_path: Path) -> None:
    broken = tmp_path / "etcd"
    broken.write_text("#!/bin/sh\necho no such luck >&2\nexit 3\n")
    broken.chmod(0o755)

    with pytest.raises(planes.PlaneError, match=r"etcd ended with 3:\s+no such luck"):
        planes.start(tmp_path / "plane", {**programs(), "etcd": broken}, stay=False)


def test_spaces_do_not_see_each_other_and_leave_nothing_behind(
    plane: Plane, tmp_path: Path
) -> None:
    first, second = Space(plane, tmp_path), Space(plane, tmp_path)
    for space in (first, second):
        space.nodes(1)
        space.deployment("web", 2, behaviour="never-stops")
    for space in (first, second):
        space.wait_running()
    assert {pod["spec"]["nodeName"] for pod in first.pods()} == set(first.node_names)
    assert {pod["spec"]["nodeName"] for pod in second.pods()} == set(second.node_names)

    first.close()

    assert second.pods("web") != []
    second.close()
    api = plane.api()
    for space in (first, second):
        names = [node["metadata"]["name"] for node in api.list("/api/v1/nodes")]
        assert [name for name in names if name.startswith(space.id)] == []
        gone = partial(is_gone, api, f"/api/v1/namespaces/{space.namespace}")
        second.wait(gone, "the namespace is gone")


def is_gone(api: Api, path: str) -> bool:
    return api.find(path) is None
