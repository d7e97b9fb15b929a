"""Judges as they were given, by name; what each judged is read, checked and laid side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats, Ints, freeze
from judged.errors import InputError, quoted
from judged.inputs import as_runs, in_place, read_judgements
from judged.inputs import read_runs as read_named_runs
from judged.inputs.dicts import holds_several, with_texts
from judged.inputs.formats import distinct_names, named_file
from judged.inputs.tables import JUDGEMENTS, Judgements, Lookup, Run, texts
from judged.matching.join import distinct
from judged.matching.pool import pool_of
from judged.matching.subtopics import rows_of
from judged.text import Warned, counted, with_source

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from judged.options import ColumnsLike, FileFormat, RunsLike

NO_JUDGEMENT = "a negative grade is no judgement (in the pool, but not judged)"
JUDGES_FIRST = (
    "The judgements of two judges come first, then runs; further judges are given as {name: "
    "judgements} (--judge FILE)."
)
ORDINALS = ("first", "second")
"""What two judges are called that have no names."""


def named_judges(first: Any, second: Any) -> dict[str, Any]:
    """The judges by name: two, or {name: judgements} alone."""
    if second is None:
        return several_judges(first, "agreement takes")
    given = (first, second)
    if all(isinstance(each, (str, PathLike)) for each in given):
        return named_files(given)
    return dict(zip(ORDINALS, given, strict=True))


def named_files(files: Sequence[Any]) -> dict[str, Any]:
    """Files by their own names, or by those given as NAME=FILE."""
    named = [named_file(each) if isinstance(each, str) else (None, each) for each in files]
    names = [name for name, _ in named if name is not None]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"two judges are called {twice!r}; give each a name of its own.")
    return dict(zip(distinct_names(named), [file for _, file in named], strict=True))


def several_judges(given: Any, what: str) -> dict[str, Any]:
    """The judges by name, where they are given as one: {name: judgements}, or a list of files;
    `what` begins the message where there are not two."""
    if isinstance(given, (list, tuple)) and all(
        isinstance(each, (str, PathLike)) for each in given
    ):
        named = named_files(given)
    elif isinstance(given, Mapping) and (holds_several(given) or _holds_sets(given)):
        named = with_texts(given, "", "judges")
    else:
        raise InputError(
            f"{what} two judges or more: give {{name: judgements}}, or a list of files; got "
            f"{_what(given)} alone."
        )
    if len(named) < 2:
        raise InputError(f"{what} two judges or more; got {counted(len(named), 'judge')}.")
    return named


def _holds_sets(given: Mapping[Any, Any]) -> bool:
    """Whether this is {judge: {query: {relevant items}}}, of sets."""
    return any(
        isinstance(own, Mapping) and isinstance(next(iter(own.values()), None), Set)
        for own in given.values()
    )


def _what(given: Any) -> str:
    if isinstance(given, (Mapping, Judgements, Lookup)):
        return "the judgements of one"
    return quoted(given)


def read_judges(
    named: Mapping[str, Any],
    *,
    columns: ColumnsLike | None = None,
    format: FileFormat | None = None,
    where: str = JUDGES_FIRST,
) -> dict[str, Judgements | Lookup]:
    """What each of the judges judged; `where` says what is read, should one be a run."""
    found = {}
    for name, given in named.items():
        try:
            found[name] = read_judgements(given, columns=columns, format=format)
        except InputError as error:
            raise in_place(error, given, JUDGEMENTS, where) from None
    return found


def read_runs(
    runs: RunsLike, *, columns: ColumnsLike | None = None, format: FileFormat | None = None
) -> dict[str, Run | Lookup]:
    """The runs by name."""
    named = as_runs(runs)
    found = read_named_runs(named, JUDGES_FIRST, columns=columns, format=format)
    return dict(zip([name or "run" for name in named], found, strict=True))


@dataclass(frozen=True, eq=False)
class Grades:
    """Who gave which grade to what: a row for everything that somebody judged."""

    judges: tuple[str, ...]
    frame: pl.DataFrame
    """Query and item of each row; and the subtopic, where judgements are by subtopic."""
    queries: tuple[str, ...]
    """All queries, in the order of the judges."""
    query: Ints
    """The query of each row, as an index into `queries`."""
    values: Floats
    """A column per judge; NaN where that judge gave no grade."""
    negative: Floats
    """The same of negative grades, which are no judgements."""
    named: NDArray[np.bool_]
    """Which judge, a column each, has which of the queries."""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        freeze(self)

    @cached_property
    def there(self) -> NDArray[np.bool_]:
        """Who judged what."""
        return ~np.isnan(self.values)

    @cached_property
    def times(self) -> Ints:
        """By how many each row was judged."""
        return self.there.sum(axis=1)

    @cached_property
    def unit(self) -> Ints:
        """What is resampled: the query of each row, numbered by name, so that the order in which a
        file has them plays no part."""
        return texts("query", self.queries).rank("dense").to_numpy().astype(np.int64)[self.query]

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """Which judge judged which of the queries: one that has nothing but negative grades was
        not."""
        grades, none = (
            np.stack([np.bincount(self.query, each, len(self.queries)) for each in there.T], axis=1)
            for there in (self.there, ~np.isnan(self.negative))
        )
        return self.named & ~((none > 0) & (grades == 0))

    def shared_queries(self) -> list[str]:
        """The queries that all judged."""
        return [self.queries[at] for at in np.flatnonzero(self.judged.all(axis=1)).tolist()]

    def counted(self, number: int) -> str:
        """So many of what is judged, in words."""
        if "subtopic" in self.frame.columns:
            return counted(number, "item by subtopic", "items by subtopic")
        return counted(number, "item")


def grades_of(judges: Mapping[str, Judgements | Lookup], *, duplicates: str = "error") -> Grades:
    """What the judges gave, side by side."""
    import polars as pl

    by_subtopic = {name: each.by_subtopic for name, each in judges.items()}
    if len(set(by_subtopic.values())) > 1:
        some = next(name for name, has in by_subtopic.items() if has)
        other = next(name for name, has in by_subtopic.items() if not has)
        raise InputError(
            f"{some} judged by subtopic, and {other} did not: their grades are of different "
            "things. Give all of them by subtopic, or none."
        )
    tables = [_rows(each, duplicates) for each in judges.values()]
    keys = [name for name in tables[0].columns if name != "grade"]
    names = [texts("query", _names(each)) for each in judges.values()]
    queries = pl.concat(names).unique(maintain_order=True)
    frame = pl.concat([each.select(keys) for each in tables]).unique(maintain_order=True)
    numbers = queries.to_frame().with_row_index("number")
    frame = frame.join(numbers, on="query", maintain_order="left").sort(
        "number", maintain_order=True
    )
    rows = frame.select(keys).with_row_index("row")
    values = np.full((frame.height, len(tables)), np.nan)
    for column, table in zip(values.T, tables, strict=True):
        found = table.join(rows, on=keys, maintain_order="left")
        column[found["row"].to_numpy()] = found["grade"].to_numpy()
    none = values < 0
    notes = [note for name, each in judges.items() for note in with_source(name, each.notes)]
    return Grades(
        judges=tuple(judges),
        frame=frame.select(keys),
        queries=tuple(queries.to_list()),
        query=frame["number"].to_numpy().astype(np.int64),
        values=np.where(none, np.nan, values),
        negative=np.where(none, values, np.nan),
        named=np.stack([queries.is_in(each.implode()).to_numpy() for each in names], axis=1),
        notes=(*notes, *_about_negative(tuple(judges), none.sum(axis=0))),
    )


def _about_negative(judges: Sequence[str], counts: Ints) -> list[str]:
    return [
        Warned(f"{name}: {counted(int(count), 'grade is', 'grades are')} negative; {NO_JUDGEMENT}.")
        for name, count in zip(judges, counts, strict=True)
        if count
    ]


def _names(judgements: Judgements | Lookup) -> list[str]:
    return list(judgements.lists) if isinstance(judgements, Lookup) else judgements.names()


def _rows(judgements: Judgements | Lookup, duplicates: str) -> pl.DataFrame:
    """Query, item, subtopic where there are some, and grade."""
    import polars as pl

    if not judgements.by_subtopic:
        pool = pool_of(judgements, duplicates=duplicates)
        return pool.frame.with_columns(pl.Series("grade", pool.grades, dtype=pl.Float64))
    if isinstance(judgements, Lookup):
        found = rows_of(judgements)
        query = texts("query", judgements.lists).gather(found["number"])
        table = Judgements(
            found.select("item", "subtopic", "grade").insert_column(0, query), judgements.source
        )
    else:
        table = judgements
    return distinct(table, duplicates).table.frame.select("query", "item", "subtopic", "grade")


def on_queries(judgements: Judgements | Lookup, queries: Sequence[str]) -> Judgements | Lookup:
    """The judgements of some of the queries."""
    import polars as pl

    if isinstance(judgements, Lookup):
        kept = set(queries)
        lists = {query: each for query, each in judgements.lists.items() if query in kept}
        return replace(judgements, lists=lists)
    wanted = texts("query", queries)
    inside = judgements.frame["query"].is_in(wanted.implode())
    rows = inside.arg_true().to_numpy()
    named = judgements.queries and tuple(
        pl.Series(judgements.queries, dtype=pl.String)
        .to_frame("query")
        .join(wanted.to_frame(), on="query", how="semi", maintain_order="left")["query"]
    )
    return replace(
        judgements,
        frame=judgements.frame.filter(inside),
        rows=rows if judgements.rows is None else judgements.rows[rows],
        queries=named or (),
    )
