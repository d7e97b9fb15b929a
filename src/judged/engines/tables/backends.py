"""The engines behind tables: how small tables go there and come back, in narwhals' expressions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from judged.errors import EngineError, InputError, JudgedError, MissingExtraError
from judged.inputs.objects import without_intervals
from judged.text import counted, quote

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

_LABELS = {
    "duckdb": "a DuckDB relation",
    "ibis": "an ibis table",
    "pyspark": "a Spark data frame",
    "pyspark[connect]": "a Spark data frame",
    "sqlframe": "an SQLFrame data frame",
    "dask": "a Dask data frame",
    "polars": "a polars lazy frame",
}


@dataclass(frozen=True, eq=False)
class Backend:
    """A table and the engine that it lives in."""

    table: nw.LazyFrame[Any]
    engine: str
    """As narwhals calls it."""

    @classmethod
    def of(cls, given: Any) -> Backend:
        """The table that this is."""
        try:
            import narwhals as nw
        except ImportError:
            raise MissingExtraError(
                'Tables that live elsewhere need narwhals: pip install "judged[tables]".'
            ) from None
        try:
            table = nw.from_native(given)
        except TypeError:
            table = None
        if not isinstance(table, nw.LazyFrame):
            raise InputError(
                "engine='tables' takes a table that lives elsewhere (DuckDB, ibis, Spark, any lazy "
                f"frame that narwhals knows) or its address, URL#TABLE; got {type(given).__name__}."
            )
        return cls(table, table.implementation.value)

    @property
    def label(self) -> str:
        """What messages call a table of it."""
        return _LABELS.get(self.engine, "a lazy table")

    @property
    def schema(self) -> nw.Schema:
        """The columns, by name, and their types; a table may be gone by now."""
        with self.failing():
            return self.table.collect_schema()

    @cached_property
    def database(self) -> str:
        """The engine or, behind ibis, the database that ibis speaks to."""
        import narwhals as nw

        if self.engine != "ibis":
            return self.engine
        import ibis

        native: Any = nw.to_native(self.table)
        with self.failing():
            return str(ibis.get_backend(native).name)

    def number(self, name: str, source: str, what: str) -> nw.Expr:
        """The numbers of a column, each as the double that is nearest to it."""
        import narwhals as nw

        column = nw.col(name)
        if self.database == "sqlite":
            self._refuse_texts(name, source, what)
        if self.database == "duckdb" and isinstance(
            self.schema[name], (nw.Decimal, nw.Int128, nw.UInt128)
        ):
            column = column.cast(nw.String)  # whole numbers of 128 bits would be rounded twice
        return column.cast(nw.Float64)

    def _refuse_texts(self, name: str, source: str, what: str) -> None:
        """Refuse texts in a column of numbers, where any column may hold them: a cast makes 0 of
        them. They are greater than all numbers."""
        import narwhals as nw

        texts = self.table.filter(nw.col(name) > float("inf")).select(nw.len().alias("rows"))
        if number := int(self.fetched(texts).item()):
            raise InputError(
                f"{source}: column {quote(name)} holds a text in {counted(number, 'row')}, but a "
                f"{what} must be a number."
            )

    def native_type(self, name: str) -> str:
        """The type of a column, as its engine calls it, where narwhals has no word for it."""
        import narwhals as nw

        native: Any = nw.to_native(self.table)
        if self.engine == "duckdb":
            return str(native.types[native.columns.index(name)])
        return str(native.schema()[name]) if self.engine == "ibis" else "of an unknown type"

    def uploaded(self, frame: pl.DataFrame) -> nw.LazyFrame[Any]:
        """A small table from here, where the large one is."""
        import narwhals as nw

        native: Any = nw.to_native(self.table)
        with self.failing():
            return nw.from_native(_UPLOADS.get(self.engine, _unknown)(native, frame))

    def fetched(self, table: nw.LazyFrame[Any]) -> pl.DataFrame:
        """What a table holds, computed there and brought here."""
        import narwhals as nw
        import polars as pl

        with self.failing():
            if self.engine == "duckdb":  # by Arrow's interface: it needs no pyarrow
                return pl.DataFrame(without_intervals(nw.to_native(table)))
            return table.collect("polars").to_native()

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Whatever an engine raises, or narwhals where an engine cannot do it, in one line."""
        try:
            yield
        except JudgedError:
            raise
        except Exception as error:
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            raise EngineError(f"{self.label}: its engine failed ({reason}).") from error

    def exact(self, table: nw.LazyFrame[Any], *names: str) -> nw.LazyFrame[Any]:
        """The table with texts that are compared by their bytes, whatever the column's collation.

        A cast takes it off in Spark, an expression in SQLite; DuckDB keeps it until the text has
        been bytes. Elsewhere `refuse_collation` finds it out.
        """
        import narwhals as nw

        if self.database == "duckdb" and self.engine == "ibis":
            expression: Any = nw.to_native(table)
            return nw.from_native(
                expression.mutate(**{name: _of_bytes(expression[name]) for name in names})
            )
        if self.engine != "duckdb":
            bytewise = (nw.concat_str(nw.col(name), nw.lit("")).alias(name) for name in names)
            return table.with_columns(*bytewise)
        others = [f'"{name}"' for name in table.columns if name not in names]
        bare = [f'decode(encode("{name}")) AS "{name}"' for name in names]
        native: Any = nw.to_native(table)
        return nw.from_native(native.project(", ".join([*others, *bare])))


class _Stream:
    """A table that speaks Arrow and nothing else, for an engine that would ask for pyarrow; DuckDB
    before 2.0 reads such a stream once only."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)


def _of_bytes(text: Any) -> Any:
    """A text of ibis on DuckDB that has been bytes."""
    from ibis import udf

    def encode(text: str) -> bytes:
        raise NotImplementedError("DuckDB has a function of this name")

    def decode(data: bytes) -> str:
        raise NotImplementedError("DuckDB has a function of this name")

    known: Any = udf.scalar.builtin
    return known(decode)(known(encode)(text))


def _to_duckdb(native: Any, frame: pl.DataFrame) -> Any:
    # DuckDB finds it by the name of the variable.
    _judged_rows = frame.to_arrow() if find_spec("pyarrow") else _Stream(frame)
    view, rows = "_judged_relation", "SELECT * FROM _judged_rows"
    try:
        return native.query(view, rows)
    except Exception:  # somebody told it to look for no variables, as ibis does
        native.query(view, "SET python_enable_replacements = true")
        try:
            return native.query(view, rows)
        finally:
            native.query(view, "SET python_enable_replacements = false")


def _to_ibis(native: Any, frame: pl.DataFrame) -> Any:
    import ibis

    return ibis.memtable(frame)


def _to_spark(native: Any, frame: pl.DataFrame) -> Any:
    import pyspark

    modern = int(pyspark.__version__.partition(".")[0]) >= 4
    types = {"String": "string", "Int64": "bigint"}
    schema = ", ".join(f"{name} {types[str(dtype)]}" for name, dtype in frame.schema.items())
    rows = frame.to_arrow() if modern else frame.to_pandas()
    return native.sparkSession.createDataFrame(rows, schema=schema)


def _to_dask(native: Any, frame: pl.DataFrame) -> Any:
    from importlib import import_module

    return import_module("dask.dataframe").from_pandas(frame.to_pandas(), npartitions=1)


def _to_polars(native: Any, frame: pl.DataFrame) -> Any:
    return frame.lazy()


def _unknown(native: Any, frame: pl.DataFrame) -> Any:
    raise EngineError(
        f"{type(native).__name__}: nobody knows here how judgements get to its engine; give the "
        "table through ibis, or read it whole first."
    )


_UPLOADS = {
    "duckdb": _to_duckdb,
    "ibis": _to_ibis,
    "pyspark": _to_spark,
    "pyspark[connect]": _to_spark,
    "sqlframe": _to_spark,
    "dask": _to_dask,
    "polars": _to_polars,
}
