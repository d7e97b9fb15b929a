"""All scores of a product in pieces, and what can be known of them by going through once: sums,
moments, the highest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from judged.arrays import Floats
from judged.embeddings.product import Product
from judged.inputs.vectors.vectors import Matrix, Vectors

CHUNK = 1 << 18
"""Scores that are worked on at a time, in double precision."""


@dataclass(frozen=True)
class Chunk:
    """Scores of some queries with some items in double precision; minus infinity where an item is
    excluded."""

    rows: slice
    columns: slice
    values: Floats


def chunks(product: Product) -> Iterator[Chunk]:
    """All scores of a product, in pieces, comparable between queries too."""
    for begin, end in product.blocks():
        prepared = product.query_block(begin, end)
        shift = product.similarity.shift(prepared)
        excluded = None if product.exclude is None else product.exclude.block(begin, end)
        for column in product.columns:
            scores = product.tile(prepared, begin, column, excluded).scores
            for at in pieces(scores):
                yield Chunk(
                    slice(begin, end),
                    slice(column + at.start, column + at.stop),
                    scores[:, at] + shift,
                )


def pieces(scores: Matrix) -> Iterator[slice]:
    step = max(1, CHUNK // len(scores))
    for first in range(0, scores.shape[1], step):
        yield slice(first, min(first + step, scores.shape[1]))


def over(product: Product, queries: Vectors) -> Product:
    """The same items scored with other queries, nothing excluded."""
    # They are looked at, not evaluated.
    similarity = product.similarity.allow_training_queries()
    similarity.check(queries, product.items)
    return Product(
        queries,
        product.items,
        similarity,
        exclude=None,
        memory=product.memory,
        precision=product.precision,
        wide=True,
        shape=(product.height, product.width),
        cuts=product.cuts,
        ready=product.ready,
    )


class LogSums:
    """Logarithms of sums of exponentials, one per line, added up piece by piece."""

    def __init__(self, lines: int) -> None:
        self._top, self._total = np.full(lines, -np.inf), np.zeros(lines)

    def add(self, at: slice, logs: Floats) -> None:
        top = np.maximum(self._top[at], logs.max(axis=1))
        base = np.where(np.isfinite(top), top, 0.0)
        self._total[at] = self._total[at] * np.exp(self._top[at] - base) + np.exp(
            logs - base[:, None]
        ).sum(axis=1)
        self._top[at] = top

    def values(self, *, of_nothing: float = 0.0) -> Floats:
        """`of_nothing` for a line in which everything is excluded."""
        there = self._total > 0
        return np.where(there, self._top, of_nothing) + np.log(np.where(there, self._total, 1.0))


class Rivals:
    """For each line the highest logarithm, and the log of the sum of the exponentials of all the
    others, kept apart.

    The share of the highest may be 1 but for some e^-100; only what is left to the others tells two
    such shares apart.
    """

    def __init__(self, lines: int) -> None:
        self.top, self._rest = np.full(lines, -np.inf), LogSums(lines)

    def add(self, at: slice, logs: Floats) -> None:
        place, lines = logs.argmax(axis=1), np.arange(len(logs))
        highest = logs[lines, place]
        others = logs.copy()
        others[lines, place] = np.minimum(highest, self.top[at])
        self._rest.add(at, others)
        self.top[at] = np.maximum(highest, self.top[at])

    def odds(self) -> Callable[[Floats, slice], Floats]:
        """A function of logarithms and their lines: the log-odds of each one's share of its line's
        sum."""
        top, rest = self.top, self._rest.values(of_nothing=-np.inf)
        total = np.logaddexp(np.where(np.isfinite(top), top, 0.0), rest)

        def odds(logs: Floats, at: slice) -> Floats:
            first = logs >= top[at]
            share = np.exp(np.where(first, -np.inf, logs - total[at]))
            alone = np.isneginf(rest[at]) & first
            others = np.where(first, np.where(alone, 0.0, rest[at]), total[at] + np.log1p(-share))
            return np.where(alone, float(np.finfo(np.float32).max), logs - others)

        return odds


class Moments:
    """Mean and standard deviation of the scores of each line, excluded ones left out; both 0 where
    there is no score."""

    def __init__(self, lines: int) -> None:
        self._count, self.mean, self._squares = np.zeros(lines), np.zeros(lines), np.zeros(lines)

    def add(self, at: slice, values: Floats) -> None:
        there = np.isfinite(values)
        count = there.sum(axis=1)
        mean = np.where(there, values, 0.0).sum(axis=1) / np.maximum(count, 1)
        squares = (np.where(there, values - mean[:, None], 0.0) ** 2).sum(axis=1)
        both = np.maximum(self._count[at] + count, 1)
        apart = mean - self.mean[at]
        self._squares[at] += squares + apart**2 * self._count[at] * count / both
        self.mean[at] += apart * count / both
        self._count[at] += count

    @property
    def deviation(self) -> Floats:
        return np.sqrt(self._squares / np.maximum(self._count, 1))


class Highest:
    """The k highest scores of each line."""

    def __init__(self, lines: int, k: int) -> None:
        self._best = np.full((lines, k), -np.inf)

    def add(self, at: slice, values: Floats) -> None:
        best = self._best[at]
        some = np.flatnonzero(values.max(axis=1) > best.min(axis=1))
        best[some] = np.partition(np.hstack([best[some], values[some]]), -best.shape[1], axis=1)[
            :, -best.shape[1] :
        ]

    def means(self) -> Floats:
        """The mean of those that are not excluded; 0 where there are none."""
        self._best.sort(axis=1)
        there = np.isfinite(self._best)
        return np.where(there, self._best, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)


class Nearest:
    """The k highest scores of each query and the items that have them, those of lower number first
    where scores tie."""

    def __init__(self, queries: int, k: int) -> None:
        self.scores, self.items = (
            np.full((queries, k), -np.inf),
            np.full((queries, k), -1, np.int64),
        )

    def add(self, chunk: Chunk) -> None:
        """Chunks of a query must come in the order of the items."""
        scores, items = self.scores[chunk.rows], self.items[chunk.rows]
        k = scores.shape[1]
        some = np.flatnonzero(chunk.values.max(axis=1) > scores.min(axis=1))
        numbers = np.broadcast_to(
            np.arange(chunk.columns.start, chunk.columns.stop), (len(some), chunk.values.shape[1])
        )
        joined, item = (
            np.hstack([scores[some], chunk.values[some]]),
            np.hstack([items[some], numbers]),
        )
        best = np.argpartition(joined, -k, axis=1)[:, -k:]
        least = np.take_along_axis(joined, best, axis=1).min(axis=1, keepdims=True)
        for row in np.flatnonzero((joined >= least).sum(axis=1) > k):
            best[row] = np.lexsort((item[row], -joined[row]))[:k]
        scores[some], items[some] = (
            np.take_along_axis(joined, best, axis=1),
            np.take_along_axis(item, best, axis=1),
        )


def nearest(product: Product, k: int) -> Nearest:
    """The k best items of every query of a product."""
    found = Nearest(len(product.queries), k)
    for chunk in chunks(product):
        found.add(chunk)
    return found
