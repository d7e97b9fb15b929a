"""A run in Spark, matched with judgements in partitions of whole queries."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from judged.engines.spark.partitions import (
    SIDE,
    MatchPartition,
    TableDescription,
    fetch_judgements,
    pack_work,
    run_work,
)
from judged.engines.spark.session import address_of, check_installed, spark_errors
from judged.engines.spark.tables import SparkTable, as_table, send_pool, some_queries
from judged.errors import InputError, MeasureError, PolicyError, warn
from judged.evaluation.scores import score_run
from judged.evaluation.settings import EvaluationSettings
from judged.inputs.blocks import DistantRun
from judged.inputs.data import Data
from judged.inputs.tables import JUDGEMENTS, RUN, Lookup, RemoteTable, is_spark
from judged.matching.checks import EMPTY, nothing_in_common
from judged.matching.documents import with_items
from judged.matching.pool import about_weights, own_weights, pool_of
from judged.options import Scoring, takes_scoring
from judged.rankings.audit import Findings
from judged.rankings.rankings import Rankings
from judged.text import counted

if TYPE_CHECKING:
    from judged.inputs.columns import NamedColumns
    from judged.inputs.tables import Judgements, Kind
    from judged.matching.matcher import Matcher
    from judged.options import JudgementsLike, MeasuresLike

PARTITION_ROWS = "spark.judged.partitionRows"
"""The Spark setting for the number of rows in a partition."""
LONGEST_LIST = "spark.judged.longestList"
"""The Spark setting for the longest list that a worker may get, about 100 bytes per result."""
_DEFAULTS = {PARTITION_ROWS: 3_000_000, LONGEST_LIST: 10_000_000}
MAX_BROADCAST_QUERIES = 200_000
"""The most queries that are sent to every worker, which spares a shuffle of all rows."""

_OF_VALUES = ("policy", "convention", "collection", "exclude_same_id", "columns")
"""Options of `per_query`."""


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
        _refuse_input_order(matcher.policy.ties, self.table)
        weights = matcher.own_weights
        judgements = send_pool(matcher.pool, weights, self.table.frame.sparkSession)
        counts = count_rows(self.table, judgements)
        work = MatchPartition(
            TableDescription.of(self.table),
            TableDescription.of(judgements),
            matcher.policy,
            matcher.collection,
            None if weights is None else weights.source,
            self.change,
        )
        rows = join_tables(self.table, judgements, counts)
        blocks: list[Rankings] = run_work(rows, work, address_of(rows))
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


def _refuse_input_order(ties: str, table: SparkTable) -> None:
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
    """Count queries and rows in one job that reads only the queries, and check them.

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
    if not totals["judged_queries"]:
        ours, theirs = some_queries(judgements.frame), some_queries(run.frame)
        raise InputError(nothing_in_common(judgements.source, ours, run.source, theirs))
    names = ("queries", "judged_queries", "rows", "judgements", "with_judgements")
    return {name: int(totals[name]) for name in names}


def join_tables(run: SparkTable, judgements: SparkTable, counts: dict[str, int]) -> Any:
    """Return both tables as one frame, in partitions of whole judged queries."""
    from pyspark.sql import functions as F  # noqa: N812

    results, judged = run.frame, judgements.frame
    if counts["queries"] > counts["judged_queries"]:
        queries = judged.select("query").distinct()
        if counts["with_judgements"] <= MAX_BROADCAST_QUERIES:
            queries = queries.hint("broadcast")
        results = results.join(queries, "query", "left_semi")
    one, other = (
        frame.withColumn(SIDE, F.lit(side).cast("tinyint"))
        for frame, side in ((results, 0), (judged, 1))
    )
    rows = counts["rows"] + counts["judgements"]
    number = max(1, math.ceil(rows / _setting(run.frame, PARTITION_ROWS)))
    return one.unionByName(other, allowMissingColumns=True).repartition(number, "query")


@takes_scoring
def per_query(
    judgements: JudgementsLike,
    run: Any,
    measures: MeasuresLike | None = None,
    **scoring: Unpack[Scoring],
) -> Any:
    """Return the values of all queries as a frame of Spark, which is computed when it is used.

    `summary` returns the means. Judgements by subtopic need a column with this name.

    Parameters
    ----------
    judgements : pyspark.sql.DataFrame or JudgementsLike
        A frame of Spark, which stays there, or a file, a dict or a table.
    run : pyspark.sql.DataFrame
        The run.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; by default AP, nDCG@10, RR, P@10 and R@100.
    **scoring
        Options of `judged.evaluate`: policy, convention, collection, exclude_same_id, columns.

    Returns
    -------
    pyspark.sql.DataFrame
        Columns query (text) and one for each measure; null for a query that does not count.

    Examples
    --------
    >>> values = judged.engines.spark.per_query("qrels.txt", run, "RR")  # doctest: +SKIP
    >>> values.agg({"RR": "mean"}).collect()  # doctest: +SKIP
    """
    check_installed()
    if not is_spark(run):
        raise InputError(f"per_query takes a run in Spark; got {type(run).__name__}.")
    for name in scoring:
        if name not in _OF_VALUES:
            raise InputError(f"per_query has no option {name!r}; use judged.evaluate.")
    settings = EvaluationSettings.of(
        measures, scoring.get("policy"), scoring.get("convention"), prepares=True
    )
    policy = settings.policy
    for name in ("missing", "empty"):
        if getattr(policy, name) == "error":
            raise PolicyError(
                f"{name}=error needs the ids of all queries, which stay in Spark; choose another "
                "policy, or use judged.evaluate."
            )
    data = with_items(
        Data.of(judgements, run, columns=scoring.get("columns"), engine=None),
        exclude_same_id=bool(scoring.get("exclude_same_id")),
        duplicates=policy.duplicates,
    )
    results: SparkRun = settings.prepare(data.run("per_query takes one run."))
    _refuse_input_order(policy.ties, results.table)
    change = None
    if isinstance(data.given, SparkFrame):
        table, change = data.given.table(JUDGEMENTS, data.columns), data.of_judgements
        # Only a look at all rows would show whether an iteration is a subtopic.
        graded = table.frame.where("grade is not null or item is null").drop("iteration")
        judged = replace(table, frame=graded)
        is_weighted = "weight" in graded.columns
    else:
        pool = pool_of(data.judgements(), duplicates=policy.duplicates)
        judged = send_pool(pool, None, results.table.frame.sparkSession)
        is_weighted = own_weights(pool.judgements) is not None
    if is_weighted:
        raise InputError(
            f"{judged.source}: values in Spark have no weights of queries. Remove the column of "
            "weights, or use judged.evaluate."
        )
    counts = count_rows(results.table, judged)
    if missing := counts["with_judgements"] - counts["judged_queries"]:
        effect = "count as empty lists" if policy.missing == "zero" else "have no values"
        number = counted(counts["with_judgements"], "judged query", "judged queries")
        warn(f"The run has no results for {missing:,} of {number}, which {effect}.")
    work = MatchPartition(
        TableDescription.of(results.table),
        TableDescription.of(judged),
        policy,
        scoring.get("collection"),
        change_run=results.change,
        change_judgements=change,
        make=partial(_values_of, settings=settings),
    )
    names = [settings.labels.get(measure, str(measure)) for measure in settings.measures]
    schema = ", ".join(f"`{name.replace('`', '``')}` double" for name in names)
    rows = join_tables(results.table, judged, counts)
    return rows.mapInArrow(_pack_values(work, names), f"query string, {schema}")


@takes_scoring
def summary(
    judgements: JudgementsLike,
    run: Any,
    measures: MeasuresLike | None = None,
    **scoring: Unpack[Scoring],
) -> dict[str, float]:
    """Return the mean of each measure over more queries than the driver can hold.

    The partitions evaluate, and only sums and counts leave them.

    Parameters
    ----------
    judgements : pyspark.sql.DataFrame or JudgementsLike
        A frame of Spark, which stays there, or a file, a dict or a table.
    run : pyspark.sql.DataFrame
        The run.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; by default AP, nDCG@10, RR, P@10 and R@100. Medians and other
        values that are not means over the queries are an error.
    **scoring
        Options of `judged.evaluate`: policy, convention, collection, exclude_same_id, columns.

    Returns
    -------
    dict
        The means by the names of the measures; NaN if no query counts.

    Examples
    --------
    >>> judged.engines.spark.summary("qrels.txt", run, "nDCG@10, RR")  # doctest: +SKIP
    {'nDCG@10': 0.4312, 'RR': 0.5120}
    """
    from pyspark.sql import functions as F  # noqa: N812

    one_query = Rankings.from_relevance([[1]])
    for measure in EvaluationSettings.of(measures, None, scoring.get("convention")).measures:
        if measure.params["aggregate"] != "mean" or measure.gives(one_query) is not None:
            raise MeasureError(
                f"{measure} is not a mean over the queries, so sums of partitions do not give it. "
                "Choose another measure, or use judged.evaluate."
            )
    values = per_query(judgements, run, measures, **scoring)
    names = [name for name in values.columns if name != "query"]
    quoted = [F.col(f"`{name.replace('`', '``')}`") for name in names]
    with spark_errors():
        means = values.agg(*map(F.avg, quoted)).first()
    return {
        name: math.nan if mean is None else mean for name, mean in zip(names, means, strict=True)
    }


def _values_of(
    rankings: Rankings, settings: EvaluationSettings
) -> tuple[tuple[str, ...], list[list[float | None]]]:
    columns = [
        [None if gone else value for value, gone in zip(row.tolist(), np.isnan(row), strict=True)]
        for row in score_run(rankings, settings).values.values()
    ]
    return rankings.queries, columns


def _pack_values(
    work: MatchPartition, names: list[str]
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return the function for `mapInArrow` that yields rows of values, and raises errors."""
    packed = pack_work(work)

    def partition(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in packed(batches):
            row = batch.to_pylist()[0]
            if row["lacking"]:
                raise RuntimeError(row["lacking"])
            from judged.errors import JudgedError  # not there if the worker lacks judged

            result = pickle.loads(row["result"])
            if isinstance(result, JudgedError):
                raise result
            queries, columns = result
            arrays = [pa.array(queries, pa.string()), *(pa.array(c, pa.float64()) for c in columns)]
            yield pa.RecordBatch.from_arrays(arrays, names=["query", *names])

    return partition
