"""The tables that readers return, and the last steps that all readers of runs and judgements share.

polars is imported where rows are packed, because small runs are read without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from judged.errors import InputError
from judged.inputs.agreement import few
from judged.inputs.order import Ranked, refuse_odd_ranks
from judged.inputs.weights import QueryWeights, weights_of_column
from judged.text import Tallied, Warned, WarnedOnce, counted, listed

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from judged.arrays import Ints
    from judged.inputs.blocks import RunBlocks
    from judged.inputs.columns import NamedColumns

Locate = Callable[[Sequence[int]], list[int]]
"""Row numbers (from 0, ascending) to line numbers (from 1)."""
Places = Callable[[Sequence[int]], str]
"""Row numbers (from 0, ascending) to words, such as `row 3 of part-1.parquet`."""
Row = tuple[str, str, float] | tuple[str, str, float, str]
"""Query, item, value, and subtopic if there is one."""
NO_GRADES = "There are no grades: every item that is listed is relevant, with grade 1."
SUBTOPIC_COLUMNS = ("subtopic", "iteration")
"""Names of the column of subtopics; TREC calls it `iteration`, which may hold a filler."""
ROWS_PER_BATCH = 100_000


@dataclass(frozen=True)
class Kind:
    """The kind of a table (a run, judgements, …), in the words that messages use for it."""

    phrase: str
    value: str  # the name of the third column, or of the second in a table from an id to a value
    columns: str
    key: str = "query"
    names: tuple[str, ...] = ()  # names of the column of values
    given: str = ""  # the name of an object of Python in messages
    every: str = ""
    key_names: tuple[str, ...] = ()  # further names of the column of ids
    surest: bool = False
    """True if the surest of several possible columns is taken; otherwise several are an error."""

    def mistaken_for(
        self,
        wanted: Kind,
        source: str,
        why: str = "",
        where: str = "Were the two files given in the wrong order?",
    ) -> str:
        columns = "" if why else f" ({wanted.columns})"
        return (
            f"{source} looks like {self.phrase} ({why or self.columns}), not "
            f"{wanted.phrase}{columns}. {where}"
        )


RUN = Kind("a run", "score", "6 columns: query, Q0, item, rank, score, tag")
JUDGEMENTS = Kind("judgements", "grade", "4 columns: query, iteration, item, grade")


CATEGORIES = Kind(
    "categories",
    "category",
    "a dict {item: category}, a table or a file",
    key="item",
    names=("category", "category_id", "class", "label", "group", "unique"),
    given="the categories",
    every="give every item one, if need be its own id.",
    surest=True,
)
DOCUMENTS = Kind(
    "documents of items",
    "document",
    "a dict {item: document}, a table or a file",
    key="item",
    names=(
        *("document", "document_id", "doc_id", "docid", "docno", "doc", "parent", "parent_id"),
        *("file", "source"),
    ),
    given="the documents of items",
    every="give every item one, if need be its own id.",
    key_names=("chunk_id", "chunk", "segment_id", "segment", "node_id", "id"),
    surest=True,
)


class Categories:
    """The category or document of each item."""

    def __init__(self, by_item: Mapping[str, str], source: str, kind: Kind) -> None:
        self.by_item, self.source, self.kind = by_item, source, kind
        self.all = frozenset(by_item.values())

    def of(self, names: Sequence[str], source: str) -> list[str]:
        """Return the categories of some items; an item that is a category is its own."""
        missing = [name for name in names if name not in self.by_item and name not in self.all]
        if missing:
            which = counted(len(missing), "item has", "items have")
            raise InputError(
                f"{source}: {which} no {self.kind.value} in {self.source} ({few(missing)}); "
                f"{self.kind.every}"
            )
        return [self.by_item.get(name, name) for name in names]


def is_frame(given: Any) -> bool:
    """Return whether this is a data frame; a lazy one warns when asked for its columns."""
    return type(given).__name__ == "LazyFrame" or hasattr(given, "columns")


@dataclass(frozen=True, eq=False)
class ReadTable:
    """Tidy rows in the order of the input.

    Columns are `query` and `item` (texts) and `score` or `grade` (numbers), none of them missing.
    Judgements may have `subtopic`. Columns `document` (texts) and `weight` (numbers) are there if
    the user named them.
    """

    frame: pl.DataFrame
    source: str
    """The name in messages."""
    notes: tuple[str, ...] = ()
    """Repairs and assumptions made while reading."""
    locate: Locate | None = None
    rows: NDArray[np.integer[Any]] | None = None
    """The number that each row had in the input, if rows were left out."""
    queries: tuple[str, ...] = ()
    """All queries, if some have no items."""
    basis: tuple[str, ...] = ()
    """Changes made to the ranked items, which define every number."""
    dropped: int = 0
    """The number of repeated rows that were dropped."""
    places: Places | None = None
    """A function that names rows, if a line number is not enough."""

    def names(self) -> list[str]:
        """Return all queries, also those without items, in the order of the input."""
        if self.queries:
            return list(self.queries)
        import numpy as np

        from judged.arrays import borders

        query = self.frame["query"]
        starts = np.flatnonzero(borders(query.hash(1).to_numpy()))  # few, if rows are grouped
        return list(dict.fromkeys(query.gather(starts).to_list()))

    def where(self, rows: Sequence[int]) -> str:
        """Return the places of some rows for a message: lines of a file, or rows, from 1.

        Parameters
        ----------
        rows : sequence of int
            Row numbers from 0, ascending.

        >>> import polars as pl
        >>> frame = pl.DataFrame({"query": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0]})
        >>> Run(frame, "a data frame").where([0, 1])
        'rows 1 and 2'
        """
        if self.rows is not None:
            rows = self.rows[rows].tolist()
        if self.places is not None:
            return self.places(rows)
        word, numbers = (
            ("line", self.locate(rows)) if self.locate else ("row", [row + 1 for row in rows])
        )
        distinct = list(dict.fromkeys(map(str, numbers)))  # a row may hold several results
        return f"{word}{'s' if len(distinct) > 1 else ''} {listed(distinct)}"


@dataclass(frozen=True, eq=False)
class Judgements(ReadTable):
    """The grade of each judged item for its query, as `read_judgements` returns it.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"query": ["q"], "item": ["a"], "grade": [1.0]})
    >>> Judgements(frame, "a data frame").by_subtopic
    False
    """

    weights: QueryWeights | None = None
    """The weight of each query, if a column holds it."""
    part: bool = False
    """True if more judgements may exist."""
    may_be_run: bool = False
    """True if neither the format nor a column name distinguishes these from a run."""

    @property
    def by_subtopic(self) -> bool:
        """True if each row is about one subtopic of its query."""
        return "subtopic" in self.frame.columns


@dataclass(frozen=True)
class Passed:
    """The unjudged queries that were left out of a table."""

    queries: int = 0
    rows: int = 0
    names: tuple[str, ...] = ()  # the first of these queries, for messages
    own: int = 0  # rows whose item has the id of its query


@dataclass(frozen=True, eq=False)
class Run(ReadTable):
    """A system's results, as `read_run` returns them, ranked by score.

    The order of rows matters only for `ties="input"`.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"query": ["q"], "item": ["a"], "score": [2.5]})
    >>> Run(frame, "a data frame", name="bm25").name
    'bm25'
    """

    name: str = "run"
    tag: str | None = None
    """The name of the run in its own file."""
    passed: Passed = Passed()
    """The unjudged queries that were left out of a block."""
    part: bool = False
    """True for a block of a larger run."""
    lost: Run | None = None
    """Rows without an item, of queries that have others; an error if the query is judged."""


@dataclass(frozen=True, eq=False)
class Lookup:
    """A run or judgements in a dict of dicts, which is not copied.

    >>> Lookup({"q": {"a": 2.5}}, name="bm25").lists["q"]
    {'a': 2.5}
    """

    lists: Mapping[str, Mapping[str, Any]]
    """{query: {item: score or grade}}, or {query: {item: {subtopic: grade}}}; ids are texts."""
    source: str = "a dict"
    notes: tuple[str, ...] = ()
    name: str = "run"
    by_subtopic: bool = False
    repeated: tuple[tuple[str, str], ...] = ()
    """(query, item) of each result that was left out, because a better-ranked one repeats it."""
    basis: tuple[str, ...] = ()
    """Changes made to the ranked items, which define every number."""
    tag: str | None = None
    """The name of the run in its own file."""
    may_be_run: bool = False
    """True if nothing distinguishes these judgements from a run."""

    def names(self) -> list[str]:
        """Return all queries in the order of the input."""
        return list(self.lists)


AnyTable = TypeVar("AnyTable", Judgements, Run)


class Piece:
    """Consecutive rows of a run, as a reader parses them."""

    def __init__(
        self,
        frame: pl.DataFrame,
        first: int,
        found: Callable[[], Sequence[int]] | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.frame = frame  # columns as in `unchecked_table`
        self.first = first  # the number of the line or the row, from 1, of the first of them
        self.found = found  # returns the line of each row, if other lines are between them
        self.notes = notes

    def places(self) -> Ints:
        import numpy as np

        if self.found is not None:
            return np.array(self.found(), np.int64)
        return np.arange(self.first, self.first + self.frame.height, dtype=np.int64)


def texts(name: str, values: Iterable[str | None]) -> pl.Series:
    import polars as pl

    try:
        return pl.Series(name, list(values), dtype=pl.String)
    except UnicodeEncodeError as error:
        raise InputError(
            f"the {name} {error.object!r} holds half a character, as names of files may that are "
            "not UTF-8; a table cannot hold it. Rename it."
        ) from None


def from_rows(rows: Iterable[Row], kind: Kind, subtopic: str | None = None) -> pl.DataFrame:
    """Pack rows in batches, because rows in Python take ten times the memory."""
    import polars as pl

    schema: dict[str, type[pl.DataType]] = {
        "query": pl.String,
        "item": pl.String,
        kind.value: pl.Float64,
        **dict.fromkeys(filter(None, [subtopic]), pl.String),
    }
    remaining = iter(rows)
    batches = [pl.DataFrame(schema=schema)]
    while batch := list(islice(remaining, ROWS_PER_BATCH)):
        batches.append(pl.DataFrame(batch, schema=schema, orient="row"))
    return pl.concat(batches, rechunk=False)


def is_complete(frame: pl.DataFrame) -> bool:
    import polars as pl

    if sum(frame.select(pl.exclude(SUBTOPIC_COLUMNS)).null_count().row(0)):
        return False
    ids = [name for name in ("query", "item", "document") if name in frame.columns]
    empty = frame.lazy().select(pl.any_horizontal((pl.col(ids) == "").any())).collect()
    return not empty.item()


def skipped_comments(comments: int) -> tuple[str, ...]:
    words = "{} comment line was skipped.", "{} comment lines were skipped."
    return (Tallied(comments, *words),) if comments else ()


def unchecked_table(
    kind: Kind,
    frame: pl.DataFrame,
    source: str,
    notes: tuple[str, ...] = (),
    locate: Locate | None = None,
    *,
    tag: str | None = None,
    may_be_run: bool = False,
) -> Any:
    """Return the rows that a reader found, before the checks that all formats share.

    A row without item and value names a query without items. A row without a grade is unjudged.
    """
    if kind is RUN:
        return Run(frame, source, notes, locate, tag=tag)
    return Judgements(frame, source, notes, locate, may_be_run=may_be_run)


def check_table(table: Judgements | Run) -> Judgements | Run:
    return run_of(table) if isinstance(table, Run) else judgements_of(table)


def run_of(run: Run) -> Run:
    run, lost = _without_named_only(run)
    if lost is not None:
        run = replace(run, lost=lost)
    if any(isinstance(note, Ranked) for note in run.notes):
        scores = run.frame["score"].to_numpy()
        refuse_odd_ranks(scores, lambda row: f"{run.source}, {run.where([row])}")
    return run


def judgements_of(table: Judgements) -> Judgements:
    if "weight" in table.frame.columns:
        table = replace(table, weights=weights_of_column(table.frame, table.source))
    table, lost = _without_named_only(table)
    if lost is not None:
        raise InputError(lost_message(lost))
    table = _without_ungraded(table)
    infinite = (~table.frame["grade"].is_finite()).arg_true().head(1).to_list()
    if infinite:
        value = {"inf": "infinite", "-inf": "minus infinity"}.get(
            str(table.frame["grade"][infinite[0]]), "NaN"
        )
        raise InputError(
            f"{table.source}, {table.where(infinite)}: the grade is {value}; a grade must be a "
            "finite number."
        )
    return replace(table, frame=_with_telling_subtopics(table))


def _without_named_only(table: AnyTable) -> tuple[AnyTable, AnyTable | None]:
    """Remove the rows that only name a query."""
    if table.frame.is_empty():
        skipped = "".join(f" {note}" for note in table.notes if isinstance(note, WarnedOnce))
        raise InputError(f"{table.source}: holds no rows.{skipped}")
    empty = table.frame["item"].is_null()
    if not empty.any():
        return table, None
    query = table.frame["query"]
    both = empty & query.is_in(query.filter(~empty).unique().implode())
    lost = _rows(table, both) if both.any() else None
    queries = tuple(query.unique(maintain_order=True).to_list())
    return replace(_rows(table, ~empty), queries=queries), lost


def _rows(table: AnyTable, which: pl.Series) -> AnyTable:
    rows = which.arg_true().to_numpy()
    numbers = rows if table.rows is None else table.rows[rows]
    return replace(table, frame=table.frame.filter(which), rows=numbers)


def lost_message(lost: ReadTable, row: int = 0) -> str:
    return f"{lost.source}, {lost.where([row])}: the item is missing."


def ungraded_note(left: int) -> Warned:
    are = "is" if left == 1 else "are"
    have = counted(left, "row has", "rows have")
    return Warned(f"{have} no grade and {are} left out as unjudged.")


def _without_ungraded(table: Judgements) -> Judgements:
    """Remove rows without a grade, as in a file that annotators are still filling in."""
    graded = table.frame["grade"].is_not_null()
    if graded.all():
        return table
    if not graded.any():
        raise InputError(f"{table.source}: no row has a grade.")
    query = table.frame["query"]
    unjudged = set(query.to_list()) - set(query.filter(graded).to_list())
    return replace(
        _rows(table, graded),
        queries=tuple(name for name in table.queries if name not in unjudged),
        notes=(*table.notes, ungraded_note(int((~graded).sum()))),
    )


def _with_telling_subtopics(table: ReadTable) -> pl.DataFrame:
    """Drop a column of subtopics that is empty, or an iteration that is the same everywhere."""
    frame = table.frame
    name = next((name for name in SUBTOPIC_COLUMNS if name in frame.columns), None)
    if name is None:
        return frame
    column = frame[name]
    if name == "iteration" and column.eq_missing(column.first()).all():
        return frame.drop(name)
    missing = column.is_null() | (column == "")
    if missing.all():
        return frame.drop(name)
    if missing.any():
        place = table.where(missing.arg_true().head(1).to_list())
        raise InputError(
            f"{table.source}, {place}: the subtopic is missing; give one in every row, or in none."
        )
    return frame.rename({name: "subtopic"})


# Tables in databases and in Spark are recognised by the module of their type, so that nothing is
# imported to find out.
_DATABASE_TABLES = {
    "duckdb": "DuckDBPyRelation",
    "_duckdb": "DuckDBPyRelation",
    "ibis": "Table",
    "narwhals": "LazyFrame",
    "sqlframe": "DataFrame",
    "dask": "DataFrame",
}


class RemoteTable:
    """A table in a database or in Spark that may hold a run or judgements."""

    def run(self, name: str | None, columns: NamedColumns) -> RunBlocks:
        raise NotImplementedError

    def judgements(self, columns: NamedColumns) -> Judgements:
        raise NotImplementedError

    def whole(self) -> Any:
        """Return what a reader of whole tables takes."""
        raise NotImplementedError


AnyRun: TypeAlias = "Run | Lookup"


def is_table(given: Any) -> bool:
    """Return whether this is a lazy table of a database library, or the address of one."""
    if isinstance(given, str):
        return ADDRESS.fullmatch(given) is not None
    kind = type(given)
    return _DATABASE_TABLES.get(kind.__module__.partition(".")[0]) == kind.__name__


ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<place>[^#]*)#(?P<table>.+)", re.I)


def is_spark(given: Any) -> bool:
    """Return whether this is a data frame of Spark, classic or Connect, or a table read by it."""
    kind = type(given)
    if kind.__name__ == "SparkTable":
        return kind.__module__ == "judged.engines.spark.tables"
    return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql")
