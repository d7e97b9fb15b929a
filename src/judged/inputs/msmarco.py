"""Three fields in a line and no header: MS MARCO's runs, whose third field is a rank, or scores;
two are judgements without grades.

Where nobody says which, the whole column is looked at. What looks like both is refused: read the
wrong way, every list would be turned upside down.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import polars as pl

from judged.errors import InputError
from judged.inputs.layouts import TREC_JUDGEMENTS, Layout
from judged.inputs.order import OrderOnly
from judged.inputs.readings import NO_GRADES, Reading, from_rows
from judged.inputs.source import LineNumbers, Source, decoded
from judged.inputs.tables import RUN
from judged.inputs.trec import line_numbers, read_layout
from judged.inputs.whitespace import COMMENT, data_lines, split
from judged.text import Warned

RANKS = Layout(
    fields=("query", "item", "rank"),
    value="rank",
    example="A line of an MS MARCO run is: query item rank.",
)
SCORES = Layout(
    fields=("query", "item", "score"),
    value="score",
    example="A line of a run of three columns is: query item score.",
)
GRADES = Layout(
    fields=("query", "item", "grade"),
    value="grade",
    example="A line of judgements of three columns is: query item grade.",
)
PAIRS = Layout(
    fields=("query", "item"),
    value="",
    example="A line of judgements of two columns is: query item.",
)


ORDER = OrderOnly("There are no scores (an MS MARCO run): the ranks give the order.")


def read_msmarco(source: Source) -> Reading:
    """MS MARCO's judgements are TREC qrels; its runs have a rank for a score."""
    if source.kind is not RUN:
        return read_layout(source, TREC_JUDGEMENTS)
    reading = read_layout(source, RANKS)
    if wrong := no_rank(reading.frame):
        row, rank = wrong
        raise InputError(no_rank_message(_place(reading, source, row), rank))
    return replace(reading, notes=(*reading.notes, ORDER))


def no_rank(frame: pl.DataFrame) -> tuple[int, float] | None:
    """The first row of a run of ranks that has none, and what it has."""
    rank = -frame["score"]
    wrong = (~_whole(rank)).arg_true().head(1).to_list()
    return (wrong[0], rank[wrong[0]]) if wrong else None


def no_rank_message(place: str, rank: float) -> str:
    """What is said of it."""
    return (
        f"{place}: a rank must be a whole number from 0; got {rank:g}. If the column holds "
        "scores, say so with run_format='scores' (--run-format scores)."
    )


def read_scores(source: Source) -> Reading:
    """Query, item and score, or grade."""
    return read_layout(source, SCORES if source.kind is RUN else GRADES)


def read_three_fields(source: Source) -> Reading:
    """A run whose third field is a rank or a score: what the whole column tells."""
    reading = read_layout(source, SCORES)
    is_rank, row, why = ThirdColumn.of(reading.frame).verdict()
    if is_rank is None:
        raise InputError(undecided_message(_place(reading, source, row), why))
    frame = reading.frame.with_columns(-pl.col("score")) if is_rank else reading.frame
    return replace(reading, frame=frame, notes=(*reading.notes, taken_for(is_rank)))


def undecided_message(place: str, why: str) -> str:
    """What is said where both may be."""
    return (
        f"{place}: {why}, so the third column may hold ranks or scores. Say which: "
        "run_format='msmarco' (--run-format msmarco) reads ranks, 'scores' scores."
    )


def taken_for(is_rank: bool) -> Warned:
    """What is said where one is likely."""
    note = "scores, the greatest the best"
    if is_rank:
        note = "ranks (whole numbers that count up from the first line of each query)"
    other = "scores" if is_rank else "msmarco"
    return (_WarnedOrder if is_rank else Warned)(
        f"There is no header: the third column was read as {note}; run_format={other!r} "
        f"(--run-format {other}) reads {'scores' if is_rank else 'ranks'}."
    )


class _WarnedOrder(Warned, OrderOnly):
    """A warning that says both: what a column was taken for, and that there are no scores."""

    __slots__ = ()


def read_pairs(source: Source) -> Reading:
    """Judgements of two fields in every line, query and item."""
    rows = [split(line) for _, line in data_lines(source.lines())]
    if any(len(fields) != 2 for fields in rows):
        return read_layout(source, TREC_JUDGEMENTS)  # it names the line
    lines = (decoded(source.label, number, line) for number, line in data_lines(source.lines()))
    pairs = (re.findall(r"[^ \t]+", line) for line in lines)
    frame = from_rows(((query, item, 1.0) for query, item in pairs), source.kind)
    bare = (line.strip(b" \t") for line in source.lines())
    comments = [line for line in bare if line.startswith(COMMENT)]
    said = Warned(
        "There is no header: the two columns were read as query and item, from the first line on. "
        f"{NO_GRADES}"
    )
    notes = (*PAIRS.skipped(comments), said)
    return Reading(frame, notes, LineNumbers.of(source, line_numbers))


def _place(reading: Reading, source: Source, row: int) -> str:
    lines = reading.locate([row]) if reading.locate else [row + 1]
    return f"{source.label}, line {lines[0]}"


def _whole(values: pl.Series) -> pl.Series:
    return values.is_finite() & (values == values.floor()) & (values >= 0)


@dataclass(frozen=True)
class ThirdColumn:
    """What a third column looks like, of a run or of whole queries of it.

    Ranks are whole numbers from 0 or 1 that rise with the lines of each query. The column holds
    ranks if every query is like that. It holds scores if no query of several lines is, and it
    either has other numbers than whole ones, or falls with the lines and has ties.
    """

    misfit: int | None = None
    """The first row that fits no ranks."""
    counts_up: bool = False
    """Whether a query of several lines is like ranks."""
    whole: bool = True
    several: bool = False
    """Whether a query has several lines."""
    rise: int | None = None
    """The first row that is above the one before it."""
    level: bool = False
    second: int | None = None
    """The first row that is not the first of its query."""

    @classmethod
    def of(cls, frame: pl.DataFrame) -> ThirdColumn:
        """What the rows tell, by their numbers."""
        table = frame.with_row_index("row")
        starts = _starts(table["query"])
        if table["query"].filter(starts).n_unique() < starts.sum():
            table = table.sort("query", maintain_order=True)
            starts = _starts(table["query"])
        value, row = table["score"], table["row"]
        step = value.diff().fill_null(0.0)
        whole = _whole(value)
        fits = whole & ((starts & (value <= 1)) | (~starts & (step > 0)))
        lists = pl.DataFrame({"list": starts.cum_sum(), "fits": fits}).group_by("list")
        several = lists.agg(pl.col("fits").all(), pl.len()).filter(pl.col("len") > 1)

        def first(rows: pl.Series) -> int | None:
            found = rows.arg_true().head(1).to_list()
            return int(row[found[0]]) if found else None

        return cls(
            first(~fits),
            bool(several["fits"].any()),
            bool(whole.all()),
            several.height > 0,
            first(~starts & (step > 0)),
            bool((~starts & (step == 0)).any()),
            first(~starts),
        )

    def at(self, place: Callable[[int], int]) -> ThirdColumn:
        """The same with places in the input for rows."""
        misfit, rise, second = (
            None if row is None else place(row) for row in (self.misfit, self.rise, self.second)
        )
        return replace(self, misfit=misfit, rise=rise, second=second)

    def plus(self, other: ThirdColumn) -> ThirdColumn:
        """What two parts tell together."""
        return ThirdColumn(
            _least(self.misfit, other.misfit),
            self.counts_up or other.counts_up,
            self.whole and other.whole,
            self.several or other.several,
            _least(self.rise, other.rise),
            self.level or other.level,
            _least(self.second, other.second),
        )

    def verdict(self) -> tuple[bool | None, int, str]:
        """Whether the column holds ranks; None where both may be, with a row that shows it."""
        if self.misfit is None:
            return True, 0, ""
        if self.counts_up:
            why = "some queries count up like ranks, but this line does not fit"
            return None, self.misfit, why
        if not self.whole or not self.several:
            return False, 0, ""
        if self.rise is not None:
            return None, self.rise, "whole numbers stand in another order than the lines"
        if self.level:
            return False, 0, ""
        assert self.second is not None
        return None, self.second, "whole numbers fall with the lines of each query"


def _least(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _starts(query: pl.Series) -> pl.Series:
    """Where another query begins."""
    return query.ne_missing(query.shift(1))
