# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""When the live lines of the nodes are made anew."""

from __future__ import annotations

from ansible_collections.evenkeel.fleet.plugins.module_utils.execution.eviction.telling import (
    LOOK_EVERY,
    Teller,
)
from tests.unit.builders import node, pod

from .drained import Drained


def told(teller: Teller, drained: Drained, **how: bool) -> list[tuple[int, int]]:
    return [(line.done, line.total) for line in teller.news(drained.state, drained.now, **how)]


def test_a_line_that_came_too_soon_is_told_at_the_next_look():
    drained, teller = Drained(node("n1", cordoned=True), node("n2"), pod("a"), pod("b")), Teller()
    assert told(teller, drained) == [(0, 2)]
    drained.acts()
    drained.accept("a").vanished(drained.pods["a"])
    assert (told(teller, drained), teller.looks_at) == ([], drained.time + LOOK_EVERY)
    drained.wait(LOOK_EVERY)
    assert (told(teller, drained), teller.looks_at) == ([(1, 2)], None)


def test_the_last_line_is_not_put_off():
    drained, teller = Drained(node("n1", cordoned=True), node("n2"), pod("a")), Teller()
    assert told(teller, drained) == [(0, 1)]
    drained.acts()
    drained.accept("a").vanished(drained.pods["a"])
    assert told(teller, drained, last=True) == [(1, 1)]
