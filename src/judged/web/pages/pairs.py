"""Two systems compared, as report and explorer show it: the verdict, the numbers behind it, what
could turn it, and the queries on which they differ most."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judged.comparison.match import matched
from judged.comparison.methods import method_line
from judged.comparison.settings import TESTS
from judged.comparison.verdicts import OTHERWISE
from judged.comparison.wording import amount, shown_p
from judged.evaluation.kept import rankings_of
from judged.evaluation.ranges import difference_is_bounded
from judged.text import listed, shown
from judged.web.pages.headings import Heading, signed_amount, verdict_heading

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.comparison.verdicts import Pair
    from judged.evaluation.scored import Scored
    from judged.rankings.strips import Cell

MOST = 6
"""How many queries are shown on each side where two systems differ most."""
STRIP = 10
"""How many ranks their strips have."""


@dataclass(frozen=True)
class Fact:
    """One line of what is known of two systems."""

    name: str
    text: str
    says: str = ""
    """What it means, in a sentence."""


@dataclass(frozen=True)
class Turn:
    """Whether something could turn the verdict."""

    about: str
    """Ties, missing or unjudged."""
    says: str
    could: bool | None
    """None where it was not looked into."""


@dataclass(frozen=True)
class Panel:
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
    turns: tuple[Turn, ...]
    done: str
    """The test, the correction and the level, in a line."""
    notes: tuple[str, ...]
    """Warnings of the comparison."""


@dataclass(frozen=True)
class Differing:
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
class Extremes:
    """The queries on which two systems differ most, and how many lie between."""

    first: tuple[Differing, ...]
    """The greatest differences."""
    between: int
    last: tuple[Differing, ...]
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
) -> Panel:
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
    return Panel(
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


def _turns(comparison: Comparison, pair: Pair, unjudged: bool) -> tuple[Turn, ...]:
    """What ties, missing queries and unjudged results could do to the verdict."""
    if comparison.evaluation is None:
        return ()
    runs = [comparison.evaluation.scored(name) for name in (pair.run, pair.against)]
    found = [_ties(comparison, pair, runs)]
    if "missing" in pair.depends_on:
        found.append(Turn("missing", _clause(pair, "missing"), True))
    return (*found, *_unjudged(comparison, pair, runs, unjudged))


def _clause(pair: Pair, cause: str) -> str:
    """What the sentence of a pair says of one cause, as a sentence of its own."""
    for sentence in pair.says.split(". "):
        if sentence.startswith(OTHERWISE[cause]):
            return f"{sentence.removesuffix('.')}."
    return ""


def _ties(comparison: Comparison, pair: Pair, runs: list[Scored]) -> Turn:
    if "ties" in pair.depends_on:
        return Turn("ties", _clause(pair, "ties"), True)
    if not any(run.audit.tied_results for run in runs):
        return Turn("ties", "No judged result of both ties with another.", False)
    if any("depends on ties was seen" in note for note in comparison.notes):
        return Turn("ties", "No order of ties that was tried turns this; others may.", None)
    return Turn("ties", "Ties cannot turn this: whatever their order, the verdict stays.", False)


def _unjudged(comparison: Comparison, pair: Pair, runs: list[Scored], looked: bool) -> list[Turn]:
    evaluation = comparison.evaluation
    assert evaluation is not None
    shares = [run.audit.judged_at_10 for run in runs]
    if all(share == 1 for share in shares) and "unjudged" not in pair.depends_on:
        return []
    judged = listed([f"{share:.0%}".replace("%", " %") for share in shares])
    known = f"Of the first ten results {judged} are judged."
    if "unjudged" in pair.depends_on:
        return [Turn("unjudged", f"{_clause(pair, 'unjudged')} {known}", True)]
    if not looked:
        return [Turn("unjudged", f"{known} What the others could do was not looked into.", None)]
    measure = comparison.measure(pair.measure).measure
    if measure is None or not difference_is_bounded(measure, evaluation.policy):
        said = "Unjudged results do not turn this in two scenarios, which are no bounds."
        return [Turn("unjudged", f"{said} {known}", None)]
    return [Turn("unjudged", f"Unjudged results cannot turn this. {known}", False)]


def extremes(
    comparison: Comparison,
    run: str | None = None,
    against: str | None = None,
    measure: str | None = None,
    *,
    most: int = MOST,
) -> Extremes:
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
    >>> found = extremes(evaluate({"q": {"a": 1}}, runs, "RR").compare())
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
    relevant = sides[0].about.relevant(rel)
    drawn = [strips(rankings_of(comparison.evaluation, side.name), STRIP) for side in sides]
    places = [{query: at for at, query in enumerate(side.queries)} for side in sides]

    def row(at: int) -> Differing:
        query = comparison.numbers.queries[match.ours.place[at]]
        difference = float(differences[at])
        ours, theirs = (
            tuple(each.cells(place[query])) for each, place in zip(drawn, places, strict=True)
        )
        return Differing(
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
    return Extremes(
        first=tuple(map(row, above)),
        between=len(order) - len(above) - len(below),
        last=tuple(map(row, below)),
        most=float(finite.max(initial=0.0)),
    )
