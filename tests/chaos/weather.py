# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Bad days of an API server, drawn from a seed: the same for request number n each time.

One request in eight suffers. Whatever an overloaded server, a proxy in front of it or a network may
do is among it, and for each fault the client cannot tell whether a write was carried out, it
sometimes was and sometimes was not.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

from .proxy import UNDISTURBED, Answer, Exchange, Treatment

PROBABILITY = 1 / 8
# Watches are few, and live long: more of them suffer, so that each run sees some of it.
WATCH_PROBABILITY = 1 / 2
# Seconds.
STALL = 1.5

_GONE = Answer(410, "Expired", "The resourceVersion for the provided watch is too old.")
_REQUESTS: tuple[tuple[str, Treatment], ...] = (
    ("429", Treatment(instead=Answer(429, "TooManyRequests", "Too many requests.", 1))),
    ("500", Treatment(instead=Answer(500, "InternalError", "etcdserver: request timed out"))),
    ("503", Treatment(instead=Answer(503, "ServiceUnavailable", "The server is overloaded."))),
    ("reset before", Treatment(lost="request")),
    ("reset after", Treatment(lost="answer")),
    ("stall, then the answer", Treatment(pause=STALL)),
    ("stall, then a reset", Treatment(lost="answer", pause=STALL)),
    ("half an answer", Treatment(share=0.5)),
)
_WATCHES: tuple[tuple[str, Treatment], ...] = (
    ("watch dropped", Treatment(events=2)),
    ("watch never begun", Treatment(lost="answer")),
    ("410 to the watch", Treatment(instead=_GONE)),
    ("410 within the watch", Treatment(events=2, last=_GONE)),
    ("503 to the watch", Treatment(instead=Answer(503, "ServiceUnavailable", "Overloaded."))),
)


@dataclass
class Weather:
    """A script for Proxy. `seen` counts what it did."""

    seed: int
    seen: Counter[str] = field(default_factory=Counter)

    def __call__(self, exchange: Exchange) -> Treatment:
        draw = random.Random(f"{self.seed} {exchange.number}")
        faults, probability = (
            (_WATCHES, WATCH_PROBABILITY) if exchange.watches else (_REQUESTS, PROBABILITY)
        )
        if draw.random() >= probability:
            return UNDISTURBED
        name, treatment = draw.choice(faults)
        self.seen[name] += 1
        return treatment
