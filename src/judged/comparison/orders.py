"""Orders of runs: how far every two measures agree, and which runs swap."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from judged import __version__
from judged.comparison.tables import NumberFormat, rank_range
from judged.comparison.verdicts import SIGNIFICANT
from judged.errors import InputError, quoted
from judged.evaluation.wording import about_trusted
from judged.results import Display, Document, Frame, Result, ResultPart, Table, plain_value
from judged.statistics.orders import FEWEST_SYSTEMS, OrderAgreement, levels_of, order_agreement
from judged.text import Left, Warned, counted, few, listed, plain, shown

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.comparison.numbers import Compared

MAX_SWAPS_SHOWN = 20
"""Swaps in tables; JSON has all."""
REVERSED = {"better": "worse", "worse": "better"}
"""A verdict seen from the other run."""
NOT_COMPARED = "not compared"
"""Instead of a verdict on two runs that a comparison with a baseline does not compare."""
NUMBERS = ("tau", "tau_ap", "tau_ap_reversed", "tau_ap_symmetric", "weighted_tau")
DEFINITIONS = (
    "tau-b is Kendall's: pairs in the same order minus swapped ones, as a share of those that are "
    "not tied.",
    "tau-AP gives more weight to the top of the order, with the first measure as the truth; "
    "reversed, with the second; tied runs count by the mean over all their orders.",
    "Weighted tau is Vigna's: a pair weighs the sum of 1/rank of both runs, with mean ranks of the "
    "two measures.",
)


@dataclass(frozen=True)
class Swap(ResultPart):
    """Two runs in one order by a measure and in the other by another measure.

    >>> Swap("a", "b", "better", "not significant").shown
    1
    """

    above: str
    """The run that is above by the first measure, and below by the second."""
    below: str
    verdict: str
    """Verdict on `above` against `below` by the first measure, or "not compared"."""
    against_verdict: str
    """Verdict by the second measure."""

    @property
    def shown(self) -> int | None:
        """Number of measures with a significant difference; None if they were not compared."""
        verdicts = (self.verdict, self.against_verdict)
        return (
            None
            if NOT_COMPARED in verdicts
            else sum(verdict in SIGNIFICANT for verdict in verdicts)
        )


@dataclass(frozen=True)
class OrderingMeasure:
    """A measure of one comparison, with the values that order the runs."""

    name: str
    """The measure's name, followed by that of its comparison if there are several."""
    compared: Compared
    values: Mapping[str, float]
    verdicts: Mapping[tuple[str, str], str]
    """Verdict on each run against each other."""

    @property
    def oriented(self) -> dict[str, float]:
        """Values such that higher is better."""
        sign = 1 if self.compared.higher_is_better else -1
        return {run: sign * value for run, value in self.values.items()}

    @property
    def ranks(self) -> dict[str, tuple[int, int]]:
        """First and last rank of each run; they differ for tied runs."""
        levels = levels_of(np.array(list(self.oriented.values())))
        return {
            run: (1 + int((levels < level).sum()), int((levels <= level).sum()))
            for run, level in zip(self.values, levels, strict=True)
        }


@dataclass(frozen=True)
class TwoOrders:
    """Two measures, and how far their orders of the runs agree."""

    measure: str
    against: str
    agreement: OrderAgreement
    """Agreement of the orders; x is the first measure, y the second."""
    swaps: tuple[Swap, ...]

    @property
    def note(self) -> str:
        """Why the agreement is undefined, if it is."""
        note = self.agreement.note.replace("systems", "runs")
        return note.replace(" in x", f" on {self.measure}").replace(" in y", f" on {self.against}")

    @property
    def same(self) -> bool:
        """True if both measures have the same order."""
        return self.agreement.same and not self.note

    def shown(self) -> dict[int | None, int]:
        """Return the number of swaps by the number of measures on which they are significant."""
        return {of: sum(swap.shown == of for swap in self.swaps) for of in (2, 1, 0, None)}

    def says(self) -> str:
        """Return the agreement in words."""
        names = f"{self.measure} and {self.against}"
        if self.same:
            return f"{names}: the same order of all {len(self.agreement.systems):,} runs."
        tied = [
            f"{counted(len(pairs), 'pair')} tied on {name} alone"
            for name, pairs in (
                (self.measure, self.agreement.tied_in_x),
                (self.against, self.agreement.tied_in_y),
            )
            if pairs
        ]
        beside = f"; {listed(tied)}" if tied else ""
        if self.note:
            return f"{names}: the agreement of orders is undefined, because {self.note}{beside}."
        if not self.swaps:
            return f"{names} swap none of {self.agreement.pairs:,} pairs of runs{beside}."
        number = f"{len(self.swaps):,} of {self.agreement.pairs:,} pairs of runs"
        counts = self.shown()
        if counts[0] == len(self.swaps):
            significant = "not significant on either measure, so this may be chance"
        else:
            without = f"; {counts[None]:,} not compared with each other" if counts[None] else ""
            significant = (
                f"the difference is significant on both measures for {counts[2]:,}, on one for "
                f"{counts[1]:,}, on neither for {counts[0]:,}, which may be chance{without}"
            )
        return f"{names} swap {number} ({significant}){beside}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        both, one, none, without = self.shown().values()
        return {
            "measure": self.measure,
            "against": self.against,
            **{name: plain(getattr(self.agreement, name)) for name in NUMBERS},
            "pairs": self.agreement.pairs,
            "swapped": len(self.swaps),
            "shown_on_both": both,
            "shown_on_one": one,
            "shown_on_none": none,
            "not_compared": without,
            "swaps": plain_value(self.swaps),
            "tied_in_measure": plain_value(self.agreement.tied_in_x),
            "tied_in_against": plain_value(self.agreement.tied_in_y),
            "note": self.note,
            "says": self.says(),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Orders(Result):
    """Result of `Comparison.orders`: how far every two measures order the runs alike.

    >>> from judged import compare_values
    >>> values = {"a": [3, 1], "b": [2, 2], "c": [1, 3]}
    >>> found = compare_values(
    ...     {run: {"AP": {"q": x / 4}, "RR": {"q": y / 4}} for run, (x, y) in values.items()}
    ... )
    >>> found.orders().pairs[0].agreement.tau
    -1.0
    """

    runs: tuple[str, ...]
    """Runs that have a value on every measure."""
    measures: tuple[OrderingMeasure, ...]
    pairs: tuple[TwoOrders, ...]
    """Every two measures."""
    notes: tuple[str, ...] = ()
    """Warnings and notes, of the comparisons and of these orders."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "runs": list(self.runs),
            "measures": [
                {
                    "name": measure.name,
                    "higher_is_better": measure.compared.higher_is_better,
                    "values": plain_value(measure.values),
                    "ranks": plain_value(measure.ranks),
                }
                for measure in self.measures
            ],
            "pairs": plain_value(self.pairs),
            **({"notes": self._remarks} if self._remarks else {}),
            "warnings": self.warnings(),
            "definition": " ".join(DEFINITIONS),
            "judged": __version__,
        }

    def to_frame(self) -> Frame:
        """Return a row for every two measures: the agreement, and how many pairs of runs swap."""
        import polars as pl

        counts = ("shown_on_both", "shown_on_one", "shown_on_none", "not_compared")
        tied = ("tied_in_measure", "tied_in_against")
        schema: dict[str, Any] = {
            "measure": pl.String,
            "against": pl.String,
            **dict.fromkeys(NUMBERS, pl.Float64),
            **dict.fromkeys(("pairs", "swapped", *counts, *tied), pl.Int64),
            "note": pl.String,
        }
        rows = []
        for pair in self.pairs:
            known = pair.to_dict()
            known |= {name: len(known[name]) for name in tied}
            rows.append([known[name] for name in schema])
        return pl.DataFrame(rows, schema=schema, orient="row")

    def document(self, display: Display) -> Document:
        more = sum(len(pair.swaps) for pair in self.pairs) - MAX_SWAPS_SHOWN
        cut = [f"{counted(more, 'more swap')}: to_json() (--format json)."] if more > 0 else []
        same = [f"{pair.measure} and {pair.against}" for pair in self.pairs if pair.same]
        agreeing = [f"{', '.join(same)}: the same order of all {len(self.runs):,} runs."]
        others = [pair.says() for pair in self.pairs if not pair.same]
        return Document(
            answer=() if display.quiet else [*others, *(agreeing if same else [])],
            tables=[self._value_table(), self._agreement_table(), *self._swap_tables()],
            warnings=[note for note in self.notes if isinstance(note, Warned)],
            notes=[*cut, *self._remarks],
            details=DEFINITIONS,
        )

    @property
    def _remarks(self) -> list[str]:
        return [note for note in self.notes if not isinstance(note, Warned)]

    def _value_table(self) -> Table:
        formats = [NumberFormat(measure.compared) for measure in self.measures]
        ranks = [measure.ranks for measure in self.measures]
        rows = [
            [
                run,
                *(
                    f"{format.value(measure.values[run])} ({rank_range(*by_run[run])})"
                    for format, measure, by_run in zip(formats, self.measures, ranks, strict=True)
                ),
            ]
            for run in self.runs
        ]
        header = [Left("run"), *(f"{measure.name}, rank" for measure in self.measures)]
        return Table(header, rows)

    def _agreement_table(self) -> Table:
        columns = ["tau-b", "tau-AP", "reversed", "weighted", "swaps", "tied"]
        rows = []
        for pair in self.pairs:
            of = pair.agreement
            numbers = (of.tau, of.tau_ap, of.tau_ap_reversed, of.weighted_tau)
            tied = len(of.tied_in_x) + len(of.tied_in_y)
            texts = [shown(number).replace("-", "−") for number in numbers]
            counts = f"{len(pair.swaps):,} of {of.pairs:,}", f"{tied:,}"
            rows.append([pair.measure, pair.against, *texts, *counts])
        return Table([Left("measure"), Left("against"), *columns], rows)

    def _swap_tables(self) -> Iterator[Table]:
        left = MAX_SWAPS_SHOWN
        for pair in self.pairs:
            rows = [list(swap.to_dict().values()) for swap in pair.swaps[:left]]
            names = (pair.measure, pair.against)
            heads = (f"{word} {name}" for word in ("above on", "verdict on") for name in names)
            if rows:
                yield Table([Left(head) for head in heads], rows)
            left -= len(rows)


def orders_of(comparison: Comparison, beside: Mapping[str, Comparison] | None) -> Orders:
    """Compare the orders of a comparison's measures, and of other comparisons beside it."""
    named = _named(comparison, beside)
    measures = [measure for name, other in named for measure in _measures(other, name)]
    if len(measures) < 2:
        raise InputError(
            f"orders need at least two measures; this comparison has only {measures[0].name}. Name "
            "another one, or compare under several conventions (--convention more than once, "
            "beside= in Python)."
        )
    undefined = {
        run: measure.name
        for measure in measures
        for run in comparison.runs
        if math.isnan(measure.values[run])
    }
    runs = tuple(run for run in comparison.runs if run not in undefined)
    if len(runs) < FEWEST_SYSTEMS:
        without = f" with a value on every measure ({few(list(undefined))} without)"
        raise InputError(
            f"orders need at least three runs; there are {len(runs):,}"
            f"{without if undefined else ''}. For two runs, compare their values."
        )
    notes = [*dict.fromkeys(note for _, of in named for note in (*of.warnings(), *uneven(of)))]
    notes += [
        f"{run} has no value on {name}, so it is left out of all orders."
        for run, name in undefined.items()
    ]
    kept = [
        replace(measure, values={run: measure.values[run] for run in runs}) for measure in measures
    ]
    pairs = tuple(_two_orders(first, second) for first, second in combinations(kept, 2))
    corrected = [
        f"{f'{name}: ' if name else ''}"
        f"{about_trusted(of.evaluation.trusted, len(of.numbers.queries))}: they correct values and "
        "verdicts."
        for name, of in named
        if of.evaluation is not None and of.evaluation.trusted is not None
    ]
    return Orders(runs, tuple(kept), pairs, (*map(Warned, notes), *corrected))


def _two_orders(first: OrderingMeasure, second: OrderingMeasure) -> TwoOrders:
    agreement = order_agreement(first.oriented, second.oriented)
    swaps = []
    for pair in agreement.swaps:
        above, below = map(str, pair)
        verdicts = (of.verdicts.get((above, below), NOT_COMPARED) for of in (first, second))
        swaps.append(Swap(above, below, *verdicts))
    return TwoOrders(first.name, second.name, agreement, tuple(swaps))


def uneven(comparison: Comparison) -> list[str]:
    """Warn if runs are ordered by means over different queries."""
    for measure in comparison.numbers.measures:
        entries = {run: comparison.numbers.entry(measure, run) for run in comparison.runs}
        places = {run: entry.place for run, entry in entries.items() if len(entry.place)}
        most, fewest = (
            choose(places, key=lambda run: len(places[run]), default="") for choose in (max, min)
        )
        if any(not np.array_equal(place, places[most]) for place in places.values()):
            return [
                f"Runs are ordered by means over different queries, such as {measure.name} over "
                f"{len(places[fewest]):,} for {fewest} and {len(places[most]):,} for {most}. The "
                "order depends on the queries too."
            ]
    return []


def _named(
    comparison: Comparison, beside: Mapping[str, Comparison] | None
) -> list[tuple[str, Comparison]]:
    """Return all comparisons, each with the name that follows those of its measures."""
    if beside is None:
        return [("", comparison)]
    if not isinstance(beside, Mapping):
        raise InputError(f"beside must be {{name: comparison}}; got {quoted(beside)}.")
    evaluation = comparison.evaluation
    first = "this"
    if evaluation is not None:
        first = evaluation.convention.convention.name if evaluation.convention else "judged"
    named = [(first, comparison)]
    for name, other in beside.items():
        if not isinstance(name, str) or not isinstance(other, type(comparison)):
            raise InputError(
                f"beside must be {{name: comparison}}; got {quoted(other)} for {quoted(name)}."
            )
        if set(other.runs) != set(comparison.runs):
            alone = sorted(set(other.runs) ^ set(comparison.runs))
            raise InputError(
                f"the comparison {quoted(name)} has other runs: {few(alone)} in one of both only."
            )
        named.append((name, other))
    if len({name for name, _ in named}) < len(named):
        raise InputError(f"two comparisons are called {quoted(first)}; rename one.")
    return named


def _measures(comparison: Comparison, suffix: str) -> Iterator[OrderingMeasure]:
    for measure in comparison.numbers.measures:
        verdicts = {}
        for row in comparison.rows:
            if row.measure == measure.name:
                verdicts[row.run, row.against] = row.verdict
                verdicts[row.against, row.run] = REVERSED.get(row.verdict, row.verdict)
        name = f"{measure.name} ({suffix})" if suffix else measure.name
        yield OrderingMeasure(name, measure, comparison.values[measure.name], verdicts)
