"""Ids of one side that would be those of the other, were they cut or written otherwise."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
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
        "in Unicode form NFC": ('lambda id: unicodedata.normalize("NFC", id)', _composed),
    }


def _composed(text: str) -> str:
    """Return letters with accents as one character each; other systems write them as two."""
    return unicodedata.normalize("NFC", text)


ON_BOTH_SIDES = ("in lower case", "in Unicode form NFC")
"""Changes that may make ids meet only where both sides are changed: Doc1 and DOC1."""


def is_function(item_to: str) -> bool:
    """Return whether an `item_to` is a function, which the command line has no text for."""
    return not item_to.startswith(("doc:", "pattern:"))


def without_prefix(
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]],
) -> dict[str, tuple[str, Callable[[str], str | None]]]:
    """Return the prefix that most queries' ids have on one side and lack on the other, as `changes`
    has it; ids that are too short may end alike by chance."""
    prefixes: Counter[str] = Counter()
    for ours, theirs in pairs:
        found = set()
        for long, short in ((ours, theirs), (theirs, ours)):
            ends = [each for each in short if len(each) >= _TELLING]
            found |= {
                each[: -len(end)]
                for each in long
                for end in ends
                if each.endswith(end) and each != end
            }
        prefixes.update(found)
    if not prefixes:
        return {}
    prefix = max(prefixes, key=lambda each: (prefixes[each], each))
    pattern = f"^{re.escape(prefix)}(.+)$"
    return {
        f"without {prefix!r} at the start": (
            f"pattern:{pattern}",
            lambda each: each.removeprefix(prefix),
        )
    }


_TELLING = 4
"""Characters; shorter ids may be the end of others by chance."""


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
