"""Values of queries that stay in Spark: a frame of them, of which nothing is computed before
somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from judged.engines.spark.failures import not_installed, other_version
from judged.errors import InputError
from judged.options import checked

if TYPE_CHECKING:
    from judged.engines.spark.judging import JudgePartition
    from judged.evaluation.settings import EvaluationSettings
    from judged.options import (
        CollectionLike,
        ColumnsLike,
        ConventionLike,
        Duplicates,
        JudgementsLike,
        MeasuresLike,
        PolicyLike,
    )
    from judged.rankings.rankings import Rankings


@checked
def per_query(
    judgements: JudgementsLike,
    run: Any,
    measures: MeasuresLike | None = None,
    *,
    policy: PolicyLike | None = None,
    depth: int | None = None,
    duplicates: Duplicates = "error",
    collection: CollectionLike | None = None,
    exclude_same_id: bool = False,
    convention: ConventionLike | None = None,
    columns: ColumnsLike | None = None,
) -> Any:
    """The value of every query, as a frame of Spark; nothing runs before somebody asks for it.

    Lists must fit into a worker, for nobody counts them first: `judged.evaluate` takes longer ones.
    Judgements by subtopic need a column that is called so.

    Parameters
    ----------
    judgements : JudgementsLike
        A frame of Spark, which stays there, or a file, a dict or a table.
    run : pyspark.sql.DataFrame
        The run, a frame of Spark.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; by default AP, nDCG@10, RR, P@10 and R@100.
    policy, depth, duplicates, collection, exclude_same_id, convention, columns
        As for `judged.evaluate`.

    Returns
    -------
    pyspark.sql.DataFrame
        Columns query (text) and, for each measure, its values; null where a query does not count.
    """
    from judged.engines.spark.judging import How
    from judged.engines.spark.local import pool_table
    from judged.engines.spark.partitions import SMALL, Chosen, together
    from judged.engines.spark.run import refuse_input_order
    from judged.engines.spark.session import check_installed
    from judged.engines.spark.summaries import partition_work
    from judged.evaluation.settings import EvaluationSettings
    from judged.inputs.data import Data
    from judged.inputs.remote import is_spark
    from judged.inputs.tables import JUDGEMENTS
    from judged.matching.items import with_items
    from judged.matching.pool import pool_of
    from judged.policy import add_choices

    check_installed()
    if not is_spark(run):
        raise InputError(f"per_query takes a run in Spark; got {type(run).__name__}.")
    chosen_policy = add_choices(policy, depth=depth, duplicates=duplicates)
    request = EvaluationSettings.of(measures, chosen_policy, convention, prepares=True)
    data = with_items(
        Data.of(judgements, run, columns=columns, engine="spark"),
        exclude_same_id=exclude_same_id,
        duplicates=duplicates,
    )
    listed = request.prepare(data.run("per_query takes one run."))
    refuse_input_order(request.policy.ties, listed.table)
    how = How(request.policy, collection)
    of_judgements = None
    chosen: Chosen = "many"
    if is_spark(judgements):
        given: Any = data.given
        table = given.table(JUDGEMENTS, data.columns)
        # Rows that nobody graded yet are left out; an iteration may be a filler, which only a look
        # at all rows would tell.
        frame = table.frame.where("grade is not null or item is null").drop("iteration")
        table = replace(table, frame=frame)
        of_judgements = data.of_judgements
    else:
        pool = pool_of(data.judgements(), duplicates=duplicates)
        chosen = "few" if len(pool.queries) <= SMALL else "many"
        table = pool_table(pool, None, listed.table.frame.sparkSession)
    work = partition_work(
        table,
        True,
        how,
        listed,
        of_judgements=of_judgements,
        make=partial(values_in, settings=request),
    )
    names = [request.labels.get(measure, str(measure)) for measure in request.measures]
    schema = ", ".join(f"`{name.replace('`', '``')}` double" for name in names)
    rows = together(listed.table, table, partitions=None, chosen=chosen)
    return rows.mapInArrow(sent_rows(work, names), f"query string, {schema}")


def values_in(
    rankings: Rankings, settings: EvaluationSettings
) -> tuple[tuple[str, ...], list[list[float | None]]]:
    """The queries of rankings, and the values of each measure."""
    import numpy as np

    from judged.evaluation.scores import score_run

    scored = score_run(rankings, settings)
    columns = [
        [None if gone else value for value, gone in zip(each.tolist(), np.isnan(each), strict=True)]
        for each in scored.values.values()
    ]
    return rankings.queries, columns


def sent_rows(work: JudgePartition, names: list[str]) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """The work as Spark's `mapInArrow` takes it, with rows of values; carried by value, so that it
    can say what workers lack. What is wrong with a partition is raised there."""
    from pyspark import cloudpickle

    from judged import __version__

    packed, version = cloudpickle.dumps(work), __version__  # type: ignore[no-untyped-call]
    lacking, other = not_installed("judged"), other_version("{}")

    def partition(batches: Iterable[Any]) -> Iterator[Any]:
        import pickle

        import pyarrow as pa

        try:
            from judged import __version__
        except ImportError:
            raise RuntimeError(lacking) from None
        if __version__ != version:
            raise RuntimeError(other.replace("{}", __version__))
        from judged.engines.spark.faults import Fault, raised
        from judged.engines.spark.work import made_of

        for made in made_of(packed, batches):
            found = pickle.loads(made)
            if isinstance(found, Fault):
                raise raised([found])
            queries, columns = found
            arrays = [pa.array(queries, pa.string()), *(pa.array(c, pa.float64()) for c in columns)]
            yield pa.RecordBatch.from_arrays(arrays, names=["query", *names])

    return partition
