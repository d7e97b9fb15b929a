"""Which column of a table is what, in the engine's own types: ids as texts, scores as doubles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from judged.engines.tables.backends import Backend
from judged.errors import InputError
from judged.inputs.columns import JOINER, NamedColumns, choose_columns
from judged.inputs.order import MOST_SAMPLED
from judged.inputs.tables import RUN
from judged.text import quote

if TYPE_CHECKING:
    import narwhals as nw


def run_columns(
    backend: Backend, source: str, named: NamedColumns
) -> tuple[nw.LazyFrame[Any], bool, tuple[str, ...]]:
    """A run as `query`, `item` and `score`, whether the score is a rank with a minus, and notes."""
    import narwhals as nw

    schema = backend.schema
    header = schema.names()
    columns = choose_columns(header, RUN, source, named)
    notes: list[str] = []
    query, item = (
        _joined([_id_texts(backend, header[at], schema[header[at]], source, notes) for at in each])
        for each in (columns.query, columns.item)
    )
    if columns.value is None:  # a run always has one
        raise InputError(f"{source}: there is no score.")
    name = header[columns.value]
    if not schema[name].is_numeric():
        raise InputError(
            f"{source}: column {quote(name)} is {schema[name]}, but a score must be a number."
        )
    value = backend.number(name, source, RUN.value)
    if columns.rank is not None and schema[rank := header[columns.rank]].is_numeric():
        number = nw.col(rank).cast(nw.Float64)
        sample = backend.table.select(query=query, rank=number, score=value)
        notes += columns.notes_on_ranks(backend.fetched(sample.head(MOST_SAMPLED)).iter_rows())
    # Adding 0 makes a minus zero a zero: engines may take them for two.
    score = (0 - value if columns.is_rank else value) + 0.0
    rows = backend.table.select(query=query, item=item, score=score)
    rows = backend.exact(rows, "query", "item")
    return rows, columns.is_rank, (*dict.fromkeys(notes), *columns.notes)


def _id_texts(
    backend: Backend, name: str, dtype: nw.dtypes.DType, source: str, notes: list[str]
) -> nw.Expr:
    """The ids in a column, as texts; other types are refused as those of a frame are."""
    import narwhals as nw

    texts = nw.col(name).cast(nw.String)
    if isinstance(dtype, (nw.String, nw.Categorical, nw.Enum)):
        return texts
    if dtype.is_integer():
        notes.append(f"The integer ids of column {quote(name)} were turned into strings.")
        return texts
    kind = str(dtype)
    if isinstance(dtype, nw.Unknown):
        kind = backend.native_type(name)
        if kind.upper() == "UUID":
            return texts
    hint = (
        " Floats come from missing values in pandas, or from ids read as numbers."
        if dtype.is_float()
        else " Give a row for each item, or a dict {query: [items]}."
        if isinstance(dtype, (nw.List, nw.Array))
        else ""
    )
    raise InputError(
        f"{source}: column {quote(name)} is {kind}, but ids must be strings or integers.{hint}"
    )


def _joined(parts: Sequence[nw.Expr]) -> nw.Expr:
    """One id of several texts, as `inputs.columns.joined_columns` makes it."""
    import narwhals as nw

    if len(parts) == 1:
        return parts[0]
    escaped = [
        part.str.replace_all("\\", "\\\\", literal=True).str.replace_all(
            JOINER, f"\\{JOINER}", literal=True
        )
        for part in parts
    ]
    lost = [part.is_null() | (part == "") for part in parts]
    there = [~part.is_null() for part in parts]
    whole = (
        nw.when(nw.any_horizontal(*lost, ignore_nulls=True))
        .then(nw.lit(""))
        .otherwise(nw.concat_str(escaped, separator=JOINER))
    )
    return nw.when(nw.any_horizontal(*there, ignore_nulls=True)).then(whole)
