"""What may be wrong with a run or with judgements: rows that repeat others, scores that are NaN,
ids that do not meet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, descending, starts_of
from judged.errors import InputError
from judged.inputs.agreement import agreement
from judged.inputs.order import AgainstRanks, OrderOnly
from judged.inputs.tables import AnyTable, Lookup, Run, Table, lost_message
from judged.matching.ids import WHOSE
from judged.text import Warned, counted

if TYPE_CHECKING:
    from judged.inputs.remote import AnyRun
    from judged.matching.pool import Pool


def identity(table: Table) -> list[str]:
    """The columns that no two rows may have in common."""
    return [name for name in ("query", "item", "subtopic") if name in table.frame.columns]


def repeated(table: Table, suspects: Ints) -> Ints:
    """Those of some rows that are really about the same as another of them."""
    import polars as pl

    if not len(suspects):
        return suspects
    rows = np.unique(suspects)
    same = (
        table.frame[rows].select(pl.struct(identity(table)).is_duplicated()).to_series().to_numpy()
    )
    return rows[same]


def without_repeats(table: AnyTable, rows: Ints, duplicates: str) -> AnyTable:
    """The table with only the best-ranked of some rows that are about the same, or an error that
    names the rows."""
    if duplicates == "error":
        raise InputError(_duplicate_message(table, rows))
    repeats = table.frame[rows].with_columns(row=rows)
    if isinstance(table, Run):
        repeats = repeats.sort("score", descending=True, maintain_order=True)
    first = repeats.unique(identity(table), keep="first", maintain_order=True)
    kept = np.ones(table.frame.height, bool)
    kept[rows] = False
    kept[first["row"].to_numpy()] = True
    numbers = np.flatnonzero(kept)
    return replace(
        table,
        frame=table.frame[numbers],
        rows=numbers if table.rows is None else table.rows[numbers],
        dropped=table.dropped + table.frame.height - len(numbers),
    )


ADVICE = (
    "Remove the repetitions, or keep the best-ranked of each with duplicates='first' "
    "(--duplicates first)."
)


def refuse_repeated(
    run: Lookup, duplicates: str, judged: Collection[str] | None = None
) -> tuple[tuple[str, str], ...]:
    """The results of lists in a dict that repeat others, of these queries; an error that names the
    first where that is the rule."""
    again = run.repeated
    if judged is not None and again:
        again = tuple(pair for pair in again if pair[0] in judged)
    if again and duplicates == "error":
        raise InputError(repeated_message(run.source, *again[0], len(set(again)) - 1))
    return again


def repeated_message(source: str, query: str, item: str, others: int) -> str:
    """The message about an item that a list has twice, and so many others."""
    more = f" (and {counted(others, 'more such pair')})" if others else ""
    return f"{source}: query {query!r} has item {item!r} more than once{more}. {ADVICE}"


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
    one = "more such triple" if about else "more such pair"
    more = f" (and {_least(table)}{counted(others, one)})" if others else ""
    return (
        f"{table.source}, {table.where(mates[:10].tolist())}: "
        f"query {first['query']!r} has item {first['item']!r} more than once{about}{more}. "
        f"{ADVICE}"
    )


def nan_message(run: Run, rows: Ints) -> str:
    query, item = run.frame.row(int(rows[0]))[:2]
    more = f" (and {_least(run)}{len(rows) - 1:,} more)" if len(rows) > 1 else ""
    return (
        f"{run.source}, {run.where([int(rows[0])])}: the score of item {item!r} for query "
        f"{query!r} is NaN{more}. {NAN_ADVICE}"
    )


def _least(table: Table) -> str:
    """What stands before a number of rows: a block does not tell what others hold."""
    return "at least " if getattr(table, "part", False) else ""


def refuse_lost(run: Run, judged: Collection[str] | None = None) -> None:
    """Refuse a row without an item in a list of these queries, or of any."""
    if run.lost is None:
        return
    for row, query in enumerate(run.lost.frame["query"].to_list()):
        if judged is None or query in judged:
            raise InputError(lost_message(run.lost, row))


NAN_ADVICE = "A NaN has no place in a ranking; give it a number or remove the row."


EMPTY = "the run is empty. An empty run is not a system that scored zero; is it the right one?"


def nothing_in_common(pool: Pool, source: str, there: Sequence[str]) -> str:
    """What is said where a run has none of the judged queries; `there` are those that it has."""
    return nothing_in_common_of(pool.name, pool.queries, source, there)


def nothing_in_common_of(
    judgements: str, queries: Sequence[str], source: str, there: Sequence[str]
) -> str:
    """The same of judgements that are elsewhere, by their name and some of their queries."""
    if not there:
        return f"{source}: {EMPTY}"
    message = (
        f"{source} and {judgements} have no query in common. "
        f"The run has {_few(there)}; the judgements have {_few(queries)}."
    )
    for hint, change in _HINTS.items():
        if {change(query) for query in there[:1000]} & {change(query) for query in queries}:
            return f"{message} {hint}"
    like = agreement(there[:1000], queries, WHOSE)
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


def _few(queries: Sequence[str]) -> str:
    shown = ", ".join(repr(query) for query in queries[:3])
    return f"{shown}, …" if len(queries) > 3 else shown


_TOP_GRADE = 10
"""Whole numbers up to this may be grades."""


def refuse_swapped(pool: Pool, run: AnyRun, scores: Floats, lengths: Ints) -> None:
    """Refuse judgements and a run that were given in the wrong order.

    The grades are then scores: fractions that differ within a query. The scores are grades: small
    whole numbers that are not ranks counted down. Formats and names of columns that tell
    judgements from a run rule this out.
    """
    grades = pool.grades
    judgements = pool.source if isinstance(pool.source, Lookup) else pool.source.table
    if not judgements.may_be_run or getattr(run, "tag", None) is not None:
        return
    if len(grades) < 2 or len(scores) < 2 or not _are_scores(pool):
        return
    if not ((scores % 1 == 0) & (scores >= 0) & (scores <= _TOP_GRADE)).all():
        return
    if _counts_down(descending(scores, lengths), lengths):
        return
    raise InputError(
        f"{run.source} looks like judgements (whole numbers such as {scores[0]:g}), and "
        f"{pool.name} like a run (scores such as {grades[grades % 1 != 0][0]:g}). Were the two "
        "given in the wrong order? If not, give the judgements as a table with a column 'grade', "
        "or add 0.5 to every score, which changes no rank and no tie."
    )


def _counts_down(scores: Floats, lengths: Ints) -> bool:
    """Return whether scores, in falling order, are a constant minus the rank in every list.

    The grades of two items often are 1 and 0, so that lists of two have to end with 1.
    """
    longest = int(lengths.max())
    if longest < 2 or (longest == 2 and (scores[np.cumsum(lengths)[lengths > 0] - 1] != 1).any()):
        return False
    rows = np.repeat(np.arange(len(lengths)), lengths)
    return bool((np.diff(scores)[rows[1:] == rows[:-1]] == -1).all())


def _are_scores(pool: Pool) -> bool:
    """Return whether grades are fractions, other than quarters, that differ within a query."""
    grades = pool.grades
    if not (grades[:1000] % 1).any():  # as nearly always
        return False
    if np.count_nonzero(grades % 1) * 2 < len(grades) or not (grades * 4 % 1).any():
        return False
    best, query = pool.best_first, pool.query
    tied = int(np.count_nonzero((best[1:] == best[:-1]) & (query[1:] == query[:-1])))
    return tied * 10 <= len(grades) and len(np.unique(grades)) >= min(len(grades) / 2, 12)


WHOLE = 2.0**53
"""From here on not every whole number is a floating-point number."""


@dataclass(frozen=True)
class LargeTies:
    """Scores that tie and are so large that they may differ in the input."""

    number: int = 0
    """How many judged results have such a score."""
    query: str = ""
    """The first of their queries by its id, and the score there."""
    score: float = 0.0

    @classmethod
    def of(
        cls, queries: Sequence[str], query: Ints, score: Floats, tied: NDArray[np.bool_]
    ) -> LargeTies:
        """Those of the hits of some queries, whose scores tie where `tied` says so."""
        large = np.flatnonzero(tied & (np.abs(score) >= WHOLE) & np.isfinite(score))
        if not len(large):
            return cls()
        names = [queries[at] for at in query[large].tolist()]
        first, greatest = min(zip(names, (-score[large]).tolist(), strict=True))
        return cls(len(large), first, -greatest)

    def plus(self, other: LargeTies) -> LargeTies:
        """What two blocks tell together."""
        if not (self.number and other.number):
            return self if self.number else other
        first = min(self, other, key=lambda each: each.query)
        return replace(first, number=self.number + other.number)

    def sentences(self) -> Iterator[str]:
        """A warning, where there are some."""
        if self.number:
            yield Warned(
                f"{counted(self.number, 'judged result')} of tied scores from 2^53 on, such as "
                f"{self.score:.0f} of query {self.query!r}: whole numbers that large may differ "
                "in the input and be the same as floating-point numbers. Give smaller scores, or "
                "ranks."
            )


_FEWEST = 3
"""So many lists, of so many results each, rise hardly ever by chance."""


@dataclass(frozen=True)
class RisingScores:
    """Lists whose scores rise from line to line, as distances do."""

    rising: int = 0
    lists: int = 0
    """How many lists are long enough to tell, and have different scores."""

    @classmethod
    def of(
        cls,
        scores: Floats,
        lengths: Ints,
        notes: Sequence[str],
        *,
        asked: NDArray[np.bool_] | None = None,
        in_order: bool = False,
    ) -> RisingScores:
        """Those of some lists, end to end, that are `asked` for; nothing where there is an order
        alone, or a reader's notes speak of distances already. `in_order` says that all fall."""
        if any(
            isinstance(note, (OrderOnly, AgainstRanks)) or "distances" in note for note in notes
        ):
            return cls()
        if in_order:
            starts = starts_of(lengths)
            long = np.flatnonzero(lengths >= _FEWEST if asked is None else asked)
            long = long[lengths[long] >= _FEWEST]
            ends = starts[long] + lengths[long] - 1
            return cls(0, int((scores[starts[long]] > scores[ends]).sum()))
        rows = np.repeat(np.arange(len(lengths)), lengths)
        within = rows[1:] == rows[:-1]
        falls, rises = (
            np.bincount(rows[1:][step & within], minlength=len(lengths))
            for step in (scores[1:] < scores[:-1], scores[1:] > scores[:-1])
        )
        tells = (lengths >= _FEWEST) & (falls + rises > 0)
        if asked is not None:
            tells &= asked
        return cls(int((tells & (falls == 0)).sum()), int(tells.sum()))

    def plus(self, other: RisingScores) -> RisingScores:
        """What two blocks tell together."""
        return RisingScores(self.rising + other.rising, self.lists + other.lists)

    def sentences(self) -> Iterator[str]:
        """A warning where nearly all lists rise."""
        if self.rising >= max(_FEWEST, 0.9 * self.lists):
            yield Warned(
                f"The scores rise from line to line in {counted(self.rising, 'list')}, as "
                "distances do; ranks are by score, the greatest first, so that such a list is read "
                "backwards. If they are distances, give them a minus sign, or give ranks."
            )


def rising_scores(scores: Floats, lengths: Ints, notes: Sequence[str]) -> Iterator[str]:
    """A warning where the scores of nearly all lists rise."""
    return RisingScores.of(scores, lengths, notes).sentences()
