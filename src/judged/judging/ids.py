"""Ids of one side that would be those of the other, were they cut or written otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from judged.inputs.agreement import changes, meet
from judged.segments import Ints, positions, starts_of
from judged.text import Warned, counted

if TYPE_CHECKING:
    from judged.inputs.tables import Lookup, Run
    from judged.judging.join import Matches
    from judged.judging.pool import Pool

WHOSE = ("the run's ids", "the judgements' ids")
QUERIES, IDS = 50, 100
"""So many queries, and so many ids of each, are looked at."""


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
        whose = WHOSE[both[0] < both[1]]
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
