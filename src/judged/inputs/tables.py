"""What every reader returns: tidy rows with what is needed to speak about them later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from judged.text import listed

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from judged.inputs.query_weights import QueryWeights

Locate = Callable[[Sequence[int]], list[int]]
"""Row numbers (from 0, ascending) to line numbers (from 1)."""
Places = Callable[[Sequence[int]], str]
"""Row numbers (from 0, ascending) to words, such as `row 3 of part-1.parquet`."""


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
    places: Places | None = None
    """From the numbers of rows, from 0, to words, where a number alone tells no place."""

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

        from judged.arrays import borders

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
        if self.places is not None:
            return self.places(rows)
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
    places : callable, optional
        From row numbers to words, where a number alone tells no place.
    weights : QueryWeights, optional
        How much each query weighs, where a column says so.
    part : bool, optional
        Whether these are some of the judgements, so that there may be more.
    may_be_run : bool, optional
        Whether neither the format nor a name tells these from a run.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"query": ["q"], "item": ["a"], "grade": [1.0]})
    >>> Judgements(frame, "a data frame").by_subtopic
    False
    """

    weights: QueryWeights | None = None
    """How much each query weighs, where a column says so."""
    part: bool = False
    """Whether these are some of the judgements, so that there may be more."""
    may_be_run: bool = False
    """Whether neither the format nor a name tells these from a run."""

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
    places : callable, optional
        From row numbers to words, where a number alone tells no place.
    name : str, optional
        What tables call the run.
    tag : str, optional
        What the run calls itself in its own file, where it does.
    passed : Passed, optional
        What was left out of a block, as nobody judged its queries.
    part : bool, optional
        Whether this is a block, so that the whole run may hold more.
    lost : Run, optional
        Rows without an item, of queries that have others.

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
    lost: Run | None = None
    """Rows without an item, of queries that have others: a mistake, where the query counts."""


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
    may_be_run : bool, optional
        Whether nothing tells these judgements from a run.

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
    may_be_run: bool = False
    """Whether nothing tells these judgements from a run."""


AnyTable = TypeVar("AnyTable", Judgements, Run)
