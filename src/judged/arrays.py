"""Compute on flat arrays cut into segments, one segment per query, without Python loops.

Segment s of `values` is `values[starts[s] : starts[s] + lengths[s]]`. Segments may have any length,
none included.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Number = TypeVar("Number", bound=np.generic)


def borders(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether each element begins a run of equal ones, in all of the columns at once.

    >>> borders(np.array([1, 1, 2, 2]), np.array([5, 5, 5, 6])).tolist()
    [True, False, True, True]
    """
    new = np.zeros(len(columns[0]), bool)
    new[:1] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new


def each_once(values: NDArray[Number]) -> NDArray[Number]:
    """Each value once, in ascending order; numpy's own `unique` loads its masked arrays first.

    >>> each_once(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(values)
    return ordered[borders(ordered)]


def divide(part: Floats, whole: Floats) -> Floats:
    """part / whole, NaN where whole is 0.

    >>> divide(np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist()
    [0.5, nan]
    """
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole != 0)


def needed(share: float, whole: Floats) -> Floats:
    """Return how many items make up at least this share of a whole.

    >>> needed(0.28, np.array([25.0, 26.0])).tolist()
    [7.0, 8.0]
    """
    product = share * whole
    # 0.28 * 25 is 7.000000000000001 in binary: a whole number must not be rounded up.
    slack = np.maximum(1e-9 * np.minimum(product, 1), 4 * np.finfo(np.float64).eps * product)
    nearest = np.rint(product)
    return np.where(np.abs(product - nearest) <= slack, nearest, np.ceil(product))


def starts_of(lengths: Ints) -> Ints:
    """Return the starts of segments of these lengths, laid end to end."""
    return np.cumsum(lengths) - lengths


def positions(starts: Ints, lengths: Ints) -> Ints:
    """All positions of some segments, segment after segment.

    >>> positions(np.array([10, 0]), np.array([2, 3])).tolist()
    [10, 11, 0, 1, 2]
    """
    return np.repeat(starts - starts_of(lengths), lengths) + np.arange(lengths.sum())


def ordinals(segment: Ints, segments: int) -> Ints:
    """Return the place of each element in its segment, from 1; `segment` must be ascending.

    >>> ordinals(np.array([0, 0, 2, 2, 2]), 3).tolist()
    [1, 2, 1, 2, 3]
    """
    counts = np.bincount(segment, minlength=segments)
    return np.arange(1, len(segment) + 1) - starts_of(counts)[segment]


def descending(values: Floats, lengths: Ints) -> Floats:
    """Sort every segment in descending order, where it is not sorted already.

    Segments lie end to end. The result is `values` itself where nothing was out of order.
    """
    wrong = values[1:] > values[:-1]
    starts = starts_of(lengths)
    inner = starts[(starts > 0) & (starts < len(values))]
    wrong[inner - 1] = False
    at = np.flatnonzero(wrong)
    if not len(at):
        return values
    unsorted = each_once(np.searchsorted(starts + lengths, at, side="right"))
    return by_rows(values, starts[unsorted], lengths[unsorted], _sort_descending, padding=-np.inf)


def _sort_descending(rows: Floats) -> Floats:
    np.negative(rows, out=rows)
    rows.sort(axis=1)
    np.negative(rows, out=rows)
    return rows


def order_in_segments(segment: Ints, values: NDArray[Any]) -> Ints:
    """Return the order by segment, and by ascending value within each segment.

    >>> order_in_segments(np.array([1, 0, 1]), np.array([0.5, 0.7, 0.2])).tolist()
    [1, 2, 0]
    """
    # Plain numbers are sorted in a tenth of the time that two keys take.
    order = np.argsort(values)
    key = (segment[order] << 32) + np.arange(len(order))
    key.sort()
    return order[key & 0xFFFFFFFF]


def products_before(values: Floats, lengths: Ints) -> Floats:
    """Return the product of all values before each one in its segment; 1 for the first.

    >>> products_before(np.array([0.5, 0.5, 0.5, 0.1]), np.array([3, 1])).tolist()
    [1.0, 0.5, 0.25, 1.0]
    """

    def shifted_product(rows: Floats) -> Floats:
        return np.multiply.accumulate(np.hstack([np.ones((len(rows), 1)), rows[:, :-1]]), axis=1)

    return by_rows(values, starts_of(lengths), lengths, shifted_product, padding=1.0)


def running_sums(values: Floats, lengths: Ints) -> Floats:
    """Return the running sum within each segment.

    >>> running_sums(np.array([1.0, 2.0, 4.0]), np.array([2, 1])).tolist()
    [1.0, 3.0, 4.0]
    """

    def summed(rows: Floats) -> Floats:
        return np.add.accumulate(rows, axis=1)

    return by_rows(values, starts_of(lengths), lengths, summed, padding=0.0)


def greatest_from_here(values: Floats, lengths: Ints) -> Floats:
    """Return the greatest value from each one to the end of its segment.

    >>> greatest_from_here(np.array([0.1, 0.3, 0.2, 0.1]), np.array([3, 1])).tolist()
    [0.3, 0.3, 0.2, 0.1]
    """

    def running_maximum(rows: Floats) -> Floats:
        backwards: Floats = np.maximum.accumulate(rows[:, ::-1], axis=1)
        return backwards[:, ::-1]

    return by_rows(values, starts_of(lengths), lengths, running_maximum, padding=-np.inf)


def by_rows(
    values: Floats,
    starts: Ints,
    lengths: Ints,
    function: Callable[[Floats], Floats],
    *,
    padding: float,
) -> Floats:
    """Apply a function to some segments, as the rows of padded matrices.

    Segments of similar length share a matrix, so that at most half of it is padding, and each
    segment is computed on its own: nothing carries over from one query to the next, rounding
    included.
    """
    result = values.copy()
    size = np.ceil(np.log2(np.maximum(lengths, 1))).astype(np.int64)
    for bucket in each_once(size[lengths > 0]):
        rows = np.flatnonzero((size == bucket) & (lengths > 0))
        step = max(1, (1 << 22) >> int(bucket))
        for begin in range(0, len(rows), step):
            some = rows[begin : begin + step]
            at = positions(starts[some], lengths[some])
            filled = np.arange(lengths[some].max()) < lengths[some][:, None]
            matrix = np.full(filled.shape, padding)
            matrix[filled] = values[at]
            result[at] = function(matrix)[filled]
    return result


def count_above(
    ordered: NDArray[Any],
    starts: Ints,
    lengths: Ints,
    segment: Ints,
    value: NDArray[Any],
    *,
    or_equal: bool,
) -> Ints:
    """Count the elements of each value's segment that are greater (or equal), by bisection.

    `ordered` holds descending segments; the search runs for all values at once, some log2(longest
    segment) steps.
    """
    count = np.zeros(len(segment), np.int64)
    bits = int(lengths[segment].max(initial=0)).bit_length()
    above = np.greater_equal if or_equal else np.greater
    for begin in range(0, len(segment), _IN_CACHE):
        own, sought = segment[begin : begin + _IN_CACHE], value[begin : begin + _IN_CACHE]
        before = starts[own] - 1
        last, at = before + lengths[own], before.copy()
        for bit in reversed(range(bits)):
            trial = at + (1 << bit)
            further = above(ordered.take(trial, mode="clip"), sought)
            further &= trial <= last
            np.copyto(at, trial, where=further)
        count[begin : begin + _IN_CACHE] = at - before
    return count


_IN_CACHE = 1 << 15
"""Number of values searched for at a time, so that intermediate arrays stay in the cache."""


def counts_before(which: NDArray[np.bool_], segment: Ints, segments: int) -> Ints:
    """Count marked elements before each one in its segment; `segment` must be ascending.

    >>> counts_before(np.array([True, False, True, True]), np.array([0, 0, 0, 1]), 2).tolist()
    [0, 1, 1, 0]
    """
    running: Ints = np.cumsum(which, dtype=np.int64) - which
    lengths = np.bincount(segment, minlength=segments)
    first = np.minimum(starts_of(lengths), max(len(which) - 1, 0))
    return running - running[first][segment] if len(which) else running


def along(function: Callable[[Floats], Floats], rank: Floats) -> Floats:
    """Compute a function of ranks (whole numbers from 0, or infinity) once for each rank.

    Ranks repeat from query to query, so a table is shorter than they are many; where it would not
    be, there is none.

    >>> along(np.sqrt, np.array([4.0, 1.0, 4.0, 4.0, 1.0, np.inf])).tolist()
    [2.0, 1.0, 2.0, 2.0, 1.0, inf]
    """
    last = float(np.max(rank, where=np.isfinite(rank), initial=0))
    if last + 2 > len(rank):
        return function(rank)
    table = function(np.append(np.arange(last + 1), np.inf))
    return table[np.minimum(rank, last + 1).astype(np.int64)]


_lock = threading.Lock()
_within = 0
_limits: Any = None


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Keep BLAS from having threads of its own until the last of all that are within has left.

    The number of its threads belongs to the whole process: were each to set it back to what it
    found, one that came while another was within would set it back to one, for ever.
    """
    global _within, _limits
    with _lock:
        if not _within:
            from threadpoolctl import threadpool_limits

            _limits = threadpool_limits(1, user_api="blas")
        _within += 1
    try:
        yield
    finally:
        with _lock:
            _within -= 1
            if not _within:
                _limits.restore_original_limits()
