# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Pools of a twin's scaler, as a user writes them."""

from __future__ import annotations

import pytest

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.errors import InvalidOption
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.pace import Fixed
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.behaviour.scaler import (
    InstanceType,
    Pool,
)
from ansible_collections.evenkeel.fleet.plugins.module_utils.twin.pools import parse_pools


def test_a_pool_is_read_with_all_that_it_says():
    entry = {
        "pool": "spare",
        "types": [{"name": "big", "price": 0.4, "cpu": 8, "memory": "32Gi", "pods": 58}],
        "labels": {"tier": "b"},
        "delay": "1m",
        "limit": 3,
        "failures": 0.25,
    }
    kind = InstanceType("big", 0.4, {"cpu": "8", "memory": "32Gi", "pods": "58"})
    assert parse_pools([entry]) == (
        Pool("spare", (kind,), {"tier": "b"}, delay=Fixed(60.0), limit=3, failures=0.25),
    )


@pytest.mark.parametrize(
    ("document", "words"),
    [
        pytest.param(["a"], "entry 1: 'a' is no mapping", id="no-mapping"),
        pytest.param([{"pool": "a", "size": 3}], "entry 1: unknown key size", id="unknown-key"),
        pytest.param([{"types": []}], "entry 1: pool is missing", id="no-name"),
        pytest.param([{"pool": "a", "types": []}], "pool a: it has no types", id="no-types"),
        pytest.param(
            [{"pool": "a", "types": [{"name": "b", "cpu": "much"}]}],
            "pool a, type 1: .*much",
            id="no-quantity",
        ),
        pytest.param(
            [{"pool": "a", "types": [{"name": "b", "price": -1}]}],
            "pool a, type 1: price: -1 is no number of 0 or more",
            id="a-negative-price",
        ),
        pytest.param(
            [{"pool": "a", "types": [{"name": "b"}], "delay": {"poisson": [1]}}],
            "pool a: delay: give seconds, or one of",
            id="no-distribution",
        ),
        pytest.param([{"pool": "a", "types": [{"name": "b"}]}] * 2, "pool a: .*twice", id="twice"),
    ],
)
def test_pools_that_cannot_be_are_refused(document, words):
    with pytest.raises(InvalidOption, match=f"^pools: {words}") as caught:
        parse_pools(document)
    assert caught.value.remedy
