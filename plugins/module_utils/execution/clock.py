# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Time, as execution sees it: injected, so that a twin's virtual clock can replace it."""

from __future__ import annotations

import queue
import time
from datetime import datetime, timezone
from typing import Generic, Optional, Protocol, TypeVar

T = TypeVar("T")


class Inbox(Generic[T]):
    """Where watches, workers and timers leave events for the one thread that decides."""

    def __init__(self) -> None:
        self.queue: queue.SimpleQueue[T] = queue.SimpleQueue()

    def put(self, event: T) -> None:
        self.queue.put(event)


class Clock(Protocol):
    """Everything in execution that tells or passes time goes through one of these."""

    def now(self) -> datetime:
        """The wall clock, aware, UTC: for records that others read."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary start: for deadlines and durations."""

    def sleep(self, seconds: float) -> None:
        """Waits; a non-positive number returns at once."""

    def receive(self, inbox: Inbox[T], timeout: float) -> Optional[T]:
        """The next event, or None when `timeout` seconds passed without one."""


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        return datetime.now(timezone.utc)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        if seconds > 0:
            time.sleep(seconds)

    def receive(self, inbox: Inbox[T], timeout: float) -> Optional[T]:
        try:
            return inbox.queue.get(timeout=max(0.0, timeout))
        except queue.Empty:
            return None
