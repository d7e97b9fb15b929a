"""How lines of text with fields between white space are laid out, and what their ranks say of
their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from judged.frozen import dataclass
from judged.inputs.names import is_known
from judged.inputs.readings import skipped_comments
from judged.inputs.whitespace import COMMENT, blocks, is_number, is_whole, split
from judged.text import Warned, WarnedOnce, quote

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


LOOKED_AT = 1000
"""How many of a run's first lines are asked whether their ranks and scores agree."""
_HEAD = 1 << 16
"""So many bytes are read at a time for that."""
_Ranked = tuple[bytes, float, float]
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


def first_rows(source: Source) -> list[list[bytes]]:
    """The fields of a run's first lines."""
    rows: list[list[bytes]] = []
    with source.open() as handle:
        for block in blocks(handle, _HEAD):
            # Python's own way is the faster one, but takes two more characters for white space.
            fields = split if b"\v" in block or b"\f" in block else bytes.split
            lines = block.splitlines()
            for at in range(0, len(lines), LOOKED_AT):
                some = map(fields, lines[at : at + LOOKED_AT])
                rows += [row for row in some if row and row[0][:1] != COMMENT]
                if len(rows) >= LOOKED_AT:
                    return rows[:LOOKED_AT]
    return rows


def tag_of(rows: Sequence[Sequence[bytes]]) -> str | None:
    """What a run calls itself in its first line."""
    return rows[0][TREC_RUN.position("tag")].decode() if rows else None


def ranks_against_scores(rows: Sequence[Sequence[bytes]]) -> Iterator[Warned]:
    """A warning where the ranks of a run say that lower scores are better, as of distances."""
    query, rank, score = (TREC_RUN.position(name) for name in ("query", "rank", "score"))
    ranked = (
        (row[query], float(row[rank]), float(row[score])) for row in rows if row[rank].isdigit()
    )
    against: list[tuple[_Ranked, _Ranked]] = []
    agree = 0
    for one, other in pairwise(ranked):
        if one[0] == other[0] and one[1] != other[1] and one[2] != other[2]:
            upper, lower = sorted((one, other))
            if upper[2] < lower[2]:
                against.append((upper, lower))
            else:
                agree += 1
                if 10 * agree >= len(rows) - 1:  # whatever comes, these are a tenth of all
                    return
    if len(against) > max(1, 9 * agree):
        (_, above, high), (_, below, low) = against[0]
        yield Warned(
            f"The file's own ranks put lower scores first (rank {above:g} has {high:g}, rank "
            f"{below:g} has {low:g}); here the score decides, and the highest is first. If these "
            "are distances, change their sign."
        )
