"""What charts of comparisons are made from: a `Comparison`, or two systems that are compared."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.charts.sources import Source, Systems, unweighted
from judged.comparison import compare_evaluation
from judged.comparison.comparison import Comparison
from judged.comparison.match import matched
from judged.comparison.methods import TEST_EXPLANATIONS, method_line
from judged.comparison.settings import ComparisonSettings
from judged.comparison.wording import percent_of, with_sign
from judged.errors import InputError
from judged.text import Warned, counted, shown

if TYPE_CHECKING:
    import polars as pl

    from judged.measures import Measure

DEFAULT = "nDCG@10"
"""The measure that two systems are compared by."""
PairSource = Source | Comparison
"""Two systems: an evaluation of two runs, two rankings, systems, or a comparison of two runs."""
SAID = ("says", "note")
"""Columns of sentences, which stand above a chart and not in it."""
NAMED = 3
"""How many queries are named on each side of two systems."""


def comparison_of(source: Any) -> Comparison:
    """A comparison, which is not made from anything else here."""
    if not isinstance(source, Comparison):
        raise InputError(
            "this chart is made from a comparison, as judged.compare and Evaluation.compare make "
            "it; got something else."
        )
    return source


def terms(comparison: Comparison) -> list[str]:
    """What has to be said under any chart of a comparison: warnings, and what numbers rest on."""
    noticed = (*comparison.numbers.notes, *comparison.notes)
    said = [f"Warning: {note}" for note in noticed if isinstance(note, Warned)]
    if comparison.numbers.groups is not None:
        known = comparison.numbers.grouped(comparison.numbers.counting)
        said.append(in_groups(int(known.max()) + 1) if known is not None else "")
    tests = {row.test for row in comparison.rows}
    said += [
        f"{words[0].upper()}{words[1:]}."
        for test, words in TEST_EXPLANATIONS.items()
        if test in tests
    ]
    if comparison.evaluation is not None:
        said += Systems.of(comparison.evaluation).sentences()
    return list(dict.fromkeys(said))


def in_groups(groups: int) -> str:
    """That queries are not independent."""
    return f"Queries of a group count together: {counted(groups, 'group')}."


def signed(value: float | None) -> str:
    """A difference with its sign, as tables of comparisons have it."""
    return with_sign(number(value), value)


def number(value: float | None) -> str:
    """A number as tables of comparisons have it."""
    return shown(value).replace("-", "−")


@dataclass(frozen=True, eq=False)
class Paired:
    """Two systems on one measure, query by query, and what the comparison says of them."""

    queries: pl.DataFrame
    """A row for each query that both have a finite value of: query, a, b and difference."""
    facts: dict[str, Any]
    """What is the same for all queries, for columns of a table."""
    notes: list[str]
    """What has to be said under a chart."""

    def columns(self) -> list[pl.Expr]:
        """The facts as columns."""
        import polars as pl

        return [
            pl.lit(value, pl.Float64 if value is None or isinstance(value, float) else None).alias(
                name
            )
            for name, value in self.facts.items()
        ]


def paired(source: PairSource, measure: str | Measure | None) -> Paired:
    """The queries that count in both of two systems, and the verdict on their difference."""
    import polars as pl

    comparison = _compared(source, measure)
    if len(comparison.runs) != 2:
        raise _not_two(comparison.runs)
    chosen = comparison.measure(_measure_of(comparison, measure))
    pair = comparison.pair(measure=chosen.name)
    match = matched(comparison.numbers, chosen, pair.run, pair.against)
    a, b, place = match.theirs.values, match.ours.values, match.ours.place
    finite = np.isfinite(a) & np.isfinite(b)
    if not finite.any():
        raise InputError("no query counts in both systems, so there is nothing to compare.")
    left_out = len(place) - int(finite.sum())
    names = pl.Series(comparison.numbers.queries, dtype=pl.String)
    queries = pl.DataFrame(
        {
            "query": names.gather(place[finite]),
            "a": a[finite],
            "b": b[finite],
            "difference": match.differences[finite],
        }
    )
    interval = pair.interval
    facts = {
        "measure": pair.measure,
        "run_a": pair.against,
        "run_b": pair.run,
        "higher_is_better": chosen.higher_is_better,
        "is_share": tuple(chosen.range) == (0, 1),
        "wins": pair.wins,
        "ties": pair.ties,
        "losses": pair.losses,
        "overall": _finite(pair.difference),
        "low": _finite(interval.low),
        "high": _finite(interval.high),
        "level": comparison.settings.level,
        "is_mean": match.ours.sample.aggregate == "mean" and not left_out,
        "verdict": pair.verdict,
        "says": pair.says,
        "note": interval.note,
    }
    notes = [
        f"{counted(left_out, 'query', 'queries')} with an infinite value cannot be shown."
        if left_out
        else "",
        "" if chosen.higher_is_better else f"Lower values of {pair.measure} are better.",
        method_line(comparison) if comparison.settings != ComparisonSettings() else "",
        *terms(comparison),
    ]
    return Paired(queries, facts, [note for note in notes if note])


def _compared(source: PairSource, measure: str | Measure | None) -> Comparison:
    """A comparison of two systems that count every query once."""
    if isinstance(source, Comparison):
        if source.evaluation is not None:
            unweighted(Systems.of(source.evaluation))
        return source
    systems = unweighted(Systems.of(source))
    if len(systems.rankings) != 2:
        raise _not_two(systems.names)
    if systems.rankings[0].queries != systems.rankings[1].queries:
        raise InputError(
            "the two systems have different queries; judge both with the same judgements."
        )
    return compare_evaluation(systems.evaluate([DEFAULT if measure is None else measure]))


def _measure_of(comparison: Comparison, measure: str | Measure | None) -> str | Measure | None:
    """The measure that was asked for; of several nDCG@10, where it is among them."""
    several = measure is None and len(comparison.measures) > 1
    return DEFAULT if several and DEFAULT in comparison.measures else measure


def _not_two(names: Any) -> InputError:
    return InputError(f"this chart compares two systems; got {len(names)}: {', '.join(names)}.")


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value


def said_of(table: pl.DataFrame) -> list[str]:
    """What the comparison says of the two systems of a table: the difference with its interval, and
    the verdict."""
    overall, low, high, level, note = (
        table[name][0] for name in ("overall", "low", "high", "level", "note")
    )
    what = "mean difference" if table["is_mean"][0] else "difference"
    if low is None or high is None:
        why = f": {note}" if note else ""
        bounds = f"; it has no interval{why}"
    else:
        bounds = f", its {percent_of(level)} interval {signed(low)} … {signed(high)}"
    return [f"The {what} is {signed(overall)}{bounds}.", table["says"][0]]
