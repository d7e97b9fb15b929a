"""Kendall's tau-b of many short orders at once, without a loop over them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, borders, divide, positions, starts_of


def taus(first: Ints, second: Ints, segment: Ints, segments: int) -> Floats:
    """tau-b of each segment's elements, by two columns of ranks; equal ranks are ties.

    Parameters
    ----------
    first, second : array of int
        The ranks of each element on both sides, from 0 or more.
    segment : array of int
        The segment of each element, in any order.
    segments : int
        How many segments there are.

    Returns
    -------
    array
        NaN where a segment has fewer than two elements, or all of them are tied on one side.

    >>> ranks = np.array([1, 2, 3, 1, 2])
    >>> taus(ranks, np.array([1, 3, 2, 2, 1]), np.array([0, 0, 0, 1, 1]), 3)
    array([ 0.33333333, -1.        ,         nan])
    """
    order = _order(segment, first, second)
    first, second, segment = first[order], second[order], segment[order]
    sizes = np.bincount(segment, minlength=segments)
    every = _pairs(sizes)
    tied = _tied(borders(segment, first), segment, segments)
    tied_in_both = _tied(borders(segment, first, second), segment, segments)
    discordant, ordered = _inversions(second, sizes)
    tied_in_second = _tied(borders(segment, ordered), segment, segments)
    # Where elements are tied in the first column the second one ascends: these are no inversions.
    concordant = every - tied - tied_in_second + tied_in_both - discordant
    untied = np.sqrt(every - tied) * np.sqrt(every - tied_in_second)
    return np.clip(divide(concordant - discordant, untied), -1.0, 1.0)


def _order(segment: Ints, first: Ints, second: Ints) -> Ints:
    """The order by segment, first and second; the three in one number, where it can hold them."""
    widths = [int(each.max(initial=0)).bit_length() for each in (segment, first, second)]
    if sum(widths) > 62:
        return np.lexsort((second, first, segment))
    return np.argsort((segment << widths[1] | first) << widths[2] | second)


def _pairs(sizes: Ints) -> Floats:
    return sizes * (sizes - 1) / 2


def _tied(new: NDArray[np.bool_], segment: Ints, segments: int) -> Floats:
    """How many pairs of each segment are in the same run of equal elements."""
    if new.all():
        return np.zeros(segments)
    starts = np.flatnonzero(new)
    sizes = np.diff(np.append(starts, len(new)))
    return np.bincount(segment[starts], _pairs(sizes), segments).astype(np.float64)


def _inversions(values: Ints, lengths: Ints) -> tuple[Floats, Ints]:
    """How many pairs of each segment stand in descending order, and the values in ascending order;
    segments lie end to end.

    Segments of similar length are the rows of a padded matrix. Their blocks are merged two by two,
    all blocks of a width at once, as in merge sort.
    """
    found, ordered = np.zeros(len(lengths)), values.copy()
    starts = starts_of(lengths)
    size = np.ceil(np.log2(np.maximum(lengths, NARROW))).astype(np.int64)
    for bucket in np.unique(size[lengths > 1]):
        rows = np.flatnonzero((size == bucket) & (lengths > 1))
        step = max(1, (1 << 22) >> int(bucket))
        for begin in range(0, len(rows), step):
            some = rows[begin : begin + step]
            at = positions(starts[some], lengths[some])
            filled = np.arange(1 << bucket) < lengths[some][:, None]
            most = int(values[at].max())
            matrix = np.full(filled.shape, most + 1, np.int32 if most < 2**29 else np.int64)
            matrix[filled] = values[at]
            found[some], matrix = _merged(matrix)
            ordered[at] = matrix[filled]
    return found, ordered


NARROW = 16
"""Blocks so narrow are looked at pair by pair."""


def _merged(matrix: NDArray[Any]) -> tuple[Floats, NDArray[Any]]:
    """The inversions of each row of a matrix whose width is a power of two, and the rows sorted."""
    width = matrix.shape[1]
    narrow = matrix.reshape(len(matrix), -1, NARROW)
    found = np.zeros(len(matrix))
    for apart in range(1, NARROW):
        found += (narrow[..., :-apart] > narrow[..., apart:]).sum(axis=(1, 2))
    half = NARROW
    while half < width:
        # Of equal values the left one is first: they are no inversion.
        side = (np.arange(2 * half) >= half).astype(matrix.dtype)
        blocks = matrix.reshape(-1, 2 * half) * 2 + side
        blocks.sort(axis=1)
        right = blocks & 1
        left_after = half - np.cumsum(1 - right, axis=1)
        found += (left_after * right).sum(axis=1).reshape(len(matrix), -1).sum(axis=1)
        matrix = (blocks >> 1).reshape(len(matrix), width)
        half *= 2
    return found, matrix if width > NARROW else np.sort(matrix, axis=1)
