"""A query among its own results: taken out where it was asked for, warned of where it was not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from judged.errors import InputError
from judged.inputs.tables import Judgements, Lookup, Run
from judged.segments import positions, starts_of
from judged.text import Warned, counted

if TYPE_CHECKING:
    from judged.inputs.data import Data
    from judged.judging.join import Matches
    from judged.judging.pool import Pool

Given = TypeVar("Given", "Run | Lookup", "Judgements | Lookup")

BASIS = "results with the id of their query are left out"
"""What rankings without own ids are, in words."""


def without_own_ids(given: Given) -> tuple[Given, int]:
    """A run or judgements without what is about a query itself, and how many rows these were.

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
    kept = (given.frame["query"] != given.frame["item"]).arg_true().to_numpy()
    number = given.frame.height - len(kept)
    if not number:
        return given, 0
    # A query that was its only result is still there, with an empty list.
    return replace(
        given,
        frame=given.frame[kept],
        rows=kept if given.rows is None else given.rows[kept],
        queries=tuple(given.names()),
    ), number


def _holds(given: Judgements | Run | Lookup) -> bool:
    """Whether there is anything in it."""
    return any(map(len, given.lists.values() if isinstance(given, Lookup) else [given.frame]))


def have_own_id(number: int, one: str = "result") -> str:
    """So many results have the id of their query, in words."""
    have, their = ("has", "its") if number == 1 else ("have", "their")
    return f"{counted(number, one)} {have} the id of {their} query"


def excluding_same_id(data: Data, *, one: str = "result") -> Data:
    """The data without results that have the id of their query, and without judgements of a query
    for itself, which nothing could find."""

    def run(given: Run | Lookup) -> Run | Lookup:
        shorter, number = without_own_ids(given)
        if number and not _holds(shorter):
            raise InputError(
                f"{given.source}: every {one} has the id of its query, so that nothing is left to "
                "rank without them; leave exclude_same_id (--exclude-same-id) out."
            )
        notes = [f"{have_own_id(number, one)}: taken out."] if number else []
        basis = given.basis if BASIS in given.basis else (*given.basis, BASIS)
        return replace(shorter, notes=(*given.notes, *notes), basis=basis)

    def judgements(given: Judgements | Lookup) -> Judgements | Lookup:
        shorter, number = without_own_ids(given)
        if not number:
            return given
        if not _holds(shorter):
            raise InputError(
                f"{given.source}: every judgement is of a query for itself, so that nothing is "
                "left to find without them; leave exclude_same_id (--exclude-same-id) out."
            )
        of = "judgement of a query for itself", "judgements of queries for themselves"
        were = "was" if number == 1 else "were"
        return replace(shorter, notes=(*given.notes, f"{counted(number, *of)} {were} taken out."))

    return data.then(judgements=judgements, run=run)


def warning_of_own_ids(pool: Pool, found: Matches) -> Iterator[str]:
    """A warning where queries stand high among their own results: where queries are items too, each
    other result is a rank too low, or a hit is for free.

    A query whose own id is all that it looks for, as the caption of an image, is no such query. Ids
    that are the same by chance stand anywhere: so it takes a tenth of the queries at rank 1, or
    half of them among the first ten.
    """
    own = found.own_query
    if not len(own):
        return
    relevant = np.bincount(pool.query[pool.grades > 0], minlength=len(pool.queries))
    alone = own[relevant[own] == 1]
    begins = starts_of(pool.lengths)
    places = positions(begins[alone], pool.lengths[alone])
    sought = places[pool.grades[places] > 0]
    names = [pool.queries[query] for query in alone.tolist()]
    paired = alone[[name == item for name, item in zip(names, pool.items_at(sought), strict=True)]]
    left = ~np.isin(own, paired)
    own, score = own[left], found.own_score[left]
    if not len(own):
        return
    lists = found.list_of[own]
    lengths = found.lengths[lists]
    greater = found.scores[positions(starts_of(found.lengths)[lists], lengths)] > np.repeat(
        score, lengths
    )
    above = np.add.reduceat(greater, starts_of(lengths), dtype=np.int64)
    there = found.list_of[found.list_of >= 0]
    queries = int(np.count_nonzero(found.lengths[there]))
    first, high = int((above == 0).sum()), int((above < 10).sum())
    if first * 10 >= queries or high * 2 >= queries:
        which = f"{len(own):,} of {counted(queries, 'query', 'queries')}"
        yield Warned(
            f"{which} have their own id among their results, {first:,} at rank 1. If queries are "
            "items too, take them out: exclude_same_id=True (--exclude-same-id)."
        )
