"""Fisher's randomisation test of paired differences, with its confidence interval.

Flipping the signs of a set A of units turns the sum S(A) + S(rest) into S(rest) - S(A). That is at
least as far from 0 exactly where 0 lies between the mean over A and the mean over the rest. The
same holds for any supposed difference t instead of 0. So p(t) is the share of pairs (A, rest) with
t between their two means; the pair of the whole and the empty set always counts.

Let t be below the mean of all. Then p(t) counts the pairs whose lesser mean is at most t, and one
more. So p(t) < alpha exactly where t is less than the c-th smallest of the lesser means, after one
at minus infinity, with c the least count whose p is not below alpha. That is the lower end; the
upper end mirrors it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, one_thread_each
from judged.errors import InputError
from judged.statistics.bootstrap import least_count
from judged.statistics.samples import CLOSE, numbered, unit_sums, unit_weights, weighed
from judged.statistics.t import SMALLEST_P, Tested, Tukey, below

EXACT_UNITS = 40
"""Up to this number of differing units, p is exact."""
BYTES_AT_ONCE = 2**24
"""Bytes of the columns that are tested at once, and of their sums over all subsets."""


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
    """Test whether means of paired differences are 0, with intervals by inversion."""
    # p is exact while at most 40 units differ. If there are no more ways to flip signs than
    # `resamples`, all are taken. An end is infinite if the units are too few for the level; both
    # are NaN if all units differ by the same. `rounding` holds the possible rounding error of each
    # difference.
    groups = numbered(groups)
    counts = unit_weights(len(columns), weights, groups)
    pairs = columns.shape[1]
    p = np.full(pairs, np.nan)
    low, high = np.full((2, len(levels), pairs), np.nan)
    if len(counts):
        subsets = Subsets(len(counts), resamples, seed)
        step = max(1, BYTES_AT_ONCE // (8 * max(len(columns), len(subsets))))
        for start in range(0, pairs, step):
            some = slice(start, start + step)
            sums = _sums(columns[:, some], weights, groups)
            off = np.zeros(sums.shape[1])
            if rounding is not None:
                off = weighed(rounding[:, some], weights).sum(axis=0)
            p[some], low[:, some], high[:, some] = _test_columns(sums, off, counts, subsets, levels)
    return Tested(p, low, high)


def exact_p(
    column: Floats,
    weights: Floats | None = None,
    groups: Ints | None = None,
    *,
    rounding: Floats | None = None,
) -> float:
    """Compute the share of all sign flips whose sum is as far from 0; for 40 units or one sign."""
    numbers, exponents = whole_numbers(_sums(column[:, None], weights, numbered(groups)))
    off = 0.0 if rounding is None else weighed(rounding[:, None], weights).sum(axis=0)
    differing = numbers[numbers != 0]
    if len(differing) > EXACT_UNITS and abs(differing.sum()) < np.abs(differing).sum():
        raise InputError(
            f"an exact p needs at most {EXACT_UNITS} units that differ, or all of one sign; "
            f"{len(differing)} differ."
        )
    return _exact_p(differing, float(_tolerance(numbers, off, exponents)[0]))


def _sums(columns: Floats, weights: Floats | None, groups: Ints | None) -> Floats:
    """Add up the differences of each unit; 0 where only rounding makes a difference."""
    if not np.isfinite(columns).all():
        raise InputError("a randomisation test needs differences that are finite numbers.")
    sums = unit_sums(weighed(columns, weights), groups)
    size = np.abs(sums)
    return np.where(size > CLOSE * size.max(axis=0, initial=0.0), sums, 0.0)


def _tolerance(numbers: Floats, off: Floats | float, exponents: Ints) -> Floats:
    """Bound the rounding error of a sum over some of the units, for each column."""
    return len(numbers) * 2.0**-52 * np.abs(numbers).sum(axis=0) + np.ldexp(off, -exponents)


def _test_columns(
    sums: Floats, off: Floats, counts: Floats, subsets: Subsets, levels: tuple[float, ...]
) -> tuple[Floats, Floats, Floats]:
    """Return p, lower and upper ends of some columns."""
    numbers, exponents = whole_numbers(sums)
    shares, share_exponent = whole_numbers(counts[:, None])
    both = np.concatenate([numbers, shares], axis=1)
    parts, totals = subsets.sums(both), both.sum(axis=0)
    inside, outside = parts[-1], totals[-1] - parts[-1]
    size = len(subsets) + 1
    ranks = [int(least_count(lambda c: c / size, np.array(size), level)) for level in levels]
    proper = (inside > 0) & (outside > 0)
    p = np.empty(len(exponents))
    low, high = np.full((2, len(levels), len(exponents)), np.nan)
    for column, tolerance in enumerate(_tolerance(numbers, off, exponents)):
        means = [
            np.divide(
                _settle(some, tolerance), size, where=proper, out=np.zeros(len(parts[column]))
            )
            for some, size in ((parts[column], inside), (totals[column] - parts[column], outside))
        ]
        lesser = np.sort(np.where(proper, np.minimum(*means), -np.inf))
        greater = np.sort(np.where(proper, np.maximum(*means), np.inf))
        reached = 1 + min(
            np.searchsorted(lesser, 0.0, "right"), len(greater) - np.searchsorted(greater, 0.0)
        )
        p[column] = reached / (len(subsets) + 1)
        differing = numbers[numbers[:, column] != 0, column]
        if len(differing) <= EXACT_UNITS and not subsets.all:
            p[column] = _exact_p(differing, tolerance)
        unit_means = sums[:, column] / counts
        if np.ptp(unit_means) > CLOSE * np.abs(unit_means).max():
            mean = totals[column] / totals[-1]
            shown = [bool(below(p[column], level)) for level in levels]
            ends = [
                [_end(lesser, *pair, mean) for pair in zip(ranks, shown, strict=True)],
                [-_end(-greater[::-1], *pair, -mean) for pair in zip(ranks, shown, strict=True)],
            ]
            low[:, column], high[:, column] = np.ldexp(ends, exponents[column] - share_exponent)
    return p, low, high


def _settle(sums: Floats, tolerance: float) -> Floats:
    return np.where(np.abs(sums) <= tolerance, 0.0, sums)


def _end(lesser: Floats, rank: int, shown: bool, mean: float) -> float:
    """Return the lower end: the one of this rank among the lesser means and minus infinity."""
    # An exact p and random subsets may put 0 on different sides of it. Then the next mean on the
    # side that p indicates replaces it.
    end = lesser[rank - 2] if rank > 1 else -np.inf
    upto = int(np.searchsorted(lesser, 0.0, "right"))
    if shown and mean > 0 and end <= 0:
        end = lesser[upto] if upto < len(lesser) else mean
    elif not shown and end > 0:
        end = lesser[upto - 1] if upto else -np.inf
    return float(end)


def _exact_p(differing: Floats, tolerance: float) -> float:
    """Return the share of all ways to flip the signs of whole numbers that reach their sum."""
    # Each half of the units has 2**(n/2) subsets. With the sums of one half in order, bisection
    # counts for each sum of the other half how many keep the total at 0 or below.
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
    """Return the sums of all subsets in ascending order."""
    sums = np.zeros(1)
    for number in numbers:
        sums = np.sort(np.concatenate([sums, sums + number]), kind="stable")
    return sums


ROWS, WIDTH = 512, 1024
"""Subsets and units of a tile, so that its bits as floats fit into a cache. Draws come tile by
tile, so these numbers are part of what a seed means."""
WORD = 64
FEWEST_COLUMNS = 3
"""Up to this number, columns are multiplied one by one: products with so thin a matrix are slow."""


@dataclass(frozen=True)
class Subsets:
    """Subsets of units, each of which represents its complement too: random ones, or all."""

    # The pair of the empty and the whole set is not drawn; callers that count pairs add it.

    units: int
    resamples: int
    seed: int

    @property
    def all(self) -> bool:
        """True if every pair of a subset and its complement is included, once."""
        return self.units <= WORD and 2 ** (self.units - 1) - 1 <= self.resamples

    def __len__(self) -> int:
        return 2 ** (self.units - 1) - 1 if self.all else self.resamples

    def sums(self, numbers: Floats) -> Floats:
        """Add up each column over each subset: a row per column."""
        sums = np.zeros((numbers.shape[1], len(self)))
        tile = np.empty((ROWS, WIDTH))
        # Products of one tile are so small that threads of BLAS would mostly wait for each other.
        with one_thread_each():
            for first, start, bits in self._tiles():
                rows, width = bits.shape
                of = tile[:rows, :width]
                np.copyto(of, bits)
                into = sums[:, first : first + rows]
                part = numbers[start : start + width]
                if len(sums) > FEWEST_COLUMNS:
                    into += (of @ part).T
                else:
                    for row, column in zip(into, part.T, strict=True):
                        row += of @ column
        return sums

    def _tiles(self) -> Iterator[tuple[int, int, NDArray[np.uint8]]]:
        """Yield the first subset, the first unit and the bits of each tile."""
        source = np.random.PCG64(self.seed)
        for first in range(0, len(self), ROWS):
            rows = min(ROWS, len(self) - first)
            for start in range(0, self.units, WIDTH):
                width = min(WIDTH, self.units - start)
                words = -(-width // WORD)
                if self.all:
                    drawn = np.arange(first + 1, first + 1 + rows, dtype=np.uint64)
                else:
                    drawn = source.random_raw(rows * words)
                octets = drawn.astype("<u8").view(np.uint8).reshape(rows, -1)
                yield first, start, np.unpackbits(octets, axis=1, count=width, bitorder="little")


def whole_numbers(columns: Floats) -> tuple[Floats, Ints]:
    """Columns as whole numbers times a power of two each, and its exponent."""
    # The numbers of a column and so all sums of any of them are below 2**53, hence exact and the
    # same in any order, by any BLAS and with any number of threads. A sum is off by no more than n
    # * 2**-52 times the sum of all absolute values, about what adding up floats may cost.
    _, size = np.frexp(np.abs(columns).max(axis=0))
    scaled = np.ldexp(columns, -size)
    _, more = np.frexp(np.abs(scaled).sum(axis=0))
    return np.rint(np.ldexp(scaled, 52 - more)), size + more - 52


FAR = 1e-9
"""scipy's studentised range has no more digits: smaller p values come from pairs alone."""


def tukey(values: Floats, levels: Sequence[float] = (0.95,)) -> Tukey:
    """Test all pairs in the two-way layout, with queries as blocks."""
    # With MS the residual mean square, the studentised range of m systems and (n - 1)(m - 1)
    # degrees of freedom judges |difference|/√(MS/n). It assumes that all pairs vary alike. For two
    # systems it is the paired t test. `values` has a row per query and a column per system, all
    # finite.
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
    pair_p = np.clip(studentized_range.sf(ranges, m, freedom), alone, any_pair)
    pair_p = np.where(pair_p < FAR, any_pair, pair_p)
    rising = np.argsort(ranges, kind="stable")
    pair_p[rising] = np.minimum.accumulate(pair_p[rising])
    p = np.ones((m, m))
    p[order[rows], order[columns]] = p[order[columns], order[rows]] = pair_p
    apart = apart[np.ix_(np.argsort(order), np.argsort(order))]
    half = []
    for level in levels:
        # Exactly the differences of significant pairs exceed the half width.
        counts = below(p, level)
        least = np.nextafter(apart[counts].min(), 0) if counts.any() else np.inf
        width = float(studentized_range.ppf(level, m, freedom)) * error
        half.append(float(np.clip(width, apart[~counts].max(), least)))
    return Tukey(p, np.array(half))


PLACES_PER_BLOCK = 2**15
"""Places of systems drawn at once; part of what a seed means."""


def randomised_tukey(
    values: Floats, levels: tuple[float, ...] = (0.95,), resamples: int = 9_999, seed: int = 0
) -> Tukey:
    """Test all pairs by permuting values within queries."""
    # Each resample permutes the systems' values within every query and keeps the range of their
    # means. p of a pair counts the ranges that reach its difference, and one more. `values` has a
    # row per query and a column per system. If no query separates any two systems, p is 1 and the
    # half width NaN. It is infinite if the resamples are too few for the level.
    if not np.isfinite(values).all():
        raise InputError("randomised Tukey needs values that are finite numbers.")
    queries, systems = values.shape
    # In an order of their own, so that it does not matter in which the systems come.
    order = np.lexsort(values[::-1])
    numbers, exponent = whole_numbers(values[:, order].reshape(-1, 1))
    table = numbers.reshape(values.shape)
    means = table.sum(axis=0)
    close = CLOSE * queries * np.abs(table).max()
    differences = np.abs(means[:, None] - means) - close
    ranges = np.sort(_ranges(table, resamples, seed))
    size = resamples + 1
    p = np.empty((systems, systems))
    p[order[:, None], order] = (1 + resamples - np.searchsorted(ranges, differences)) / size
    ranks = [int(least_count(lambda c: c / size, np.array(size), level)) for level in levels]
    half = np.array([ranges[1 - rank] if rank > 1 else np.inf for rank in ranks]) + close
    if np.ptp(table, axis=1).max() <= close / queries:
        half[:] = np.nan
    return Tukey(p, np.ldexp(half, exponent) / queries)


def _ranges(table: Floats, resamples: int, seed: int) -> Floats:
    """Compute the range of the systems' sums after each permutation within queries."""
    systems = table.shape[1]
    ranges = np.empty(resamples)
    source = np.random.PCG64(seed)
    rows = max(1, PLACES_PER_BLOCK // systems)
    last = np.uint64(2 ** (systems - 1).bit_length() - 1)
    for start in range(0, resamples, rows):
        some = min(rows, resamples - start)
        sums = np.zeros((some, systems))
        for values in table:
            keys = source.random_raw(some * systems).reshape(some, systems)
            keys &= ~last
            keys |= np.arange(systems, dtype=np.uint64)
            keys.sort(axis=1)
            keys &= last
            sums += values[keys.view(np.int64)]
        ranges[start : start + some] = np.ptp(sums, axis=1)
    return ranges
