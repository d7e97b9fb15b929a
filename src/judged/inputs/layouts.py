"""How lines of text with fields between white space are laid out, and what their ranks say of
their scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import SEEK_END
from typing import TYPE_CHECKING

from judged.inputs.names import is_known
from judged.inputs.order import against_ranks
from judged.inputs.readings import skipped_comments
from judged.inputs.whitespace import COMMENT, blocks, is_number, is_whole, split
from judged.text import WarnedOnce, quote

if TYPE_CHECKING:
    from judged.inputs.source import Source


@dataclass(frozen=True)
class Layout:
    """The fields of a line in order; those after them are ignored."""

    fields: tuple[str, ...]
    value: str
    """The field that is a number; empty where there is none."""
    example: str
    subtopic: str | None = None
    """The field that may hold a subtopic."""

    def position(self, field: str) -> int:
        return self.fields.index(field)

    def may_hold_spaces(self, fields: Sequence[str]) -> bool:
        """Whether a line is too long and can be read as one with a space in an id: its last fields
        are a rank and a value as well, or the rank is none."""
        beyond = len(fields) - len(self.fields)
        ranks = [self.position(name) for name in self.fields if name == "rank" != self.value]
        return beyond > 0 and not (
            all(is_whole(fields[at]) for at in ranks)
            and not (
                all(is_whole(fields[at + beyond]) for at in ranks)
                and is_number(fields[self.position(self.value) + beyond])
            )
        )

    def skipped(self, comments: Sequence[bytes]) -> tuple[str, ...]:
        """Return the notes on lines that were skipped as comments: a warning names one that has the
        fields of a row, because its query may begin with #."""
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
        if not self.value:  # names of columns may be such a line, too
            return not any(is_known(text.lstrip("#")) for text in texts)
        return is_number(texts[self.position(self.value)])


_HEAD = 1 << 16
"""So many bytes are read at a time for that."""
TREC_RUN = Layout(
    fields=("query", "ignored", "item", "rank", "score", "tag"),
    value="score",
    example="A line of a run is: query Q0 item rank score tag.",
)
TREC_JUDGEMENTS = Layout(
    fields=("query", "iteration", "item", "grade"),
    value="grade",
    example="A line of judgements is: query 0 item grade.",
    subtopic="iteration",
)


def first_rows(source: Source) -> Iterator[list[bytes]]:
    """Yield the fields of a run's first lines, as many as are asked for."""
    with source.open() as handle:
        for block in blocks(handle, _HEAD):
            # Python's own way is the faster one, but takes two more characters for white space.
            fields = split if b"\v" in block or b"\f" in block else bytes.split
            for row in map(fields, block.splitlines()):
                if row and row[0][:1] != COMMENT:
                    yield row


def notes_on_ranks(rows: Iterable[Sequence[bytes]]) -> tuple[str, ...]:
    """Return a warning where the ranks and scores of TREC lines contradict each other."""
    query, rank, score = (TREC_RUN.position(name) for name in ("query", "rank", "score"))
    return against_ranks((row[query], row[rank], row[score]) for row in rows)


class LastTag:
    """What a run calls itself in the last of its lines that were read, as in trec_eval."""

    def __init__(self) -> None:
        self._line = b""

    @classmethod
    def of(cls, source: Source) -> LastTag:
        """Return the tag of a whole file, of which only the end is read."""
        tag = cls()
        with source.open() as handle:
            start, size = handle.tell(), _HEAD
            end = handle.seek(0, SEEK_END)
            while not tag._line:
                begin = max(start, end - size)
                handle.seek(begin)
                lines = handle.read()
                if begin == start:
                    tag.see(lines)
                    break
                tag.see(lines.replace(b"\r", b"\n").partition(b"\n")[2])  # of whole lines
                size *= 8
        return tag

    def see(self, lines: bytes) -> None:
        """Look at the next lines."""
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
