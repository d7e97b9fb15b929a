"""Text with fields between white space: TREC runs and qrels, MS MARCO runs, and lines like these.

There is one parser, `parse_lines`, for a block of whole lines. A file is read as several blocks.
Files so small that loading polars would take longer than parsing are read in plain Python.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.errors import InputError, OutputError
from judged.inputs.formats import COMMENT, UNDECIDED, detect_format, is_number, looks_like, split
from judged.inputs.order import OrderOnly, against_ranks
from judged.inputs.source import (
    BYTE_ORDER_MARK,
    BYTES_PER_BLOCK,
    BYTES_WORTH_POLARS,
    HEAD_BYTES,
    LineNumbers,
    Source,
    blocks,
    checked,
    compression,
    count_lines,
    decoded,
)
from judged.inputs.tables import (
    JUDGEMENTS,
    RUN,
    Kind,
    Lookup,
    Piece,
    Row,
    from_rows,
    skipped_comments,
    unchecked_table,
)
from judged.text import Warned, WarnedOnce, merged, quote

if TYPE_CHECKING:
    import polars as pl

_SPACE, _NEWLINE = b" \n"
_ONE_KIND_OF_SPACE = bytes.maketrans(b"\t\r", b" \n")
_BYTES_IN_CACHE = 1 << 18
_FIRST_UNIX_TIME = 100_000_000  # grades that are all this large are times, as in files of ratings
_LARGE_GRADE = 1e6  # a small file with such a grade is read the careful way


def data_lines(lines: Iterable[bytes], first: int = 1) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are neither blank nor comments, with their numbers."""
    for number, line in enumerate(lines, first):
        text = line.lstrip(b" \t")
        if text and not text.startswith(COMMENT):
            yield number, line


@dataclass(frozen=True)
class LineLayout:
    """The fields of a line in order; fields after them are ignored."""

    fields: tuple[str, ...]
    value: str  # the field that is a number
    example: str
    subtopic: str | None = None

    def position(self, field: str) -> int:
        return self.fields.index(field)

    def may_hold_spaces(self, fields: Sequence[str]) -> bool:
        """Return whether a line is too long and may have a space in an id."""
        beyond = len(fields) - len(self.fields)

        def ranks_are_whole(shift: int) -> bool:
            ranks = (fields[at + shift] for at, name in enumerate(self.fields) if name == "rank")
            return self.value == "rank" or all(re.fullmatch("[0-9]+", rank) for rank in ranks)

        return beyond > 0 and (
            not ranks_are_whole(0)
            or (ranks_are_whole(beyond) and is_number(fields[self.position(self.value) + beyond]))
        )

    def skipped(self, comments: Sequence[bytes]) -> tuple[str, ...]:
        """Return the notes on comments; one that looks like a row may be a query such as #1."""
        notes = skipped_comments(len(comments))
        row = next((line for line in comments if self._is_row(split(line))), None)
        if row is None:
            return notes
        return (
            *notes,
            WarnedOnce(
                f"The line {quote(row)} begins with # and was skipped as a comment, but it has the "
                "fields of a row, and is missing from the numbers. If # belongs to the id of the "
                "query, give the file as CSV or JSON."
            ),
        )

    def _is_row(self, fields: Sequence[bytes]) -> bool:
        if len(fields) != len(self.fields) or fields[0] == COMMENT or b"=" in fields:
            return False
        texts = [field.decode("utf-8", "replace") for field in fields]
        return is_number(texts[self.position(self.value)])


TREC_RUN = LineLayout(
    ("query", "ignored", "item", "rank", "score", "tag"),
    "score",
    "A line of a run is: query Q0 item rank score tag.",
)
TREC_JUDGEMENTS = LineLayout(
    ("query", "iteration", "item", "grade"),
    "grade",
    "A line of judgements is: query 0 item grade.",
    subtopic="iteration",
)
RANKS = LineLayout(
    ("query", "item", "rank"), "rank", "A line of an MS MARCO run is: query item rank."
)
SCORES = LineLayout(
    ("query", "item", "score"), "score", "A line of a run of three columns is: query item score."
)
GRADES = LineLayout(
    ("query", "item", "grade"),
    "grade",
    "A line of judgements of three columns is: query item grade.",
)
_RANKS_ONLY = OrderOnly("There are no scores (an MS MARCO run): the ranks give the order.")


def parse_lines(block: bytes, layout: LineLayout, kind: Kind, label: str, first: int) -> Piece:
    """Parse whole lines, of which the first has the number `first`.

    polars splits lines with single separators. Other lines are made like that first. If polars
    still cannot read them, they are read one by one, which names a bad line.
    """
    end = block.find(b"\n")
    if end >= 0:
        separator = b"\t" if block.find(b"\t", 0, end) >= 0 else b" "
        frame = split_by_polars(block, layout, separator, kind)
        if frame is not None:
            return Piece(frame, first)
    comments = [line for line in block.splitlines() if line.lstrip(b" \t").startswith(COMMENT)]
    text = b"" if comments else even_out(block)
    frame = split_by_polars(text, layout, b" ", kind) if text else None
    if frame is None:
        rows = _careful_rows(block.splitlines(), first, layout, label)
        frame = from_rows(rows, kind, layout.subtopic)
    lines = None if frame.height == count_lines(block) else partial(_row_lines, block, first)
    return Piece(frame, first, lines, layout.skipped(comments))


def _row_lines(block: bytes, first: int) -> list[int]:
    return [number for number, _ in data_lines(block.splitlines(), first)]


def count_fields(text: bytes, separator: bytes) -> int | None:
    """Count the fields of lines with single separators and no comments; None for others."""
    if text[:1] <= b" " or text.startswith(COMMENT):
        return None
    if (b" " if separator == b"\t" else b"\t") in text or b"\r" in text:
        return None
    if COMMENT in text and b"\n" + COMMENT in text:
        return None
    characters = np.frombuffer(text, np.uint8)
    fields = 0  # counted in parts that fit into the processor's cache
    for start in range(0, len(text), _BYTES_IN_CACHE):
        gap = characters[start : start + _BYTES_IN_CACHE + 1] <= _SPACE
        if (gap[1:] & gap[:-1]).any():
            return None
        fields += int(np.count_nonzero(gap[:_BYTES_IN_CACHE]))
    return fields


def even_out(block: bytes) -> bytes:
    """Return lines with one space between fields, without blank lines."""
    if b"\t" in block or b"\r" in block:
        block = block.translate(_ONE_KIND_OF_SPACE)
    characters = np.frombuffer(b"\n" + block, np.uint8).copy()
    newline = characters == _NEWLINE
    gap = (characters == _SPACE) | newline
    first = gap.copy()
    first[1:] &= ~gap[:-1]
    # Only the first character of a gap stays. It becomes an LF if there is one in the gap.
    late = np.flatnonzero(newline & ~first)
    if late.size:
        starts = np.flatnonzero(first)
        characters[starts[np.searchsorted(starts, late, side="right") - 1]] = _NEWLINE
    first |= ~gap
    return characters[first].tobytes()[1:]  # without the LF at the start


def split_by_polars(
    text: bytes, layout: LineLayout, separator: bytes, kind: Kind
) -> pl.DataFrame | None:
    """Split lines with single separators between equally many fields; else return None."""
    import polars as pl

    from judged.inputs.polars_errors import POLARS_ERRORS

    names = list(layout.fields)
    if text.count(separator, 0, text.index(b"\n")) + 1 != len(names):
        return None
    counted = count_fields(text, separator)
    if counted is None:
        return None
    if text.startswith(BYTE_ORDER_MARK):
        text = BYTE_ORDER_MARK + text  # polars drops one, which is part of an id here
    schema: dict[str, pl.DataType | type[pl.DataType]] = dict.fromkeys(names, pl.String)
    schema[layout.value] = pl.Float64
    value = -pl.col("rank") if layout.value == "rank" else pl.col(layout.value)
    if names[-1] != layout.value:  # polars does not report missing fields at the end of a line
        value = pl.when(pl.col(names[-1]).is_not_null()).then(value)
    lines = pl.scan_csv(
        text,
        separator=separator.decode(),
        has_header=False,
        schema=schema,
        quote_char=None,
        glob=False,
        truncate_ragged_lines=True,
    )
    subtopic = [] if layout.subtopic is None else [layout.subtopic]
    try:
        columns = lines.select("query", "item", value.alias(kind.value), *subtopic)
        frame = columns.collect(engine="streaming")
    except POLARS_ERRORS:
        return None
    # No line has too few fields, and together they have no more than that: each has its own.
    complete = frame.height * len(names) == counted and not any(frame.null_count().row(0))
    return frame if complete else None


def _careful_rows(
    lines: Iterable[bytes], first: int, layout: LineLayout, label: str
) -> Iterator[Row]:
    query, item = layout.position("query"), layout.position("item")
    value = layout.position(layout.value)
    sign = -1 if layout.value == "rank" else 1
    for number, line in data_lines(lines, first):
        place = f"{label}, line {number}"
        fields = re.findall(r"[^ \t]+", decoded(label, number, line))
        if len(fields) < len(layout.fields):
            reason = f"expected {len(layout.fields)} fields, found {len(fields)}"
            raise InputError(f"{place}: {reason}: {quote(line.strip())}. {layout.example}")
        if layout.may_hold_spaces(fields):
            raise InputError(
                f"{place}: {len(fields)} fields where {len(layout.fields)} are "
                f"expected, so that an id may have a space in it: {quote(line.strip())}. "
                "Such ids need another format, as CSV or JSON; if the last fields are not meant, "
                "leave them out."
            )
        text = fields[value]
        if not is_number(text):
            reason = f"the {layout.value} is not a number: {quote(text, 30)}"
            raise InputError(f"{place}: {reason}, in the line {quote(line.strip())}.")
        row = (fields[query], fields[item], sign * float(text))
        yield row if layout.subtopic is None else (*row, fields[layout.position(layout.subtopic)])


class LastTag:
    """The tag in the last line that was read, as in trec_eval."""

    def __init__(self) -> None:
        self._line = b""

    def see(self, lines: bytes) -> None:
        end = len(lines)
        while end >= 0:
            begin = lines.rfind(b"\n", 0, end) + 1
            begin = max(begin, lines.rfind(b"\r", begin, end) + 1)
            line, end = lines[begin:end].strip(b" \t"), begin - 1
            if line and not line.startswith(COMMENT):
                self._line = line
                return

    def __str__(self) -> str:
        fields = split(self._line)
        place = TREC_RUN.position("tag")
        return fields[place].decode("utf-8", "replace") if len(fields) > place else ""


def _notes_on_ranks(source: Source) -> tuple[str, ...]:
    """Return a warning if ranks and scores of the first lines contradict each other."""
    query, rank, score = (TREC_RUN.position(name) for name in ("query", "rank", "score"))

    def first_rows() -> Iterator[list[bytes]]:
        for block in blocks(source.parts(HEAD_BYTES), HEAD_BYTES):
            # bytes.split is faster, but takes two more characters for white space.
            fields = split if b"\v" in block or b"\f" in block else bytes.split
            for row in map(fields, block.splitlines()):
                if len(row) > score and row[0][:1] != COMMENT:
                    yield row

    return against_ranks((row[query], row[rank], row[score]) for row in first_rows())


@dataclass(frozen=True)
class LineReader:
    label: str
    layout: LineLayout
    kind: Kind = RUN
    notes: tuple[str, ...] = ()
    tag: LastTag | None = None

    @classmethod
    def of(cls, source: Source, format: str) -> LineReader:
        is_run = source.kind is RUN
        if format == UNDECIDED.name:
            return _ranks_or_scores(source)
        if format == "trec":
            refuse_other_kind(source)
        if format == "trec" and is_run:
            return cls(source.label, TREC_RUN, RUN, _notes_on_ranks(source), LastTag())
        if format == "msmarco" and is_run:
            return cls(source.label, RANKS, RUN, (_RANKS_ONLY,))
        if format in ("trec", "msmarco"):  # the judgements of MS MARCO are TREC qrels
            return cls(source.label, TREC_JUDGEMENTS, source.kind)
        return cls(source.label, SCORES if is_run else GRADES, source.kind)

    def pieces(self, parts: Iterable[bytes], size: int) -> Iterator[Piece]:
        first = 1
        for block in blocks(parts, size):
            if self.tag is not None:
                self.tag.see(block)
            piece = parse_lines(block, self.layout, self.kind, self.label, first)
            first += piece.frame.height if piece.found is None else count_lines(block)
            del block  # the next one is read meanwhile
            if self.layout is RANKS:
                self._refuse_other_than_ranks(piece)
            if piece.frame.height or piece.notes:
                yield piece

    def _refuse_other_than_ranks(self, piece: Piece) -> None:
        rank = -piece.frame["score"]
        is_whole = rank.is_finite() & (rank == rank.floor()) & (rank >= 0)
        if wrong := (~is_whole).arg_true().head(1).to_list():
            raise InputError(
                f"{self.label}, line {piece.places()[wrong[0]]}: a rank must be a whole number "
                f"from 0; got {rank[wrong[0]]:g}. If the column holds scores, say so with "
                "format={'run': 'scores'} (--run-format scores)."
            )

    def whole(self, source: Source) -> Any:
        import polars as pl

        frames = [from_rows([], self.kind, self.layout.subtopic)]
        noted = []
        for piece in self.pieces(source.parts(), BYTES_PER_BLOCK):
            frames.append(piece.frame)
            noted.append(piece.notes)
        locate = LineNumbers(source, line_numbers)
        frame, tag = pl.concat(frames, rechunk=False), None if self.tag is None else str(self.tag)
        notes = (*merged(noted), *self.notes)
        return unchecked_table(self.kind, frame, self.label, notes, locate, tag=tag)


def line_numbers(source: Source) -> Iterator[int]:
    return (number for number, _ in data_lines(source.lines()))


def refuse_other_kind(source: Source) -> None:
    other = JUDGEMENTS if source.kind is RUN else RUN
    first = [split(line) for _, line in islice(data_lines(source.lines()), 10)]
    if first and all(looks_like(other, fields) for fields in first):
        raise InputError(other.mistaken_for(source.kind, source.label))


def read_lines(source: Source, format: str) -> Any:
    """Read a file of one of the formats without a header."""
    raw = LineReader.of(source, format).whole(source)
    if source.kind is RUN or format != "trec":
        return raw
    least = raw.frame["grade"].min()
    if isinstance(least, float) and least >= _FIRST_UNIX_TIME:
        raise InputError(
            f"{source.label}: every grade is {_FIRST_UNIX_TIME:,} or more, as {least:.0f}: a time, "
            f"not a grade. {TREC_JUDGEMENTS.example} If a line is user, item, rating and time, put "
            "a line with these names above the others (user_id, item_id, rating, timestamp), with "
            "tabs between them."
        )
    return raw


class _WarnedOrder(Warned, OrderOnly):
    """A warning about a column that also marks the run as having no scores."""

    __slots__ = ()


def _ranks_or_scores(source: Source) -> LineReader:
    """Read the third column as the first lines suggest: as ranks or as scores.

    Ranks are whole numbers from 0 or 1 that rise with the lines of each query. The column holds
    ranks if every query is like that. It holds scores if no query of several lines is, and it
    either has other numbers than whole ones, or falls with the lines and has ties. Anything else
    is an error: read the wrong way, every list would be turned upside down.
    """
    by_query: dict[bytes, list[float]] = {}
    head = source.head()
    whole_lines = head if len(head) < HEAD_BYTES else head[: head.rfind(b"\n") + 1] or head
    for _, line in data_lines(whole_lines.splitlines()):
        fields = split(line)
        if len(fields) > 2 and is_number(text := fields[2].decode("utf-8", "replace")):
            by_query.setdefault(fields[0], []).append(float(text))
    lists = list(by_query.values())
    several = [values for values in lists if len(values) > 1]
    if all(map(_count_up, lists)):
        return _warned_reader(source, is_rank=True)
    whole = all(value >= 0 and value.is_integer() for values in lists for value in values)
    falling = all(before >= after for values in several for before, after in pairwise(values))
    ties = any(before == after for values in several for before, after in pairwise(values))
    if not any(map(_count_up, several)) and (not whole or not several or (falling and ties)):
        return _warned_reader(source, is_rank=False)
    raise InputError(
        f"{source.label}: the third column may hold ranks or scores. Say which: "
        "format={'run': 'msmarco'} (--run-format msmarco) reads ranks, 'scores' scores."
    )


def _count_up(values: Sequence[float]) -> bool:
    rising = all(before < after for before, after in pairwise(values))
    return rising and values[0] <= 1 and all(value >= 0 and value % 1 == 0 for value in values)


def _warned_reader(source: Source, *, is_rank: bool) -> LineReader:
    what, format, other = "scores, the greatest the best", "scores", "msmarco"
    if is_rank:
        what = "ranks (whole numbers that count up from the first line of each query)"
        format, other = other, format
    warning = (_WarnedOrder if is_rank else Warned)(
        f"There is no header: the third column is read as {what}; format={{'run': {other!r}}} "
        f"(--run-format {other}) reads {'scores' if is_rank else 'ranks'}."
    )
    return replace(LineReader.of(source, format), notes=(warning,))


def read_small(source: Source, name: str, format: str | None = None) -> Lookup | None:
    """Read a small TREC file without polars; return None if it is large or not plain."""
    # Loading polars takes 0.1 s, as long as parsing 3 MB in Python.
    if source.columns or source.size() > BYTES_WORTH_POLARS:
        return None
    if (format or detect_format(source).name) != "trec":
        return None
    is_run = source.kind is RUN
    layout = TREC_RUN if is_run else TREC_JUDGEMENTS
    text = source.read()
    if b"\v" in text or b"\f" in text:  # white space to bytes.split only
        return None
    width, place = len(layout.fields), layout.position(layout.value)
    lists: dict[str, dict[str, float]] = {}
    items: dict[str, float] = {}
    subtopics, comments = set(), []
    rows, last = 0, b""
    try:
        text.decode()  # unused fields must be text too
        for line in text.splitlines():
            fields = line.split()
            if len(fields) != width or fields[0] != last:
                if not fields or fields[0].startswith(COMMENT):
                    comments += [b" ".join(fields)] if fields else []
                    continue
                if len(fields) != width:
                    return None
                last = fields[0]
                items = lists.setdefault(last.decode(), {})
            number = fields[place]
            if b"_" in number:  # which Python allows between digits
                return None
            items[fields[2].decode()] = float(number)
            rows += 1
            if not is_run:
                subtopics.add(fields[1])
    except ValueError:  # UnicodeDecodeError is one
        return None
    numbers = [number for items in lists.values() for number in items.values()]
    repeated = len(numbers) < rows
    if not rows or repeated or len(subtopics) > 1 or not all(map(math.isfinite, numbers)):
        return None
    if not is_run and max(numbers) >= _LARGE_GRADE:
        return None
    notes = layout.skipped(comments)
    if not is_run:
        return Lookup(lists, source.label, notes, "judgements")
    tag = LastTag()
    tag.see(text)
    return Lookup(lists, source.label, (*notes, *_notes_on_ranks(source)), name, tag=str(tag))


TREC = "a TREC run"
QRELS = "a TREC file of judgements"
_UNWRITABLE = {
    **dict.fromkeys((TREC, QRELS), r"^$|[\s\x00\x1c-\x1f]"),
    "CSV": r"^$|\x00",
    **dict.fromkeys(("Parquet", "JSON"), "^$"),
}
"""Patterns of ids that a format cannot hold."""


def refuse_ids(frame: pl.DataFrame, format: str, target: Path, tag: str | None = None) -> None:
    """Raise an error for an id that would not be read back from `format` unchanged."""
    import polars as pl

    names = [name for name in ("query", "item", "subtopic") if name in frame.columns]
    columns = {f"{name} id": frame[name] for name in names}
    if tag is not None:
        columns["tag"] = pl.Series([tag])
    for what, ids in columns.items():
        pattern = _UNWRITABLE.get(format, "^$")
        if format in (TREC, QRELS) and ids.name == "query":
            pattern += r"|^[#\x{feff}]"  # a comment, or a byte order mark
        wrong = ids.filter(ids.str.contains(pattern))
        if len(wrong):
            why = "is empty"
            if wrong[0]:
                why = "has white space or a NUL in it, or begins like a comment"
            raise OutputError(
                f"{target}: the {what} {wrong[0]!r} {why}, which {format} cannot hold; "
                f"{'write .json, or ' if wrong[0] else ''}change it."
            )
    if format not in (TREC, QRELS) or not frame.height:
        return
    query, item = frame.row(0)[:2]
    kind, rest = (RUN, f"Q0 {item} 1 1.0 {tag}") if format == TREC else (JUDGEMENTS, f"0 {item} 1")
    line = f"{query} {rest}\n".encode()
    try:
        detected = detect_format(checked(Source("", kind, Path("a"), line, False))).name
    except InputError:
        detected = ""
    if detected != "trec" or compression(line) is not None:
        raise OutputError(
            f"{target}: the query id {query!r} makes the first line look like another format, "
            f"which {format} cannot hold; write .json, or change it."
        )
