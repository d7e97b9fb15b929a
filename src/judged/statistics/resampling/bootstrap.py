"""The bootstrap over units, for numbers of any kind: percentile and BCa intervals, and p by
inversion.

All numbers are resampled together: a matrix of counts, how often each unit was drawn, times the
columns of all of them. A pair is the difference of its numbers on the same resamples.

With q the share c / (B + 1) of resamples up to the c-th smallest, BCa leaves out what is below it
at 1 - alpha where alpha / 2 is above Phi(w / (1 + a w) - z), w = Phi^-1(q) - z: z says by how much
the resamples lie to one side of the estimate, a how their spread changes with it. With both 0 that
is q itself, the percentile interval. So p(c) is twice that, c counts the resamples that reach 0 and
one more, and the lower end is the c-th smallest, one at minus infinity being the first, for the
least c whose p is not below alpha.

Units of uneven weight have percentiles further out, whichever method was asked for (Hesterberg's
expanded percentile interval): with e their effective number (Kish), Phi gives way to Student's t of
e - 1 degrees of freedom, and Phi^-1(q) is divided by sqrt(e / (e - 1)). Resamples of a few heavy
units vary too little, and BCa, which trusts their skew, covers less still.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from judged.arrays import Floats, Ints
from judged.errors import InputError
from judged.statistics.aggregates import CLOSE
from judged.statistics.distributions import t_tail
from judged.statistics.resampling.inversion import least_count
from judged.statistics.resampling.medians import room
from judged.statistics.resampling.resamples import left_out, resampled
from judged.statistics.samples import Means, Median, Sample
from judged.statistics.tested import Tested
from judged.statistics.units import effective_units, is_uneven, numbered

MEMORY = 2**25
"""Bytes that the columns and resamples taken at once may take."""
Bundle = tuple[Sample, ...]
"""A sample, or two whose difference is meant."""


def bootstrap(
    samples: Sequence[Sample],
    groups: Ints | None = None,
    *,
    levels: tuple[float, ...] = (0.95,),
    method: str = "percentile",
    resamples: int = 9_999,
    seed: int = 0,
) -> tuple[Floats, Floats]:
    """Intervals of numbers over the same queries.

    An end is infinite where so few resamples cannot bound the number at that level; both are NaN
    where all resamples are equal. A resample that leaves a number undefined counts as beyond both
    ends.

    Parameters
    ----------
    samples : sequence of Sample
        What the numbers are made of.
    groups : array of int, optional
        The group of each query, from 0; groups are drawn as a whole.
    levels : tuple of float, optional
        Levels of the intervals.
    method : str, optional
        `percentile` or, for what is no median and has units of equal weight, `bca`.
    resamples : int, optional
        How often units are drawn with replacement, as many as there are.
    seed : int, optional
        What they are drawn from.

    Returns
    -------
    tuple of two arrays
        Lower and upper ends: a row per level, a column per sample.

    >>> from judged.statistics.samples import Means
    >>> low, high = bootstrap([Means.of_values(np.array([0.0, 1.0, 1.0, 1.0]))])
    >>> low.tolist(), high.tolist()
    ([[0.25]], [[1.0]])
    """
    found = _tested([(each,) for each in samples], groups, levels, method, resamples, seed)
    return found.low, found.high


def bootstrap_pairs(
    pairs: Sequence[tuple[Sample, Sample]],
    groups: Ints | None = None,
    *,
    levels: tuple[float, ...] = (0.95,),
    method: str = "percentile",
    resamples: int = 9_999,
    seed: int = 0,
) -> Tested:
    """Intervals of differences, the first of a pair less the second, and p by their inversion.

    Two infinite numbers differ by 0. Where all resamples give the same difference, p is 1 and there
    is no interval if that is 0. Any other is certain, as far as resamples tell: its interval is a
    point, by the percentiles, and p is the smallest that so many resamples allow.

    Parameters
    ----------
    pairs : sequence of two samples
        Over the same queries.
    groups, levels, method, resamples, seed : optional
        As for `bootstrap`.

    Returns
    -------
    Tested

    >>> from judged.statistics.samples import Median
    >>> one, two = Median.of_values(np.array([1.0, 2.0, 9.0])), Median.of_values(np.ones(3))
    >>> bootstrap_pairs([(one, two)], levels=(0.8,)).low.tolist()
    [[0.0]]
    """
    return _tested(pairs, groups, levels, method, resamples, seed)


def _tested(
    bundles: Sequence[Bundle],
    groups: Ints | None,
    levels: tuple[float, ...],
    method: str,
    resamples: int,
    seed: int,
) -> Tested:
    """Some bundles at a time, as many as memory has room for."""
    if method == "bca" and any(isinstance(one, Median) for each in bundles for one in each):
        raise InputError(
            "a median has no BCa interval: leaving out one query hardly moves it. "
            "Take the percentile interval."
        )
    units = numbered(groups)
    parts = [
        _some_tested(some, units, levels, method, resamples, seed)
        for some in _portions(bundles, resamples)
    ]
    if not parts:
        return Tested(np.empty(0), np.empty((len(levels), 0)), np.empty((len(levels), 0)))
    p, low, high = (np.concatenate(each, axis=-1) for each in zip(*parts, strict=True))
    return Tested(p, low, high)


def _portions(bundles: Sequence[Bundle], resamples: int) -> Iterator[Sequence[Bundle]]:
    """Bundles in portions whose columns and resamples fit into memory; one at least in each."""
    start = size = 0
    for at, bundle in enumerate(bundles):
        wide = sum(room(one) if isinstance(one, Median) else one.columns.size for one in bundle)
        more = 8 * (wide + resamples * len(bundle))
        if at > start and size + more > MEMORY:
            yield bundles[start:at]
            start, size = at, 0
        size += more
    if start < len(bundles):
        yield bundles[start:]


def _some_tested(
    bundles: Sequence[Bundle],
    groups: Ints | None,
    levels: tuple[float, ...],
    method: str,
    resamples: int,
    seed: int,
) -> tuple[Floats, Floats, Floats]:
    """p, lower and upper ends of some bundles at once."""
    samples = list({id(one): one for bundle in bundles for one in bundle}.values())
    freedom = _freedom(samples[0], groups)
    place = {id(one): at for at, one in enumerate(samples)}
    numbers = resampled(samples, groups, resamples, seed)
    spreads = [_Spread.of(numbers[[place[id(one)] for one in each]], each) for each in bundles]
    steady = np.array([each.steady for each in spreads])
    nothing = np.array([each.nothing for each in spreads])
    shift = skew = np.zeros(len(bundles))
    if method == "bca" and freedom is None:
        shift = np.where(steady, 0.0, [each.shift for each in spreads])
        skew = np.where(steady, 0.0, [_skew(each, groups) for each in bundles])
    reached = np.array([each.reached(0.0) for each in spreads])
    p_of: tuple[Callable[[Ints], Floats], ...] = (
        partial(_p_of, resamples=resamples, shift=shift, skew=skew, freedom=freedom),
        partial(_p_of, resamples=resamples, shift=-shift, skew=-skew, freedom=freedom),
    )
    p = np.minimum(p_of[0](1 + reached[:, 0]), p_of[1](1 + reached[:, 1]))
    p = np.where(nothing, 1.0, p)
    p[[np.isnan(each.value) or not len(each.ordered) for each in spreads]] = np.nan
    ends = np.empty((2, len(levels), len(bundles)))
    for row, level in enumerate(levels):
        for side, one_of in enumerate(p_of):
            ranks = least_count(one_of, np.full(len(bundles), resamples + 1), level)
            ends[side, row] = [
                each.end(rank, upper=bool(side)) for each, rank in zip(spreads, ranks, strict=True)
            ]
    alone = np.array([len(each) == 1 for each in bundles])
    unknown = np.where(alone, steady, nothing) | np.isnan(p)
    low, high = np.where(unknown, np.nan, ends)
    return p, low, high


def _freedom(sample: Sample, groups: Ints | None) -> float | None:
    """Return the degrees of freedom of units of uneven weight; None where all weigh the same."""
    if not is_uneven(len(sample), sample.weights, groups):
        return None
    return effective_units(len(sample), sample.weights, groups) - 1


def smallest_p(resamples: int, sample: Sample, groups: Ints | None) -> float:
    """Return the smallest p that so many resamples allow, by percentiles.

    >>> smallest_p(9_999, Means.of_values(np.arange(3.0)), None)
    0.0002
    """
    nothing = np.zeros(1)
    freedom = _freedom(sample, groups)
    return float(_p_of(np.ones(1, np.int64), resamples, nothing, nothing, freedom)[0])


def _p_of(
    counts: Ints, resamples: int, shift: Floats, skew: Floats, freedom: float | None
) -> Floats:
    """p where so many resamples, and one more, are on the other side of 0."""
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
    """The first row, less the second if there is one; infinite numbers of one sign are equal."""
    if len(rows) == 1:
        return rows[0]
    first, second = rows
    with np.errstate(invalid="ignore"):
        return np.where(first == second, 0.0, first - second)


def _skew(bundle: Bundle, groups: Ints | None) -> float:
    """The acceleration: how the number varies where one unit at a time is left out; NaN where it
    does not."""
    numbers = np.stack([left_out(one, groups) for one in bundle if isinstance(one, Means)])
    without = _difference(numbers)
    away = without.mean() - without
    largest = np.abs(away).max()
    if not largest > CLOSE * np.abs(numbers).max():
        return np.nan
    away /= largest
    return float((away**3).sum() / (6 * (away**2).sum() ** 1.5))


@dataclass(frozen=True, eq=False)
class _Spread:
    """How a number or a difference varies over resamples."""

    ordered: Floats
    """Ascending, without undefined ones."""
    undefined: int
    """How many resamples leave it undefined: they count as beyond any bound."""
    value: float
    """What it is on the queries as they are."""
    close: float
    """What is no further apart than this is equal but for rounding."""

    @classmethod
    def of(cls, numbers: Floats, bundle: Bundle) -> _Spread:
        """Of the numbers of one sample, or the differences of two."""
        size = np.abs(numbers)
        close = CLOSE * float(size.max(initial=0.0, where=np.isfinite(size)))
        ordered = np.sort(_difference(numbers))
        defined = len(ordered) - int(np.isnan(ordered).sum())
        with np.errstate(all="ignore"):
            value = float(_difference(np.array([[one.value()] for one in bundle]))[0])
        return cls(ordered[:defined], len(ordered) - defined, value, close)

    @property
    def steady(self) -> bool:
        """Whether nothing varies: all resamples are equal, or none is defined."""
        if not len(self.ordered):
            return True
        first, last = self.ordered[0], self.ordered[-1]
        return bool(first == last or last - first <= self.close)

    @property
    def nothing(self) -> bool:
        """Whether all resamples are 0."""
        return len(self.ordered) > 0 and bool(np.abs(self.ordered[[0, -1]]).max() <= self.close)

    @property
    def shift(self) -> float:
        """BCa's z0: where the value lies among the resamples, equal ones counting half;
        NaN where there is no telling."""
        from scipy.special import ndtri

        if self.steady or np.isnan(self.value):
            return np.nan
        upto, since = self.reached(self.value)
        more = upto - since
        # From the smaller side, so that runs that are swapped have it with the other sign.
        away = ndtri((len(self.ordered) - abs(more)) / 2 / len(self.ordered))
        return float(-away if more > 0 else away)

    def reached(self, bound: float) -> tuple[int, int]:
        """How many resamples are at most this, and how many at least; undefined ones are both."""
        upto = int(np.searchsorted(self.ordered, bound + self.close, "right"))
        before = int(np.searchsorted(self.ordered, bound - self.close))
        return upto + self.undefined, len(self.ordered) - before + self.undefined

    def end(self, rank: int, *, upper: bool) -> float:
        """The resample of this rank, from below or from above; the first ones are infinite: one,
        and the undefined."""
        place = rank - 2 - self.undefined
        if place < 0:
            return np.inf if upper else -np.inf
        if self.steady:
            return self.value
        found = float(self.ordered[-1 - place if upper else place])
        return 0.0 if abs(found) <= self.close else found
