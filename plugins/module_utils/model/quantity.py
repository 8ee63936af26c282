# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Kubernetes quantities ("100m", "1.5Gi", "129e6"), read as the API server reads them."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Any, Mapping, Union

QuantityText = Union[str, int, float]

# What a Quantity can hold when it is asked for whole units: an int64.
MAX_AMOUNT = 2**63 - 1

CPU = "cpu"

_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_NANO = -9

# Digits may be missing on either side of the point, and mostly even on both ("Ki" is zero): the
# API server's scanner takes all of these, except where it leaves its fast path.
_NEEDS_DIGITS = ("Pi", "Ei")
_QUANTITY = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[+-]?[0-9]*)")
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)")

# Past this an exponent says nothing that a cluster could mean, and only costs memory. The API
# server lets it wrap around at 32 bits.
_MAX_EXPONENT = 10_000


def parse_quantity(value: QuantityText) -> Decimal:
    """Returns the exact value of a quantity, a text or a number of YAML or JSON.

    What is finer than 10^-9 is rounded away from zero to it, and a value with a binary suffix is
    capped at 2^63-1, as in k8s.io/apimachinery pkg/api/resource (ParseQuantity, 1.37).
    Raises ValueError for anything that the API server would refuse.
    """
    digits, exponent = _scan(value)
    return Decimal((int(digits < 0), tuple(map(int, str(abs(digits)))), exponent))


def parse_resources(raw: Mapping[str, Any]) -> dict[str, int]:
    """Returns a resource list as integers: cpu in millicores, all else in base units, rounded up.

    Raises ValueError for a value that is not a quantity.
    """
    return {name: parse_amount(name, value) for name, value in raw.items()}


@lru_cache(maxsize=65536, typed=True)  # True is no quantity, and yet it equals 1
def parse_amount(resource: str, value: QuantityText) -> int:
    """Returns one resource's quantity: cpu in millicores, all else in base units, rounded up."""
    return round_up(resource, nanos(value))


def nanos(value: QuantityText) -> int:
    """Returns a quantity in units of 10^-9, the finest there is: sums of these are exact."""
    digits, exponent = _scan(value)
    return digits * int(10 ** (exponent - _NANO))


def round_up(resource: str, amount: int) -> int:
    """Returns millicores of cpu, base units of all else, for an amount in units of 10^-9."""
    unit = 10**6 if resource == CPU else 10**9
    return max(-MAX_AMOUNT, min(MAX_AMOUNT, -(-amount // unit)))


def _scan(value: QuantityText) -> tuple[int, int]:
    """Returns digits and a power of ten, -9 or more, whose product is the value."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"not a quantity: {value!r}")
    return _scan_text(value if isinstance(value, str) else repr(value))


@lru_cache(maxsize=65536)
def _scan_text(text: str) -> tuple[int, int]:
    match = _QUANTITY.fullmatch(text) if text else None
    if match is None:
        raise ValueError(f"not a quantity: {text!r}")
    sign, whole, fraction, suffix = match.groups(default="")
    digits = int(whole + fraction or "0")
    if suffix in _BINARY:
        digits, exponent = digits << _BINARY[suffix], -len(fraction)
    else:
        exponent = _decimal_exponent(text, suffix) - len(fraction)
    if not whole + fraction and (exponent < _NANO or suffix in _NEEDS_DIGITS):
        raise ValueError(f"not a quantity: {text!r} (it has no digits)")
    if exponent < _NANO:
        digits, exponent = -(-digits // 10 ** (_NANO - exponent)), _NANO
    if suffix in _BINARY and digits > MAX_AMOUNT * 10**-exponent:
        digits, exponent = MAX_AMOUNT, 0
    return (-digits if sign == "-" else digits), exponent


def _decimal_exponent(text: str, suffix: str) -> int:
    if suffix in _DECIMAL:
        return _DECIMAL[suffix]
    match = _EXPONENT.fullmatch(suffix)
    if match is None:
        raise ValueError(f"not a quantity: {text!r} (its suffix {suffix!r} is unknown)")
    exponent = int(match.group(1))
    if abs(exponent) > _MAX_EXPONENT:
        raise ValueError(f"not a quantity: {text!r} (its exponent is out of range)")
    return exponent
