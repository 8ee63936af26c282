# Copyright (c) 2026 The evenkeel.fleet authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Prices in documents: exact decimals as text, never rounded; shares are rounded to two places."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal, localcontext

HOURS_A_MONTH = 730
_HUNDREDTHS = Decimal("0.01")
# More digits than any sum of prices has, so that none is lost.
_DIGITS = 60


def exact(amount: Decimal) -> str:
    """Returns the amount without an exponent and without zeros that say nothing: "0.19", "12"."""
    text = format(amount, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("", "-0") else text


def monthly(hourly: Decimal) -> Decimal:
    with localcontext() as context:
        context.prec = _DIGITS
        return hourly * HOURS_A_MONTH


def percentage(part: Decimal, whole: Decimal) -> str:
    """Returns the part in percent of the whole, "0" of nothing."""
    if not whole:
        return "0"
    with localcontext() as context:
        context.prec = _DIGITS
        return exact((part * 100 / whole).quantize(_HUNDREDTHS, rounding=ROUND_HALF_EVEN))
