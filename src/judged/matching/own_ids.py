"""A query among its own results: taken out where it was asked for, warned of where it was not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from judged.arrays import Floats, Ints, positions, starts_of
from judged.errors import InputError
from judged.inputs.remote import AnyRun
from judged.inputs.tables import Judgements, Lookup, Run
from judged.text import Tallied, Warned, counted

if TYPE_CHECKING:
    from judged.inputs.data import Data
    from judged.matching.join import Matches
    from judged.matching.pool import Pool

Given = TypeVar("Given", bound="AnyRun | Judgements")

BASIS = "results with the id of their query are left out"
"""What rankings without own ids are, in words."""


def without_own_ids(given: Given) -> tuple[Given, int]:
    """A run or judgements without what is about a query itself, and how many rows these were, those
    included that were left out of a block before, as nobody judged their queries.

    >>> without_own_ids(Lookup({"q": {"q": 2.0, "a": 1.0}}))[0].lists
    {'q': {'a': 1.0}}
    """
    if isinstance(given, Lookup):
        own = {query for query, items in given.lists.items() if query in items}
        if not own:
            return given, 0
        lists = {
            query: {item: value for item, value in items.items() if item != query}
            if query in own
            else items
            for query, items in given.lists.items()
        }
        repeated = tuple(pair for pair in given.repeated if pair[0] != pair[1])
        return replace(given, lists=lists, repeated=repeated), len(own)
    passed = 0
    if isinstance(given, Run) and given.passed.own:
        passed = given.passed.own
        given = replace(given, passed=replace(given.passed, own=0))
    kept = (given.frame["query"] != given.frame["item"]).arg_true().to_numpy()
    number = given.frame.height - len(kept)
    if not number:
        return given, passed
    # A query that was its only result is still there, with an empty list.
    return replace(
        given,
        frame=given.frame[kept],
        rows=kept if given.rows is None else given.rows[kept],
        queries=tuple(given.names()),
    ), number + passed


def _holds(given: Judgements | AnyRun) -> bool:
    """Whether there is anything in it."""
    return any(map(len, given.lists.values() if isinstance(given, Lookup) else [given.frame]))


def have_own_id(number: int, one: str = "result") -> str:
    """So many results have the id of their query, in words."""
    return str(Tallied(number, *own_id_words(one)))


def own_id_words(one: str = "result", then: str = "") -> tuple[str, str]:
    """The same for any number, with what follows: of one result, and of several."""
    return (
        f"{{}} {one} has the id of its query{then}",
        f"{{}} {one}s have the id of their query{then}",
    )


def excluding_same_id(data: Data, *, one: str = "result") -> Data:
    """The data without results that have the id of their query, and without judgements of a query
    for itself, which nothing could find."""
    return data.then(judgements=judgements_of_others, run=lambda given: run_of_others(given, one))


def run_of_others(given: AnyRun, one: str = "result", *, whole: bool = True) -> AnyRun:
    """A run, or a part of one, without results that have the id of their query; nothing is refused
    of a part."""
    shorter, number = without_own_ids(given)
    part = not whole or (isinstance(given, Run) and given.part)
    if number and not part and not _holds(shorter):
        refuse_nothing_left(given.source, number, one)
    notes = [Tallied(number, *own_id_words(one, _OUT))] if number else []
    basis = given.basis if BASIS in given.basis else (*given.basis, BASIS)
    return replace(shorter, notes=(*given.notes, *notes), basis=basis)


_OUT = ": taken out."


def refuse_nothing_left(source: str, taken: int | Sequence[str], one: str = "result") -> None:
    """An error where a run has no result left, as all had the id of their query: so many, or as the
    notes on it say."""
    if isinstance(taken, int) or any(
        isinstance(note, Tallied) and note.many.endswith(_OUT) for note in taken
    ):
        raise InputError(
            f"{source}: every {one} has the id of its query, so that nothing is left to rank "
            "without them; leave exclude_same_id (--exclude-same-id) out."
        )


def judgements_of_others(given: Judgements | Lookup) -> Judgements | Lookup:
    """Judgements without those of a query for itself."""
    shorter, number = without_own_ids(given)
    if not number:
        return given
    part = isinstance(given, Judgements) and given.part
    if not part and not _holds(shorter):
        raise InputError(
            f"{given.source}: every judgement is of a query for itself, so that nothing is "
            "left to find without them; leave exclude_same_id (--exclude-same-id) out."
        )
    one = "{} judgement of a query for itself was taken out."
    many = "{} judgements of queries for themselves were taken out."
    return replace(shorter, notes=(*given.notes, Tallied(number, one, many)))


def _above(found: Matches, queries: Ints, score: Floats) -> Ints:
    """How many results of some queries are above a score."""
    lists = found.list_of[queries]
    lengths = found.lengths[lists]
    greater = found.scores[positions(starts_of(found.lengths)[lists], lengths)] > np.repeat(
        score, lengths
    )
    return np.add.reduceat(greater, starts_of(lengths), dtype=np.int64)


@dataclass(frozen=True)
class OwnIds:
    """Queries that stand among their own results.

    A query whose own id is all that it looks for, as the caption of an image, is no such query.
    """

    number: int = 0
    first: int = 0
    """Those that stand at rank 1."""
    high: int = 0
    """Those among the first ten."""
    queries: int = 0
    """How many queries have results."""

    @classmethod
    def of(cls, pool: Pool, found: Matches) -> OwnIds:
        """What a run, or a block of it, tells."""
        there = found.list_of[found.list_of >= 0]
        queries = int(np.count_nonzero(found.lengths[there]))
        own = found.own_query
        if not len(own):
            return cls(queries=queries)
        relevant = np.bincount(pool.query[pool.grades > 0], minlength=len(pool.queries))
        alone = own[relevant[own] == 1]
        begins = starts_of(pool.lengths)
        places = positions(begins[alone], pool.lengths[alone])
        sought = places[pool.grades[places] > 0]
        names = [pool.queries[query] for query in alone.tolist()]
        items = pool.items_at(sought)
        paired = alone[[name == item for name, item in zip(names, items, strict=True)]]
        left = ~np.isin(own, paired)
        own, score = own[left], found.own_score[left]
        if not len(own):
            return cls(queries=queries)
        above = _above(found, own, score)
        return cls(len(own), int((above == 0).sum()), int((above < 10).sum()), queries)

    def plus(self, other: OwnIds) -> OwnIds:
        """What two blocks tell together."""
        return OwnIds(
            self.number + other.number,
            self.first + other.first,
            self.high + other.high,
            self.queries + other.queries,
        )

    def sentences(self) -> Iterator[str]:
        """A warning where queries stand high among their own results: where queries are items too,
        each other result is a rank too low, or a hit is for free. Ids that are the same by chance
        stand anywhere: so it takes a tenth of the queries at rank 1, or half of them among the
        first ten."""
        if self.number and (self.first * 10 >= self.queries or self.high * 2 >= self.queries):
            which = f"{self.number:,} of {counted(self.queries, 'query', 'queries')}"
            yield Warned(
                f"{which} have their own id among their results, {self.first:,} at rank 1. If "
                "queries are items too, take them out: exclude_same_id=True (--exclude-same-id)."
            )
