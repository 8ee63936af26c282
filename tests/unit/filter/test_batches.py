# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Batches never hold more nodes than was asked for, and leave none out."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.evenkeel.fleet.plugins.filter.batches import batches

FIVE = ["n1", "n2", "n3", "n4", "n5"]


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        pytest.param("", [FIVE], id="nothing-asked-means-all-at-once"),
        pytest.param("1", [["n1"], ["n2"], ["n3"], ["n4"], ["n5"]], id="one"),
        pytest.param(2, [["n1", "n2"], ["n3", "n4"], ["n5"]], id="a-number-of-json"),
        pytest.param(" 2 ", [["n1", "n2"], ["n3", "n4"], ["n5"]], id="blanks-around"),
        pytest.param("9", [FIVE], id="more-than-there-are"),
        pytest.param("50%", [["n1", "n2"], ["n3", "n4"], ["n5"]], id="a-share-is-rounded-down"),
        pytest.param("1%", [["n1"], ["n2"], ["n3"], ["n4"], ["n5"]], id="but-to-no-less-than-one"),
        pytest.param("100%", [FIVE], id="the-whole"),
    ],
)
def test_batches_of_five_nodes(batch: Any, expected: list[list[str]]) -> None:
    assert batches(FIVE, batch) == expected


def test_no_nodes_make_no_batch() -> None:
    assert batches([], "2") == []


@pytest.mark.parametrize("batch", ["0", "-1", "0%", "101%", "half", "2.5", "1_0", "%", "٢", "5 %"])
def test_what_is_neither_a_count_nor_a_share_is_refused(batch: str) -> None:
    with pytest.raises(AnsibleFilterError, match="batch"):
        batches(FIVE, batch)
