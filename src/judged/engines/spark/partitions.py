"""Work on the partitions of a Spark frame: rows of whole queries to rankings, or an error.

`pack_work` is sent to the workers by value, so that it can report what they lack. All other code
must be installed there. Rows of Spark have no numbers, so errors name queries. Of the errors of all
partitions the first in alphabetical order is raised: the message is the same each time.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged import __version__
from judged.engines.spark.session import other_version, packages_missing, spark_errors
from judged.engines.spark.tables import collect
from judged.engines.tables import place_of_query
from judged.errors import EngineError, InputError, JudgedError
from judged.inputs.tables import (
    JUDGEMENTS,
    RUN,
    Judgements,
    Kind,
    Lookup,
    Passed,
    Run,
    judgements_of,
    run_of,
)
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
RESULT_SCHEMA = "result binary, lacking string"
"""Rows that partitions return: a pickled result or error, or a message on what the worker lacks."""


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
        """Return the complete rows of this table in a partition, with numbers for values."""
        import polars as pl

        from judged.inputs.frames import complete

        rows = frame.filter(pl.col(SIDE) == int(self.kind == JUDGEMENTS)).select(self.columns)
        if "line" in rows.columns:
            rows = self._read_lines(rows["line"].to_list())
        for name in (self.kind.value, "weight"):
            if name in rows.columns:
                rows = rows.with_columns(_numbers(rows, name, self.source))
        rows = complete(rows, self.kind, lambda row: place_of_query(self.source, rows, row))
        return rows.with_columns(score=-rows["score"]) if self.is_rank else rows

    def _read_lines(self, lines: list[bytes]) -> pl.DataFrame:
        from judged.inputs.source import BYTE_ORDER_MARK
        from judged.inputs.trec import TREC_JUDGEMENTS, TREC_RUN, parse_lines

        layout = TREC_RUN if self.kind == RUN else TREC_JUDGEMENTS
        text = b"".join(line.removeprefix(BYTE_ORDER_MARK) + b"\n" for line in lines)
        try:
            return parse_lines(text, layout, self.kind, self.source, 1).frame
        except InputError as error:  # numbers of lines in a partition mean nothing
            raise InputError(re.sub(r", line \d+:", ":", str(error), count=1)) from None

    def run(self, rows: pl.DataFrame) -> Run | Lookup:
        if not rows.height:
            return Lookup({}, self.source, self.notes, self.name)
        run = Run(rows, self.source, self.notes, places=_places(rows), name=self.name)
        return replace(run_of(run), passed=Passed(rows=1), part=True)  # others have more

    def judgements(self, rows: pl.DataFrame) -> Judgements:
        return judgements_of(Judgements(rows, self.source, self.notes, places=_places(rows)))


def _places(rows: pl.DataFrame) -> Callable[[Any], str]:
    return lambda numbers: f"query {rows['query'][numbers[0]]!r}"


def _numbers(rows: pl.DataFrame, name: str, source: str) -> pl.Series:
    import polars as pl

    column = rows[name]
    if column.dtype != pl.String:
        return column.cast(pl.Float64)
    numbers = column.str.strip_chars(" ").cast(pl.Float64, strict=False)
    bad = (numbers.is_null() & column.is_not_null() & (column != "")).arg_true()
    if len(bad):
        place = place_of_query(source, rows, bad[0])
        raise InputError(f"{place}: the {name} is not a number: {quote(column[bad[0]], 30)}.")
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
    rows = description.rows(rows.sort(rows.columns))
    return description.judgements(
        rows.sort("query", "item", "grade", descending=[False, False, True])
    )


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
        try:
            yield self._result(rows)
        except JudgedError:
            try:  # in order, so that the message names the first query and item
                yield self._result(rows.sort(rows.columns))
            except JudgedError as error:
                yield error

    def _result(self, rows: pl.DataFrame) -> Any:
        judged = self.judgements.rows(rows)
        run: Any = self.run.run(self.run.rows(rows))
        run = run if self.change_run is None else self.change_run(run)
        judgements: Any = self.judgements.judgements(judged)
        if self.change_judgements is not None:
            judgements = self.change_judgements(replace(judgements, part=True))
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
        rankings = replace(rankings, findings=total([findings, dropped]))
        return rankings if self.make is None else self.make(rankings)


Work = Callable[[Any], Iterable[Any]]  # work on the rows of a partition, a data frame of polars


def pack_work(work: Work) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function for `mapInArrow` that does the work and yields `RESULT_SCHEMA`."""
    from pyspark import cloudpickle  # changes of a run may be functions inside functions

    packed, version = cloudpickle.dumps(work), __version__  # type: ignore[no-untyped-call]
    lacks, other = packages_missing("{}"), other_version("{}")

    def partition(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        def row(result: bytes | None, lacking: str | None = None) -> Any:
            columns = [pa.array([result], pa.binary()), pa.array([lacking], pa.string())]
            return pa.RecordBatch.from_arrays(columns, names=["result", "lacking"])

        try:
            from judged import __version__
        except ImportError as error:
            yield row(None, lacks.replace("{}", str(getattr(error, "name", None) or "judged")))
            return
        if __version__ != version:
            yield row(None, other.replace("{}", __version__))
            return
        from judged.engines.spark.partitions import do_work

        for result in do_work(packed, batches):
            yield row(result)

    return partition


def do_work(packed: bytes, batches: Iterable[Any]) -> Iterator[bytes]:
    """Yield the pickled results of the work on a partition."""
    import polars as pl
    import pyarrow as pa
    from pyspark import cloudpickle  # findings hold functions inside functions

    filled = [batch for batch in batches if batch.num_rows]
    if not filled:
        return
    rows = pl.DataFrame(pl.from_arrow(pa.Table.from_batches(filled)))
    del filled
    for result in pickle.loads(packed)(rows):
        yield cloudpickle.dumps(result)  # type: ignore[no-untyped-call]


def run_work(frame: Any, work: Work, address: str | None = None) -> list[Any]:
    """Return the results of the work on all partitions, or raise an error."""
    with spark_errors(address):
        rows = frame.mapInArrow(pack_work(work), RESULT_SCHEMA).collect()
    if lacking := sorted({row["lacking"] for row in rows if row["lacking"]}):
        raise EngineError(lacking[0])
    results = [pickle.loads(bytes(row["result"])) for row in rows]
    if errors := [result for result in results if isinstance(result, JudgedError)]:
        raise min(errors, key=str)
    return results
