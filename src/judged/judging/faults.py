"""What may be wrong with a run or with judgements: rows that repeat others, scores that are NaN,
ids that do not meet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError
from judged.inputs.agreement import agreement
from judged.inputs.order import OrderOnly
from judged.inputs.tables import AnyTable, Lookup, Run, Table
from judged.judging.ids import WHOSE
from judged.segments import Floats, Ints
from judged.text import Warned, counted

if TYPE_CHECKING:
    from judged.judging.pool import Pool


def identity(table: Table) -> list[str]:
    """The columns that no two rows may have in common."""
    return [name for name in ("query", "item", "subtopic") if name in table.frame.columns]


def repeated(table: Table, suspects: Ints) -> Ints:
    """Those of some rows that are really about the same as another of them."""
    import polars as pl

    rows = np.unique(suspects)
    same = (
        table.frame[rows].select(pl.struct(identity(table)).is_duplicated()).to_series().to_numpy()
    )
    return rows[same]


def without_repeats(table: AnyTable, rows: Ints, duplicates: str) -> AnyTable:
    """The table with only the best-ranked of the rows about the same, or an error that names the
    rows."""
    if duplicates == "error":
        raise InputError(_duplicate_message(table, rows))
    frame = table.frame.with_row_index("row")
    if isinstance(table, Run):
        frame = frame.sort("score", descending=True, maintain_order=True)
    kept = frame.unique(identity(table), keep="first", maintain_order=True).sort("row")
    numbers = kept["row"].to_numpy()
    return replace(
        table,
        frame=kept.drop("row"),
        rows=numbers if table.rows is None else table.rows[numbers],
        dropped=table.dropped + table.frame.height - kept.height,
    )


_ADVICE = (
    "Remove the repetitions, or keep the best-ranked of each with duplicates='first' "
    "(--duplicates first)."
)


def refuse_repeated(run: Lookup, duplicates: str) -> None:
    """An error that names the first result of a list in a dict that repeats another."""
    if run.repeated and duplicates == "error":
        query, item = run.repeated[0]
        others = len(set(run.repeated)) - 1
        more = f" (and {counted(others, 'more such pair')})" if others else ""
        raise InputError(
            f"{run.source}: query {query!r} has item {item!r} more than once{more}. {_ADVICE}"
        )


def _duplicate_message(table: Table, rows: Ints) -> str:
    import polars as pl

    same = table.frame[rows].select(identity(table))
    first = same.row(0, named=True)
    mates = rows[
        same.select(pl.all_horizontal(pl.col(name) == value for name, value in first.items()))
        .to_series()
        .to_numpy()
    ]
    about = f" for subtopic {first['subtopic']!r}" if "subtopic" in first else ""
    others = same.n_unique() - 1
    more = (
        f" (and {counted(others, 'more such triple' if about else 'more such pair')})"
        if others
        else ""
    )
    return (
        f"{table.source}, {table.where(mates[:10].tolist())}: "
        f"query {first['query']!r} has item {first['item']!r} more than once{about}{more}. "
        f"{_ADVICE}"
    )


def nan_message(run: Run, rows: Ints) -> str:
    query, item = run.frame.row(int(rows[0]))[:2]
    more = f" (and {len(rows) - 1:,} more)" if len(rows) > 1 else ""
    return (
        f"{run.source}, {run.where([int(rows[0])])}: the score of item {item!r} for query "
        f"{query!r} is NaN{more}. "
        "A NaN has no place in a ranking; give it a number or remove the row."
    )


EMPTY = "the run is empty. An empty run is not a system that scored zero; is it the right one?"


def nothing_in_common(pool: Pool, run: Run | Lookup) -> str:
    there = list(run.lists) if isinstance(run, Lookup) else run.names()
    if not there:
        return f"{run.source}: {EMPTY}"
    message = (
        f"{run.source} and {pool.name} have no query in common. "
        f"The run has {_few(there)}; the judgements have {_few(pool.queries)}."
    )
    for hint, change in _HINTS.items():
        if {change(query) for query in there[:1000]} & {change(query) for query in pool.queries}:
            return f"{message} {hint}"
    like = agreement(there[:1000], pool.queries, WHOSE)
    return f"{message} {like or 'Do the two belong to the same collection?'}"


_HINTS: dict[str, Callable[[str], str]] = {
    "They would agree without leading zeros: ids are compared as exact texts.": lambda query: (
        query.lstrip("0") or "0"
    ),
    "They would agree if numbers such as 1.0 were written 1: were ids read as "
    "numbers?": lambda query: query.removesuffix(".0"),
    "They would agree but for upper and lower case: ids are compared as exact texts.": str.lower,
    "They would agree but for white space at the ends: ids are compared as exact texts.": str.strip,
}


def _few(queries: list[str] | tuple[str, ...]) -> str:
    shown = ", ".join(repr(query) for query in queries[:3])
    return f"{shown}, …" if len(queries) > 3 else shown


WHOLE = 2.0**53
"""From here on not every whole number is a floating-point number."""


def doubtful_ties(
    queries: Sequence[str], query: Ints, score: Floats, tied: NDArray[np.bool_]
) -> Iterator[str]:
    """A warning where scores that tie are so large that they may differ in the input."""
    large = np.flatnonzero(tied & (np.abs(score) >= WHOLE) & np.isfinite(score))
    if len(large):
        at = large[0]
        yield Warned(
            f"{counted(len(large), 'judged result')} of tied scores from 2^53 on, such as "
            f"{score[at]:.0f} of query {queries[query[at]]!r}: whole numbers that large may differ "
            "in the input and be the same as floating-point numbers. Give smaller scores, or ranks."
        )


_FEWEST = 3
"""So many lists, of so many results each, rise hardly ever by chance."""


def rising_scores(scores: Floats, lengths: Ints, notes: Sequence[str]) -> Iterator[str]:
    """A warning where the scores of nearly all lists rise from line to line, as distances do;
    nothing where there is an order alone, or a reader's notes speak of distances already."""
    if any(isinstance(note, OrderOnly) or "distances" in note for note in notes):
        return
    rows = np.repeat(np.arange(len(lengths)), lengths)
    within = rows[1:] == rows[:-1]
    falls, rises = (
        np.bincount(rows[1:][step & within], minlength=len(lengths))
        for step in (scores[1:] < scores[:-1], scores[1:] > scores[:-1])
    )
    long = (lengths >= _FEWEST) & (falls + rises > 0)
    rising = int((long & (falls == 0)).sum())
    if rising >= max(_FEWEST, 0.9 * long.sum()):
        yield Warned(
            f"The scores rise from line to line in {counted(rising, 'list')}, as distances do; "
            "ranks are by score, the greatest first, so that such a list is read backwards. If "
            "they are distances, give them a minus sign, or give ranks."
        )
