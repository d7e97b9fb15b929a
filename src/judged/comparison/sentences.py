"""Verdicts as sentences that somebody without statistics understands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal

from judged.comparison.pair import Pair
from judged.comparison.settings import Settings
from judged.statistics.tested import below, fewest_units
from judged.statistics.units import counted_as
from judged.text import counted, few, listed, shown

OTHERWISE = {
    "ties": "with ties broken the other way the verdict could be",
    "missing": "on the queries that both have the verdict would be",
    "unjudged": "with the unjudged results judged the verdict could be",
}
"""What a verdict may depend on, in words."""


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


IMPORTANCE = ("worse", "better", "equivalent", "no evidence", "too few", "identical")
"""Verdicts in the order in which they are said: what is shown comes first."""


def by_importance(rows: Sequence[Pair]) -> list[str]:
    """What all rows say, the shown differences first."""
    return [row.says for row in sorted(rows, key=lambda row: IMPORTANCE.index(row.verdict))]


def sentence(
    pair: Pair,
    settings: Settings,
    comparisons: int,
    otherwise: Mapping[str, Sequence[str]] | None = None,
    where: str = "",
) -> str:
    """What a row says; `comparisons` is how many there are in its family, `otherwise` what the
    verdict depends on and would be then, `where` its slice."""
    said = f"{pair.measure}{where}: {_verdict(pair, settings)}"
    if _counts_alone(pair, settings) and pair.verdict in ("no evidence", "equivalent"):
        said += f"; the difference would count alone, not among {comparisons:,} comparisons"
    if pair.trusted is not None and pair.verdict != "identical":
        alone = pair.trusted.trusted
        within = _with_ends(alone.estimate, alone.low, alone.high, sign="+")
        said += f"; by the trusted judgements alone {within}"
    for cause, words in (otherwise or {}).items():
        said += f"; {OTHERWISE[cause]} {listed(list(words), 'or')}"
    return said + "."


def _counts_alone(pair: Pair, settings: Settings) -> bool:
    """Whether only the number of comparisons keeps a difference from being shown."""
    shown_alone = below(pair.p, settings.level)
    return bool(shown_alone and not below(pair.corrected_p, settings.level))


def _verdict(pair: Pair, settings: Settings) -> str:
    run, against = pair.run, pair.against
    units = _units(pair)
    if pair.verdict == "identical":
        return f"{run} gives the same value as {against} on all {counted(pair.queries, *_QUERIES)}"
    if pair.verdict == "too few":
        few = round(1 - math.log2(pair.smallest_p))
        if pair.queries < 2:
            return f"{run} and {against} share {counted(pair.queries, *_QUERIES)}: too few to tell"
        if few >= fewest_units(settings.level):
            worth = counted_as(pair.queries, pair.groups, pair.effective_units or 0.0)
            return f"{worth}: too few to compare {run} with {against}"
        differing, of = min(pair.wins + pair.losses, few), counted(pair.queries, *_QUERIES)
        if pair.trusted is not None:
            differing = few
            of = counted(pair.trusted.trusted_queries, "trusted query", "trusted queries")
        elif pair.groups is not None:
            differing, of = few, counted(pair.groups, "group")
        verb = "differs" if differing == 1 else "differ"
        by_units = pair.groups is not None or pair.trusted is not None
        unsure = few == 1 and (by_units or pair.wins + pair.losses != 1)
        only = "at most" if unsure else "only"  # one or none allow for the same p
        return f"{only} {differing:,} of {of} {verb} between {run} and {against}: too few to tell"
    margin = settings.margin_of(pair.measure)
    if pair.verdict == "equivalent":
        return f"{run} differs from {against} by less than {shown_margin(margin)}"
    if pair.verdict in ("better", "worse"):
        said = f"{run} is {pair.verdict} than {against} by {_by(pair)}"
        if pair.negligible:
            said += f", a difference smaller than the margin of {shown_margin(margin)}"
        return said
    said = f"no evidence that {run} differs from {against}"
    times = f"{settings.power * 10:g} times in 10"
    about_means = pair.test not in ("wilcoxon", "sign")
    if _counts_alone(pair, settings) or not about_means:
        return said  # what is detectable is so alone, by a test of means
    if pair.detectable is None and pair.effect is not None:
        return f"{said}; {units} could not have shown any difference {times}"
    if pair.detectable is None:
        return said
    least = amount(pair.detectable)
    return f"{said}; {units} would have shown a difference of {least} or more, {times}"


_QUERIES = ("query", "queries")


def _units(pair: Pair) -> str:
    if pair.trusted is not None:
        of = counted(pair.trusted.trusted_queries, "trusted query", "trusted queries")
        return f"{counted(pair.queries, *_QUERIES)} with {of}"
    if pair.groups is None:
        return counted(pair.queries, *_QUERIES)
    return f"{counted(pair.queries, *_QUERIES)} in {counted(pair.groups, 'group')}"


def shown_margin(margin: float | None) -> str:
    """A margin as it was given."""
    return "" if margin is None else f"{margin:g}"


OF_QUERIES = {"sign": "", "wilcoxon": "the ranks of the differences"}
"""Tests that are not about the difference of the numbers: by what a run is better."""


def _by(pair: Pair) -> str:
    """By how much, with the interval; as sizes, where both ends are on one side of zero."""
    low, high = pair.interval.low, pair.interval.high
    if pair.test in OF_QUERIES:
        more, fewer = sorted((pair.wins, pair.losses), reverse=True)
        said = OF_QUERIES[pair.test] or f"{more:,} queries to {fewer:,}"
        if not math.isfinite(pair.value) or not math.isfinite(pair.against_value):
            return said
        within = "" if math.isnan(low) else f" ({amount(low)} to {amount(high)})"
        return f"{said}; the values differ by {amount(pair.difference)}{within}"
    if math.isnan(low) or math.isnan(high):
        why = f" (no interval: {pair.interval.note})" if pair.interval.note else ""
        return f"{amount(abs(pair.difference))}{why}"
    if low * high > 0:
        low, high = sorted((abs(low), abs(high)))
        return _with_ends(abs(pair.difference), low, high)
    return _with_ends(pair.difference, low, high)


def _with_ends(value: float, low: float, high: float, sign: str = "") -> str:
    """A size and the ends of its interval, all to the decimals that the smallest of them needs.

    >>> _with_ends(0.0112, 0.00084, 0.0216), _with_ends(12.5, 0.3, 20)
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
