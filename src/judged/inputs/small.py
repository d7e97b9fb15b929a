"""Small files of plain TREC text, read without polars: loading it takes longer than all else.

What is read here is what the readers of large files read too. Whatever there is any doubt about
goes their way, which has the words for it: a line that is too long or too short, what is no plain
number, a row that repeats another, subtopics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import compress, pairwise
from operator import ne
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from judged.inputs import format_of, judgements_in, opened, run_in
from judged.inputs.formats import run_name
from judged.inputs.layouts import (
    TREC_JUDGEMENTS,
    TREC_RUN,
    Layout,
    first_rows,
    ranks_against_scores,
    tag_of,
)
from judged.inputs.readings import skipped_comments
from judged.inputs.source import SMALL, Source
from judged.inputs.tables import RUN, Judgements, Lookup, Run
from judged.inputs.whitespace import COMMENT, blocks, even_out

if TYPE_CHECKING:
    from judged.types import ColumnsLike, FileFormat

_LINE_FEED, _SPACE = b"\n "
_SPACES = bytes.maketrans(b"\t\n", b"  ")
_BLOCK = 1 << 16
"""Bytes read at a time: what is made of them on the way fits into the processor's cache, and its
memory is used again."""
_A_TIME = 1e6
"""Grades from here on may be times, or anything but grades."""


def any_run(
    path: str | PathLike[str],
    *,
    name: str | None = None,
    columns: ColumnsLike | None = None,
    format: FileFormat | None = None,
) -> Run | Lookup:
    """The run of a file, which is a dict where the file is small and plain."""
    source = opened(path, RUN, columns)
    return small_run(source, name, format) or run_in(source, name, format)


def any_judgements(source: Source, *, format: FileFormat | None = None) -> Judgements | Lookup:
    """The judgements of a file, which are a dict where the file is small and plain."""
    return small_judgements(source, format) or judgements_in(source, format)


def small_run(source: Source, name: str | None, format: str | None) -> Lookup | None:
    """The run of a small file; None where it is large, or there is a doubt."""
    found = _read(source, TREC_RUN, format)
    if found is None:
        return None
    first = first_rows(source)
    return Lookup(
        found.lists,
        source.label,
        (*skipped_comments(found.comments), *ranks_against_scores(first)),
        name or run_name(source.path),
        tag=tag_of(first),
    )


def small_judgements(source: Source, format: str | None) -> Lookup | None:
    """The judgements of a small file; None where it is large, or there is a doubt."""
    found = _read(source, TREC_JUDGEMENTS, format)
    if found is None or len(found.subtopics) > 1:
        return None
    if max(max(grades.values()) for grades in found.lists.values()) >= _A_TIME:
        return None
    return Lookup(found.lists, source.label, skipped_comments(found.comments), "judgements")


class _Text:
    """What has been read of a text."""

    def __init__(self) -> None:
        self.lists: dict[str, dict[str, float]] = {}
        self.rows = 0
        self.comments = 0
        self.subtopics: set[str] = set()
        """What there is in the column where subtopics may be."""

    def add(self, query: list[str], item: list[str], value: list[str]) -> None:
        """Take some rows in; ValueError where a value is no plain number."""
        every = "".join(value)
        if "_" in every or not every.isascii():  # 1_000 is a number to Python, and so is ١
            raise ValueError
        numbers = list(map(float, value))
        if not math.isfinite(sum(numbers)):
            raise ValueError
        self.rows += len(query)
        borders = [0, *compress(range(1, len(query)), map(ne, query[1:], query)), len(query)]
        for begin, end in pairwise(borders):
            own = self.lists.setdefault(query[begin], {})
            own.update(zip(item[begin:end], numbers[begin:end], strict=True))


def _read(source: Source, layout: Layout, format: str | None) -> _Text | None:
    """The rows of a text; None where it is large or not plain, or a row repeats another."""
    if source.columns or source.size() > SMALL or format_of(source, format).name != "trec":
        return None
    wanted = [name in ("query", "item", layout.value, layout.subtopic) for name in layout.fields]
    names = list(compress(layout.fields, wanted))
    text = _Text()
    with source.open() as handle:
        for block in blocks(handle, _BLOCK):
            try:
                if not block.isascii():
                    block.decode()  # what is not read has to be text too
                fields = _fields(block, wanted)
                if fields is None:
                    block, comments = even_out(block)
                    text.comments += comments
                    if not block:
                        continue
                    fields = _fields(block, wanted)
                if fields is None:
                    return None
                columns = {name: fields[at :: len(names)] for at, name in enumerate(names)}
                text.add(columns["query"], columns["item"], columns[layout.value])
            except ValueError:  # UnicodeDecodeError is one
                return None
            text.subtopics.update(columns.get(layout.subtopic or "", ()))
    kept = sum(map(len, text.lists.values()))
    return text if 0 < kept == text.rows else None


def _fields(text: bytes, wanted: Sequence[bool]) -> list[str] | None:
    """The wanted fields of all lines, line after line; None where a line has another number of
    fields or is a comment, or more than one blank stands between fields."""
    width = len(wanted)
    characters = np.frombuffer(text, np.uint8)
    places = np.flatnonzero(characters <= _SPACE)
    gaps, lengths = characters[places], np.diff(places, prepend=-1)
    ends = gaps[width - 1 :: width]
    even = (
        len(places) == len(ends) * width
        and (ends == _LINE_FEED).all()
        and np.count_nonzero(gaps == _LINE_FEED) == len(ends)
        and (lengths > 1).all()
        and not gaps.tobytes().translate(None, b" \t\n")
        and not (COMMENT in text and (b"\n" + COMMENT in text or text.startswith(COMMENT)))
    )
    if not even:
        return None
    kept = characters[np.repeat(np.tile(wanted, len(ends)), lengths)]
    return kept.tobytes()[:-1].translate(_SPACES).decode().split(" ")
