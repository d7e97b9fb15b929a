"""What every reader returns: tidy rows with what is needed to speak about them later.

polars is loaded where rows are packed: a run in a dict needs none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from judged.errors import InputError
from judged.frozen import dataclass
from judged.inputs.order import Ranked, refuse_negative_ranks
from judged.text import Tallied, Warned, counted, listed

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from judged.inputs.query_weights import QueryWeights

Locate = Callable[[Sequence[int]], list[int]]
"""Row numbers (from 0, ascending) to line numbers (from 1)."""
Row = (
    tuple[str, str, float] | tuple[str, str, float, str] | tuple[str, None, None] | tuple[Any, ...]
)
"""Query, item, value and, of judgements by subtopic, the subtopic; or a query and nothing in it.
Columns that somebody named come last."""

NO_GRADES = "There are no grades: every item that is listed is relevant, with grade 1."
SUBTOPIC_COLUMNS = ("subtopic", "iteration")
"""What a reader calls the column of subtopics; `iteration` is TREC's, which may be a filler."""
_BATCH = 100_000


@dataclass(frozen=True)
class Kind:
    """What a file is read as (a run, judgements, …): the words that messages use for it."""

    phrase: str
    value: str
    """What the third column is called."""
    columns: str
    """How the plain text form looks."""

    def mistaken_for(self, wanted: Kind, source: str) -> str:
        """The message for a file that is plainly of this kind, given where the other is wanted."""
        return (
            f"{source} looks like {self.phrase} ({self.columns}), not {wanted.phrase} "
            f"({wanted.columns}). "
            "Were the two files given in the wrong order?"
        )


RUN = Kind("a run", "score", "6 columns: query, Q0, item, rank, score, tag")
JUDGEMENTS = Kind("judgements", "grade", "4 columns: query, iteration, item, grade")


@dataclass(frozen=True, eq=False)
class Table:
    """Tidy rows in the order of the input."""

    frame: pl.DataFrame
    """Columns `query` and `item` (texts) and `score` or `grade` (numbers); judgements by subtopic
    have `subtopic` (texts) too; `document` (texts) and `weight` (numbers, of the query) are there
    where somebody named their columns. Nothing is missing."""
    source: str
    """What messages call it: a path as given, "standard input", "a data frame"."""
    notes: tuple[str, ...] = ()
    """What was repaired or assumed while reading, a sentence each; it goes into the audit."""
    locate: Locate | None = None
    """From row numbers to line numbers, by a second look at the source; None if it has no lines."""
    rows: NDArray[np.integer[Any]] | None = None
    """The number that each row had in the input, where rows were left out."""
    queries: tuple[str, ...] = ()
    """All queries in the order in which they are named, where some have nothing in them."""
    basis: tuple[str, ...] = ()
    """What was done to what is ranked, in words: part of the definition of every number."""
    dropped: int = 0
    """How many rows were dropped that repeat others."""

    def names(self) -> list[str]:
        """All queries, those with nothing in them included, in the order in which they are named.

        Returns
        -------
        list of str

        >>> import polars as pl
        >>> frame = pl.DataFrame({"query": ["b", "a"], "item": ["x", "y"], "score": [2.0, 1.0]})
        >>> Run(frame, "a data frame").names()
        ['b', 'a']
        """
        if self.queries:
            return list(self.queries)
        import numpy as np

        from judged.segments import borders

        query = self.frame["query"]
        starts = np.flatnonzero(borders(query.hash(1).to_numpy()))  # few, where rows are grouped
        return list(dict.fromkeys(query.gather(starts).to_list()))

    def where(self, rows: Sequence[int]) -> str:
        """The places of some rows for a message: lines of a file, rows of a frame, from 1.

        Parameters
        ----------
        rows : sequence of int
            Row numbers from 0, ascending.

        Returns
        -------
        str
            The places in words.

        >>> import polars as pl
        >>> frame = pl.DataFrame({"query": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0]})
        >>> Run(frame, "a data frame").where([0, 1])
        'rows 1 and 2'
        """
        if self.rows is not None:
            rows = self.rows[rows].tolist()
        word, numbers = (
            ("line", self.locate(rows)) if self.locate else ("row", [row + 1 for row in rows])
        )
        distinct = list(dict.fromkeys(map(str, numbers)))  # a row may hold several results
        return f"{word}{'s' if len(distinct) > 1 else ''} {listed(distinct)}"


@dataclass(frozen=True, eq=False)
class Judgements(Table):
    """Which grade each judged item has for its query, as `read_judgements` returns it.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns query, item, grade; and subtopic, where each row is about one subtopic of its query.
    source : str
        What messages call it.
    notes : tuple of str, optional
        What was repaired or assumed while reading.
    locate : callable, optional
        From row numbers to line numbers, for messages.
    rows : array of int, optional
        The number that each row had in the input, where rows were left out.
    queries : tuple of str, optional
        All queries, where some have nothing in them.
    basis : tuple of str, optional
        What was done to what is ranked, in words.
    dropped : int, optional
        How many rows were dropped that repeat others.
    weights : QueryWeights, optional
        How much each query weighs, where a column says so.
    part : bool, optional
        Whether these are some of the judgements, so that there may be more.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"query": ["q"], "item": ["a"], "grade": [1.0]})
    >>> Judgements(frame, "a data frame").by_subtopic
    False
    """

    weights: QueryWeights | None = None
    """How much each query weighs, where a column says so."""
    part: bool = False
    """Whether these are some of the judgements, so that there may be more."""

    @property
    def by_subtopic(self) -> bool:
        """Whether each row is about one subtopic of its query."""
        return "subtopic" in self.frame.columns


@dataclass(frozen=True)
class Passed:
    """What was read and left out of a table, as nobody judged its queries."""

    queries: int = 0
    rows: int = 0
    names: tuple[str, ...] = ()
    """The first of these queries, for messages."""
    own: int = 0
    """Rows whose item has the id of its query."""


@dataclass(frozen=True, eq=False)
class Run(Table):
    """A system's results, as `read_run` returns them; rank is by score, whatever the rows' order.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns query, item, score. The order of rows matters only for `ties="input"`.
    source : str
        What messages call it.
    notes : tuple of str, optional
        What was repaired or assumed while reading.
    locate : callable, optional
        From row numbers to line numbers, for messages.
    rows : array of int, optional
        The number that each row had in the input, where rows were left out.
    queries : tuple of str, optional
        All queries, where some have nothing in them.
    basis : tuple of str, optional
        What was done to what is ranked, in words.
    dropped : int, optional
        How many rows were dropped that repeat others.
    name : str, optional
        What tables call the run.
    tag : str, optional
        What the run calls itself in its own file, where it does.
    passed : Passed, optional
        What was left out of a block, as nobody judged its queries.
    part : bool, optional
        Whether this is a block, so that the whole run may hold more.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"query": ["q"], "item": ["a"], "score": [2.5]})
    >>> Run(frame, "a data frame", name="bm25").name
    'bm25'
    """

    name: str = "run"
    """What tables call the run."""
    tag: str | None = None
    """What the run calls itself in its own file, where it does."""
    passed: Passed = Passed()
    """What was left out of a block, as nobody judged its queries."""
    part: bool = False
    """Whether this is a block, so that the whole run may hold more."""


@dataclass(frozen=True, eq=False)
class Lookup:
    """A run or judgements in a dict of dicts, looked into rather than copied.

    Parameters
    ----------
    lists : mapping
        {query: {item: score or grade}}, or {query: {item: {subtopic: grade}}}; ids are texts.
    source : str, optional
        What messages call it.
    notes : tuple of str, optional
        What was repaired or assumed.
    name : str, optional
        What tables call the run.
    by_subtopic : bool, optional
        Whether the judgements are by subtopic.
    repeated : tuple, optional
        (query, item) of each result that was left out, as a better-ranked one repeats it.
    basis : tuple of str, optional
        What was done to what is ranked, in words.
    tag : str, optional
        What the run calls itself in its own file, where it has one.

    >>> Lookup({"q": {"a": 2.5}}, name="bm25").lists["q"]
    {'a': 2.5}
    """

    lists: Mapping[str, Mapping[str, Any]]
    """{query: {item: score or grade}}, or {query: {item: {subtopic: grade}}}."""
    source: str = "a dict"
    """What messages call it."""
    notes: tuple[str, ...] = ()
    """What was repaired or assumed, a sentence each."""
    name: str = "run"
    """What tables call the run."""
    by_subtopic: bool = False
    """Whether the judgements are {query: {item: {subtopic: grade}}}."""
    repeated: tuple[tuple[str, str], ...] = ()
    """Query and item of each result of a list that was left out, as a better-ranked one is about
    the same item."""
    basis: tuple[str, ...] = ()
    """What was done to what is ranked, in words: part of the definition of every number."""
    tag: str | None = None
    """What the run calls itself in its own file, where it has one."""


@dataclass(frozen=True)
class Reading:
    """What a reader of one format found, before the checks that hold for all formats."""

    frame: pl.DataFrame
    """Columns query, item and score or grade; subtopic or iteration where there is one. A row that
    has neither item nor value names a query with nothing in it; one without a grade alone is of
    what nobody judged yet."""
    notes: tuple[str, ...] = ()
    locate: Locate | None = None
    tag: str | None = None


def texts(name: str, values: Iterable[str | None]) -> pl.Series:
    """A column of texts."""
    import polars as pl

    try:
        return pl.Series(name, list(values), dtype=pl.String)
    except UnicodeEncodeError as error:
        raise InputError(
            f"the {name} {error.object!r} holds half a character, as names of files may that are "
            "not UTF-8; a table cannot hold it. Rename it."
        ) from None


def from_rows(
    rows: Iterable[Row], kind: Kind, subtopic: str | None = None, extra: Iterable[str] = ()
) -> pl.DataFrame:
    """Packed a batch at a time, as rows in Python take ten times the memory; `subtopic` names the
    fourth column, `extra` those after it."""
    import polars as pl

    schema: dict[str, type[pl.DataType]] = {
        "query": pl.String,
        "item": pl.String,
        kind.value: pl.Float64,
        **dict.fromkeys(filter(None, [subtopic, *extra]), pl.String),
    }
    if "weight" in schema:
        schema["weight"] = pl.Float64
    width = len(schema)
    if width > 3:
        rows = (row if len(row) == width else (*row, *[None] * (width - len(row))) for row in rows)
    remaining: Iterator[tuple[Any, ...]] = iter(rows)
    batches = [pl.DataFrame(schema=schema)]
    while batch := list(islice(remaining, _BATCH)):
        batches.append(pl.DataFrame(batch, schema=schema, orient="row"))
    return pl.concat(batches, rechunk=False)


def is_complete(frame: pl.DataFrame) -> bool:
    """Whether no id is missing or empty and no value missing; `to_judgements` checks subtopics."""
    import polars as pl

    if sum(frame.select(pl.exclude(SUBTOPIC_COLUMNS)).null_count().row(0)):
        return False
    ids = [name for name in ("query", "item", "document") if name in frame.columns]
    empty = frame.lazy().select(pl.any_horizontal((pl.col(ids) == "").any())).collect()
    return not empty.item()


def as_score(value: pl.Expr, is_rank: bool) -> pl.Expr:
    """A rank becomes a score: the smaller, the better."""
    return -value if is_rank else value


def skipped_comments(comments: int) -> tuple[str, ...]:
    """The note on comment lines, where there were any."""
    words = "{} comment line was skipped.", "{} comment lines were skipped."
    return (Tallied(comments, *words),) if comments else ()


def to_run(reading: Reading, source: str, name: str) -> Run:
    """The last step of every reader of whole runs."""
    tag = reading.tag
    return run_of(Run(reading.frame, source, reading.notes, reading.locate, name=name, tag=tag))


def run_of(run: Run) -> Run:
    """The last step of every reader of runs, and of blocks of them."""
    run = _without_named_only(run)
    if any(isinstance(note, Ranked) for note in run.notes):
        refuse_negative_ranks(run)
    return run


def to_judgements(reading: Reading, source: str) -> Judgements:
    """The last step of every reader of judgements."""
    weights = None
    if "weight" in reading.frame.columns:
        from judged.inputs.query_weights import of_column

        weights = of_column(reading.frame, source)
    table = Judgements(reading.frame, source, reading.notes, reading.locate, weights=weights)
    table = _without_ungraded(_without_named_only(table))
    infinite = (~table.frame["grade"].is_finite()).arg_true().head(1).to_list()
    if infinite:
        value = {"inf": "infinite", "-inf": "minus infinity"}.get(
            str(table.frame["grade"][infinite[0]]), "NaN"
        )
        raise InputError(
            f"{source}, {table.where(infinite)}: the grade is {value}; a grade must be a finite "
            "number."
        )
    return replace(table, frame=_with_telling_subtopics(table))


AnyTable = TypeVar("AnyTable", Judgements, Run)


def _without_named_only(table: AnyTable) -> AnyTable:
    """The table without the rows that only name a query, and with all queries where there were
    such rows."""
    if table.frame.is_empty():
        raise InputError(f"{table.source}: holds no rows.")
    empty = table.frame["item"].is_null()
    if not empty.any():
        return table
    named = table.frame["query"]
    both = empty & named.is_in(named.filter(~empty).unique().implode())
    if odd := both.arg_true().head(1).to_list():
        raise InputError(f"{table.source}, {table.where(odd)}: the item is missing.")
    rows = (~empty).arg_true().to_numpy()
    return replace(
        table,
        frame=table.frame.filter(~empty),
        rows=rows if table.rows is None else table.rows[rows],
        queries=tuple(named.unique(maintain_order=True).to_list()),
    )


def ungraded_note(left: int) -> Warned:
    """What is said of rows without a grade."""
    them = "it" if left == 1 else "them"
    have = counted(left, "row has", "rows have")
    return Warned(f"{have} no grade: left out, as nobody judged {them}.")


def _without_ungraded(table: Judgements) -> Judgements:
    """The table without the rows that nobody judged yet: they have no grade, as in a file that
    annotators are filling in."""
    graded = table.frame["grade"].is_not_null()
    if graded.all():
        return table
    if not graded.any():
        raise InputError(f"{table.source}: no row has a grade.")
    rows = graded.arg_true().to_numpy()
    left = table.frame.height - len(rows)
    # A query of which nothing is judged is no judged query.
    named = set(table.frame["query"].to_list()) - set(table.frame["query"].filter(graded).to_list())
    note = ungraded_note(left)
    return replace(
        table,
        frame=table.frame.filter(graded),
        rows=rows if table.rows is None else table.rows[rows],
        queries=tuple(name for name in table.queries if name not in named),
        notes=(*table.notes, note),
    )


def _with_telling_subtopics(table: Table) -> pl.DataFrame:
    """Subtopics stay where they say something: not an empty column, nor an iteration that is the
    same in all rows."""
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
