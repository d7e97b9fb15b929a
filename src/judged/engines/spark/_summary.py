"""Values of more queries than the driver can hold: summaries, or a frame of values.

In each partition the values are summed without rounding. The sums of all partitions add up to the
same bits that all values together would give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from judged.engines.spark.partitions import MatchPartition, TableDescription, pack_work
from judged.engines.spark.run import (
    MAX_BROADCAST_QUERIES,
    Chosen,
    SparkRun,
    count_rows,
    join_tables,
    refuse_input_order,
    run_on_queries,
)
from judged.engines.spark.session import (
    address_of,
    check_installed,
    not_installed,
    other_version,
    spark_errors,
)
from judged.engines.spark.tables import SparkTable, send_pool, some_queries
from judged.errors import InputError, MeasureError
from judged.evaluation.evaluation import Evaluation
from judged.evaluation.scores import Scored, score_run
from judged.evaluation.settings import EvaluationSettings
from judged.inputs.data import Data
from judged.inputs.tables import JUDGEMENTS, is_spark, ungraded_note
from judged.matching.checks import EMPTY, nothing_in_common
from judged.matching.documents import with_items
from judged.matching.pool import pool_of, with_note
from judged.options import Scoring, takes_scoring
from judged.rankings.audit import Findings, findings_of, total
from judged.statistics.samples import ExactSum, Means
from judged.text import merged

if TYPE_CHECKING:
    from judged.measures import Measure
    from judged.options import JudgementsLike, MeasuresLike
    from judged.rankings.rankings import Rankings

_SUPPORTED = ("policy", "convention", "collection", "exclude_same_id", "columns")


@takes_scoring
def summary(
    judgements: JudgementsLike,
    run: Any,
    measures: MeasuresLike | None = None,
    **scoring: Unpack[Scoring],
) -> Evaluation:
    """Evaluate runs in Spark without fetching the values of queries.

    Use it for more queries than the driver can hold. Judgements and values stay in Spark, and only
    sums come back. The summaries and the audit are those of `judged.evaluate`.

    Parameters
    ----------
    judgements : pyspark.sql.DataFrame or JudgementsLike
        A frame of Spark, or a file, a dict or a table.
    run : pyspark.sql.DataFrame
        The run, or several as {name: frame}.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; by default AP, nDCG@10, RR, P@10 and R@100. No medians.
    **scoring
        Options of `judged.evaluate`: policy, convention, collection, exclude_same_id, columns.

    Returns
    -------
    Evaluation
        Without the values of queries.
    """
    settings, data = _read_options(judgements, run, measures, scoring, "summary")
    refuse_needing_values(settings)
    table = _Judged.of(judgements, data, settings)
    scored = []
    for spark_run in map(settings.prepare, data.runs()):
        refuse_input_order(settings.policy.ties, spark_run.table)
        counts = count_rows(spark_run.table, table.table)
        if not counts.judged_queries:
            ours, theirs = some_queries(spark_run.table.frame), some_queries(table.table.frame)
            raise InputError(nothing_in_common(table.table.source, theirs, spark_run.source, ours))
        work = table.work(spark_run, partial(totals_of, settings=settings), scoring)
        parts: list[Totals] = run_on_queries(spark_run.table, table.table, counts, work)
        if not any(findings_of(part.rankings).results for part in parts):
            raise InputError(f"{spark_run.source}: {EMPTY}")
        notes = merged(findings_of(part.rankings).notes for part in parts)
        findings = Findings(
            run_queries=counts.queries - counts.judged_queries,
            notes=with_note(merged([table.notes, notes])),
        )
        first = replace(parts[0], rankings=replace(parts[0].rankings, findings=findings), sums={})
        scored.append(add_totals([first, *map(_without_notes, parts)], settings))
    return Evaluation(tuple(scored), settings.measures, settings.policy, settings.convention)


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
    settings, data = _read_options(judgements, run, measures, scoring, "per_query")
    spark_run = settings.prepare(data.run("per_query takes one run."))
    refuse_input_order(settings.policy.ties, spark_run.table)
    table = _Judged.of(judgements, data, settings, look=False)
    work = table.work(spark_run, partial(_values_of, settings=settings), scoring)
    names = [settings.labels.get(measure, str(measure)) for measure in settings.measures]
    schema = ", ".join(f"`{name.replace('`', '``')}` double" for name in names)
    rows = join_tables(spark_run.table, table.table, partitions=None, chosen=table.chosen)
    return rows.mapInArrow(_pack_rows(work, names), f"query string, {schema}")


def _read_options(
    judgements: Any, run: Any, measures: Any, scoring: Any, function: str
) -> tuple[EvaluationSettings, Data]:
    check_installed()
    runs = run.values() if isinstance(run, dict) else [run]
    if not all(map(is_spark, runs)):
        names = ", ".join(type(each).__name__ for each in runs)
        raise InputError(f"{function} takes a run in Spark; got {names}.")
    for name in scoring:
        if name not in _SUPPORTED:
            raise InputError(f"{function} has no option {name!r}; use judged.evaluate.")
    settings = EvaluationSettings.of(
        measures, scoring.get("policy"), scoring.get("convention"), prepares=True
    )
    data = with_items(
        Data.of(judgements, run, columns=scoring.get("columns"), engine=None),
        exclude_same_id=bool(scoring.get("exclude_same_id")),
        duplicates=settings.policy.duplicates,
    )
    return settings, data


@dataclass(frozen=True, eq=False)
class _Judged:
    """Judgements as a table of Spark."""

    table: SparkTable
    chosen: Chosen = "many"
    one_iteration: bool | None = None
    change: Callable[[Any], Any] | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, judgements: Any, data: Data, settings: EvaluationSettings, *, look: bool = True
    ) -> _Judged:
        """Leave judgements in Spark, or send them there; `look` is whether a job may run."""
        if not is_spark(judgements):
            pool = pool_of(data.judgements(), duplicates=settings.policy.duplicates)
            runs = iter(data.runs())
            spark = next(runs).table.frame.sparkSession
            few = len(pool.queries) <= MAX_BROADCAST_QUERIES
            return cls(send_pool(pool, None, spark), "few" if few else "many", notes=pool.notes)
        frame: Any = data.given
        table = frame.table(JUDGEMENTS, data.columns)
        if look:
            return cls._checked(table, data.of_judgements)
        # Only a look at all rows would show whether an iteration is a subtopic.
        graded = table.frame.where("grade is not null or item is null").drop("iteration")
        return cls(replace(table, frame=graded), "many", True, data.of_judgements)

    @classmethod
    def _checked(cls, table: SparkTable, change: Callable[[Any], Any]) -> _Judged:
        """Leave out rows without a grade, and see whether there is more than one iteration."""
        from pyspark.sql import functions as F  # noqa: N812

        if "weight" in table.frame.columns or "document" in table.frame.columns:
            raise InputError(
                f"{table.source}: summary cannot use weights and documents; use judged.evaluate."
            )
        grade, item = F.col("grade").cast("double"), F.col("item")
        ungraded = grade.isNull() & item.isNotNull()
        iteration = F.col("iteration") if "iteration" in table.frame.columns else F.lit("")
        with spark_errors(address_of(table.frame)):
            totals = table.frame.agg(
                F.count(F.lit(1)).alias("rows"),
                F.count(F.when(ungraded, 1)).alias("ungraded"),
                F.count(grade).alias("graded"),
                (F.min(iteration) == F.max(iteration)).alias("one"),
            ).collect()[0]
        if not totals["rows"]:
            raise InputError(f"{table.source}: holds no rows.")
        if not totals["graded"]:
            raise InputError(f"{table.source}: no row has a grade.")
        notes = table.notes
        if totals["ungraded"]:
            table = replace(table, frame=table.frame.where(~ungraded))
            notes = (*notes, ungraded_note(totals["ungraded"]))
        table = replace(table, notes=notes)
        return cls(table, "many", bool(totals["one"]), change, notes)

    def work(self, run: SparkRun, make: Callable[[Any], Any], scoring: Any) -> MatchPartition:
        """Return the work on each partition."""
        settings: EvaluationSettings = make.keywords["settings"]  # type: ignore[attr-defined]
        return MatchPartition(
            TableDescription.of(run.table),
            replace(TableDescription.of(self.table), one_iteration=self.one_iteration),
            settings.policy,
            scoring.get("collection"),
            change_run=run.change,
            change_judgements=self.change,
            make=make,
        )


def _without_notes(part: Totals) -> Totals:
    findings = replace(findings_of(part.rankings), notes=())
    return replace(part, rankings=replace(part.rankings, findings=findings))


def _values_of(
    rankings: Rankings, settings: EvaluationSettings
) -> tuple[tuple[str, ...], list[list[float | None]]]:
    scored = score_run(rankings, settings)
    columns = [
        [None if gone else value for value, gone in zip(row.tolist(), np.isnan(row), strict=True)]
        for row in scored.values.values()
    ]
    return rankings.queries, columns


def _pack_rows(work: MatchPartition, names: list[str]) -> Callable[[Iterable[Any]], Iterator[Any]]:
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


# Sums


@dataclass(frozen=True, eq=False)
class MeasureTotal:
    """The sums of some queries for one summary."""

    sample: Means
    """The function from columns to the summary, without any rows."""
    sums: tuple[ExactSum, ...]
    """The sum of each column; their count is the number of queries that count."""
    errors: ExactSum | None = None
    """The squared standard errors of the values, if they are estimates."""

    def __add__(self, other: MeasureTotal) -> MeasureTotal:
        errors = self.errors
        if errors is None or other.errors is None:
            errors = errors or other.errors
        else:
            errors = errors + other.errors
        filled = self if self.count else other  # without queries the columns mean nothing
        sums = filled.sums
        if self.count and other.count:
            sums = tuple(one + two for one, two in zip(self.sums, other.sums, strict=True))
        return MeasureTotal(filled.sample, sums, errors)

    @property
    def count(self) -> int:
        """The number of queries that count."""
        return self.sums[0].count

    def value(self) -> float:
        """Return the summary, as `Means.value` gives it for all rows."""
        sample = self.sample
        if not self.count:
            return float("nan")
        if sample.aggregate == "sum":
            return self.sums[0].value()
        column_value = ExactSum.value if sample.of_totals else ExactSum.mean
        return float(sample.function(np.array([column_value(column) for column in self.sums])))

    def error(self) -> float | None:
        """Return the standard error of a mean or sum of estimates."""
        has_error = self.count and self.sample.aggregate in ("mean", "sum")
        if self.errors is None or not has_error:
            return None
        error = float(np.sqrt(self.errors.value()))
        return error if self.sample.aggregate == "sum" else error / self.count


@dataclass(frozen=True, eq=False)
class Totals:
    """The sums of a partition for all measures."""

    rankings: Rankings
    """Rankings of no query, with what was found in the partition."""
    sums: dict[Measure, MeasureTotal] = field(default_factory=dict)


def refuse_needing_values(settings: EvaluationSettings) -> None:
    """Raise an error for what sums cannot give: medians, and policies that name queries."""
    for measure in settings.measures:
        if measure.params["aggregate"] == "median":
            raise MeasureError(
                f"{measure} is a median, which needs the values of all queries; ask for its mean, "
                "or use judged.evaluate."
            )
    for name in ("missing", "empty"):
        if getattr(settings.policy, name) == "error":
            raise InputError(
                f"{name}=error names queries, and a summary has none of them; choose another "
                "policy, or use judged.evaluate."
            )


def totals_of(rankings: Rankings, settings: EvaluationSettings) -> Totals:
    """Return the sums of a block of rankings.

    >>> from judged import Rankings
    >>> settings = EvaluationSettings.of("RR", None)
    >>> r = Rankings.from_run({"q": {"a": 1}}, {"q": ["b", "a"]})
    >>> add_totals([totals_of(r, settings)], settings).summary
    {RR: 0.5}
    """
    if rankings.weights is not None:
        raise InputError("weights need the values of queries; use judged.evaluate.")
    scored = score_run(rankings, settings) if len(rankings) else None
    findings = findings_of(rankings if scored is None else scored.rankings)
    empty = replace(rankings.take([]), findings=findings)
    return Totals(empty, {} if scored is None else _sum_values(scored))


def _sum_values(scored: Scored) -> dict[Measure, MeasureTotal]:
    totals = {}
    for measure in scored.values:
        sample = scored.sample(measure)
        assert isinstance(sample, Means)  # medians are an error
        errors = None
        if (estimated := scored.errors.get(measure)) is not None:
            errors = ExactSum.of(estimated[~np.isnan(estimated)] ** 2)
        sums = tuple(ExactSum.of(column) for column in sample.columns.T)
        totals[measure] = MeasureTotal(replace(sample, columns=sample.columns[:0]), sums, errors)
    return totals


def add_totals(parts: Iterable[Totals], settings: EvaluationSettings) -> Scored:
    """Return the summaries of a run from the sums of all its partitions."""
    every = list(parts)
    filled = [part for part in every if part.sums] or every[:1]
    findings = total(findings_of(part.rankings) for part in every)
    ordered = findings.in_order(sorted(findings.missing_queries))
    totals = filled[0].sums
    for part in filled[1:]:
        totals = {measure: one + part.sums[measure] for measure, one in totals.items()}
    errors = {measure: one.error() for measure, one in totals.items()}
    nothing = np.zeros(0)
    return Scored(
        replace(filled[0].rankings, findings=ordered),
        dict.fromkeys(totals, nothing),
        {measure: one.value() for measure, one in totals.items()},
        errors={measure: nothing for measure, one in totals.items() if one.errors is not None},
        summary_errors={measure: error for measure, error in errors.items() if error is not None},
        nothing=dict.fromkeys(totals, np.zeros(0, bool)),
        labels=settings.labels,
    )
