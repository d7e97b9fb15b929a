"""Numbers in words, for sentences and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from judged.text import counted, few, shown


def amount(value: float) -> str:
    """A size for a sentence: three decimals, or two digits of what is smaller.

    >>> amount(0.0509), amount(0.00004321), amount(12.345), amount(-0.5), amount(-1.23e-12)
    ('0.051', '0.000043', '12.35', '−0.500', '−1.2e-12')
    """
    sign, size = ("−" if value < 0 else ""), abs(value)
    if not math.isfinite(size):
        return f"{sign}∞" if math.isinf(size) else "–"
    if size >= 1e15 or 0 < size < 1e-7:
        return f"{sign}{size:.1e}"
    if size >= 1000:
        return f"{sign}{size:,.0f}"
    decimals = 3 if size == 0 or 0.001 <= size < 10 else 2
    if 0 < size < 0.001:
        decimals = 1 - math.floor(math.log10(size))
    return f"{sign}{size:.{decimals}f}"


def shown_level(level: float) -> str:
    """A level in percent, with all its digits.

    >>> shown_level(0.95), shown_level(0.9999), shown_level(0.5)
    ('95 %', '99.99 %', '50 %')
    """
    return f"{Decimal(repr(float(level))) * 100:f}".rstrip("0").rstrip(".") + " %"


def some(names: Sequence[str]) -> str:
    """How many queries, and the first few of them."""
    return f"{counted(len(names), 'query', 'queries')} ({few(names)})"


QUERIES = ("query", "queries")


def shown_margin(margin: float | None) -> str:
    """A margin as it was given."""
    return "" if margin is None else f"{margin:g}"


def with_ends(value: float, low: float, high: float, sign: str = "") -> str:
    """A size and the ends of its interval, all to the decimals that the smallest of them needs.

    >>> with_ends(0.0112, 0.00084, 0.0216), with_ends(12.5, 0.3, 20)
    ('0.0112 (0.0008 to 0.0216)', '12.50 (0.300 to 20.00)')
    """
    if math.isnan(low) or math.isnan(high):
        return f"{amount(value)} (no interval)"
    sizes = [abs(each) for each in (value, low, high) if each]
    if sizes and min(sizes) >= 1e-7 and max(sizes) < 10:
        decimals = max(3, -math.floor(math.log10(min(sizes))))
        shown = [f"{each:{sign}.{decimals}f}".replace("-", "−") for each in (value, low, high)]
    else:
        shown = [amount(each) for each in (value, low, high)]
    return f"{shown[0]} ({shown[1]} to {shown[2]})"


def shown_p(p: float) -> str:
    """p for a table: four decimals, never 0.

    >>> shown_p(0.04867), shown_p(1e-12), shown_p(1.0)
    ('0.0487', '<.0001', '1.0000')
    """
    if math.isnan(p):
        return "–"
    return "<.0001" if p < 0.0001 else shown(p)


def with_sign(text: str, value: float | None) -> str:
    """A number as text, with a plus where it is above 0.

    >>> with_sign("0.5", 0.5), with_sign("−0.5", -0.5), with_sign("0.0", 0.0), with_sign("–", None)
    ('+0.5', '−0.5', '0.0', '–')
    """
    return f"+{text}" if value is not None and value > 0 else text
