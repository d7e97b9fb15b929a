"""From what a reader of one format found to a table: the steps that all formats have in common.

polars is loaded where rows are packed: a run in a dict needs none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from judged.errors import InputError
from judged.inputs.order import Ranked, refuse_odd_ranks
from judged.inputs.tables import AnyTable, Judgements, Kind, Locate, Run, Table
from judged.text import Tallied, Warned, WarnedOnce, counted

if TYPE_CHECKING:
    import polars as pl

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
class Reading:
    """What a reader of one format found, before the checks that hold for all formats."""

    frame: pl.DataFrame
    """Columns query, item and score or grade; subtopic or iteration where there is one. A row that
    has neither item nor value names a query with nothing in it; one without a grade alone is of
    what nobody judged yet."""
    notes: tuple[str, ...] = ()
    locate: Locate | None = None
    tag: str | None = None
    may_be_run: bool = False
    """Whether neither the format nor a name tells judgements from a run."""


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
    run, lost = _without_named_only(run)
    if lost is not None:
        run = replace(run, lost=lost)
    if any(isinstance(note, Ranked) for note in run.notes):
        refuse_odd_ranks(run)
    return run


def to_judgements(reading: Reading, source: str) -> Judgements:
    """The last step of every reader of judgements."""
    weights = None
    if "weight" in reading.frame.columns:
        from judged.inputs.query_weights import of_column

        weights = of_column(reading.frame, source)
    table = Judgements(
        reading.frame,
        source,
        reading.notes,
        reading.locate,
        weights=weights,
        may_be_run=reading.may_be_run,
    )
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
            f"{source}, {table.where(infinite)}: the grade is {value}; a grade must be a finite "
            "number."
        )
    return replace(table, frame=_with_telling_subtopics(table))


def _without_named_only(table: AnyTable) -> tuple[AnyTable, AnyTable | None]:
    """The table without the rows that only name a query, and with all queries where there were
    such rows; and those of them whose query has others, as a row of it lacks its item then."""
    if table.frame.is_empty():
        skipped = "".join(f" {note}" for note in table.notes if isinstance(note, WarnedOnce))
        raise InputError(f"{table.source}: holds no rows.{skipped}")
    empty = table.frame["item"].is_null()
    if not empty.any():
        return table, None
    named = table.frame["query"]
    both = empty & named.is_in(named.filter(~empty).unique().implode())
    lost = _rows(table, both) if both.any() else None
    queries = tuple(named.unique(maintain_order=True).to_list())
    return replace(_rows(table, ~empty), queries=queries), lost


def _rows(table: AnyTable, which: pl.Series) -> AnyTable:
    """Some rows of a table, which keep their numbers."""
    rows = which.arg_true().to_numpy()
    numbers = rows if table.rows is None else table.rows[rows]
    return replace(table, frame=table.frame.filter(which), rows=numbers)


def lost_message(lost: Table, row: int = 0) -> str:
    """What is said of a row without an item."""
    return f"{lost.source}, {lost.where([row])}: the item is missing."


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
    left = int((~graded).sum())
    # A query of which nothing is judged is no judged query.
    named = set(table.frame["query"].to_list()) - set(table.frame["query"].filter(graded).to_list())
    note = ungraded_note(left)
    return replace(
        _rows(table, graded),
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
