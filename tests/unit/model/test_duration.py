# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""model/duration: how long, as users write it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.duration import parse_duration

READ = [
    (90, 90.0),
    (1.5, 1.5),
    (0, 0.0),
    ("90", 90.0),
    ("1.5", 1.5),
    ("0", 0.0),
    (" 6m ", 360.0),
    ("6m", 360.0),
    ("1h30m", 5400.0),
    ("1d", 86400.0),
    ("500ms", 0.5),
    ("1s500ms", 1.5),
    ("1.5h", 5400.0),
    ("1d2h3m4s5ms", 93784.005),
]
REFUSED = [
    pytest.param("", id="empty"),
    pytest.param("m", id="a unit alone"),
    pytest.param("5 m", id="a space inside"),
    pytest.param("30m1h", id="shortest unit first"),
    pytest.param("5m5m", id="a unit twice"),
    pytest.param("1w", id="unknown unit"),
    pytest.param("6M", id="upper case"),
    pytest.param("1h30", id="a number without its unit after one with a unit"),
    pytest.param("1e3", id="an exponent"),
    pytest.param("\u0661", id="a digit of another script"),
    pytest.param("inf", id="infinity as text"),
    pytest.param(float("inf"), id="infinity"),
    pytest.param(float("nan"), id="not a number"),
    pytest.param(True, id="a boolean"),
    pytest.param(None, id="nothing"),
]


@pytest.mark.parametrize(("value", "seconds"), READ, ids=[repr(value) for value, _unused in READ])
def test_a_duration_is_read_in_seconds(value, seconds):
    assert parse_duration(value) == pytest.approx(seconds)


@pytest.mark.parametrize("value", REFUSED)
def test_anything_else_is_refused_with_what_may_be_written(value):
    with pytest.raises(ValueError, match=r"not a duration: .* Write seconds"):
        parse_duration(value)


@pytest.mark.parametrize("value", [-1, -0.5, "-1", "-6m"])
def test_a_negative_duration_is_refused_as_such(value):
    with pytest.raises(ValueError, match="cannot be negative"):
        parse_duration(value)


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99))
def test_units_add_up(hours, minutes, seconds):
    text = f"{hours}h{minutes}m{seconds}s"
    assert parse_duration(text) == hours * 3600 + minutes * 60 + seconds
