# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""model/quantity: quantities as the API server reads them - C38."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.evenkeel.fleet.plugins.module_utils.model.quantity import (
    MAX_AMOUNT,
    nanos,
    parse_amount,
    parse_quantity,
    parse_resources,
    round_up,
)

C38 = [
    ("129e6", "129000000"),
    ("123Mi", "128974848"),
    ("1.5Gi", "1610612736"),
    ("100m", "0.1"),
    ("250000000n", "0.25"),
    ("0", "0"),
]
READ = [
    pytest.param("1", "1", id="no suffix"),
    pytest.param("+1", "1", id="plus"),
    pytest.param("-1.5Ki", "-1536", id="minus"),
    pytest.param("1.", "1", id="nothing after the point"),
    pytest.param(".5", "0.5", id="nothing before the point"),
    pytest.param("0001", "1", id="leading zeros"),
    pytest.param("Ki", "0", id="no digits at all"),
    pytest.param("-", "0", id="a sign alone"),
    pytest.param("1u", "0.000001", id="micro"),
    pytest.param("1k", "1000", id="kilo"),
    pytest.param("1E", "1" + "0" * 18, id="E alone is exa"),
    pytest.param("1E3", "1000", id="E with digits is an exponent"),
    pytest.param("1e-3", "0.001", id="negative exponent"),
    pytest.param("1e+3", "1000", id="exponent with a plus"),
    pytest.param("1Ei", str(2**60), id="exbi"),
    pytest.param("0.1n", "1e-9", id="finer than nano rounds up"),
    pytest.param("-0.1n", "-1e-9", id="finer than nano rounds away from zero"),
    pytest.param("1.0000000001", "1.000000001", id="ten decimals round up"),
    pytest.param("1e-1000", "1e-9", id="whatever is not zero stays more than zero"),
    pytest.param("1.1Ki", "1126.4", id="a fraction of a binary suffix is exact"),
    pytest.param("8Ei", str(2**63 - 1), id="binary suffixes are capped at an int64"),
    pytest.param("-9Ei", str(-(2**63 - 1)), id="downwards too"),
    pytest.param("10E", "1" + "0" * 19, id="decimal suffixes are not capped"),
    pytest.param("123456789012345678901234567890.5", "123456789012345678901234567890.5", id="long"),
    pytest.param(3, "3", id="an integer of YAML"),
    pytest.param(1.5, "1.5", id="a float of YAML"),
    pytest.param(1e-07, "1e-7", id="a float that Python writes with an exponent"),
]
REFUSED = [
    "",
    " ",
    "1KB",
    "1 Gi",
    " 1",
    "1\n",
    "1K",
    "1ki",
    "1i",
    "1mm",
    "1e",
    "1e1.5",
    "1Ee5",
    "1.2.3",
    "--1",
    "1,5",
    "0x10",
    "1_000",
    "Ei",
    "e-10",
    "\u0661",
    "NaN",
    "1e99999999999",
    float("nan"),
    float("inf"),
    True,
    None,
    [],
]
digits = st.text("0123456789", min_size=1, max_size=25)
suffixes = st.sampled_from(
    ["n", "u", "m", "", "k", "M", "G", "T", "P", "E", "Ki", "Gi", "e3", "E-2"]
)


@pytest.mark.parametrize(("text", "value"), C38, ids=[text for text, _unused in C38])
def test_c38_quantities_have_their_value(text, value):
    assert parse_quantity(text) == Decimal(value)


def test_c38_kb_is_rejected():
    with pytest.raises(ValueError, match="not a quantity: '1KB'"):
        parse_quantity("1KB")


@pytest.mark.parametrize(("value", "expected"), READ)
def test_a_quantity_is_read_as_the_api_server_reads_it(value, expected):
    assert parse_quantity(value) == Decimal(expected)


@pytest.mark.parametrize("value", REFUSED, ids=repr)
def test_what_the_api_server_refuses_is_a_value_error(value):
    with pytest.raises(ValueError, match="not a quantity"):
        parse_quantity(value)


def test_resources_are_millicores_of_cpu_and_base_units_of_all_else_rounded_up():
    raw = {"cpu": "0.5", "memory": "1Gi", "pods": 110, "example.com/gpu": "1500m"}
    assert parse_resources(raw) == {
        "cpu": 500,
        "memory": 2**30,
        "pods": 110,
        "example.com/gpu": 2,
    }


@pytest.mark.parametrize(
    ("resource", "value", "amount"),
    [("cpu", "100500u", 101), ("memory", "1m", 1), ("cpu", "1e400", MAX_AMOUNT), ("cpu", "0", 0)],
)
def test_an_amount_is_rounded_up_and_capped_at_an_int64(resource, value, amount):
    assert parse_amount(resource, value) == amount


def test_a_bad_value_among_resources_is_a_value_error():
    with pytest.raises(ValueError, match="'12 cores'"):
        parse_resources({"cpu": "12 cores"})


def test_true_is_refused_also_after_1_was_read():
    assert parse_amount("cpu", 1) == 1000
    with pytest.raises(ValueError, match="True"):
        parse_amount("cpu", True)


@given(digits, digits, suffixes)
def test_adding_nanos_is_exact_and_rounding_once_never_loses(whole, fraction, suffix):
    text = f"{whole}.{fraction}{suffix}"
    amount = nanos(text)
    assert Fraction(amount, 10**9) == Fraction(parse_quantity(text))
    for resource, unit in (("cpu", 10**6), ("memory", 10**9)):
        rounded = round_up(resource, amount)
        assert rounded == MAX_AMOUNT or 0 <= rounded * unit - amount < unit


@given(st.integers(min_value=-(2**63 - 1), max_value=2**63 - 1), suffixes)
def test_the_sign_only_mirrors_the_value(number, suffix):
    text = f"{abs(number)}{suffix}"
    assert parse_quantity(f"-{text}") == -parse_quantity(text)
