"""Ids of one side that would be those of the other, were they cut or written otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from judged.arrays import Ints, positions, starts_of
from judged.inputs.agreement import (
    ON_BOTH_SIDES,
    changes,
    is_function,
    meet,
    without_prefix,
)
from judged.text import Warned, counted

if TYPE_CHECKING:
    from judged.inputs.remote import AnyRun
    from judged.matching.join import Matches
    from judged.matching.pool import Pool

WHOSE = ("the run's ids", "the judgements' ids")
QUERIES, IDS = 50, 100
"""So many queries, and so many ids of each, are looked at."""
FEWEST = 3
"""Fewest queries without a judged result that give a warning without a known cause."""


@dataclass(frozen=True)
class UnlikeIds:
    """How much of what was retrieved is judged, and some ids of both sides."""

    queries: int = 0
    asked: int = 0
    """Queries with results and judgements."""
    hits: int = 0
    hit: int = 0
    """Queries with a judged result."""
    explained: bool = False
    """Whether something was done to the ids already."""
    sample: tuple[tuple[int, str, list[str], list[str]], ...] = ()
    """Of some queries that have no judged result: a number that is as good as random, the query,
    and the first ids of the run and of the judgements."""
    sampled: int = 0
    elsewhere: int = 0
    """How many ids of the run were looked up, and how many are judged for another query."""

    @classmethod
    def of(cls, pool: Pool, run: AnyRun, found: Matches) -> UnlikeIds:
        """What a run, or a block of it, tells."""
        there = np.flatnonzero(found.list_of >= 0)
        there = there[(found.lengths[found.list_of[there]] > 0) & (pool.lengths[there] > 0)]
        hits = np.bincount(pool.query[found.hit_judgement], minlength=len(pool.queries))
        without = there[hits[there] == 0]
        made = cls(
            len(pool.queries),
            len(there),
            len(found.hit_judgement),
            int((hits > 0).sum()),
            bool(run.basis),
        )
        if not (pool.is_part or made._unlike()):
            return made
        made = replace(made, sample=_sample(pool, found, without))
        if not made._unlike():
            return made
        ids = {item for _, _, ours, _ in made.sample for item in ours}
        elsewhere = ids.intersection(chain.from_iterable(pool.items))
        return replace(made, sampled=len(ids), elsewhere=len(elsewhere))

    def _unlike(self) -> bool:
        """Whether next to nothing that was retrieved is judged."""
        return self.hits < self.queries and self.asked > 0 and self.hit * 20 < self.asked

    def plus(self, other: UnlikeIds) -> UnlikeIds:
        """What two blocks tell together."""
        return UnlikeIds(
            self.queries + other.queries,
            self.asked + other.asked,
            self.hits + other.hits,
            self.hit + other.hit,
            self.explained or other.explained,
            tuple(sorted(self.sample + other.sample)[:QUERIES]),
            self.sampled + other.sampled,
            self.elsewhere + other.elsewhere,
        )

    def sentences(self) -> Iterator[str]:
        """A warning where next to nothing that was retrieved is judged: with what would make ids
        agree, where something would."""
        if not self._unlike() or not self.sample:
            return
        which = (
            "No result is judged"
            if not self.hit
            else f"Only {self.hit:,} of {counted(self.asked, 'query', 'queries')} have a judged "
            "result"
        )
        cause = _best([(ours, theirs) for _, _, ours, theirs in self.sample])
        if cause.share >= 0.25 and not self.explained:
            function = is_function(cause.item_to)
            shell = "" if function else f" (--item-to {_for_shell(cause.item_to)})"
            given = cause.item_to if function else repr(cause.item_to)
            yield Warned(
                f"{which}. With {cause.whose} {cause.words}, {cause.share:.0%} of the queries "
                f"would have one: item_to={given}{shell}."
            )
        elif not self.hit and self.asked >= FEWEST:
            _, _, ours, theirs = min(self.sample, key=lambda each: each[1])
            question = (
                "Do the two belong to the same collection?"
                if self.elsewhere * 2 <= self.sampled
                else "The results are judged for other queries: are the ids of the queries right?"
            )
            yield Warned(
                f"{which}: {_few(ours)} of the run, {_few(theirs)} of the judgements. {question}"
            )


@dataclass(frozen=True)
class _Cause:
    """A change of ids that would make some of them meet."""

    words: str = ""
    whose: str = ""
    item_to: str = ""
    share: float = 0.0
    """Of how many queries."""


def _best(pairs: list[tuple[list[str], list[str]]]) -> _Cause:
    """Return the change that makes the ids of most queries meet."""
    best = _Cause()
    for words, (item_to, change) in {**changes(), **without_prefix(pairs)}.items():
        met = [meet(ours, theirs, change) for ours, theirs in pairs]
        share = sum(map(any, met)) / len(met)
        whose = WHOSE[sum(one for one, _ in met) < sum(other for _, other in met)]
        if words in ON_BOTH_SIDES:
            alike = [
                not set(map(change, ours)).isdisjoint(map(change, theirs)) for ours, theirs in pairs
            ]
            if sum(alike) > share * len(met):
                share, whose = sum(alike) / len(met), "all ids"
        if share > best.share:
            best = _Cause(words, whose, item_to, share)
    return best


def _sample(
    pool: Pool, found: Matches, queries: Ints
) -> tuple[tuple[int, str, list[str], list[str]], ...]:
    """The first ids of some queries, of the run and of the judgements: of those whose ids have the
    smallest checksums, so that it does not matter how the queries were shared out."""
    names = [pool.queries[query] for query in queries.tolist()]
    sums = [crc32(name.encode("utf-8", "surrogatepass")) for name in names]
    chosen = sorted(range(len(names)), key=lambda at: (sums[at], names[at]))[:QUERIES]
    begins, sampled = starts_of(pool.lengths), []
    for at, ours in zip(chosen, _first_items(pool, found, queries[chosen]), strict=True):
        query = queries[[at]]
        rows = positions(begins[query], np.minimum(pool.lengths[query], IDS))
        sampled.append((sums[at], names[at], ours, pool.items_at(rows)))
    return tuple(sampled)


def _first_items(pool: Pool, found: Matches, queries: Ints) -> Iterable[list[str]]:
    """The first ids of the run for some queries."""
    lists = found.list_of[queries]
    first = (np.arange(length) < IDS for length in found.lengths[lists].tolist())
    return map(found.items, lists[:, None], first)


def _few(ids: list[str]) -> str:
    return ", ".join(map(repr, ids[:2])) + (", …" if len(ids) > 2 else "")


def _for_shell(text: str) -> str:
    from shlex import quote

    return quote(text)
