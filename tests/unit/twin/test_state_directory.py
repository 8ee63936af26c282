# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A twin's directory: whose it is, who lives in it, and what it takes for its own."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.state_directory import (
    KUBECONFIG,
    LOCK,
    STATE,
    StateDirectory,
)

HOLDING = """
import fcntl, os, sys
number = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(number, fcntl.LOCK_EX)
os.write(number, str(os.getpid()).encode())
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path):
    return StateDirectory(str(tmp_path / "twin"))


@pytest.fixture
def neighbour(place):
    """Another process, which lives in the directory until it is told to go."""
    place.claim()
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDING, place.file(LOCK)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.communicate()


def test_it_is_made_for_its_owner_only(place):
    place.claim()
    assert stat.S_IMODE(os.stat(place.path).st_mode) == 0o700


def test_an_empty_one_is_taken_and_closed_to_others(place):
    os.mkdir(place.path, 0o755)
    place.claim()
    assert stat.S_IMODE(os.stat(place.path).st_mode) == 0o700


def test_nobody_lives_in_one_that_is_not_there(place):
    place.check()
    assert (place.occupant(), place.known(), place.state()) == (None, False, None)


def test_who_lives_in_it_is_known_by_its_lock(place, neighbour):
    assert place.occupant() == neighbour.pid
    assert place.occupy() is None


def test_a_pid_that_stands_in_a_lock_that_nobody_holds_is_nobodys(place, neighbour):
    neighbour.kill()
    neighbour.wait()
    assert place.known()
    assert place.occupant() is None
    number = place.occupy()
    assert place.holds(number)
    place.clear(number)
    assert not os.path.exists(place.path)


def test_whoever_holds_it_and_has_not_said_who_it_is_lives_there_all_the_same(place, neighbour):
    os.truncate(place.file(LOCK), 0)
    assert place.occupant() == 0


def test_a_lock_that_was_removed_is_held_no_longer(place):
    place.claim()
    number = place.occupy()
    os.unlink(place.file(LOCK))
    assert not place.holds(number)
    os.close(number)


def test_only_what_is_its_own_is_cleared_away(place):
    place.claim()
    number = place.occupy()
    place.write_state({"pid": 1})
    assert place.state() == {"pid": 1}
    for name in (KUBECONFIG, "notes"):
        with open(place.file(name), "w", encoding="utf-8") as file:
            file.write(name)
    place.clear(number)
    assert os.listdir(place.path) == ["notes"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        pytest.param(lambda path: open(path, "w").close(), "is no directory", id="a-file"),
        pytest.param(
            lambda path: [os.mkdir(path), open(f"{path}/{STATE}", "w").close()],
            r"holds other files \(state.json\)",
            id="files-but-no-lock",
        ),
        pytest.param(
            lambda path: [os.mkdir(path), os.chown(path, 4711, 4711)],
            "belongs to another user",
            id="somebody-elses",
            marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root can give it away"),
        ),
    ],
)
def test_what_is_not_a_twins_is_left_alone(place, make, words):
    make(place.path)
    for act in (place.check, place.claim):
        with pytest.raises(InvalidOption, match=words) as caught:
            act()
        assert caught.value.remedy


def test_where_none_can_be_made_is_refused_before_and_then(tmp_path):
    place = StateDirectory(str(tmp_path / "absent" / "twin"))
    for act in (place.check_parent, place.claim):
        with pytest.raises(InvalidOption, match="cannot be made"):
            act()
