# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The process of a twin, from its first line to its end. process.py starts it.

It reads an Order from its standard input, and writes one line to its standard output: what it has
become, or why it could not. From then on it holds nothing that it was started with.
"""

from __future__ import annotations

import errno
import json
import os
import pickle
import signal
import sys
import time
import traceback
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import (
    FleetError,
    InvalidOption,
    MissingLibrary,
    Refused,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.answers import Refusal
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.credentials import write_private
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.state_directory import (
    KUBECONFIG,
    StateDirectory,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.twin import Settings, Twin

# Seconds between two looks whether it is still wanted.
_LOOK = 1.0


@dataclass(frozen=True)
class Order:
    """make: a function that can be pickled. inputs: what it is made of, as text.
    lifetime: seconds without a request."""

    make: Callable[[Settings], Twin]
    settings: Settings
    lifetime: float
    inputs: str


def main(path: str) -> None:
    directory = StateDirectory(path)
    lock = directory.occupy()
    if lock is None:
        _answer(_words(running_already(path)))
        return
    if os.fork():
        # Whoever started us waits for this half only: the twin has no parent to be reaped by. The
        # lock is held by then, so that whoever is interrupted sees that there is one to be ended.
        os._exit(0)
    directory.sign(lock)
    twin: Optional[Twin] = None
    try:
        order: Order = pickle.load(sys.stdin.buffer)
        twin = _started(order)
        state = _state(twin, order.inputs)
        write_private(directory.file(KUBECONFIG), twin.kubeconfig())
        directory.write_state(state)
        signal.signal(signal.SIGTERM, _end)
        _answer(state)
        _let_go()
        _live(twin, directory, lock, order.lifetime)
    except Exception as error:  # noqa: BLE001 - the edge of the process: the other side raises it
        _answer(_words(error))
    finally:
        if twin is not None:
            twin.stop()
        directory.clear(lock)


def running_already(path: str) -> Refused:
    return Refused(
        f"Twin {path}",
        "twin_running",
        "it runs, made of something else than is asked for.",
        "Stop it first (state: stopped), or name another directory.",
    )


def _started(order: Order) -> Twin:
    """Raises InvalidOption (port, spec), MissingLibrary."""
    try:
        twin = order.make(order.settings)
    except Refusal as refusal:
        raise InvalidOption("spec", f"{refusal}.", "Correct it.") from refusal
    except ImportError as error:
        raise MissingLibrary(error.name or "cryptography", sys.executable, str(error)) from error
    try:
        twin.start()
    except OSError as error:
        raise port_problem(order.settings.port, error) from error
    if twin.time.fault:
        raise RuntimeError(twin.time.fault)
    return twin


def port_problem(port: int, error: OSError) -> InvalidOption:
    taken = error.errno == errno.EADDRINUSE
    problem = "is in use" if taken else f"cannot be had ({error.strerror or error})"
    return InvalidOption("port", f"{port} {problem}.", "Use another, or 0 for any that is free.")


def _state(twin: Twin, inputs: str) -> dict[str, Any]:
    return {
        "url": twin.url,
        "pid": os.getpid(),
        "inputs": inputs,
        "time": twin.time.now(),
        "virtual": twin.settings.virtual,
        "nodes": len(twin.store.objects("nodes")),
        "pods": len(twin.store.objects("pods")),
    }


def _words(error: Exception) -> dict[str, Any]:
    if isinstance(error, FleetError):
        return {"code": error.code, "problem": error.problem, "remedy": error.remedy}
    return {"fault": "".join(traceback.format_exception(type(error), error, error.__traceback__))}


def _answer(document: Mapping[str, Any]) -> None:
    """Raises OSError when nobody listens any more: then the twin is not wanted either."""
    os.write(1, json.dumps(document).encode() + b"\n")


def _let_go() -> None:
    """Ansible waits until nobody holds the other end of what a task writes to."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)


def _end(number: int, _frame: object) -> None:
    # Once is enough: a second one must not disturb the end.
    signal.signal(number, signal.SIG_IGN)
    raise SystemExit


def _live(twin: Twin, directory: StateDirectory, lock: int, lifetime: float) -> None:
    """Until SIGTERM, or nobody asked for so long, or the directory was removed. When its time has
    come to a standstill it ends at once, and leaves its log: nobody is to wait for ever."""
    while twin.idle < lifetime and directory.holds(lock):
        if twin.time.fault:
            os._exit(1)
        time.sleep(_LOOK)
