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


@dataclass(frozen=True)
class Reading:
    """What a reader of one format found: columns query, item and score or grade."""

    frame: pl.DataFrame
    notes: tuple[str, ...] = ()
    locate: Locate | None = None


def from_rows(rows: Iterable[tuple[str, str, float]], kind: Kind) -> pl.DataFrame:
    """Packed a batch at a time, as rows in Python take ten times the memory."""
    schema = {"query": pl.String, "item": pl.String, kind.value: pl.Float64}
    remaining = iter(rows)
    batches = [pl.DataFrame(schema=schema)]
    while batch := list(islice(remaining, _BATCH)):
        batches.append(pl.DataFrame(batch, schema=schema, orient="row"))
    return pl.concat(batches, rechunk=False)


def is_complete(frame: pl.DataFrame) -> bool:
    """Whether no id is missing or empty and no value is missing."""
    if sum(frame.null_count().row(0)):
        return False
    empty = frame.lazy().select(pl.any_horizontal((pl.col("query", "item") == "").any())).collect()
    return not empty.item()


def to_run(reading: Reading, source: str, name: str) -> Run:
    _check(reading, source)
    return Run(reading.frame, source, reading.notes, reading.locate, name)


def to_judgements(reading: Reading, source: str) -> Judgements:
    _check(reading, source)
    infinite = (~reading.frame["grade"].is_finite()).arg_true().head(1).to_list()
    if infinite:
        place = Table(reading.frame, source, locate=reading.locate).where(infinite)
        value = {"inf": "infinite", "-inf": "minus infinity"}.get(str(reading.frame["grade"][infinite[0]]), "NaN")
        raise InputError(f"{source}, {place}: the grade is {value}; a grade must be a finite number.")
    return Judgements(reading.frame, source, reading.notes, reading.locate)


def _check(reading: Reading, source: str) -> None:
    if reading.frame.is_empty():
        raise InputError(f"{source}: holds no rows.")


def turned_around(value: pl.Expr, is_rank: bool) -> pl.Expr:
    """A rank becomes a score: the smaller, the better."""
    return -value if is_rank else value
