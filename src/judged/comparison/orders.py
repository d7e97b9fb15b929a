"""Do measures put the runs in the same order? Every pair of measures, and the runs that swap."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from judged import __version__
from judged.comparison.tables import Form
from judged.errors import InputError, quoted
from judged.evaluation.export import Look
from judged.evaluation.wording import about_trusted
from judged.options import checked_methods
from judged.results import Result, Table
from judged.statistics.orders import LEAST, OrderAgreement, levels_of, order_agreement
from judged.text import Left, Warned, counted, few, listed, plain, shown

if TYPE_CHECKING:
    import polars as pl

    from judged.comparison.comparison import Comparison
    from judged.comparison.numbers import Compared

TURNED = {"better": "worse", "worse": "better"}
"""A verdict seen from the other run."""
NOT_COMPARED = "not compared"
"""Where a comparison with a baseline has no verdict on two others."""
NUMBERS = ("tau", "tau_ap", "tau_ap_reversed", "tau_ap_symmetric", "weighted_tau")


@dataclass(frozen=True)
class Swap:
    """Two runs that stand one way by a measure and the other way by another one.

    >>> Swap("a", "b", "better", "no evidence").shown
    1
    """

    above: str
    """The run that is above by the first measure, and below by the second."""
    below: str
    """The run that is below by the first measure, and above by the second."""
    verdict: str
    """The comparison's verdict on `above` against `below` by the first measure; "not compared"
    where a baseline leaves the pair out."""
    against_verdict: str
    """The same by the second measure."""

    @property
    def shown(self) -> int | None:
        """By how many of both measures the difference is shown; None where it was not compared."""
        verdicts = (self.verdict, self.against_verdict)
        return None if NOT_COMPARED in verdicts else sum(each in TURNED for each in verdicts)

    def to_dict(self) -> dict[str, str]:
        """As plain values for JSON.

        Returns
        -------
        dict

        >>> Swap("a", "b", "better", "no evidence").to_dict()["below"]
        'b'
        """
        return {
            "above": self.above,
            "below": self.below,
            "verdict": self.verdict,
            "against_verdict": self.against_verdict,
        }


@dataclass(frozen=True)
class Ordered:
    """A measure as one comparison has it: what puts the runs in an order."""

    name: str
    """What it is called here; with several comparisons, followed by which one."""
    compared: Compared
    """The measure."""
    values: Mapping[str, float]
    """The number of each run."""
    verdicts: Mapping[tuple[str, str], str]
    """The verdict on each run against each other."""

    @property
    def turned(self) -> dict[str, float]:
        """The numbers, turned where lower is better: higher is better."""
        sign = 1 if self.compared.higher_is_better else -1
        return {run: sign * value for run, value in self.values.items()}

    @property
    def ranks(self) -> dict[str, tuple[int, int]]:
        """The first and last rank of each run; two of them where it is tied."""
        levels = levels_of(np.array(list(self.turned.values())))
        return {
            run: (1 + int((levels < own).sum()), int((levels <= own).sum()))
            for run, own in zip(self.values, levels, strict=True)
        }


@dataclass(frozen=True)
class TwoOrders:
    """Two measures, and how far their orders of the runs agree."""

    measure: str
    """The first measure."""
    against: str
    """The second one."""
    agreement: OrderAgreement
    """The numbers, and all pairs that swap; x is the first measure, y the second."""
    swaps: tuple[Swap, ...]
    """The runs that swap, with the verdicts on them."""

    @property
    def names(self) -> tuple[str, str]:
        """What both are called."""
        return self.measure, self.against

    @property
    def note(self) -> str:
        """Why the numbers are undefined, where they are."""
        note = self.agreement.note.replace("systems", "runs")
        return note.replace(" in x", f" on {self.measure}").replace(" in y", f" on {self.against}")

    @property
    def same(self) -> bool:
        """Whether both have the same order, and there is one."""
        return self.agreement.same and not self.note

    def shown(self) -> dict[int | None, int]:
        """How many swaps are shown by both measures (2), by one (1), by none (0), and how many
        have no verdict (None)."""
        return {of: sum(swap.shown == of for swap in self.swaps) for of in (2, 1, 0, None)}

    def says(self) -> str:
        """What was found, as a sentence."""
        names, runs = " and ".join(self.names), len(self.agreement.systems)
        if self.same:
            return f"{names}: the same order of all {runs:,} runs."
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
            return f"{names}: the agreement of orders is undefined, as {self.note}{beside}."
        if not self.swaps:
            return f"{names} swap none of {self.agreement.pairs:,} pairs of runs{beside}."
        number = f"{len(self.swaps):,} of {self.agreement.pairs:,} pairs of runs"
        return f"{names} swap {number} ({self._shown()}){beside}."

    def _shown(self) -> str:
        found = self.shown()
        if found[0] == len(self.swaps):
            return "no verdict tells them apart on either measure, so it may be chance"
        without = f"; {found[None]:,} not compared with each other" if found[None] else ""
        return (
            f"the difference is shown on both measures for {found[2]:,}, on one for {found[1]:,}, "
            f"on neither for {found[0]:,}, where it may be chance{without}"
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
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
            "swaps": [swap.to_dict() for swap in self.swaps],
            "tied_in_measure": [list(pair) for pair in self.agreement.tied_in_x],
            "tied_in_against": [list(pair) for pair in self.agreement.tied_in_y],
            "note": self.note,
            "says": self.says(),
        }


def two_orders(first: Ordered, second: Ordered) -> TwoOrders:
    """Two measures of the same runs."""
    agreement = order_agreement(first.turned, second.turned)
    swaps = tuple(
        Swap(
            str(above),
            str(below),
            first.verdicts.get((str(above), str(below)), NOT_COMPARED),
            second.verdicts.get((str(above), str(below)), NOT_COMPARED),
        )
        for above, below in agreement.swaps
    )
    return TwoOrders(first.name, second.name, agreement, swaps)


MOST = 20
"""How many swaps a table shows; JSON has all."""
DEFINITIONS = (
    "tau-b is Kendall's: pairs in the same order less swapped ones, as a share of those that are "
    "not tied.",
    "tau-AP counts the top of the order for more, with the first measure as the truth; reversed, "
    "with the second; tied runs count by the mean over all their orders.",
    "Weighted tau is Vigna's: a pair weighs the sum of 1/rank of both, the mean of the ranks by "
    "either measure.",
)


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Orders(Result):
    """What `Comparison.orders` returns: for every two measures, how far their orders agree.

    >>> from judged import compare_values
    >>> values = {"a": [3, 1], "b": [2, 2], "c": [1, 3]}
    >>> found = compare_values(
    ...     {run: {"AP": {"q": x / 4}, "RR": {"q": y / 4}} for run, (x, y) in values.items()}
    ... )
    >>> found.orders().pairs[0].agreement.tau
    -1.0
    """

    WORDS: ClassVar = frozenset({"run", "measure", "against"})
    BETWEEN: ClassVar[str] = "\n\n"

    runs: tuple[str, ...]
    """The runs that have a number on every measure."""
    measures: tuple[Ordered, ...]
    """The measures, with the numbers of the runs."""
    pairs: tuple[TwoOrders, ...]
    """Every two measures."""
    notes: tuple[str, ...] = ()
    """What could mislead, of the comparisons and of these orders; and what corrects numbers."""

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

        Returns
        -------
        dict
        """
        return {
            "runs": list(self.runs),
            "measures": [
                {
                    "name": each.name,
                    "higher_is_better": each.compared.higher_is_better,
                    "values": {run: plain(value) for run, value in each.values.items()},
                    "ranks": {run: list(ranks) for run, ranks in each.ranks.items()},
                }
                for each in self.measures
            ],
            "pairs": [pair.to_dict() for pair in self.pairs],
            **({"notes": self._remarks} if self._remarks else {}),
            "warnings": self.warnings(),
            "definition": " ".join(DEFINITIONS),
            "judged": __version__,
        }

    def to_frame(self) -> pl.DataFrame:
        """One row for every two measures: the numbers, and how many pairs of runs swap.

        Returns
        -------
        polars.DataFrame
        """
        import polars as pl

        shown = ("shown_on_both", "shown_on_one", "shown_on_none", "not_compared")
        tied = ("tied_in_measure", "tied_in_against")
        schema: dict[str, Any] = {
            "measure": pl.String,
            "against": pl.String,
            **dict.fromkeys(NUMBERS, pl.Float64),
            **dict.fromkeys(("pairs", "swapped", *shown, *tied), pl.Int64),
            "note": pl.String,
        }
        rows = []
        for pair in self.pairs:
            known = pair.to_dict()
            known |= {name: len(known[name]) for name in tied}
            rows.append([known[name] for name in schema])
        return pl.DataFrame(rows, schema=schema, orient="row")

    def tables(self) -> list[Table]:
        """The runs with their numbers and ranks, the numbers of every two measures, and the runs
        that swap.

        Returns
        -------
        list of (header, rows)
        """
        return [self._values(), self._agreements(), *self._swaps()]

    def _values(self) -> Table:
        forms = [Form(each.compared, Look()) for each in self.measures]
        ranks = [each.ranks for each in self.measures]
        rows = [
            [
                run,
                *(
                    f"{form.value(each.values[run])} ({_rank(*own[run])})"
                    for form, each, own in zip(forms, self.measures, ranks, strict=True)
                ),
            ]
            for run in self.runs
        ]
        return ["run", *(f"{each.name}, rank" for each in self.measures)], rows

    def _agreements(self) -> Table:
        header = ["measure", "against", "tau-b", "tau-AP", "reversed", "weighted", "swaps", "tied"]
        rows = []
        for pair in self.pairs:
            of = pair.agreement
            numbers = (of.tau, of.tau_ap, of.tau_ap_reversed, of.weighted_tau)
            tied = len(of.tied_in_x) + len(of.tied_in_y)
            counts = f"{len(pair.swaps):,} of {of.pairs:,}", f"{tied:,}"
            rows.append([pair.measure, pair.against, *map(_shown, numbers), *counts])
        return header, rows

    def _swaps(self) -> Iterator[Table]:
        """Of every two measures the runs that swap, as many as there is room for."""
        room = MOST
        for pair in self.pairs:
            rows = [list(swap.to_dict().values()) for swap in pair.swaps[:room]]
            heads = (f"{word} {name}" for word in ("above on", "verdict on") for name in pair.names)
            if rows:
                yield list(map(Left, heads)), rows
            room -= len(rows)

    def sentences(self) -> list[str]:
        """What every two measures say, and what the numbers are.

        Returns
        -------
        list of str
        """
        return [*self._warned(), *self._findings(), *DEFINITIONS]

    def _findings(self) -> list[str]:
        more = sum(len(pair.swaps) for pair in self.pairs) - MOST
        cut = [f"{counted(more, 'more swap')}: to_json() (--format json)."] if more > 0 else []
        same = [" and ".join(pair.names) for pair in self.pairs if pair.same]
        agreeing = [f"{', '.join(same)}: the same order of all {len(self.runs):,} runs."]
        others = [pair.says() for pair in self.pairs if not pair.same]
        return [*cut, *others, *(agreeing if same else []), *self._remarks]

    @property
    def _remarks(self) -> list[str]:
        return [note for note in self.notes if not isinstance(note, Warned)]

    def _brief(self) -> list[str]:
        return self._findings()


def _rank(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,} … {last:,}"


def _shown(value: float) -> str:
    return shown(value).replace("-", "−")


def orders_of(comparison: Comparison, beside: Mapping[str, Comparison] | None) -> Orders:
    """The orders of a comparison's measures, and of those of others beside it."""
    named = _named(comparison, beside)
    measures = [each for name, of in named for each in _measures(of, name)]
    if len(measures) < 2:
        raise InputError(
            f"orders are those of at least two measures; this comparison has {measures[0].name} "
            "alone. Name another one; or compare the same under several conventions (--convention "
            "more than once, beside= in Python)."
        )
    undefined = {
        run: each.name
        for each in measures
        for run in comparison.runs
        if math.isnan(each.values[run])
    }
    runs = tuple(run for run in comparison.runs if run not in undefined)
    if len(runs) < LEAST:
        without = f" with a number on every measure ({few(list(undefined))} without)"
        raise InputError(
            f"orders are those of at least three runs; there are {len(runs):,}"
            f"{without if undefined else ''}. Two runs are in one order or in the other: compare "
            "their values."
        )
    notes = [*dict.fromkeys(note for _, of in named for note in (*of.warnings(), *uneven(of)))]
    notes += [
        f"{run} has no number on {name}; it is left out of all orders."
        for run, name in undefined.items()
    ]
    found = [_only(each, runs) for each in measures]
    pairs = tuple(two_orders(first, second) for first, second in combinations(found, 2))
    return Orders(runs, tuple(found), pairs, (*map(Warned, notes), *_corrected(named)))


def _corrected(named: Sequence[tuple[str, Comparison]]) -> list[str]:
    """Which numbers trusted judgements correct."""
    return [
        f"{f'{name}: ' if name else ''}"
        f"{about_trusted(of.evaluation.trusted, len(of.numbers.queries))}: "
        "values and verdicts are corrected by them."
        for name, of in named
        if of.evaluation is not None and of.evaluation.trusted is not None
    ]


def uneven(comparison: Comparison) -> list[str]:
    """A warning where runs are put in order by means over different queries."""
    for measure in comparison.numbers.measures:
        entries = {run: comparison.numbers.entry(measure, run) for run in comparison.runs}
        places = {run: entry.place for run, entry in entries.items() if len(entry.place)}
        most, fewest = (
            choose(places, key=lambda run: len(places[run]), default="") for choose in (max, min)
        )
        if any(not np.array_equal(place, places[most]) for place in places.values()):
            return [
                f"runs are in the order of their means over different queries, as {measure.name} "
                f"over {len(places[fewest]):,} for {fewest} and {len(places[most]):,} for {most}: "
                "the queries have a part in it."
            ]
    return []


def _only(measure: Ordered, runs: Sequence[str]) -> Ordered:
    values = {run: measure.values[run] for run in runs}
    return Ordered(measure.name, measure.compared, values, measure.verdicts)


def _named(
    comparison: Comparison, beside: Mapping[str, Comparison] | None
) -> list[tuple[str, Comparison]]:
    """All comparisons, each with what stands behind the names of its measures."""
    if beside is None:
        return [("", comparison)]
    if not isinstance(beside, Mapping):
        raise InputError(f"beside must be {{name: comparison}}; got {quoted(beside)}.")
    found = [(_definer(comparison), comparison)]
    for name, other in beside.items():
        if not isinstance(name, str) or not isinstance(other, type(comparison)):
            raise InputError(
                f"beside must be {{name: comparison}}; got {quoted(other)} for {quoted(name)}."
            )
        if set(other.runs) != set(comparison.runs):
            alone = sorted(set(other.runs) ^ set(comparison.runs))
            raise InputError(
                f"the comparison {quoted(name)} is of other runs: {few(alone)} in one of both only."
            )
        found.append((name, other))
    if len({name for name, _ in found}) < len(found):
        raise InputError(f"two comparisons are called {quoted(found[0][0])}; name them otherwise.")
    return found


def _definer(comparison: Comparison) -> str:
    """Whose definitions a comparison's measures are."""
    evaluated = comparison.evaluation
    if evaluated is None:
        return "this"
    return evaluated.convention.convention.name if evaluated.convention else "judged"


def _measures(comparison: Comparison, of: str) -> Iterator[Ordered]:
    for each in comparison.numbers.measures:
        verdicts = {}
        for row in comparison.rows:
            if row.measure == each.name:
                verdicts[row.run, row.against] = row.verdict
                verdicts[row.against, row.run] = TURNED.get(row.verdict, row.verdict)
        name = f"{each.name} ({of})" if of else each.name
        yield Ordered(name, each, comparison._values(each), verdicts)
