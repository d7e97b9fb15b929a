"""Tukey's honestly significant differences: all pairs of systems that answered the same queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats
from judged.errors import InputError
from judged.statistics.bootstrap import least_count
from judged.statistics.randomisation import whole_numbers
from judged.statistics.samples import CLOSE
from judged.statistics.t import SMALLEST_P, Tukey, below

FAR = 1e-9
"""scipy's studentised range has no more digits: smaller p values come from pairs alone."""


def tukey(values: Floats, levels: Sequence[float] = (0.95,)) -> Tukey:
    """Test all pairs in the two-way layout, with queries as blocks.

    With MS the residual mean square, the studentised range of m systems and (n - 1)(m - 1) degrees
    of freedom judges |difference|/√(MS/n). It assumes that all pairs vary alike. For two systems it
    is the paired t test. `values` has a row per query and a column per system, all finite.

    >>> found = tukey(np.array([[0.1, 0.2, 0.4], [0.3, 0.3, 0.6], [0.2, 0.4, 0.5]]))
    >>> found.p.round(3)
    array([[1.   , 0.201, 0.007],
           [0.201, 1.   , 0.029],
           [0.007, 0.029, 1.   ]])
    """
    from scipy.special import stdtr
    from scipy.stats import studentized_range

    n, m = values.shape
    order = np.lexsort(values[::-1])  # their own, so that no bit hangs on that of the systems
    values = values[:, order]
    nothing = Tukey(np.where(np.eye(m, dtype=bool), 1.0, np.nan), np.full(len(levels), np.nan))
    if n < 2 or m < 2:
        return nothing
    means = values.mean(axis=0)
    apart = np.abs(means[:, None] - means)
    left = values - means - values.mean(axis=1, keepdims=True) + values.mean()
    if np.abs(left).max() <= CLOSE * np.abs(values).max():
        return nothing
    freedom = (n - 1) * (m - 1)
    error = float(np.sqrt((left**2).sum() / freedom / n))
    rows, columns = np.triu_indices(m, 1)
    ranges = apart[rows, columns] / error
    # The largest range is a pair's own: no less likely than its t alone, and no more than any of
    # all pairs'.
    alone = np.maximum(2 * stdtr(freedom, -ranges / np.sqrt(2)), SMALLEST_P)
    any_pair = np.minimum(alone * len(rows), 1.0)
    found = np.clip(studentized_range.sf(ranges, m, freedom), alone, any_pair)
    found = np.where(found < FAR, any_pair, found)
    rising = np.argsort(ranges, kind="stable")
    found[rising] = np.minimum.accumulate(found[rising])
    p = np.ones((m, m))
    p[order[rows], order[columns]] = p[order[columns], order[rows]] = found
    apart = apart[np.ix_(np.argsort(order), np.argsort(order))]
    half = [
        _agreeing(float(studentized_range.ppf(level, m, freedom)) * error, apart, below(p, level))
        for level in levels
    ]
    return Tukey(p, np.array(half))


def _agreeing(half: float, apart: Floats, counts: NDArray[np.bool_]) -> float:
    """Adjust a half width so that exactly the differences of significant pairs exceed it."""
    least = np.nextafter(apart[counts].min(), 0) if counts.any() else np.inf
    return float(np.clip(half, apart[~counts].max(), least))


PLACES_PER_BLOCK = 2**15
"""Places of systems drawn at once; part of what a seed means."""


def randomised_tukey(
    values: Floats,
    levels: tuple[float, ...] = (0.95,),
    resamples: int = 9_999,
    seed: int = 0,
) -> Tukey:
    """Test all pairs by permuting values within queries.

    Each resample permutes the systems' values within every query and keeps the range of their
    means. p of a pair counts the ranges that reach its difference, and one more. `values` has the
    shape (queries, systems) or (queries, systems, measures); measures share the permutations. If no
    query separates any two systems, p is 1 and the half width NaN. It is infinite if the resamples
    are too few for the level.

    >>> found = randomised_tukey(np.arange(30.0).reshape(10, 3), resamples=999)
    >>> found.p[0].round(3).tolist(), found.half_width.round(2).tolist()
    ([1.0, 0.082, 0.001], [1.0])
    """
    if not np.isfinite(values).all():
        raise InputError("randomised Tukey needs values that are finite numbers.")
    queries, systems = values.shape[:2]
    # In an order of their own, so that it does not matter in which the systems come.
    several = values.reshape(queries, systems, -1)
    measures = several.shape[2]
    orders = [np.lexsort(several[::-1, :, at]) for at in range(measures)]
    several = np.stack([several[:, order, at] for at, order in enumerate(orders)], axis=2)
    numbers, exponents = whole_numbers(several.reshape(queries * systems, measures))
    table = numbers.reshape(several.shape)
    means = table.sum(axis=0)
    close = CLOSE * queries * np.abs(table).max(axis=(0, 1))
    differences = np.abs(means[:, None] - means[None]) - close
    ranges = np.sort(_ranges(table, resamples, seed), axis=1)
    p = np.empty(differences.shape)
    half = np.empty((len(levels), measures))
    size = resamples + 1
    ranks = [int(least_count(lambda c: c / size, np.array(size), level)) for level in levels]
    for at, ordered in enumerate(ranges):
        reached = resamples - np.searchsorted(ordered, differences[..., at])
        p[orders[at][:, None], orders[at], at] = (1 + reached) / size
        half[:, at] = [ordered[1 - rank] if rank > 1 else np.inf for rank in ranks] + close[at]
    half[:, np.ptp(table, axis=1).max(axis=0) <= close / queries] = np.nan
    half = np.ldexp(half, exponents) / queries
    last = values.shape[2:]
    return Tukey(p.reshape(systems, systems, *last), half.reshape(len(levels), *last))


def _ranges(table: Floats, resamples: int, seed: int) -> Floats:
    """Compute the range of the systems' sums after each permutation: a row per measure."""
    queries, systems, measures = table.shape
    found = np.empty((measures, resamples))
    source = np.random.PCG64(seed)
    rows = max(1, PLACES_PER_BLOCK // systems)
    last = np.uint64(2 ** (systems - 1).bit_length() - 1)
    columns = [np.ascontiguousarray(table[..., at]) for at in range(measures)]
    for start in range(0, resamples, rows):
        some = min(rows, resamples - start)
        sums = np.zeros((measures, some, systems))
        part = np.empty((some, systems))
        for query in range(queries):
            keys = source.random_raw(some * systems).reshape(some, systems)
            keys &= ~last
            keys |= np.arange(systems, dtype=np.uint64)
            keys.sort(axis=1)
            keys &= last
            places = keys.view(np.int64)
            for one, column in zip(sums, columns, strict=True):
                np.take(column[query], places, out=part, mode="clip")
                one += part
        found[:, start : start + some] = np.ptp(sums, axis=2)
    return found
