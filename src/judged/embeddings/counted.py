"""Counted ranks as `Rankings`, of all queries or of some."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from judged.arrays import Ints, descending
from judged.embeddings.categories import UniqueProduct
from judged.embeddings.pairs import Pairs
from judged.embeddings.relations import Judged
from judged.errors import InputError
from judged.inputs.vectors.vectors import Vectors
from judged.policy import Policy
from judged.rankings.lists import favoured
from judged.rankings.rankings import Rankings, by_query_and_rank


@dataclass(frozen=True, eq=False)
class Counted:
    """For a block of queries: the relevant items, the ranks their ties span, and how many items
    were ranked."""

    begin: int
    """The first query."""
    relevant: Pairs
    first: Ints
    """0 for an item that was not ranked."""
    last: Ints
    place: Ints
    """How many items of its tie stand before each, by the tie rule."""
    ranked: Ints


class Sides(Protocol):
    """Who searches, and in how many items."""

    @property
    def queries(self) -> Vectors: ...

    @property
    def items(self) -> Sized: ...


def rankings_of(
    queries: Sequence[str], counted: list[Counted], policy: Policy, name: str
) -> Rankings:
    """Counted ranks as `Rankings`; something must be relevant."""
    found = piece_of(queries, counted, policy, name)
    refuse_nothing(len(found.pool_query))
    return found


def refuse_nothing(pairs: int) -> None:
    """Refuse relevance that names no pair."""
    if not pairs:
        raise InputError("no item is relevant to any query; check the relevance that was given.")


def piece_of(queries: Sequence[str], counted: list[Counted], policy: Policy, name: str) -> Rankings:
    """Counted ranks as `Rankings` of these queries."""
    lengths = np.concatenate([each.relevant.lengths for each in counted])
    query = np.repeat(np.arange(len(queries)), lengths)
    grade = np.concatenate([each.relevant.grade for each in counted])
    first, last, place = (
        np.concatenate([getattr(each, part) for each in counted])
        for part in ("first", "last", "place")
    )
    ranked = np.concatenate([each.ranked for each in counted])
    found = first > 0
    hit_query, hit_grade = query[found], grade[found]
    rank = first[found] + place[found]
    if policy.ties in ("best", "worst"):
        rank = favoured(hit_query, first[found], last[found], hit_grade, best=policy.ties == "best")
    order = by_query_and_rank(hit_query, rank)
    return Rankings(
        queries=tuple(queries),
        retrieved=ranked,
        hit_query=hit_query[order],
        hit_rank=rank[order],
        hit_grade=hit_grade[order],
        hit_tie_first=first[found][order],
        hit_tie_last=last[found][order],
        pool_query=query,
        pool_grade=descending(grade, lengths),
        missing=np.zeros(len(queries), bool),
        collection=ranked,
        ties=policy.ties,
        name=name,
    )


def of_judged_queries(r: Rankings, judged: Judged, scores: Sides) -> Rankings:
    """As with any run: queries that nobody judged are ignored, and judged queries without a vector
    are missing."""
    return with_absent(r.take(np.flatnonzero(judged.known)), judged, scores)


def with_absent(r: Rankings, judged: Judged, scores: Sides) -> Rankings:
    """The rankings, and judged queries that have no vector."""
    if judged.of_absent is None or not judged.absent:
        return r
    count = len(judged.absent)
    of_absent = (
        scores.relevance_of_others(judged.of_absent)
        if isinstance(scores, UniqueProduct)
        else judged.of_absent
    )
    pairs = of_absent.block(0, count)
    return replace(
        r,
        queries=(*r.queries, *judged.absent),
        retrieved=np.append(r.retrieved, np.zeros(count, np.int64)),
        missing=np.append(r.missing, np.ones(count, bool)),
        collection=np.append(r.collection, np.full(count, len(scores.items))),  # type: ignore[arg-type]
        pool_query=np.append(r.pool_query, len(r) + pairs.row),
        pool_grade=np.append(r.pool_grade, descending(pairs.grade, pairs.lengths)),
    )
