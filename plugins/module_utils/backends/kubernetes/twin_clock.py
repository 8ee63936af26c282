# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The clock of a run that plays against a twin in virtual time: execution's Clock.

The twin's timekeeper lets time pass once this run has nothing left to do. That is so when each of
its threads waits, nothing lies in an inbox that one of them waits for, and all watch events that
were sent have been dealt with. One thread declares it to the twin, one hears the times.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Callable, Iterator, Mapping, Optional, Protocol, TypeVar

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import instant_at
from ansible_collections.evenkeel.fleet.plugins.module_utils.model.twin_protocol import (
    RUNNER_HEADER,
    WATCH_HEADER,
)

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")

# Seconds of real time after which a wait ends early, so that signals are noticed though virtual
# time stands still.
_REAL_LOOK = 1.0


class Box(Protocol[T_co]):
    """The part of execution's Inbox that is needed here."""

    @property
    def empty(self) -> bool: ...

    def wake(self) -> None: ...

    def take(self, timeout: Optional[float]) -> Optional[T_co]: ...

    def taken_out(self) -> None: ...


class Link(Protocol):
    """The twin, as its clock sees it."""

    def times(self) -> Iterator[float]:
        """Each new virtual time, the present one first; ends with the connection."""

    def wait(self, until: float, seen: Mapping[str, int]) -> None:
        """Declares that nothing happens here before `until` unless something comes."""

    def close(self) -> None:
        """Ends times(), from any thread."""


@dataclass(eq=False)
class _Wait:
    until: float
    box: Optional[Box[Any]]


class TwinClock:
    """Thread-safe. close() when the run is over: the twin waits for it until then."""

    # Virtual seconds: each look is a round trip to the twin, and a signal ends a wait by itself.
    look_every = 30.0

    def __init__(self, runner: str, link: Link) -> None:
        self.runner = runner
        self._link = link
        self._state = threading.Condition()
        self._now = 0.0
        self._told_at: Optional[float] = None
        self._broken = False
        # The thread that makes the clock works; the others come by start_thread().
        self._working = 1
        self._waits: list[_Wait] = []
        self._seen: dict[str, int] = {}
        self._watches = 0
        self._news = True
        threading.Thread(target=self._hear, name="twin-time", daemon=True).start()
        threading.Thread(target=self._declare, name="twin-wait", daemon=True).start()
        with self._state:
            self._state.wait_for(lambda: self._told_at is not None or self._broken)

    # execution's Clock

    def now(self) -> datetime:
        return instant_at(self.monotonic())

    def monotonic(self) -> float:
        if self._broken:
            # Nobody tells the time any more; what waits for it must still come to an end.
            return self._now + time.monotonic() - (self._told_at or 0.0)
        return self._now

    def sleep(self, seconds: float) -> None:
        until = self.monotonic() + seconds
        while self.monotonic() < until:
            with self._waiting(_Wait(until, None)):
                self._pass(until)

    def receive(self, inbox: Box[T], timeout: float) -> Optional[T]:
        event = inbox.take(0)
        if event is None and timeout > 0:
            with self._waiting(_Wait(self.monotonic() + timeout, inbox)):
                event = inbox.take(_REAL_LOOK)
        if event is not None:
            # Only now, as a thread at work: until then the inbox itself says that there is work.
            inbox.taken_out()
        return event

    def start_thread(self, work: Callable[[], None], name: str) -> threading.Thread:
        def counted() -> None:
            try:
                work()
            finally:
                self._end_work()

        self._begin_work()
        thread = threading.Thread(target=counted, name=name, daemon=True)
        thread.start()
        return thread

    def attention(self) -> Watch:
        with self._state:
            self._watches += 1
            number = str(self._watches)
            self._seen[number] = 0
        return Watch(self, number)

    def close(self) -> None:
        self._link.close()

    # What watches tell

    def dealt_with(self, number: str) -> None:
        with self._state:
            if number in self._seen:
                self._seen[number] += 1

    def forget(self, number: str) -> None:
        with self._state:
            self._seen.pop(number, None)
            self._touch()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """The next event of a watch is waited for, however long it takes."""
        self._end_work()
        try:
            yield
        finally:
            self._begin_work()

    # Who works and who waits

    def _begin_work(self) -> None:
        with self._state:
            self._working += 1

    def _end_work(self) -> None:
        with self._state:
            self._working -= 1
            self._touch()

    @contextmanager
    def _waiting(self, wait: _Wait) -> Iterator[None]:
        with self._state:
            self._waits.append(wait)
            self._working -= 1
            self._touch()
        try:
            yield
        finally:
            with self._state:
                self._waits.remove(wait)
                self._working += 1

    def _pass(self, until: float) -> None:
        with self._state:
            self._state.wait_for(lambda: self._broken or self._now >= until, _REAL_LOOK)
        if self._broken:
            time.sleep(min(_REAL_LOOK, max(0.0, until - self.monotonic())))

    def _touch(self) -> None:
        self._news = True
        self._state.notify_all()

    def _idle(self) -> bool:
        """Is there nothing to do before the first wait ends?"""
        return self._working <= 0 and all(
            wait.until > self._now and (wait.box is None or wait.box.empty) for wait in self._waits
        )

    def _declare(self) -> None:
        while True:
            with self._state:
                self._state.wait_for(lambda: self._broken or (self._news and self._idle()))
                if self._broken:
                    return
                self._news = False
                until = min((wait.until for wait in self._waits), default=float("inf"))
                seen = dict(self._seen)
            self._link.wait(until, seen)

    def _hear(self) -> None:
        for moment in self._link.times():
            with self._state:
                self._now, self._told_at = moment, time.monotonic()
                for wait in self._waits:
                    if wait.until <= moment and wait.box is not None:
                        wait.box.wake()
                self._touch()
        with self._state:
            self._broken = True
            self._told_at = self._told_at or time.monotonic()
            self._touch()


class Watch:
    """execution's Attention: one watch of a run in virtual time."""

    def __init__(self, clock: TwinClock, number: str) -> None:
        self.headers = ((RUNNER_HEADER, clock.runner), (WATCH_HEADER, number))
        self._clock = clock
        self._number = number
        self._begun = False

    @contextmanager
    def waiting(self) -> Iterator[None]:
        # Whoever asks for the next event has dealt with the one before.
        if self._begun:
            self._clock.dealt_with(self._number)
        self._begun = True
        with self._clock.listening():
            yield

    def close(self) -> None:
        self._clock.forget(self._number)
