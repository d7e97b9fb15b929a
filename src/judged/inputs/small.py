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
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.inputs import format_of, judgements_in, opened, run_in
from judged.inputs.formats import run_name
from judged.inputs.layouts import (
    TREC_JUDGEMENTS,
    TREC_RUN,
    LastTag,
    Layout,
    first_rows,
    notes_on_ranks,
)
from judged.inputs.source import SMALL, Source
from judged.inputs.tables import RUN, Judgements, Lookup, Run
from judged.inputs.whitespace import COMMENT, blocks, even_out

if TYPE_CHECKING:
    from judged.options import ColumnsLike, FileFormat

_LINE_FEED, _SPACE, _MINUS, _POINT, _ZERO = np.frombuffer(b"\n -.0", np.uint8)
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
    return Lookup(
        found.lists,
        source.label,
        (*TREC_RUN.skipped(found.comments), *notes_on_ranks(first_rows(source))),
        name or run_name(source.path),
        tag=str(LastTag.of(source)),
    )


def small_judgements(source: Source, format: str | None) -> Lookup | None:
    """The judgements of a small file; None where it is large, or there is a doubt."""
    found = _read(source, TREC_JUDGEMENTS, format)
    if found is None or len(found.subtopics) > 1:
        return None
    if max(max(grades.values()) for grades in found.lists.values()) >= _A_TIME:
        return None
    notes = TREC_JUDGEMENTS.skipped(found.comments)
    return Lookup(found.lists, source.label, notes, "judgements")


class _Text:
    """What has been read of a text."""

    def __init__(self) -> None:
        self.lists: dict[str, dict[str, float]] = {}
        self.rows = 0
        self.comments: list[bytes] = []
        self.subtopics: set[str] = set()
        """What there is in the column where subtopics may be."""

    def add(self, query: list[str], item: list[str], numbers: list[float]) -> None:
        """Take some rows in."""
        self.rows += len(query)
        borders = [0, *compress(range(1, len(query)), map(ne, query[1:], query)), len(query)]
        for begin, end in pairwise(borders):
            own = self.lists.setdefault(query[begin], {})
            own.update(zip(item[begin:end], numbers[begin:end], strict=True))


def _read(source: Source, layout: Layout, format: str | None) -> _Text | None:
    """The rows of a text; None where it is large or not plain, or a row repeats another."""
    if source.columns or source.size() > SMALL or format_of(source, format).name != "trec":
        return None
    text = _Text()
    with source.open() as handle:
        for block in blocks(handle, _BLOCK):
            try:
                if not block.isascii():
                    block.decode()  # what is not read has to be text too
                fields = _Fields.of(block, layout.fields)
                if fields is None:
                    block, comments = even_out(block)
                    text.comments += comments
                    if not block:
                        continue
                    fields = _Fields.of(block, layout.fields)
                if fields is None:
                    return None
                texts = fields.texts("query", "item", layout.subtopic)
                text.add(texts["query"], texts["item"], fields.numbers(layout.value))
            except ValueError:  # UnicodeDecodeError is one
                return None
            text.subtopics.update(texts.get(layout.subtopic, ()))
    kept = sum(map(len, text.lists.values()))
    return text if 0 < kept == text.rows else None


class _Fields(NamedTuple):
    """The fields of the lines of a text, one blank after each."""

    names: Sequence[str]
    characters: NDArray[np.uint8]
    ends: Ints
    """Where the blank after each is, a row for each line."""
    lengths: Ints
    """With the blank."""

    @classmethod
    def of(cls, text: bytes, names: Sequence[str]) -> _Fields | None:
        """None where a line has another number of fields or is a comment, or more than one blank
        stands between fields."""
        width = len(names)
        characters = np.frombuffer(text, np.uint8)
        places = (characters <= _SPACE).nonzero()[0]
        gaps, lengths = characters.take(places), places + 1
        lengths[1:] -= lengths[:-1].copy()
        ends = gaps[width - 1 :: width]
        even = (
            len(places) == len(ends) * width
            and (ends == _LINE_FEED).all()
            and (gaps == _LINE_FEED).sum() == len(ends)
            and lengths.min() > 1
            and not gaps.tobytes().translate(None, b" \t\n")
            and not (COMMENT in text and (b"\n" + COMMENT in text or text.startswith(COMMENT)))
        )
        if not even:
            return None
        return cls(names, characters, places.reshape(-1, width), lengths.reshape(-1, width))

    def texts(self, *asked: str | None) -> dict[str | None, list[str]]:
        """Some columns by their names, those that there are."""
        names = [name for name in self.names if name in asked]
        wanted = np.empty(self.ends.shape, bool)
        wanted[:] = [name in asked for name in self.names]
        kept = self.characters[wanted.ravel().repeat(self.lengths.ravel())]
        every = kept.tobytes()[:-1].translate(_SPACES).decode().split(" ")
        return {name: every[at :: len(names)] for at, name in enumerate(names)}

    def numbers(self, name: str) -> list[float]:
        """A column; ValueError where one is no plain number."""
        at = self.names.index(name)
        found = decimals(self.characters, self.ends[:, at], self.lengths[:, at] - 1)
        if found is not None:
            return found.tolist()
        texts = self.texts(name)[name]
        every = "".join(texts)
        if "_" in every or not every.isascii():  # 1_000 is a number to Python, and so is ١
            raise ValueError
        numbers = list(map(float, texts))
        if not math.isfinite(sum(numbers)):
            raise ValueError
        return numbers


_LONGEST = 18
"""Digits that whole numbers of 64 bits can hold."""


def decimals(characters: NDArray[np.uint8], ends: Ints, lengths: Ints) -> Floats | None:
    """The numbers that end before some places of a text; None where one is not written with digits,
    a point and a minus sign alone, or has more digits than are certain.

    A whole number below 2**53 divided by a power of ten up to 10**22 is rounded once, as the number
    that is written is.
    """
    starts = ends - lengths
    negative = characters.take(starts) == _MINUS
    starts += negative
    point = _points(characters, starts, ends)
    before, after = point - starts, np.maximum(ends - point - 1, 0)
    most, places = int(before.max()), int(after.max())
    if most + places > _LONGEST or (before + after).min() < 1:
        return None
    whole, power = np.zeros(len(ends), np.int64), 1
    # From the last decimal that any has to the first digit: behind the point, then before it.
    for side, known, at in (
        *((after, int(after.min()), at) for at in range(places, 0, -1)),
        *((before, int(before.min()), -at) for at in range(1, most + 1)),
    ):
        digit = characters.take(point + at, mode="clip") - _ZERO
        if abs(at) > known:
            digit[side < abs(at)] = 0
        if digit.max() > 9:
            return None
        whole += np.multiply(digit, power, dtype=np.int64)
        power *= 10
    if whole.max() >= 2**53:
        return None
    found: Floats = whole / 10.0**places
    return np.negative(found, out=found, where=negative)


def _points(characters: NDArray[np.uint8], starts: Ints, ends: Ints) -> Ints:
    """Where the first point of each number stands, or its end where it has none."""
    points = (characters == _POINT).nonzero()[0]
    if len(points) == len(ends) and ((points >= starts) & (points < ends)).all():
        return points
    points = np.append(points, len(characters))
    return np.minimum(points.take(points.searchsorted(starts)), ends)
