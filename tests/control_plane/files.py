# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Files that several processes share."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Readers see the old text or the new one, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text)
    temporary.replace(path)


@contextlib.contextmanager
def locked(path: Path, waiting: str = "") -> Iterator[None]:
    """Holds the lock file; the operating system gives it back when this process dies.

    `waiting` is said once when somebody else holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting:
                print(waiting, file=sys.stderr, flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def next_number(path: Path, limit: int) -> int:
    """Counts from 0 to limit - 1 and begins again, across processes."""
    with locked(path.with_name(path.name + ".lock")):
        number = int(path.read_text()) if path.exists() else 0
        write_atomically(path, str((number + 1) % limit))
        return number


def remove_tree(path: Path) -> None:
    """As far as it goes: a reader may be adding a file at this moment."""
    shutil.rmtree(path, ignore_errors=True)
