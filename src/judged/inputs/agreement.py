"""Ids of one side that would be those of the other, were they cut or written otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

SEPARATORS = "#_:/-.|@"
EXACT = "ids are compared as exact texts."


@cache
def changes() -> dict[str, tuple[str, Callable[[str], str | None]]]:
    """Ways to change ids, in words: the `item_to` that does it, and what it makes of an id."""

    def before(separator: str) -> Callable[[str], str | None]:
        return lambda each: each.rpartition(separator)[0]

    def found(pattern: str) -> Callable[[str], str | None]:
        search = re.compile(pattern).search
        return lambda each: (match := search(each)) and match.group(1)

    cut = {f"cut at the last {each!r}": (f"doc:{each}", before(each)) for each in SEPARATORS}
    patterns = {
        "without leading zeros": "^0+(.+)$",
        "with 1.0 written as 1": r"^(.+)\.0$",
        "without white space at the ends": r"^\s*(.*?)\s*$",
        **{f"cut at the first {each!r}": f"^(.+?){re.escape(each)}" for each in SEPARATORS},
        **{f"cut after the last {each!r}": f"([^{each}]+)$" for each in SEPARATORS},
        "without the letters before the number": r"^\D+(\d+)$",
    }
    return {
        **cut,
        **{words: (f"pattern:{each}", found(each)) for words, each in patterns.items()},
        "in lower case": ("str.lower", str.lower),
    }


def meet(
    ours: Sequence[str], theirs: Sequence[str], change: Callable[[str], str | None]
) -> tuple[bool, bool]:
    """Whether some of our ids, once they are changed, are among theirs as they are; and the other
    way round. Ids that are changed on both sides are no sign: all that begin with doc_ would agree.
    """

    def changed(ids: Sequence[str]) -> set[str | None]:
        return {new for each in ids if (new := change(each)) != each}

    return not changed(ours).isdisjoint(theirs), not changed(theirs).isdisjoint(ours)


def agreement(ours: Sequence[str], theirs: Sequence[str], whose: tuple[str, str]) -> str | None:
    """The words for what would make some of the ids of two sides meet; `whose` names the sides."""
    for words, (_, change) in changes().items():
        for side, one in zip(whose, meet(ours, theirs, change), strict=True):
            if one:
                return f"They would agree with {side} {words}: {EXACT}"
    if {_number(each) for each in ours} & {_number(each) for each in theirs}:
        return f"Their numbers agree, the letters around them do not: {EXACT}"
    return None


def few(ids: Sequence[str]) -> str:
    """The first of some ids.

    >>> few(["a", "b", "c", "d"])
    "'a', 'b', 'c', …"
    """
    return ", ".join(map(repr, ids[:3])) + (", …" if len(ids) > 3 else "")


def apart(known: Sequence[str], queries: Sequence[str], they_are: str) -> str:
    """What is said of ids none of which is that of a query.

    >>> apart(["Q1"], ["q1"], "The groups are")[:54]
    "The groups are of 'Q1'; the queries are 'q1'. They wou"
    """
    like = agreement(known[:1000], queries, ("their ids", "the queries' ids"))
    return (
        f"{they_are} of {few(known)}; the queries are {few(queries)}. "
        f"{like or 'Do the two belong together?'}"
    )


def _number(name: str) -> str:
    return "".join(letter for letter in name if letter.isdigit()).lstrip("0") or name
