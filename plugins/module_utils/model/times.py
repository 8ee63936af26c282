# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Instants as the Kubernetes API writes them: RFC 3339, in UTC."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
# Python 3.9 and 3.10 read neither "Z" nor nanoseconds with datetime.fromisoformat.
_RFC3339 = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})\Z"
)


def parse_instant(text: str) -> datetime:
    """Returns the aware UTC datetime of an RFC 3339 text, cut to microseconds.

    Raises ValueError for anything else, a time without an offset included.
    """
    # 2026-11-30T22:25:54Z, as nearly every time of an API object looks. Every third character is
    # looked at, so that fromisoformat is given no other form: newer Pythons read weeks and more.
    if text[4:19:3] == "--T::" and text[19:] == "Z":
        return datetime.fromisoformat(f"{text[:19]}+00:00")
    match = _RFC3339.match(text)
    if match is None:
        raise ValueError(f"not an RFC 3339 time: {text!r}")
    day, clock, fraction, offset = match.groups()
    micros = (fraction or "")[:6].ljust(6, "0")
    zone = "+00:00" if offset in "Zz" else offset
    return datetime.fromisoformat(f"{day}T{clock}.{micros}{zone}").astimezone(timezone.utc)


def instant_at(seconds: float) -> datetime:
    """Returns the aware UTC datetime of so many seconds since the epoch."""
    return _EPOCH + timedelta(seconds=seconds)


def format_instant(instant: datetime) -> str:
    """Returns metav1.Time's form, whole seconds: 2026-11-30T22:25:54Z."""
    return instant.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_micro_instant(instant: datetime) -> str:
    """Returns metav1.MicroTime's form, which a Lease's renewTime has."""
    return instant.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
