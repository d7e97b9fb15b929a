"""Frames of Spark as tables of a run or of judgements, and small tables sent to Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import starts_of
from judged.engines.spark.session import spark_errors
from judged.inputs.columns import JOINER, TableColumns, choose_columns
from judged.inputs.tables import JUDGEMENTS, Kind, texts

if TYPE_CHECKING:
    import polars as pl

    from judged.inputs.columns import NamedColumns
    from judged.matching.pool import Pool
    from judged.rankings.rankings import Weights


@dataclass(frozen=True, eq=False)
class SparkTable:
    frame: Any
    """Columns query and item (texts), and score or grade (a number, or the text of one); subtopic
    or iteration, document and weight, if there are any. Or query and line, a line of TREC text."""
    kind: Kind
    source: str  # the name in messages
    name: str = "run"
    notes: tuple[str, ...] = ()  # assumptions about its columns
    is_rank: bool = False  # whether the score is a rank, of which the smallest is best


def as_table(
    frame: Any,
    kind: Kind,
    named: NamedColumns,
    *,
    name: str = "run",
    source: str | None = None,
    all_texts: bool = False,
) -> SparkTable:
    """Choose the columns of a frame; wrong columns and types are errors as in every table.

    With `all_texts` the columns with numbers are texts too.
    """
    source = source or ("a Spark frame" if name == "run" else f"Spark frame {name!r}")
    header = list(frame.columns)
    columns = choose_columns(header, kind, source, named)
    notes = columns.notes
    if not all_texts:  # an empty table with the same types shows what is assumed
        import polars as pl

        from judged.inputs.frames import tidy

        fields = frame.schema.fields
        types = {field.name: _polars_type(field.dataType) for field in fields}
        notes = tidy(pl.LazyFrame(schema=types), kind, source, columns, header).notes
    selected = _select(frame, kind, columns)
    return SparkTable(selected, kind, source, name, notes, is_rank=columns.is_rank)


def _polars_type(kind: Any) -> pl.DataType:
    import polars as pl
    import pyarrow as pa
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_type

    try:
        return pl.Series(pl.from_arrow(pa.array([], to_arrow_type(kind)))).dtype
    except PySparkException:  # a type that Arrow lacks
        return pl.Struct([])


def _select(frame: Any, kind: Kind, columns: TableColumns) -> Any:
    """Select the needed columns under the names of their roles."""
    from pyspark.sql import functions as F  # noqa: N812

    fields = frame.schema.fields

    def column(position: int) -> Any:
        return F.col("`{}`".format(fields[position].name.replace("`", "``")))

    def text(position: int) -> Any:
        # Bytes have no collation, which would merge ids that differ.
        collated = "collate" in fields[position].dataType.simpleString()
        value = column(position)
        return value.cast("binary").cast("string") if collated else value.cast("string")

    selected = {
        role: _join_ids([text(position) for position in positions])
        for role, positions in columns.ids.items()
    }
    selected[kind.value] = (
        F.when(selected["item"].isNotNull(), F.lit(1.0))
        if columns.value is None
        else column(columns.value)
    )
    if columns.weight is not None:
        selected["weight"] = column(columns.weight)
    return frame.select(*(value.alias(role) for role, value in selected.items()))


def _join_ids(parts: Sequence[Any]) -> Any:
    """Join several texts to one id, as `inputs.columns.joined_columns` does."""
    from pyspark.sql import functions as F  # noqa: N812

    if len(parts) == 1:
        return parts[0]
    escaped = (
        F.regexp_replace(F.regexp_replace(part, r"\\", r"\\\\"), JOINER, rf"\\{JOINER}")
        for part in parts
    )
    all_null = reduce(and_, (part.isNull() for part in parts))
    any_missing = reduce(or_, (part.isNull() | (part == "") for part in parts))
    joined = F.when(any_missing, F.lit("")).otherwise(F.concat_ws(JOINER, *escaped))
    return F.when(all_null, F.lit(None).cast("string")).otherwise(joined)


def collect(frame: Any) -> pl.DataFrame:
    import polars as pl

    with spark_errors():
        if hasattr(frame, "toArrow"):
            return pl.DataFrame(pl.from_arrow(frame.toArrow()))
        rows: list[Any] = frame.collect()
    columns = {name: [row[position] for row in rows] for position, name in enumerate(frame.columns)}
    return pl.DataFrame(columns, strict=False)


def some_queries(frame: Any) -> list[str]:
    """Return the first 1,000 queries of a frame in order, for messages."""
    with spark_errors():
        named = frame.select("query").distinct().sort("query").limit(1000)
        return [row[0] for row in named.collect()]


def send_pool(pool: Pool, weights: Weights | None, spark: Any) -> SparkTable:
    return SparkTable(send(pool_rows(pool, weights), spark), JUDGEMENTS, pool.name)


def pool_rows(pool: Pool, weights: Weights | None) -> pl.DataFrame:
    """Return judgements as rows; a query without any has a row that only names it."""
    import polars as pl

    frame = pool.frame.with_columns(grade=pool.grades)
    if pool.subtopics is not None:
        pairs = pool.subtopics
        row = starts_of(pool.lengths)[pairs.query] + pairs.item
        # Zeros in front keep the numbers of subtopics in order when they are texts.
        width = len(str(int(pairs.subtopic.max(initial=0))))
        subtopic = pl.Series("subtopic", pairs.subtopic).cast(pl.String).str.zfill(width)
        frame = frame[row].with_columns(subtopic, grade=pairs.grade)
    empty = np.flatnonzero(pool.lengths == 0)
    if len(empty):
        named = texts("query", (pool.queries[number] for number in empty.tolist())).to_frame()
        frame = pl.concat([frame, named], how="diagonal")
    if weights is not None:
        known = pl.DataFrame([texts("query", pool.queries), pl.Series("weight", weights.values)])
        frame = frame.join(known, on="query", how="left")
    return frame


def send(frame: pl.DataFrame, spark: Any) -> Any:
    with spark_errors():
        if int(spark.version.partition(".")[0]) < 4:
            types = {"grade": "double", "score": "double", "weight": "double"}
            schema = ", ".join(f"{name} {types.get(name, 'string')}" for name in frame.columns)
            return spark.createDataFrame(frame.rows(), schema)
        import pyarrow as pa

        table = frame.to_arrow()
        # Spark does not know the string types that polars uses.
        large = {pa.large_string(), pa.string_view()}
        fields = [
            (field.name, pa.string() if field.type in large else field.type)
            for field in table.schema
        ]
        return spark.createDataFrame(table.cast(pa.schema(fields)))
