"""Rows of judged queries, with the judgements beside them, in partitions of whole queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from judged.engines.spark.failures import failures
from judged.errors import InputError
from judged.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judged.engines.spark.tables import SparkTable

ROWS = "spark.judged.partitionRows"
"""The setting of Spark that says how many rows a partition holds."""
LONGEST = "spark.judged.longestList"
"""The setting that says how long a list may be that a worker gathers."""
_DEFAULTS = {ROWS: 3_000_000, LONGEST: 10_000_000}
SMALL = 200_000
"""So many queries are sent to every worker, which spares a shuffle of all that they are joined
with."""
SIDE = "side"
"""The column that says what a row is of: 0 for the run, 1 for the judgements."""


Chosen = Literal["all", "few", "many"]
"""Whether all queries of a run are judged; or else, whether those that are can go to every
worker."""


@dataclass(frozen=True)
class Counts:
    """How much a run holds, of judged queries and of others."""

    queries: int
    """Queries, judged or not."""
    judged_queries: int
    rows: int
    """Rows of judged queries."""
    judgements: int
    longest: tuple[tuple[str, int], ...]
    """Judged queries whose lists are too long for a worker, with their lengths."""
    with_judgements: int
    """Queries that have judgements, whether the run has them or not."""

    @property
    def chosen(self) -> Chosen:
        """How the rows of judged queries are told from others."""
        if self.queries == self.judged_queries:
            return "all"
        return "few" if self.with_judgements <= SMALL else "many"


def setting(frame: Any, name: str) -> int:
    """One of our settings of Spark."""
    given = frame.sparkSession.conf.get(name, str(_DEFAULTS[name]))
    if not str(given).isdigit() or not int(given):
        raise InputError(f"{name} must be a whole number from 1; got {given!r}.")
    return int(given)


def count(run: SparkTable, judgements: SparkTable) -> Counts:
    """Count the rows of each query: one look at the queries alone."""
    from pyspark.sql import functions as F  # noqa: N812

    longest = setting(run.frame, LONGEST)
    lost = F.col("query").isNull() | (F.col("query") == "")
    rows = run.frame.groupBy("query").agg(F.count(F.lit(1)).alias("rows"))
    judged = judgements.frame.groupBy("query").agg(F.count(F.lit(1)).alias("judgements"))
    both = rows.join(judged, "query", "full_outer")
    is_judged, is_run = F.col("judgements").isNotNull(), F.col("rows").isNotNull()
    in_both, too_long = is_judged & is_run, F.col("rows") > longest

    def total(column: str, where: Any) -> Any:
        return F.coalesce(F.sum(F.when(where, F.col(column))), F.lit(0))

    with failures():
        found = both.agg(
            F.count(F.when(is_run, 1)).alias("queries"),
            F.count(F.when(in_both, 1)).alias("judged_queries"),
            F.count(F.when(is_judged, 1)).alias("with_judgements"),
            total("rows", in_both).alias("rows"),
            total("judgements", is_judged).alias("judgements"),
            total("rows", lost & is_run).alias("lost"),
            total("judgements", lost & is_judged).alias("lost_judgements"),
            F.collect_list(F.when(in_both & too_long, F.struct("query", "rows"))).alias("longest"),
        ).collect()[0]
    for table, number in ((judgements, found["lost_judgements"]), (run, found["lost"])):
        if number:
            raise InputError(f"{table.source}: the query is missing in {counted(number, 'row')}.")
    return Counts(
        found["queries"],
        found["judged_queries"],
        found["rows"],
        found["judgements"],
        tuple(sorted((each["query"], each["rows"]) for each in found["longest"])),
        found["with_judgements"],
    )


def together(
    run: SparkTable,
    judgements: SparkTable,
    *,
    partitions: int | None,
    chosen: Chosen,
    without: Sequence[str] = (),
) -> Any:
    """Both tables as one frame, in partitions that hold whole queries; a column says what a row is
    of. Rows of queries that nobody judged, and of those `without`, are left out."""
    from pyspark.sql import functions as F  # noqa: N812

    results, judged = run.frame, judgements.frame
    if chosen != "all":
        queries = judged.select("query").distinct()
        if chosen == "few":
            queries = queries.hint("broadcast")
        results = results.join(queries, "query", "left_semi")
    if without:
        kept = ~F.col("query").isin(list(without))
        results, judged = results.where(kept), judged.where(kept)
    sides = (results, 0), (judged, 1)
    one, other = (each.withColumn(SIDE, F.lit(number).cast("tinyint")) for each, number in sides)
    rows = one.unionByName(other, allowMissingColumns=True)
    number = () if partitions is None else (partitions,)
    return rows.repartition(*number, "query")


def partitions_for(counts: Counts, rows: int) -> int:
    """How many partitions there should be."""
    long = sum(length for _, length in counts.longest)
    return max(1, math.ceil((counts.rows - long + counts.judgements) / rows))
