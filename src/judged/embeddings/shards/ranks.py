"""What the items of a shard, and the judged items, count for each relevant item."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from judged.arrays import Floats, Ints, starts_of
from judged.embeddings.blocks import over_blocks
from judged.embeddings.counted import Counted
from judged.embeddings.pairs import Pairs
from judged.embeddings.product import Product
from judged.embeddings.ranks import Tally, TieOrder, count_ranks
from judged.embeddings.relations import Bound, all_pairs
from judged.embeddings.search import Search
from judged.embeddings.shards.counts import Counts, Firsts
from judged.embeddings.similarity.learned import Learned
from judged.embeddings.similarity.similarity import Similarity
from judged.embeddings.top_k import Best, TopK
from judged.inputs.vectors.vectors import Vectors

if TYPE_CHECKING:
    from judged.embeddings.shards.search import Prepared
    from judged.options import Progress


@dataclass(frozen=True, eq=False)
class AllPairs:
    """The pairs of all queries."""

    pairs: Pairs
    starts: Ints

    @classmethod
    def of(cls, pairs: Pairs) -> AllPairs:
        return cls(pairs, starts_of(pairs.lengths))

    def at(self, begin: int, end: int) -> slice:
        """Where those of some queries stand."""
        start = int(self.starts[begin])
        return slice(start, start + int(self.pairs.lengths[begin:end].sum()))

    def block(self, begin: int, end: int) -> Pairs:
        at = self.at(begin, end)
        return Pairs(self.pairs.lengths[begin:end], self.pairs.item[at], self.pairs.grade[at])

    def most(self, begin: int, end: int) -> Ints:
        return self.pairs.lengths[begin:end]


def among_judged(
    search: Search, bound: Bound, out: Bound | None, k: int | None
) -> tuple[AllPairs, Floats, Counts]:
    """What is relevant and not excluded, the exact scores of these pairs, and what the judged items
    count among themselves."""
    queries, items = search.queries, search.items
    similarity = search.similarity.placed(items)
    product = Product(queries, items, similarity, exclude=out, memory=search.memory)
    pairs = all_pairs(bound, len(queries))
    if out is not None:
        gone = all_pairs(out, len(queries))
        pairs = pairs.without(gone.where(gone.item >= 0))
    relevance = AllPairs.of(pairs)
    best = None if k is None else Best(product, k)
    ranks = count_ranks(product, relevance, ties=TieOrder(product, "id"), onlooker=best)
    first, last, before, ranked = _columns(list(ranks))
    there = np.flatnonzero(pairs.item >= 0)
    scores = np.full(len(pairs.item), np.nan)
    scores[there] = product.exact_pairs(pairs.row[there], pairs.item[there])
    start = Counts(
        of="",
        above=np.maximum(first - 1, 0),
        level=last,
        before=before,
        ranked=ranked,
        items=len(items),
        firsts=None if best is None else _firsts(best.top_k()),
        k=k,
    )
    return relevance, scores, start


def count_shard(
    ready: Prepared,
    shard: Vectors,
    met: Ints,
    gone: tuple[Ints, Ints] | None,
    mark: str,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Counts:
    """The counts of a shard but for the judged items that were met in it, at some columns, and with
    the rows and columns of what is not ranked; `mark` tells shards apart."""
    here = replace(
        ready.nothing(),
        met=frozenset(shard.name(column) for column in met.tolist()),
        shards=frozenset([mark]),
    )
    if len(met) == len(shard):
        return here
    out = _gone(gone, len(ready.queries))
    product = Product(
        ready.queries,
        shard,
        _allowed(ready.similarity).placed(shard),
        exclude=None if out is None else AllPairs.of(out),
        memory=ready.memory,
    )
    # Tiles of whole numbers would be compared as they are, without what they lack.
    product.whole_numbers = product.whole_numbers and product.comparable
    if workers is not None:
        product.threads = min(product.threads, workers)
    best = None if ready.k is None else Best(product, ready.k)
    ties = TieOrder(product, "id", ready.items)
    left = len(shard) - len(met)

    def work(begin: int, end: int) -> Counted:
        relevant = ready.relevance.block(begin, end)
        # Relevant items are numbered after those of the shard.
        beyond = np.where(relevant.item >= 0, relevant.item + len(shard), -1)
        relevant = replace(relevant, item=beyond)
        tally = Tally(product, begin, relevant, ties)
        own = ready.scores[ready.relevance.at(begin, end)]
        excluded = None if product.exclude is None else product.exclude.block(begin, end)
        made = product.query_block(begin, end)
        for column in product.columns:
            tile = product.tile(made, begin, column, excluded)
            tile.scores[:, met[tile.holds(met)] - column] = -np.inf
            if not column:
                tally.take(own, tile, product.exact_shifts(begin, end))
            tally.add(tile)
            if best is not None:
                best.add(tile)
        return tally.counted(begin, excluded, left)

    first, last, before, ranked = _columns(list(over_blocks(product, work, progress)))
    return replace(
        here,
        above=np.maximum(first - 1, 0),
        level=last,
        before=before,
        ranked=ranked,
        items=left,
        firsts=None if best is None else _firsts(best.top_k()),
    )


def _allowed(similarity: Similarity) -> Similarity:
    """Without the look at what it was learned from, once that was done."""
    return similarity.allow_training_queries() if isinstance(similarity, Learned) else similarity


def _gone(gone: tuple[Ints, Ints] | None, queries: int) -> Pairs | None:
    if gone is None or not len(gone[0]):
        return None
    row, column = np.unique(np.stack(gone, axis=1), axis=0).T
    return Pairs(np.bincount(row, minlength=queries), column, np.ones(len(column)))


def _columns(ranks: list[Counted]) -> tuple[Ints, Ints, Ints, Ints]:
    first, last, before, ranked = (
        np.concatenate([getattr(each, name) for each in ranks])
        for name in ("first", "last", "place", "ranked")
    )
    return first, last, before, ranked


def _firsts(found: TopK) -> Firsts:
    there = np.arange(found.k) < found.lengths[:, None]
    ids = found.item_vectors.names()
    items = tuple(ids[item] for item in found.items[there].tolist())
    return Firsts(found.lengths, items, found.scores[there].astype(np.float64))


def digest(names: tuple[str, ...]) -> str:
    """A fingerprint of some texts, in their order."""
    lengths = np.array([len(name) for name in names], np.int64)
    text = "".join(names).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=16, key=blake2b(lengths.tobytes()).digest()).hexdigest()
