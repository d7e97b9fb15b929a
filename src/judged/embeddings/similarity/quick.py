"""Scores of pairs in double precision, each with what it may be off by: much cheaper than scores
that are rounded once, and nearly always enough to tell two apart.

The bounds are those of `similarity.rounding`, with the rounding of the real score to double
precision in them. Where numbers are so large or small that a score is none, nothing is known of it.
"""

from __future__ import annotations

import numpy as np

from judged.arrays import Floats
from judged.embeddings.similarity.exact import Numbers, Pairs, scaled
from judged.embeddings.similarity.rounding import sum_error, vanished

Quick = tuple[Floats, Floats]


def quick_dots(pairs: Pairs) -> Quick:
    """The dot product of each pair."""
    (queries, up, _), (items, more, _) = scaled(pairs.queries), scaled(pairs.items)
    scores = _dots(Pairs(queries, items, pairs.query, pairs.item))
    sizes = _lengths(queries)[pairs.query] * _lengths(items)[pairs.item]
    dims = pairs.queries.shape[1]
    error = sum_error(dims + 5, np.float64) * sizes + vanished(sizes, dims, np.float64)
    power = up[pairs.query] + more[pairs.item]
    if power.any():
        with np.errstate(over="ignore", under="ignore"):
            scores, error = np.ldexp(scores, power), np.ldexp(error, power)
        error += vanished(np.zeros(1), 1, np.float64)
    return _known(scores, error)


def quick_cosines(pairs: Pairs) -> Quick:
    """The cosine of each pair."""
    queries, items = scaled(pairs.queries)[0], scaled(pairs.items)[0]
    scores = _dots(Pairs(queries, items, pairs.query, pairs.item))
    scores /= _lengths(queries)[pairs.query] * _lengths(items)[pairs.item]
    # The product, two lengths and a division.
    error = sum_error(2 * pairs.queries.shape[1] + 12, np.float64)
    return scores, np.full(len(scores), error)


def quick_half_squares(pairs: Pairs) -> Quick:
    """Minus half the squared distance of each pair."""
    with np.errstate(over="ignore", under="ignore"):
        apart = pairs.apart()
        scores = np.einsum("ij,ij->i", apart, apart) / -2
    return _of_positive(scores, pairs)


def quick_absolute_sums(pairs: Pairs) -> Quick:
    """Minus the sum of absolute differences of each pair."""
    with np.errstate(over="ignore"):
        return _of_positive(-np.abs(pairs.apart()).sum(axis=1), pairs)


def _dots(pairs: Pairs) -> Floats:
    everything = slice(None)
    left, right = pairs.left(everything), pairs.right(everything)
    return np.einsum("ij,ij->i", left, right, dtype=np.float64)


def _lengths(block: Numbers) -> Floats:
    return np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))


def _of_positive(scores: Floats, pairs: Pairs) -> Quick:
    """Sums of numbers that have one sign, each of which was rounded some three times."""
    dims = pairs.queries.shape[1]
    with np.errstate(invalid="ignore"):
        error = sum_error(dims + 4, np.float64) * np.abs(scores)
    return _known(scores, error + vanished(np.zeros(1), dims, np.float64))


def _known(scores: Floats, error: Floats) -> Quick:
    unknown = ~(np.isfinite(scores) & np.isfinite(error))
    if unknown.any():
        scores, error = np.where(unknown, 0.0, scores), np.where(unknown, np.inf, error)
    return scores, error
