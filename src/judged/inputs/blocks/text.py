"""Text with fields between white space, some megabytes of whole lines at a time.

Each block of lines goes the three ways of `inputs.trec`: as it is, evened out, line by line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING

import polars as pl

from judged.errors import InputError
from judged.inputs.blocks.pieces import Piece
from judged.inputs.layouts import TREC_RUN, LastTag, Layout, first_rows, notes_on_ranks
from judged.inputs.msmarco import (
    ORDER,
    RANKS,
    SCORES,
    ThirdColumn,
    no_rank,
    no_rank_message,
    taken_for,
    undecided_message,
)
from judged.inputs.tables import RUN, Lookup, Run
from judged.inputs.trec import even_rows, refuse_the_other_kind, uneven_rows
from judged.inputs.whitespace import count_lines, data_lines

if TYPE_CHECKING:
    from judged.inputs.blocks import RunBlocks
    from judged.inputs.blocks.streams import Reader
    from judged.inputs.source import Source


@dataclass(frozen=True)
class Text:
    """How a text without a header is read."""

    label: str
    layout: Layout
    notes: tuple[str, ...] = ()
    tag: LastTag | None = None
    minus: bool = False
    """Whether the value is a rank that was read as a score."""

    @classmethod
    def of(cls, source: Source, format: str) -> Text:
        """A format by its name; what is undecided is read as scores."""
        if format == "trec":
            refuse_the_other_kind(source)
            place = TREC_RUN.position("score")
            # A bad line will be named when it is read.
            whole = (row for row in first_rows(source) if len(row) > place)
            return cls(source.label, TREC_RUN, notes_on_ranks(whole), LastTag())
        if format == "msmarco":
            return cls(source.label, RANKS, (ORDER,))
        return cls(source.label, SCORES)

    def decided(self, looked: RunBlocks) -> Text:
        """The same, once the whole third column was looked at."""
        is_rank, line, why = looked.gather(
            lambda: reduce(ThirdColumn.plus, map(_third, looked.blocks(None)))
        ).verdict()
        if is_rank is None:
            raise InputError(undecided_message(f"{self.label}, line {line}", why))
        return Text(self.label, SCORES, (taken_for(is_rank),), minus=is_rank)

    def pieces(self, reader: Reader, size: int) -> Iterator[Piece]:
        """The rows of a run."""
        first = 1
        for block in reader.lines(size):
            if self.tag is not None:
                self.tag.see(block)
            piece, lines = self._piece(block, first)
            del block  # the next one is read meanwhile
            first += lines
            if self.layout is RANKS and (wrong := no_rank(piece.frame)):
                row, rank = wrong
                place = f"{self.label}, line {piece.places()[row]}"
                raise InputError(no_rank_message(place, rank))
            if piece.frame.height or piece.notes:
                yield piece

    def _piece(self, block: bytes, first: int) -> tuple[Piece, int]:
        """The rows of a block, and how many lines it has."""
        frame = even_rows(block, self.layout, RUN)
        notes: tuple[str, ...] = ()
        found = None
        if frame is not None:
            lines = frame.height
        else:
            lines = count_lines(block)
            frame, notes = uneven_rows(block, self.layout, RUN, self.label, lambda: first)
            if frame.height != lines:
                found = partial(_numbers, block, first)
        if self.minus:
            frame = frame.with_columns(-pl.col("score"))
        return Piece(frame, first, found, notes), lines


def _third(run: Run | Lookup) -> ThirdColumn:
    """What the third column of a block looks like, with lines for rows."""
    assert isinstance(run, Run)

    def line(row: int) -> int:
        rows = [row] if run.rows is None else run.rows[[row]].tolist()
        assert run.locate is not None
        return run.locate(rows)[0]

    return ThirdColumn.of(run.frame).at(line)


def _numbers(block: bytes, first: int) -> list[int]:
    return [number for number, _ in data_lines(block.splitlines(), first)]
