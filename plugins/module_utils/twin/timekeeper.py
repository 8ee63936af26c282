# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The time of a twin: virtual, jumping from one event to the next, or real.

Virtual time stands still while anybody works. A runner is a client that waits through this clock:
it declares until when it waits, and how many events of each watch it has taken in. Time moves on
when every runner has declared a wait, none has an event on its way to it, and no request is in
flight; then it jumps to whatever comes first, an event of the twin's own or the end of a wait. Each
jump ends all declarations: a runner that still has nothing to do declares anew, and only then does
the twin do what is due. So nothing is ever late: what a runner does at a moment is done before the
next moment comes, and it knows the time of whatever it hears of.

Without a runner nobody says that there is nothing left to do, and virtual time stands still; a
client that knows nothing of it (kubectl) can be helped with advance().
"""

from __future__ import annotations

import heapq
import itertools
import math
import threading
import time
import traceback
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Callable, Iterator, Mapping, Optional

Callback = Callable[[], None]

# Seconds of real time between two looks at virtual time while it is hurried.
_LOOK = 0.005

# Seconds by which virtual time moves on while a request is slow, and the real time before each
# such step in which others may do something.
_STEP, _STEP_REAL = 1.0, 0.002


@dataclass
class _Runner:
    """sent: events handed to it, by open watch. seen: how many of them it had taken in when it
    declared its wait; a watch that it does not name is one that it has closed.
    until: the end of that wait; None while it works. tell: hears each new time."""

    tell: Callable[[float], None]
    sent: dict[str, int] = field(default_factory=dict)
    seen: Mapping[str, int] = field(default_factory=dict)
    until: Optional[float] = None

    @property
    def idle(self) -> bool:
        taken_in = all(self.seen.get(watch, sent) == sent for watch, sent in self.sent.items())
        return self.until is not None and taken_in


@dataclass
class _Agenda:
    """What is to happen, by time and then in the order in which it was asked for."""

    _heap: list[tuple[float, int, Callback]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def add(self, when: float, callback: Callback) -> None:
        heapq.heappush(self._heap, (when, next(self._numbers), callback))

    def first(self) -> float:
        """The time of what comes first; infinity when there is nothing."""
        return self._heap[0][0] if self._heap else math.inf

    def take(self, now: float) -> list[Callback]:
        """Removes and returns what is due."""
        due: list[Callback] = []
        while self._heap and self._heap[0][0] <= now:
            due.append(heapq.heappop(self._heap)[2])
        return due


class Timekeeper:
    """Thread-safe. All times are seconds since the epoch.

    start: the time at which it begins. virtual: as said above; otherwise time passes as it does.
    fault: what ended run() before close(), or "".
    """

    def __init__(self, start: float, *, virtual: bool) -> None:
        self.virtual = virtual
        self._now = start
        self._offset = start - time.monotonic()
        self._changed = threading.Condition()
        self._agenda = _Agenda()
        self._runners: dict[str, _Runner] = {}
        self._requests = 0
        self._lingering: list[float] = []
        self._free_until = start
        self._closed = False
        self.fault = ""

    def now(self) -> float:
        return self._now if self.virtual else self._offset + time.monotonic()

    def at(self, when: float, callback: Callback) -> None:
        """Calls back at that time, or at once when it has passed, on the thread of run()."""
        with self._changed:
            self._agenda.add(when, callback)
            self._changed.notify_all()

    # Who may hold up virtual time

    @contextmanager
    def request(self) -> Iterator[None]:
        """A request is in flight: time stands still until it is answered."""
        with self._changed:
            self._requests += 1
        try:
            yield
        finally:
            with self._changed:
                self._requests -= 1
                self._changed.notify_all()

    def linger(self, seconds: float) -> None:
        """Within request(): that request is slow. Returns when so much time has passed.

        Its runner cannot declare a wait meanwhile, so virtual time passes without being asked for,
        in short steps between which the runner's other threads come to do what is due.
        """
        if seconds <= 0.0:
            return
        with self._changed:
            until = self.now() + seconds
            self._lingering.append(until)
            self._requests -= 1
            self._changed.notify_all()
            while self.now() < until and not self._closed:
                self._changed.wait(None if self.virtual else until - self.now())
            self._lingering.remove(until)
            self._requests += 1

    def join(self, runner: str, tell: Callable[[float], None]) -> None:
        """A runner comes, at work for now. tell: called with each new time; must not block."""
        with self._changed:
            self._runners[runner] = _Runner(tell)
            tell(self.now())

    def leave(self, runner: str) -> None:
        """It ended, or its connection broke: nobody waits for it any more."""
        with self._changed:
            self._runners.pop(runner, None)
            self._changed.notify_all()

    def sent(self, runner: str, watch: str) -> None:
        """A watch event is on its way to this runner; one that is not known does not matter."""
        with self._changed:
            found = self._runners.get(runner)
            if found is not None:
                found.sent[watch] = found.sent.get(watch, 0) + 1

    def ended(self, runner: str, watch: str) -> None:
        """Nothing more comes from this watch: the connection is closed."""
        with self._changed:
            found = self._runners.get(runner)
            if found is not None:
                found.sent.pop(watch, None)
                self._changed.notify_all()

    def wait(self, runner: str, until: float, seen: Mapping[str, int]) -> bool:
        """The runner does nothing more before `until` unless something comes. False when it is not
        known: it has to join (again)."""
        with self._changed:
            found = self._runners.get(runner)
            if found is None:
                return False
            found.until, found.seen = until, seen
            if until <= self.now():
                found.until = None
                found.tell(self.now())
            self._changed.notify_all()
            return True

    def advance(self, seconds: float) -> None:
        """Lets virtual time pass, at most so long, though nobody has declared a wait."""
        with self._changed:
            self._free_until = max(self._free_until, self._now) + seconds
            self._changed.notify_all()

    def pass_by(self, seconds: float) -> None:
        """Returns when so many seconds have passed, in real time after as many of those. Virtual
        time passes though nobody has declared a wait; runners are waited for as ever."""
        with self._changed:
            target = self.now() + seconds
            self._free_until = max(self._free_until, target)
            self._changed.notify_all()
            while self.now() < target and not self._closed:
                self._changed.wait(_LOOK if self.virtual else min(1.0, target - self.now()))

    @contextmanager
    def hurried(self) -> Iterator[Callable[[float], None]]:
        """Time is virtual inside, also where it is real otherwise. Gives what lets so many seconds
        of it pass and returns when they have. Only while there is no runner."""
        virtual = self.virtual
        with self._changed:
            self._now, self.virtual = self.now(), True
        try:
            yield self.pass_by
        finally:
            with self._changed:
                self._offset, self.virtual = self._now - time.monotonic(), virtual
                self._changed.notify_all()

    # The thread that makes things happen

    def run(self) -> None:
        """Carries out what is due, until close(). A fault of ours ends it: time stands still."""
        try:
            for due in iter(self._next, None):
                for callback in due:
                    callback()
        except Exception:
            self.fault = traceback.format_exc()
            self.close()
            raise

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _next(self) -> Optional[list[Callback]]:
        """Waits until something is due and returns it; None once closed."""
        with self._changed:
            while not self._closed:
                quiet = not self.virtual or self._quiet()
                due = self._agenda.take(self.now()) if quiet else []
                if due:
                    return due
                if not (self.virtual and quiet and self._jump()):
                    self._changed.wait(self._patience())
            return None

    def _quiet(self) -> bool:
        """Does everybody wait?"""
        if self._lingering and not self._requests:
            self._changed.wait(_STEP_REAL)
            return bool(self._lingering) and not self._requests
        return not self._requests and all(runner.idle for runner in self._runners.values())

    def _patience(self) -> Optional[float]:
        first = self._agenda.first()
        if self.virtual or first == math.inf:
            return None
        return max(0.0, first - self.now())

    def _jump(self) -> bool:
        """Moves virtual time to what comes next; False when nothing does, or not yet."""
        target = min(self._agenda.first(), self._allowed())
        if target == math.inf or target <= self._now:
            return False
        self._now = target
        for runner in self._runners.values():
            runner.until = None
            runner.tell(target)
        self._changed.notify_all()
        return True

    def _allowed(self) -> float:
        """How far time may go: to the end of the shortest wait."""
        if self._lingering:
            return min(self._now + _STEP, *self._lingering)
        if not self._runners:
            return self._free_until
        return min(runner.until for runner in self._runners.values() if runner.until is not None)
