"""Runs and judgements in database tables (DuckDB, SQLite, anything that ibis or narwhals know).

A run is filtered to the judged queries in the database. Its rows come here as Arrow batches, sorted
by query, and are matched with the judgements like any run that is read in blocks.
"""

from __future__ import annotations

import re
import weakref
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.util import find_spec
from os import PathLike, fspath
from os.path import isfile
from typing import TYPE_CHECKING, Any

from judged.errors import EngineError, InputError, JudgedError, MissingExtraError, PolicyError
from judged.inputs.blocks import RunBlocks
from judged.inputs.columns import LISTS, choose_columns, has_lists
from judged.inputs.objects import without_intervals
from judged.inputs.order import MOST_SAMPLED
from judged.inputs.tables import (
    ADDRESS,
    JUDGEMENTS,
    RUN,
    Judgements,
    Kind,
    Passed,
    RemoteTable,
    Run,
)
from judged.text import counted, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw
    import polars as pl

    from judged.inputs.columns import NamedColumns, TableColumns

MAX_FILTERED_QUERIES = 10_000
"""Longest list of queries sent to a database. With more judged queries, all rows come here."""
ROWS_PER_BATCH = 1 << 18
MAX_NAMED_QUERIES = 1000  # number of queries fetched for the message that none of them is judged
_LABELS = {
    "duckdb": "a DuckDB relation",
    "ibis": "an ibis table",
    "sqlframe": "an SQLFrame data frame",
    "dask": "a Dask data frame",
    "polars": "a polars lazy frame",
}
_PASSWORD = re.compile(r"//[^@/]*@")
_FILE_DATABASES = ("duckdb", "sqlite")  # databases that create a new file where there is none


def open_address(address: str) -> Any:
    """Return the ibis table at an address such as duckdb://runs.duckdb#bm25."""
    parts = ADDRESS.fullmatch(address)
    if parts is None:
        raise InputError(
            f"{address}: is not the address of a table; write URL#TABLE, such as "
            "duckdb://runs.duckdb#bm25."
        )
    scheme, place, name = parts["scheme"].lower(), parts["place"], parts["table"]
    path = place.partition("?")[0]
    if scheme in _FILE_DATABASES and not isfile(path):
        raise InputError(f"{path}: no such file.")
    read_only = "&read_only=True" if "?" in place else "?read_only=True"
    connection = _connect(f"{scheme}://{place}{read_only if scheme == 'duckdb' else ''}")
    *schema, table = name.split(".")
    try:
        return connection.table(table, database=tuple(schema) or None)
    except Exception as error:  # each database library has its own exceptions
        raise InputError(
            f"{scheme}://{path}: there is no table {name!r} ({_first_line(error)})."
        ) from error


def _connect(url: str) -> Any:
    where = _PASSWORD.sub("//", url.partition("?")[0])
    try:
        import ibis
    except ImportError:
        raise MissingExtraError(
            f"{where}: needs ibis with the package for this database: pip install "
            '"ibis-framework[duckdb]".'
        ) from None
    try:
        connection = ibis.connect(url)
    except Exception as error:
        raise EngineError(f"{where}: cannot be reached ({_first_line(error)}).") from error
    if url.startswith("sqlite:"):  # Python warns of connections that nobody closes
        weakref.finalize(connection, _close, connection.con)
    return connection


def _close(connection: Any) -> None:
    with suppress(Exception):  # such as that of another thread
        connection.close()


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def database_table(given: Any, kind: Kind, columns: NamedColumns) -> DatabaseTable | None:
    """Return the table of a database object or address; None if it has to be read whole.

    Tables with lists of ids in them are read whole, and all tables if narwhals is not installed.
    """
    if isinstance(given, (str, PathLike)):
        given = open_address(fspath(given))
    if find_spec("narwhals") is None:
        return None
    table = DatabaseTable.of(given)
    role = LISTS[kind is not JUDGEMENTS]
    return None if has_lists(table.schema.names(), (role,), columns) else table


@dataclass(frozen=True, eq=False)
class DatabaseTable(RemoteTable):
    """A table in a database; nothing is read before the run or the judgements are needed."""

    native: Any
    table: nw.LazyFrame[Any]
    engine: str  # the engine's name in narwhals

    @classmethod
    def of(cls, native: Any) -> DatabaseTable:
        import narwhals as nw

        table = nw.from_native(native)
        return cls(native, table, table.implementation.value)

    def run(self, name: str | None, columns: NamedColumns) -> TableRun:
        source = self.label
        if name not in (None, "run"):
            source = f"{self.label.partition(' ')[2]} {name!r}"
        with self.failing():
            rows = _RunRows.of(self, name or "run", source, columns)
        return TableRun(rows.name, source, rows, is_rank=rows.is_rank)

    def judgements(self, columns: NamedColumns) -> Judgements:
        """Fetch the judgements, ordered by query and item because a table has no order."""
        from judged.inputs.frames import tidy
        from judged.inputs.tables import SUBTOPIC_COLUMNS, judgements_of

        with self.failing():
            header = self.schema.names()
            chosen = choose_columns(header, JUDGEMENTS, self.label, columns)
            frame = self.fetch(self.table.select(**self._exact_columns(chosen, JUDGEMENTS)))
            reading = tidy(frame.lazy(), JUDGEMENTS, self.label, chosen, header)
        keys = [name for name in ("query", "item", *SUBTOPIC_COLUMNS) if name in reading.frame]
        # The best grade of repeated rows comes first, so that the result does not vary.
        ordered = reading.frame.sort([*keys, "grade"], descending=[*[False] * len(keys), True])
        return judgements_of(replace(reading, frame=ordered))

    def whole(self) -> Any:
        return self.native

    @property
    def label(self) -> str:
        return _LABELS.get(self.engine, "a lazy table")

    @cached_property
    def schema(self) -> nw.Schema:
        with self.failing():
            return self.table.collect_schema()

    @cached_property
    def database(self) -> str:
        """The engine or, behind ibis, the database that ibis is connected to."""
        if self.engine != "ibis":
            return self.engine
        import ibis
        import narwhals as nw

        native: Any = nw.to_native(self.table)
        with self.failing():
            return str(ibis.get_backend(native).name)

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Turn any exception of an engine into an error of one line."""
        try:
            yield
        except JudgedError:
            raise
        except Exception as error:
            raise EngineError(f"{self.label}: its engine failed ({_first_line(error)}).") from error

    def fetch(self, table: nw.LazyFrame[Any]) -> pl.DataFrame:
        import narwhals as nw
        import polars as pl

        with self.failing():
            if self.engine == "duckdb":  # its Arrow interface needs no pyarrow
                return pl.DataFrame(without_intervals(nw.to_native(table)))
            return table.collect("polars").to_native()

    def batches(self, table: nw.LazyFrame[Any]) -> Iterator[pl.DataFrame]:
        import narwhals as nw
        import polars as pl

        native: Any = nw.to_native(table)
        with self.failing():
            if self.database == "duckdb" and find_spec("pyarrow") is not None:
                if self.engine == "ibis":  # its own batches need a method that DuckDB 2 lacks
                    native = native.get_backend().con.sql(str(native.compile()))
                native = without_intervals(native)
                open_reader = getattr(native, "to_arrow_reader", None) or native.fetch_arrow_reader
                stream = open_reader(ROWS_PER_BATCH)
            elif self.engine == "ibis":
                stream = native.to_pyarrow_batches(chunk_size=ROWS_PER_BATCH)
            else:
                yield self.fetch(table)
                return
            for batch in stream:
                yield pl.DataFrame(pl.from_arrow(batch))

    def _exact_columns(self, columns: TableColumns, kind: Kind) -> dict[str, nw.Expr]:
        """Return the needed columns: numbers as the nearest double, UUIDs as texts."""
        import narwhals as nw

        header = self.schema.names()
        numbers = {columns.value: kind.value, columns.weight: "weight"}
        exact = {}
        for position in columns.needed:
            name = header[position]
            dtype = self.schema[name]
            if position in numbers and dtype.is_numeric():
                exact[name] = self._number(name, numbers[position])
            elif isinstance(dtype, nw.Unknown) and self._native_type(name).upper() == "UUID":
                exact[name] = nw.col(name).cast(nw.String)
            else:
                exact[name] = nw.col(name)
        return exact

    def _number(self, name: str, what: str) -> nw.Expr:
        import narwhals as nw

        column = nw.col(name)
        if self.database == "sqlite":
            # Any column of SQLite may hold texts. They compare as greater than all numbers, and a
            # cast would make 0 of them.
            texts = self.table.filter(column > float("inf")).select(nw.len().alias("rows"))
            if number := int(self.fetch(texts).item()):
                raise InputError(
                    f"{self.label}: column {quote(name)} holds a text in {counted(number, 'row')}, "
                    f"but a {what} must be a number."
                )
        wide = isinstance(self.schema[name], (nw.Decimal, nw.Int128, nw.UInt128))
        if self.database == "duckdb" and wide:
            column = column.cast(nw.String)  # DuckDB rounds 128-bit numbers twice
        return column.cast(nw.Float64)

    def _native_type(self, name: str) -> str:
        import narwhals as nw

        native: Any = nw.to_native(self.table)
        if self.engine == "duckdb":
            return str(native.types[native.columns.index(name)])
        return str(native.schema()[name]) if self.engine == "ibis" else ""

    def compare_by_bytes(self, table: nw.LazyFrame[Any], names: Sequence[str]) -> nw.LazyFrame[Any]:
        """Remove collations from columns of texts: they would merge ids that differ.

        An expression does that in SQLite. DuckDB keeps a collation until the text has been bytes.
        """
        import narwhals as nw

        if not names:
            return table
        native: Any = nw.to_native(table)
        if self.database == "duckdb" and self.engine == "ibis":
            texts = {name: _decode_encoded(native[name]) for name in names}
            return nw.from_native(native.mutate(**texts))
        if self.engine != "duckdb":
            return table.with_columns(
                nw.concat_str(nw.col(name), nw.lit("")).alias(name) for name in names
            )
        identifiers = {name: '"' + name.replace('"', '""') + '"' for name in table.columns}
        return nw.from_native(
            native.project(
                ", ".join(
                    f"decode(encode({column})) AS {column}" if name in names else column
                    for name, column in identifiers.items()
                )
            )
        )


def _decode_encoded(text: Any) -> Any:
    """Return an ibis expression for decode(encode(text)), which are functions of DuckDB."""
    from ibis import udf

    def encode(text: str) -> bytes:
        raise NotImplementedError("DuckDB has a function with this name")

    def decode(data: bytes) -> str:
        raise NotImplementedError("DuckDB has a function with this name")

    builtin: Any = udf.scalar.builtin
    return builtin(decode)(builtin(encode)(text))


@dataclass(frozen=True, eq=False)
class TableRun(RunBlocks):
    """A run in a database table, read in blocks of whole queries."""

    is_rank: bool = field(kw_only=True)  # whether the table has ranks instead of scores

    def in_input_order(self) -> RunBlocks:
        """Return the run if its ranks define the order of results; a table has no other order."""
        if not self.is_rank:
            raise PolicyError(
                f"{self.source}: ties=input needs an order, which a table does not have. Give a "
                "column with ranks instead of the score (columns={'rank': COLUMN}, --columns "
                "rank=COLUMN), or choose ties=id, expected, best or worst."
            )
        return self.then(_refuse_equal_ranks)


def _refuse_equal_ranks(run: Any) -> Any:
    equal = run.frame.filter(run.frame.select("query", "score").is_duplicated())
    if equal.height:
        raise PolicyError(
            f"{run.source}: query {equal['query'].min()!r} has results with the same rank, and "
            "ties=input needs an order, which a table does not have; choose ties=id, expected, "
            "best or worst."
        )
    return run


@dataclass(frozen=True, eq=False)
class _RunRows:
    """The rows of a run; called with the judged queries, it yields blocks (see `RunBlocks`)."""

    table: DatabaseTable
    name: str
    source: str
    rows: nw.LazyFrame[Any]  # the needed columns by their names in the database
    query: tuple[str, ...]
    item: tuple[str, ...]
    select: Sequence[pl.Expr]
    """Expressions of polars that make query, item and score of these columns."""
    notes: tuple[str, ...]
    is_rank: bool

    @classmethod
    def of(cls, table: DatabaseTable, name: str, source: str, named: NamedColumns) -> _RunRows:
        import narwhals as nw
        import polars as pl

        from judged.inputs.frames import typed, with_checked_ranks

        schema = table.schema
        header = schema.names()
        columns = choose_columns(header, RUN, source, named)
        exact = table._exact_columns(columns, RUN)
        if columns.rank is not None and schema[rank := header[columns.rank]].is_numeric():
            sampled = {**exact, rank: nw.col(rank).cast(nw.Float64)}
            sample = table.fetch(table.table.select(**sampled).head(MOST_SAMPLED))
            columns = with_checked_ranks(sample.lazy(), columns, header)
        query, item = (
            tuple(header[position] for position in ids) for ids in (columns.query, columns.item)
        )
        rows = table.table.select(**exact)
        types = table.fetch(rows.head(0)).schema
        select, notes = typed(types, RUN, source, columns, header)
        texts = [name for name in {*query, *item} if types[name] == pl.String]
        rows = table.compare_by_bytes(rows, texts)
        return cls(table, name, source, rows, query, item, select, notes, columns.is_rank)

    def __call__(self, judged: frozenset[str] | None) -> Iterator[Run]:
        """Yield tables of whole judged queries; the last one counts what was left out."""
        import polars as pl

        filtered = (
            judged is not None
            and len(judged) <= MAX_FILTERED_QUERIES
            and len(self.query) == len(self.item) == 1
        )
        rows = self._filter(judged) if judged is not None and filtered else self.rows
        known = None if judged is None else pl.Series(list(judged), dtype=pl.String)
        here: Counter[str] = Counter()
        left_out: Counter[str] = Counter()
        unjudged: dict[str, None] = {}
        for frame in self._whole_queries(rows):
            judged_rows = frame
            if known is not None:
                judged_rows = frame.filter(pl.col("query").is_in(known.implode()))
                if filtered and judged_rows.height < frame.height:
                    # The filter returned a query that is not judged.
                    raise self._collation_error(min({*frame["query"]} - {*judged_rows["query"]}))
                others = frame.filter(~pl.col("query").is_in(known.implode()))
                left_out += _count_rows(others)
                unjudged.update(dict.fromkeys(others["query"].unique().head(MAX_NAMED_QUERIES)))
            here += _count_rows(judged_rows)
            if judged_rows.height:
                yield self._block(judged_rows)
        if filtered:
            left_out = self._count_others(here)
        if not here["rows"] + left_out["rows"]:
            raise InputError(f"{self.source}: holds no rows.")
        if filtered and not here["rows"]:
            unjudged = dict.fromkeys(self._some_queries())
        names = tuple(sorted(unjudged)[:MAX_NAMED_QUERIES])
        passed = Passed(left_out["queries"], left_out["rows"], names, left_out["own"])
        empty = pl.DataFrame(schema={"query": pl.String, "item": pl.String, "score": pl.Float64})
        yield Run(empty, self.source, self.notes, name=self.name, part=True, passed=passed)

    def _block(self, frame: pl.DataFrame) -> Run:
        from judged.inputs.tables import run_of

        run = Run(
            frame,
            self.source,
            self.notes,
            # Rows of a database table have no numbers.
            places=lambda rows: f"query {frame['query'][rows[0]]!r}",
            name=self.name,
            part=True,
        )
        return run_of(run)

    def _filter(self, judged: frozenset[str]) -> nw.LazyFrame[Any]:
        import narwhals as nw

        query = nw.col(self.query[0]).cast(nw.String)
        # Rows without a query come along, to be an error.
        return self.rows.filter(query.is_in(sorted(judged)) | query.is_null() | (query == ""))

    def _whole_queries(self, rows: nw.LazyFrame[Any]) -> Iterator[pl.DataFrame]:
        """Yield frames of whole queries; the last query of a batch waits for the next batch."""
        import polars as pl

        from judged.inputs.frames import complete

        seen: set[str] = set()
        waiting: list[pl.DataFrame] = []

        def join_waiting() -> pl.DataFrame:
            frame = pl.concat(waiting)
            names = frame["query"].unique().to_list()
            if not seen.isdisjoint(names):
                raise self._collation_error(next(name for name in names if name in seen))
            seen.update(names)
            return frame

        for batch in self.table.batches(rows.sort(*self.query)):
            frame = batch.select(self.select)
            if not frame.height:
                continue
            place = partial(place_of_query, self.source, frame)
            frame = complete(frame, RUN, place)
            last = frame["query"] == frame["query"][-1]
            if not last.all() or (waiting and waiting[-1]["query"][-1] != frame["query"][0]):
                waiting.append(frame.filter(~last))
                yield join_waiting()
                waiting = []
            waiting.append(frame.filter(last))
        if waiting:
            yield join_waiting()

    def _count_others(self, here: Counter[str]) -> Counter[str]:
        """Count the rows of the whole table in the database, and subtract those that came here."""
        import narwhals as nw

        (query,), (item,) = self.query, self.item
        same = nw.col(query).cast(nw.String) == nw.col(item).cast(nw.String)
        own = nw.when(same).then(nw.lit(1)).otherwise(nw.lit(0))
        by_query = (
            self.rows.select(query=nw.col(query), own=own)
            .group_by("query")
            .agg(nw.len().alias("rows"), nw.sum("own"))
        )
        totals = by_query.select(
            nw.len().alias("queries"), nw.sum("rows").alias("rows"), nw.sum("own").alias("own")
        )
        every: Mapping[str, Any] = self.table.fetch(totals).row(0, named=True)
        return Counter({name: int(count or 0) - here[name] for name, count in every.items()})

    def _some_queries(self) -> list[str]:
        import narwhals as nw

        named = self.rows.select(query=nw.col(self.query[0]).cast(nw.String)).unique()
        return self.table.fetch(named.sort("query").head(MAX_NAMED_QUERIES))["query"].to_list()

    def _collation_error(self, query: str) -> EngineError:
        return EngineError(
            f"{self.source}: its engine does not tell query {query!r} from another one, because "
            "the column has a collation; use a column whose texts are compared by their bytes."
        )


def place_of_query(source: str, frame: pl.DataFrame, row: int) -> str:
    """Name a row by its query, because rows of a database table have no numbers."""
    query = frame["query"][row]
    return f"{source}, query {query!r}" if query else source


def _count_rows(frame: pl.DataFrame) -> Counter[str]:
    """Count rows, distinct queries, and rows whose item is the query itself."""
    own = int((frame["query"] == frame["item"]).sum())
    return Counter(rows=frame.height, queries=frame["query"].n_unique(), own=own)
