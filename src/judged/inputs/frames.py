"""Tables from Python and from Parquet: typed columns, so what can be wrong is a type or a missing
value."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import polars as pl

from judged.checks import refuse_lost_polars
from judged.errors import InputError
from judged.inputs.columns import choose_columns
from judged.inputs.source import POLARS_ERRORS, Source
from judged.inputs.tables import (
    JUDGEMENTS,
    RUN,
    Judgements,
    Kind,
    Reading,
    Run,
    as_score,
    to_judgements,
    to_run,
)
from judged.text import quote

Named = Mapping[str, tuple[str, ...]]


def run_from_frame(
    frame: Any, *, name: str = "run", source: str = "a data frame", columns: Named | None = None
) -> Run:
    """A run from a polars, pandas or pyarrow table, or anything else that speaks Arrow."""
    return to_run(_reading(frame, RUN, source, columns or {}), source, name)


def judgements_from_frame(
    frame: Any, *, source: str = "a data frame", columns: Named | None = None
) -> Judgements:
    """Judgements from a polars, pandas or pyarrow table, or anything else that speaks Arrow."""
    return to_judgements(_reading(frame, JUDGEMENTS, source, columns or {}), source)


def read_parquet(source: Source) -> Reading:
    """A run or judgements from a Parquet file."""
    where = source.path if source.data is None else io.BytesIO(source.data)
    try:
        return _tidy(pl.scan_parquet(where, glob=False), source.kind, source.label, source.columns)
    except POLARS_ERRORS as error:
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"{source.label}: not a Parquet file that can be read ({reason})."
        ) from None


def _reading(frame: Any, kind: Kind, source: str, named: Named) -> Reading:
    refuse_lost_polars()
    try:
        return _tidy(_as_polars(frame, kind, source, named), kind, source, named)
    except POLARS_ERRORS as error:  # a lazy frame may fail at anything
        reason = str(error).partition("\n")[0]
        raise InputError(f"{source}: cannot be read ({reason}).") from None


def _tidy(frame: pl.LazyFrame, kind: Kind, source: str, named: Named) -> Reading:
    """The columns with the right names and types, query, item and value never missing; other
    columns are not read."""
    schema = frame.collect_schema()
    header = schema.names()
    columns = choose_columns(header, kind, source, named)
    notes: list[str] = []
    query, item = (
        _ids(header[position], schema[header[position]], source, notes)
        for position in (columns.query, columns.item)
    )
    name = header[columns.value]
    value = as_score(_value(name, schema[name], kind, source), columns.is_rank)
    wanted = [query.alias("query"), item.alias("item"), value.alias(kind.value)]
    if columns.subtopic is not None:
        name = header[columns.subtopic]
        wanted.append(_subtopic(name, schema[name], source).alias(columns.subtopic_role))
    table = frame.select(wanted).collect(engine="streaming")
    return Reading(_complete(table, kind, source), (*notes, *columns.notes))


def _ids(name: str, dtype: pl.DataType, source: str, notes: list[str]) -> pl.Expr:
    column = pl.col(name)
    if dtype == pl.String or dtype == pl.Null:  # a column of nulls fails later, with its row
        return column.cast(pl.String)
    if dtype.is_integer():
        notes.append(f"The integer ids of column {quote(name)} were turned into strings.")
        return column.cast(pl.String)
    if isinstance(dtype, pl.Categorical | pl.Enum):
        return column.cast(pl.String)
    hint = (
        " Floats come from missing values in pandas, or from ids read as numbers."
        if dtype.is_float()
        else ""
    )
    raise InputError(
        f"{source}: column {quote(name)} is {dtype}, but ids must be strings or integers.{hint}"
    )


def _value(name: str, dtype: pl.DataType, kind: Kind, source: str) -> pl.Expr:
    if dtype.is_numeric() or dtype == pl.Null or (dtype == pl.Boolean and kind is JUDGEMENTS):
        return pl.col(name).cast(pl.Float64)
    raise InputError(
        f"{source}: column {quote(name)} is {dtype}, but a {kind.value} must be a number."
    )


def _subtopic(name: str, dtype: pl.DataType, source: str) -> pl.Expr:
    """Compared with nothing but each other, subtopics may be numbers of any kind."""
    texts = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null)
    if not (dtype.is_numeric() or isinstance(dtype, texts)):
        raise InputError(
            f"{source}: column {quote(name)} is {dtype}, but subtopics must be texts or numbers."
        )
    return (pl.col(name).fill_nan(None) if dtype.is_float() else pl.col(name)).cast(pl.String)


def _complete(table: pl.DataFrame, kind: Kind, source: str) -> pl.DataFrame:
    """The table, once it is sure that nothing is missing, but for rows that only name a query."""
    for name in ("query", "item", kind.value):
        column = table[name]
        missing = column.is_null()
        if name != kind.value:
            missing |= column == ""
        if name == "item" and missing.any():
            # Where nothing else is known, pandas has NaN for a number.
            value = pl.when(missing).then(pl.col(kind.value).fill_nan(None))
            table = table.with_columns(value.otherwise(pl.col(kind.value)).alias(kind.value))
        if name != "query":
            missing &= ~(table["item"].is_null() & table[kind.value].is_null())
        if missing.any():
            raise InputError(f"{source}, row {missing.arg_true()[0] + 1}: the {name} is missing.")
    return table


def _as_polars(frame: Any, kind: Kind, source: str, named: Named) -> pl.LazyFrame:
    if isinstance(frame, pl.LazyFrame):
        return frame
    if isinstance(frame, pl.DataFrame):
        return frame.lazy()
    if type(frame).__module__.partition(".")[0] == "pandas":
        return _from_pandas(frame, kind, source, named)
    if not hasattr(frame, "__arrow_c_stream__"):
        wanted = "a polars, pandas or pyarrow table, or have the Arrow interface"
        raise InputError(f"{source} should be {wanted}; got {type(frame).__name__}.")
    return pl.DataFrame(frame).lazy()


def _from_pandas(frame: Any, kind: Kind, source: str, named: Named) -> pl.LazyFrame:
    """Column by column: it needs no pyarrow, and a NaN stays NaN where pandas' own Arrow interface
    makes it null."""
    header = [str(name) for name in getattr(frame, "columns", ())]
    columns = choose_columns(header, kind, source, named)
    if not len(frame):  # the columns of an empty frame have types that mean nothing
        raise InputError(f"{source}: holds no rows.")
    series = []
    needed = (columns.query, columns.item, columns.value)
    for position in dict.fromkeys(
        needed if columns.subtopic is None else (*needed, columns.subtopic)
    ):
        if header.count(header[position]) > 1:
            name = quote(header[position])
            raise InputError(f"{source}: there are two columns {name}; name each column once.")
        column = frame.iloc[:, position]
        values = column.to_numpy()
        if values.dtype == object:
            values = [
                None if missing else value
                for value, missing in zip(values, column.isna(), strict=True)
            ]
        try:
            series.append(pl.Series(header[position], values, strict=True))
        except (TypeError, ValueError, OverflowError, *POLARS_ERRORS):
            name = quote(header[position])
            raise InputError(
                f"{source}: column {name} mixes types, or has values that no column can hold; make "
                "ids strings and scores numbers."
            ) from None
    return pl.DataFrame(series).lazy()
