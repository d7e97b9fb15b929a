"""Ids of one side that would be those of the other, were they cut or written otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from judged.segments import Ints, positions, starts_of
from judged.text import Warned, counted

if TYPE_CHECKING:
    from judged.inputs.tables import Lookup, Run
    from judged.judging.join import Matches
    from judged.judging.pool import Pool

SEPARATORS = "#_:/-.|@"
_EXACT = "ids are compared as exact texts."
_WHOSE = ("the run's ids", "the judgements' ids")
QUERIES, IDS = 50, 100
"""So many queries, and so many ids of each, are looked at."""


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


def unlike_ids(pool: Pool, run: Run | Lookup, found: Matches) -> Iterator[str]:
    """A warning where next to nothing that was retrieved is judged: with what would make ids agree,
    where something would."""
    if len(found.hit_judgement) >= len(pool.queries):
        return
    asked = np.flatnonzero(found.list_of >= 0)
    asked = asked[(found.lengths[found.list_of[asked]] > 0) & (pool.lengths[asked] > 0)]
    hit = len(np.unique(pool.query[found.hit_judgement]))
    if not len(asked) or hit * 20 >= len(asked):
        return
    which = (
        "No result is judged"
        if not hit
        else f"Only {hit:,} of {counted(len(asked), 'query', 'queries')} have a judged result"
    )
    pairs = list(_sample(pool, found, asked))
    words, both, share = _best(pairs)
    if share >= 0.25 and not run.basis:
        whose = _WHOSE[both[0] < both[1]]
        item_to = changes()[words][0]
        shell = "" if item_to == "str.lower" else f" (--item-to {_for_shell(item_to)})"
        given = item_to if item_to == "str.lower" else repr(item_to)
        yield Warned(
            f"{which}. With {whose} {words}, {share:.0%} of the queries would have one: "
            f"item_to={given}{shell}."
        )
    elif not hit and len(asked) >= 10:
        (ours, theirs), *_ = pairs
        yield Warned(
            f"{which}: {_few(ours)} of the run, {_few(theirs)} of the judgements. Do the two "
            "belong to the same collection?"
        )


def _best(pairs: list[tuple[list[str], list[str]]]) -> tuple[str, tuple[int, int], float]:
    """The change that makes the ids of most queries meet, on which side, and of how many."""
    best: tuple[str, tuple[int, int], float] = ("", (0, 0), 0.0)
    for words, (_, change) in changes().items():
        met = [meet(ours, theirs, change) for ours, theirs in pairs]
        share = sum(map(any, met)) / len(met)
        if share > best[2]:
            best = words, (sum(one for one, _ in met), sum(other for _, other in met)), share
    return best


def agreement(ours: Sequence[str], theirs: Sequence[str]) -> str | None:
    """The words for what would make some of the ids of two sides meet."""
    for words, (_, change) in changes().items():
        for whose, one in zip(_WHOSE, meet(ours, theirs, change), strict=True):
            if one:
                return f"They would agree with {whose} {words}: {_EXACT}"
    if {_number(each) for each in ours} & {_number(each) for each in theirs}:
        return f"Their numbers agree, the letters around them do not: {_EXACT}"
    return None


def _number(name: str) -> str:
    return "".join(letter for letter in name if letter.isdigit()).lstrip("0") or name


def _sample(pool: Pool, found: Matches, asked: Ints) -> Iterator[tuple[list[str], list[str]]]:
    """The first ids of some queries, of the run and of the judgements."""
    some = asked[np.unique(np.linspace(0, len(asked) - 1, QUERIES).astype(np.int64))]
    begins = starts_of(pool.lengths)
    for query in some.tolist():
        number = found.list_of[[query]]
        chosen = np.arange(found.lengths[number[0]]) < IDS
        rows = positions(begins[[query]], np.minimum(pool.lengths[[query]], IDS))
        yield found.items(number, chosen), pool.items_at(rows)


def _few(ids: list[str]) -> str:
    return ", ".join(map(repr, ids[:2])) + (", …" if len(ids) > 2 else "")


def _for_shell(text: str) -> str:
    from shlex import quote

    return quote(text)
