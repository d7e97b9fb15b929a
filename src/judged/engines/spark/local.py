"""Tables of this machine as frames of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import starts_of
from judged.engines.spark.failures import failures
from judged.engines.spark.tables import SparkTable
from judged.inputs.tables import JUDGEMENTS, texts

if TYPE_CHECKING:
    import polars as pl

    from judged.matching.pool import Pool
    from judged.rankings.weights import Weights


def pool_table(pool: Pool, weights: Weights | None, spark: Any) -> SparkTable:
    """Judgements that are here as a table of Spark."""
    return SparkTable(as_frame(pool_rows(pool, weights), spark), JUDGEMENTS, pool.name)


def pool_rows(pool: Pool, weights: Weights | None) -> pl.DataFrame:
    """Judgements as rows of which any partition of whole queries makes the same again; a query
    without any has a row that names it."""
    import polars as pl

    frame = pool.frame.with_columns(grade=pool.grades)
    if pool.subtopics is not None:
        given = pool.subtopics
        row = starts_of(pool.lengths)[given.query] + given.item
        # Subtopics are told apart by their numbers, which are as they are when names are in order.
        width = len(str(int(given.subtopic.max(initial=0))))
        subtopic = pl.Series("subtopic", given.subtopic).cast(pl.String).str.zfill(width)
        frame = frame[row].with_columns(subtopic, grade=given.grade)
    empty = np.flatnonzero(pool.lengths == 0)
    if len(empty):
        named = texts("query", (pool.queries[at] for at in empty.tolist())).to_frame()
        frame = pl.concat([frame, named], how="diagonal")
    if weights is not None:
        known = pl.DataFrame([texts("query", pool.queries), pl.Series("weight", weights.values)])
        frame = frame.join(known, on="query", how="left")
    return frame


def as_frame(frame: pl.DataFrame, spark: Any) -> Any:
    """A table of polars as a frame of Spark."""
    with failures():
        if int(spark.version.partition(".")[0]) >= 4:
            import pyarrow as pa

            table = frame.to_arrow()
            plain = pa.schema([(each.name, _plain(each.type)) for each in table.schema])
            return spark.createDataFrame(table.cast(plain))
        types = {"grade": "double", "score": "double", "weight": "double"}
        schema = ", ".join(f"{name} {types.get(name, 'string')}" for name in frame.columns)
        return spark.createDataFrame(frame.rows(), schema)


def _plain(type_: Any) -> Any:
    """A type of Arrow that Spark knows."""
    import pyarrow as pa

    large = pa.types.is_large_string(type_) or str(type_) == "string_view"
    return pa.string() if large else type_
