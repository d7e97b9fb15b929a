"""Orders of runs: how far every two measures agree, and which runs swap."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from judged import __version__
from judged.comparison.export import NumberFormat, rank_range
from judged.comparison.verdicts import SIGNIFICANT
from judged.errors import InputError, for_caller
from judged.evaluation.wording import about_trusted
from judged.results import Display, Document, Frame, Result, ResultPart, Table, plain_value
from judged.statistics.orders import FEWEST_SYSTEMS, OrderAgreement, levels_of, order_agreement
from judged.text import Left, Warned, counted, listed, plain, shown

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
    """Two runs in one order by a measure and in the other by another measure."""

    above: str  # the run that is above by the first measure, and below by the second
    below: str
    verdict: str  # verdict on `above` against `below` by the first measure, or "not compared"
    against_verdict: str  # verdict by the second measure

    @property
    def shown(self) -> int | None:
        """Number of measures with a significant difference; None if they were not compared."""
        verdicts = (self.verdict, self.against_verdict)
        if NOT_COMPARED in verdicts:
            return None
        return sum(verdict in SIGNIFICANT for verdict in verdicts)


@dataclass(frozen=True)
class TwoOrders:
    """Two measures, and how far their orders of the runs agree."""

    measure: str
    against: str
    agreement: OrderAgreement  # agreement of the orders; x is the first measure, y the second
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
        names = f"{self.measure} and {self.against}"
        if self.same:
            return f"{names}: the same order of all {len(self.agreement.systems):,} runs."
        agreement = self.agreement
        ties = ((self.measure, agreement.tied_in_x), (self.against, agreement.tied_in_y))
        tied = [
            f"{counted(len(pairs), 'pair')} tied on {name} alone" for name, pairs in ties if pairs
        ]
        beside = f"; {listed(tied)}" if tied else ""
        if self.note:
            return f"{names}: the agreement of orders is undefined, because {self.note}{beside}."
        if not self.swaps:
            return f"{names} swap none of {agreement.pairs:,} pairs of runs{beside}."
        number = f"{len(self.swaps):,} of {agreement.pairs:,} pairs of runs"
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
    >>> values = {run: {"AP": {"q": x}, "RR": {"q": 1 - x}} for run, x in zip("abc", (0, 1, 2))}
    >>> compare_values(values).orders().pairs[0].agreement.tau
    -1.0
    """

    runs: tuple[str, ...]
    """Runs that have a value on every measure."""
    measures: tuple[Compared, ...]
    values: Mapping[str, Mapping[str, float]]
    """Values of the runs by measure."""
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
                    "higher_is_better": measure.higher_is_better,
                    "values": plain_value(self.values[measure.name]),
                    "ranks": plain_value(_ranks(measure, self.values[measure.name])),
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
        rows = [pair.to_dict() for pair in self.pairs]
        rows = [row | {name: len(row[name]) for name in tied} for row in rows]
        return pl.DataFrame(rows, schema=schema)

    def document(self, display: Display) -> Document:
        more = sum(len(pair.swaps) for pair in self.pairs) - MAX_SWAPS_SHOWN
        everything = for_caller("to_json() (--format json)")
        cut = [f"{counted(more, 'more swap')}: {everything}."] if more > 0 else []
        answer = [pair.says() for pair in self.pairs if not pair.same]
        if same := [f"{pair.measure} and {pair.against}" for pair in self.pairs if pair.same]:
            answer.append(f"{', '.join(same)}: the same order of all {len(self.runs):,} runs.")
        return Document(
            answer=() if display.quiet else answer,
            tables=[self._value_table(), self._agreement_table(), *self._swap_tables()],
            notes=[*cut, *self.notes],
            details=DEFINITIONS,
        )

    @property
    def _remarks(self) -> list[str]:
        return [note for note in self.notes if not isinstance(note, Warned)]

    def _value_table(self) -> Table:
        columns = [list(self.runs)]
        for measure in self.measures:
            by_run = self.values[measure.name]
            values = NumberFormat(measure).values(list(by_run.values()))
            ranks = [rank_range(*ends) for ends in _ranks(measure, by_run).values()]
            columns.append([f"{x} ({rank})" for x, rank in zip(values, ranks, strict=True)])
        header = [Left("run"), *(f"{measure.name}, rank" for measure in self.measures)]
        return Table(header, [list(row) for row in zip(*columns, strict=True)])

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


def orders_of(comparison: Comparison) -> Orders:
    """Compare the orders of a comparison's measures."""
    measures = comparison.numbers.measures
    if len(measures) < 2:
        raise InputError(
            f"orders need at least two measures; this comparison has only {measures[0].name}. Name "
            "another one."
        )
    undefined = {
        run: name
        for name, by_run in comparison.values.items()
        for run, value in by_run.items()
        if math.isnan(value)
    }
    runs = tuple(run for run in comparison.runs if run not in undefined)
    if len(runs) < FEWEST_SYSTEMS:
        raise InputError(
            "orders need at least three runs with a value on every measure; there are "
            f"{len(runs):,}. For two runs, compare their values."
        )
    warned = [
        *comparison.warnings(),
        *uneven(comparison),
        *(
            f"{run} has no value on {name}, so it is left out of all orders."
            for run, name in undefined.items()
        ),
    ]
    notes: list[str] = list(map(Warned, dict.fromkeys(warned)))
    evaluation = comparison.evaluation
    if evaluation is not None and evaluation.trusted is not None:
        queries = len(comparison.numbers.queries)
        notes.append(
            f"{about_trusted(evaluation.trusted, queries)}: they correct values and verdicts."
        )
    values = {
        measure.name: {run: comparison.values[measure.name][run] for run in runs}
        for measure in measures
    }
    verdicts: dict[tuple[object, ...], str] = {}
    for row in comparison.rows:
        verdicts[row.measure, row.run, row.against] = row.verdict
        verdicts[row.measure, row.against, row.run] = REVERSED.get(row.verdict, row.verdict)
    pairs = []
    for both in combinations(measures, 2):
        agreement = order_agreement(*(_orient(of, values[of.name]) for of in both))
        swaps = []
        for above, below in agreement.swaps:
            words = (verdicts.get((of.name, above, below), NOT_COMPARED) for of in both)
            swaps.append(Swap(str(above), str(below), *words))
        pairs.append(TwoOrders(both[0].name, both[1].name, agreement, tuple(swaps)))
    return Orders(runs, measures, values, tuple(pairs), tuple(notes))


def _orient(measure: Compared, values: Mapping[str, float]) -> dict[str, float]:
    """Return values such that higher is better."""
    sign = 1 if measure.higher_is_better else -1
    return {run: sign * value for run, value in values.items()}


def _ranks(measure: Compared, values: Mapping[str, float]) -> dict[str, tuple[int, int]]:
    """Return the first and last rank of each run; they differ for tied runs."""
    levels = levels_of(np.array(list(_orient(measure, values).values())))
    return {
        run: (1 + int((levels < level).sum()), int((levels <= level).sum()))
        for run, level in zip(values, levels, strict=True)
    }
