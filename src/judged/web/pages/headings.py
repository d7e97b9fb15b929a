"""What came out as a heading and a line under it: who leads, and whether two can be told apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judged.comparison.methods import family_of
from judged.comparison.wording import amount, percent_of, shown_margin, with_sign
from judged.statistics.tested import fewest_units
from judged.text import Best, counted, listed
from judged.web.pages.templating import cut

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.comparison.settings import ComparisonSettings
    from judged.comparison.verdicts import Pair, Place
    from judged.evaluation.evaluation import Evaluation

NAMED = 3
"""So many systems are named in a heading; more are counted."""
_QUERIES = ("query", "queries")


@dataclass(frozen=True)
class Heading:
    """A heading that says what came out, and a line on how sure that is."""

    title: str
    """The heading."""
    parts: tuple[str, ...] = ()
    """The line under it; parts that are `Best` stand out."""

    @property
    def line(self) -> str:
        """The line as plain text."""
        return "".join(self.parts)

    @property
    def marked(self) -> list[tuple[str, bool]]:
        """The parts of the line, and whether each stands out."""
        return [(str(part), isinstance(part, Best)) for part in self.parts]


def leading(evaluation: Evaluation, comparison: Comparison | None, measure: str) -> Heading:
    """Say who leads on a measure, by how much, and which places cannot be told apart.

    Parameters
    ----------
    evaluation : Evaluation
        Of one or more systems.
    comparison : Comparison or None
        Of these on the measure: all pairs, or all with a baseline; None if not compared.
    measure : str
        What the measure is called.

    Returns
    -------
    Heading

    >>> from judged import evaluate
    >>> run = {"q": ["b", "a"]}
    >>> leading(evaluate({"q": {"a": 1}}, {"bm25": run}, "RR"), None, "RR").title
    'bm25 has 0.500 on RR'
    """
    if comparison is None:
        return _uncompared(evaluation, measure)
    places = comparison.leaderboard(measure)
    first, second = places[0], places[1]
    baseline = comparison.baseline
    if baseline is not None and first.run != baseline:
        second = next(place for place in places if place.run == baseline)
    if math.isnan(first.value):
        return Heading(f"No system has a value on {measure}")
    pair = _between(comparison, first.run, second.run, measure)
    higher = evaluation.labels[measure].spec.higher_is_better
    ends = _lead(pair, first.run, higher)
    apart = _not_told_apart(places)
    if baseline is not None and len(places) > 2:
        apart = f" Systems were compared with {cut(baseline)} only."
    with_value = ("With ", Best(amount(first.value)))
    if ends.difference < 0:
        # Both have more queries than those they share, on which the order is another one.
        ahead = Best(amount(-ends.difference))
        return Heading(
            f"{cut(first.run)} has the {_extreme(higher)} {measure}, on other queries than "
            f"{cut(second.run)}",
            (
                *(*with_value, f" it is first; on the queries of both {cut(second.run)} is "),
                *(ahead, f" ahead ({_how_sure(pair, comparison, ends.turned)}).", apart),
            ),
        )
    if not pair.queries:
        return Heading(
            f"{cut(first.run)} has the {_extreme(higher)} {measure}",
            (*with_value, f"; it has no query in common with {cut(second.run)}.", apart),
        )
    line = (
        *(*with_value, " it is ", Best(amount(ends.difference)), f" ahead of {cut(second.run)} "),
        *(f"({_how_sure(pair, comparison, ends)}).", apart),
    )
    if first.rank_high == 1:
        return Heading(f"{cut(first.run)} leads on {measure}", line)
    if pair.verdict == "identical" and len(places) == 2:
        every = f"the same value on all {counted(pair.queries, *_QUERIES)}"
        return Heading(
            f"{cut(first.run)} and {cut(second.run)} are the same on {measure}",
            ("Both have ", Best(amount(first.value)), f", and {every}."),
        )
    title = f"{cut(first.run)} is first on {measure}"
    others = [place.run for place in places[1:] if place.rank_low == 1]
    if baseline is not None and first.run != baseline:
        if pair.verdict in ("better", "worse"):
            return Heading(f"{title}, better than {cut(baseline)}", line)
        others = [baseline]  # no other system was compared with the first
    if others:
        title += f", not told apart from {_some(others)}"
    return Heading(title, line)


@dataclass(frozen=True)
class _Lead:
    """By how much one system is better than another, below 0 where it is worse; with its
    interval."""

    difference: float
    low: float
    high: float

    @property
    def turned(self) -> _Lead:
        """The same from the other's side."""
        return _Lead(0.0 - self.difference, 0.0 - self.high, 0.0 - self.low)


def _lead(pair: Pair, run: str, higher_is_better: bool) -> _Lead:
    """The difference of a pair as the lead of one of both."""
    found = _Lead(pair.difference, pair.interval.low, pair.interval.high)
    return found if (pair.run == run) == higher_is_better else found.turned


def _extreme(higher_is_better: bool) -> str:
    return "highest" if higher_is_better else "lowest"


def _uncompared(evaluation: Evaluation, measure: str) -> Heading:
    """One system, or several of which nothing is known but their numbers."""
    known = evaluation.labels[measure]
    numbers = [(run.summary[known], run) for run in evaluation.runs]
    valued = [(value, run) for value, run in numbers if not math.isnan(value)]
    if not valued:
        return Heading(f"No system has a value on {measure}")
    best = max if known.spec.higher_is_better else min
    value, run = best(valued, key=lambda each: each[0])
    queries = counted(len(run.about), *_QUERIES)
    said = queries
    interval = run.intervals.get(known)
    if interval is not None and interval.known and evaluation.level is not None:
        level = percent_of(evaluation.level)
        said = f"{level} interval {amount(interval.low)} to {amount(interval.high)}, {queries}"
    if len(numbers) == 1:
        said = f"{said[0].upper()}{said[1:]}"
        return Heading(f"{cut(run.name)} has {amount(value)} on {measure}", (f"{said}.",))
    if math.isinf(value):
        return Heading(
            f"No system has a finite {measure}", (f"{queries[0].upper()}{queries[1:]}.",)
        )
    which = _extreme(known.spec.higher_is_better)
    line = ("With ", Best(amount(value)), f" ({said}). Whether it is ahead was not tested.")
    return Heading(f"{cut(run.name)} has the {which} {measure}", line)


def _between(comparison: Comparison, run: str, against: str, measure: str) -> Pair:
    """The row of two systems, whichever of both was compared with the other."""
    for row in comparison.rows:
        if row.measure == measure and {row.run, row.against} == {run, against}:
            return row
    return comparison.pair(run, against, measure)


def _how_sure(pair: Pair, comparison: Comparison, lead: _Lead) -> str:
    """The interval of a lead, and how many queries it is from."""
    queries = counted(pair.queries, *_QUERIES)
    if math.isnan(lead.low) or math.isnan(lead.high):
        why = f"no interval: {pair.interval.note}, " if pair.interval.note else ""
        return f"{why}{queries}"
    level = percent_of(comparison.settings.level)
    said = f"{level} interval {amount(lead.low)} to {amount(lead.high)}, {queries}"
    if lead.low * lead.high > 0 and pair.verdict == "not significant":
        among, _ = family_of(comparison)
        said += f"; it would count alone, not among {among:,} comparisons"
    return said


def _not_told_apart(places: Sequence[Place]) -> str:
    """Which places after the first cannot be told apart: neighbours whose ranks overlap."""
    groups: list[list[Place]] = []
    for place in places:
        if place.rank_low == place.rank_high:
            continue
        joins = groups and place.rank_low <= max(each.rank_high for each in groups[-1])
        if joins:
            groups[-1].append(place)
        else:
            groups.append([place])
    spans = [(min(p.rank_low for p in each), max(p.rank_high for p in each)) for each in groups]
    if not spans:
        return ""
    named = listed([f"{low} to {high}" for low, high in spans])
    whole = all(
        (place.rank_low, place.rank_high) == span
        for group, span in zip(groups, spans, strict=True)
        for place in group
    )
    verb = "cannot be told apart" if whole else "cannot all be told apart"
    return f" Places {named} {verb} on these queries."


def _some(names: Sequence[str]) -> str:
    if len(names) <= NAMED:
        return listed([cut(name) for name in names])
    return f"{counted(len(names), 'other')}"


def verdict_heading(pair: Pair, settings: ComparisonSettings) -> Heading:
    """Whether two systems can be told apart on a measure, and how sure that is.

    Parameters
    ----------
    pair : Pair
        A row of a comparison.
    settings : ComparisonSettings
        How they were compared.

    Returns
    -------
    Heading

    >>> from judged import compare_values
    >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
    >>> verdict_heading(found.pair(), found.settings).title
    'b and a are the same on value'
    """
    run, against, measure = cut(pair.run), cut(pair.against), pair.measure
    margin = shown_margin(settings.margin_of(measure))
    few = _too_few(pair, settings)
    titles = {
        "better": f"{run} is better than {against} on {measure}",
        "worse": f"{run} is worse than {against} on {measure}",
        "equivalent": f"{run} and {against} differ by less than {margin} on {measure}",
        "not significant": f"{run} against {against}: not told apart on {measure}",
        "too few": f"{run} against {against}: too few {few} to tell on {measure}",
        "identical": f"{run} and {against} are the same on {measure}",
    }
    return Heading(titles[pair.verdict], (*_difference(pair), *_detectable(pair, settings)))


def _too_few(pair: Pair, settings: ComparisonSettings) -> str:
    units = "queries" if pair.groups is None else "groups"
    effective = pair.effective_units
    if effective is not None and effective < fewest_units(settings.level):
        return f"{units} of equal weight"
    return f"{units} differ"


def _difference(pair: Pair) -> tuple[str, ...]:
    """The difference with what fits the queries."""
    queries = counted(pair.queries, *_QUERIES)
    if pair.verdict == "identical":
        return (f"They have the same value on all {queries}.",)
    difference = Best(signed_amount(pair.difference))
    low, high = pair.interval.low, pair.interval.high
    if math.isnan(low) or math.isnan(high):
        why = f": {pair.interval.note}" if pair.interval.note else ""
        return ("The difference is ", difference, f" on {queries}; it has no interval{why}.")
    return (
        *("The difference is ", difference, ", and anything from "),
        *(Best(signed_amount(low)), " to ", Best(signed_amount(high))),
        f" fits these {queries}.",
    )


def _detectable(pair: Pair, settings: ComparisonSettings) -> tuple[str, ...]:
    """What could have been shown, where nothing was."""
    if pair.verdict != "not significant" or pair.detectable is None:
        return ()
    often = f"{settings.power * 10:g} times in 10"
    least = amount(pair.detectable)
    return (f" They could have shown a difference of {least} or more, {often}.",)


def signed_amount(value: float) -> str:
    """A size with its sign, as sentences have it.

    >>> signed_amount(0.02), signed_amount(-0.5), signed_amount(0.0)
    ('+0.020', '−0.500', '0.000')
    """
    return with_sign(amount(value), value)
