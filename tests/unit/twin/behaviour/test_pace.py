# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The form in which a spec gives times, and what is drawn from it."""

from __future__ import annotations

from random import Random

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.pace import (
    AT_ONCE,
    Empirical,
    Fixed,
    LogNormal,
    Normal,
    Pace,
    Times,
    Uniform,
    parse_distribution,
    parse_pace,
)


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        (2, Fixed(2.0)),
        ("1m30s", Fixed(90.0)),
        ({"uniform": [1, 4]}, Uniform(1.0, 4.0)),
        ({"normal": [5, 1]}, Normal(5.0, 1.0)),
        ({"lognormal": [5, 0.5]}, LogNormal(5.0, 0.5)),
        ({"empirical": [2, 2, 9]}, Empirical((2.0, 2.0, 9.0))),
    ],
)
def test_each_form_is_read(raw, wanted):
    assert parse_distribution(raw, "start") == wanted
    assert wanted.sample(Random(1)) == wanted.sample(Random(1)) >= 0


def test_a_pace_has_times_for_all_pods_and_for_classes():
    raw = {
        "start": 2,
        "label": "app",
        "classes": {"db": {"start": 30, "stop": {"uniform": [1, 2]}}},
    }
    pace = parse_pace(raw)
    assert pace == Pace(
        Times(Fixed(2.0), AT_ONCE), "app", {"db": Times(Fixed(30.0), Uniform(1.0, 2.0))}
    )
    assert pace.times({"app": "db"}).start == Fixed(30.0)
    assert pace.times({"app": "web"}).start == Fixed(2.0)


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ({"begin": 1}, "pace: 'begin' is not one of start, stop, label, classes."),
        ({"start": {"poisson": [1]}}, "pace.start: give seconds, or one of uniform, normal,"),
        ({"start": {"uniform": [4, 1]}}, "pace.start.uniform: the least, 4, is more than the most"),
        ({"start": {"uniform": [1]}}, "pace.start.uniform: give two numbers, the least and the"),
        ({"stop": {"empirical": []}}, "pace.stop.empirical: [] is not a list of numbers."),
        ({"stop": {"normal": [-1, 2]}}, "pace.stop.normal: -1 is not a number of 0 or more."),
        ({"stop": {"lognormal": [0, 2]}}, "pace.stop.lognormal: the median must be more than 0."),
        ({"classes": {"db": {}}}, "pace.classes needs pace.label"),
        ({"start": "soon"}, "pace.start: "),
    ],
)
def test_a_bad_value_gets_one_sentence(raw, sentence):
    with pytest.raises(ValueError) as caught:
        parse_pace(raw)
    assert str(caught.value).startswith(sentence)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)
