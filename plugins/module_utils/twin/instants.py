# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Between the twin's seconds since the epoch and the instants of objects."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def instant(seconds: float) -> datetime:
    """Aware, UTC."""
    return _EPOCH + timedelta(seconds=seconds)
