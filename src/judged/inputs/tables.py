"""What every reader returns: tidy rows with what is needed to speak about them later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

Locate = Callable[[Sequence[int]], list[int]]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows in the order of the input: `query` and `item` (String, no nulls) and one Float64 column,
    `score` or `grade`; judgements by subtopic have a `subtopic` too (String, no nulls)."""

    frame: pl.DataFrame
    source: str
    """What messages call it: a path as given, "standard input", "a dict", "a data frame"."""
    notes: tuple[str, ...] = ()
    """What was repaired or assumed while reading, a sentence each; it goes into the audit."""
    locate: Locate | None = None
    """Row numbers (from 0, ascending) to line numbers (from 1), by a second look at the source;
    None if it has no lines."""

    def where(self, rows: Sequence[int]) -> str:
        """The places of some rows for a message: "lines 3 and 7" of a file, "rows 3 and 7" of a
        frame (from 1)."""
        word, numbers = (
            ("line", self.locate(rows)) if self.locate else ("row", [row + 1 for row in rows])
        )
        text = [str(number) for number in numbers]
        return (
            f"{word} {text[0]}"
            if len(text) == 1
            else f"{word}s {', '.join(text[:-1])} and {text[-1]}"
        )


@dataclass(frozen=True, eq=False)
class Judgements(Table):
    """Who judged what how: columns query, item, grade; and subtopic, where each is about one
    subtopic of its query."""

    @property
    def by_subtopic(self) -> bool:
        return "subtopic" in self.frame.columns


@dataclass(frozen=True, eq=False)
class Run(Table):
    """A system's results: columns query, item, score. Rank is by score; the order of rows matters
    only for `ties="input"`."""

    name: str = "run"
    tag: str | None = None
    """What the run calls itself in its own file, where it does."""


@dataclass(frozen=True, eq=False)
class Lookup:
    """A run or judgements held as a dict of dicts, looked into rather than copied: {query: {item:
    score or grade}}."""

    lists: Mapping[str, Mapping[str, Any]]
    source: str = "a dict"
    notes: tuple[str, ...] = ()
    name: str = "run"
    by_subtopic: bool = False
    """Whether the judgements are {query: {item: {subtopic: grade}}}."""
