"""Fisher's randomisation test of paired differences: the signs of units flipped at random, or in
all ways, and the interval that belongs to it.

Flipping the signs of a set A of units turns the sum of all, S(A) + S(rest), into S(rest) - S(A).
That is at least as far from 0 exactly where S(A) and S(rest) have not the same sign: where 0 lies
between the mean over A and the mean over the rest. The same holds for any supposed difference t in
place of 0, so p(t) is the share of pairs (A, rest) with t between their two means. The pair of the
whole set and nothing, the flip that was not made, always counts.

Let t be below the mean of all. The greater of two means is not below the mean of all, so p(t)
counts the pairs whose lesser mean is at most t, and one more: with one at minus infinity for that
one, p(t) < alpha exactly where t is less than the c-th smallest of the lesser means, c being the
least count whose p is not below alpha. That is the lower end; the upper one mirrors it.
"""

from __future__ import annotations

import math

import numpy as np

from judged.arrays import Floats, Ints
from judged.errors import InputError
from judged.statistics.aggregates import CLOSE
from judged.statistics.resampling.inversion import least_count
from judged.statistics.resampling.subsets import Subsets, whole_numbers
from judged.statistics.tested import SMALLEST_P, Tested, below
from judged.statistics.units import numbered, unit_sums, unit_weights, weighed

EXACT = 40
"""With so many units that differ, or fewer, p is exact."""
MEMORY = 2**24
"""Bytes that the columns taken at once, and their sums over all subsets, may take each."""


def randomisation(
    columns: Floats,
    weights: Floats | None = None,
    groups: Ints | None = None,
    *,
    rounding: Floats | None = None,
    levels: tuple[float, ...] = (0.95,),
    resamples: int = 9_999,
    seed: int = 0,
) -> Tested:
    """Whether means of paired differences are 0, with intervals by inversion.

    p is exact while at most 40 units differ. Where there are no more ways to flip signs than
    `resamples`, all of them are taken, for the interval too. An end is infinite where so few units
    cannot bound the difference at that level; both are NaN where all units differ by the same, so
    that nothing shows how much they vary.

    Parameters
    ----------
    columns : array of shape (n queries, c pairs)
        Differences, finite.
    weights : array of shape (n,), optional
        How much each query counts, above 0.
    groups : array of int of shape (n,), optional
        The group of each query, from 0; a group is flipped as a whole.
    rounding : array of shape (n queries, c pairs), optional
        By how much each difference may be off, so that sums that are equal count as equal.
    levels : tuple of float, optional
        Levels of the intervals.
    resamples : int, optional
        How many random sets of units are flipped, each with its mirror image.
    seed : int, optional
        What the sets are drawn from.

    Returns
    -------
    Tested

    >>> tested = randomisation(np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]))
    >>> tested.p.tolist(), tested.low.tolist(), tested.high.tolist()
    ([0.03125], [[1.0]], [[6.0]])
    """
    groups = numbered(groups)
    counts = unit_weights(len(columns), weights, groups)
    pairs = columns.shape[1]
    p = np.full(pairs, np.nan)
    low, high = np.full((2, len(levels), pairs), np.nan)
    if len(counts):
        subsets = Subsets(len(counts), resamples, seed)
        step = max(1, MEMORY // (8 * max(len(columns), len(subsets))))
        for start in range(0, pairs, step):
            some = slice(start, start + step)
            sums = _sums(columns[:, some], weights, groups)
            off = np.zeros(sums.shape[1])
            if rounding is not None:
                off = weighed(rounding[:, some], weights).sum(axis=0)
            p[some], low[:, some], high[:, some] = _tested(sums, off, counts, subsets, levels)
    return Tested(p, low, high)


def exact_p(
    column: Floats,
    weights: Floats | None = None,
    groups: Ints | None = None,
    *,
    rounding: Floats | None = None,
) -> float:
    """The share of all ways to flip signs whose sum is at least as far from 0.

    Parameters
    ----------
    column : array of shape (n,)
        Differences, finite; at most 40 units differ, unless all that do have the same sign.
    weights, groups : optional
        As for `randomisation`.
    rounding : array of shape (n,), optional
        By how much each difference may be off.

    Returns
    -------
    float

    >>> exact_p(np.array([1.0, 2.0, -1.0]))
    0.75
    """
    numbers, exponents = whole_numbers(_sums(column[:, None], weights, numbered(groups)))
    off = 0.0 if rounding is None else weighed(rounding[:, None], weights).sum(axis=0)
    differing = numbers[numbers != 0]
    if len(differing) > EXACT and abs(differing.sum()) < np.abs(differing).sum():
        raise InputError(
            f"an exact p needs at most {EXACT} units that differ, or all of one sign; "
            f"{len(differing)} differ."
        )
    return _exact_p(differing, float(_tolerance(numbers, off, exponents)[0]))


def _sums(columns: Floats, weights: Floats | None, groups: Ints | None) -> Floats:
    """Units' sums of differences; 0 where only rounding makes a difference."""
    if not np.isfinite(columns).all():
        raise InputError("a randomisation test needs differences that are finite numbers.")
    sums = unit_sums(weighed(columns, weights), groups)
    size = np.abs(sums)
    return np.where(size > CLOSE * size.max(axis=0, initial=0.0), sums, 0.0)


def _tolerance(numbers: Floats, off: Floats | float, exponents: Ints) -> Floats:
    """By how much a sum over some of the units may be off, for each column: from adding up, and by
    as much as the differences themselves are."""
    return len(numbers) * 2.0**-52 * np.abs(numbers).sum(axis=0) + np.ldexp(off, -exponents)


def _tested(
    sums: Floats, off: Floats, counts: Floats, subsets: Subsets, levels: tuple[float, ...]
) -> tuple[Floats, Floats, Floats]:
    """p, lower and upper ends for some columns at once."""
    numbers, exponents = whole_numbers(sums)
    shares, share_exponent = whole_numbers(counts[:, None])
    both = np.concatenate([numbers, shares], axis=1)
    found, totals = subsets.sums(both), both.sum(axis=0)
    inside, outside = found[-1], totals[-1] - found[-1]
    size = len(subsets) + 1
    ranks = [int(least_count(lambda c: c / size, np.array(size), level)) for level in levels]
    proper = (inside > 0) & (outside > 0)
    p = np.empty(len(exponents))
    low, high = np.full((2, len(levels), len(exponents)), np.nan)
    for at, tolerance in enumerate(_tolerance(numbers, off, exponents)):
        means = [
            np.divide(_settled(some, tolerance), size, where=proper, out=np.zeros(len(found[at])))
            for some, size in ((found[at], inside), (totals[at] - found[at], outside))
        ]
        lesser = np.sort(np.where(proper, np.minimum(*means), -np.inf))
        greater = np.sort(np.where(proper, np.maximum(*means), np.inf))
        reached = 1 + min(
            np.searchsorted(lesser, 0.0, "right"),
            len(greater) - np.searchsorted(greater, 0.0),
        )
        p[at] = reached / (len(subsets) + 1)
        differing = numbers[numbers[:, at] != 0, at]
        if len(differing) <= EXACT and not subsets.all:
            p[at] = _exact_p(differing, tolerance)
        if _varies(sums[:, at], counts):
            mean = totals[at] / totals[-1]
            shown = [bool(below(p[at], level)) for level in levels]
            ends = [
                [_end(lesser, *given, mean) for given in zip(ranks, shown, strict=True)],
                [-_end(-greater[::-1], *given, -mean) for given in zip(ranks, shown, strict=True)],
            ]
            low[:, at], high[:, at] = np.ldexp(ends, exponents[at] - share_exponent)
    return p, low, high


def _settled(sums: Floats, tolerance: float) -> Floats:
    """Sums, 0 where they may be."""
    return np.where(np.abs(sums) <= tolerance, 0.0, sums)


def _varies(sums: Floats, counts: Floats) -> bool:
    """Whether units differ by more than rounding in how much they differ."""
    means = sums / counts
    return bool(np.ptp(means) > CLOSE * np.abs(means).max())


def _end(lesser: Floats, rank: int, shown: bool, mean: float) -> float:
    """The lower end: of the lesser means in ascending order and one at minus infinity, the one of
    this rank.

    An exact p and random subsets may have 0 on different sides of it. Then it gives way to the next
    of the means, that of all among them, on the side where p has it.
    """
    end = lesser[rank - 2] if rank > 1 else -np.inf
    upto = int(np.searchsorted(lesser, 0.0, "right"))
    if shown and mean > 0 and end <= 0:
        end = lesser[upto] if upto < len(lesser) else mean
    elif not shown and end > 0:
        end = lesser[upto - 1] if upto else -np.inf
    return float(end)


def _exact_p(differing: Floats, tolerance: float) -> float:
    """The share of all ways to flip the signs of whole numbers that reach their sum.

    Half of the units has 2**(n/2) subsets; with the sums of the other half's in order, bisection
    says for each how many of those keep the sum of both at 0 or below.
    """
    whole = differing.sum()
    if abs(whole) <= 2 * tolerance:
        return 1.0
    if whole < 0:
        differing = -differing
    if (differing > 0).all():
        return max(math.ldexp(1.0, 1 - len(differing)), SMALLEST_P)
    first, second = (_subset_sums(half) for half in (differing[::2], differing[1::2]))
    reached = np.searchsorted(second, tolerance - first[::-1], "right").sum()
    return math.ldexp(float(reached), 1 - len(differing))


def _subset_sums(numbers: Floats) -> Floats:
    """The sums of all subsets, in ascending order: two runs merged for each number."""
    sums = np.zeros(1)
    for number in numbers:
        sums = np.sort(np.concatenate([sums, sums + number]), kind="stable")
    return sums
