"""What may be wrong with a run in a table; messages name the smallest query, so that they are the
same each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judged.engines.tables.backends import Backend
from judged.engines.tables.lists import Lists, is_nan
from judged.errors import EngineError, InputError
from judged.inputs.order import odd_rank_message
from judged.matching.faults import NAN_ADVICE, repeated_message
from judged.text import counted

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl


def refuse_collation(found: pl.Series, wanted: pl.Series, source: str) -> None:
    """Refuse an engine that takes two texts for the same: it would mix up lists and items."""
    odd = (found != wanted).arg_true()
    if len(odd):
        raise EngineError(
            f"{source}: its engine takes {found[odd[0]]!r} and {wanted[odd[0]]!r} for the same, as "
            "the column has a collation; make it a column whose texts are compared by their bytes."
        )


def refuse_lost(lists: Lists, source: str) -> None:
    """Refuse rows of judged queries in which something is missing, and rows without a query."""
    import polars as pl

    if not lists.rows:
        raise InputError(f"{source}: holds no rows.")
    if lists.lost_queries:
        raise InputError(f"{source}: the query is missing in {counted(lists.lost_queries, 'row')}.")
    odd = (pl.col("named") > 0) & (pl.col("results") + pl.col("own") > 0)
    for what, wrong in {
        "item": (pl.col("lost_item") > 0) | odd,
        "score": pl.col("lost_score") > 0,
    }.items():
        if queries := lists.lines.filter(wrong)["text"].to_list():
            raise InputError(f"{source}: the {what} is missing in a row of query {min(queries)!r}.")


def refuse_nan(lists: Lists, backend: Backend, rows: nw.LazyFrame[Any], source: str) -> None:
    """Refuse scores that are NaN."""
    import narwhals as nw
    import polars as pl

    bad = lists.lines.filter(pl.col("nan") > 0)
    if not bad.height:
        return
    query = min(bad["text"].to_list())
    found = rows.filter((nw.col("query") == nw.lit(query)) & is_nan()).select(nw.min("item"))
    more = int(bad["nan"].sum()) - 1
    also = f" (and {more:,} more)" if more else ""
    raise InputError(
        f"{source}: the score of item {backend.fetched(found).item()!r} for query {query!r} is "
        f"NaN{also}. {NAN_ADVICE}"
    )


def refuse_odd_ranks(backend: Backend, rows: nw.LazyFrame[Any], source: str) -> None:
    """Refuse ranks that are negative or no whole numbers, as `inputs.order` does."""
    import narwhals as nw

    score = nw.col("score")
    odd = rows.filter((score > 0) | (score != score.round(0)))
    found: pl.DataFrame = backend.fetched(odd.group_by("query").agg(nw.max("score"))).sort("query")
    if found.height:
        query, worst = found.row(0)
        raise InputError(odd_rank_message(f"{source}, query {query!r}", -worst))


def without_repeats(
    backend: Backend, rows: nw.LazyFrame[Any], duplicates: str, source: str
) -> tuple[nw.LazyFrame[Any], int]:
    """The rows with only the best-ranked of those about the same, and how many are left out; or an
    error that names them."""
    import narwhals as nw

    pairs = rows.group_by("query", "item").agg(nw.len().alias("rows"), nw.max("score"))
    again = (
        pairs.filter(nw.col("rows") > 1)
        .group_by("query")
        .agg(nw.len().alias("pairs"), nw.sum("rows"), nw.min("item"))
    )
    found: pl.DataFrame = backend.fetched(again)
    if not found.height:
        return rows, 0
    pairs_found = int(found["pairs"].sum())
    if duplicates == "error":
        query, item = found.sort("query").select("query", "item").row(0)
        raise InputError(repeated_message(source, query, item, pairs_found - 1))
    return pairs.select("query", "item", "score"), int(found["rows"].sum()) - pairs_found
