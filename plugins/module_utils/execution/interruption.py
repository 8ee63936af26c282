# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Why a call must stop before its end: a signal, or the death of whoever started it.

A signal does not raise here: it is noted, and the run stops at its next look, between two acts, so
that no record is left half written. Once the call has ended, an action plugin sends the signal
again (deliver) to the handler that was there before, which ends Ansible's worker as it would have
ended without us. A module does not: it ends by itself, with a result that says why.

The death of the parent matters because AWX cancels with SIGKILL: a worker in a session of its own
gets no signal at all. A parent that died is replaced by another (getppid changes); those further up
are looked up by PID and start time.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any, Optional, Sequence

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.identity import ProcessId

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

# Seconds between two looks at the parents; the waits ask far more often.
_LOOK_EVERY = 0.25


class Interruption:
    """A context manager around one call; inside it, `cause()` is Run.interruption.

    starters: processes beside the parent whose death must end the call.
    """

    def __init__(self, starters: Sequence[ProcessId] = ()) -> None:
        self._starters = tuple(starters)
        self._parent = os.getppid()
        self._signal: Optional[int] = None
        self._dead = ""
        self._next_look = 0.0
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> Interruption:
        # Only the main thread may set handlers; elsewhere the signals stay with whoever has them.
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                # SIGHUP is ignored under nohup, and then it stays so.
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._handlers[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_exc: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self._handlers.clear()

    def cause(self) -> str:
        """Returns why the call must stop, or "". Once it has a cause, it keeps it."""
        if self._signal is not None:
            return signal.Signals(self._signal).name
        now = time.monotonic()
        if not self._dead and now >= self._next_look:
            self._next_look = now + _LOOK_EVERY
            self._dead = self._dead_starter()
        return self._dead

    def deliver(self) -> None:
        """After the call: passes the signal on, or, without a parent, ends as SIGTERM would.

        Nobody reads the result of a process whose parent is dead; writing it could block for ever.
        """
        if self._signal is not None:
            os.kill(os.getpid(), self._signal)
        elif self._dead:
            os.kill(os.getpid(), signal.SIGTERM)

    def _note(self, number: int, _frame: object) -> None:
        self._signal = self._signal or number

    def _dead_starter(self) -> str:
        if os.getppid() != self._parent:
            return f"the death of the process that started this one (PID {self._parent})"
        for starter in self._starters:
            if not starter.alive():
                return f"the death of the process that started this one (PID {starter.pid})"
        return ""
