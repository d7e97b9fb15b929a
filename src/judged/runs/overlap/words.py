"""An overlap in words: its tables, what every two runs say, and what each number is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.results import Result, Table
from judged.runs.overlap.persistence import Persistence
from judged.text import Dim, Left, Warned, counted, few, shown

if TYPE_CHECKING:
    from judged.runs.overlap.pair import PairOverlap
    from judged.statistics.intervals import Interval

LOOKS_AT = 10
"""Of so many ranks it is said how much of the weight they carry."""


class Words(Result):
    """What is said of an overlap; `Overlap` holds what it is about."""

    pairs: tuple[PairOverlap, ...]
    p: float
    depth: int | None
    level: float
    notes: tuple[str, ...]

    @property
    def jaccard_name(self) -> str:
        """What Jaccard's number is called: with the depth, where lists are cut."""
        return "Jaccard" if self.depth is None else f"Jaccard@{self.depth}"

    def warnings(self) -> list[str]:
        """What could mislead whoever overlooks it: queries that are left out, and what was noticed
        about the runs.

        Returns
        -------
        list of str

        >>> from judged import overlap
        >>> overlap({"one": {"q": ["a"]}, "two": {"q": ["a"]}}).warnings()
        []
        """
        left_out = []
        for pair in self.pairs:
            sides = ((pair.run, pair.only_in_run), (pair.against, pair.only_in_against))
            alone = [
                f"{counted(len(queries), 'query', 'queries')} only in {run} ({few(queries)})"
                for run, queries in sides
                if queries
            ]
            if alone:
                both = counted(len(pair.queries), "query", "queries")
                left_out.append(
                    f"{pair.run} and {pair.against} are compared on the {both} that both have "
                    f"results for; left out: {', '.join(alone)}."
                )
        return [*left_out, *super().warnings()]

    def methods(self) -> str:
        """What the numbers are, as a paragraph.

        Returns
        -------
        str

        >>> from judged import overlap
        >>> overlap({"one": {"q": ["a"]}, "two": {"q": ["a"]}}).methods().partition(";")[0]
        'RBO is rank-biased overlap with p = 0.9, extrapolated to lists without end'
        """
        cut = "whole" if self.depth is None else f"cut at rank {self.depth:,}"
        first = 100 * Persistence.of(self.p, LOOKS_AT).first(LOOKS_AT)
        told = [
            f"RBO is rank-biased overlap with p = {self.p:g}, extrapolated to lists without end; "
            f"the first {LOOKS_AT} ranks carry {first:.3g} % of its weight.",
            "least is what it is at least, whatever follows below the lists, and residual by how "
            "much it may be more.",
            f"Lists are {cut}. {self.jaccard_name} is the number of shared items over that of all "
            "items of both lists.",
            "tau-b is Kendall's, of the shared items alone.",
            *self._ties(),
            f"Means are over the queries that both runs have results for, each with its interval "
            f"by Student's t at {100 * self.level:g} %.",
        ]
        return " ".join(told)

    def _ties(self) -> list[str]:
        if self.depth is None:
            return ["Ties are not broken: RBO and least are the mean over all their orders."]
        return [
            "Ties are not broken: RBO, least and shared are the mean over all their orders. Where "
            f"rank {self.depth:,} cuts a tie, {self.jaccard_name} and residual are those of the "
            "mean number of shared items, and tau-b is of all items of the tie."
        ]

    def sentences(self) -> list[str]:
        """What every two runs say, and what each number is.

        Returns
        -------
        list of str

        >>> from judged import overlap
        >>> overlap({"one": {"q": ["a"]}, "two": {"q": ["a"]}}).sentences()[0]
        'one and two: RBO 1.0000 over 1 query (at least 0.2558, at most 1.0000); 1.0 shared items.'
        """
        noted = [f"note: {note}" for note in self.notes if not isinstance(note, Warned)]
        return [*self._warned(), *map(self._says, self.pairs), *noted, self.methods()]

    def _brief(self) -> list[str]:
        return [*map(self._says, self.pairs), Dim("definitions and notes: verbose (-v)")]

    def _says(self, pair: PairOverlap) -> str:
        highest = min(pair.least.estimate + pair.residual.estimate, 1.0)
        said = (
            f"{pair.run} and {pair.against}: RBO {_within(pair.rbo)} over "
            f"{counted(len(pair.queries), 'query', 'queries')} (at least "
            f"{shown(pair.least.estimate)}, at most {shown(highest)}); "
            f"{pair.shared.estimate:,.1f} shared items"
            f"{' on average' if len(pair.queries) > 1 else ''}"
        )
        if pair.tau_queries:
            said += f", tau-b of their order {_within(pair.tau).replace('-', '−')}"
            undefined = len(pair.queries) - pair.tau_queries
            if undefined:
                said += f", undefined for {counted(undefined, 'query', 'queries')}"
        tied = pair.numbers.tied
        if tied:
            said += f"; {counted(tied, 'query has', 'queries have')} tied results among the shared"
        return f"{said}."

    def _means(self) -> list[Table]:
        """Rank-biased overlap, and what is shared."""
        level = Left(f"{100 * self.level:g} % interval")
        one = ["run", "against", "queries", "RBO", level, "least", "residual"]
        other = ["run", "against", self.jaccard_name, level, "shared", "tau-b", level]
        rows = [
            [
                *(pair.run, pair.against, f"{len(pair.queries):,}"),
                *(_value(pair.rbo), _bounds(pair.rbo), _value(pair.least), _value(pair.residual)),
            ]
            for pair in self.pairs
        ]
        others = [
            [
                *(pair.run, pair.against, _value(pair.jaccard), _bounds(pair.jaccard)),
                *(f"{pair.shared.estimate:,.1f}", _value(pair.tau), _bounds(pair.tau)),
            ]
            for pair in self.pairs
        ]
        return [(one, rows), (other, others)]


def _value(of: Interval) -> str:
    return shown(of.estimate).replace("-", "−")


def _bounds(of: Interval) -> str:
    return f"{shown(of.low)} … {shown(of.high)}".replace("-", "−") if of.known else "–"


def _within(of: Interval) -> str:
    bounds = f" ({shown(of.low)} to {shown(of.high)})" if of.known else ""
    return shown(of.estimate) + bounds
