"""Work on the partitions of a Spark frame: rows of whole queries to rankings, and what is wrong.

`pack_work` is sent to the workers by value, so that it can report what they lack. All other code
must be installed there. Rows of Spark have no numbers, so errors name the query and the item. All
partitions report their faults, and the smallest query and item are named: the message is the same
each time.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged import __version__
from judged.engines.spark.session import not_installed, other_version, spark_errors
from judged.engines.spark.tables import collect
from judged.errors import EngineError, InputError, JudgedError
from judged.inputs.tables import (
    JUDGEMENTS,
    RUN,
    Judgements,
    Kind,
    Lookup,
    Passed,
    Run,
    from_rows,
    judgements_of,
    run_of,
)
from judged.matching.checks import ADVICE, NAN_ADVICE
from judged.matching.matcher import Matcher
from judged.matching.pool import pool_of, weighed
from judged.rankings.audit import Findings, total
from judged.rankings.rankings import Rankings, Weights
from judged.text import counted, quote

if TYPE_CHECKING:
    import polars as pl

    from judged.engines.spark.tables import SparkTable
    from judged.options import CollectionLike
    from judged.policy import Policy

SIDE = "side"  # the column that is 0 in rows of the run, and 1 in rows of the judgements
NOT_UTF8 = "\0"
"""The mark of a line that is not valid UTF-8, before the line with replaced characters."""
RESULT_SCHEMA = "result binary, lacking string"
"""Rows that partitions return: a pickled result, or the package or version that is wrong."""


# Faults in rows


@dataclass(frozen=True)
class RowFault:
    priority: int  # the smallest is reported if several things are wrong
    query: str
    item: str
    message: str  # {more} is replaced by the number of further rows
    number: int = 1  # the number of rows, or pairs, that have it
    unit: str = "more"
    error: type[JudgedError] = InputError

    def __reduce__(self) -> tuple[type[RowFault], tuple[object, ...]]:
        return RowFault, tuple(getattr(self, name) for name in self.__dataclass_fields__)


class RowFaultError(InputError):
    """An error that carries the fault of its rows."""

    def __init__(self, fault: RowFault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def error_of(faults: Sequence[RowFault]) -> JudgedError:
    """Return one error for the faults of all partitions."""
    priority = min(fault.priority for fault in faults)
    same = [fault for fault in faults if fault.priority == priority]
    first = min(same, key=lambda fault: (fault.query.encode(), fault.item.encode()))
    others = sum(fault.number for fault in same) - 1
    more = f"{others:,} more" if first.unit == "more" else counted(others, first.unit)
    return first.error(first.message.replace("{more}", f" (and {more})" if others else ""))


def fault_of(
    error: JudgedError,
    tables: Sequence[tuple[TableDescription, pl.DataFrame]],
    *,
    duplicates: str = "error",
) -> RowFault:
    """Return what is wrong with rows that could not be matched, or the error itself."""
    if isinstance(error, RowFaultError):
        return error.fault
    faults = [fault for table, rows in tables for fault in _faults(table, rows, duplicates)]
    if faults:
        return min(faults, key=lambda fault: fault.priority)
    query = min((str(rows["query"].min()) for _, rows in tables if rows.height), default="")
    # Numbers of rows in a partition mean nothing.
    text = re.sub(r", (?:row|line)s? [\d, and]+:", ":", str(error))
    return RowFault(9, query, "", text, error=type(error))


def _faults(table: TableDescription, rows: pl.DataFrame, duplicates: str) -> Iterator[RowFault]:
    import polars as pl

    source, value = table.source, table.kind.value
    priority = 0 if value == "grade" else 3
    names_query = pl.col("item").is_null() & pl.col(value).is_null()
    with_rows = rows.filter(~names_query)["query"].unique().implode()
    names_other = names_query & pl.col("query").is_in(with_rows)
    no_item = pl.col("item").is_null() | (pl.col("item") == "")
    lost = rows.filter((~names_query | names_other) & no_item)
    if lost.height:
        query = str(lost["query"].min())
        message = f"{source}: the item is missing in a row of query {query!r}{{more}}."
        yield RowFault(priority, query, "", message, lost.height)
    lost = rows.filter(~names_query & pl.col(value).is_null()).sort("query", "item")
    if lost.height and value == "score":
        query, item = lost.select("query", "item").row(0)
        message = f"{source}: the score of item {item!r} for query {query!r} is missing{{more}}."
        yield RowFault(priority, query, item, message, lost.height)
    identity = [name for name in ("query", "item", "subtopic") if name in rows.columns]
    times = rows.filter(~names_query).group_by(identity).len()
    repeated = times.filter(pl.col("len") > 1).sort(identity)
    if repeated.height and duplicates == "error":
        query, item, *subtopic = repeated.select(identity).row(0)
        about = f" for subtopic {subtopic[0]!r}" if subtopic else ""
        message = (
            f"{source}: query {query!r} has item {item!r} more than once{about}{{more}}. {ADVICE}"
        )
        unit = "more such triple" if about else "more such pair"
        yield RowFault(priority + 1, query, item, message, repeated.height, unit)
    nan = rows.filter(pl.col(value).is_nan()).sort("query", "item")
    if nan.height:
        query, item = nan.select("query", "item").row(0)
        message = (
            f"{source}: the {value} of item {item!r} for query {query!r} is NaN{{more}}. "
            f"{NAN_ADVICE}"
        )
        yield RowFault(priority + 2, query, item, message, nan.height)


# Rows as tables


@dataclass(frozen=True)
class TableDescription:
    """The description of a table in Spark for workers."""

    kind: Kind
    source: str
    name: str
    notes: tuple[str, ...]
    is_rank: bool
    columns: tuple[str, ...]

    @classmethod
    def of(cls, table: SparkTable) -> TableDescription:
        columns = tuple(table.frame.columns)
        return cls(table.kind, table.source, table.name, table.notes, table.is_rank, columns)

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of this table in a partition, with numbers for values."""
        import polars as pl

        rows = frame.filter(pl.col(SIDE) == int(self.kind == JUDGEMENTS)).select(self.columns)
        for name in (self.kind.value, "weight"):
            if name in rows.columns:
                rows = rows.with_columns(_numbers(rows, name, self.source))
        if "line" in rows.columns:
            rows = self._read_lines(rows)
        return rows.with_columns(score=-rows["score"]) if self.is_rank else rows

    def _read_lines(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Read the lines that do not have the usual number of fields."""
        import polars as pl

        from judged.inputs.trec import TREC_JUDGEMENTS, TREC_RUN, line_by_line

        lines = rows["line"].drop_nulls().sort().to_list()
        rows = rows.filter(pl.col("line").is_null()).drop("line")
        if not lines:
            return rows
        if lines[0].startswith(NOT_UTF8):
            number = sum(line.startswith(NOT_UTF8) for line in lines)
            text = not_utf8_message(lines[0].removeprefix(NOT_UTF8), "{more}")
            raise RowFaultError(RowFault(2, lines[0], "", f"{self.source}: {text}", number))
        layout = TREC_RUN if self.kind == RUN else TREC_JUDGEMENTS
        read = line_by_line((line.encode() for line in lines), layout, self.source)
        return pl.concat([rows, from_rows(read, self.kind, layout.subtopic).select(rows.columns)])

    def run(self, rows: pl.DataFrame) -> Run:
        run = run_of(Run(self._complete(rows), self.source, self.notes, name=self.name))
        return replace(run, passed=Passed(rows=1), part=True)  # other partitions have more

    def judgements(self, rows: pl.DataFrame) -> Judgements:
        return judgements_of(Judgements(self._complete(rows), self.source, self.notes))

    def _complete(self, rows: pl.DataFrame) -> pl.DataFrame:
        from judged.inputs.frames import complete

        return complete(rows, self.kind, self.source)


def not_utf8_message(line: str, more: str = "") -> str:
    return f"not UTF-8 text: {quote(line, 60)}{more}. Convert the file to UTF-8 first."


def _numbers(rows: pl.DataFrame, name: str, source: str) -> pl.Series:
    import polars as pl

    column = rows[name]
    if column.dtype != pl.String:
        return column.cast(pl.Float64)
    numbers = column.str.strip_chars(" ").cast(pl.Float64, strict=False)
    bad = rows.filter(numbers.is_null() & column.is_not_null() & (column != ""))
    if bad.height:
        query, item, text = bad.sort("query", "item").select("query", "item", name).row(0)
        message = (
            f"{source}: the {name} of item {item!r} for query {query!r} is not a number: "
            f"{quote(text, 30)}{{more}}."
        )
        raise RowFaultError(RowFault(2, query, item or "", message, bad.height))
    return numbers


def fetch_judgements(table: SparkTable) -> Judgements:
    """Fetch all judgements of a table, ordered by query and item."""
    import polars as pl

    rows = collect(table.frame).with_columns(pl.lit(1, pl.Int8).alias(SIDE))
    if not rows.height:
        raise InputError(f"{table.source}: holds no rows.")
    lost = rows.filter(pl.col("query").is_null() | (pl.col("query") == "")).height
    if lost:
        raise InputError(f"{table.source}: the query is missing in {counted(lost, 'row')}.")
    description = TableDescription.of(table)
    try:
        rows = description.rows(rows).sort(
            "query", "item", "grade", descending=[False, False, True]
        )
        return description.judgements(rows)
    except JudgedError as error:
        raise error_of([fault_of(error, [(description, rows)])]) from None


# Work on workers


@dataclass(frozen=True)
class MatchPartition:
    """Work on a partition: match its run with its judgements."""

    run: TableDescription
    judgements: TableDescription
    policy: Policy
    collection: CollectionLike | None = None
    weights: str | None = None  # the source of the weights, if the judgements have a column of them
    change_run: Callable[[Any], Any] | None = None  # A change of the run before it is matched
    change_judgements: Callable[[Any], Any] | None = None
    """The same for judgements that did not come from here."""
    make: Callable[[Rankings], Any] | None = None
    """A function from the rankings to what is returned."""

    def __call__(self, rows: pl.DataFrame) -> Iterator[Any]:
        tables: list[tuple[TableDescription, pl.DataFrame]] = []
        try:
            for table in (self.judgements, self.run):
                tables.append((table, table.rows(rows)))
            (_, judged), (_, listed) = tables
            run: Run | Lookup = Lookup({}, self.run.source, self.run.notes, self.run.name)
            if listed.height:
                run = self.run.run(listed)
            if self.change_run is not None:
                run = self.change_run(run)
            if isinstance(run, Run):  # rows that the change has removed are not at fault
                tables[1] = self.run, _all_rows(run)
            rankings = self._match(judged, run)
            yield rankings if self.make is None else self.make(rankings)
        except JudgedError as error:
            yield fault_of(error, tables, duplicates=self.policy.duplicates)

    def _match(self, judged: pl.DataFrame, run: Run | Lookup) -> Rankings:
        table = self.judgements.judgements(judged)
        judgements: Judgements | Lookup = table
        if self.change_judgements is not None:
            judgements = self.change_judgements(replace(table, part=True))
        # In a part, ids are checked even if those of other parts may be judged.
        pool = replace(pool_of(judgements, duplicates=self.policy.duplicates), is_part=True)
        matcher = Matcher(pool, self.policy, self.collection)
        rankings = matcher.block(run, np.arange(len(pool.queries)))
        if self.weights is not None:
            by_query = judged.unique("query", keep="any").select("query", "weight")
            known = dict(by_query.iter_rows())
            values = np.array([known[query] for query in pool.queries])
            rankings = weighed(rankings, Weights(values, self.weights))
        assert rankings.findings is not None
        # Notes on the judgements are added where all of them are known.
        findings = replace(rankings.findings, notes=run.notes)
        dropped = Findings(duplicates_dropped=pool.dropped)
        return replace(rankings, findings=total([findings, dropped]))


def _all_rows(run: Run) -> pl.DataFrame:
    import polars as pl

    if run.lost is None:
        return run.frame
    return pl.concat([run.frame, run.lost.frame], how="diagonal_relaxed")


Work = Callable[[Any], Iterable[Any]]  # work on the rows of a partition, a data frame of polars


def pack_work(work: Work) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function for `mapInArrow` that does the work and yields `RESULT_SCHEMA`."""
    from pyspark import cloudpickle  # changes of a run may be functions inside functions

    packed, version = cloudpickle.dumps(work), __version__  # type: ignore[no-untyped-call]

    def partition(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        def row(result: bytes | None, lacking: str | None = None) -> Any:
            columns = [pa.array([result], pa.binary()), pa.array([lacking], pa.string())]
            return pa.RecordBatch.from_arrays(columns, names=["result", "lacking"])

        try:
            from judged import __version__
        except ImportError as error:
            yield row(None, str(getattr(error, "name", None) or "judged"))
            return
        if __version__ != version:
            yield row(None, f"version {__version__}")
            return
        from judged.engines.spark.partitions import do_work

        for result in do_work(packed, batches):
            yield row(result)

    return partition


def do_work(packed: bytes, batches: Iterable[Any]) -> Iterator[bytes]:
    """Yield the pickled results of the work on a partition."""
    import polars as pl
    import pyarrow as pa
    from pyspark import cloudpickle  # sums hold functions inside functions

    filled = [batch for batch in batches if batch.num_rows]
    if not filled:
        return
    rows = pl.DataFrame(pl.from_arrow(pa.Table.from_batches(filled)))
    del filled
    for result in pickle.loads(packed)(rows):
        yield cloudpickle.dumps(result)  # type: ignore[no-untyped-call]


def run_work(frame: Any, work: Work, address: str | None = None) -> list[Any]:
    """Return the results of the work on all partitions; faults are raised."""
    with spark_errors(address):
        rows = frame.mapInArrow(pack_work(work), RESULT_SCHEMA).collect()
    lacking = sorted({row["lacking"] for row in rows if row["lacking"]})
    if lacking:
        version = lacking[0].removeprefix("version ")
        raise EngineError(
            not_installed(version) if version == lacking[0] else other_version(version)
        )
    results = [pickle.loads(bytes(row["result"])) for row in rows]
    if faults := [result for result in results if isinstance(result, RowFault)]:
        raise error_of(faults)
    return results
