"""Judgements that live in Spark, brought here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judged.engines.spark.failures import failures
from judged.engines.spark.faults import fault_in, raised
from judged.engines.spark.partitions import SIDE
from judged.engines.spark.rows import Described
from judged.errors import InputError, JudgedError
from judged.text import counted

if TYPE_CHECKING:
    import polars as pl

    from judged.engines.spark.tables import SparkTable
    from judged.inputs.tables import Judgements


def judgements_here(table: SparkTable) -> Judgements:
    """All judgements of a table, queries and items by id; what is wrong is named by these."""
    import polars as pl

    rows = collected(table.frame).with_columns(pl.lit(1, pl.Int8).alias(SIDE))
    if not rows.height:
        raise InputError(f"{table.source}: holds no rows.")
    lost = rows.filter(pl.col("query").is_null() | (pl.col("query") == "")).height
    if lost:
        raise InputError(f"{table.source}: the query is missing in {counted(lost, 'row')}.")
    described = Described.of(table)
    own = rows
    try:
        own = described.rows(rows).sort("query", "item", "grade", descending=[False, False, True])
        return described.judgements(own)
    except JudgedError as error:
        raise raised([fault_in(error, [(described, own)])]) from None


def collected(frame: Any) -> pl.DataFrame:
    """The rows of a frame."""
    import polars as pl

    with failures():
        if hasattr(frame, "toArrow"):
            return pl.DataFrame(pl.from_arrow(frame.toArrow()))
        rows: list[Any] = frame.collect()
    return pl.DataFrame(
        {name: [row[at] for row in rows] for at, name in enumerate(frame.columns)}, strict=False
    )
