"""Randomised Tukey HSD: all pairs of systems at once, by permuting their values within queries."""

from __future__ import annotations

import numpy as np

from judged.arrays import Floats
from judged.errors import InputError
from judged.statistics.aggregates import CLOSE
from judged.statistics.resampling.inversion import least_count
from judged.statistics.resampling.subsets import whole_numbers
from judged.statistics.tested import Tukey

BLOCK = 2**15
"""Places of systems that are drawn at once; draws come in such blocks, so it is part of what a seed
means."""


def randomised_tukey(
    values: Floats,
    levels: tuple[float, ...] = (0.95,),
    resamples: int = 9_999,
    seed: int = 0,
) -> Tukey:
    """How often the means of m systems would lie so far apart if they were all alike.

    Each resample permutes the systems' values within every query, and keeps the range of their
    means. p of a pair counts the ranges that reach its difference, and one more; the half width of
    all intervals is the range of which p is the first that is not below 1 - level. So p is below
    that exactly where the difference is greater than the half width. Where no query tells any two
    systems apart p is 1 and the half width NaN; it is infinite where so few resamples cannot bound
    a difference at that level.

    Parameters
    ----------
    values : array of shape (n queries, m systems) or (n, m, k measures)
        Finite.
    levels : tuple of float, optional
        Levels of the simultaneous intervals.
    resamples : int, optional
        How often values are permuted.
    seed : int, optional
        What permutations are drawn from; measures share them.

    Returns
    -------
    Tukey
        With another axis for the measures, the last, where they have one in `values`.

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
    """The range of the systems' sums after each permutation: a row per measure."""
    queries, systems, measures = table.shape
    found = np.empty((measures, resamples))
    source = np.random.PCG64(seed)
    rows = max(1, BLOCK // systems)
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
