"""Values of more queries than the driver can hold: sums of them, or a frame of values in Spark."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from judged.engines.spark.partitions import MatchPartition, TableDescription, pack_work
from judged.engines.spark.reading import with_opened_paths
from judged.engines.spark.run import (
    MAX_BROADCAST_QUERIES,
    Chosen,
    SparkFrame,
    SparkRun,
    count_rows,
    join_tables,
    match_partitions,
    refuse_input_order,
)
from judged.engines.spark.session import check_installed, not_installed, other_version
from judged.engines.spark.tables import SparkTable, send_pool, some_queries
from judged.errors import InputError, MeasureError, PolicyError, warn
from judged.evaluation.scores import score_run
from judged.evaluation.settings import EvaluationSettings
from judged.inputs.data import Data
from judged.inputs.tables import JUDGEMENTS, is_spark
from judged.matching.checks import EMPTY, nothing_in_common
from judged.matching.documents import with_items
from judged.matching.pool import own_weights, pool_of
from judged.options import Scoring, takes_scoring
from judged.rankings.audit import Findings, findings_of, total
from judged.rankings.rankings import Rankings
from judged.statistics.samples import ExactSum
from judged.text import counted

if TYPE_CHECKING:
    import polars as pl

    from judged.arrays import Floats
    from judged.matching.pool import Pool
    from judged.measures import Measure
    from judged.options import JudgementsLike, MeasuresLike, RunsLike
    from judged.policy import Policy

_SUPPORTED = ("policy", "convention", "collection", "exclude_same_id", "columns")
_SPLITTER = 2.0**27 + 1  # cuts a float in two halves of 26 bits (Veltkamp)


@dataclass(frozen=True)
class QuerySums:
    """The exact sums of one measure over the queries that count."""

    values: ExactSum
    squares: ExactSum

    @classmethod
    def of(cls, values: Floats) -> QuerySums:
        counted = values[~np.isnan(values)]
        with np.errstate(invalid="ignore"):  # of infinite values, which have no spread
            high = counted * _SPLITTER - (counted * _SPLITTER - counted)
            low = counted - high
            squares = np.concatenate([high * high, 2 * high * low, low * low])
        return cls(ExactSum.of(counted), ExactSum.of(squares))

    def __add__(self, other: QuerySums) -> QuerySums:
        return QuerySums(self.values + other.values, self.squares + other.squares)

    def standard_error(self) -> float:
        """Return the standard error of the mean; NaN for a single query or without spread."""
        number = self.values.count
        if number < 2 or self.squares.beyond:
            return math.nan
        spread = number * self.squares.fraction() - self.values.fraction() ** 2
        return math.sqrt(spread / (number**2 * (number - 1))) or math.nan


@dataclass(frozen=True, eq=False, repr=False)
class SparkSummary:
    """Means over more queries than the driver can hold, without the values of queries."""

    sums: Mapping[str, Mapping[Measure, QuerySums]]
    """The sums of each run and measure."""
    policy: Policy
    """The policy that was applied."""
    queries: int
    """The number of queries with judgements."""
    labels: Mapping[Measure, str]
    """The names of measures, as the caller wrote them."""
    warnings: tuple[str, ...] = ()
    """Warnings about the data."""

    def __getitem__(self, measure: str) -> dict[str, float]:
        """Return the mean of each run for a measure, by its name in `frame`."""
        names = {label: key for key, label in self.labels.items()}
        if measure not in names:
            raise MeasureError(f"the summary has no {measure}; it has {', '.join(names)}.")
        return {run: sums[names[measure]].values.mean() for run, sums in self.sums.items()}

    def frame(self, *, level: float = 0.95) -> pl.DataFrame:
        """Return one row per run and measure, with Student's t interval of the mean.

        Parameters
        ----------
        level : float
            The confidence level.

        Returns
        -------
        polars.DataFrame
            With the columns run, measure, mean, queries (the number that count), standard_error,
            low and high.
        """
        import polars as pl

        from judged.statistics.t import t_quantile

        rows = []
        for run, sums in self.sums.items():
            for measure, label in self.labels.items():
                found = sums[measure]
                number, mean, error = (
                    found.values.count,
                    found.values.mean(),
                    found.standard_error(),
                )
                half = float(t_quantile(np.array(number - 1.0), (1 + level) / 2)) * error
                rows.append((run, label, mean, number, error, mean - half, mean + half))
        numbers = ("standard_error", "low", "high")
        schema = ["run", "measure", "mean", "queries", *numbers]
        return pl.DataFrame(rows, schema, orient="row").with_columns(
            pl.col(*numbers).fill_nan(None)
        )

    def __repr__(self) -> str:
        policy = ", ".join(f"{name}={value}" for name, value in self.policy.to_dict().items())
        return f"{counted(self.queries, 'query', 'queries')}, {policy}\n{self.frame()}"


@takes_scoring
def summary(
    judgements: JudgementsLike,
    runs: RunsLike,
    measures: MeasuresLike | None = None,
    **scoring: Unpack[Scoring],
) -> SparkSummary:
    """Return the means of runs in Spark; the values of queries do not leave the partitions.

    Use it for more queries than the driver can hold. The means have the same bits as those of
    `judged.evaluate`, for any number of partitions: sums are exact, and rounded once. Medians,
    geometric means, sums, weights and policies with "error" need the values of queries. Judgements
    by subtopic in Spark need a column with this name.

    Parameters
    ----------
    judgements : pyspark.sql.DataFrame or JudgementsLike
        A frame of Spark, which stays there, or a file, a dict or a table.
    runs : pyspark.sql.DataFrame or RunsLike
        A frame of Spark, or a path or `table:NAME` that Spark reads; several as {name: run}.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; by default AP, nDCG@10, RR, P@10 and R@100.
    **scoring
        Options of `judged.evaluate`: policy, convention, collection, exclude_same_id, columns.

    Returns
    -------
    SparkSummary
        The means by `summary["nDCG@10"]`, and `frame()` with standard errors and intervals.

    Examples
    --------
    >>> judged.engines.spark.summary("qrels.txt", "s3://runs/bm25.parquet")  # doctest: +SKIP
    """
    check_installed()
    tables = with_opened_paths(judgements, runs, scoring.get("columns"))
    settings, data = _settings_and_data("summary", *tables, measures, scoring)
    _refuse_without_mean(settings)
    judged, change, pool = _judgements_in_spark(data, settings)
    if "weight" in judged.frame.columns or (pool and own_weights(pool.judgements) is not None):
        raise InputError(f"{judged.source}: a summary has no weights; use judged.evaluate.")
    sums: dict[str, dict[Measure, QuerySums]] = {}
    said: list[str] = []
    queries = 0
    for run in map(settings.prepare, data.runs()):
        counts = count_rows(run.table, judged)
        if not counts["judged_queries"]:
            ours, theirs = some_queries(judged.frame), some_queries(run.table.frame)
            raise InputError(nothing_in_common(judged.source, ours, run.source, theirs))
        work = _work(run, judged, change, settings, scoring, _sums_of)
        parts = match_partitions(run.table, judged, counts, work)
        findings = total(part[2] for part in parts)
        if not findings.results:
            raise InputError(f"{run.source}: {EMPTY}")
        unjudged = counts["queries"] - counts["judged_queries"]
        dropped = findings.duplicates_dropped + (pool.dropped if pool else 0)
        notes = (*(judged.notes if pool is None else pool.notes), *findings.notes)
        findings = replace(findings, run_queries=unjudged, duplicates_dropped=dropped, notes=notes)
        queries, missing = (sum(numbers) for numbers in zip(*(p[:2] for p in parts), strict=True))
        sums[run.name] = {
            measure: reduce(add, (part[3][measure] for part in parts if part[0]))
            for measure in settings.measures
        }
        said += [f"{run.name}: {text}" for text in _warnings(findings, missing, settings.policy)]
    for text in said:
        warn(text)
    labels = {measure: settings.labels.get(measure, str(measure)) for measure in settings.measures}
    return SparkSummary(sums, settings.policy, queries, labels, tuple(said))


def _refuse_without_mean(settings: EvaluationSettings) -> None:
    one = Rankings.from_relevance([[1]])
    for measure in settings.measures:
        if measure.params["aggregate"] != "mean" or measure.gives(one) is not None:
            raise MeasureError(
                f"{measure}: its summary is no mean over the queries, so sums of partitions do "
                "not give it. Choose another measure, or use judged.evaluate."
            )
    for name in ("missing", "empty"):
        if getattr(settings.policy, name) == "error":
            raise PolicyError(
                f"{name}=error names queries, and a summary has none of them; choose another "
                "policy, or use judged.evaluate."
            )


def _sums_of(
    rankings: Rankings, settings: EvaluationSettings
) -> tuple[int, int, Findings, dict[Measure, QuerySums]]:
    """Return the numbers of queries and of missing ones, findings without names, and the sums."""
    findings = replace(findings_of(rankings), missing_queries=())
    values = score_run(rankings, settings).values if len(rankings) else {}
    sums = {measure: QuerySums.of(column) for measure, column in values.items()}
    return len(rankings), int(rankings.missing.sum()), findings, sums


def _warnings(findings: Findings, missing: int, policy: Policy) -> Iterator[str]:
    audit = findings.audit()
    yield from audit.warnings
    if missing:
        effect = "count as empty lists" if policy.missing == "zero" else "are left out of the means"
        number = counted(findings.judged_queries, "judged query", "judged queries")
        yield f"The run has no results for {missing:,} of {number}, which {effect}."
    for name, matters in {
        "duplicates_dropped": True,
        "nothing_relevant": policy.empty in ("zero", "one"),
    }.items():
        if matters and getattr(audit, name):
            yield audit.said()[name]


@takes_scoring
def per_query(
    judgements: JudgementsLike,
    run: Any,
    measures: MeasuresLike | None = None,
    **scoring: Unpack[Scoring],
) -> Any:
    """Return the values of all queries as a frame of Spark, which is computed when it is used.

    Judgements by subtopic need a column with this name.

    Parameters
    ----------
    judgements : pyspark.sql.DataFrame or JudgementsLike
        A frame of Spark, or a file, a dict or a table.
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
    """
    check_installed()
    if not is_spark(run):
        raise InputError(f"per_query takes a run in Spark; got {type(run).__name__}.")
    settings, data = _settings_and_data("per_query", judgements, run, measures, scoring)
    spark_run: SparkRun = settings.prepare(data.run("per_query takes one run."))
    judged, change, pool = _judgements_in_spark(data, settings)
    few = pool is not None and len(pool.queries) <= MAX_BROADCAST_QUERIES
    chosen: Chosen = "few" if few else "many"
    work = _work(spark_run, judged, change, settings, scoring, _values_of)
    names = [settings.labels.get(measure, str(measure)) for measure in settings.measures]
    schema = ", ".join(f"`{name.replace('`', '``')}` double" for name in names)
    rows = join_tables(spark_run.table, judged, partitions=None, chosen=chosen)
    return rows.mapInArrow(_pack_values(work, names), f"query string, {schema}")


def _values_of(
    rankings: Rankings, settings: EvaluationSettings
) -> tuple[tuple[str, ...], list[list[float | None]]]:
    scored = score_run(rankings, settings)
    columns = [
        [None if gone else value for value, gone in zip(row.tolist(), np.isnan(row), strict=True)]
        for row in scored.values.values()
    ]
    return rankings.queries, columns


def _pack_values(
    work: MatchPartition, names: list[str]
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return the function for `mapInArrow` that yields rows of values, and raises faults."""
    packed, lacks, other = pack_work(work), not_installed("judged"), other_version("{}")

    def partition(batches: Iterable[Any]) -> Iterator[Any]:
        import pickle

        import pyarrow as pa

        for batch in packed(batches):
            row = batch.to_pylist()[0]
            if row["lacking"]:
                version = row["lacking"].removeprefix("version ")
                known = version != row["lacking"]
                raise RuntimeError(other.replace("{}", version) if known else lacks)
            from judged.engines.spark.partitions import RowFault, error_of

            result = pickle.loads(row["result"])
            if isinstance(result, RowFault):
                raise error_of([result])
            queries, columns = result
            arrays = [pa.array(queries, pa.string()), *(pa.array(c, pa.float64()) for c in columns)]
            yield pa.RecordBatch.from_arrays(arrays, names=["query", *names])

    return partition


# What both need


def _settings_and_data(
    function: str, judgements: Any, runs: Any, measures: Any, scoring: Mapping[str, Any]
) -> tuple[EvaluationSettings, Data]:
    for name in scoring:
        if name not in _SUPPORTED:
            raise InputError(f"{function} has no option {name!r}; use judged.evaluate.")
    settings = EvaluationSettings.of(
        measures, scoring.get("policy"), scoring.get("convention"), prepares=True
    )
    data = with_items(
        Data.of(judgements, runs, columns=scoring.get("columns"), engine=None),
        exclude_same_id=bool(scoring.get("exclude_same_id")),
        duplicates=settings.policy.duplicates,
    )
    return settings, data


def _judgements_in_spark(
    data: Data, settings: EvaluationSettings
) -> tuple[SparkTable, Callable[[Any], Any] | None, Pool | None]:
    """Leave judgements in Spark, with a change to make in partitions, or send them there."""
    if isinstance(data.given, SparkFrame):
        table = data.given.table(JUDGEMENTS, data.columns)
        # Only a look at all rows would show whether an iteration is a subtopic.
        graded = table.frame.where("grade is not null or item is null").drop("iteration")
        return replace(table, frame=graded), data.of_judgements, None
    pool = pool_of(data.judgements(), duplicates=settings.policy.duplicates)
    spark = next(iter(data.runs())).table.frame.sparkSession
    return send_pool(pool, None, spark), None, pool


def _work(
    run: SparkRun,
    judged: SparkTable,
    change: Callable[[Any], Any] | None,
    settings: EvaluationSettings,
    scoring: Mapping[str, Any],
    make: Callable[..., Any],
) -> MatchPartition:
    refuse_input_order(settings.policy.ties, run.table)
    return MatchPartition(
        TableDescription.of(run.table),
        TableDescription.of(judged),
        settings.policy,
        scoring.get("collection"),
        change_run=run.change,
        change_judgements=change,
        make=partial(make, settings=settings),
    )
