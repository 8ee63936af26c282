# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which events become lines, when, and how a line reads."""

from __future__ import annotations

from typing import Optional

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.run import Progress
from ansible_collections.evenkeel.fleet.plugins.module_utils.interface.render import (
    Narrator,
    line,
    span,
)


class Stage:
    """A narrator on a clock that only the test moves, and what it said at which second."""

    def __init__(self) -> None:
        self.now = 0.0
        self.said: list[tuple[float, str]] = []
        self.narrator = Narrator(lambda: self.now, self._say)

    def _say(self, progress: Progress, _now: float) -> None:
        self.said.append((self.now, line(progress, self.now)))

    def at(self, now: float, progress: Optional[Progress] = None) -> None:
        self.now = now
        if progress is None:
            self.narrator.tick()
        else:
            self.narrator.tell(progress)


@pytest.mark.parametrize(
    ("progress", "expected"),
    [
        pytest.param(
            Progress("n1", "evicted shop/web-1", 3, 20), "n1  3/20  evicted shop/web-1", id="a-node"
        ),
        pytest.param(
            Progress("n1", "waiting for budget shop/web", 3, 20, waiting_since=58.0),
            "n1  3/20  waiting for budget shop/web (since 42s)",
            id="a-wait-says-since-when",
        ),
        pytest.param(Progress("n1", "closed"), "n1  closed", id="no-workloads-no-count"),
        pytest.param(Progress("", "kind at https://x"), "kind at https://x", id="the-whole-call"),
    ],
)
def test_a_line_names_node_count_text_and_wait(progress: Progress, expected: str) -> None:
    assert line(progress, 100.0) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(-1, "0s"), (0.9, "0s"), (59.9, "59s"), (60, "1m00s"), (185, "3m05s"), (3720, "1h02m")],
)
def test_a_span_has_two_units_at_most(seconds: float, expected: str) -> None:
    assert span(seconds) == expected


def test_a_node_tells_one_line_a_second_and_its_last_word_is_kept() -> None:
    stage = Stage()
    stage.at(0.0, Progress("n1", "one"))
    stage.at(0.2, Progress("n1", "two"))
    stage.at(0.4, Progress("n1", "three"))
    stage.at(0.9)
    stage.at(1.0)
    stage.at(5.0)
    assert stage.said == [(0.0, "n1  one"), (1.0, "n1  three")]


def test_nodes_do_not_hold_each_other_back() -> None:
    stage = Stage()
    stage.at(0.0, Progress("n1", "one"))
    stage.at(0.1, Progress("n2", "one"))
    assert stage.said == [(0.0, "n1  one"), (0.1, "n2  one")]


def test_an_urgent_event_is_told_at_once_and_replaces_what_waited() -> None:
    stage = Stage()
    stage.at(0.0, Progress("n1", "one"))
    stage.at(0.1, Progress("n1", "two"))
    stage.at(0.2, Progress("n1", "refused", urgent=True))
    stage.at(3.0)
    assert stage.said == [(0.0, "n1  one"), (0.2, "n1  refused")]


def test_a_wait_is_told_of_every_thirty_seconds_until_something_else_happens() -> None:
    stage = Stage()
    stage.at(0.0, Progress("n1", "waiting", waiting_since=0.0))
    for second in range(1, 62):
        stage.at(float(second))
    stage.at(62.0, Progress("n1", "evicted"))
    for second in range(63, 120):
        stage.at(float(second))
    assert stage.said == [
        (0.0, "n1  waiting (since 0s)"),
        (30.0, "n1  waiting (since 30s)"),
        (60.0, "n1  waiting (since 1m00s)"),
        (62.0, "n1  evicted"),
    ]


def test_the_end_of_the_call_tells_what_still_waited_for_its_second() -> None:
    stage = Stage()
    stage.at(0.0, Progress("n1", "one"))
    stage.at(0.1, Progress("n1", "done"))
    stage.narrator.close()
    stage.narrator.close()
    assert stage.said == [(0.0, "n1  one"), (0.1, "n1  done")]
