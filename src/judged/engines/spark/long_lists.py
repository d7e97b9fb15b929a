"""Lists that are too long for a worker: never gathered, but counted where their rows lie.

The rank of a judged item is one more than the number of greater scores, and within a tie the number
of greater ids: such numbers of all partitions add up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from judged.arrays import Ints
from judged.engines.spark.collected import collected
from judged.engines.spark.failures import failures
from judged.engines.spark.faults import Fault, fault_in, item_missing, raised
from judged.engines.spark.partitions import SIDE
from judged.engines.spark.session import address_of
from judged.engines.spark.work import done
from judged.errors import InputError, JudgedError
from judged.inputs.remote import RemoteRun
from judged.inputs.tables import texts
from judged.matching.faults import ADVICE
from judged.matching.ids import IDS
from judged.matching.join import Matches, Reduced, Tied
from judged.text import counted, merged, quote

if TYPE_CHECKING:
    import polars as pl

    from judged.engines.spark.judging import JudgePartition
    from judged.engines.spark.tables import SparkTable
    from judged.inputs.tables import Run
    from judged.matching.pool import Pool


class Seen(NamedTuple):
    """What a partition holds of some long lists."""

    hits: pl.DataFrame
    """Query, item and score of the judged items, and of queries among their own results."""
    lists: pl.DataFrame
    """Query, number of results and greatest score of each list, those with nothing in them too."""
    first: pl.DataFrame
    """Query, item and score of the first results of each list."""
    infinite: int
    notes: tuple[str, ...]
    basis: tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """Work: find the judged items among the rows of a partition."""

    work: JudgePartition
    judged: pl.DataFrame
    """Query and item of every judgement of these lists."""

    def __call__(self, rows: pl.DataFrame) -> Iterator[Seen | Fault]:
        import polars as pl

        own = rows
        try:
            own = self.work.run.rows(rows)
            run = changed(self.work, own)
            own = run.frame
            if run.frame["score"].is_nan().any():
                raise InputError("NaN")
        except JudgedError as error:
            yield fault_in(error, [(self.work.run, own)], duplicates=self.work.how.duplicates)
            return
        own_ids = run.frame.filter(pl.col("query") == pl.col("item"))
        others = run.frame.filter(pl.col("query") != pl.col("item"))
        hits = pl.concat([others.join(self.judged, on=["query", "item"], how="semi"), own_ids])
        score = pl.col("score")
        lists = run.frame.group_by("query").agg(pl.len().alias("rows"), score.max().alias("best"))
        named = texts("query", run.names()).to_frame()
        yield Seen(
            hits.select("query", "item", "score"),
            named.join(lists, on="query", how="left").with_columns(pl.col("rows").fill_null(0)),
            first_of(run.frame),
            int(run.frame["score"].is_infinite().sum()),
            run.notes,
            run.basis,
        )


def first_of(rows: pl.DataFrame) -> pl.DataFrame:
    """The first results of each list among some rows, as many as ids are looked at."""

    listed = rows.select("query", "item", "score")
    best = listed.sort("score", "item", descending=True).group_by("query", maintain_order=True)
    return best.head(IDS) if rows.height else listed.clear(0)


def changed(work: JudgePartition, rows: pl.DataFrame) -> Run:
    """Some rows of a run, with what is done to it first."""
    run = work.run.run(rows)
    return run if work.of_run is None else work.of_run(run)


class Places(NamedTuple):
    """How many results of a partition, or of all, stand before each hit."""

    above: Ints
    """Those of a greater score."""
    level: Ints
    """Those of the same score, the hit itself included."""
    before: Ints
    """Those of the same score whose ids come first, the greatest first."""

    def __add__(self, other: object) -> Places:
        assert isinstance(other, Places)
        return Places(*(one + two for one, two in zip(self, other, strict=True)))


@dataclass(frozen=True)
class Counting:
    """Work: count what stands before each hit among the rows of a partition."""

    work: JudgePartition
    hits: pl.DataFrame
    """Query, item and score of each."""

    def __call__(self, rows: pl.DataFrame) -> Iterator[Places]:
        yield places(changed(self.work, self.work.run.rows(rows)).frame, self.hits)


def places(frame: pl.DataFrame, hits: pl.DataFrame) -> Places:
    """What stands before each hit among some rows of their lists.

    >>> import polars as pl
    >>> rows = {"query": ["q"] * 3, "item": ["a", "b", "c"], "score": [1.0, 1.0, 2.0]}
    >>> [each.tolist() for each in places(pl.DataFrame(rows), pl.DataFrame(rows)[:2])]
    [[1, 1], [2, 2], [1, 0]]
    """
    import polars as pl

    above, level, before = (np.zeros(hits.height, np.int64) for _ in range(3))
    numbered = hits.with_row_index("hit")
    lists = frame.join(hits.select("query").unique(), on="query", how="semi")
    for (query,), own in numbered.group_by("query"):
        results = lists.filter(pl.col("query") == query)
        scores = np.sort(results["score"].to_numpy())
        at, score = own["hit"].to_numpy(), own["score"].to_numpy()
        upper = np.searchsorted(scores, score, side="right")
        above[at] = len(scores) - upper
        level[at] = upper - np.searchsorted(scores, score, side="left")
        tied = results.filter(pl.col("score").is_in(own["score"].unique().implode()))
        for (value,), mates in own.group_by("score"):
            ids = tied.filter(pl.col("score") == value)["item"].sort()
            greater = [len(ids) - int(ids.search_sorted(item, "right")) for item in mates["item"]]
            before[mates["hit"].to_numpy()] = greater
    return Places(above, level, before)


@dataclass(frozen=True, eq=False, kw_only=True)
class LongRun(RemoteRun):
    """Long lists of which nothing is here but what was counted."""

    hits: pl.DataFrame
    """Query, item and score of each judged item, and of queries among their own results."""
    counted: Places
    lists: pl.DataFrame
    """Query, number of results and greatest score of each list."""
    first: pl.DataFrame
    """Query, item and score of the first results of each list."""
    infinite: int
    dropped: int

    def match(self, pool: Pool, duplicates: str) -> Matches:
        """The judged items that were found."""
        import polars as pl

        numbered = pool.frame.select("query", "item").with_row_index("row")
        row = self.hits.join(numbered, on=["query", "item"], how="left", maintain_order="left")
        judged = row["row"].is_not_null().arg_true().to_numpy()
        own = (row["query"] == row["item"]).arg_true().to_numpy()
        lists = pl.DataFrame({"query": pl.Series(pool.queries, dtype=pl.String)}).join(
            self.lists.with_row_index("list"), on="query", how="left", maintain_order="left"
        )
        above, level, before = self.counted
        none, score = np.zeros(0, np.int64), self.hits["score"].to_numpy()
        return Matches(
            scores=np.zeros(0),
            lengths=self.lists["rows"].to_numpy().astype(np.int64),
            list_of=lists["list"].cast(pl.Int64).fill_null(-1).to_numpy(),
            hit_judgement=row["row"].gather(judged).to_numpy().astype(np.int64),
            hit_score=score[judged],
            hit_position=None,
            items=lambda lists, chosen: [],
            run_queries=self.lists.height,
            own_query=np.array([pool.places[each] for each in row["query"].gather(own)], np.int64),
            own_score=score[own],
            infinite=self.infinite,
            dropped=self.dropped,
            reduced=Reduced(
                first=above[judged] + 1,
                last=(above + level)[judged],
                own_above=above[own],
                best=self.lists["best"].to_numpy(),
                tied=lambda hits, ties: Tied(none, [], none),
                first_items=self._first_items,
                before=before[judged],
            ),
        )

    def _first_items(self, queries: list[str], number: int) -> list[list[str]]:
        import polars as pl

        own = (self.first.filter(pl.col("query") == query) for query in queries)
        return [each["item"].head(number).to_list() for each in own]


def long_blocks(
    run: SparkTable, judgements: SparkTable, queries: Sequence[str], work: JudgePartition
) -> Iterator[Any]:
    """What is made of the rankings of some queries, whose lists are never gathered."""
    from pyspark.sql import functions as F  # noqa: N812

    chosen = F.col("query").isin(list(queries))
    address = address_of(run.frame)
    side = F.lit(0).cast("tinyint")
    judged = work.judgements.rows(
        collected(judgements.frame.where(chosen).withColumn(SIDE, F.lit(1)))
    )
    rows, dropped = _once(run, run.frame.where(chosen), work)
    rows = rows.withColumn(SIDE, side)
    seen = done(rows, Finding(work, judged.select("query", "item").unique()), address)
    hits, lists, first = _together(seen)
    counts = done(rows, Counting(work, hits), address)
    long = LongRun(
        name=run.name,
        source=run.source,
        notes=merged(each.notes for each in seen),
        basis=seen[0].basis,
        hits=hits,
        counted=reduce(add, counts),
        lists=lists,
        first=first,
        infinite=sum(each.infinite for each in seen),
        dropped=dropped,
    )
    rankings = work.rankings(judged, long)
    yield rankings if work.make is None else work.make(rankings)


def _together(seen: Sequence[Seen]) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The hits, the lists and their first results of all partitions."""
    import polars as pl

    hits = pl.concat([each.hits for each in seen]).sort("query", "item")
    lists = pl.concat([each.lists for each in seen])
    best = pl.col("best").max(), pl.col("rows").sum()
    first = first_of(pl.concat([each.first for each in seen]))
    return hits, lists.group_by("query").agg(*best).sort("query"), first


def _once(run: SparkTable, rows: Any, work: JudgePartition) -> tuple[Any, int]:
    """The rows without those that repeat others, and how many these were; or an error. Rows that
    are taken out later, or name no item, repeat nothing."""
    from pyspark.sql import functions as F  # noqa: N812

    own = F.col("item").isNull()
    if _takes_out_own_ids(work):
        own = own | F.col("query").eqNullSafe(F.col("item"))
    listed = rows.where(~own)
    item, no_score = F.col("item"), F.count(F.when(F.col("score").isNull(), 1))
    times = rows.groupBy("query", "item").agg(F.count("*").alias("times"), no_score.alias("none"))
    again = F.when(~own & (F.col("times") > 1), item)
    with failures(address_of(run.frame)):
        found = (
            times.groupBy("query")
            .agg(
                F.min(again).alias("first"),
                F.count(again).alias("pairs"),
                F.sum(F.when(again.isNotNull(), F.col("times") - 1)).alias("dropped"),
                F.count(item).alias("items"),
                F.sum(F.when(item.isNull(), F.col("none"))).alias("named"),
            )
            .where("pairs > 0 or (items > 0 and named > 0)")
            .collect()
        )
        _refuse_lines(run, rows)
    found.sort(key=lambda row: row["query"].encode())
    if lost := [row for row in found if row["items"] and row["named"]]:
        raise raised([item_missing(run.source, row["query"], row["named"]) for row in lost])
    if not found:
        return rows, 0
    if work.how.duplicates == "error":
        query, first = found[0]["query"], found[0]["first"]
        others = sum(row["pairs"] for row in found) - 1
        more = f" (and {counted(others, 'more such pair')})" if others else ""
        raise InputError(
            f"{run.source}: query {query!r} has item {first!r} more than once{more}. {ADVICE}"
        )
    number = F.expr("try_cast(score as double)")
    # The greatest is NaN where there is one; and where a score is missing, there is none.
    best = -F.max(-number) if run.is_rank else F.max(number)
    best = F.when(F.count(number) == F.count(F.lit(1)), best).alias("score")
    kept = listed.groupBy("query", "item").agg(best)
    others = rows.where(own).select("query", "item", number.alias("score"))
    lacking = [name for name in run.frame.columns if name not in kept.columns]
    none = (F.lit(None).cast("string").alias(name) for name in lacking)
    return kept.unionByName(others).select("*", *none), sum(row["dropped"] for row in found)


def _takes_out_own_ids(work: JudgePartition) -> bool:
    """Whether what is done to a run takes out queries among their own results: it is tried."""
    import polars as pl

    plain = replace(work.run, columns=("query", "item", "score"), is_rank=False)
    rows = pl.DataFrame({"query": ["q", "q"], "item": ["q", "a"], "score": [-1.0, -2.0]})
    return changed(replace(work, run=plain), rows).frame.height == 1


def _refuse_lines(run: SparkTable, rows: Any) -> None:
    """Refuse lists of which some lines can only be read by workers, so that nobody could tell
    whether they repeat others."""
    if "line" not in run.frame.columns:
        return
    for row in rows.where("line is not null").select("query", "line").limit(1).collect():
        raise InputError(
            f"{run.source}: the list of query {row['query']!r} is too long for a worker, and has "
            f"lines that are not as all others: {quote(row['line'], 60)}. Give such lines the "
            "usual fields, or write the run as Parquet."
        )
