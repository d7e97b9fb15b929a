"""What came out as a heading and a line under it: who leads, and whether two can be told apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judged.comparison.match import matched
from judged.comparison.methods import family_of, method_line
from judged.comparison.settings import TESTS
from judged.comparison.verdicts import OTHERWISE
from judged.comparison.wording import amount, percent_of, shown_margin, shown_p, with_sign
from judged.evaluation.ranges import difference_is_bounded
from judged.statistics.tested import fewest_units
from judged.text import Best, counted, listed, shown
from judged.web.pages.numbers import shorten

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.comparison.settings import ComparisonSettings
    from judged.comparison.verdicts import Pair, Place
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.scores import Scored
    from judged.rankings.strips import Cell


MAX_NAMED = 3
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
        apart = f" Systems were compared with {shorten(baseline)} only."
    with_value = ("With ", Best(amount(first.value)))
    if ends.difference < 0:
        # Both have more queries than those they share, on which the order is another one.
        ahead = Best(amount(-ends.difference))
        return Heading(
            f"{shorten(first.run)} has the {_extreme(higher)} {measure}, on other queries than "
            f"{shorten(second.run)}",
            (
                *(*with_value, f" it is first; on the queries of both {shorten(second.run)} is "),
                *(ahead, f" ahead ({_how_sure(pair, comparison, ends.turned)}).", apart),
            ),
        )
    if not pair.queries:
        return Heading(
            f"{shorten(first.run)} has the {_extreme(higher)} {measure}",
            (*with_value, f"; it has no query in common with {shorten(second.run)}.", apart),
        )
    line = (
        *(
            *with_value,
            " it is ",
            Best(amount(ends.difference)),
            f" ahead of {shorten(second.run)} ",
        ),
        *(f"({_how_sure(pair, comparison, ends)}).", apart),
    )
    if first.rank_high == 1:
        return Heading(f"{shorten(first.run)} leads on {measure}", line)
    if pair.verdict == "identical" and len(places) == 2:
        every = f"the same value on all {counted(pair.queries, *_QUERIES)}"
        return Heading(
            f"{shorten(first.run)} and {shorten(second.run)} are the same on {measure}",
            ("Both have ", Best(amount(first.value)), f", and {every}."),
        )
    title = f"{shorten(first.run)} is first on {measure}"
    others = [place.run for place in places[1:] if place.rank_low == 1]
    if baseline is not None and first.run != baseline:
        if pair.verdict in ("better", "worse"):
            return Heading(f"{title}, better than {shorten(baseline)}", line)
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
    queries = counted(len(run.rankings), *_QUERIES)
    said = queries
    interval = run.intervals.get(known)
    if interval is not None and interval.known and evaluation.level is not None:
        level = percent_of(evaluation.level)
        said = f"{level} interval {amount(interval.low)} to {amount(interval.high)}, {queries}"
    if len(numbers) == 1:
        said = f"{said[0].upper()}{said[1:]}"
        return Heading(f"{shorten(run.name)} has {amount(value)} on {measure}", (f"{said}.",))
    if math.isinf(value):
        return Heading(
            f"No system has a finite {measure}", (f"{queries[0].upper()}{queries[1:]}.",)
        )
    which = _extreme(known.spec.higher_is_better)
    line = ("With ", Best(amount(value)), f" ({said}). Whether it is ahead was not tested.")
    return Heading(f"{shorten(run.name)} has the {which} {measure}", line)


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
    if len(names) <= MAX_NAMED:
        return listed([shorten(name) for name in names])
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
    run, against, measure = shorten(pair.run), shorten(pair.against), pair.measure
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


MAX_QUERIES = 6
"""How many queries are shown on each side where two systems differ most."""
STRIP_RANKS = 10
"""How many ranks their strips have."""


@dataclass(frozen=True)
class Fact:
    """One line of what is known of two systems."""

    name: str
    text: str
    says: str = ""
    """What it means, in a sentence."""


@dataclass(frozen=True)
class VerdictRisk:
    """Whether something could turn the verdict."""

    about: str
    """Ties, missing or unjudged."""
    says: str
    could: bool | None
    """None where it was not looked into."""


@dataclass(frozen=True)
class PairPanel:
    """Two systems on one measure."""

    pair: Pair
    heading: Heading
    place: int
    """The place of the run in the files, from 0, which gives it its colour."""
    against_place: int
    difference: str
    """The big number."""
    low: str
    """The ends of its interval; empty where there is none."""
    high: str
    scale: tuple[float, float]
    """From where to where the interval is drawn; 0 is on it."""
    facts: tuple[Fact, ...]
    turns: tuple[VerdictRisk, ...]
    done: str
    """The test, the correction and the level, in a line."""
    notes: tuple[str, ...]
    """Warnings of the comparison."""


@dataclass(frozen=True)
class QueryDifference:
    """A query on which two systems differ."""

    query: str
    relevant: int
    """How many relevant items it has."""
    value: float
    against_value: float
    difference: float
    better: bool | None
    """Whether the run is the better one here; None where both are the same."""
    strip: tuple[Cell, ...]
    against_strip: tuple[Cell, ...]


@dataclass(frozen=True)
class LargestDifferences:
    """The queries on which two systems differ most, and how many lie between."""

    first: tuple[QueryDifference, ...]
    """The greatest differences."""
    between: int
    last: tuple[QueryDifference, ...]
    """The smallest, the lowest last."""
    most: float
    """The largest of all, for bars."""


def panel(
    comparison: Comparison,
    run: str | None = None,
    against: str | None = None,
    measure: str | None = None,
    *,
    places: Mapping[str, int] | None = None,
    unjudged: bool = False,
) -> PairPanel:
    """What is known of two systems on a measure.

    Parameters
    ----------
    comparison : Comparison
        In which they are compared.
    run, against, measure : str, optional
        Which row; needed where there are several.
    places : mapping of str to int, optional
        The place of each system in the files, from 0; by default that in the comparison.
    unjudged : bool, optional
        Whether the comparison looked into what unjudged results could do.

    Returns
    -------
    Panel

    >>> from judged import compare_values
    >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
    >>> panel(found).difference
    '0.000'
    """
    pair = comparison.pair(run, against, measure)
    known = places or {name: at for at, name in enumerate(comparison.runs)}
    has_interval = not math.isnan(pair.interval.low) and not math.isnan(pair.interval.high)
    return PairPanel(
        pair=pair,
        heading=verdict_heading(pair, comparison.settings),
        place=known[pair.run],
        against_place=known[pair.against],
        difference=signed_amount(pair.difference),
        low=signed_amount(pair.interval.low) if has_interval else "",
        high=signed_amount(pair.interval.high) if has_interval else "",
        scale=scale_of([pair]),
        facts=_facts(comparison, pair),
        turns=_turns(comparison, pair, unjudged),
        done=method_line(comparison),
        notes=tuple(comparison._own_warnings()),
    )


def scale_of(pairs: Iterable[Pair]) -> tuple[float, float]:
    """One scale for the differences of pairs and their intervals, with 0 on it.

    Parameters
    ----------
    pairs : iterable of Pair
        Rows of a comparison.

    Returns
    -------
    tuple of float

    >>> scale_of([])
    (-1.0, 1.0)
    """
    ends = [
        0.0,
        *(end for p in pairs for end in (p.difference, p.interval.low, p.interval.high)),
    ]
    finite = [end for end in ends if math.isfinite(end)]
    low, high = min(finite), max(finite)
    room = (high - low) * 0.2 or 1.0
    return low - room, high + room


def _facts(comparison: Comparison, pair: Pair) -> tuple[Fact, ...]:
    settings = comparison.settings
    facts = [
        Fact(
            "effect size d_z",
            "–" if pair.effect is None else shown(pair.effect, 2).replace("-", "−"),
            "The mean difference in standard deviations of the differences.",
        ),
        Fact(
            f"{TESTS[pair.test]}, p",
            shown_p(pair.p),
            "How often a difference at least as large would be seen if there were none.",
        ),
        Fact(
            "corrected p",
            shown_p(pair.corrected_p),
            "The same among all comparisons that are corrected together.",
        ),
        Fact(
            "detectable difference",
            "–" if pair.detectable is None else amount(pair.detectable),
            "The smallest difference that would have been shown, "
            f"{settings.power * 10:g} times in 10.",
        ),
    ]
    if pair.groups is not None:
        facts.append(Fact("groups of queries", f"{pair.groups:,}"))
    margin = settings.margin_of(pair.measure)
    if margin is not None:
        facts.append(Fact("margin", f"{margin:g}", "The smallest difference that matters."))
    return tuple(facts)


def _turns(comparison: Comparison, pair: Pair, unjudged: bool) -> tuple[VerdictRisk, ...]:
    """What ties, missing queries and unjudged results could do to the verdict."""
    if comparison.evaluation is None:
        return ()
    runs = [comparison.evaluation.scored(name) for name in (pair.run, pair.against)]
    found = [_ties(comparison, pair, runs)]
    if "missing" in pair.depends_on:
        found.append(VerdictRisk("missing", _clause(pair, "missing"), True))
    return (*found, *_unjudged(comparison, pair, runs, unjudged))


def _clause(pair: Pair, cause: str) -> str:
    """What the sentence of a pair says of one cause, as a sentence of its own."""
    for sentence in pair.says.split(". "):
        if sentence.startswith(OTHERWISE[cause]):
            return f"{sentence.removesuffix('.')}."
    return ""


def _ties(comparison: Comparison, pair: Pair, runs: list[Scored]) -> VerdictRisk:
    if "ties" in pair.depends_on:
        return VerdictRisk("ties", _clause(pair, "ties"), True)
    if not any(run.audit.tied_results for run in runs):
        return VerdictRisk("ties", "No judged result of both ties with another.", False)
    if any("depends on ties was seen" in note for note in comparison.notes):
        return VerdictRisk("ties", "No order of ties that was tried turns this; others may.", None)
    return VerdictRisk(
        "ties", "Ties cannot turn this: whatever their order, the verdict stays.", False
    )


def _unjudged(
    comparison: Comparison, pair: Pair, runs: list[Scored], looked: bool
) -> list[VerdictRisk]:
    evaluation = comparison.evaluation
    assert evaluation is not None
    shares = [run.audit.judged_at_10 for run in runs]
    if all(share == 1 for share in shares) and "unjudged" not in pair.depends_on:
        return []
    judged = listed([f"{share:.0%}".replace("%", " %") for share in shares])
    known = f"Of the first ten results {judged} are judged."
    if "unjudged" in pair.depends_on:
        return [VerdictRisk("unjudged", f"{_clause(pair, 'unjudged')} {known}", True)]
    if not looked:
        return [
            VerdictRisk("unjudged", f"{known} What the others could do was not looked into.", None)
        ]
    measure = comparison.measure(pair.measure).measure
    if measure is None or not difference_is_bounded(measure, evaluation.policy):
        said = "Unjudged results do not turn this in two scenarios, which are no bounds."
        return [VerdictRisk("unjudged", f"{said} {known}", None)]
    return [VerdictRisk("unjudged", f"Unjudged results cannot turn this. {known}", False)]


def largest_differences(
    comparison: Comparison,
    run: str | None = None,
    against: str | None = None,
    measure: str | None = None,
    *,
    most: int = MAX_QUERIES,
) -> LargestDifferences:
    """The queries on which two systems differ most, with the strips of both.

    Parameters
    ----------
    comparison : Comparison
        Of an evaluation.
    run, against, measure : str, optional
        Which row; needed where there are several.
    most : int, optional
        How many queries on each side.

    Returns
    -------
    Extremes

    >>> from judged import evaluate
    >>> runs = {"one": {"q": ["b", "a"]}, "other": {"q": ["a"]}}
    >>> found = largest_differences(evaluate({"q": {"a": 1}}, runs, "RR").compare())
    >>> found.first[0].difference
    0.5
    """
    from judged.rankings.strips import strips

    assert comparison.evaluation is not None
    pair = comparison.pair(run, against, measure)
    known = comparison.measure(pair.measure)
    match = matched(comparison.numbers, known, pair.run, pair.against)
    differences = match.differences
    order = np.argsort(-differences, kind="stable")
    above = [int(at) for at in order[:most] if differences[at] > 0]
    below = [int(at) for at in order[max(most, len(order) - most) :] if differences[at] < 0]
    if len(order) < 2 * most:  # each query once, on its own side
        below = [int(at) for at in order if differences[at] < 0][-most:]
    sides = [comparison.evaluation.scored(name) for name in (pair.run, pair.against)]
    rel = 1.0 if known.measure is None else float(known.measure.params.get("rel", 1))
    relevant = sides[0].rankings.relevant(rel)
    drawn = [
        strips(comparison.evaluation.scored(side.name).rankings, STRIP_RANKS) for side in sides
    ]
    places = [{query: at for at, query in enumerate(side.queries)} for side in sides]

    def row(at: int) -> QueryDifference:
        query = comparison.numbers.queries[match.ours.place[at]]
        difference = float(differences[at])
        ours, theirs = (
            tuple(each.cells(place[query])) for each, place in zip(drawn, places, strict=True)
        )
        return QueryDifference(
            query=query,
            relevant=int(relevant[places[0][query]]),
            value=float(match.ours.values[at]),
            against_value=float(match.theirs.values[at]),
            difference=difference,
            better=None if difference == 0 else (difference > 0) == known.higher_is_better,
            strip=ours,
            against_strip=theirs,
        )

    finite = np.abs(differences[np.isfinite(differences)])
    return LargestDifferences(
        first=tuple(map(row, above)),
        between=len(order) - len(above) - len(below),
        last=tuple(map(row, below)),
        most=float(finite.max(initial=0.0)),
    )
