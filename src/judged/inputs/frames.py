"""Tables with typed columns: data frames, Parquet files and folders of them.

A type can be wrong or a value missing. Large tables are read in batches.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from judged.errors import InputError
from judged.inputs.columns import NamedColumns, TableColumns, choose_columns
from judged.inputs.formats import printable
from judged.inputs.objects import Records, column_of, from_arrow, pandas_column
from judged.inputs.order import MOST_SAMPLED, against_ranks
from judged.inputs.polars_errors import reading_parquet, refusing
from judged.inputs.source import Source, unreadable
from judged.inputs.tables import (
    JUDGEMENTS,
    RUN,
    SUBTOPIC_COLUMNS,
    Judgements,
    Kind,
    Piece,
    Run,
    check_table,
    texts,
    unchecked_table,
)
from judged.text import quote

_ROWS_PER_BATCH = 1 << 18
_RANK = "rank beside the score"


def table_from_frame(
    frame: Any,
    kind: Kind,
    *,
    name: str = "run",
    source: str = "a data frame",
    columns: NamedColumns | None = None,
) -> Judgements | Run:
    if isinstance(frame, Records):
        frame, source = frame.frame(), frame.label
    if kind is RUN and name != "run":
        source = f"{source.removeprefix('a ')} {name!r}"
    table = check_table(_read(frame, kind, source, columns))
    return replace(table, name=name) if isinstance(table, Run) else table


def _read(frame: Any, kind: Kind, source: str, named: Mapping[str, tuple[str, ...]] | None) -> Any:
    with refusing(f"{source}: cannot be read"):  # a lazy frame may fail at anything
        is_pandas = type(frame).__module__.partition(".")[0] == "pandas"
        if is_pandas:
            header = [str(name) for name in getattr(frame, "columns", ())]
        else:
            frame = _as_polars(frame, source)
            header = frame.collect_schema().names()
        columns = choose_columns(header, kind, source, named)
        if is_pandas:
            frame = _from_pandas(frame, header, columns, source)
        return tidy(frame, kind, source, with_checked_ranks(frame, columns, header), header)


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
) -> Any:
    select, notes = typed(frame.collect_schema(), kind, source, columns, header)
    table = frame.select(select).collect(engine="streaming")
    table = complete(table, kind, source)
    return unchecked_table(kind, table, source, notes, may_be_run=columns.may_be_run)


def typed(
    schema: pl.Schema, kind: Kind, source: str, columns: TableColumns, header: Sequence[str]
) -> tuple[list[pl.Expr], tuple[str, ...]]:
    notes: list[str] = []

    def text(role: str, at: int) -> pl.Expr:
        if role in SUBTOPIC_COLUMNS:
            return _subtopic(header[at], schema[header[at]], source)
        return id_texts(header[at], schema[header[at]], source, notes)

    def number(role: str, at: int) -> pl.Expr:
        booleans = role == JUDGEMENTS.value
        column = _number(header[at], schema[header[at]], role, source, booleans=booleans)
        return column.fill_nan(None) if role == "weight" else column

    select = columns.select(kind.value, text, number)
    return select, (*dict.fromkeys(notes), *columns.notes)


def id_texts(name: str, dtype: pl.DataType, source: str, notes: list[str]) -> pl.Expr:
    """Return the ids in a column as texts; other types than texts and integers are an error."""
    column = pl.col(name)
    # a column of nulls fails later, with its row.
    if dtype in (pl.String, pl.Null) or isinstance(dtype, pl.Categorical | pl.Enum):
        return column.cast(pl.String)
    if dtype.is_integer():
        notes.append(f"The integer ids of column {quote(name)} were turned into strings.")
        return column.cast(pl.String)
    hint = ""
    if dtype.is_float():
        hint = " Floats come from missing values in pandas, or from ids read as numbers."
    elif isinstance(dtype, pl.List | pl.Array):
        hint = " Give a row for each item, or a dict {query: [items]}."
    raise _wrong_type(name, dtype, source, f"ids must be strings or integers.{hint}")


def _wrong_type(name: str, dtype: pl.DataType, source: str, needed: str) -> InputError:
    words = "of several types" if dtype == pl.Object else str(dtype)
    return InputError(f"{source}: column {quote(name)} is {words}, but {needed}")


def _number(
    name: str, dtype: pl.DataType, role: str, source: str, *, booleans: bool = False
) -> pl.Expr:
    if dtype.is_numeric() or dtype == pl.Null or (dtype == pl.Boolean and booleans):
        return pl.col(name).cast(pl.Float64)
    raise _wrong_type(name, dtype, source, f"a {role} must be a number.")


def _subtopic(name: str, dtype: pl.DataType, source: str) -> pl.Expr:
    """Return subtopics as texts; they may be numbers of any kind."""
    texts = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null)
    if not (dtype.is_numeric() or isinstance(dtype, texts)):
        raise _wrong_type(name, dtype, source, "subtopics must be texts or numbers.")
    return (pl.col(name).fill_nan(None) if dtype.is_float() else pl.col(name)).cast(pl.String)


def complete(
    table: pl.DataFrame, kind: Kind, source: str | Callable[[int], str], first: int = 1
) -> pl.DataFrame:
    """Return the table; a missing value is an error that names its row.

    The rows of a table called `source` have numbers from `first` on; a function names others.
    """
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
            row = missing.arg_true()[0]
            place = source(row) if callable(source) else f"{source}, row {row + first}"
            raise InputError(f"{place}: the {name} is missing.")
    return table


NamedRow = tuple[str, Mapping[str, Any]]  # the place of a row, and its values by name


def frame_of_rows(
    rows: Sequence[NamedRow], source: Source, columns: TableColumns, header: Sequence[str]
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return a tidy table of rows that are dicts, and notes; a wrong value names its row."""
    numbers = {source.kind.value: columns.value, "weight": columns.weight}
    roles = {at: role for role, positions in columns.ids.items() for at in positions}
    roles |= {at: role for role, at in numbers.items() if at is not None}

    def place(row: int) -> str:
        return f"{source.label}, {rows[row][0]}"

    series = []
    for at, role in roles.items():
        values = [row.get(header[at]) for _, row in rows]
        values = [None if value == "" else value for value in values]
        allowed = {int, float} if role in numbers else {str, int}
        allowed |= {float, type(None)} if role in SUBTOPIC_COLUMNS else {type(None)}
        if wrong := set(map(type, values)) - allowed:
            row = next(row for row, value in enumerate(values) if type(value) in wrong)
            word = "rank" if columns.is_rank and role == source.kind.value else role
            raise wrong_value(values[row], word, place(row), is_number=role in numbers)
        is_text = role not in numbers and all(type(value) is str for value in values)
        series.append((texts if is_text else column_of)(header[at], values))
    frame = pl.DataFrame(series)
    select, notes = typed(frame.schema, source.kind, source.label, columns, header)
    return complete(frame.select(select), source.kind, place), notes


def wrong_value(value: object, role: str, place: str, *, is_number: bool) -> InputError:
    shown = quote(json.dumps(value), 30)
    if is_number:
        return InputError(f"{place}: the {role} is not a number: {shown}.")
    return InputError(f"{place}: the {role} is {shown}, but ids must be strings or integers.")


def _as_polars(frame: Any, source: str) -> pl.LazyFrame:
    if isinstance(frame, pl.LazyFrame):
        return frame
    if isinstance(frame, pl.DataFrame):
        return frame.lazy()
    if not hasattr(frame, "__arrow_c_stream__"):
        raise InputError(
            f"{source} should be a polars, pandas or pyarrow table, or have the Arrow interface; "
            f"got {type(frame).__name__}."
        )
    return from_arrow(frame, source).lazy()


def _from_pandas(
    frame: Any, header: Sequence[str], columns: TableColumns, source: str
) -> pl.LazyFrame:
    """Convert column by column: it needs no pyarrow, and NaN does not become null."""
    if not len(frame):  # the columns of an empty frame have types that mean nothing
        raise InputError(f"{source}: holds no rows.")
    series = []
    rank = [] if columns.rank is None else [columns.rank]
    for position in dict.fromkeys([*columns.needed, *rank]):
        column = pandas_column(header[position], frame.iloc[:, position])
        if column.dtype == pl.Object and position in columns.needed:
            raise InputError(
                f"{source}: column {quote(column.name)} mixes types, or has values that no column "
                "can hold; make ids strings and scores numbers."
            )
        series.append(column)
    return pl.DataFrame(series).lazy()


# Parquet


def read_parquet(source: Source, format: str = "parquet") -> Any:
    with reading_parquet(source.label):
        return _read(scan_source(source), source.kind, source.label, source.columns)


def scan_source(source: Source) -> pl.LazyFrame:
    place = source.path if source.data is None else io.BytesIO(source.data)
    return pl.scan_parquet(place, glob=False)


def parquet_files(folder: Path, label: str) -> list[Path]:
    """List the Parquet files of a folder."""
    try:
        paths = sorted(path for path in folder.iterdir() if not _is_ignored(path.name))
    except OSError as error:
        raise unreadable(label, error) from None
    other = [path.name for path in paths if path.suffix.lower() not in (".parquet", ".pq")]
    if other or not paths:
        why = f"it holds {printable(other[0])}" if other else "no such file is in it"
        raise InputError(
            f"{label}: is a folder, and only a folder of Parquet files is read, as one run; {why}. "
            f"Of several runs name the files: {label.rstrip('/')}/*."
        )
    return paths


def _is_ignored(name: str) -> bool:
    """Return whether a file is hidden or a marker; a log of changes is not ignored."""
    return name.startswith((".", "_")) and name not in ("_delta_log", ".hoodie")


@dataclass(frozen=True, eq=False)
class LazyRun:
    """A lazy table of which the columns of a run are chosen."""

    frame: pl.LazyFrame
    label: str
    select: list[pl.Expr]
    notes: tuple[str, ...]
    size: int | None  # in bytes, if these are files

    @classmethod
    def of(
        cls, frame: pl.LazyFrame, label: str, named: NamedColumns, size: int | None = None
    ) -> LazyRun:
        with refusing(f"{label}: cannot be read"):
            schema = frame.collect_schema()
            header = schema.names()
            columns = choose_columns(header, RUN, label, named)
            select, notes = typed(schema, RUN, label, columns, header)
            if columns.rank is not None and schema.dtypes()[columns.rank].is_numeric():
                select.append(pl.col(header[columns.rank]).alias(_RANK))
            return cls(frame, label, select, notes, size)

    def pieces(self, tell: Callable[[int], None]) -> Iterator[Piece]:
        """Read the rows in batches; report to `tell` how many bytes were read."""
        first, notes = 1, tuple[str, ...]()
        with refusing(f"{self.label}: cannot be read"):
            rows = 0
            if self.size is not None:
                rows = int(self.frame.select(pl.len()).collect().item())
            batches = self.frame.select(self.select).collect_batches(
                chunk_size=_ROWS_PER_BATCH, maintain_order=True
            )
            for batch in batches:
                if _RANK in batch.columns:
                    if first == 1:
                        sample = batch.select("query", _RANK, "score").head(MOST_SAMPLED)
                        notes = against_ranks(sample.iter_rows())
                    batch = batch.drop(_RANK)
                yield Piece(complete(batch, RUN, self.label, first), first, notes=notes)
                first, notes = first + batch.height, ()
                if self.size is not None:
                    tell(self.size * (first - 1) // rows)
