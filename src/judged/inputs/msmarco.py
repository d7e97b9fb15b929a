"""Three fields in a line and no header: MS MARCO's runs, whose third field is a rank, or scores;
two are judgements without grades.

Where nobody says which, the whole column is looked at. What looks like both is refused: read the
wrong way, every list would be turned upside down.
"""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl

from judged.errors import InputError
from judged.inputs.order import OrderOnly
from judged.inputs.source import LineNumbers, Source, decoded
from judged.inputs.tables import NO_GRADES, RUN, Reading, from_rows, skipped_comments
from judged.inputs.trec import TREC_JUDGEMENTS, Layout, data_lines, line_numbers, read_layout
from judged.inputs.whitespace import COMMENT, split
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


def read_msmarco(source: Source) -> Reading:
    """MS MARCO's judgements are TREC qrels; its runs have a rank for a score."""
    if source.kind is not RUN:
        return read_layout(source, TREC_JUDGEMENTS)
    reading = read_layout(source, RANKS)
    rank = -reading.frame["score"]
    wrong = (~_whole(rank)).arg_true().head(1).to_list()
    if wrong:
        raise InputError(
            f"{_place(reading, source, wrong[0])}: a rank must be a whole number from 0; got "
            f"{rank[wrong[0]]:g}. If the column holds scores, say so with run_format='scores' "
            "(--run-format scores)."
        )
    note = OrderOnly("There are no scores (an MS MARCO run): the ranks give the order.")
    return replace(reading, notes=(*reading.notes, note))


def read_scores(source: Source) -> Reading:
    """Query, item and score, or grade."""
    return read_layout(source, SCORES if source.kind is RUN else GRADES)


def read_three_fields(source: Source) -> Reading:
    """A run whose third field is a rank or a score: what the whole column tells."""
    reading = read_layout(source, SCORES)
    is_rank, row, why = _judge(reading.frame)
    if is_rank is None:
        raise InputError(
            f"{_place(reading, source, row)}: {why}, so the third column may hold ranks or scores. "
            "Say which: run_format='msmarco' (--run-format msmarco) reads ranks, 'scores' scores."
        )
    if is_rank:
        frame = reading.frame.with_columns(-pl.col("score"))
        note = "ranks (whole numbers that count up from the first line of each query)"
        other = "scores"
    else:
        frame, note, other = reading.frame, "scores, the greatest the best", "msmarco"
    said = (_WarnedOrder if is_rank else Warned)(
        f"There is no header: the third column was read as {note}; run_format={other!r} "
        f"(--run-format {other}) reads {'scores' if is_rank else 'ranks'}."
    )
    return replace(reading, frame=frame, notes=(*reading.notes, said))


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
    comments = sum(line.lstrip(b" \t").startswith(COMMENT) for line in source.lines())
    said = Warned(
        "There is no header: the two columns were read as query and item, from the first line on. "
        f"{NO_GRADES}"
    )
    notes = (*skipped_comments(comments), said)
    return Reading(frame, notes, LineNumbers.of(source, line_numbers))


def _place(reading: Reading, source: Source, row: int) -> str:
    lines = reading.locate([row]) if reading.locate else [row + 1]
    return f"{source.label}, line {lines[0]}"


def _whole(values: pl.Series) -> pl.Series:
    return values.is_finite() & (values == values.floor()) & (values >= 0)


def _judge(frame: pl.DataFrame) -> tuple[bool | None, int, str]:
    """Whether the third column holds ranks; None where both may be, with a row that shows it.

    Ranks are whole numbers from 0 or 1 that rise with the lines of each query. The column holds
    ranks if every query is like that. It holds scores if no query of several lines is, and it
    either has other numbers than whole ones, or falls with the lines and has ties.
    """
    if frame.is_empty():
        return False, 0, ""
    table = frame.with_row_index("row")
    starts = _starts(table["query"])
    if table["query"].filter(starts).n_unique() < starts.sum():
        table = table.sort("query", maintain_order=True)
        starts = _starts(table["query"])
    value, row = table["score"], table["row"]
    step = value.diff().fill_null(0.0)
    whole = _whole(value)
    fits = whole & ((starts & (value <= 1)) | (~starts & (step > 0)))
    misfit = (~fits).arg_true()
    if not len(misfit):
        return True, 0, ""
    lists = pl.DataFrame({"list": starts.cum_sum(), "fits": fits}).group_by("list")
    several = lists.agg(pl.col("fits").all(), pl.len()).filter(pl.col("len") > 1)
    if several["fits"].any():
        return None, row[misfit[0]], "some queries count up like ranks, but this line does not fit"
    if not whole.all() or not several.height:
        return False, 0, ""
    rises = (~starts & (step > 0)).arg_true()
    if len(rises):
        return None, row[rises[0]], "whole numbers stand in another order than the lines"
    if (~starts & (step == 0)).any():
        return False, 0, ""
    return None, row[(~starts).arg_true()[0]], "whole numbers fall with the lines of each query"


def _starts(query: pl.Series) -> pl.Series:
    """Where another query begins."""
    return query.ne_missing(query.shift(1))
