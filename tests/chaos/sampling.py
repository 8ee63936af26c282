# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which runs are made: drawn from one seed, the same in every process of a test run.

EVENKEEL_SEED=NUMBER repeats a run of the tests. EVENKEEL_CHAOS=all kills at every request instead
of a sample of them, and breaks the API by more seeds.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from typing import TypeVar

from .playing import Cancelled, Playing, Terminated

T = TypeVar("T")

SAMPLE = 25
WEATHERS = 6
WEATHERS_OF_ALL = 60
# No run makes more requests: a test sees to it that this stays true.
MOST_REQUESTS = 160

KINDS: tuple[type[Playing], ...] = (Playing, Terminated, Cancelled)
# before: the request never arrives. after: it was carried out, and its answer never arrives.
MOMENTS = ("before", "after")
# What the next person does about it. `stop` ends with the nodes in maintenance, and exits then.
RECOVERIES = ("enter", "exit", "stop")


@dataclass(frozen=True)
class Case:
    """share: of a run's requests, those that were made before the kill: 0 <= share < 1; or
    request: the number of the one at which it comes (0: the share decides)."""

    share: float
    request: int
    kind: type[Playing]
    moment: str
    recovery: str
    cordoned: bool

    def strikes_at(self, requests: int) -> int:
        return self.request or 1 + int(self.share * requests)

    def __str__(self) -> str:
        place = f"request-{self.request}" if self.request else f"{self.share:.0%}"
        cordon = "-foreign-cordon" if self.cordoned else ""
        return f"{place}-{self.kind.__name__}-{self.moment}-then-{self.recovery}{cordon}"


def seed_of_this_run() -> int:
    """Workers of xdist share an id, and draw their seed from that."""
    given = os.environ.get("EVENKEEL_SEED")
    if given:
        return int(given)
    shared = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    return random.Random(shared).randrange(10**6)


def takes_all() -> bool:
    return os.environ.get("EVENKEEL_CHAOS") == "all"


def cases(seed: int, *, every: bool) -> list[Case]:
    """Every request once, or a sample that is spread over the run and over all ways to die."""
    draw = random.Random(seed)
    count = MOST_REQUESTS if every else SAMPLE
    ways = [(kind, moment) for kind in KINDS for moment in MOMENTS]
    chosen = _evenly(draw, ways, count)
    recoveries = _evenly(draw, list(RECOVERIES), count)
    return [
        Case(
            share=(number + draw.random()) / count,
            request=number + 1 if every else 0,
            kind=kind,
            moment=moment,
            recovery=recovery,
            cordoned=draw.random() < 0.5,
        )
        for number, ((kind, moment), recovery) in enumerate(zip(chosen, recoveries, strict=True))
    ]


def weathers(seed: int, *, every: bool) -> list[int]:
    """One seed for each run against a broken API."""
    draw = random.Random(seed + 1)
    return [draw.randrange(10**6) for _run in range(WEATHERS_OF_ALL if every else WEATHERS)]


def _evenly(draw: random.Random, values: list[T], count: int) -> list[T]:
    """Each value as often as any other, or once more, in a random order."""
    repeated = [values[number % len(values)] for number in range(count)]
    draw.shuffle(repeated)
    return repeated
