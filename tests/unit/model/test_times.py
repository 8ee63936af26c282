# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""model/times: instants as the API writes them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.times import (
    format_instant,
    format_micro_instant,
    parse_instant,
)

READ = [
    ("2026-11-30T22:25:54Z", (2026, 11, 30, 22, 25, 54)),
    ("2026-11-30T22:25:54.5z", (2026, 11, 30, 22, 25, 54, 500000)),
    ("2026-11-30t22:25:54.123456789Z", (2026, 11, 30, 22, 25, 54, 123456)),
    ("2026-12-01T00:25:54+02:00", (2026, 11, 30, 22, 25, 54)),
    ("2026-11-30T16:55:54-05:30", (2026, 11, 30, 22, 25, 54)),
]
REFUSED = [
    "",
    "now",
    "2026-11-30",
    "2026-11-30T22:25:54",
    "2026-11-30 22:25:54Z",
    "2026-13-01T00:00:00Z",
    "2026-W48-1T00:00:00Z",
    "2026-11-30T22:25+01Z",
    "2026-11-30T22:25:54xZ",
]


@pytest.mark.parametrize(("text", "parts"), READ, ids=[text for text, _unused in READ])
def test_an_instant_is_read_in_utc_and_cut_to_microseconds(text, parts):
    assert parse_instant(text) == datetime(*parts, tzinfo=timezone.utc)
    assert parse_instant(text).utcoffset() == timedelta(0)


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_rfc_3339_time_is_a_value_error(text):
    with pytest.raises(ValueError):
        parse_instant(text)


@given(st.integers(0, 2**54))
def test_what_is_written_is_read_back(micros):
    instant = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=micros)
    assert parse_instant(format_micro_instant(instant)) == instant
    assert parse_instant(format_instant(instant)) == instant.replace(microsecond=0)
