"""Tables from Python: typed columns, in which a type can be wrong or a value missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from judged.errors import InputError
from judged.inputs.columns import NamedColumns, TableColumns, choose_columns, joined_columns
from judged.inputs.objects import from_arrow
from judged.inputs.order import MOST_SAMPLED
from judged.inputs.polars_errors import POLARS_ERRORS, refusing
from judged.inputs.tables import (
    JUDGEMENTS,
    RUN,
    SUBTOPIC_COLUMNS,
    Judgements,
    Kind,
    RawTable,
    Run,
    as_score,
    to_judgements,
    to_run,
)
from judged.text import quote


def run_from_frame(
    frame: Any,
    *,
    name: str = "run",
    source: str = "a data frame",
    columns: NamedColumns | None = None,
) -> Run:
    if name != "run":
        source = f"{source.removeprefix('a ')} {name!r}"
    return to_run(_read(frame, RUN, source, columns), source, name)


def judgements_from_frame(
    frame: Any, *, source: str = "a data frame", columns: NamedColumns | None = None
) -> Judgements:
    return to_judgements(_read(frame, JUDGEMENTS, source, columns), source)


def _read(frame: Any, kind: Kind, source: str, named: NamedColumns | None) -> RawTable:
    with refusing(f"{source}: cannot be read"):  # a lazy frame may fail at anything
        if type(frame).__module__.partition(".")[0] == "pandas":
            header = [str(name) for name in getattr(frame, "columns", ())]
            columns = choose_columns(header, kind, source, named)
            if columns.rank is not None:
                columns = columns.with_ranks(frame.iloc[:MOST_SAMPLED].itertuples(index=False))
            return tidy(_from_pandas(frame, header, columns, source), kind, source, columns, header)
        lazy = _as_polars(frame, source)
        header = lazy.collect_schema().names()
        columns = choose_columns(header, kind, source, named)
        return tidy(lazy, kind, source, with_checked_ranks(lazy, columns, header), header)


def with_checked_ranks(
    frame: pl.LazyFrame, columns: TableColumns, header: Sequence[str]
) -> TableColumns:
    if columns.rank is None:
        return columns
    assert columns.value is not None
    positions = (*columns.query, columns.rank, columns.value)
    sample = frame.select(header[at] for at in dict.fromkeys(positions)).head(MOST_SAMPLED)
    rows = sample.collect(engine="streaming").rows(named=True)
    return columns.with_ranks([row.get(name) for name in header] for row in rows)


def tidy(
    frame: pl.LazyFrame, kind: Kind, source: str, columns: TableColumns, header: Sequence[str]
) -> RawTable:
    select, notes = typed(frame.collect_schema(), kind, source, columns, header)
    table = frame.select(select).collect(engine="streaming")
    return RawTable(complete(table, kind, source), notes, may_be_run=columns.may_be_run)


def typed(
    schema: pl.Schema, kind: Kind, source: str, columns: TableColumns, header: Sequence[str]
) -> tuple[list[pl.Expr], tuple[str, ...]]:
    notes: list[str] = []
    texts = {
        role: joined_columns(
            [
                _subtopic(header[at], schema[header[at]], source)
                if role in SUBTOPIC_COLUMNS
                else id_texts(header[at], schema[header[at]], source, notes)
                for at in positions
            ]
        )
        for role, positions in columns.ids.items()
    }
    value: pl.Expr = pl.when(texts["item"].is_not_null()).then(1.0)
    if columns.value is not None:
        name = header[columns.value]
        booleans = kind is JUDGEMENTS
        number = _number(name, schema[name], kind.value, source, booleans=booleans)
        value = as_score(number, columns.is_rank)
    if columns.weight is not None:
        name = header[columns.weight]
        texts["weight"] = _number(name, schema[name], "weight", source).fill_nan(None)
    query, item = texts.pop("query"), texts.pop("item")
    others = (column.alias(role) for role, column in texts.items())
    select = [query.alias("query"), item.alias("item"), value.alias(kind.value), *others]
    return select, (*dict.fromkeys(notes), *columns.notes)


def _words(dtype: pl.DataType) -> str:
    return "of several types" if dtype == pl.Object else str(dtype)


def id_texts(name: str, dtype: pl.DataType, source: str, notes: list[str]) -> pl.Expr:
    """Return the ids in a column as texts; other types than texts and integers are an error."""
    column = pl.col(name)
    # A column of nulls fails later, with its row.
    if dtype in (pl.String, pl.Null) or isinstance(dtype, pl.Categorical | pl.Enum):
        return column.cast(pl.String)
    if dtype.is_integer():
        notes.append(f"The integer ids of column {quote(name)} were turned into strings.")
        return column.cast(pl.String)
    hint = (
        " Floats come from missing values in pandas, or from ids read as numbers."
        if dtype.is_float()
        else " Give a row for each item, or a dict {query: [items]}."
        if isinstance(dtype, pl.List | pl.Array)
        else ""
    )
    raise InputError(
        f"{source}: column {quote(name)} is {_words(dtype)}, but ids must be strings or integers."
        f"{hint}"
    )


def _number(
    name: str, dtype: pl.DataType, role: str, source: str, *, booleans: bool = False
) -> pl.Expr:
    if dtype.is_numeric() or dtype == pl.Null or (dtype == pl.Boolean and booleans):
        return pl.col(name).cast(pl.Float64)
    raise InputError(
        f"{source}: column {quote(name)} is {_words(dtype)}, but a {role} must be a number."
    )


def _subtopic(name: str, dtype: pl.DataType, source: str) -> pl.Expr:
    """Return subtopics as texts; they may be numbers of any kind."""
    texts = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null)
    if not (dtype.is_numeric() or isinstance(dtype, texts)):
        raise InputError(
            f"{source}: column {quote(name)} is {_words(dtype)}, but subtopics must be texts or "
            "numbers."
        )
    return (pl.col(name).fill_nan(None) if dtype.is_float() else pl.col(name)).cast(pl.String)


def complete(table: pl.DataFrame, kind: Kind, source: str, first: int = 1) -> pl.DataFrame:
    """Return the table; a missing value is an error that names its row, from `first` on."""
    extra = [name for name in ("document", "weight") if name in table.columns]
    for name in ("query", "item", kind.value, *extra):
        column = table[name]
        missing = column.is_null()
        if column.dtype == pl.String:
            missing |= column == ""
        if name == "item" and missing.any():
            # pandas has NaN for a missing number.
            value = pl.when(missing).then(pl.col(kind.value).fill_nan(None))
            table = table.with_columns(value.otherwise(pl.col(kind.value)).alias(kind.value))
        if name not in ("query", "weight"):
            missing &= ~(table["item"].is_null() & table[kind.value].is_null())
        if missing.any() and name != JUDGEMENTS.value:
            row = missing.arg_true()[0] + first
            raise InputError(f"{source}, row {row}: the {name} is missing.")
    return table


def _as_polars(frame: Any, source: str) -> pl.LazyFrame:
    if isinstance(frame, pl.LazyFrame):
        return frame
    if isinstance(frame, pl.DataFrame):
        return frame.lazy()
    if not hasattr(frame, "__arrow_c_stream__"):
        wanted = "a polars, pandas or pyarrow table, or have the Arrow interface"
        raise InputError(f"{source} should be {wanted}; got {type(frame).__name__}.")
    return from_arrow(frame, source).lazy()


def _from_pandas(
    frame: Any, header: Sequence[str], columns: TableColumns, source: str
) -> pl.LazyFrame:
    """Convert column by column: it needs no pyarrow, and NaN does not become null."""
    if not len(frame):  # the columns of an empty frame have types that mean nothing
        raise InputError(f"{source}: holds no rows.")
    series = []
    for position in columns.needed:
        column = frame.iloc[:, position]
        missing = column.isna()
        # numpy would turn integers with missing values into floats.
        as_objects = missing.any() and column.dtype.kind in "iu"
        values = column.to_numpy(**({"dtype": object} if as_objects else {}))
        if values.dtype == object:
            values = [None if none else value for value, none in zip(values, missing, strict=True)]
        try:
            series.append(pl.Series(header[position], values, strict=True))
        except (TypeError, ValueError, OverflowError, *POLARS_ERRORS):
            name = quote(header[position])
            raise InputError(
                f"{source}: column {name} mixes types, or has values that no column can hold; make "
                "ids strings and scores numbers."
            ) from None
    return pl.DataFrame(series).lazy()
