"""Overlap: of every two runs how far their lists agree, on average and query by query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from judged import __version__
from judged.errors import InputError, quoted
from judged.options import checked_methods
from judged.results import Display, Document, Result, Table
from judged.runs.overlap.pair import NUMBERS, PairOverlap
from judged.runs.overlap.persistence import Persistence
from judged.text import Left, Warned, counted, few, shown

if TYPE_CHECKING:
    import polars as pl

    from judged.statistics.intervals import Interval


LOOKS_AT = 10
"""Ranks whose share of the weight is reported."""
WORDS = frozenset({"run", "against", "query"})


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Overlap(Result):
    """What `overlap` returns: of every two runs how far their lists agree.

    >>> from judged import overlap
    >>> found = overlap({"one": {"q": ["a", "b"]}, "two": {"q": ["c", "d"]}})
    >>> found.pair().rbo.estimate, found.pair().shared.estimate
    (0.0, 0.0)
    """

    DISPLAY: ClassVar = frozenset({"per_query"})

    pairs: tuple[PairOverlap, ...]
    """Every two runs."""
    p: float
    """The persistence of rank-biased overlap."""
    depth: int | None
    """Where lists were cut; None where they count whole."""
    level: float
    """The level of intervals."""
    notes: tuple[str, ...] = ()
    """What was noticed about the runs."""

    def pair(self, run: str | None = None, against: str | None = None) -> PairOverlap:
        """Two of the runs.

        Parameters
        ----------
        run, against : str, optional
            Their names, in any order; needed only where there are more than two.

        Returns
        -------
        PairOverlap

        >>> from judged import overlap
        >>> runs = {name: {"q": ["a", name]} for name in ("x", "y", "z")}
        >>> overlap(runs).pair("z", "x").shared.estimate
        1.0
        """
        runs = list(dict.fromkeys(name for pair in self.pairs for name in (pair.run, pair.against)))
        wanted = [name for name in (run, against) if name is not None]
        for name in wanted:
            if not isinstance(name, str) or name not in runs:
                raise InputError(f"there is no run {quoted(name)}; the runs are {', '.join(runs)}.")
        found = [pair for pair in self.pairs if {*wanted} <= {pair.run, pair.against}]
        if len(found) != 1 or len({*wanted}) < len(wanted):
            there = ", ".join(f"{pair.run} and {pair.against}" for pair in self.pairs)
            what = "say which pair" if len(wanted) < 2 and found else "there is no such pair"
            raise InputError(f"{what}: there is {there}.")
        return found[0]

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

        Parameters
        ----------
        per_query : bool, optional
            Whether the numbers of every query are there too.

        Returns
        -------
        dict
        """
        return {
            "p": self.p,
            "depth": self.depth,
            "level": self.level,
            "pairs": [pair.to_dict(per_query=per_query) for pair in self.pairs],
            "warnings": self.warnings(),
            "notes": [str(note) for note in self.notes],
            "definition": self.methods(),
            "judged": __version__,
        }

    def to_frame(self, *, per_query: bool = False) -> pl.DataFrame:
        """One row for every two runs, with means and the bounds of their intervals; or one for each
        query of every two runs.

        Parameters
        ----------
        per_query : bool, optional
            Whether there is a row for each query, with its numbers.

        Returns
        -------
        polars.DataFrame

        >>> from judged import overlap
        >>> found = overlap({"one": {"q": ["a", "b"]}, "two": {"q": ["b", "c"]}})
        >>> found.to_frame(per_query=True).select("query", "shared", "jaccard").rows()
        [('q', 1.0, 0.3333333333333333)]
        """
        import polars as pl

        if per_query:
            return pl.concat([_queries(pair) for pair in self.pairs])
        rows = []
        for pair in self.pairs:
            row: dict[str, Any] = {"run": pair.run, "against": pair.against}
            row["queries"] = len(pair.queries)
            for name in NUMBERS:
                of: Interval = getattr(pair, name)
                row |= {name: of.estimate, f"{name}_low": of.low, f"{name}_high": of.high}
            rows.append(row | {"tau_queries": pair.tau_queries})
        return pl.DataFrame(rows).fill_nan(None)

    def document(self, display: Display) -> Document:
        """Return the means of every two runs and, with `per_query`, the numbers of each query.

        Parameters
        ----------
        display : Display
            How it is shown.

        Returns
        -------
        Document

        >>> from judged import overlap
        >>> overlap({"one": {"q": ["a"]}, "two": {"q": ["a"]}}).sentences()[0]
        'one and two: RBO 1.0000 over 1 query (at least 0.2558, at most 1.0000); 1.0 shared items.'
        """
        noted = [f"note: {note}" for note in self.notes if not isinstance(note, Warned)]
        return Document(
            list(map(self._says, self.pairs)),
            [*self._means(), *([self._each_query()] if display.per_query else [])],
            self._warnings(),
            details=[*noted, self.methods()],
        )

    def _each_query(self) -> Table:
        heads = ["RBO", "least", "residual", self.jaccard_name, "shared", "tau-b"]

        def text(name: str, value: float) -> str:
            return f"{value:,.1f}" if name == "shared" else shown(value).replace("-", "−")

        rows = [
            [pair.run, pair.against, query, *map(text, NUMBERS, values)]
            for pair in self.pairs
            for query, *values in zip(
                pair.queries, *(getattr(pair.numbers, name) for name in NUMBERS), strict=True
            )
        ]
        return Table(["run", "against", "query", *heads], rows, words=WORDS)

    @property
    def jaccard_name(self) -> str:
        """Name of the Jaccard coefficient, with the depth if lists are cut."""
        return "Jaccard" if self.depth is None else f"Jaccard@{self.depth}"

    def _warnings(self) -> list[str]:
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
        return [*left_out, *(note for note in self.notes if isinstance(note, Warned))]

    def methods(self) -> str:
        """Return the definitions of the numbers, as a paragraph.

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
        """Return a table of rank-biased overlap, and one of shared items."""
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
        return [Table(one, rows, words=WORDS), Table(other, others, words=WORDS)]


def _value(of: Interval) -> str:
    return shown(of.estimate).replace("-", "−")


def _bounds(of: Interval) -> str:
    return f"{shown(of.low)} … {shown(of.high)}".replace("-", "−") if of.known else "–"


def _within(of: Interval) -> str:
    bounds = f" ({shown(of.low)} to {shown(of.high)})" if of.known else ""
    return shown(of.estimate) + bounds


def _queries(pair: PairOverlap) -> pl.DataFrame:
    """The numbers of every query of two runs."""
    import polars as pl

    columns = {name: getattr(pair.numbers, name) for name in NUMBERS}
    named = {"query": pl.Series(pair.queries, dtype=pl.String)}
    frame = pl.DataFrame({**named, **columns}).fill_nan(None)
    runs = (pl.lit(pair.run).alias("run"), pl.lit(pair.against).alias("against"))
    return frame.select(*runs, "query", *NUMBERS)
