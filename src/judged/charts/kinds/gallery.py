"""Image search as one sees it: queries, their first results, and which of them are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from judged.charts.galleries import Gallery
from judged.charts.pictures import check_pictures, read_pictures
from judged.charts.results import ready
from judged.charts.sources import checked_k
from judged.charts.themes import theme_named
from judged.checks import whole
from judged.errors import InputError
from judged.inputs import Lookup
from judged.inputs.tables import Run
from judged.judging import judge_pool
from judged.policy import Policy

KIND = "gallery"
DEFAULT_K = 10
DEFAULT_QUERIES = 8


def data(
    judgements: Any,
    run: Any,
    *,
    query: str | None = None,
    k: int | None = None,
    queries: int = DEFAULT_QUERIES,
    rel: float = 1,
) -> pl.DataFrame:
    """A row for each of the first k results of some queries: its rank, item, and whether it is
    relevant.

    Of more queries than are wanted, these are evenly spaced from the one with the most relevant
    results to the one with the fewest. Ties are broken by id; unjudged results are not relevant.
    """
    depth = checked_k(k, DEFAULT_K, DEFAULT_K)
    queries = whole("queries", queries)
    pool, read = ready(judgements, run)
    r = judge_pool(pool, read, policy=Policy(), depth=None, duplicates="error")
    if query is not None and query not in r.queries:
        some = ", ".join(r.queries[:3]) + (", …" if len(r) > 3 else "")
        raise InputError(f"there is no query {query!r}; there is {some}.")
    shown = (
        [query]
        if query is not None
        else _spaced(r.found(depth, rel), r.retrieved > 0, r.queries, int(queries))
    )
    frames = [_first(read, name, depth) for name in shown]
    grades = pool.frame.with_columns(grade=pl.Series(pool.grades)).filter(
        pl.col("query").is_in(shown)
    )
    return (
        pl.concat(frames)
        .join(grades, on=["query", "item"], how="left", maintain_order="left")
        .select(
            pl.lit(read.name).alias("run"),
            pl.lit(len(r)).alias("queries"),
            "query",
            "rank",
            "item",
            "score",
            "grade",
            (pl.col("grade") >= rel).fill_null(False).alias("relevant"),
        )
    )


def _spaced(found: Any, there: Any, names: tuple[str, ...], count: int) -> list[str]:
    """Queries from the best to the worst, evenly spaced."""
    order = np.flatnonzero(there)[np.argsort(-found[there], kind="stable")]
    places = np.unique(
        np.rint(np.linspace(0, len(order) - 1, min(count, len(order)))).astype(np.int64)
    )
    return [names[at] for at in order[places].tolist()]


def _first(run: Run | Lookup, query: str, depth: int) -> pl.DataFrame:
    """The first results of one query."""
    if isinstance(run, Lookup):
        rows = [(query, item, float(score)) for item, score in run.lists.get(query, {}).items()]
        frame = pl.DataFrame(
            rows, schema={"query": pl.String, "item": pl.String, "score": pl.Float64}, orient="row"
        )
    else:
        frame = run.frame.filter(pl.col("query") == query)
    ordered = (
        frame.select("query", "item", "score").sort("score", "item", descending=True).head(depth)
    )
    return ordered.with_columns(rank=pl.int_range(1, ordered.height + 1, dtype=pl.Int64))


def gallery(
    judgements: Any,
    run: Any,
    *,
    pictures: Any,
    query: str | None = None,
    k: int | None = None,
    queries: int = DEFAULT_QUERIES,
    rel: float = 1,
    theme: str = "light",
) -> Gallery:
    """Queries and their first k results as pictures, with frames around right and wrong ones.

    `pictures` is {id: picture} for queries and items, or a CSV file with the columns id and
    picture.

    >>> import numpy as np
    >>> dot = np.zeros((8, 8), np.uint8)
    >>> shown = gallery({"q": {"a": 1}}, {"q": ["b", "a"]}, pictures={"q": dot, "a": dot, "b": dot})
    >>> shown.data.select("item", "relevant").rows()
    [('b', False), ('a', True)]
    """
    table = data(judgements, run, query=query, k=k, queries=queries, rel=rel)
    return draw(table, theme=theme, pictures=read_pictures(pictures))


def draw(table: pl.DataFrame, *, theme: str = "light", pictures: dict[str, Any]) -> Gallery:
    theme_named(theme)
    names = table["query"].unique(maintain_order=True).to_list()
    check_pictures(pictures, [*names, *table["item"].unique(maintain_order=True).to_list()])
    every, right = int(table["queries"][0]), int(table["relevant"].sum())
    said = [
        "A whole frame is a right result, a broken frame with a cross a wrong one; unjudged "
        "results count as wrong.",
        f"{right:,} of the {table.height:,} results shown are right.",
    ]
    if len(names) < every:
        spaced = (
            ", evenly spaced from the best to the worst by these results" if len(names) > 1 else ""
        )
        said.append(f"{len(names)} of {every:,} queries{spaced}.")
    title = f"First results of {table['run'][0]}"
    return Gallery(KIND, table, title, pictures, theme, tuple(said))
