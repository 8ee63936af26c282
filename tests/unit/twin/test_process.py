# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A twin as a process of its own: it answers, it ends, and it is never half there."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from functools import partial

import pytest

pytest.importorskip("cryptography", reason="ansible-core brings it; managed nodes run no twin")

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    FleetError,
    Interrupted,
    InvalidOption,
    Refused,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin import process
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.asking import Asking
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.build import twin_of
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.spec import parse_spec
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings

SPEC = {
    "nodes": [{"pool": "w", "count": 2}],
    "workloads": [{"name": "web", "namespace": "shop", "replicas": 3}],
}
MAKE = partial(twin_of, parse_spec(SPEC))
SETTINGS = Settings(1_800_000_000.0, virtual=True, run_up=60)


@pytest.fixture
def directory(tmp_path):
    path = str(tmp_path / "twin")
    yield path
    if os.path.isdir(path) and "lock" in os.listdir(path):
        process.stop(path)


def start(directory, make=MAKE, settings=SETTINGS, **more):
    return process.start(make, settings, directory, **more)


def is_gone(pid):
    """It may stay a zombie where nobody reaps: in a container."""
    command = ["ps", "-o", "stat=", "-p", str(pid)]
    found = subprocess.run(command, check=False, capture_output=True, text=True)
    return found.stdout.strip()[:1] in ("", "Z")


def wait(condition, seconds=15.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_it_answers_once_it_was_started_and_is_gone_once_it_was_stopped(directory):
    started = start(directory)
    assert (started.new, started.nodes, started.pods) == (True, 2, 3)
    assert started.time == SETTINGS.start
    with open(started.kubeconfig, encoding="utf-8") as file:
        now, _entries = Asking(json.load(file)).journal()
    assert now >= SETTINGS.start
    assert process.running(directory).pid == started.pid
    assert process.stop(directory) is True
    wait(lambda: is_gone(started.pid))
    assert not os.path.exists(directory)
    assert process.running(directory) is None
    assert process.stop(directory) is False


def test_it_is_no_child_of_whoever_starts_it(directory):
    started = start(directory)
    with pytest.raises(ChildProcessError):
        os.waitpid(started.pid, 0)
    assert os.getsid(started.pid) != os.getsid(0)


def test_one_of_the_same_inputs_is_taken_and_one_of_others_refused(directory):
    first = start(directory, inputs="a")
    second = start(directory, inputs="a")
    assert (second.new, second.pid, second.url) == (False, first.pid, first.url)
    with pytest.raises(Refused, match="it runs, made of something else") as caught:
        start(directory, inputs="b")
    assert caught.value.code == "twin_running"
    assert process.running(directory).pid == first.pid


def test_its_kubeconfig_is_for_its_owner_only(directory):
    assert os.stat(start(directory).kubeconfig).st_mode & 0o777 == 0o600


def test_a_port_that_is_taken_is_refused_and_nothing_is_left(directory):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(FleetError, match=f"port: {port} is in use. Use another") as caught:
            start(directory, settings=Settings(0.0, port=port))
    assert caught.value.code == "invalid_option"
    assert not os.path.exists(directory)


def test_what_the_api_would_not_take_is_refused_and_nothing_is_left(directory):
    bad = parse_spec({"nodes": [{"pool": "Upper_Case"}]})
    with pytest.raises(FleetError, match=r"spec: .*Upper_Case") as caught:
        start(directory, partial(twin_of, bad))
    assert caught.value.code == "invalid_option"
    assert not os.path.exists(directory)


def test_a_fault_of_ours_is_told_with_its_place_and_nothing_is_left(directory):
    with pytest.raises(RuntimeError, match=r"(?s)the process of the twin ended.*TypeError"):
        start(directory, partial(int, "7"))
    assert not os.path.exists(directory)


def test_who_is_interrupted_leaves_nothing(directory):
    with pytest.raises(Interrupted, match="SIGTERM"):
        start(directory, partial(time.sleep), Settings(0.0), interruption=lambda: "SIGTERM")
    assert not os.path.exists(directory)


def test_a_directory_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "notes").write_text("mine")
    for act in (start, process.stop):
        with pytest.raises(InvalidOption, match="holds other files"):
            act(str(tmp_path))
    assert os.listdir(tmp_path) == ["notes"]


def test_one_that_was_killed_is_not_taken_for_running_and_makes_room(directory):
    first = start(directory, inputs="a")
    os.kill(first.pid, signal.SIGKILL)
    wait(lambda: is_gone(first.pid))
    wait(lambda: process.running(directory) is None)
    second = start(directory, inputs="b")
    assert second.new
    assert second.pid != first.pid


def test_it_ends_by_itself_when_nobody_asks(directory):
    started = start(directory, lifetime=0.1)
    wait(lambda: is_gone(started.pid))
    assert not os.path.exists(directory)


def test_it_ends_when_its_directory_is_removed(directory):
    started = start(directory)
    shutil.rmtree(directory)
    wait(lambda: is_gone(started.pid))


def faulty(**annotations):
    """No controller of ours expects such an annotation from a person."""
    workload = {**SPEC["workloads"][0], "annotations": annotations}
    return partial(twin_of, parse_spec({**SPEC, "workloads": [workload]}))


def test_a_fault_of_ours_in_its_run_up_is_told_and_leaves_nothing(directory):
    with pytest.raises(RuntimeError, match="soon"):
        start(directory, faulty(**{"start-seconds": "soon"}))
    assert not os.path.exists(directory)


def test_a_fault_of_ours_later_ends_it_and_its_log_says_why(directory):
    started = start(directory, faulty(**{"finish-seconds": "90", "exit-code": "none"}))
    with open(started.kubeconfig, encoding="utf-8") as file:
        asking = Asking(json.load(file))
    assert process.last_words(directory) == ""
    try:
        asking.let_pass(120)
    except OSError:
        pass
    wait(lambda: process.last_words(directory))
    assert "Traceback" in process.last_words(directory)
