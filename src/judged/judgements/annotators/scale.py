"""The grades that annotators may give, and what each means."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from judged.errors import InputError, quoted
from judged.judgements.annotators.log import HIGHEST

WORDS = {
    1: ("not relevant", "relevant"),
    2: ("not relevant", "partly", "fully"),
    3: ("not relevant", "on topic", "partly", "fully"),
}
"""What grades mean by the highest one, unless somebody says it."""
_ONE = re.compile(r"(\d{1,9})(?:\s+(\S.*))?", re.DOTALL | re.ASCII)
LONGEST_WORDS = 60


@dataclass(frozen=True)
class Grade:
    """A grade, and what it means."""

    grade: int
    words: str = ""


@dataclass(frozen=True)
class Scale:
    """The grades that annotators may give, from the lowest.

    >>> [each.words for each in Scale.read("0 not relevant, 1 on topic, 2 answers it").grades]
    ['not relevant', 'on topic', 'answers it']
    """

    grades: tuple[Grade, ...]

    @property
    def top(self) -> int:
        """The highest grade."""
        return self.grades[-1].grade

    def words(self, grade: int) -> str:
        """What a grade means; empty where nobody said it."""
        return next((each.words for each in self.grades if each.grade == grade), "")

    def __contains__(self, grade: object) -> bool:
        return any(each.grade == grade for each in self.grades)

    def __str__(self) -> str:
        return ", ".join(f"{each.grade} {each.words}".strip() for each in self.grades)

    @classmethod
    def read(cls, given: Any) -> Scale:
        """A scale as it is written: "0 not relevant, 1 on topic, 2 partly, 3 fully".

        Parameters
        ----------
        given : str
            Grades, each with what it means, between commas.

        Returns
        -------
        Scale
        """
        found: dict[int, Grade] = {}
        for part in given.split(",") if isinstance(given, str) else [None]:
            match = _ONE.fullmatch(part.strip()) if part is not None else None
            if match is None or int(match[1]) > HIGHEST:
                raise InputError(
                    f'grades are written as "0 not relevant, 1 relevant": numbers from 0 to '
                    f"{HIGHEST}, one key each, with what they mean; got {quoted(given)}."
                )
            grade = int(match[1])
            if grade in found:
                raise InputError(f"grades: {grade} stands there twice; got {quoted(given)}.")
            found[grade] = Grade(grade, " ".join((match[2] or "").split())[:LONGEST_WORDS])
        if len(found) < 2:
            raise InputError(f"grades: give two or more; got {quoted(given)}.")
        return cls(tuple(found[grade] for grade in sorted(found)))

    @classmethod
    def up_to(cls, top: int | None) -> Scale:
        """The scale of judgements whose highest grade is known; four grades where it is not.

        Parameters
        ----------
        top : int or None
            The highest grade that is there.

        Returns
        -------
        Scale

        >>> str(Scale.up_to(1)), str(Scale.up_to(None))
        ('0 not relevant, 1 relevant', '0 not relevant, 1 on topic, 2 partly, 3 fully')
        """
        highest = 3 if top is None else min(max(top, 1), HIGHEST)
        words = WORDS.get(highest, ("not relevant", *[""] * (highest - 1), "fully"))
        return cls(tuple(Grade(grade, each) for grade, each in enumerate(words)))
