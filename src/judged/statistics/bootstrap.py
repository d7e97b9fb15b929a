"""The bootstrap over queries or groups: percentile and BCa intervals, and p values by inversion.

All numbers are resampled together. A matrix counts how often each unit was drawn; it is multiplied
with the columns of all numbers. A pair is the difference of its numbers on the same resamples.

With q = c / (B + 1) the share of resamples up to the c-th smallest, BCa excludes what is below it
at 1 - alpha where alpha / 2 is above Phi(w / (1 + a w) - z), with w = Phi^-1(q) - z. z is the bias
and a the acceleration. With both 0 this is q itself, the percentile interval. So p(c) is twice
that, where c counts the resamples that reach 0, and one more. The lower end is the c-th smallest,
after one at minus infinity, for the least c whose p is not below alpha.

For units of uneven weight, percentiles lie further out (Hesterberg's expanded percentile interval).
With e the effective number (Kish), Student's t of e - 1 degrees of freedom replaces Phi, and
Phi^-1(q) is divided by sqrt(e / (e - 1)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from judged.arrays import Floats, Ints, one_thread_each
from judged.errors import InputError
from judged.statistics.samples import (
    CLOSE,
    Means,
    Median,
    Sample,
    effective_units,
    is_uneven,
    number_of_units,
    numbered,
    relative,
    unit_sums,
    unit_weights,
    weighed,
)
from judged.statistics.t import Tested, below, t_tail

BYTES_AT_ONCE = 2**25
"""Bytes of the columns and resamples that are computed at once."""
Bundle = tuple[Sample, ...]
"""A sample, or two whose difference is meant."""


def bootstrap(
    bundles: Sequence[Bundle],
    groups: Ints | None = None,
    *,
    levels: tuple[float, ...] = (0.95,),
    method: str = "percentile",
    resamples: int = 9_999,
    seed: int = 0,
) -> Tested:
    """Compute intervals of numbers over the same queries, or of differences, and p by inversion."""
    # A bundle is one sample, or two whose difference is meant: the first minus the second. `groups`
    # are drawn as a whole. `method` is "percentile" or, for means of units of equal weight, "bca".
    # An end is infinite if the resamples are too few for the level. Both are NaN if all resamples
    # of a number are equal.
    # Two infinite numbers differ by 0. If all resamples give a difference of 0, p is 1 and there is
    # no interval. If all give another difference, the interval is a point, and p the smallest
    # possible.
    if method == "bca" and any(isinstance(one, Median) for bundle in bundles for one in bundle):
        raise InputError(
            "a median has no BCa interval: leaving out one query hardly moves it. "
            "Take the percentile interval."
        )
    units = numbered(groups)
    parts = [
        _test_bundles(some, units, levels, method, resamples, seed)
        for some in _portions(bundles, resamples)
    ]
    if not parts:
        return Tested(np.empty(0), np.empty((len(levels), 0)), np.empty((len(levels), 0)))
    p, low, high = (np.concatenate(columns, axis=-1) for columns in zip(*parts, strict=True))
    return Tested(p, low, high)


def _portions(bundles: Sequence[Bundle], resamples: int) -> Iterator[Sequence[Bundle]]:
    """Cut bundles into portions whose columns and resamples fit into memory."""
    start = size = 0
    for number, bundle in enumerate(bundles):
        wide = sum((one.values if isinstance(one, Median) else one.columns).size for one in bundle)
        more = 8 * (wide + resamples * len(bundle))
        if number > start and size + more > BYTES_AT_ONCE:
            yield bundles[start:number]
            start, size = number, 0
        size += more
    if start < len(bundles):
        yield bundles[start:]


def _test_bundles(
    bundles: Sequence[Bundle],
    groups: Ints | None,
    levels: tuple[float, ...],
    method: str,
    resamples: int,
    seed: int,
) -> tuple[Floats, Floats, Floats]:
    """Return p, lower and upper ends of some bundles."""
    samples = list({id(one): one for bundle in bundles for one in bundle}.values())
    freedom = _freedom(samples[0], groups)
    place = {id(one): number for number, one in enumerate(samples)}
    numbers = resampled(samples, groups, resamples, seed)
    spreads = [
        _Resamples.of(numbers[[place[id(one)] for one in bundle]], bundle) for bundle in bundles
    ]
    steady = np.array([spread.steady for spread in spreads])
    nothing = np.array([spread.nothing for spread in spreads])
    shift = skew = np.zeros(len(bundles))
    if method == "bca" and freedom is None:
        shift = np.where(steady, 0.0, [spread.shift for spread in spreads])
        skew = np.where(steady, 0.0, [_skew(bundle, groups) for bundle in bundles])
    reached = np.array([spread.reached(0.0) for spread in spreads])
    p_of: tuple[Callable[[Ints], Floats], ...] = (
        partial(_p_of, resamples=resamples, shift=shift, skew=skew, freedom=freedom),
        partial(_p_of, resamples=resamples, shift=-shift, skew=-skew, freedom=freedom),
    )
    p = np.minimum(p_of[0](1 + reached[:, 0]), p_of[1](1 + reached[:, 1]))
    p = np.where(nothing, 1.0, p)
    p[[np.isnan(spread.value) or not len(spread.ordered) for spread in spreads]] = np.nan
    ends = np.empty((2, len(levels), len(bundles)))
    for row, level in enumerate(levels):
        for side, one_of in enumerate(p_of):
            ranks = least_count(one_of, np.full(len(bundles), resamples + 1), level)
            ends[side, row] = [
                spread.end(rank, upper=bool(side))
                for spread, rank in zip(spreads, ranks, strict=True)
            ]
    alone = np.array([len(bundle) == 1 for bundle in bundles])
    unknown = np.where(alone, steady, nothing) | np.isnan(p)
    low, high = np.where(unknown, np.nan, ends)
    return p, low, high


def _freedom(sample: Sample, groups: Ints | None) -> float | None:
    """Return the degrees of freedom of units of uneven weight; None for equal weights."""
    if not is_uneven(len(sample), sample.weights, groups):
        return None
    return effective_units(len(sample), sample.weights, groups) - 1


def smallest_p(resamples: int, sample: Sample, groups: Ints | None) -> float:
    """Return the smallest p that this number of resamples allows, by percentiles."""
    nothing = np.zeros(1)
    freedom = _freedom(sample, groups)
    return float(_p_of(np.ones(1, np.int64), resamples, nothing, nothing, freedom)[0])


def _p_of(
    counts: Ints, resamples: int, shift: Floats, skew: Floats, freedom: float | None
) -> Floats:
    """Return p where this number of resamples, and one more, are on the other side of 0."""
    from scipy.special import ndtr, ndtri

    share = counts / (resamples + 1)
    if freedom is not None:
        if not freedom > 0:
            return np.ones(np.shape(share))
        away = ndtri(np.minimum(share, 0.5)) * np.sqrt(freedom / (freedom + 1))
        return 2 * t_tail(-away, np.full(np.shape(share), freedom))
    if not shift.any() and not skew.any():
        return np.minimum(2 * share, 1.0)
    with np.errstate(all="ignore"):
        away = ndtri(share) - shift
        slope = 1 + skew * away
        z = np.where(slope > 0, away / slope, np.copysign(np.inf, away)) - shift
    p = np.clip(2 * ndtr(np.where(share < 1, z, np.inf)), 1 / (resamples + 1), 1.0)
    return np.where(np.isfinite(shift) & np.isfinite(skew), p, np.nan)


def _difference(rows: Floats) -> Floats:
    """Subtract the second row from the first; infinite numbers of one sign are equal."""
    if len(rows) == 1:
        return rows[0]
    first, second = rows
    with np.errstate(invalid="ignore"):
        return np.where(first == second, 0.0, first - second)


def _skew(bundle: Bundle, groups: Ints | None) -> float:
    """Compute the acceleration by leaving out one unit at a time; NaN if nothing varies."""
    numbers = np.stack([left_out(one, groups) for one in bundle if isinstance(one, Means)])
    without = _difference(numbers)
    away = without.mean() - without
    largest = np.abs(away).max()
    if not largest > CLOSE * np.abs(numbers).max():
        return np.nan
    away /= largest
    return float((away**3).sum() / (6 * (away**2).sum() ** 1.5))


@dataclass(frozen=True, eq=False)
class _Resamples:
    """A number or a difference over resamples."""

    ordered: Floats  # ascending, without undefined ones
    undefined: int
    """The number of resamples that leave it undefined. They count as beyond any bound."""
    value: float  # the number on the queries as they are
    close: float  # the distance up to which numbers are equal but for rounding

    @classmethod
    def of(cls, numbers: Floats, bundle: Bundle) -> _Resamples:
        """Order the numbers of one sample, or the differences of two."""
        size = np.abs(numbers)
        close = CLOSE * float(size.max(initial=0.0, where=np.isfinite(size)))
        ordered = np.sort(_difference(numbers))
        defined = len(ordered) - int(np.isnan(ordered).sum())
        with np.errstate(all="ignore"):
            value = float(_difference(np.array([[one.value()] for one in bundle]))[0])
        return cls(ordered[:defined], len(ordered) - defined, value, close)

    @property
    def steady(self) -> bool:
        """True if all resamples are equal, or none is defined."""
        if not len(self.ordered):
            return True
        first, last = self.ordered[0], self.ordered[-1]
        return bool(first == last or last - first <= self.close)

    @property
    def nothing(self) -> bool:
        """True if all resamples are 0."""
        return len(self.ordered) > 0 and bool(np.abs(self.ordered[[0, -1]]).max() <= self.close)

    @property
    def shift(self) -> float:
        """BCa's z0: the place of the value among the resamples, as a normal quantile."""
        from scipy.special import ndtri

        if self.steady or np.isnan(self.value):
            return np.nan
        upto, since = self.reached(self.value)
        more = upto - since
        # From the smaller side, so that runs that are swapped have it with the other sign.
        away = ndtri((len(self.ordered) - abs(more)) / 2 / len(self.ordered))
        return float(-away if more > 0 else away)

    def reached(self, bound: float) -> tuple[int, int]:
        """Count the resamples that are at most this, and at least this; undefined ones are both."""
        upto = int(np.searchsorted(self.ordered, bound + self.close, "right"))
        before = int(np.searchsorted(self.ordered, bound - self.close))
        return upto + self.undefined, len(self.ordered) - before + self.undefined

    def end(self, rank: int, *, upper: bool) -> float:
        """Return the resample of this rank, after one that is infinite and the undefined ones."""
        place = rank - 2 - self.undefined
        if place < 0:
            return np.inf if upper else -np.inf
        if self.steady:
            return self.value
        resample = float(self.ordered[-1 - place if upper else place])
        return 0.0 if abs(resample) <= self.close else resample


def least_count(p_of: Callable[[Ints], Floats], counts: Ints, level: float) -> Ints:
    """Find the least count from 1 whose p, which never falls, is not below 1 - level."""
    low, high = np.ones_like(counts), counts
    while (low < high).any():
        middle = (low + high) // 2
        less = below(p_of(middle), level) & (low < high)
        low, high = np.where(less, middle + 1, low), np.where(less, high, middle)
    return low


NUMBERS_PER_BLOCK = 2**22
"""Values of a median that are counted at once."""


def median_of(sample: Median, groups: Ints | None) -> Callable[[Floats], Floats]:
    """Return a function from counts of draws, a row per resample, to medians."""
    order = np.argsort(sample.values, kind="stable")
    values, owner = sample.values[order], sample.owner[order]
    units = owner if groups is None else groups[owner]
    shares = relative(sample.weights)

    def medians(counts: Floats) -> Floats:
        found = np.full(len(counts), np.nan)
        step = max(1, NUMBERS_PER_BLOCK // max(len(values), 1))
        for start in range(0, len(counts) if len(values) else 0, step):
            drawn = np.take(counts[start : start + step], units, axis=1)
            upto = np.cumsum(drawn if shares is None else drawn * shares[owner], axis=1)
            half = upto[:, -1:] / 2
            low = values[np.argmax(upto >= half * (1 - CLOSE), axis=1)]
            high = values[np.argmax(upto > half * (1 + CLOSE), axis=1)]
            found[start : start + step] = np.where(half[:, 0] > 0, (low + high) / 2, np.nan)
        return found

    return medians


COUNTS_PER_BLOCK = 2**18
"""The number of counts of a block of resamples, so that they stay in a cache."""


def resampled(samples: Sequence[Sample], groups: Ints | None, resamples: int, seed: int) -> Floats:
    """Compute each sample's number on each resample: a row per sample."""
    means = [(number, one) for number, one in enumerate(samples) if isinstance(one, Means)]
    medians = [
        (number, median_of(one, groups))
        for number, one in enumerate(samples)
        if isinstance(one, Median)
    ]
    table, places = _table([one for _, one in means], groups) if means else (np.empty(0), [])
    numbers = np.empty((len(samples), resamples))
    units = number_of_units(len(samples[0]), groups)
    # Products of one block are so small that threads of BLAS would mostly wait for each other.
    with one_thread_each(), np.errstate(all="ignore"):
        for start, counts in _counts(units, resamples, seed):
            rows = slice(start, start + len(counts))
            sums = counts @ table if means else counts
            for (number, one), (columns, weight) in zip(means, places, strict=True):
                numbers[number, rows] = one.function(sums[:, columns] / sums[:, weight])
            for number, median in medians:
                numbers[number, rows] = median(counts)
    return numbers


def left_out(sample: Means, groups: Ints | None) -> Floats:
    """Compute the number without each of the units in turn."""
    sums = unit_sums(weighed(sample.columns, sample.weights), groups)
    weights = unit_weights(len(sample), sample.weights, groups)[:, None]
    with np.errstate(all="ignore"):
        return sample.function((sums.sum(axis=0) - sums) / (weights.sum() - weights))


def _counts(units: int, resamples: int, seed: int) -> Iterator[tuple[int, Floats]]:
    """Yield the first resample of each block, and counts of each unit: a row per resample."""
    generator = np.random.default_rng(seed)
    block = max(1, COUNTS_PER_BLOCK // max(units, 1))
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        draws = generator.integers(0, units, size=(rows, units))
        draws += units * np.arange(rows)[:, None]
        counts = np.bincount(draws.ravel(), minlength=rows * units)
        yield start, counts.reshape(rows, units).astype(np.float64)


def _table(
    samples: Sequence[Means], groups: Ints | None
) -> tuple[Floats, list[tuple[slice, slice]]]:
    """Add up columns and weights of all samples by unit, side by side, with their places."""
    parts: list[Floats] = []
    places: list[tuple[slice, slice]] = []
    known: list[tuple[Floats | None, slice]] = []
    width = 0

    def put(part: Floats) -> slice:
        nonlocal width
        parts.append(part)
        width += part.shape[1]
        return slice(width - part.shape[1], width)

    for one in samples:
        columns = put(unit_sums(weighed(one.columns, one.weights), groups))
        weight = next((place for weights, place in known if weights is one.weights), None)
        if weight is None:
            weight = put(unit_weights(len(one), one.weights, groups)[:, None])
            known.append((one.weights, weight))
        places.append((columns, weight))
    return np.concatenate(parts, axis=1), places
