"""The last step of each reader: checks that hold for all formats, then the table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

import polars as pl

from judged.errors import InputError
from judged.inputs.kinds import Kind
from judged.inputs.tables import Judgements, Locate, Run, Table

_BATCH = 100_000

SUBTOPIC_COLUMNS = ("subtopic", "iteration")
"""What a reader calls the column with the subtopics; `iteration` is TREC's, which may be a filler.
"""


@dataclass(frozen=True)
class Reading:
    """What a reader of one format found: columns query, item and score or grade; subtopic or
    iteration where there is one."""

    frame: pl.DataFrame
    notes: tuple[str, ...] = ()
    locate: Locate | None = None
    tag: str | None = None


Row = tuple[str, str, float] | tuple[str, str, float, str]
"""Query, item, value and, of judgements by subtopic, the subtopic."""


def from_rows(rows: Iterable[Row], kind: Kind, subtopic: str | None = None) -> pl.DataFrame:
    """Packed a batch at a time, as rows in Python take ten times the memory; `subtopic` names the
    fourth column."""
    schema: dict[str, type[pl.DataType]] = {
        "query": pl.String,
        "item": pl.String,
        kind.value: pl.Float64,
    }
    if subtopic is not None:
        schema[subtopic] = pl.String
    remaining = iter(rows)
    batches = [pl.DataFrame(schema=schema)]
    while batch := list(islice(remaining, _BATCH)):
        batches.append(pl.DataFrame(batch, schema=schema, orient="row"))
    return pl.concat(batches, rechunk=False)


def is_complete(frame: pl.DataFrame) -> bool:
    """Whether no id is missing or empty and no value is missing; of subtopics `to_judgements`
    speaks."""
    if sum(frame.select(pl.exclude(SUBTOPIC_COLUMNS)).null_count().row(0)):
        return False
    empty = frame.lazy().select(pl.any_horizontal((pl.col("query", "item") == "").any())).collect()
    return not empty.item()


def to_run(reading: Reading, source: str, name: str) -> Run:
    _check(reading, source)
    return Run(reading.frame, source, reading.notes, reading.locate, name, reading.tag)


def to_judgements(reading: Reading, source: str) -> Judgements:
    _check(reading, source)
    infinite = (~reading.frame["grade"].is_finite()).arg_true().head(1).to_list()
    if infinite:
        place = Table(reading.frame, source, locate=reading.locate).where(infinite)
        value = {"inf": "infinite", "-inf": "minus infinity"}.get(
            str(reading.frame["grade"][infinite[0]]), "NaN"
        )
        raise InputError(
            f"{source}, {place}: the grade is {value}; a grade must be a finite number."
        )
    return Judgements(
        _with_telling_subtopics(reading, source), source, reading.notes, reading.locate
    )


def _with_telling_subtopics(reading: Reading, source: str) -> pl.DataFrame:
    """Subtopics stay where they say something: not an empty column, nor an iteration that is the
    same in all rows."""
    frame = reading.frame
    name = next((name for name in SUBTOPIC_COLUMNS if name in frame.columns), None)
    if name is None:
        return frame
    column = frame[name]
    if name == "iteration" and column.eq_missing(column[0]).all():
        return frame.drop(name)
    missing = column.is_null() | (column == "")
    if missing.all():
        return frame.drop(name)
    if missing.any():
        place = Table(frame, source, locate=reading.locate).where(
            missing.arg_true().head(1).to_list()
        )
        raise InputError(
            f"{source}, {place}: the subtopic is missing; give one in every row, or in none."
        )
    return frame.rename({name: "subtopic"})


def _check(reading: Reading, source: str) -> None:
    if reading.frame.is_empty():
        raise InputError(f"{source}: holds no rows.")


def turned_around(value: pl.Expr, is_rank: bool) -> pl.Expr:
    """A rank becomes a score: the smaller, the better."""
    return -value if is_rank else value
