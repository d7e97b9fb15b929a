"""Assessors by name, people or models, and their grades side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats, Ints
from judged.errors import InputError, quoted
from judged.inputs import in_place, read_judgements
from judged.inputs.dicts import holds_several, with_texts
from judged.inputs.formats import distinct_names, named_file
from judged.inputs.tables import JUDGEMENTS, Judgements, Lookup, texts
from judged.judgements.collection import as_table
from judged.matching.join import distinct
from judged.matching.pool import pool_of
from judged.rankings.rankings import freeze
from judged.text import Warned, counted, with_source

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from judged.options import ColumnsLike, FileFormat

NEGATIVE_GRADES = "a negative grade means in the pool, but not judged"
JUDGEMENTS_FIRST = (
    "The judgements of two assessors come first, then runs; give further assessors as "
    "{name: judgements} (--judge FILE)."
)


def refuse_options(function: str, scoring: Mapping[str, Any], *names: str) -> None:
    """Raise an error if one of these options of scoring, which have no effect, is given."""
    for name in names:
        if scoring.get(name) is not None and scoring.get(name) is not False:
            raise InputError(f"{function} does not use {name}; leave it out.")


def named_assessors(first: Any, second: Any) -> dict[str, Any]:
    """Return two assessors by name, or those of {name: judgements}."""
    if second is None:
        return several_assessors(first, "agreement needs")
    pair = (first, second)
    if all(isinstance(judgements, (str, PathLike)) for judgements in pair):
        return _named_files(pair)
    return dict(zip(("first", "second"), pair, strict=True))


def _named_files(files: Sequence[Any]) -> dict[str, Any]:
    """Return files by their own names, or by the names in NAME=FILE."""
    named = [named_file(file) if isinstance(file, str) else (None, file) for file in files]
    names = [name for name, _ in named if name is not None]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"two assessors have the name {twice!r}; give each its own name.")
    return dict(zip(distinct_names(named), [file for _, file in named], strict=True))


def several_assessors(judgements: Any, needs: str) -> dict[str, Any]:
    """Return assessors by name, from {name: judgements} or files; `needs` begins errors."""
    if isinstance(judgements, (list, tuple)) and all(
        isinstance(file, (str, PathLike)) for file in judgements
    ):
        named = _named_files(judgements)
    elif isinstance(judgements, Mapping) and (holds_several(judgements) or _has_sets(judgements)):
        named = with_texts(judgements, "", "assessors")
    else:
        one = isinstance(judgements, (Mapping, Judgements, Lookup))
        raise InputError(
            f"{needs} two or more assessors: give {{name: judgements}}, or a list of files; got "
            f"only {'the judgements of one' if one else quoted(judgements)}."
        )
    if len(named) < 2:
        raise InputError(f"{needs} two or more assessors; got {len(named)}.")
    return named


def _has_sets(judgements: Mapping[Any, Any]) -> bool:
    """Return whether this is {assessor: {query: {relevant items}}}, with sets."""
    return any(
        isinstance(queries, Mapping) and isinstance(next(iter(queries.values()), None), Set)
        for queries in judgements.values()
    )


def read_assessors(
    named: Mapping[str, Any],
    *,
    columns: ColumnsLike | None = None,
    format: FileFormat | None = None,
    hint: str = JUDGEMENTS_FIRST,
) -> dict[str, Judgements | Lookup]:
    """Read the judgements of assessors; `hint` ends the error message if one is a run."""
    read = {}
    for name, judgements in named.items():
        try:
            read[name] = read_judgements(judgements, columns=columns, format=format)
        except InputError as error:
            raise in_place(error, judgements, JUDGEMENTS, hint) from None
    return read


@dataclass(frozen=True, eq=False)
class AssessorGrades:
    """The grades of all assessors, with a row for each judged item and a column per assessor."""

    assessors: tuple[str, ...]
    frame: pl.DataFrame
    """Query and item of each row, and the subtopic if judgements are by subtopic."""
    queries: tuple[str, ...]  # all queries, in the order of the assessors
    query: Ints  # query of each row, as an index into `queries`
    values: Floats  # grades; NaN if that assessor gave none
    negative: Floats  # negative grades, which are not judgements; NaN elsewhere
    named: NDArray[np.bool_]  # whether each assessor's data has a query, by query and assessor
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        freeze(self)

    @cached_property
    def there(self) -> NDArray[np.bool_]:
        """True for each row and each assessor who judged it."""
        return ~np.isnan(self.values)

    @cached_property
    def times(self) -> Ints:
        """Number of assessors who judged each row."""
        return self.there.sum(axis=1)

    @cached_property
    def unit(self) -> Ints:
        """Query of each row, numbered by name, so that resamples do not depend on file order."""
        return texts("query", self.queries).rank("dense").to_numpy().astype(np.int64)[self.query]

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """True for each query and each assessor with a grade of at least 0, or no grades at all."""
        grades, negative = (
            np.stack([np.bincount(self.query, rows, len(self.queries)) for rows in mask.T], axis=1)
            for mask in (self.there, ~np.isnan(self.negative))
        )
        return self.named & ~((negative > 0) & (grades == 0))

    def shared_queries(self) -> list[str]:
        """Return the queries that all assessors judged."""
        return [self.queries[row] for row in np.flatnonzero(self.judged.all(axis=1)).tolist()]

    def counted(self, number: int) -> str:
        """Return a number of judged items in words."""
        if "subtopic" in self.frame.columns:
            return counted(number, "item by subtopic", "items by subtopic")
        return counted(number, "item")


def grades_of(
    assessors: Mapping[str, Judgements | Lookup], *, duplicates: str = "error"
) -> AssessorGrades:
    """Put the grades of assessors side by side."""
    import polars as pl

    by_subtopic = {name: judgements.by_subtopic for name, judgements in assessors.items()}
    if len(set(by_subtopic.values())) > 1:
        with_subtopics = next(name for name, has in by_subtopic.items() if has)
        without = next(name for name, has in by_subtopic.items() if not has)
        raise InputError(
            f"{with_subtopics} judged by subtopic, and {without} did not, so their grades cannot "
            "be compared. Give all of them by subtopic, or none."
        )
    tables = [_grade_table(judgements, duplicates) for judgements in assessors.values()]
    keys = [name for name in tables[0].columns if name != "grade"]
    names = [texts("query", judgements.names()) for judgements in assessors.values()]
    queries = pl.concat(names).unique(maintain_order=True)
    frame = pl.concat([table.select(keys) for table in tables]).unique(maintain_order=True)
    numbers = queries.to_frame().with_row_index("number")
    frame = frame.join(numbers, on="query", maintain_order="left").sort(
        "number", maintain_order=True
    )
    rows = frame.select(keys).with_row_index("row")
    values = np.full((frame.height, len(tables)), np.nan)
    for column, table in zip(values.T, tables, strict=True):
        placed = table.join(rows, on=keys, maintain_order="left")
        column[placed["row"].to_numpy()] = placed["grade"].to_numpy()
    negative = values < 0
    notes = [note for name, read in assessors.items() for note in with_source(name, read.notes)]
    for name, count in zip(assessors, negative.sum(axis=0).tolist(), strict=True):
        if count:
            verb = counted(count, "grade is", "grades are")
            notes.append(Warned(f"{name}: {verb} negative and ignored; {NEGATIVE_GRADES}."))
    return AssessorGrades(
        assessors=tuple(assessors),
        frame=frame.select(keys),
        queries=tuple(queries.to_list()),
        query=frame["number"].to_numpy().astype(np.int64),
        values=np.where(negative, np.nan, values),
        negative=np.where(negative, values, np.nan),
        named=np.stack([queries.is_in(known.implode()).to_numpy() for known in names], axis=1),
        notes=tuple(notes),
    )


def _grade_table(judgements: Judgements | Lookup, duplicates: str) -> pl.DataFrame:
    """Return query, item, subtopic if there are any, and grade."""
    import polars as pl

    if not judgements.by_subtopic:
        pool = pool_of(judgements, duplicates=duplicates)
        return pool.frame.with_columns(pl.Series("grade", pool.grades, dtype=pl.Float64))
    table = distinct(as_table(judgements), duplicates).table
    return table.frame.select("query", "item", "subtopic", "grade")


def on_queries(judgements: Judgements | Lookup, queries: Sequence[str]) -> Judgements | Lookup:
    """Return the judgements of some queries."""
    wanted = set(queries)
    if isinstance(judgements, Lookup):
        lists = {query: items for query, items in judgements.lists.items() if query in wanted}
        return replace(judgements, lists=lists)
    inside = judgements.frame["query"].is_in(texts("query", queries).implode())
    rows = inside.arg_true().to_numpy()
    return replace(
        judgements,
        frame=judgements.frame.filter(inside),
        rows=rows if judgements.rows is None else judgements.rows[rows],
        queries=tuple(query for query in judgements.queries or () if query in wanted),
    )
