"""Exact ranks in a collection that is in many places: `judged.shards`.

The rank of a relevant item is 1 plus how many items have a greater score, and such counts add up:
each place counts among its own items, in any order, and the sum gives the ranks that a search in
all items at once would have given, bit for bit.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from judged.arrays import Ints
from judged.embeddings.basis import Basis, basis_of
from judged.embeddings.product import MEMORY
from judged.embeddings.relations import Bound, Judged, Judgements, SameId, Together, as_relation
from judged.embeddings.search import Search
from judged.embeddings.shards.counts import Counts, load
from judged.embeddings.shards.ranks import among_judged, digest
from judged.embeddings.shards.search import Excluded, Prepared
from judged.embeddings.similarity.choice import as_similarity
from judged.embeddings.similarity.equal import keys_of
from judged.errors import InputError
from judged.inputs.vectors import as_vectors
from judged.options import checked, size_in_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judged.options import Ids, Memory, RelevanceLike, SimilarityLike, VectorsLike

__all__ = ["Counts", "Prepared", "load", "prepare"]


@checked
def prepare(
    queries: VectorsLike,
    judged_items: VectorsLike,
    relevance: RelevanceLike,
    *,
    similarity: SimilarityLike = "cosine",
    exclude: RelevanceLike | Sequence[RelevanceLike] | None = None,
    k: int | None = None,
    memory: Memory = MEMORY,
    query_ids: Ids | None = None,
    item_ids: Ids | None = None,
    dims: int | None = None,
) -> Prepared:
    """Make queries and relevant items ready to be counted with: the same for every shard.

    Parameters
    ----------
    queries : VectorsLike
        A matrix with one row per query, or a file of vectors.
    judged_items : VectorsLike
        The vectors of all items that are relevant to some query, or judged; others may be among
        them. They belong to the collection, whether a shard holds them or not.
    relevance : RelevanceLike
        Judgements by id, or another relation of the queries and the judged items, as for
        `judged.Embeddings.evaluate`.
    similarity : SimilarityLike, optional
        As for `judged.Embeddings`, but no function.
    exclude : RelevanceLike or list of them, optional
        What is not ranked for a query: `judged.relevance.same_id()`, `judged.relevance.listed(…)`.
    k : int, optional
        How many of the first items of each query are wanted too; none by default.
    memory : Memory, optional
        A cap on what scores and items made ready take while a shard is counted.
    query_ids, item_ids : Ids, optional
        One id per vector; by default those of the file, or else row numbers from 0.
    dims : int, optional
        Use only the first dimensions of the vectors.

    Returns
    -------
    Prepared
        It can be pickled, and does not hold the judged items' vectors.

    >>> import judged
    >>> judgements = {"q": {"a": 1}}
    >>> ids = {"query_ids": ["q"], "item_ids": ["a"]}
    >>> ready = judged.shards.prepare([[1.0, 0.0]], [[1.0, 1.0]], judgements, **ids)
    >>> ready
    <Prepared: 1 query, 1 relevant pair and 1 judged item, by cosine>
    >>> counts = ready.count(["b"], [[1.0, 0.1]]) + ready.count(["c"], [[0.0, 1.0]])
    >>> ready.rankings(counts).hit_rank.tolist()
    [2]
    """
    size_in_bytes(memory)
    search = Search(
        queries=as_vectors(queries, ids=query_ids, dims=dims, source="the queries"),
        items=as_vectors(judged_items, ids=item_ids, dims=dims, source="the judged items"),
        similarity=as_similarity(similarity),
        exclude=None if exclude is None else as_relation(exclude, what="exclude"),
        memory=memory,
        dims=dims,
        normalisation=None,
        categories=None,
    )
    relation = as_relation(relevance, what="relevance")
    excluded = _excluded(search)
    bound = relation.bind(search.queries, search.items)
    out = None if search.exclude is None else search.exclude.bind(search.queries, search.items)
    found = prepared(search, bound, out, k=k, basis=basis_of(search, relation))
    lacking = _lacking(relation, search) if isinstance(relation, Judgements) else frozenset()
    return signed(replace(found, excluded=excluded, lacking=lacking))


def _excluded(search: Search) -> Excluded | None:
    """What is excluded, by id: rows of items say nothing where items are in many places."""
    if search.exclude is None:
        return None
    rows: list[Ints] = [np.zeros(0, np.int64)]
    names: list[str] = []
    parts = search.exclude.parts if isinstance(search.exclude, Together) else (search.exclude,)
    for part in parts:
        if isinstance(part, SameId):
            rows.append(np.arange(len(search.queries)))
            names += search.queries.names()
        elif isinstance(part, Judgements):
            place = {name: row for row, name in enumerate(search.queries.names())}
            own = np.array([place.get(each, -1) for each in part.pool.queries], np.int64)
            rows.append(own[part.pool.query])
            names += [name for each in part.pool.items for name in each]
        else:
            raise InputError(
                "items that are in many places are excluded by id; exclude may be "
                f"judged.relevance.same_id() or judged.relevance.listed(…), not: {part.says}."
            )
    row = np.concatenate(rows)
    there = np.flatnonzero(row >= 0)
    return Excluded(row[there], tuple(names[at] for at in there))


def _lacking(relation: Judgements, search: Search) -> frozenset[str]:
    """Items that are judged for some query, but whose vectors were not given."""
    judged = set(search.queries.names()).intersection(relation.pool.queries)
    names = zip(relation.pool.queries, relation.pool.items, strict=True)
    return frozenset(
        name for query, items in names if query in judged for name in items
    ).difference(search.items.names())


def prepared(
    search: Search, bound: Bound, out: Bound | None, *, k: int | None, basis: Basis
) -> Prepared:
    """A search among the judged items, made ready for shards of others."""
    queries, items = search.queries, search.items
    if not search.similarity.certain:
        raise InputError(
            "a similarity that is a function has no bound of its rounding, so that counts of "
            "shards would not add up; give a name, a matrix, or a learned similarity."
        )
    relevance, scores, start = among_judged(search, bound, out, k)
    return Prepared(
        # Mapped or lazy queries would not be there where shards are.
        queries=replace(queries, values=np.array(queries.values)),
        similarity=search.similarity,
        memory=search.memory,
        dims=search.dims,
        k=k,
        relevance=relevance,
        scores=scores,
        items=items.names(),
        keys=np.concatenate([keys_of(block) for _, block in items.blocks(dtype=np.float64)]),
        start=start,
        basis=basis,
        judged=bound if isinstance(bound, Judged) else None,
    )


def signed(ready: Prepared, more: bytes = b"") -> Prepared:
    """The same with a fingerprint of all that counts depend on, and of what else is named."""
    summed = blake2b(more, digest_size=16)
    pairs = ready.relevance.pairs
    arrays = (pairs.lengths, pairs.item, pairs.grade, ready.scores, ready.keys)
    for _, block in ready.queries.blocks(dtype=np.float64):
        summed.update(block.data)
    for array in arrays:
        summed.update(np.ascontiguousarray(array).data)
    gone = ready.excluded or Excluded(np.zeros(0, np.int64), ())
    summed.update(gone.row.data)
    absent = () if ready.judged is None else ready.judged.absent
    for names in (ready.queries.names(), ready.items, gone.item, absent, ready.basis.words):
        summed.update(digest(names).encode())
    summed.update(f"{ready.k}".encode())
    return replace(ready, start=replace(ready.start, of=summed.hexdigest()))
