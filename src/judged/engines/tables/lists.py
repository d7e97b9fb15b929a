"""What the audit asks of a table, in one expression: a line for each judged query, and one for all
others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats, Ints
from judged.engines.tables.backends import Backend

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

_SUMS = ("results", "named", "own", "lost_item", "lost_score", "nan", "infinite")


@dataclass(frozen=True, eq=False)
class Filter:
    """Which rows are results: all, or those that do not have the id of their query."""

    keeps_own: bool = True
    keeps_empty: bool = True
    """Whether a query without results is there."""
    own_counts: bool = True
    """Whether results with the id of their query kept it there, before they were taken out."""

    def results(self) -> nw.Expr:
        """Rows that are results."""
        import narwhals as nw

        listed = ~named_only()
        return listed if self.keeps_own else listed & (nw.col("item") != nw.col("query"))


ALL = Filter()


def is_nan() -> nw.Expr:
    """Whether the score is NaN: engines that know it as the greatest number and those that find it
    neither greater nor smaller than any agree on this."""
    import narwhals as nw

    return ~(nw.col("score") <= float("inf"))


def named_only() -> nw.Expr:
    """Rows that only name a query, which has nothing in it."""
    import narwhals as nw

    return nw.col("item").is_null() & (nw.col("score").is_null() | is_nan())


def _flag(condition: nw.Expr) -> nw.Expr:
    import narwhals as nw

    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0))


@dataclass(frozen=True, eq=False)
class Lists:
    """How long the list of each judged query is, and what is wrong with its rows."""

    lines: pl.DataFrame
    """One for each judged query that is there: its `number`, its `text` in the table, `results`,
    `named`, `own`, `lost_item`, `lost_score`, `nan`, `infinite` (numbers of rows) and `best`."""
    run_queries: int
    rows: int
    lost_queries: int
    """Rows without the id of a query."""

    def column(self, name: str) -> Ints:
        """Whole numbers of a column."""
        return self.lines[name].to_numpy().astype(np.int64)

    def without_repeats(self, shorter: Lists) -> Lists:
        """The same, with lists from which rows that repeat others were left out."""
        counts = ("results", "infinite", "best")
        others = shorter.lines.select("number", *counts)
        lines = self.lines.drop(counts).join(others, on="number", how="left", maintain_order="left")
        empty = [lines[name].fill_null(0) for name in counts[:2]]
        return replace(self, lines=lines.with_columns(empty))

    @property
    def best(self) -> Floats:
        """The greatest score of each list; NaN where there is none."""
        return self.lines["best"].to_numpy().astype(np.float64)


def lists_of(
    backend: Backend, rows: nw.LazyFrame[Any], judged: nw.LazyFrame[Any], which: Filter
) -> Lists:
    """Count the rows of a table: those of judged queries by query, all others together."""
    import narwhals as nw
    import polars as pl

    query, item, score = nw.col("query"), nw.col("item"), nw.col("score")
    results, named = which.results(), named_only()
    flags = {
        "results": results,
        "named": named,
        "own": item == query,
        "lost_item": (item.is_null() & ~named) | (item == ""),
        "lost_score": ~item.is_null() & score.is_null(),
        "nan": results & is_nan(),
        "infinite": results & (score.abs() == float("inf")),
    }
    counted = rows.select(
        "query",
        best=nw.when(results).then(score),
        **{name: _flag(condition) for name, condition in flags.items()},
    )
    by_query = counted.group_by("query").agg(
        nw.len().alias("rows"), nw.max("best"), *(nw.sum(name) for name in _SUMS)
    )
    there = nw.col("results") > 0
    if which.own_counts:
        there = there | (nw.col("own") > 0)
    lost = query.is_null() | (query == "")
    by_query = by_query.with_columns(
        lost=nw.when(lost).then(nw.col("rows")).otherwise(nw.lit(0)),
        there=nw.lit(1) if which.keeps_empty else _flag(there),
    )
    summed = (
        by_query.join(judged, on="query", how="left")
        .group_by("number")
        .agg(
            nw.max("query").alias("text"),
            *(nw.sum(name) for name in ("there", "lost", "rows", *_SUMS)),
            nw.max("best"),
        )
    )
    whole = ["number", "there", "lost", "rows", *_SUMS]
    found = backend.fetched(summed).with_columns(pl.col(whole).cast(pl.Int64))
    lines = found.filter(pl.col("number").is_not_null() & (pl.col("there") > 0)).sort("number")
    return Lists(
        lines,
        run_queries=int(found["there"].sum()),
        rows=int(found["rows"].sum()),
        lost_queries=int(found["lost"].sum()),
    )
