"""Tables from Python and from Parquet: typed columns, so what can be wrong is a type or a missing
value."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from judged.errors import InputError
from judged.inputs.columns import Columns, choose_columns, joined_columns
from judged.inputs.objects import from_arrow
from judged.inputs.order import MOST_SAMPLED
from judged.inputs.polars_errors import POLARS_ERRORS, reading_parquet, refusing
from judged.inputs.readings import SUBTOPIC_COLUMNS, Reading, as_score, to_judgements, to_run
from judged.inputs.source import Source
from judged.inputs.tables import JUDGEMENTS, RUN, Judgements, Kind, Run
from judged.text import quote

Named = Mapping[str, tuple[str, ...]]


def run_from_frame(
    frame: Any, *, name: str = "run", source: str = "a data frame", columns: Named | None = None
) -> Run:
    """A run from a polars, pandas or pyarrow table, or anything else that speaks Arrow; one of
    several is called by its name in messages."""
    if name != "run":
        source = f"{source.removeprefix('a ')} {name!r}"
    return to_run(_reading(frame, RUN, source, columns or {}), source, name)


def judgements_from_frame(
    frame: Any, *, source: str = "a data frame", columns: Named | None = None
) -> Judgements:
    """Judgements from a polars, pandas or pyarrow table, or anything else that speaks Arrow."""
    return to_judgements(_reading(frame, JUDGEMENTS, source, columns or {}), source)


def read_parquet(source: Source) -> Reading:
    """A run or judgements from a Parquet file."""
    where = source.path if source.data is None else io.BytesIO(source.data)
    with reading_parquet(source.label):
        frame = pl.scan_parquet(where, glob=False)
        return _chosen(frame, source.kind, source.label, source.columns)


def _reading(frame: Any, kind: Kind, source: str, named: Named) -> Reading:
    with refusing(f"{source}: cannot be read"):  # a lazy frame may fail at anything
        if type(frame).__module__.partition(".")[0] == "pandas":
            header = [str(name) for name in getattr(frame, "columns", ())]
            columns = choose_columns(header, kind, source, named)
            if columns.rank is not None:
                columns = columns.with_ranks(frame.iloc[:MOST_SAMPLED].itertuples(index=False))
            return tidy(_from_pandas(frame, header, columns, source), kind, source, columns, header)
        return _chosen(_as_polars(frame, source), kind, source, named)


def _chosen(frame: pl.LazyFrame, kind: Kind, source: str, named: Named) -> Reading:
    header = frame.collect_schema().names()
    columns = choose_columns(header, kind, source, named)
    return tidy(frame, kind, source, checked_ranks(frame, columns, header), header)


def checked_ranks(frame: pl.LazyFrame, columns: Columns, header: Sequence[str]) -> Columns:
    """Return the columns, with a warning where ranks and scores contradict each other."""
    if columns.rank is None:
        return columns
    assert columns.value is not None
    positions = (*columns.query, columns.rank, columns.value)
    sample = frame.select(header[at] for at in dict.fromkeys(positions)).head(MOST_SAMPLED)
    rows = sample.collect(engine="streaming").rows(named=True)
    return columns.with_ranks([row.get(name) for name in header] for row in rows)


def tidy(
    frame: pl.LazyFrame, kind: Kind, source: str, columns: Columns, header: Sequence[str]
) -> Reading:
    """The columns with the right names and types, query, item and value never missing; other
    columns are not read."""
    chosen, notes = typed(frame.collect_schema(), kind, source, columns, header)
    table = frame.select(chosen).collect(engine="streaming")
    return Reading(complete(table, kind, source), notes, may_be_run=columns.may_be_run)


def typed(
    schema: pl.Schema, kind: Kind, source: str, columns: Columns, header: Sequence[str]
) -> tuple[list[pl.Expr], tuple[str, ...]]:
    """The columns with the right names and types, and what was assumed of them."""
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
        value = as_score(_value(name, schema[name], kind, source), columns.is_rank)
    if columns.weight is not None:
        name = header[columns.weight]
        texts["weight"] = _weight(name, schema[name], source)
    query, item = texts.pop("query"), texts.pop("item")
    others = (column.alias(role) for role, column in texts.items())
    chosen = [query.alias("query"), item.alias("item"), value.alias(kind.value), *others]
    return chosen, (*dict.fromkeys(notes), *columns.notes)


def _words(dtype: pl.DataType) -> str:
    """Name the type of a column for a message."""
    return "of several types" if dtype == pl.Object else str(dtype)


def id_texts(name: str, dtype: pl.DataType, source: str, notes: list[str]) -> pl.Expr:
    """The ids in a column, as texts; other types are refused."""
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
        else " Give a row for each item, or a dict {query: [items]}."
        if isinstance(dtype, pl.List | pl.Array)
        else ""
    )
    raise InputError(
        f"{source}: column {quote(name)} is {_words(dtype)}, but ids must be strings or integers."
        f"{hint}"
    )


def _value(name: str, dtype: pl.DataType, kind: Kind, source: str) -> pl.Expr:
    if dtype.is_numeric() or dtype == pl.Null or (dtype == pl.Boolean and kind is JUDGEMENTS):
        return pl.col(name).cast(pl.Float64)
    raise InputError(
        f"{source}: column {quote(name)} is {_words(dtype)}, but a {kind.value} must be a number."
    )


def _weight(name: str, dtype: pl.DataType, source: str) -> pl.Expr:
    if dtype.is_numeric() or dtype == pl.Null:
        return pl.col(name).cast(pl.Float64).fill_nan(None)
    raise InputError(
        f"{source}: column {quote(name)} is {_words(dtype)}, but a weight must be a number."
    )


def _subtopic(name: str, dtype: pl.DataType, source: str) -> pl.Expr:
    """Compared with nothing but each other, subtopics may be numbers of any kind."""
    texts = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null)
    if not (dtype.is_numeric() or isinstance(dtype, texts)):
        raise InputError(
            f"{source}: column {quote(name)} is {_words(dtype)}, but subtopics must be texts or "
            "numbers."
        )
    return (pl.col(name).fill_nan(None) if dtype.is_float() else pl.col(name)).cast(pl.String)


def complete(table: pl.DataFrame, kind: Kind, source: str, first: int = 1) -> pl.DataFrame:
    """The table, once it is sure that nothing is missing, but for rows that only name a query, and
    the grades of what nobody judged yet; its first row has the number `first`."""
    extra = [name for name in ("document", "weight") if name in table.columns]
    for name in ("query", "item", kind.value, *extra):
        column = table[name]
        missing = column.is_null()
        if column.dtype == pl.String:
            missing |= column == ""
        if name == "item" and missing.any():
            # Where nothing else is known, pandas has NaN for a number.
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


def _from_pandas(frame: Any, header: Sequence[str], columns: Columns, source: str) -> pl.LazyFrame:
    """Column by column: it needs no pyarrow, and a NaN stays NaN where pandas' own Arrow interface
    makes it null."""
    if not len(frame):  # the columns of an empty frame have types that mean nothing
        raise InputError(f"{source}: holds no rows.")
    series = []
    for position in columns.needed:
        column = frame.iloc[:, position]
        missing = column.isna()
        lost = (
            missing.any() and column.dtype.kind in "iu"
        )  # numpy would make ids of them that are NaN
        values = column.to_numpy(**({"dtype": object} if lost else {}))
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
