"""The two kinds of table a reader is asked for, and the words messages use for them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """A run or judgements: what the third column is called and how the plain text form looks."""

    phrase: str
    value: str
    columns: str

    def mistaken_for(self, wanted: Kind, source: str) -> str:
        """The message for a file that is plainly of this kind, given where the other was asked for."""
        return (
            f"{source} looks like {self.phrase} ({self.columns}), not {wanted.phrase} "
            f"({wanted.columns}). "
            "Were the two files given in the wrong order?"
        )


RUN = Kind("a run", "score", "6 columns: query, Q0, item, rank, score, tag")
JUDGEMENTS = Kind("judgements", "grade", "4 columns: query, iteration, item, grade")


def count(number: int, noun: str) -> str:
    """ "1 line", "2 lines"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def quote(text: str | bytes, limit: int = 80) -> str:
    """Text from a file between quotation marks, shortened so that a message stays one line.

    Control characters are spelled out, all but the tab: printed as they are they could break the
    line, or steer the terminal.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    text = "".join(
        each if each.isprintable() or each == "\t" else each.encode("unicode_escape").decode()
        for each in text
    )
    return f'"{text}"' if len(text) <= limit else f'"{text[: limit - 1]}…"'
