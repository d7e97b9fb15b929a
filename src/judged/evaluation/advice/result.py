"""Advice: a row for each measure, the words that its numbers earn, and what to report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judged import __version__
from judged.evaluation.advice.choice import chosen
from judged.evaluation.advice.rows import Lists, Row
from judged.evaluation.advice.sentences import sentences, table, warnings
from judged.results import Display, Document, Frame, Result

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Result):
    """What `advise` returns: a row for each measure, and what to report.

    >>> from judged import advise
    >>> found = advise({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
    >>> found.rows[0].highest
    0.5
    """

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
        return chosen(self)

    def document(self, display: Display) -> Document:
        """Return what to report, a row for each measure, and the numbers behind it.

        Parameters
        ----------
        display : Display
            How it is shown.

        Returns
        -------
        Document

        >>> from judged import advise
        >>> judgements = {f"q{n}": {"a": 1} for n in range(20)}
        >>> run = {f"q{n}": ["a"] for n in range(20)}
        >>> print(advise(judgements, run, "P@1").sentences()[2])
        Report: none of these measures; something speaks against each of them.
        """
        *found, reported = sentences(self)
        return Document([reported], [table(self)], warnings(self), found)

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
            "sentences": [str(text) for text in sentences(self)],
            "judged": __version__,
        }

    def to_frame(self) -> Frame:
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
