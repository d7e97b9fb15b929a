"""Notes that travel with data: what was repaired or assumed, and what could mislead."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self


class Warned(str):
    """A note that could mislead whoever overlooks it; it travels where notes do, and comes first.

    >>> Warned("The third column was taken for scores.")
    'The third column was taken for scores.'
    """

    __slots__ = ()


class WarnedOnce(Warned):
    """A warning with an example; of several such warnings, `merged` keeps the first.

    >>> merged([[WarnedOnce("Line 1 is odd.")], [WarnedOnce("Line 2 is odd.")]])
    ('Line 1 is odd.',)
    """

    __slots__ = ()


class Tallied(str):
    """A note that counts something; `merged` adds up such notes that say the same.

    >>> Tallied(2, "{} line was skipped.", "{} lines were skipped.")
    '2 lines were skipped.'
    """

    number: int
    one: str
    many: str

    def __new__(cls, number: int, one: str, many: str) -> Self:
        words = (one if number == 1 else many).replace("{}", f"{number:,}", 1)
        made = super().__new__(cls, words)
        made.number, made.one, made.many = number, one, many
        return made

    def __getnewargs__(self) -> tuple[int, str, str]:  # type: ignore[override]
        return self.number, self.one, self.many


class TalliedWarning(Tallied, Warned):
    """A warning that counts something.

    >>> TalliedWarning(1, "{} score is infinite.", "{} scores are infinite.")
    '1 score is infinite.'
    """


def merged(parts: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """The notes of several parts as those of the whole: each once, in the order in which they
    came, and counts added up.

    >>> skipped = "{} line was skipped.", "{} lines were skipped."
    >>> merged([["A note.", Tallied(1, *skipped)], [Tallied(2, *skipped), "A note."]])
    ('A note.', '3 lines were skipped.')
    """
    found: dict[object, str] = {}
    for part in parts:
        seen: set[object] = set()
        for note in part:
            key: object = note
            if isinstance(note, Tallied):
                key = (type(note), note.one, note.many)
            elif isinstance(note, WarnedOnce):
                key = type(note)
            if key in found and isinstance(note, Tallied) and key not in seen:
                before = found[key]
                assert isinstance(before, Tallied)
                note = type(note)(before.number + note.number, note.one, note.many)
                found[key] = note
            found.setdefault(key, note)
            seen.add(key)
    return tuple(found.values())


def with_source(name: str, notes: Iterable[str]) -> tuple[str, ...]:
    """Put the name of a run or a file before each of its notes; a warning stays one.

    >>> with_source("run", [Tallied(1, "{} line was skipped.", "{} lines were skipped.")])
    ('run: 1 line was skipped.',)
    """
    return tuple(
        Warned(f"{name}: {note}") if isinstance(note, Warned) else f"{name}: {note}"
        for note in notes
    )


def without_counts(notes: Iterable[str]) -> tuple[str, ...]:
    """Notes of a part, the counts of which another part brings.

    >>> skipped = Tallied(2, "{} line was skipped.", "{} lines were skipped.")
    >>> merged([without_counts([skipped]), without_counts([skipped]), [skipped]])
    ('2 lines were skipped.',)
    """
    return tuple(
        type(note)(0, note.one, note.many) if isinstance(note, Tallied) else note for note in notes
    )
