"""How queries are cut where they have very many relevant items, so that memory stays what it is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from judged.arrays import Ints
from judged.embeddings.pairs import Pairs
from judged.embeddings.product import Scores
from judged.embeddings.relations import Bound

PAIRS = 50_000
"""Relevant items of a piece: the rows of a tile are counted, and evaluated, a piece at a time."""
_CELLS = 1 << 22
"""Of the matrix that a relation which does not say how many is asked for."""
_TALLIED = 400_000
"""Pairs that are held while the tiles of several parts of the items come by."""


def cut(begin: int, end: int, sizes: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Rows from begin to end in pieces of at most so much, or of one row.

    >>> list(cut(10, 14, np.array([3, 1, 5, 1]), 4))
    [(10, 12), (12, 13), (13, 14)]
    """
    reached = np.cumsum(sizes, dtype=np.int64)
    first = 0
    while first < end - begin:
        before = int(reached[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(reached, before + most, side="right")))
        yield begin + first, begin + last
        first = last


def pieces(relevance: Bound, begin: int, end: int, items: int) -> Iterator[tuple[int, int, Pairs]]:
    """What is relevant to some queries, a piece at a time: first query, end, and the pairs."""
    known = getattr(relevance, "most", None)
    if known is not None:
        for first, last in cut(begin, end, known(begin, end), PAIRS):
            yield first, last, relevance.block(first, last)
        return
    step = max(1, _CELLS // items)
    for row in range(begin, end, step):
        stop = min(row + step, end)
        found = relevance.block(row, stop)
        for first, last in cut(row, stop, found.lengths, PAIRS):
            yield first, last, found.part(first - row, last - row)


def blocks(product: Scores, relevance: Bound) -> list[tuple[int, int]]:
    """The blocks of a product, cut further where the pairs that must be held with a block would be
    too many: those that are excluded, and where items need several tiles, those that are relevant.
    """
    held = [product.exclude, relevance if len(product.columns) > 1 else None]
    sizes = [of for each in held if (of := getattr(each, "most", None)) is not None]
    if not sizes:
        return list(product.blocks())
    return [
        piece
        for begin, end in product.blocks()
        for piece in cut(begin, end, np.sum([of(begin, end) for of in sizes], axis=0), _TALLIED)
    ]
