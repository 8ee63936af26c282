# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How long to wait before the next try: exponential, bounded, with jitter."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Backoff:
    """Waits of `first` seconds, doubled each time, never more than `most`.

    Each wait is shortened by a random share of up to a half, so that runners which failed together
    do not come back together.
    """

    first: float
    most: float

    def delay(self, attempt: int, share: Callable[[], float] = random.random) -> float:
        """Seconds before try number `attempt` + 1; `attempt` counts failures, from 0."""
        whole = min(self.most, self.first * 2.0 ** min(attempt, 30))
        return whole * (1.0 - share() / 2.0)
