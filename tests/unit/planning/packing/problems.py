# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Packing problems: in few words for tables, and at random."""

from __future__ import annotations

from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.planning.packing.problem import (
    BinType,
    Item,
    Problem,
)

ANY = -1


def problem(items, bins):
    everywhere = (1 << len(bins)) - 1
    return Problem(
        tuple(Item(needs, count, mask & everywhere, *more) for needs, count, mask, *more in items),
        tuple(BinType(*kind) for kind in bins),
    )


def plain(*items):
    return [(needs, count, ANY) for needs, count in items]


amounts = st.integers(0, 9)
bought = st.tuples(
    st.tuples(st.integers(1, 20), st.integers(0, 20), st.integers(0, 8)), st.integers(1, 50)
)
rooms = st.tuples(st.tuples(amounts, amounts, amounts), st.just(0), st.just(1))


@st.composite
def problems(draw):
    bins = [*draw(st.lists(bought, min_size=1, max_size=6)), *draw(st.lists(rooms, max_size=3))]
    size = draw(st.integers(0, 8))
    pairs = draw(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=4))
    avoids = [0] * 8
    for one, other in pairs:
        if one != other:
            avoids[one] |= 1 << other
            avoids[other] |= 1 << one
    items = [
        (
            draw(st.tuples(amounts, amounts, st.integers(0, 2))),
            draw(st.integers(1, 12)),
            draw(st.integers(0, (1 << len(bins)) - 1)),
            draw(st.sampled_from([None, 1, 2])),
            avoids[index] & ((1 << size) - 1),
        )
        for index in range(size)
    ]
    return problem(items, bins)
