"""Relevance lists as people write them: the grades of one list in rank order, "0 1 - (2 0)"."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from judged.errors import InputError, quoted
from judged.rankings.rankings import Rankings

_WORD = re.compile(r'[()]|\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\}|[^\s,()]+')
_WRITTEN = {
    "relevance list": 'write the grades in rank order, such as "0 1 0 0 1"',
    "pool": 'write the grades of all judged items, such as "2 1 1 0"',
}
_TIED = 'Results that share a score stand in brackets, such as "0 (1 0) 1".'

A_LIST = "the list"  # the name of the run of a relevance list
NO_IDS = "item_to and exclude_same_id are about the ids of a run; there is none."
NO_DEPTH = "depth cuts the lists of a run; write a relevance list as long as it should be."
"""Messages about options that do not apply to a relevance list."""


@dataclass(frozen=True)
class RelevanceList:
    """The grades of one list, and which of its results share a score."""

    grades: tuple[Any, ...]  # in rank order; None is an unjudged item
    tied: tuple[tuple[int, int], ...] = ()  # the first and the last rank of each tie

    def __str__(self) -> str:
        """Return the list as people write it."""
        first, last = {tie[0] for tie in self.tied}, {tie[1] for tie in self.tied}
        return " ".join(
            f"{'(' * (rank in first)}{written_grade(grade)}{')' * (rank in last)}"
            for rank, grade in enumerate(self.grades, 1)
        )


def written_grade(grade: Any) -> str:
    """Return a grade as a list writes it: -, 2, 0.5 or {"a":1}."""
    if grade is None:
        return "-"
    if isinstance(grade, Mapping):
        return json.dumps(dict(grade), separators=(",", ":"))
    return f"{int(grade)}" if float(grade).is_integer() else f"{float(grade)!r}"


def relevance_list(text: str) -> RelevanceList:
    """Parse a relevance list: numbers, - (unjudged), {"subtopic":grade}, and brackets for ties."""
    words = _words(text, "relevance list")
    grades: list[Any] = []
    tied: list[tuple[int, int]] = []
    begun: int | None = None
    for word in words:
        if word == "(" and begun is None:
            begun = len(grades) + 1
        elif word == ")" and begun is not None and begun <= len(grades):
            tied.append((begun, len(grades)))
            begun = None
        elif word in "()":
            raise InputError(f"{text!r} is not a relevance list: {word!r} is out of place. {_TIED}")
        else:
            grades.append(_grade(word, text, "relevance list"))
    if begun is not None:
        raise InputError(f"{text!r} is not a relevance list: a bracket is not closed. {_TIED}")
    return RelevanceList(tuple(grades), tuple(tie for tie in tied if tie[0] < tie[1]))


def _words(text: str, what: str) -> list[str]:
    words = _WORD.findall(text)
    if not words:
        raise InputError(f"the {what} is empty; {_WRITTEN[what]}.")
    return words


def _grade(word: str, text: str, what: str) -> Any:
    if word == "-" and what != "pool":
        return None
    try:
        grade = json.loads(word, parse_constant=_refused)
    except (ValueError, RecursionError):
        grade = None
    if isinstance(grade, bool) or not isinstance(grade, (int, float, dict)):
        either = "is not a grade" if what == "pool" else "is neither a grade nor - (not judged)"
        hint = (
            " For files, give QRELS and RUN."
            if what != "pool" and ("/" in text or ("." in text and len(text.split()) == 1))
            else ""
        )
        written = _WRITTEN[what].capitalize()
        raise InputError(f"{text!r} is not a {what}: {word!r} {either}. {written}.{hint}")
    return grade


def _refused(constant: str) -> None:
    """Refuse NaN and infinity, which Python's JSON accepts."""
    raise ValueError(constant)


def may_be_list(value: Any) -> bool:
    """Return whether this has the type of a relevance list."""
    return isinstance(value, (str, Sequence, np.ndarray)) and not isinstance(value, Mapping)


def rankings_of_lists(
    relevance: Any, relevant: Any = None, *, pool: Any = None, collection: int | None = None
) -> Rankings:
    """Make the rankings of one relevance list, or of several: texts or sequences of grades.

    >>> len(rankings_of_lists("0 1")), len(rankings_of_lists([[0, 1], [1]]))
    (1, 2)
    """
    one = isinstance(relevance, (str, RelevanceList)) or not any(
        isinstance(row, (str, Sequence, np.ndarray)) for row in _iterated(relevance)
    )
    lists = [_list(relevance)] if one else [_list(row) for row in relevance]
    pools = None
    if pool is not None:
        if not one:
            raise InputError("pool is about one relevance list; leave it out for several.")
        pools = [_grades("pool", pool)]
    return Rankings.from_relevance(
        [row.grades for row in lists],
        relevant=relevant,
        pool=pools,
        collection=collection,
        tied=[row.tied for row in lists],
        name=A_LIST,
    )


def _iterated(values: Any) -> Iterable[Any]:
    scalar = isinstance(values, np.ndarray) and values.ndim == 0
    listed = isinstance(values, Iterable) and not isinstance(values, Mapping) and not scalar
    return values if listed else ()


def _list(relevance: Any) -> RelevanceList:
    if isinstance(relevance, RelevanceList):
        return relevance
    if isinstance(relevance, str):
        return relevance_list(relevance)
    return RelevanceList(tuple(_grades("a relevance list", relevance)))


def _grades(what: str, values: Any) -> list[Any]:
    """Return grades as a list, from a text or any sequence of them."""
    if isinstance(values, str):
        return [_grade(word, values, what) for word in _words(values, what)]
    rows = values.tolist() if isinstance(values, np.ndarray) else values
    if not isinstance(rows, Iterable) or isinstance(rows, (bytes, Mapping)):
        raise InputError(f"{what} must be a text or a list of grades; got {quoted(values)}.")
    grades = list(rows)
    for grade in grades:
        if grade is not None and not isinstance(grade, (Real, Mapping)):
            raise InputError(f"{what} must hold grades or None; got {quoted(grade)}.")
    return grades
