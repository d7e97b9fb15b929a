"""Advice: a row for each measure, the words that its numbers earn, and what to report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from judged import __version__
from judged.results import Result, Table
from judged.text import Warned

if TYPE_CHECKING:
    import polars as pl

SATURATED, HARD, CAPPED, UNJUDGED, BEYOND = "saturated", "hard", "capped", "unjudged", "beyond"
MOST, FEW_JUDGED, HALF = 0.9, 0.8, 0.5
FINDINGS = {
    SATURATED: f"for {MOST:.0%} of the queries or more, every run has the best value there can be",
    HARD: f"for {MOST:.0%} of the queries or more, every run has the worst value",
    CAPPED: f"no system could have a mean above {HALF:g} here: too few relevant items, or too many",
    UNJUDGED: f"less than {FEW_JUDGED:.0%} of the results that it looks at were judged",
    BEYOND: "it looks further down than half of the lists go",
}
"""What a measure can be found to be on these data, and what that means."""


_OF_LISTS = ("length", "relevant")


@dataclass(frozen=True)
class Lists:
    """What is known of the judgements and the lists."""

    queries: int
    """How many judged queries there are."""
    relevant: float
    """How many relevant items a query has, in the median."""
    most_relevant: float
    """The most that one has."""
    length: float
    """How long lists are, in the median over all runs."""
    graded: bool
    """Whether there is more than one grade above 0."""


@dataclass(frozen=True)
class Row:
    """One measure on these data."""

    measure: str
    """What it is called."""
    k: int | None
    """How deep it looks, where that is a number."""
    queries: int
    """How many queries have something to find."""
    lowest: float
    """The lowest number that a run has."""
    highest: float
    """The highest."""
    ceiling: float
    """The mean of the best values that the queries can have."""
    at_best: float
    """Share of the queries in which every run has the best value that the query can have."""
    at_worst: float
    """Share of the queries in which every run has the worst value."""
    half_width: float | None
    """Half of the widest interval of a run's number; None where there is none."""
    judged: float | None
    """The share of the first k results that was judged, of the run with the least."""
    differ: float | None = None
    """Share of the queries in which two runs differ; None of a single run."""
    pairs: int = 0
    """How many pairs of runs there are."""
    separated: int = 0
    """How many of them are shown to differ, corrected for their number."""
    effect: float | None = None
    """The median of the pairs' effect sizes, d_z without its sign: what a measure needs few queries
    by, if it is large."""
    detectable: float | None = None
    """The median of the differences that these queries would have shown, 8 times in 10."""
    length: float = float("inf")
    """How long lists are, in the median."""
    relevant: float = 0.0
    """How many relevant items queries have, in the median."""

    @property
    def findings(self) -> tuple[str, ...]:
        """What speaks against the measure here, if anything does."""
        said = {
            SATURATED: self.at_best >= MOST,
            HARD: self.at_worst >= MOST,
            CAPPED: self.ceiling < HALF,
            UNJUDGED: self.judged is not None and self.judged < FEW_JUDGED,
            BEYOND: self.k is not None and self.k > self.length,
        }
        return tuple(name for name, holds in said.items() if holds)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON.

        Returns
        -------
        dict
        """
        found = {name: value for name, value in vars(self).items() if name not in _OF_LISTS}
        return {**found, "findings": list(self.findings)}


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Result):
    """What `advise` returns: a row for each measure, and what to report.

    >>> from judged import advise
    >>> found = advise({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
    >>> found.rows[0].highest
    0.5
    """

    WORDS: ClassVar = frozenset({"measure", "findings"})

    rows: tuple[Row, ...]
    """One for each measure."""
    lists: Lists
    """What is known of the judgements and the lists."""
    runs: tuple[str, ...]
    """The systems."""
    level: float
    """The level of intervals and tests."""

    def report(self) -> tuple[Row, ...]:
        """The measures to report: one that uses all that was judged, one of recall, and one of the
        first hit where that is all there is to find; only such as nothing speaks against.

        Returns
        -------
        tuple of Row

        >>> from judged import advise
        >>> judgements = {f"q{n}": {"a": 1} for n in range(20)}
        >>> run = {f"q{n}": ["b"] * (n % 3 > 0) + ["a"] for n in range(20)}
        >>> [row.measure for row in advise(judgements, run, "RR, P@10").report()]
        ['RR']
        """
        from judged.advice.choice import chosen

        return chosen(self)

    def warnings(self) -> list[str]:
        """What could mislead whoever follows the advice.

        Returns
        -------
        list of str

        >>> from judged import advise
        >>> advise({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").warnings()[0][:24]
        'There is only 1 run: how'
        """
        from judged.advice.sentences import warnings

        return warnings(self)

    def sentences(self) -> list[str]:
        """What was found, with the numbers behind it, and what to report.

        Returns
        -------
        list of str

        >>> from judged import advise
        >>> judgements = {f"q{n}": {"a": 1} for n in range(20)}
        >>> run = {f"q{n}": ["a"] for n in range(20)}
        >>> print(advise(judgements, run, "P@1").sentences()[2])
        P@1 has the best value for 100 % of the queries: it cannot tell systems apart any more.
        """
        from judged.advice.sentences import sentences

        return [*self._warned(), *sentences(self)]

    def _said(self) -> list[str]:
        from judged.advice.sentences import sentences

        return sentences(self)

    def _warned(self) -> list[Warned]:
        return [Warned(f"warning: {text}") for text in self.warnings()]

    def tables(self) -> list[Table]:
        """One row for each measure.

        Returns
        -------
        list of (header, rows)

        >>> from judged import advise
        >>> [(header, _)] = advise({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").tables()
        >>> header[:3]
        ['measure', 'value', 'ceiling']
        """
        from judged.advice.sentences import table

        return [table(self)]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

        Returns
        -------
        dict

        >>> from judged import advise
        >>> advise({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_dict()["rows"][0]["measure"]
        'RR'
        """
        return {
            "runs": list(self.runs),
            "lists": vars(self.lists),
            "rows": [row.to_dict() for row in self.rows],
            "report": [row.measure for row in self.report()],
            "level": self.level,
            "warnings": self.warnings(),
            "sentences": [str(each) for each in self._said()],
            "judged": __version__,
        }

    def to_frame(self) -> pl.DataFrame:
        """One row for each measure, with all numbers.

        Returns
        -------
        polars.DataFrame

        >>> from judged import advise
        >>> advise({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_frame()["highest"].to_list()
        [0.5]
        """
        import polars as pl

        rows = [{**row.to_dict(), "findings": ", ".join(row.findings)} for row in self.rows]
        return pl.DataFrame(rows, infer_schema_length=None)
