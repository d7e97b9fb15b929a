"""Objects of other libraries, recognised by methods and fields, so that nothing is imported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from inspect import isclass
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any

from judged.errors import InputError
from judged.inputs.columns import candidates, is_known
from judged.inputs.tables import RUN, Kind
from judged.text import listed

if TYPE_CHECKING:
    import polars as pl

_CONVERSIONS = ("to_polars", "to_pandas", "to_arrow", "to_df")
"""Methods that return a table, the best first."""


@dataclass(frozen=True, eq=False)
class Records:
    """Rows of Python (dicts, namedtuples, dataclass objects, models of pydantic) as columns."""

    columns: Mapping[str, Sequence[Any]]
    """A value that a row lacks is None."""
    label: str = "a list of rows"

    def frame(self) -> pl.DataFrame:
        """Return a table; values of several types stay objects, and are errors if needed."""
        import polars as pl

        return pl.DataFrame([column_of(name, values) for name, values in self.columns.items()])


def is_record(given: Any) -> bool:
    return (
        isinstance(given, Mapping)
        or _is_namedtuple(given)
        or (is_dataclass(given) and not isinstance(given, type))
        or callable(getattr(given, "model_dump", None))
    )


def _is_namedtuple(given: Any) -> bool:
    return isinstance(given, tuple) and hasattr(given, "_fields")


def as_dict(record: Any) -> Mapping[Any, Any]:
    if isinstance(record, Mapping):
        return record
    if _is_namedtuple(record):
        return dict(zip(record._fields, record, strict=True))
    if is_dataclass(record):
        return {field.name: getattr(record, field.name) for field in fields(record)}
    return dict(record.model_dump())


def records_of(given: Iterable[Any], label: str = "a list of rows") -> Records:
    """Return columns from rows; anything else is an error with its number."""
    rows = list(given)
    if not rows:
        raise InputError(f"{label}: holds no rows.")
    for number, row in enumerate(rows, 1):
        if not is_record(row):
            raise InputError(
                f"{label}, row {number}: expected a dict, a namedtuple or a dataclass object; got "
                f"{type(row).__name__}."
            )
    first = type(rows[0])
    if _is_namedtuple(rows[0]) and all(type(row) is first for row in rows):
        return Records(dict(zip(first._fields, zip(*rows, strict=True), strict=True)), label)
    dicts = [as_dict(row) for row in rows]
    names = dict.fromkeys(name for row in dicts for name in row)
    return Records({str(name): [row.get(name) for row in dicts] for name in names}, label)


def column_of(name: str, values: Sequence[Any]) -> pl.Series:
    import numpy as np
    import polars as pl

    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    kinds = {type(value) for value in plain if value is not None}
    if bool in kinds and len(kinds) > 1:
        return pl.Series(name, plain, dtype=pl.Object)
    try:
        if kinds == {int, float}:
            # By way of text, a whole number too large for a float is infinite, as in files.
            return pl.Series(name, [None if x is None else float(str(x)) for x in plain])
        if kinds == {int, str}:
            return pl.Series(name, [None if x is None else str(x) for x in plain])
        return pl.Series(name, plain, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return pl.Series(name, plain, dtype=pl.Object)


def pandas_column(name: str, column: Any) -> pl.Series:
    """Convert a column of pandas without pyarrow, in which the NaN of floats stays NaN."""
    import numpy as np
    import polars as pl

    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufb":
        return pl.Series(name, column.to_numpy())
    missing = column.isna()
    cells = [None if none else value for value, none in zip(column, missing, strict=True)]
    return column_of(name, cells)


def method_of(given: Any, what: str, groups: Iterable[Sequence[str]]) -> str | None:
    """Return the method to call: the first of a group that an object has; two are an error."""
    if isclass(given):
        raise InputError(
            f"the {what} is the class {given.__name__}; give an object of it, or a function."
        )
    present = [[name for name in group if callable(getattr(given, name, None))] for group in groups]
    methods = [names[0] for names in present if names]
    if len(methods) > 1:
        raise InputError(
            f"the {what} has the methods {listed(methods)}; give the one to call, such as "
            f"{what}.{methods[0]}."
        )
    return methods[0] if methods else None


def as_known(given: Any, kind: Kind) -> Any:
    """Convert an object of another library to a dict, a table or `Records`, if it is one."""
    module = type(given).__module__.partition(".")[0]
    if module == "ranx" and hasattr(given, "to_dict"):
        return _called(given, "to_dict")
    if module == "pandas":
        return _from_pandas(given, kind)
    if module == "polars" or isinstance(given, Mapping):
        return given
    rows = "scoreddocs_iter" if kind is RUN else "qrels_iter"
    if callable(getattr(given, rows, None)):  # a dataset of ir_datasets
        return records_of(_called(given, rows))
    if hasattr(given, "__arrow_c_stream__"):
        return from_arrow(given)
    for method in _CONVERSIONS:
        if callable(getattr(given, method, None)):
            return _called(given, method)
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes)) and module != "numpy":
        return records_of(given, kind.given or "a list of rows")
    return given


def _called(given: Any, method: str) -> Any:
    try:
        return getattr(given, method)()
    except Exception as error:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise InputError(
            f"{type(given).__name__}: its {method}() failed ({what.splitlines()[0]})."
        ) from error


def _from_pandas(given: Any, kind: Kind) -> Any:
    if not hasattr(given, "iloc"):
        return given
    index = given.index
    if hasattr(given, "columns"):
        levels = [name for name in index.names if name is not None and name not in given.columns]
        return given.reset_index(level=levels) if levels else given
    if index.nlevels < 2:
        if not holds_queries(given):
            return given
        if not index.is_unique:
            raise InputError(
                f"a Series: query '{index[index.duplicated()][0]}' has more than one list; give "
                "each query one."
            )
        return dict(given.items())
    names = [name or role for name, role in zip(index.names, ("query", "item"), strict=False)]
    value = given.name if isinstance(given.name, str) and is_known(given.name) else kind.value
    return given.rename_axis(names + list(index.names[2:])).rename(value).reset_index()


def is_series(given: Any) -> bool:
    return hasattr(given, "iloc") and not hasattr(given, "columns")


def results_of_series(series: Any, place: str) -> list[Any]:
    """Return the ids of a pandas Series, or (id, score) of each result."""
    values, labels = series.tolist(), series.index.tolist()
    pairs = list(zip(labels, values, strict=True))
    if not values or not all(isinstance(value, Real) for value in values):
        return values
    index = series.index
    is_item = [
        isinstance(name, str) and bool(candidates("item", [name]))
        for name in (index.name, series.name)
    ]
    fractions = any(isfinite(value) and value % 1 for value in values)  # ids are whole numbers
    by_text = all(isinstance(label, str) for label in labels)
    if by_text or ((is_item[0] or fractions) and not is_item[1]):
        return pairs
    # pandas also makes a RangeIndex of ids such as 10, 11, 12.
    by_position = type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
    if is_item == [False, True] or (by_position and series.name is None):
        return values
    raise InputError(
        f"{place}: a pandas Series of numbers by numbers, of which either may be the ids. Give "
        "series.to_dict() if the index holds the ids, or series.tolist() if the values are ids, "
        "the best first."
    )


def holds_queries(given: Any) -> bool:
    """Return whether a pandas Series is a table by its index, or a list for each query."""
    if not is_series(given) or not len(given):
        return False
    return given.index.nlevels > 1 or isinstance(given.iloc[0], (list, tuple, set, dict))


def from_arrow(given: Any, source: str | None = None) -> pl.DataFrame:
    """Copy a table with Arrow's interface, because a stream can be read only once."""
    import polars as pl

    from judged.inputs.polars_errors import refusing

    module = type(given).__module__.partition(".")[0].lstrip("_")
    what = source or _TABLES.get(module) or f"a table of {module}"
    with refusing(f"{what}: cannot be read"):
        try:
            if module == "ibis" and given.get_backend().name == "sqlite":
                return _from_sqlite(given)
            if module == "duckdb" and hasattr(given, "project"):
                given = without_intervals(given)
            return pl.DataFrame(given)
        except (TypeError, ValueError) as error:  # of pyarrow, where that makes the stream
            reason = error.args[0] if error.args else type(error).__name__
            raise InputError(f"{what}: cannot be read ({reason}).") from None


_TABLES = {"duckdb": "a DuckDB relation", "ibis": "an ibis table", "pyarrow": "a pyarrow table"}


def _from_sqlite(table: Any) -> pl.DataFrame:
    """Read values as SQLite has them, because ibis cuts off fractions in INTEGER columns."""
    import polars as pl

    cursor = table.get_backend().raw_sql(table.compile())
    names = [column[0] for column in cursor.description]
    columns = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(names)
    cursor.close()
    return pl.DataFrame([column_of(*column) for column in zip(names, columns, strict=True)])


def without_intervals(relation: Any) -> Any:
    """Put intervals of DuckDB into a struct, because polars panics at them."""
    kinds = [str(kind) for kind in relation.types]
    if "INTERVAL" not in kinds:
        return relation
    columns = ['"' + name.replace('"', '""') + '"' for name in relation.columns]
    return relation.project(
        ", ".join(
            f"{{'INTERVAL': {name}::VARCHAR}} AS {name}" if kind == "INTERVAL" else name
            for name, kind in zip(columns, kinds, strict=True)
        )
    )
