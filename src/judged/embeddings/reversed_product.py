"""A product seen from the other side."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from judged.arrays import Floats, Ints, starts_of
from judged.embeddings.pairs import Pairs
from judged.embeddings.product import Product
from judged.embeddings.relations import reversed_pairs
from judged.embeddings.similarity.equal import equal_groups
from judged.embeddings.tiles import Tile
from judged.inputs.vectors.vectors import Matrix


class ReversedProduct:
    """All scores of a product that kept them, seen from the items: a row per item, a column per
    query."""

    def __init__(self, product: Product) -> None:
        assert product.whole is not None
        self._product, self._whole = product, product.whole
        self.queries, self.items = product.items, product.queries
        self.exclude = (
            None
            if product.exclude is None
            else reversed_pairs(product.exclude, product.queries, product.items)
        )
        self._height = max(1, product.height * len(product.items) // len(product.queries))
        self.columns, self.threads, self.listed = (0,), product.threads, product.listed
        self.comparable = product.comparable
        self._slack: float | None = None
        self._equal, self._sizes = np.zeros(0, np.int64), np.zeros(0, np.int64)
        if product.certain:
            whole = product.whole_numbers and product.comparable
            self._slack = None if whole else product.greatest_slack()
        else:
            self._equal, self._sizes = equal_groups(product.queries, product.ready.given)

    def blocks(self) -> Iterator[tuple[int, int]]:
        for begin in range(0, len(self.queries), self._height):
            yield begin, min(begin + self._height, len(self.queries))

    def query_block(self, begin: int, end: int) -> Matrix:
        scores = np.ascontiguousarray(self._whole[:, begin:end].T)
        if len(self._equal):
            # The product levelled equal items; here equal queries must tie. What is excluded stays
            # so.
            own = scores[:, self._equal]
            best = np.maximum.reduceat(own, starts_of(self._sizes), axis=1).repeat(
                self._sizes, axis=1
            )
            scores[:, self._equal] = np.where(own > -np.inf, best, own)
        return scores

    def tile(self, prepared: Matrix, row: int, column: int, excluded: Pairs | None) -> Tile:
        """The excluded pairs are the same as before, and are at minus infinity already."""
        slack = None if self._slack is None else np.full(len(prepared), self._slack)
        return Tile(row, column, prepared, slack)

    def shifts(self, begin: int, end: int) -> Floats:
        return np.zeros((end - begin, 1))

    def exact_pairs(self, queries: Ints, items: Ints) -> Floats:
        return self._product.exact_pairs(items, queries)

    def quick_pairs(self, queries: Ints, items: Ints) -> tuple[Floats, Floats] | None:
        return self._product.quick_pairs(items, queries)

    def doubled(self, queries: Ints, items: Ints) -> tuple[Floats, Floats]:
        scores, slack = self._product.doubled(items, queries)
        return scores.T, np.full(len(queries), slack.max())
