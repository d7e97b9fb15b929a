"""What a query's softmax goes over: all items of the corpus, or those of a training batch drawn at
random."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Ints, starts_of
from judged.embeddings.product import Blocks, Product, over_blocks
from judged.embeddings.ranks import relevant_and_excluded
from judged.embeddings.relations import Bound, Pairs, reversed_pairs
from judged.errors import InputError
from judged.inputs.vectors.vectors import Matrix, Vectors
from judged.learning.temperature.softmax import NOBODY, Counting, Negatives, Sums

if TYPE_CHECKING:
    from judged.options import Progress


class Candidates(Blocks, Protocol):
    """Queries, each with its candidates."""

    @property
    def rows(self) -> int:
        """How many queries there are, with positives or without."""
        ...

    @property
    def width(self) -> int:
        """How many candidates a query has, at most."""
        ...

    def sums(self, counting: Counting, begin: int, end: int) -> Sums | None:
        """The sums of a block of queries; None where none of them has a positive."""
        ...


def summed(
    candidates: Candidates, counting: Counting, progress: Progress | None = None
) -> Sums | None:
    """The sums of all queries."""
    found = over_blocks(
        candidates, lambda begin, end: candidates.sums(counting, begin, end), progress
    )
    some = [each for each in found if each is not None]
    return reduce(add, some) if some else None


@dataclass(frozen=True, eq=False)
class Corpus:
    """All items, but for those that are excluded."""

    product: Product
    relevance: Bound
    rel: float
    only: int | None = None
    """The number of the one query that is looked at; None where all are."""

    @property
    def threads(self) -> int:
        return self.product.threads

    @property
    def rows(self) -> int:
        return len(self.product.queries) if self.only is None else 1

    @property
    def width(self) -> int:
        return len(self.product.items)

    def blocks(self) -> Iterator[tuple[int, int]]:
        if self.only is None:
            return self.product.blocks()
        return iter([(self.only, self.only + 1)])

    def sums(self, counting: Counting, begin: int, end: int) -> Sums | None:
        relevant, excluded = self.pairs(begin, end)
        if not len(relevant.item):
            return None
        negatives = Negatives(end - begin, counting.temperatures, min(counting.keep, self.width))
        score = np.empty(len(relevant.item))
        for column, scores in self.tiles(begin, end, excluded):
            for pairs, taken in ((relevant, score), (excluded, None)):
                if pairs is None:
                    continue
                inside = (pairs.item >= column) & (pairs.item < column + scores.shape[1])
                at = pairs.row[inside], pairs.item[inside] - column
                if taken is not None:
                    taken[inside] = scores[at]
                scores[at] = NOBODY
            negatives.add(scores)
        return counting.sums(negatives, relevant.row, score)

    def pairs(self, begin: int, end: int) -> tuple[Pairs, Pairs | None]:
        """The positives of some queries, and what is excluded for them."""
        relevant, excluded = relevant_and_excluded(self.product, self.relevance, begin, end)
        return relevant.where((relevant.item >= 0) & (relevant.grade >= self.rel)), excluded

    def tiles(self, begin: int, end: int, excluded: Pairs | None) -> Iterator[tuple[int, Matrix]]:
        """The scores of some queries, from left to right; the next overwrites them."""
        prepared = self.product.query_block(begin, end)
        for column in self.product.columns:
            yield column, self.product.tile(prepared, begin, column, excluded).scores


@dataclass(frozen=True, eq=False)
class Batches:
    """Training batches drawn at random: every query brings one of its positives, and these are the
    batch's candidates.

    An item that several queries brought stands in the batch once. Queries that remain after
    the last whole batch are left out, as a loss over fewer candidates is another loss.
    """

    product: Product
    size: int
    query: Ints
    """The queries, batch after batch."""
    item: Ints
    """The item that each of them brought."""
    positive: tuple[Ints, Ints]
    """Places of queries, ascending, and for each the slots of its batch that hold a positive."""
    excluded: tuple[Ints, Ints]
    again: NDArray[np.bool_]
    """Places whose item stands in an earlier slot of the batch already."""
    left_over: int
    threads: int
    back: bool = False
    """Rows are items and candidates are queries."""

    @classmethod
    def drawn(cls, corpus: Corpus, size: int, seed: int, room: int) -> Batches:
        """`room` is how many bytes scores may take."""
        random = np.random.default_rng(seed)
        chosen = _one_each(corpus, random)
        having = np.flatnonzero(chosen >= 0)
        if size > len(having):
            raise InputError(
                f"batch_size must be at most the number of queries with a positive, {len(having)}; "
                f"got {size}."
            )
        query = random.permutation(having)[: len(having) // size * size]
        item = chosen[query]
        positive, excluded, again = _within(corpus, query, item, size)
        fitting = max(1, room // (BYTES_PER_SCORE * size**2))
        threads = min(corpus.threads, fitting)
        return cls(
            corpus.product,
            size,
            query,
            item,
            positive,
            excluded,
            again,
            len(having) - len(query),
            threads,
        )

    def reversed(self) -> Batches:
        """The items of each batch with its queries for candidates."""
        return replace(
            self,
            positive=self._reversed(self.positive),
            excluded=self._reversed(self.excluded),
            back=not self.back,
        )

    def _reversed(self, pairs: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
        place, slot = pairs
        row, column = place - place % self.size + slot, place % self.size
        order = np.argsort(row, kind="stable")
        return row[order], column[order]

    @property
    def rows(self) -> int:
        return len(self.query)

    @property
    def width(self) -> int:
        return self.size

    def blocks(self) -> Iterator[tuple[int, int]]:
        step = max(1, _SCORES_AT_A_TIME // self.size**2) * self.size
        for begin in range(0, len(self.query), step):
            yield begin, min(begin + step, len(self.query))

    def sums(self, counting: Counting, begin: int, end: int) -> Sums | None:
        scores = np.empty((end - begin, self.size), np.float32)
        for first in range(begin, end, self.size):
            self._score(
                slice(first, first + self.size), scores[first - begin : first - begin + self.size]
            )
        negatives = Negatives(end - begin, counting.temperatures, min(counting.keep, self.width))
        (row, column), (gone_row, gone_column) = (
            self._part(pairs, begin, end) for pairs in (self.positive, self.excluded)
        )
        score = scores[row, column].astype(np.float64)
        scores[row, column] = scores[gone_row, gone_column] = NOBODY
        batches = scores.reshape(-1, self.size, self.size)
        (batches if self.back else batches.swapaxes(1, 2))[
            self.again[begin:end].reshape(-1, self.size)
        ] = NOBODY
        negatives.add(scores)
        return counting.sums(negatives, row, score)

    def _score(self, at: slice, out: Matrix) -> None:
        """The scores of one batch: one row per searcher, one column per candidate; equal items
        tie."""
        similarity = self.product.similarity
        sides = [(self.product.queries, self.query[at]), (self.product.items, self.item[at])]
        # Not the same scores seen from the other side: some hold only what orders the candidates
        # of a row.
        if self.back:
            similarity, sides = similarity.reversed(), sides[::-1]
        ready = []
        for (vectors, rows), searched in zip(sides, (False, True), strict=True):
            some = Vectors(vectors.rows(rows), source=vectors.source)
            ready.append(similarity.prepare(some.block(0, self.size), some, 0, items=searched))
        out[...] = similarity.scores(ready[0], ready[1], out)
        if self.back:
            return
        _, first, where = np.unique(
            self.product.first_equal(self.item[at]), return_index=True, return_inverse=True
        )
        if len(first) < self.size:
            out[...] = out[:, first[where]]

    def _part(self, pairs: tuple[Ints, Ints], begin: int, end: int) -> tuple[Ints, Ints]:
        at = slice(*np.searchsorted(pairs[0], [begin, end]))
        return pairs[0][at] - begin, pairs[1][at]


_SCORES_AT_A_TIME = 1 << 22
BYTES_PER_SCORE = 12
"""Of a batch: the score, and what is worked out beside it."""


def _one_each(corpus: Corpus, random: np.random.Generator) -> Ints:
    """For each query one of its positives, drawn at random; -1 where it has none."""
    chosen = np.full(corpus.rows, -1, np.int64)
    # At once, so that what is drawn does not depend on the size of blocks.
    shares = random.random(corpus.rows)
    for begin, end in corpus.blocks():
        relevant, _ = corpus.pairs(begin, end)
        having = np.flatnonzero(relevant.lengths)
        drawn = (shares[begin + having] * relevant.lengths[having]).astype(np.int64)
        chosen[begin + having] = relevant.item[starts_of(relevant.lengths)[having] + drawn]
    return chosen


def _within(
    corpus: Corpus, query: Ints, item: Ints, size: int
) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints], NDArray[np.bool_]]:
    """The positives that queries find in their batches, what is excluded there, and places whose
    item is a repetition."""
    count, place_of = corpus.width, np.full(corpus.rows, -1, np.int64)
    place_of[query] = np.arange(len(query))
    batch = np.arange(len(query)) // size
    key, first = np.unique(batch * count + item, return_index=True)

    def found(pairs: Pairs, begin: int) -> tuple[Ints, Ints]:
        place = place_of[begin + pairs.row]
        wanted = np.where(place >= 0, place // size * count + pairs.item, -1)
        at = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        there = key[at] == wanted
        return place[there], first[at[there]] % size

    again = np.ones(len(query), bool)
    again[first] = False
    nothing = np.zeros(0, np.int64)
    positive, excluded = [], [(nothing, nothing)]
    for begin, end in corpus.blocks():
        relevant, gone = corpus.pairs(begin, end)
        positive.append(found(relevant, begin))
        if gone is not None:
            excluded.append(found(gone, begin))
    return _ordered(positive), _ordered(excluded), again


def _ordered(parts: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    row, column = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
    order = np.argsort(row, kind="stable")
    return row[order], column[order]


def reversed_corpus(corpus: Corpus, back: Product) -> Corpus:
    """The items' softmax over queries, by a product of these sides."""
    return Corpus(
        back,
        reversed_pairs(corpus.relevance, corpus.product.queries, corpus.product.items),
        corpus.rel,
    )
