"""A run in Spark, matched with judgements in partitions of whole queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from judged.engines.spark.partitions import (
    SIDE,
    MatchPartition,
    TableDescription,
    fetch_judgements,
    run_work,
)
from judged.engines.spark.session import (
    address_of,
    check_installed,
    spark_errors,
)
from judged.engines.spark.tables import SparkTable, as_table, send_pool, some_queries
from judged.errors import InputError, PolicyError
from judged.inputs.blocks import DistantRun
from judged.inputs.tables import JUDGEMENTS, RUN, Lookup, RemoteTable
from judged.matching.checks import EMPTY, nothing_in_common
from judged.matching.pool import about_weights
from judged.rankings.audit import Findings
from judged.text import counted

if TYPE_CHECKING:
    from judged.inputs.columns import NamedColumns
    from judged.inputs.tables import Judgements, Kind
    from judged.matching.matcher import Matcher
    from judged.rankings.rankings import Rankings

PARTITION_ROWS = "spark.judged.partitionRows"
"""The Spark setting for the number of rows in a partition."""
LONGEST_LIST = "spark.judged.longestList"
"""The Spark setting for the longest list that a worker may get, about 100 bytes per result."""
_DEFAULTS = {PARTITION_ROWS: 3_000_000, LONGEST_LIST: 10_000_000}
MAX_BROADCAST_QUERIES = 200_000
"""The most queries that are sent to every worker, which spares a shuffle of all rows."""

Chosen = Literal["all", "few", "many"]
"""Whether all queries of a run are judged, or else whether the judged ones can be broadcast."""


@dataclass(frozen=True, eq=False)
class SparkFrame(RemoteTable):
    """A frame of Spark that may hold a run or judgements, or a table that Spark has read."""

    given: Any

    def run(self, name: str | None, columns: NamedColumns) -> SparkRun:
        check_installed()
        return SparkRun.of(self.table(RUN, columns, name))

    def judgements(self, columns: NamedColumns) -> Judgements:
        check_installed()
        return fetch_judgements(self.table(JUDGEMENTS, columns))

    def whole(self) -> Any:
        """Raise an error, because the rows of a frame do not come here."""
        raise InputError(
            "item_to, unique and the unjudged range of a comparison need every result, and the "
            "run is in Spark; collect it first (frame.toPandas())."
        )

    def table(self, kind: Kind, columns: NamedColumns, name: str | None = None) -> SparkTable:
        if isinstance(self.given, SparkTable):
            return replace(self.given, name=name or self.given.name)
        return as_table(self.given, kind, columns, name=name or "run")


@dataclass(frozen=True, eq=False)
class SparkRun(DistantRun):
    """A run in Spark, with changes that are made in each partition."""

    table: SparkTable = field(kw_only=True)
    changes: tuple[Callable[[Any], Any], ...] = ()

    @classmethod
    def of(cls, table: SparkTable) -> SparkRun:
        return cls(table.name, table.source, table=table)

    def then(self, change: Callable[[Any], Any]) -> SparkRun:
        return replace(self, changes=(*self.changes, change))

    @property
    def change(self) -> Callable[[Any], Any] | None:
        changes = self.changes
        return (lambda run: reduce(lambda r, change: change(r), changes, run)) if changes else None

    def rankings(self, matcher: Matcher) -> Iterator[Rankings]:
        """Yield the rankings of each partition; the first is empty and has the notes on the run."""
        refuse_input_order(matcher.policy.ties, self.table)
        weights = matcher.own_weights
        judgements = send_pool(matcher.pool, weights, self.table.frame.sparkSession)
        counts = count_rows(self.table, judgements)
        if not counts["judged_queries"]:
            names = some_queries(self.table.frame)
            raise InputError(
                nothing_in_common(matcher.pool.name, matcher.queries, self.source, names)
            )
        work = MatchPartition(
            TableDescription.of(self.table),
            TableDescription.of(judgements),
            matcher.policy,
            matcher.collection,
            None if weights is None else weights.source,
            self.change,
        )
        blocks: list[Rankings] = match_partitions(self.table, judgements, counts, work)
        if not any(block.findings is not None and block.findings.results for block in blocks):
            raise InputError(f"{self.source}: {EMPTY}")
        findings = Findings(
            run_queries=counts["queries"] - counts["judged_queries"],
            duplicates_dropped=matcher.pool.dropped,
            notes=matcher.pool.notes,
            closing=()
            if matcher.weights is None
            else about_weights(matcher.weights, matcher.queries),
        )
        nothing = matcher.block(Lookup({}, self.source, name=self.name), np.zeros(0, np.int64))
        yield replace(nothing, findings=findings)
        yield from blocks


def refuse_input_order(ties: str, table: SparkTable) -> None:
    """Raise an error for ties in the order of the input, unless ranks define an order."""
    if ties == "input" and not table.is_rank:
        raise PolicyError(
            f"{table.source}: ties=input needs an order, which a table in Spark does not have. "
            "Give a column with ranks, or choose ties=id, best, worst or expected."
        )


def _setting(frame: Any, name: str) -> int:
    value = str(frame.sparkSession.conf.get(name, str(_DEFAULTS[name])))
    if not value.isdigit() or not int(value):
        raise InputError(f"{name} must be a whole number from 1; got {value!r}.")
    return int(value)


def count_rows(run: SparkTable, judgements: SparkTable) -> dict[str, int]:
    """Count queries and rows in one job that reads only the queries.

    Return the numbers of queries of the run, judged or not (`queries`), of judged ones, of their
    rows, of judgements, and of queries that have judgements, in the run or not.
    """
    from pyspark.sql import functions as F  # noqa: N812

    longest = _setting(run.frame, LONGEST_LIST)
    no_query = F.col("query").isNull() | (F.col("query") == "")
    rows = run.frame.groupBy("query").agg(F.count(F.lit(1)).alias("rows"))
    judged = judgements.frame.groupBy("query").agg(F.count(F.lit(1)).alias("judgements"))
    both = rows.join(judged, "query", "full_outer")
    is_judged, is_run = F.col("judgements").isNotNull(), F.col("rows").isNotNull()
    in_both = is_judged & is_run
    too_long = F.when(in_both & (F.col("rows") > longest), F.struct("query", "rows"))

    def total(column: str, where: Any) -> Any:
        return F.coalesce(F.sum(F.when(where, F.col(column))), F.lit(0))

    with spark_errors():
        totals = both.agg(
            F.count(F.when(is_run, 1)).alias("queries"),
            F.count(F.when(in_both, 1)).alias("judged_queries"),
            F.count(F.when(is_judged, 1)).alias("with_judgements"),
            total("rows", in_both).alias("rows"),
            total("judgements", is_judged).alias("judgements"),
            total("rows", no_query & is_run).alias("lost"),
            total("judgements", no_query & is_judged).alias("lost_judgements"),
            F.min(too_long).alias("too_long"),
        ).collect()[0]
    for table, number in ((judgements, totals["lost_judgements"]), (run, totals["lost"])):
        if number:
            raise InputError(f"{table.source}: the query is missing in {counted(number, 'row')}.")
    if totals["too_long"] is not None:
        query, length = totals["too_long"]
        raise InputError(
            f"{run.source}: query {query!r} has {length:,} results, more than the {longest:,} that "
            f"a worker gets at most. Keep the best results of each query, or raise {LONGEST_LIST} "
            "(about 100 bytes of memory per result)."
        )
    names = ("queries", "judged_queries", "rows", "judgements", "with_judgements")
    return {name: int(totals[name]) for name in names}


def match_partitions(
    run: SparkTable, judgements: SparkTable, counts: dict[str, int], work: MatchPartition
) -> list[Any]:
    """Return the results of the work on all partitions, whose number depends on the rows."""
    rows = counts["rows"] + counts["judgements"]
    chosen: Chosen = "few" if counts["with_judgements"] <= MAX_BROADCAST_QUERIES else "many"
    frame = join_tables(
        run,
        judgements,
        partitions=max(1, math.ceil(rows / _setting(run.frame, PARTITION_ROWS))),
        chosen="all" if counts["queries"] == counts["judged_queries"] else chosen,
    )
    return run_work(frame, work, address_of(run.frame))


def join_tables(
    run: SparkTable, judgements: SparkTable, *, partitions: int | None, chosen: Chosen
) -> Any:
    """Return both tables as one frame, in partitions of whole judged queries."""
    from pyspark.sql import functions as F  # noqa: N812

    results, judged = run.frame, judgements.frame
    if chosen != "all":
        queries = judged.select("query").distinct()
        if chosen == "few":
            queries = queries.hint("broadcast")
        results = results.join(queries, "query", "left_semi")
    one, other = (
        frame.withColumn(SIDE, F.lit(side).cast("tinyint"))
        for frame, side in ((results, 0), (judged, 1))
    )
    rows = one.unionByName(other, allowMissingColumns=True)
    number = () if partitions is None else (partitions,)
    return rows.repartition(*number, "query")
