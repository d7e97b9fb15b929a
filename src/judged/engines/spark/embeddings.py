"""Embeddings whose items live in Spark: each partition counts its own, and counts add up to exact
ranks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import starts_of
from judged.engines.spark.collected import collected
from judged.engines.spark.failures import failures
from judged.engines.spark.local import as_frame
from judged.engines.spark.partitions import SMALL
from judged.engines.spark.session import address_of, is_connect
from judged.engines.spark.vectors import (
    AddCounts,
    CountItems,
    item_frame,
    matrix_of,
    refuse_repeated,
)
from judged.engines.spark.work import SCHEMA, done, sent
from judged.errors import InputError

if TYPE_CHECKING:
    from judged.embeddings.relations import Judgements
    from judged.evaluation.evaluation import Evaluation
    from judged.inputs.vectors.vectors import Vectors
    from judged.options import MeasuresLike
    from judged.rankings.rankings import Rankings

_SENT = 1 << 30
"""So many bytes of queries go to the workers at a time."""
_SENT_TO_SERVER = 1 << 26
"""The same through a server of Spark Connect, which takes no larger messages."""
_SUMS = 16
"""From so many partitions on, counts are added up in Spark, into so many sums."""
_UNSUPPORTED = (
    "normalise",
    "unique",
    "both",
    "item_ids",
    "unanswerable",
    "answer_threshold",
)
_NOTHING: dict[str, Any] = {"both": False, "unanswerable": False}


def evaluate_in_spark(
    queries: Any,
    items: Any,
    relevance: Any,
    measures: MeasuresLike | None = None,
    **options: Any,
) -> Evaluation:
    """See `judged.evaluate_embeddings`; items are a frame with an id and a vector in each row.

    Parameters
    ----------
    queries : VectorsLike
        The vectors of the queries, which are in memory here.
    items : pyspark.sql.DataFrame
        A column of ids (texts or whole numbers) and one of vectors (arrays of float or double).
    relevance : RelevanceLike
        Judgements by id.
    measures : MeasuresLike, optional
        What is computed.
    **options : Any
        As for `judged.evaluate_embeddings`; those that need all items in one place are refused.

    Returns
    -------
    Evaluation
    """
    from judged.embeddings.scoring import Numbers, request_of
    from judged.rankings.rankings import Rankings

    for name in _UNSUPPORTED:
        if options.pop(name, _NOTHING.get(name)) not in (None, False):
            raise InputError(f"{name} is not there for items in Spark; leave it out.")
    if options.pop("precision", "double") != "double":
        raise InputError("precision is double for items in Spark; leave it out.")
    request = request_of(measures, options.pop("policy", None), options.pop("convention", None))
    numbers = Numbers(
        request,
        tie_range=options.pop("tie_range", False),
        weights=options.pop("weights", None),
        interval=options.pop("interval", False),
        level=options.pop("level", 0.95),
        groups=options.pop("groups", None),
    )
    name, progress = options.pop("name", "embeddings"), options.pop("progress", None)
    blocks = []
    for block in _ranked(queries, items, relevance, request.policy, name, options):
        blocks.append(block)
        if progress is not None:
            progress(len(block))
    rankings = blocks[0] if len(blocks) == 1 else Rankings.concat(blocks)
    return numbers.of([rankings])


def _ranked(
    queries: Any, items: Any, relevance: Any, policy: Any, name: str, options: dict[str, Any]
) -> Iterator[Rankings]:
    """The rankings of queries, of so many at a time as can be sent to the workers."""
    from judged.embeddings.relations import Judgements, as_relation
    from judged.engines.spark._counts import prepare
    from judged.inputs.vectors import as_vectors

    relation = as_relation(relevance, what="relevance")
    if not isinstance(relation, Judgements):
        raise InputError(
            "relevance of items in Spark must be judgements by id, {query: {item: grade}}, a file "
            "or a table: labels and functions are not there for them."
        )
    vectors = as_vectors(queries, ids=options.pop("query_ids", None), source="the queries")
    frame = item_frame(items)
    number = refuse_repeated(frame)
    known, matrix = judged_items(frame, relation)
    for some, own in _blocks(vectors, relation, is_connect(items)):
        ready = prepare(some, matrix, own, item_ids=known, **options)
        counts = counted_items(frame, CountItems(ready))
        yield ready.rankings(counts, policy=policy, name=name, collection=number)


def _blocks(
    vectors: Vectors, relation: Judgements, connect: bool
) -> Iterator[tuple[Vectors, Judgements]]:
    """Queries, with their judgements, in blocks that can be sent; judged queries that have no
    vector are in the last."""
    size = len(vectors) * vectors.values.shape[1] * 8
    number = math.ceil(size / (_SENT_TO_SERVER if connect else _SENT))
    pool, there = relation.pool, set(vectors.names())
    if number <= 1 or there.isdisjoint(pool.queries):  # the latter is refused
        yield vectors, relation
        return
    if pool.subtopics is not None:
        raise InputError(
            "judgements by subtopic are not there for so many queries on items in Spark; evaluate "
            "some of the queries at a time."
        )
    names, starts = vectors.names(), starts_of(pool.lengths)
    left = {
        query: dict(zip(items, pool.grades[at : at + len(items)].tolist(), strict=True))
        for query, items, at in zip(pool.queries, pool.items, starts.tolist(), strict=True)
    }
    absent = {query: left.pop(query) for query in pool.queries if query not in there}
    cut = np.array_split(np.arange(len(vectors)), number)
    with_judgements = [rows for rows in cut if any(names[at] in left for at in rows.tolist())]
    for rows in with_judgements:
        ids = tuple(names[at] for at in rows.tolist())
        own = {query: left[query] for query in ids if query in left}
        if rows is with_judgements[-1]:
            own |= absent
        values = np.array(vectors.values[rows[0] : rows[-1] + 1])
        yield replace(vectors, values=values, ids=ids), replace(relation, judgements=own)


def judged_items(frame: Any, relation: Judgements) -> tuple[list[str], Any]:
    """The ids and vectors of all items that are judged."""
    import polars as pl

    names = list(dict.fromkeys(name for each in relation.pool.items for name in each))
    wanted = as_frame(pl.DataFrame({"id": pl.Series(names, dtype=pl.String)}), frame.sparkSession)
    if len(names) <= SMALL:
        wanted = wanted.hint("broadcast")
    with failures(address_of(frame)):
        found = collected(frame.join(wanted, "id", "left_semi"))
    if not found.height:
        raise InputError("the judgements and the items in Spark have no item in common.")
    order = pl.DataFrame({"id": pl.Series(names, dtype=pl.String)})
    table = order.join(found, on="id", how="inner", maintain_order="left")
    kind = dict(frame.dtypes)["vector"]
    matrix = matrix_of(table)
    return table["id"].to_list(), matrix.astype(np.float32) if "float" in kind else matrix


def counted_items(frame: Any, work: CountItems) -> Any:
    """The counts of all partitions, added up."""
    address = address_of(frame)
    counts = frame.mapInArrow(sent(work), SCHEMA)
    return sum(done(counts.repartition(_SUMS), AddCounts(), address))
