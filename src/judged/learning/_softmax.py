"""The softmax of each query's scores at several temperatures, without holding all scores.

Negatives are added up piece by piece, relative to the highest of them, so nothing overflows at any
temperature. Positives are few and stay as they are. Candidates are all items, or the items of
random training batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats, Ints, one_thread_each, starts_of
from judged.embeddings.product import TiledProduct, over_blocks
from judged.embeddings.ranks import relevant_and_excluded
from judged.embeddings.relations import (
    Bound,
    ComputedPairs,
    Pairs,
    Relation,
    all_pairs,
    reversed_pairs,
)
from judged.embeddings.search import Search, reversed_search
from judged.errors import InputError
from judged.inputs.vectors.vectors import Matrix
from judged.learning._data import KnownPairs, pairs_of, vectors_of
from judged.learning._loss import RULES, Positives

if TYPE_CHECKING:
    from judged.options import Progress


NOBODY = np.float32(-1e38)  # the score of positives and excluded items, which are not negatives
RANKS = 10  # the most probable items whose probabilities are kept
_AT_A_TIME = 1 << 18
"""Scores that are worked on at a time: their exponentials stay in a core's cache."""


class Negatives:
    """The negatives of some queries: the highest, and sums of e^((s - highest) / temperature)."""

    def __init__(self, rows: int, temperatures: Floats, keep: int) -> None:
        self._temperatures = temperatures
        self.top = np.full(rows, -np.inf)
        """The highest score of a row; minus infinity where it has no negative."""
        self.level = np.zeros(rows, np.int64)  # the number of negatives that have it
        self.total, self.weighted = np.zeros((2, rows, len(temperatures)))
        """The sum of the exponentials, and of exponential times (s - highest)."""
        self.hardest = np.full((rows, keep), -np.inf)  # the greatest scores, descending

    def add(self, scores: Matrix) -> None:
        """Add the scores of all rows with some items, and overwrite them.

        What is not a negative has the score NOBODY.
        """
        top = scores.max(axis=1).astype(np.float64)
        top[top <= NOBODY] = -np.inf
        if np.abs(top[np.isfinite(top)]).max(initial=0.0) > _LARGEST:
            raise InputError(
                "scores are too large for a softmax in single precision; divide all vectors by the "
                "same number."
            )
        merged = np.hstack([self.hardest, greatest(scores, self.hardest.shape[1])])
        self.hardest = -np.sort(-merged, axis=1)[:, : self.hardest.shape[1]]
        self._move_to(np.maximum(self.top, top))
        base = np.where(np.isfinite(self.top), self.top, 0.0).astype(np.float32)
        rows = max(1, _AT_A_TIME // scores.shape[1])
        room = np.empty((min(rows, len(scores)), scores.shape[1]), np.float32)
        # What overflows is minus infinity, whose exponential is 0.
        with np.errstate(over="ignore", under="ignore"):
            for begin in range(0, len(scores), rows):
                at = slice(begin, begin + rows)
                below = np.subtract(scores[at], base[at, None], out=scores[at])
                share = room[: len(below)]
                self.level[at] += (below == 0).sum(axis=1)
                for number, temperature in enumerate(self._temperatures):
                    np.exp(np.multiply(below, np.float32(1 / temperature), out=share), out=share)
                    self.total[at, number] += share.sum(axis=1)
                    self.weighted[at, number] += np.einsum("ij,ij->i", share, below)

    def _move_to(self, top: Floats) -> None:
        known = np.isfinite(self.top)  # of no score there is nothing to move
        down = np.subtract(self.top, top, where=known, out=np.zeros(len(top)))[:, None]
        factor = np.exp(down / self._temperatures)
        self.weighted = factor * (self.weighted + down * self.total)
        self.total *= factor
        self.level[top > self.top] = 0
        self.top = top


_LARGEST = 1e37


def greatest(scores: Matrix, k: int) -> Floats:
    """Return the k greatest scores of every row, unordered; minus infinity for missing ones."""
    width = scores.shape[1]
    if width > k:
        scores = np.partition(scores, width - k, axis=1)[:, width - k :]
    padded = np.full((len(scores), k), -np.inf)
    padded[:, : scores.shape[1]] = np.where(scores > NOBODY, scores, -np.inf)
    return padded


Sums = dict[str, Any]
"""Sums over queries, with a row for each temperature: `slope` is the derivative of the loss by the
logarithm of the temperature, `gradient` by the negatives' scores; `bins` has the number of queries,
their confidence and their accuracy by confidence."""
HARDEST = 10  # negatives of a query that are its hardest
BINS = 15  # bins of confidence for the calibration error
_KEPT = max(HARDEST, RANKS)  # hardest negatives that have to be known


def add_block(
    negatives: Negatives, row: Ints, score: Floats, temperatures: Floats, rule: str
) -> Sums | None:
    """Add up a block of queries, from its negatives and the rows and scores of its positives.

    Rows without positives do not count; the result is None if no row counts.
    """
    counts = np.bincount(row, minlength=len(negatives.top))
    rows = np.flatnonzero(counts)
    if not len(rows):
        return None
    of = Positives((np.cumsum(counts > 0) - 1)[row], counts[rows])
    totals, weighted = negatives.total[rows], negatives.weighted[rows]
    hardest, top = negatives.hardest[rows], negatives.top[rows]
    some = np.isfinite(top)
    # Scores relative to the highest of each query, and hardest negatives to the first of them.
    peak = np.maximum(top, np.maximum.reduceat(score, starts_of(of.counts)))
    below, top_below = score - peak[of.row], np.where(some, top - peak, -np.inf)
    hardest_below = (hardest - np.where(some, top, 0.0)[:, None])[some, :HARDEST]
    at_top = of.sum(below == 0)
    accuracy = at_top / (at_top + np.where(top_below == 0, negatives.level[rows], 0))
    highest = _merged(of, below, hardest - peak[:, None])
    sums = []
    for number, temperature in enumerate(temperatures.tolist()):
        own = below / temperature
        shares, log_positives = of.softmax(own)
        total = np.where(some, totals[:, number], 1.0)
        log_negatives = np.where(some, top_below / temperature + np.log(total), -np.inf)
        mean_negative = np.where(some, top_below, 0.0) + weighted[:, number] / total
        loss, by_negatives, by_positive = RULES[rule](of, own, shares, log_positives, log_negatives)
        log_total = np.logaddexp(log_positives, log_negatives)
        share = np.exp(log_negatives - log_total)
        mean = share * mean_negative + (1 - share) * of.sum(shares * below)
        slope = by_negatives * mean_negative + of.sum(by_positive * below)
        confidence = np.exp(-log_total)
        place = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
        bins = [np.bincount(place, part, minlength=BINS) for part in (None, confidence, accuracy)]
        total, spread = totals[some, number], weighted[some, number]
        hardest_share = np.exp(hardest_below / temperature).sum(axis=1) / total
        sums.append(
            {
                "loss": loss.sum(),
                "slope": -slope.sum() / temperature,
                "confidence": confidence.sum(),
                "accuracy": accuracy.sum(),
                "entropy": (log_total - mean / temperature).sum(),
                "gradient": by_negatives.sum() / temperature,
                "hardest_share": np.minimum(hardest_share, 1.0).sum(),
                "effective_negatives": (total * np.exp(-spread / (total * temperature))).sum(),
                "probabilities": np.exp(highest / temperature - log_total[:, None]).sum(axis=0),
                "bins": np.stack(bins, axis=1),
            }
        )
    stacked = {name: np.stack([numbers[name] for numbers in sums]) for name in sums[0]}
    sizes = {"queries": len(rows), "positives": len(row), "with_negatives": int(some.sum())}
    return {**sizes, **stacked}


def _merged(of: Positives, positives: Floats, negatives: Floats) -> Floats:
    """Return the highest scores of positives and negatives together, descending."""
    order = np.lexsort((-positives, of.row))
    place = np.arange(len(order)) - np.repeat(starts_of(of.counts), of.counts)
    among = place < RANKS
    first = np.full((len(of.counts), RANKS), -np.inf)
    first[of.row[order][among], place[among]] = positives[order][among]
    return -np.sort(-np.hstack([first, negatives]), axis=1)[:, :RANKS]


def add_queries(
    candidates: Corpus | Batches,
    temperatures: Floats,
    rule: str,
    progress: Progress | None = None,
) -> Sums | None:
    """Add up all queries; None if none of them has a positive."""
    blocks = (
        sums
        for corpus in candidates.corpora()
        for sums in over_blocks(corpus, partial(corpus.sums, temperatures, rule), progress)
    )
    some = [sums for sums in blocks if sums is not None]
    return {name: sum(sums[name] for sums in some) for name in some[0]} if some else None


@dataclass(frozen=True, eq=False)
class Corpus:
    """All items, but for those that are excluded."""

    product: TiledProduct
    relevance: Bound
    rel: float
    only: int | None = None  # the number of the one query that is looked at; None where all are

    @property
    def threads(self) -> int:
        return self.product.threads

    @property
    def rows(self) -> int:
        return len(self.product.queries) if self.only is None else 1

    @property
    def width(self) -> int:
        return len(self.product.items)

    def corpora(self) -> Iterator[Corpus]:
        yield self

    def blocks(self) -> Iterator[tuple[int, int]]:
        if self.only is None:
            return self.product.blocks()
        return iter([(self.only, self.only + 1)])

    def sums(self, temperatures: Floats, rule: str, begin: int, end: int) -> Sums | None:
        relevant, excluded = self.pairs(begin, end)
        if not len(relevant.item):
            return None
        negatives = Negatives(end - begin, temperatures, min(_KEPT, self.width))
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
        return add_block(negatives, relevant.row, score, temperatures, rule)

    def pairs(self, begin: int, end: int) -> tuple[Pairs, Pairs | None]:
        """Return the positives of some queries, and what is excluded for them."""
        relevant, excluded = relevant_and_excluded(self.product, self.relevance, begin, end)
        return relevant.where((relevant.item >= 0) & (relevant.grade >= self.rel)), excluded

    def tiles(self, begin: int, end: int, excluded: Pairs | None) -> Iterator[tuple[int, Matrix]]:
        """Yield the scores of some queries from left to right; the next tile overwrites them."""
        prepared = self.product.query_block(begin, end)
        for column in self.product.columns:
            yield column, self.product.tile(prepared, begin, column, excluded).scores


@dataclass(frozen=True, eq=False)
class Batches:
    """Random training batches: each query brings one of its positives as a candidate.

    An item that several queries brought is in the batch once. Queries that remain after the last
    whole batch are left out, since a loss over fewer candidates is another loss.
    """

    search: Search
    rel: float
    size: int
    parts: tuple[tuple[Ints, Ints, KnownPairs, KnownPairs | None], ...]
    """Queries and items of each batch, what is relevant among them, and what is excluded."""
    left_over: int
    back: bool = False  # rows are items and candidates are queries

    @classmethod
    def drawn(
        cls, search: Search, relation: Relation, corpus: Corpus, size: int, seed: int
    ) -> Batches:
        random = np.random.default_rng(seed)
        chosen = _one_each(corpus, random)
        having = np.flatnonzero(chosen >= 0)
        if size > len(having):
            raise InputError(
                f"batch_size must be at most the number of queries with a positive, {len(having)}; "
                f"got {size}."
            )
        query = random.permutation(having)[: len(having) // size * size]
        every = _pairs_within_batches(corpus, query, chosen, size)
        parts = []
        for rows in query.reshape(-1, size):
            items = np.unique(chosen[rows])
            own, *gone = (KnownPairs(relation, _among(pairs, rows, items)) for pairs in every)
            parts.append((rows, items, own, gone[0] if gone else None))
        return cls(search, corpus.rel, size, tuple(parts), len(having) - len(query))

    @property
    def rows(self) -> int:
        return sum(len(items if self.back else rows) for rows, items, *_ in self.parts)

    @property
    def width(self) -> int:
        return self.size

    def corpora(self) -> Iterator[Corpus]:
        """Yield each batch as a small corpus, for which threads of BLAS take more time than one."""
        with one_thread_each():
            for part in self.parts:
                yield self._corpus(*part)

    def _corpus(
        self, rows: Ints, items: Ints, relevant: KnownPairs, excluded: KnownPairs | None
    ) -> Corpus:
        search = Search(
            queries=vectors_of(self.search.queries, rows),
            items=vectors_of(self.search.items, items),
            similarity=self.search.similarity,
            exclude=excluded,
            memory=self.search.memory,
            dims=None,
            normalisation=None,
            categories=None,
        )
        batch = Corpus(product_of(search), relevant, self.rel)
        return reversed_corpus(batch, search) if self.back else batch


def _pairs_within_batches(corpus: Corpus, query: Ints, chosen: Ints, size: int) -> list[Pairs]:
    """Return the relevant pairs of all queries with items of their batches, and the excluded."""
    batch, width = np.full(corpus.rows, -1), len(corpus.product.items)
    batch[query] = np.arange(len(query)) // size
    known = np.unique(batch[query] * width + chosen[query])

    def block(part: int, begin: int, end: int) -> Pairs:
        pairs = corpus.pairs(begin, end)[part]
        assert pairs is not None
        return pairs.where(np.isin(batch[begin + pairs.row] * width + pairs.item, known))

    parts = range(1 if corpus.product.exclude is None else 2)
    return [all_pairs(ComputedPairs(partial(block, part)), corpus.rows) for part in parts]


def _among(pairs: Pairs, rows: Ints, items: Ints) -> Pairs:
    """Return the pairs of some queries, with the places of items in a batch."""
    own = pairs_of(pairs, rows)
    return replace(own, item=np.searchsorted(items, own.item))


def _one_each(corpus: Corpus, random: np.random.Generator) -> Ints:
    """Draw one positive for each query; -1 without positives."""
    chosen = np.full(corpus.rows, -1, np.int64)
    # At once, so that what is drawn does not depend on the size of blocks.
    shares = random.random(corpus.rows)
    for begin, end in corpus.blocks():
        relevant, _ = corpus.pairs(begin, end)
        having = np.flatnonzero(relevant.lengths)
        drawn = (shares[begin + having] * relevant.lengths[having]).astype(np.int64)
        chosen[begin + having] = relevant.item[starts_of(relevant.lengths)[having] + drawn]
    return chosen


def product_of(search: Search) -> TiledProduct:
    """Return the scores of a search in single precision, which is enough for sums of many."""
    queries, items, exclude = search.queries, search.items, search.exclude
    bound = None if exclude is None else exclude.bind(queries, items)
    similarity = search.similarity.placed(items)
    options: dict[str, Any] = {"exclude": bound, "memory": search.memory, "single": True}
    return TiledProduct(queries, items, similarity, **options)


def reversed_corpus(corpus: Corpus, search: Search) -> Corpus:
    """Return the items' search for queries."""
    relevant = reversed_pairs(corpus.relevance, search.queries, search.items)
    return Corpus(product_of(reversed_search(search)), relevant, corpus.rel)
