"""Runs and judgements that both stay in Spark: only sums and counts come here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from judged.engines.spark.failures import failures
from judged.engines.spark.judging import How, JudgePartition
from judged.engines.spark.partitions import Counts, count
from judged.engines.spark.rows import Described
from judged.engines.spark.run import Changes, SparkRun, judged_partitions, refuse_input_order
from judged.engines.spark.session import address_of
from judged.engines.spark.tables import SparkTable
from judged.engines.spark.work import some_queries
from judged.errors import InputError
from judged.inputs.tables import JUDGEMENTS, ungraded_note
from judged.matching.faults import EMPTY, nothing_in_common_of
from judged.matching.items import with_items
from judged.matching.subtopics import with_note
from judged.rankings.findings import Findings
from judged.text import merged

if TYPE_CHECKING:
    from judged.evaluation.scores import Scored
    from judged.evaluation.settings import EvaluationSettings
    from judged.inputs.data import Data
    from judged.options import Progress


def summaries(
    data: Data, settings: EvaluationSettings, how: How, progress: Progress | None, **ranked: Any
) -> Iterator[Scored]:
    """The summaries of each run, by judgements that stay in Spark."""
    from judged.evaluation.totals import sum_up, totals_of

    data = with_items(data, duplicates=settings.policy.duplicates, **ranked)
    given: Any = data.given
    judgements, one_iteration, _ = graded(given.table(JUDGEMENTS, data.columns))
    work_of = partial(
        partition_work,
        judgements,
        one_iteration,
        how,
        of_judgements=data.of_judgements,
        make=partial(totals_of, settings=settings),
    )
    for run in map(settings.prepare, data.runs()):
        counts = counted(run, judgements, settings.policy.ties)
        found = list(judged_partitions(run.table, judgements, counts, work_of(run)))
        if not any(part.rankings.findings.results for part in found):
            raise InputError(f"{run.source}: {EMPTY}")
        every = merged(part.rankings.findings.notes for part in found)
        once = Findings(
            run_queries=counts.queries - counts.judged_queries,
            notes=with_note(merged([judgements.notes, every])),
        )
        last = replace(found[0], rankings=replace(found[0].rankings, findings=once), sums={})
        scored = sum_up([last, *map(_without_notes, found)], settings)
        if progress is not None:
            progress(scored.audit.judged_queries)
        yield scored


def _without_notes(part: Any) -> Any:
    """What a partition gives, but for notes, which were merged."""
    findings = replace(part.rankings.findings, notes=())
    return replace(part, rankings=replace(part.rankings, findings=findings))


def partition_work(
    judgements: SparkTable,
    one_iteration: bool,
    how: How,
    run: SparkRun,
    *,
    of_judgements: Callable[[Any], Any] | None,
    make: Callable[[Any], Any],
) -> JudgePartition:
    """What is done with each partition of a run and of judgements that are both in Spark."""
    described = replace(Described.of(judgements), one_iteration=one_iteration)
    change = Changes(run.changes) if run.changes else None
    return JudgePartition(Described.of(run.table), described, how, change, of_judgements, make)


def counted(run: SparkRun, judgements: SparkTable, ties: str) -> Counts:
    """How much there is; an error where a run has none of the judged queries."""
    refuse_input_order(ties, run.table)
    counts = count(run.table, judgements)
    if not counts.judged_queries:
        ours, theirs = some_queries(run.table.frame), some_queries(judgements.frame)
        raise InputError(nothing_in_common_of(judgements.source, theirs, run.source, ours))
    return counts


def graded(table: SparkTable) -> tuple[SparkTable, bool, float]:
    """Judgements without rows that nobody graded yet; whether they name one iteration only; and
    the top grade. What is wrong with all of them is said."""
    from pyspark.sql import functions as F  # noqa: N812

    if "weight" in table.frame.columns or "document" in table.frame.columns:
        raise InputError(
            f"{table.source}: weights and documents need the judgements here; leave out "
            "per_query=False."
        )
    grade, item = F.col("grade").cast("double"), F.col("item")
    left = grade.isNull() & item.isNotNull()
    iteration = F.col("iteration") if "iteration" in table.frame.columns else F.lit("")
    with failures(address_of(table.frame)):
        found = table.frame.agg(
            F.count(F.lit(1)).alias("rows"),
            F.count(F.when(left, 1)).alias("left"),
            F.count(grade).alias("graded"),
            F.max(grade).alias("top"),
            (F.min(iteration) == F.max(iteration)).alias("one"),
        ).collect()[0]
    if not found["rows"]:
        raise InputError(f"{table.source}: holds no rows.")
    if not found["graded"]:
        raise InputError(f"{table.source}: no row has a grade.")
    notes = table.notes
    if found["left"]:
        table = replace(table, frame=table.frame.where(~left))
        notes = (*notes, ungraded_note(found["left"]))
    top = float(found["top"])
    return replace(table, notes=notes), bool(found["one"]), top if top > 0 else 1.0
