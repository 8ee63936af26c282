# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Time, as execution sees it: injected, so that a twin's virtual clock can replace it."""

from __future__ import annotations

import queue
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timezone
from typing import Callable, Generic, Optional, Protocol, TypeVar

T = TypeVar("T")

FOREVER = float("inf")


class Inbox(Generic[T]):
    """Where watches, workers and timers leave events for the one thread that decides.

    It counts what was put into it and what was taken out: while the two differ nobody may say that
    there is nothing to do.
    """

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Optional[T]] = queue.SimpleQueue()
        self._guard = threading.Lock()
        self._put = 0
        self._taken = 0

    @property
    def empty(self) -> bool:
        return self._put == self._taken

    def put(self, event: T) -> None:
        with self._guard:
            self._put += 1
        self._queue.put(event)

    def wake(self) -> None:
        """Lets one take() return None before its time is over."""
        self._queue.put(None)

    def take(self, timeout: Optional[float]) -> Optional[T]:
        """The next event, which counts as there until taken_out(); None after `timeout` seconds of
        real time, or when woken. A timeout of None is no limit."""
        try:
            return self._queue.get(timeout=timeout)
        except queue.Empty:
            return None

    def taken_out(self) -> None:
        """What take() returned is in somebody's hands now."""
        with self._guard:
            self._taken += 1


class Clock(Protocol):
    """Everything in execution that tells or passes time goes through one of these.

    Virtual time moves on only while every thread of the run waits, so threads are counted: one is
    started with start_thread(), and waits with sleep() or receive(), never by itself.
    """

    @property
    def look_every(self) -> float:
        """Seconds after which a wait looks whether the run must stop."""

    def now(self) -> datetime:
        """The wall clock, aware, UTC: for records that others read."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary start: for deadlines and durations."""

    def sleep(self, seconds: float) -> None:
        """Waits; a non-positive number returns at once."""

    def receive(self, inbox: Inbox[T], timeout: float) -> Optional[T]:
        """The next event, or None when `timeout` seconds passed without one, or a little before:
        whoever waits for a time looks at it again. FOREVER waits for an event only."""

    def start_thread(self, work: Callable[[], None], name: str) -> threading.Thread:
        """Starts a daemon thread of the run: it must not keep a process alive that is to end."""

    def attention(self) -> Attention:
        """For a watch that is about to be opened."""

    def close(self) -> None:
        """The run is over: nobody waits for it any more."""


class Attention(Protocol):
    """What a clock must know of one watch: virtual time waits for events that are on their way."""

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """Of the watch request."""

    def waiting(self) -> AbstractContextManager[None]:
        """Surrounds the wait for the next event; by then the last one has been dealt with."""

    def close(self) -> None:
        """The watch is over. Idempotent."""


class NoAttention:
    """The machine's own time waits for nobody."""

    headers: tuple[tuple[str, str], ...] = ()

    def waiting(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        """There is nothing to forget."""


class SystemClock:
    """The machine's own time."""

    look_every = 1.0

    def now(self) -> datetime:
        return datetime.now(timezone.utc)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        if seconds > 0:
            time.sleep(seconds)

    def receive(self, inbox: Inbox[T], timeout: float) -> Optional[T]:
        event = inbox.take(None if timeout == FOREVER else max(0.0, timeout))
        if event is not None:
            inbox.taken_out()
        return event

    def start_thread(self, work: Callable[[], None], name: str) -> threading.Thread:
        thread = threading.Thread(target=work, name=name, daemon=True)
        thread.start()
        return thread

    def attention(self) -> NoAttention:
        return NoAttention()

    def close(self) -> None:
        """Nobody waits."""
