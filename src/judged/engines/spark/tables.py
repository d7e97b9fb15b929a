"""Frames of Spark as tidy rows: which column is which, ids as texts; values are turned into numbers
by the workers, as they are everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judged.inputs.columns import JOINER, Columns, choose_columns
from judged.inputs.tables import Kind

if TYPE_CHECKING:
    import polars as pl

    from judged.inputs.columns import NamedColumns


@dataclass(frozen=True, eq=False)
class SparkTable:
    """A run or judgements that live in Spark."""

    frame: Any
    """Columns query and item (texts), and score or grade (a number, or a text that is to be one);
    subtopic or iteration, document and weight, where they are there; line (text), where a line of
    a file is bad."""
    kind: Kind
    source: str
    """What messages call it."""
    name: str = "run"
    notes: tuple[str, ...] = ()
    """What was assumed of its columns."""
    is_rank: bool = False
    """Whether the score is a rank, of which the smallest is best."""

    @property
    def extra(self) -> tuple[str, ...]:
        """The columns beside query, item and value."""
        usual = ("query", "item", self.kind.value)
        return tuple(name for name in self.frame.columns if name not in usual)

    def numbers(self) -> Any:
        """The frame with numbers for values; a line that is none fails when it is read."""
        from pyspark.sql import functions as F  # noqa: N812

        value = F.col(self.kind.value)
        number = -value.cast("double") if self.is_rank else value.cast("double")
        if "line" in self.frame.columns:
            bad = F.concat(F.lit(f"{self.source}: not as all other lines: "), F.col("line"))
            number = F.when(F.col("line").isNull(), number).otherwise(F.raise_error(bad))
        return self.frame.withColumn(self.kind.value, number).drop("line")


def table_of(
    frame: Any,
    kind: Kind,
    named: NamedColumns,
    *,
    name: str = "run",
    source: str | None = None,
    texts: bool = False,
) -> SparkTable:
    """A frame of Spark as a table; wrong columns and types are refused as in every table. With
    `texts` all columns are texts, numbers too."""
    source = source or ("a Spark frame" if name == "run" else f"Spark frame {name!r}")
    header = list(frame.columns)
    columns = choose_columns(header, kind, source, named)
    notes = columns.notes if texts else _notes(frame, kind, source, columns, header)
    return SparkTable(
        _selected(frame, kind, columns), kind, source, name, notes, is_rank=columns.is_rank
    )


def _notes(
    frame: Any, kind: Kind, source: str, columns: Columns, header: Sequence[str]
) -> tuple[str, ...]:
    """What is assumed of a table with such columns; found out on an empty one."""
    import polars as pl

    from judged.inputs.frames import tidy

    types = {each.name: _polars_type(each.dataType.simpleString()) for each in frame.schema.fields}
    return tidy(pl.LazyFrame(schema=types), kind, source, columns, header).notes


def _polars_type(name: str) -> pl.DataType:
    """The type that a column of Spark has in polars."""
    import polars as pl

    if name.startswith(("string", "varchar", "char")):
        return pl.String()
    if name.startswith("decimal"):
        precision, scale = name[len("decimal(") : -1].split(",")
        return pl.Decimal(int(precision), int(scale))
    if name.startswith("array<"):
        return pl.List(_polars_type(name[len("array<") : -1]))
    known: Mapping[str, pl.DataType] = {
        "tinyint": pl.Int8(),
        "smallint": pl.Int16(),
        "int": pl.Int32(),
        "bigint": pl.Int64(),
        "float": pl.Float32(),
        "double": pl.Float64(),
        "boolean": pl.Boolean(),
        "date": pl.Date(),
        "timestamp": pl.Datetime(),
        "timestamp_ntz": pl.Datetime(),
        "binary": pl.Binary(),
        "void": pl.Null(),
    }
    return known.get(name, pl.Struct([]))


def _selected(frame: Any, kind: Kind, columns: Columns) -> Any:
    """The columns that are needed, by what they are."""
    from pyspark.sql import functions as F  # noqa: N812

    fields = frame.schema.fields

    def column(at: int) -> Any:
        return F.col("`{}`".format(fields[at].name.replace("`", "``")))

    def text(at: int) -> Any:
        """As texts that are compared byte by byte, whatever the collation of the column."""
        collated = "collate" in fields[at].dataType.simpleString()
        return column(at).cast("binary").cast("string") if collated else column(at).cast("string")

    found = {
        role: _joined([text(at) for at in positions]) for role, positions in columns.ids.items()
    }
    found[kind.value] = (
        F.when(found["item"].isNotNull(), F.lit(1.0))
        if columns.value is None
        else column(columns.value)
    )
    if columns.weight is not None:
        found["weight"] = column(columns.weight)
    return frame.select(*(each.alias(role) for role, each in found.items()))


def _joined(parts: Sequence[Any]) -> Any:
    """One id of several texts, as `inputs.columns.joined_columns` makes it."""
    from functools import reduce
    from operator import and_, or_

    from pyspark.sql import functions as F  # noqa: N812

    if len(parts) == 1:
        return parts[0]
    escaped = (
        F.regexp_replace(F.regexp_replace(part, r"\\", r"\\\\"), JOINER, rf"\\{JOINER}")
        for part in parts
    )
    none = reduce(and_, (part.isNull() for part in parts))
    lost = reduce(or_, (part.isNull() | (part == "") for part in parts))
    whole = F.when(lost, F.lit("")).otherwise(F.concat_ws(JOINER, *escaped))
    return F.when(none, F.lit(None).cast("string")).otherwise(whole)
