# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A prediction as data and as a table."""

from __future__ import annotations

import json

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.prediction import (
    Advice,
    Happening,
    Left,
    Move,
    Prediction,
    Spread,
    Wait,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.prediction_text import (
    document,
    span,
    table,
)

WEB = "Deployment shop/web"


def prediction(**changes):
    fields = {
        "seeds": (1, 2),
        "problem": "",
        "duration": Spread(58.04, 61.0, 3670.0),
        "timeline": (Happening(0.04, "evicted", "shop/web-a", WEB, "n1", ""),),
        "moved": (Move("shop/web-a", WEB, "n1", "n2", 0.04, "evicted"),),
        "waits": (Wait("shop/web", 2, 41.26, WEB),),
        "violated": (),
        "refused": (),
        "unfinished": (),
        "unplaced": (),
        "first": (),
    }
    return Prediction(**{**fields, **changes})


def test_the_table_is_short_and_says_the_most_important_first():
    assert table(prediction()) == [
        "result        it succeeds",
        "duration      1m01s (58s to 1h01m)",
        "moved         1 pod: Deployment shop/web (1)",
        "budget waits  shop/web  2 pods, the longest 41s",
    ]


def test_what_stands_in_the_way_is_a_line_each_and_what_is_too_much_is_counted():
    refused = tuple(Left(f"shop/p{number}", "n1", "bare_pod", "") for number in range(12))
    first = (Advice("bare_pod", "Pod shop/p0", "Nothing recreates it.", ""),)
    lines = table(prediction(problem="no", refused=refused, waits=(), first=first, moved=()))
    assert lines[0] == "result        it fails"
    assert lines[2:4] == ["moved         0 pods", "refused       shop/p0  bare_pod"]
    assert lines[4] == "              shop/p1  bare_pod"
    assert lines[-2:] == [
        "              and 2 more",
        "change first  Pod shop/p0: Nothing recreates it.",
    ]


def test_the_data_is_plain_and_rounded():
    found = document(prediction())
    assert json.loads(json.dumps(found)) == found
    assert found["duration"] == {"least": 58.0, "median": 61.0, "most": 3670.0}
    assert found["moved_by_owner"] == {WEB: 1}
    assert found["timeline"][0]["seconds"] == 0.0
    assert found["waits"][0]["longest"] == 41.3


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0s"), (59.6, "1m00s"), (125, "2m05s"), (7325, "2h02m")]
)
def test_a_span_has_two_units_at_most(seconds, text):
    assert span(seconds) == text
