"""Overlap: of every two runs how far their lists agree, on average and query by query."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from judged import __version__
from judged.errors import InputError, quoted
from judged.options import checked_methods
from judged.results import Part, Table, csv_of
from judged.runs.overlap.pair import NUMBERS, PairOverlap
from judged.runs.overlap.words import Words
from judged.text import markdown, shown, to_json

if TYPE_CHECKING:
    import polars as pl

    from judged.statistics.intervals import Interval


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Overlap(Words):
    """What `overlap` returns: of every two runs how far their lists agree.

    >>> from judged import overlap
    >>> found = overlap({"one": {"q": ["a", "b"]}, "two": {"q": ["c", "d"]}})
    >>> found.pair().rbo.estimate, found.pair().shared.estimate
    (0.0, 0.0)
    """

    WORDS: ClassVar = frozenset({"run", "against", "query"})
    BETWEEN: ClassVar[str] = "\n\n"

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

    def to_json(self, *, per_query: bool = False) -> str:
        """`to_dict` as JSON.

        Parameters
        ----------
        per_query : bool, optional
            Whether the numbers of every query are there too.

        Returns
        -------
        str
        """
        return to_json(self.to_dict(per_query=per_query))

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

    def to_csv(self, *, per_query: bool = False, quiet: bool = False) -> str:
        """`to_frame` as CSV; warnings stand below it as comments, lines that begin with "#".

        Parameters
        ----------
        per_query : bool, optional
            Whether there is a row for each query.
        quiet : bool, optional
            Whether warnings are left out.

        Returns
        -------
        str
        """
        numbers = csv_of(self.to_frame(per_query=per_query))
        return numbers if quiet else numbers + self._comments()

    def tables(self, *, per_query: bool = False) -> list[Table]:
        """The means of every two runs, and where they are asked for the numbers of each query.

        Parameters
        ----------
        per_query : bool, optional
            Whether the numbers of every query are there too.

        Returns
        -------
        list of (header, rows)
        """
        found = self._means()
        return [*found, self._each_query()] if per_query else found

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
        return ["run", "against", "query", *heads], rows

    def parts(
        self, *, verbose: bool = False, quiet: bool = False, per_query: bool = False
    ) -> list[Part]:
        """The tables, the warnings, and what every two runs say.

        Parameters
        ----------
        verbose : bool, optional
            Whether all sentences stand there.
        quiet : bool, optional
            Whether the tables stand alone.
        per_query : bool, optional
            Whether the numbers of every query are there too.

        Returns
        -------
        list of str or (header, rows)
        """
        warned = [] if quiet else self._warned()
        return self._parts(self.tables(per_query=per_query), warned, verbose=verbose, quiet=quiet)

    def to_text(
        self, *, verbose: bool = False, quiet: bool = False, per_query: bool = False
    ) -> str:
        """The parts in plain text.

        Parameters
        ----------
        verbose : bool, optional
            Whether all sentences stand there: what each number is, what was assumed.
        quiet : bool, optional
            Whether the tables stand alone.
        per_query : bool, optional
            Whether the numbers of every query are there too.

        Returns
        -------
        str
        """
        return self._text(self.parts(verbose=verbose, quiet=quiet, per_query=per_query))

    def to_markdown(self, *, per_query: bool = False) -> str:
        """The tables and sentences in Markdown.

        Parameters
        ----------
        per_query : bool, optional
            Whether the numbers of every query are there too.

        Returns
        -------
        str
        """
        tables = [self._markdown(*table) for table in self.tables(per_query=per_query)]
        said = "\n".join(f"- {markdown(text)}" for text in self.sentences())
        return "\n\n".join([*tables, said]) + "\n"

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the result to a file, whole or not at all.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write; the ending says the format: .json, .csv, .md, .html, .txt or .parquet.
        **options : Any
            `per_query` of all but HTML: whether every query is there.
        """
        self._save(path, **options)


def _queries(pair: PairOverlap) -> pl.DataFrame:
    """The numbers of every query of two runs."""
    import polars as pl

    columns = {name: getattr(pair.numbers, name) for name in NUMBERS}
    named = {"query": pl.Series(pair.queries, dtype=pl.String)}
    frame = pl.DataFrame({**named, **columns}).fill_nan(None)
    runs = (pl.lit(pair.run).alias("run"), pl.lit(pair.against).alias("against"))
    return frame.select(*runs, "query", *NUMBERS)
