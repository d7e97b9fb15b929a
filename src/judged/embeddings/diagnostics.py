"""What is wrong with embeddings before anybody ranks with them: bad vectors, duplicates, hubs,
collapse.

Vectors that cannot be compared (NaN, infinite, and with cosine all zeros) are named and left out of
everything else. All that grows with the product of two sides is streamed in tiles; what grows with
the square of one side looks at a seeded sample of its vectors where there are many, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import nan
from numbers import Integral

import numpy as np

from judged.arrays import Floats, Ints
from judged.embeddings.diagnosis import Diagnosis, Histogram, Hubness, Rows
from judged.embeddings.inspection import NUMBERS_AT_A_TIME, Inspection, collapse, side
from judged.embeddings.pairs import Pairs
from judged.embeddings.product import Product
from judged.embeddings.relations import Bound, Relation
from judged.embeddings.search import Search, refuse_changes
from judged.embeddings.similarity.distances import Euclidean
from judged.embeddings.streams import Chunk, Nearest, chunks
from judged.errors import InputError
from judged.inputs.vectors.vectors import Vectors, unit
from judged.options import whole

NEIGHBOURS = 10
"""Hubness looks at so many best items of each query by default, or at all where there are fewer."""
RELEVANT_FROM = 1.0
BINS = 40
"""A histogram has as many bins or fewer, down to half, and one more where scores lie on its edges.
"""
_QUERIES_AT_A_TIME = 512
_PAIRS_EACH = 200
"""Alignment looks at so many pairs for each vector that may be sampled."""


def diagnose(
    search: Search, relevance: Relation | None, *, k: int | None, sample: int | None, seed: int
) -> Diagnosis:
    """Look for what spoils a ranking by embeddings."""
    refuse_changes(search, "a diagnosis")
    queries, items = search.queries, search.items
    similarity, memory = search.similarity, search.memory
    k = min(NEIGHBOURS, len(items)) if k is None else k
    if isinstance(k, bool) or not isinstance(k, Integral) or not 1 <= int(k) <= len(items):
        raise InputError(
            f"k must be a whole number from 1 to the number of items, {len(items)}; got {k!r}."
        )
    if sample is not None:
        sample = whole("sample", sample, at_least=2, otherwise=", or None for all")
    similarity.check(queries, items)
    bound, excluded = (
        None if each is None else each.bind(queries, items) for each in (relevance, search.exclude)
    )
    random = np.random.default_rng(seed)
    query_rows, item_rows = (Inspection.of(each, similarity) for each in (queries, items))
    item_collapse, centre = collapse(item_rows)
    if isinstance(similarity, Euclidean):
        similarity = replace(similarity, centre=centre)
    hubness = scores = None
    if query_rows.usable.any() and item_rows.usable.any():
        product = Product(
            query_rows.comparable,
            item_rows.comparable,
            similarity,
            exclude=excluded,
            memory=memory,
            precision="single",
        )
        hubness, low, high = _hubness(product, query_rows, item_rows, k)
        scores = _histogram(product, query_rows, item_rows, bound, low, high)
    alignment, pairs, sampled = _alignment(query_rows, item_rows, bound, excluded, sample, random)
    return Diagnosis(
        queries=side(query_rows, memory, sample, random),
        items=side(item_rows, memory, sample, random),
        similarity=similarity.name,
        collapse=item_collapse,
        hubness=hubness,
        scores=scores,
        alignment=alignment,
        alignment_pairs=pairs,
        alignment_sampled=sampled,
        queries_among_items=_among(query_rows, item_rows, excluded),
    )


def _among(queries: Inspection, items: Inspection, exclude: Bound | None) -> Rows:
    if queries.vectors.dims != items.vectors.dims:
        return Rows()
    order = np.argsort(items.key, kind="stable")
    low, high = (
        np.searchsorted(items.key, queries.key, side=side, sorter=order)
        for side in ("left", "right")
    )
    found = []
    for row in np.flatnonzero((high > low) & queries.finite).tolist():
        gone = set() if exclude is None else set(exclude.block(row, row + 1).item.tolist())
        equal = (item for item in order[low[row] : high[row]].tolist() if item not in gone)
        own = queries.vectors.block(row, row + 1)
        if any((items.vectors.block(item, item + 1) == own).all() for item in equal):
            found.append(row)
    return queries.named(np.array(found, dtype=np.int64))


def _usable_chunks(product: Product, queries: Inspection, items: Inspection) -> Iterator[Chunk]:
    """All scores, those of vectors that cannot be compared at minus infinity."""
    for chunk in chunks(product):
        chunk.values[~queries.usable[chunk.rows]] = -np.inf
        chunk.values[:, ~items.usable[chunk.columns]] = -np.inf
        yield chunk


def _hubness(
    product: Product, queries: Inspection, items: Inspection, k: int
) -> tuple[Hubness, float, float]:
    """Hubness, and the lowest and highest score met on the way."""
    nearest = Nearest(len(product.queries), k)
    low, high = np.inf, -np.inf
    for chunk in _usable_chunks(product, queries, items):
        nearest.add(chunk)
        there = _there(chunk.values)
        low, high = min(low, there.min(initial=np.inf)), max(high, there.max(initial=-np.inf))
    found = nearest.items[np.isfinite(nearest.scores)]
    every = np.bincount(found, minlength=len(product.items))
    count = every[items.usable].astype(np.float64)
    apart = count - count.mean()
    deviation = np.sqrt((apart**2).mean())
    biggest = np.argsort(-every, kind="stable")[:10]
    hubness = Hubness(
        k=k,
        skewness=float((apart**3).mean() / deviation**3) if deviation > 0 else nan,
        robin_hood=float(np.abs(apart).sum() / (2 * count.sum())) if count.any() else nan,
        antihubs=float((count == 0).mean()),
        hubs=int((count >= 2 * k).sum()),
        biggest=tuple(
            (items.vectors.name(int(item)), int(every[item])) for item in biggest if every[item]
        ),
    )
    return hubness, float(low), float(high)


def _histogram(
    product: Product,
    queries: Inspection,
    items: Inspection,
    relevance: Bound | None,
    low: float,
    high: float,
) -> Histogram | None:
    if low > high:
        return None
    # A width that is a power of two: dividing by it is exact, and so is the bin of a score on an
    # edge.
    width = 2.0 ** np.ceil(np.log2((high - low) / BINS)) if high > low else 1.0
    first = int(np.floor(low / width))
    size = int(np.floor(high / width)) - first + 1
    counts, sums = np.zeros((2, size), np.int64), np.zeros(2)
    begin, relevant = -1, Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    for chunk in _usable_chunks(product, queries, items):
        if relevance is not None and chunk.rows.start != begin:
            begin, relevant = (
                chunk.rows.start,
                _relevant(relevance, chunk.rows.start, chunk.rows.stop),
            )
        inside = (relevant.item >= chunk.columns.start) & (relevant.item < chunk.columns.stop)
        own = chunk.values[relevant.row[inside], relevant.item[inside] - chunk.columns.start]
        for which, values in enumerate((chunk.values, own)):
            there = _there(values)
            counts[which] += np.bincount(
                np.floor(there / width).astype(np.int64) - first, minlength=size
            )
            sums[which] += there.sum()
    counts[0] -= counts[1]
    sums[0] -= sums[1]
    means = [
        float(total / pairs) if pairs else nan
        for total, pairs in zip(sums, counts.sum(axis=1).tolist(), strict=True)
    ]
    return Histogram(
        edges=tuple((np.arange(first, first + size + 1) * width).tolist()),
        others=tuple(counts[0].tolist()),
        others_mean=means[0],
        relevant=None if relevance is None else tuple(counts[1].tolist()),
        relevant_mean=means[1],
    )


def _there(values: Floats) -> Floats:
    """The scores that are not at minus infinity, in a row."""
    values = values.ravel()
    return values if np.isfinite(values).all() else values[np.isfinite(values)]


def _relevant(relevance: Bound, begin: int, end: int) -> Pairs:
    pairs = relevance.block(begin, end)
    return pairs.where((pairs.grade >= RELEVANT_FROM) & (pairs.item >= 0))


def _alignment(
    queries: Inspection,
    items: Inspection,
    relevance: Bound | None,
    exclude: Bound | None,
    sample: int | None,
    random: np.random.Generator,
) -> tuple[float | None, int, bool]:
    """The alignment, over how many pairs, and whether these are a sample."""
    if relevance is None or queries.vectors.dims != items.vectors.dims:
        return None, 0, False
    total, seen, every = 0.0, 0, 0
    for begin in range(0, len(queries.vectors), _QUERIES_AT_A_TIME):
        end = min(begin + _QUERIES_AT_A_TIME, len(queries.vectors))
        pairs = _relevant(relevance, begin, end)
        if exclude is not None:
            pairs = pairs.without(exclude.block(begin, end))
        row, item = pairs.row + begin, pairs.item
        good = np.flatnonzero(queries.has_direction[row] & items.has_direction[item])
        # Each block of queries has its share of the pairs that may be looked at, and counts for all
        # of its pairs.
        most = (
            len(good)
            if sample is None
            else max(1, sample * _PAIRS_EACH * (end - begin) // len(queries.vectors))
        )
        some = np.sort(random.choice(good, most, replace=False)) if len(good) > most else good
        if len(some):
            total += _distances(queries.vectors, items.vectors, row[some], item[some]) * (
                len(good) / len(some)
            )
        seen, every = seen + len(some), every + len(good)
    return total / every if every else nan, seen, seen < every


def _distances(queries: Vectors, items: Vectors, row: Ints, item: Ints) -> float:
    """The sum of the squared distances of pairs, at length 1."""
    total, step = 0.0, max(1, NUMBERS_AT_A_TIME // (8 * queries.dims))
    for begin in range(0, len(row), step):
        at = slice(begin, begin + step)
        apart = unit(queries.rows(row[at])) - unit(items.rows(item[at]))
        total += float(np.einsum("ij,ij->", apart, apart))
    return total
