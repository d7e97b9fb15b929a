"""Changes that would make the ids of two sides agree, such as cutting or lower case."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial

SEPARATORS = "#_:/-.|@"
EXACT = "ids are compared as exact texts."


@cache
def changes() -> dict[str, tuple[str, Callable[[str], str | None]]]:
    """Return ways to change ids by their words: the `item_to` that does it, and its function."""

    def before(separator: str) -> Callable[[str], str | None]:
        return lambda name: name.rpartition(separator)[0]

    def first_group(pattern: str) -> Callable[[str], str | None]:
        search = re.compile(pattern).search
        return lambda name: (match := search(name)) and match.group(1)

    cut = {f"cut at the last {mark!r}": (f"doc:{mark}", before(mark)) for mark in SEPARATORS}
    patterns = {
        "without leading zeros": "^0+(.+)$",
        "with 1.0 written as 1": r"^(.+)\.0$",
        "without white space at the ends": r"^\s*(.*?)\s*$",
        **{f"cut at the first {mark!r}": f"^(.+?){re.escape(mark)}" for mark in SEPARATORS},
        **{f"cut after the last {mark!r}": f"([^{mark}]+)$" for mark in SEPARATORS},
        "without the letters before the number": r"^\D+(\d+)$",
    }
    return {
        **cut,
        **{words: (f"pattern:{text}", first_group(text)) for words, text in patterns.items()},
        "in lower case": ("str.lower", str.lower),
        # Some systems write letters with accents as two characters.
        "in Unicode form NFC": (
            'lambda id: unicodedata.normalize("NFC", id)',
            partial(unicodedata.normalize, "NFC"),
        ),
    }


ON_BOTH_SIDES = ("in lower case", "in Unicode form NFC")
"""Changes that may make ids meet only where both sides are changed: Doc1 and DOC1."""


def is_function(item_to: str) -> bool:
    """Return whether an `item_to` is a function, which the command line has no text for."""
    return not item_to.startswith(("doc:", "pattern:"))


def without_prefix(
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]],
) -> dict[str, tuple[str, Callable[[str], str | None]]]:
    """Return the prefix that most ids have on one side and lack on the other, as in `changes`."""
    prefixes: Counter[str] = Counter()
    for ours, theirs in pairs:
        of_query = set()
        for long, short in ((ours, theirs), (theirs, ours)):
            ends = [name for name in short if len(name) >= _MIN_LENGTH]
            of_query |= {
                name[: -len(end)]
                for name in long
                for end in ends
                if name.endswith(end) and name != end
            }
        prefixes.update(of_query)
    if not prefixes:
        return {}
    prefix = max(prefixes, key=lambda text: (prefixes[text], text))
    pattern = f"^{re.escape(prefix)}(.+)$"
    return {
        f"without {prefix!r} at the start": (
            f"pattern:{pattern}",
            lambda name: name.removeprefix(prefix),
        )
    }


_MIN_LENGTH = 4  # shorter ids may be the end of others by chance


def meet(
    ours: Sequence[str], theirs: Sequence[str], change: Callable[[str], str | None]
) -> tuple[bool, bool]:
    """Return whether some of our ids, once changed, are among theirs, and the other way round."""

    def changed(ids: Sequence[str]) -> set[str | None]:
        return {new for name in ids if (new := change(name)) != name}

    # Changing both sides is no sign: all ids that begin with doc_ would agree.
    return not changed(ours).isdisjoint(theirs), not changed(theirs).isdisjoint(ours)


def agreement(ours: Sequence[str], theirs: Sequence[str], whose: tuple[str, str]) -> str | None:
    """Return the change that makes some ids of both sides equal, or None."""
    for words, (_, change) in changes().items():
        for side, agrees in zip(whose, meet(ours, theirs, change), strict=True):
            if agrees:
                return f"They would agree with {side} {words}: {EXACT}"
        if words in ON_BOTH_SIDES and {*map(change, ours)} & {*map(change, theirs)}:
            return f"They would agree with all ids {words}: {EXACT}"
    if set(map(_digits, ours)) & set(map(_digits, theirs)):
        return f"Their numbers agree, the letters around them do not: {EXACT}"
    return None


def few(ids: Sequence[str]) -> str:
    """Return the first of some ids."""
    return ", ".join(map(repr, ids[:3])) + (", …" if len(ids) > 3 else "")


def apart(known: Sequence[str], queries: Sequence[str], they_are: str) -> str:
    """Return the message on ids none of which is that of a query."""
    like = agreement(known[:1000], queries, ("their ids", "the queries' ids"))
    return (
        f"{they_are} of {few(known)}; the queries are {few(queries)}. "
        f"{like or 'Do the two belong together?'}"
    )


def _digits(name: str) -> str:
    return "".join(letter for letter in name if letter.isdigit()).lstrip("0") or name
