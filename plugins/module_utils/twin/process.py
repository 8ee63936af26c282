# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A twin as a process of its own, which outlives the task that starts it.

    make = functools.partial(twin_of, spec)
    start(make, Settings(now, virtual=True, run_up=3600), "/tmp/twin")
    ... -e kubeconfig=/tmp/twin/kubeconfig
    stop("/tmp/twin")

A fresh interpreter, not a fork: whoever starts it is a worker of Ansible with threads, signal
handlers and open pipes, or a module whose program lies in an archive that is deleted with its task.
Such an archive is copied into the twin's directory first.
"""

from __future__ import annotations

import json
import os
import pickle
import select
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any, Callable, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    FleetError,
    Interrupted,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.child import (
    Order,
    running_already,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.state_directory import (
    CODE,
    KUBECONFIG,
    LOG,
    StateDirectory,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings, Twin

LIFETIME = 3600.0

# Other installations may have a package ansible_collections of their own, which would hide ours.
_PROGRAM = """
import sys, types
package = types.ModuleType("ansible_collections")
package.__path__ = [sys.argv[1]]
sys.modules[package.__name__] = package
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.child import main
main(sys.argv[2])
"""
# Seconds: between two looks at one that starts and at one that ends, and until that is killed.
_LOOK = 0.2
_SHORT = 0.02
_PATIENCE = 10.0


@dataclass(frozen=True)
class Started:
    """directory: its state. kubeconfig: a path in it. new: False when it ran already.
    time: the twin's own, in seconds since the epoch; nodes, pods: how many; all as it began."""

    directory: str
    kubeconfig: str
    url: str
    pid: int
    new: bool
    virtual: bool
    time: float
    nodes: int
    pods: int


def start(
    make: Callable[[Settings], Twin],
    settings: Settings,
    directory: str,
    lifetime: float = LIFETIME,
    *,
    inputs: str = "",
    interruption: Callable[[], str] = lambda: "",
) -> Started:
    """Returns once it answers.

    make: can be pickled (a function of a module, or functools.partial of one and plain values).
    lifetime: seconds of real time without a request after which it ends by itself.
    inputs: what it is made of, as text; a twin that runs in the directory with the same is taken.
    Raises FleetError, and leaves nothing half started: what `make` refuses, a port that is taken or
    a directory of somebody else (InvalidOption), another twin in it (Refused), Interrupted.
    """
    there = found(directory, inputs)
    if there is not None:
        return there
    place = StateDirectory(directory)
    place.claim()
    answered = False
    try:
        order = Order(make, settings, lifetime, inputs)
        answer = _asked(place, order, interruption)
        answered = "url" in answer
    finally:
        if not answered:
            _end(place, signal.SIGKILL)
    if "fault" in answer:
        raise RuntimeError(f"the process of the twin ended:\n{answer['fault']}")
    if not answered:
        raise NotStarted(**answer)
    return _told(place, answer, new=True)


def found(directory: str, inputs: str) -> Optional[Started]:
    """The twin that runs in this directory, made of the same inputs; None when none runs.

    Raises Refused for one that was made of others, InvalidOption for a directory of somebody else.
    """
    place = StateDirectory(directory)
    place.check()
    if place.occupant() is None:
        return None
    state = place.state()
    if state is None or state["inputs"] != inputs:
        raise running_already(place.path)
    return _told(place, state, new=False)


def stop(directory: str) -> bool:
    """Returns once it is gone, whether there was one; its state goes with it.

    Raises InvalidOption for a directory that is not a twin's.
    """
    place = StateDirectory(directory)
    place.check()
    return _end(place, signal.SIGTERM)


def running(directory: str) -> Optional[Started]:
    """The twin that lives in this directory; None when it ended, or never was."""
    place = StateDirectory(directory)
    state = place.state() if place.occupant() else None
    return None if state is None else _told(place, state, new=False)


def last_words(directory: str) -> str:
    """What one said that ended by a fault; "" when it lives, or ended well."""
    place = StateDirectory(directory)
    if place.occupant() is not None or not os.path.exists(place.file(LOG)):
        return ""
    with open(place.file(LOG), encoding="utf-8", errors="replace") as file:
        return file.read().strip() or "it was killed"


class NotStarted(FleetError):
    """What the new process says of its refusal; `code` is that of its error."""

    def __init__(self, code: str, problem: str, remedy: str) -> None:
        super().__init__(problem, remedy)
        self.code = code


def _told(place: StateDirectory, state: dict[str, Any], *, new: bool) -> Started:
    facts = {name: value for name, value in state.items() if name != "inputs"}
    return Started(place.path, place.file(KUBECONFIG), new=new, **facts)


# --- starting ------------------------------------------------------------------------------


def _asked(place: StateDirectory, order: Order, interruption: Callable[[], str]) -> dict[str, Any]:
    """What the new process answers. Raises Interrupted."""
    with _process(place) as process:
        try:
            pickle.dump(order, process.stdin)  # type: ignore[arg-type]
            process.stdin.close()  # type: ignore[union-attr]
        except BrokenPipeError:
            pass  # It has refused before it read all; its answer says why.
        line = _line(process, interruption)
    if not line:
        raise RuntimeError("the process of the twin ended before it answered")
    answer: dict[str, Any] = json.loads(line)
    return answer


def _process(place: StateDirectory) -> subprocess.Popen[bytes]:
    """In a session of its own: no terminal's Ctrl-C reaches it."""
    path = os.pathsep.join(entry for entry in sys.path if entry)
    log = os.open(place.file(LOG), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        # run_command of AnsibleModule waits for the end of what it starts.
        return subprocess.Popen(  # pylint: disable=ansible-bad-function
            [sys.executable, "-c", _PROGRAM, _collections(place), place.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd="/",
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,
        )
    finally:
        os.close(log)


def _collections(place: StateDirectory) -> str:
    """The directory ansible_collections that this file is in, or that of a copy of its archive."""
    here = os.path.abspath(__file__)
    archive = getattr(__spec__.loader, "archive", None)
    if archive is not None:
        copy = shutil.copyfile(archive, place.file(CODE))
        here = copy + here[len(archive) :]
    for _part in ("process.py", "twin", "module_utils", "plugins", "fleet", "evenkeel"):
        here = os.path.dirname(here)
    return here


def _line(process: subprocess.Popen[bytes], interruption: Callable[[], str]) -> bytes:
    pipe = process.stdout
    if pipe is None:
        raise RuntimeError("the process has no standard output")
    answers = False
    while not answers:
        cause = interruption()
        if cause:
            raise Interrupted(cause, "No twin was started.")
        answers = bool(select.select([pipe], [], [], _LOOK)[0])
    return pipe.readline()


# --- ending --------------------------------------------------------------------------------


def _end(place: StateDirectory, how: int) -> bool:
    """Whether there was one. how: the signal; SIGKILL follows when it does not help in time."""
    there, deadline = False, time.monotonic() + _PATIENCE
    pid = place.occupant()
    while pid is not None:
        if pid and not there:
            there = _signalled(pid, how)
        elif pid and time.monotonic() > deadline:
            _signalled(pid, signal.SIGKILL)
        time.sleep(_SHORT)
        pid = place.occupant()
    lock = place.occupy() if place.known() else None
    if lock is not None:
        place.clear(lock)
    return there


def _signalled(pid: int, how: int) -> bool:
    try:
        os.kill(pid, how)
    except ProcessLookupError:
        return False
    return True
