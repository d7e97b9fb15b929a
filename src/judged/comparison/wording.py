"""Numbers as text, for sentences and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from judged.comparison.settings import MAX_QUERIES
from judged.text import counted, few

QUERIES = ("query", "queries")


def amount(value: float) -> str:
    """Return a number for a sentence: three decimals, or two digits of smaller ones.

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


def with_ends(value: float, low: float, high: float, level: float, sign: str = "") -> str:
    """Return a number with its confidence interval, to the decimals that the smallest needs.

    >>> with_ends(0.0112, 0.00084, 0.0216, 0.95)
    '0.0112 (95 % CI 0.0008 to 0.0216)'
    """
    if math.isnan(low) or math.isnan(high):
        return f"{amount(value)} (no confidence interval)"
    sizes = [abs(number) for number in (value, low, high) if number]
    if sizes and min(sizes) >= 1e-7 and max(sizes) < 10:
        decimals = max(3, -math.floor(math.log10(min(sizes))))
        texts = [f"{x:{sign}.{decimals}f}".replace("-", "−") for x in (value, low, high)]
    else:
        texts = [amount(x) for x in (value, low, high)]
    return f"{texts[0]} ({percent_of(level)} CI {texts[1]} to {texts[2]})"


def percent_of(share: float) -> str:
    """Return a share, such as a confidence level, in percent with all its digits.

    >>> percent_of(0.95), percent_of(0.9999), percent_of(0.5)
    ('95 %', '99.99 %', '50 %')
    """
    return f"{Decimal(repr(float(share))) * 100:f}".rstrip("0").rstrip(".") + " %"


def shown_margin(margin: float | None) -> str:
    return "" if margin is None else f"{margin:g}"


def shown_p(p: float) -> str:
    """Return p for a table: four decimals, never 0.

    >>> shown_p(0.04867), shown_p(1e-12), shown_p(1.0)
    ('0.0487', '<.0001', '1.0000')
    """
    if math.isnan(p):
        return "–"
    return "<.0001" if p < 0.0001 else f"{p:.4f}"


def with_sign(text: str, value: float | None) -> str:
    """Put a plus before a number above 0.

    >>> with_sign("0.5", 0.5), with_sign("−0.5", -0.5), with_sign("0.0", 0.0), with_sign("–", None)
    ('+0.5', '−0.5', '0.0', '–')
    """
    return f"+{text}" if value is not None and value > 0 else text


def list_queries(names: Sequence[str]) -> str:
    """Return how many queries there are, with the first few ids."""
    return f"{counted(len(names), *QUERIES)} ({few(names)})"


def size(value: float | None) -> str:
    """Return a difference with three digits.

    >>> size(0.0198765), size(-12.345), size(math.inf), size(0.0)
    ('0.0199', '−12.3', '∞', '0')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{float(f'{value:.3g}'):,.12g}".replace("-", "−", 1)


def share(value: float | None) -> str:
    """Return a power with two decimals, which is neither 0 nor 1.

    >>> share(0.8), share(0.9999), share(0.001)
    ('0.80', '>0.99', '<0.01')
    """
    if value is None or math.isnan(value):
        return "–"
    return "<0.01" if value < 0.005 else ">0.99" if value > 0.995 else f"{value:.2f}"


def shown_number(value: float | None) -> str:
    """Return a number of queries.

    >>> shown_number(1234), shown_number(math.inf), shown_number(None)
    ('1,234', 'over 1,000,000,000', 'never')
    """
    if value is None:
        return "never"
    return f"over {MAX_QUERIES:,}" if math.isinf(value) else f"{value:,.0f}"
