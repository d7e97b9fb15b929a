"""Embeddings whose items are in Spark: each partition counts its own items for exact ranks."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judged.engines.spark.partitions import RESULT_SCHEMA, pack_work, run_work
from judged.engines.spark.run import MAX_BROADCAST_QUERIES
from judged.engines.spark.session import address_of, spark_errors
from judged.engines.spark.tables import collect, send
from judged.errors import InputError, JudgedError
from judged.inputs.columns import candidates
from judged.text import counted, quote

if TYPE_CHECKING:
    import polars as pl

    from judged.embeddings.relations import JudgementRelation
    from judged.engines.spark._counts import Counts, Prepared
    from judged.evaluation.evaluation import Evaluation
    from judged.options import MeasuresLike
    from judged.rankings.rankings import Rankings

PARTITIONS_OF_SUMS = 16  # sums that the counts of all partitions are added up to in Spark
NUMBERS_PER_STEP = 1 << 26  # numbers of vectors that a worker compares at a time
VECTOR_COLUMNS = ("vector", "embedding", "emb", "values", "features")
"""Names of the column of vectors, if several columns hold arrays."""
_INTEGER_TYPES = ("tinyint", "smallint", "int", "bigint")
_UNSUPPORTED = ("normalise", "unique", "both", "item_ids")


def evaluate_in_spark(
    queries: Any, items: Any, relevance: Any, measures: MeasuresLike | None = None, **options: Any
) -> Evaluation:
    """Evaluate embeddings whose items are a frame with an id and a vector in each row.

    Parameters
    ----------
    queries : VectorsLike
        The vectors of the queries, which are in memory here.
    items : pyspark.sql.DataFrame
        A column of ids (texts or whole numbers) and one of vectors (arrays of float or double).
    relevance : RelevanceLike
        Judgements by id.
    measures : MeasuresLike, optional
        The measures to compute.
    **options : Any
        Options of `judged.evaluate_embeddings`, except those that need all items in one place.
    """
    from judged.evaluation.evaluation import evaluate_rankings
    from judged.evaluation.settings import EvaluationSettings
    from judged.evaluation.warnings import announce_warnings

    for name in _UNSUPPORTED:
        if options.pop(name, None) not in (None, False):
            raise InputError(f"{name} is not supported for items in Spark; leave it out.")
    policy, convention = options.pop("policy", None), options.pop("convention", None)
    settings = EvaluationSettings.of(measures, policy, convention)
    weights = options.pop("weights", None)
    name, progress = options.pop("name", "embeddings"), options.pop("progress", None)
    rankings = _rank(queries, items, relevance, settings.policy, name, options)
    if progress is not None:
        progress(len(rankings))
    return announce_warnings(evaluate_rankings([rankings], settings, weights=weights))


def _rank(
    queries: Any, items: Any, relevance: Any, policy: Any, name: str, options: dict[str, Any]
) -> Rankings:
    """Return the ranks of relevant items, counted where the items are."""
    from judged.embeddings.relations import JudgementRelation, as_relation
    from judged.engines.spark._counts import prepare
    from judged.inputs.vectors import as_vectors

    relation = as_relation(relevance)
    if not isinstance(relation, JudgementRelation):
        raise InputError(
            "relevance of items in Spark must be judgements by id: {query: {item: grade}}, a file "
            "or a table. Labels and functions are not supported."
        )
    vectors = as_vectors(queries, ids=options.pop("query_ids", None), source="the queries")
    frame = _select_items(items)
    number = _count_items(frame)
    judged_ids, judged_vectors = _fetch_judged_items(frame, relation)
    ready = prepare(vectors, judged_vectors, relation, item_ids=judged_ids, **options)
    counts = frame.mapInArrow(pack_work(partial(_count_partition, ready)), RESULT_SCHEMA)
    sums = run_work(counts.repartition(PARTITIONS_OF_SUMS), _add_counts, address_of(frame))
    return ready.rankings(sum(sums, ready.nothing()), items=number, policy=policy, name=name)


def _select_items(frame: Any) -> Any:
    """Select the ids, as texts, and the vectors of a frame."""
    from pyspark.sql import functions as F  # noqa: N812

    types = {column.name: column.dataType.simpleString() for column in frame.schema.fields}
    arrays = [name for name, kind in types.items() if kind in ("array<float>", "array<double>")]
    named = [name for name in arrays if name.lower() in VECTOR_COLUMNS]
    others = [name for name in types if name not in arrays]
    ids = [others[position] for position in candidates("item", others)]
    if (len(arrays) > 1 and len(named) != 1) or not arrays:
        columns = ", ".join(f"{quote(name)} ({kind})" for name, kind in types.items())
        hint = (
            " Convert vectors of Spark ML with pyspark.ml.functions.vector_to_array."
            if any(kind.startswith("vector") for kind in types.values())
            else ""
        )
        raise InputError(
            "items in Spark need one column of vectors (arrays of float or double), named "
            f"{' or '.join(VECTOR_COLUMNS[:2])} if there are several; the columns are "
            f"{columns}.{hint}"
        )
    ids = ids or [name for name in others if name.lower() == "id"]
    ids = ids or (others if len(others) == 1 else [])
    if not ids:
        columns = ", ".join(map(quote, others)) or "none"
        raise InputError(
            f"items in Spark need a column with their ids, named id; the columns are {columns}."
        )
    kind = types[ids[0]]
    if not kind.startswith(("string", "varchar", "char")) and kind not in _INTEGER_TYPES:
        raise InputError(
            f"the items: column {quote(ids[0])} is {kind}, but ids must be strings or integers."
        )

    def column(name: str) -> Any:
        return F.col("`{}`".format(name.replace("`", "``")))

    text = column(ids[0]).cast("binary" if "collate" in kind else "string").cast("string")
    return frame.select(text.alias("id"), column((named or arrays)[0]).alias("vector"))


def _count_items(items: Any) -> int:
    """Count the items; missing and repeated ids are errors."""
    from pyspark.sql import functions as F  # noqa: N812

    times = items.groupBy("id").agg(F.count(F.lit(1)).alias("times"))
    repeated = F.when(F.col("times") > 1, F.col("id"))
    no_id = F.col("id").isNull() | (F.col("id") == "")
    with spark_errors():
        totals = times.agg(
            F.coalesce(F.sum("times"), F.lit(0)).alias("items"),
            F.min(repeated).alias("first"),
            F.count(repeated).alias("repeated"),
            F.coalesce(F.sum(F.when(no_id, F.col("times"))), F.lit(0)).alias("lost"),
        ).collect()[0]
    if totals["lost"]:
        raise InputError(f"the items: the id is missing in {counted(totals['lost'], 'row')}.")
    if totals["repeated"]:
        others = totals["repeated"] - 1
        more = f" (and {counted(others, 'more such id')})" if others else ""
        raise InputError(f"the items: {totals['first']!r} occurs more than once{more}.")
    if not totals["items"]:
        raise InputError("the items: the frame is empty.")
    return int(totals["items"])


def _fetch_judged_items(frame: Any, relation: JudgementRelation) -> tuple[list[str], Any]:
    """Fetch the ids and vectors of all judged items, in the order of the judgements."""
    import polars as pl

    names = list(dict.fromkeys(name for items in relation.pool.items for name in items))
    ids = pl.DataFrame({"id": pl.Series(names, dtype=pl.String)})
    wanted = send(ids, frame.sparkSession)
    if len(names) <= MAX_BROADCAST_QUERIES:
        wanted = wanted.hint("broadcast")
    with spark_errors(address_of(frame)):
        rows = collect(frame.join(wanted, "id", "left_semi"))
    if not rows.height:
        raise InputError("the judgements and the items in Spark have no item in common.")
    table = ids.join(rows, on="id", how="inner", maintain_order="left")
    matrix = _matrix(table)
    is_single = "float" in dict(frame.dtypes)["vector"]
    return table["id"].to_list(), matrix.astype(np.float32) if is_single else matrix


def _matrix(rows: pl.DataFrame) -> NDArray[np.floating[Any]]:
    """Return the vectors of rows; missing numbers and other lengths are errors."""
    import polars as pl

    column = rows["vector"]
    lengths = column.list.len()
    dims = int(lengths.drop_nulls().to_numpy().max(initial=0))
    odd = rows.filter(lengths.is_null() | (lengths != dims)).sort("id")
    if odd.height:
        length = odd["vector"].list.len()[0]
        problem = "is missing"
        if length is not None:
            problem = f"has {counted(length, 'number')}, but others have {dims}"
        raise InputError(f"the items: the vector of {odd['id'][0]!r} {problem}.")
    numbers = column.explode()
    if numbers.null_count():
        has_null = column.list.eval(pl.element().is_null()).list.any()
        name = rows.filter(has_null).sort("id")["id"][0]
        raise InputError(f"the items: the vector of {name!r} has a missing number.")
    return numbers.to_numpy().reshape(rows.height, -1)


def _count_partition(ready: Prepared, rows: pl.DataFrame) -> Iterator[Counts | JudgedError]:
    """Count the items of a partition before each relevant item."""
    counts = ready.nothing()
    step = max(NUMBERS_PER_STEP // max(ready.queries.values.shape[1], 1), 1)
    try:
        for begin in range(0, rows.height, step):
            block = rows[begin : begin + step]
            matrix = _matrix(block)
            odd = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
            if len(odd):
                name = min((block["id"][int(row)] for row in odd), key=str.encode)
                raise InputError(
                    f"the items: the vector of {name!r} has a number that is not finite; leave "
                    "the item out, or give it another vector."
                )
            counts = counts + ready.count(block["id"].to_list(), matrix)
    except JudgedError as error:
        yield error
        return
    yield counts


def _add_counts(rows: pl.DataFrame) -> Iterator[Any]:
    """Add up the counts of some partitions."""
    results = [pickle.loads(packed) for packed in rows["result"].drop_nulls().to_list()]
    errors = [result for result in results if isinstance(result, JudgedError)]
    yield from errors
    if results and not errors:
        yield reduce(add, results)
