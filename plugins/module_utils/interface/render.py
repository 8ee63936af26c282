# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a person reads while a call works: which events, when, and as which line."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Callable, Optional

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Progress

# Seconds. A node that tells more than a line a second is not read; one silent for long is feared.
MINIMUM_INTERVAL = 1.0
HEARTBEAT = 30.0

# What is told, and when by the clock that `waiting_since` is of.
Say = Callable[[Progress, float], None]


def line(progress: Progress, now: float) -> str:
    """n1  3/20  waiting for budget shop/web (since 42s)

    `now` is of the clock that gave `waiting_since`.
    """
    parts = [progress.node] if progress.node else []
    if progress.total:
        parts.append(f"{progress.done}/{progress.total}")
    text = progress.text
    if progress.waiting_since is not None:
        text += f" (since {span(now - progress.waiting_since)})"
    return "  ".join([*parts, text])


def span(seconds: float) -> str:
    """0s, 42s, 3m05s, 1h02m: two units at most, because nobody reads a third."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"


@dataclass
class _Told:
    """What was said of one node. `pending` came too soon after `at` and waits for its second."""

    at: float
    latest: Progress
    pending: Optional[Progress] = None


class Narrator:
    """Lets through at most one event a second per node, the urgent ones at once.

    What comes too soon is kept, and only the newest of it is told, so that the last word on a node
    is never lost. A wait is told of again every 30 seconds. `tick` must be called about once a
    second; the waits of execution do, as they ask whether they are interrupted.
    """

    def __init__(self, monotonic: Callable[[], float], say: Say) -> None:
        self._monotonic = monotonic
        self._say = say
        self._nodes: dict[str, _Told] = {}
        # Workers of execution tell from their own threads.
        self._lock = threading.Lock()

    def tell(self, progress: Progress) -> None:
        with self._lock:
            now = self._monotonic()
            told = self._nodes.get(progress.node)
            if told is None or progress.urgent or now - told.at >= MINIMUM_INTERVAL:
                self._out(progress, now)
            else:
                told.pending = progress

    def tick(self) -> None:
        """Tells what has waited for its second, and what is still being waited for."""
        with self._lock:
            now = self._monotonic()
            for told in tuple(self._nodes.values()):
                if told.pending is not None and now - told.at >= MINIMUM_INTERVAL:
                    self._out(told.pending, now)
                elif told.latest.waiting_since is not None and now - told.at >= HEARTBEAT:
                    self._out(told.latest, now)

    def close(self) -> None:
        """Tells what still waits for its second: the call has ended."""
        with self._lock:
            now = self._monotonic()
            for told in tuple(self._nodes.values()):
                if told.pending is not None:
                    self._out(told.pending, now)

    def _out(self, progress: Progress, now: float) -> None:
        self._nodes[progress.node] = _Told(now, progress)
        self._say(progress, now)
