# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The directory of a twin that is a process: what is in it, and whose it is.

    lock         held (flock) by the twin as long as it lives; its text is the twin's PID
    state.json   written once the twin answers: {url, pid, inputs, time, virtual}
    kubeconfig   for its clients
    log          what the process had to say
    code.zip     the twin's own program, where it was started from an archive that is gone by now

The kernel gives the lock up with the process, however that ends. So a PID that stands in a lock
that nobody holds is never taken for the twin's, though another process may have it by now.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import time
from typing import Any, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption

LOCK, STATE, KUBECONFIG, LOG, CODE = "lock", "state.json", "kubeconfig", "log", "code.zip"
_FILES = (STATE, f".{STATE}", KUBECONFIG, LOG, CODE)
_REMEDY = "Name a directory of its own for the twin, one that does not exist yet or is empty."


class StateDirectory:
    """path: absolute."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(os.path.expanduser(path))

    def file(self, name: str) -> str:
        return os.path.join(self.path, name)

    # Whose it is

    def claim(self) -> None:
        """Makes it, or takes one that is there. Raises InvalidOption where it cannot be made,
        or is somebody else's, or not a twin's."""
        try:
            os.mkdir(self.path, 0o700)
        except FileExistsError:
            self.check()
            os.chmod(self.path, 0o700)
        except OSError as error:
            raise _bad(self.path, f"cannot be made ({error.strerror}).", "Name another.") from error

    def check(self) -> None:
        """Raises InvalidOption for one that exists and is not a twin's of this user, or empty."""
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _bad(self.path, f"cannot be read ({error.strerror}).", _REMEDY) from error
        if not stat.S_ISDIR(found.st_mode):
            raise _bad(self.path, "is no directory.", _REMEDY)
        if found.st_uid != os.geteuid():
            raise _bad(self.path, "belongs to another user.", _REMEDY)
        names = os.listdir(self.path)
        if names and LOCK not in names:
            raise _bad(self.path, f"holds other files ({sorted(names)[0]}).", _REMEDY)

    def check_parent(self) -> None:
        """Raises InvalidOption where claim() could not make it."""
        parent = os.path.dirname(self.path)
        if not os.path.isdir(self.path) and not os.access(parent, os.W_OK | os.X_OK):
            problem = f"cannot be made ({parent} does not exist, or is not writable)."
            raise _bad(self.path, problem, "Name another.")

    def known(self) -> bool:
        """Has a twin been here? What it left is there as long as its lock."""
        return os.path.exists(self.file(LOCK))

    # Who lives in it

    def occupy(self) -> Optional[int]:
        """Takes the lock for this process; the descriptor must stay open. None when it is held."""
        for pause in (0.0, 0.02, 0.05, 0.1, 0.2):
            # Who only looks (occupant) holds it for a moment, too.
            time.sleep(pause)
            number = os.open(self.file(LOCK), os.O_RDWR | os.O_CREAT, 0o600)
            if _locked(number) and self.holds(number):
                os.truncate(number, 0)
                return number
            os.close(number)
        return None

    def sign(self, number: int) -> None:
        """Says that this process is the one that lives here. number: of the lock."""
        os.write(number, str(os.getpid()).encode())

    def holds(self, number: int) -> bool:
        """Is this still the lock of the directory? It is not once somebody removed it."""
        try:
            return os.path.samestat(os.fstat(number), os.stat(self.file(LOCK)))
        except OSError:
            return False

    def occupant(self) -> Optional[int]:
        """The PID of the process that holds the lock, 0 when it has not said yet; None when nobody
        holds it."""
        try:
            with open(self.file(LOCK), encoding="ascii") as file:
                held = not _locked(file.fileno(), fcntl.LOCK_SH)
                return int(file.read() or 0) if held else None
        except (FileNotFoundError, NotADirectoryError):
            return None

    # What it says

    def write_state(self, document: dict[str, Any]) -> None:
        """All of it or nothing, for whoever reads at the same time."""
        temporary = self.file(f".{STATE}")
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(document, file)
        os.replace(temporary, self.file(STATE))

    def state(self) -> Optional[dict[str, Any]]:
        try:
            with open(self.file(STATE), encoding="utf-8") as file:
                found: dict[str, Any] = json.load(file)
                return found
        except FileNotFoundError:
            return None

    # Its end

    def clear(self, number: int) -> None:
        """Removes what a twin has left, and the directory when nothing else is in it.

        number: of the lock, which goes last: without it the directory is not known for a twin's.
        """
        for name in (*_FILES, LOCK):
            _remove(self.file(name))
        try:
            if not os.listdir(self.path):
                os.rmdir(self.path)
        except FileNotFoundError:
            pass  # Somebody was faster.
        finally:
            os.close(number)


def _locked(number: int, how: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(number, how | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _bad(path: str, problem: str, remedy: str) -> InvalidOption:
    return InvalidOption("directory", f"{path} {problem}", remedy)
