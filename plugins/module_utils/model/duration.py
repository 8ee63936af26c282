# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Durations of the user's options: "90", "6m", "1h30m", "1d", "500ms", or a number of seconds."""

from __future__ import annotations

import math
import re
from typing import Union

_NUMBER = r"([0-9]+(?:\.[0-9]+)?)"
_UNITS = (("d", 86400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0), ("ms", 0.001))
_DURATION = re.compile("".join(f"(?:{_NUMBER}{unit})?" for unit, _unused in _UNITS))
_SECONDS = re.compile(_NUMBER)


def parse_duration(value: Union[str, int, float]) -> float:
    """Returns seconds. A number, or a text without a unit, is in seconds already.

    Units d, h, m, s and ms, from the longest to the shortest, each at most once.
    Raises ValueError for anything else, a negative duration included.
    """
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(_problem(value))
    if isinstance(value, str):
        return _parse_text(value.strip())
    if not math.isfinite(value):
        raise ValueError(_problem(value))
    return _not_negative(float(value))


def _parse_text(text: str) -> float:
    if text.startswith("-"):
        raise ValueError(f"a duration cannot be negative: {text!r}")
    if _SECONDS.fullmatch(text):
        return float(text)
    match = _DURATION.fullmatch(text) if text else None
    if match is None:
        raise ValueError(_problem(text))
    parts = zip(match.groups(), _UNITS)
    return sum(
        float(number) * seconds for number, (_unused, seconds) in parts if number is not None
    )


def _not_negative(seconds: float) -> float:
    if seconds < 0:
        raise ValueError(f"a duration cannot be negative: {seconds!r}")
    return seconds


def _problem(value: object) -> str:
    return f"not a duration: {value!r}. Write seconds (90), or units as in 6m, 1h30m, 1d or 500ms."
