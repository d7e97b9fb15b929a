"""Ranks of items that are spread over the partitions of a Spark frame.

The rank of a relevant item is 1 plus the number of items with a greater score, and such counts add
up. Each partition counts among its own items, in any order. The sum gives the ranks of a search in
all items at once, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats, Ints
from judged.embeddings.learned import as_similarity
from judged.embeddings.product import MEMORY, TiledProduct, over_blocks
from judged.embeddings.ranks import (
    RankCounts,
    Tally,
    TieOrder,
    count_ranks,
    of_judged_queries,
    rankings_of,
)
from judged.embeddings.relations import (
    BoundJudgements,
    JudgementRelation,
    ListedPairs,
    all_pairs,
    as_exclusion,
    as_relation,
)
from judged.embeddings.search import NAME, Basis, Search, basis_of, refuse_removal
from judged.embeddings.similarity import Similarity
from judged.errors import InputError, PolicyError
from judged.inputs.vectors import as_vectors
from judged.inputs.vectors.vectors import Vectors
from judged.options import size_in_bytes
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.text import counted

if TYPE_CHECKING:
    from judged.options import Ids, Memory, RelevanceLike, SimilarityLike, VectorsLike


@dataclass(frozen=True, eq=False)
class Counts:
    """Numbers of items above each relevant item, or tied with it; `+` adds other items."""

    above: Ints
    level: Ints  # the number of items with the same or a greater score
    before: Ints  # the number of tied items that come before it, by id
    ranked: Ints  # the number of items that each query ranks: all but the excluded ones
    items: int

    @classmethod
    def of(cls, ranks: Iterable[RankCounts], items: int) -> Counts:
        blocks = list(ranks)
        first, last, place, ranked = (
            np.concatenate([getattr(block, name) for block in blocks])
            for name in ("first", "last", "place", "ranked")
        )
        return cls(np.maximum(first - 1, 0), last, place, ranked, items)

    def __add__(self, other: Counts) -> Counts:
        names = ("above", "level", "before", "ranked", "items")
        return Counts(*(getattr(self, name) + getattr(other, name) for name in names))


@dataclass(frozen=True, eq=False)
class Prepared:
    """Queries and the exact scores of their relevant items, which workers count other items for.

    >>> ready = prepare([[1.0, 0.0]], [[1.0, 1.0]], {"0": {"a": 1}}, item_ids=["a"])
    >>> counts = ready.count(["b"], [[1.0, 0.1]]) + ready.count(["c"], [[0.0, 1.0]])
    >>> ready.rankings(counts, items=3).hit_rank.tolist()
    [2]
    """

    queries: Vectors
    similarity: Similarity
    memory: str | int
    dims: int | None
    relevant: ListedPairs
    """The relevant pairs, by the number of the judged item; -1 if it has no vector."""
    scores: Floats  # the exact score of each of these pairs
    items: tuple[str, ...]  # the ids of the judged items
    start: Counts  # the counts among the judged items
    basis: Basis
    judged: BoundJudgements  # the queries with judgements
    excluded: dict[str, list[int]]  # the queries for which an item is excluded

    @cached_property
    def _judged_items(self) -> frozenset[str]:
        return frozenset(self.items)

    def nothing(self) -> Counts:
        pairs, queries = (
            np.zeros(size, np.int64) for size in (len(self.scores), len(self.queries))
        )
        return Counts(pairs, pairs, pairs, queries, 0)

    def count(self, ids: Ids, vectors: VectorsLike) -> Counts:
        """Count items above each relevant item, and those that tie with it; skip judged items."""
        shard = as_vectors(vectors, ids=ids, dims=self.dims, source="the items")
        names = shard.names()
        met = np.array([row for row, name in enumerate(names) if name in self._judged_items], int)
        if len(met) == len(shard):
            return self.nothing()
        gone = [
            (row, column)
            for column, name in enumerate(names)
            if name in self.excluded and name not in self._judged_items
            for row in self.excluded[name]
        ]
        exclude = None
        if gone:
            row, column = np.unique(np.array(gone, np.int64), axis=0).T
            exclude = ListedPairs.of(row, column, np.ones(len(row)), self.queries)
        # Training queries were checked when the queries were prepared.
        similarity = self.similarity.allow_training_queries().placed(shard)
        product = TiledProduct(self.queries, shard, similarity, exclude=exclude, memory=self.memory)
        product.threads = 1
        ties = TieOrder(product, "id", self.items)
        left = len(shard) - len(met)

        def work(begin: int, end: int) -> RankCounts:
            relevant = self.relevant.block(begin, end)
            # Relevant items are numbered after those that are counted.
            beyond = np.where(relevant.item >= 0, relevant.item + len(shard), -1)
            tally = Tally(product, begin, replace(relevant, item=beyond), ties)
            scores = self.scores[self.relevant.at(begin, end)][relevant.item >= 0]
            excluded = None if exclude is None else exclude.block(begin, end)
            prepared = product.query_block(begin, end)
            for column in product.columns:
                tile = product.tile(prepared, begin, column, excluded)
                tile.scores[:, met[tile.holds(met)] - column] = -np.inf
                if not column:
                    exact = np.zeros(len(scores))
                    tally.begin_with(scores, exact, tile, product.exact_shifts(begin, end))
                tally.add(tile)
            return tally.counts(begin, excluded, left)

        return Counts.of(over_blocks(product, work), left)

    def rankings(
        self, counts: Counts, *, items: int, policy: Policy | None = None, name: str = NAME
    ) -> Rankings:
        """Return the exact ranks of relevant items among the judged ones and all that were counted.

        Another number of `items` is an error: some were left out, or counted twice.
        """
        policy = policy or Policy()
        refuse_removal(policy)
        if policy.ties == "input":
            raise PolicyError(
                "ties=input needs an order, which items in Spark do not have; choose another rule."
            )
        total = self.start + counts
        if items != total.items:
            raise InputError(
                f"{counted(total.items, 'item')} were counted, of {items:,}: the items in Spark "
                "changed while they were counted. Evaluate again."
            )
        pairs = self.relevant
        first = np.where(pairs.item >= 0, total.above + 1, 0)
        ranks = [RankCounts(0, pairs, first, total.level, total.before, total.ranked)]
        rankings = rankings_of(self.queries.names(), ranks, policy, name)
        rankings = of_judged_queries(rankings, self.judged, self.judged.of_absent, total.items)
        return self.basis.describe(rankings, len(self.queries))


def prepare(
    queries: VectorsLike,
    judged_items: VectorsLike,
    relevance: RelevanceLike,
    *,
    similarity: SimilarityLike = "cosine",
    exclude: Any = None,
    memory: Memory = MEMORY,
    query_ids: Ids | None = None,
    item_ids: Ids | None = None,
    dims: int | None = None,
) -> Prepared:
    """Rank the judged items, and prepare the counting of all others."""
    size_in_bytes(memory)
    search = Search(
        queries=as_vectors(queries, ids=query_ids, dims=dims, source="the queries"),
        items=as_vectors(judged_items, ids=item_ids, dims=dims, source="the judged items"),
        similarity=as_similarity(similarity),
        exclude=as_exclusion(exclude),
        memory=memory,
        dims=dims,
        normalisation=None,
        categories=None,
    )
    if not search.similarity.certain:
        raise InputError(
            "a similarity that is a function has no bound of its rounding, so that counts of "
            "partitions would not add up; give a name, a matrix, or a learned similarity."
        )
    relation = as_relation(relevance)
    excluded = _excluded(search)
    bound = relation.bind(search.queries, search.items)
    assert isinstance(bound, BoundJudgements)
    out = None if search.exclude is None else search.exclude.bind(search.queries, search.items)
    placed = search.similarity.placed(search.items)
    product = TiledProduct(search.queries, search.items, placed, exclude=out, memory=memory)
    pairs = all_pairs(bound, len(search.queries))
    if out is not None:
        gone = all_pairs(out, len(search.queries))
        pairs = pairs.without(gone.where(gone.item >= 0))
    relevant = ListedPairs(pairs.lengths, pairs.item, pairs.grade)
    ranks = count_ranks(product, relevant, ties=TieOrder(product, "id"))
    start = Counts.of(ranks, len(search.items))
    there = np.flatnonzero(pairs.item >= 0)
    scores = np.full(len(pairs.item), np.nan)
    scores[there] = product.exact_pairs(pairs.row[there], pairs.item[there])
    return Prepared(
        # Workers do not have mapped or lazy queries.
        queries=replace(search.queries, values=np.array(search.queries.values)),
        similarity=search.similarity,
        memory=memory,
        dims=dims,
        relevant=relevant,
        scores=scores,
        items=search.items.names(),
        start=start,
        basis=basis_of(search, relation),
        judged=bound,
        excluded=excluded,
    )


def _excluded(search: Search) -> dict[str, list[int]]:
    """Return the queries for which each item is excluded, by id instead of row number."""
    excluded: dict[str, list[int]] = {}
    if search.exclude is None:
        return excluded
    names = search.queries.names()
    place = {name: row for row, name in enumerate(names)}
    parts = getattr(search.exclude, "parts", ()) or (search.exclude,)
    for part in parts:
        if getattr(part, "is_by_id", False):
            listed: Any = zip(names, ([name] for name in names), strict=True)
        elif isinstance(part, JudgementRelation):
            listed = zip(part.pool.queries, part.pool.items, strict=True)
        else:
            raise InputError(
                "items in Spark are excluded by id; exclude may be judged.relevance.same_id() or "
                f"judged.relevance.listed(…), not: {part.says}."
            )
        for query, items in listed:
            for item in items if query in place else ():
                excluded.setdefault(item, []).append(place[query])
    return excluded
