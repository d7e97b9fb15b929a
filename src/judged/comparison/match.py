"""Two runs on one measure, on the queries that count in both, and the size of the difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.comparison.numbers import Compared, Entry, Numbers, in_common
from judged.comparison.settings import ComparisonSettings
from judged.evaluation.trusted import refuse_few
from judged.statistics.power import detectable
from judged.statistics.prediction_powered import Powered, powered
from judged.statistics.samples import CLOSE, Means, Median, effective_units, is_uneven
from judged.statistics.t import Spread, fewest_units, half_widths, spread

if TYPE_CHECKING:
    from judged.comparison.numbers import Numbers

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Match:
    """Two runs on one measure, on the same queries."""

    measure: Compared
    run: str
    against: str
    ours: Entry
    theirs: Entry
    groups: Ints | None = None

    @property
    def queries(self) -> int:
        """Number of queries."""
        return len(self.ours.place)

    @property
    def units(self) -> int:
        """Number of independent units: queries, or groups of them."""
        return self.queries if self.groups is None else int(self.groups.max(initial=-1)) + 1

    @cached_property
    def effective_units(self) -> float:
        """Effective number of queries or groups (Kish)."""
        return effective_units(self.queries, self.weights, self.groups)

    @cached_property
    def uneven(self) -> bool:
        """True if some queries or groups weigh more than others."""
        return is_uneven(self.queries, self.weights, self.groups)

    @property
    def weights(self) -> Floats | None:
        """Weight of each query."""
        return self.ours.sample.weights

    @cached_property
    def by_trusted(self) -> Match | None:
        """The match by trusted judgements alone, on the queries that have some in both runs."""
        ours, theirs = self.ours.trusted, self.theirs.trusted
        if ours is None or theirs is None:
            return None
        place = in_common([ours, theirs])
        match = replace(self, ours=ours.at(place), theirs=theirs.at(place))
        where = f"{self.measure.name}, {self.run} and {self.against}"
        refuse_few(len(place), where, match.weights)
        return match

    @cached_property
    def powered(self) -> Powered | None:
        """Mean difference, corrected by trusted judgements."""
        trusted = self.by_trusted
        if trusted is None or trusted.averaged is None or self.averaged is None:
            return None
        columns = trusted.averaged[:, None], self.averaged[:, None]
        return powered(*columns, self.ours.has(trusted.ours), self.weights)

    @property
    def value(self) -> float:
        """The run's value on these queries.

        Trusted judgements correct it with the λ of the difference, so that the values
        differ by the corrected difference.
        """
        return self._number("ours")

    @property
    def against_value(self) -> float:
        """The other run's value on these queries."""
        return self._number("theirs")

    def _number(self, side: str) -> float:
        entry: Entry = getattr(self, side)
        if self.powered is None:
            return entry.number
        return entry.corrected(self.powered.weight, getattr(self.by_trusted, side))

    @cached_property
    def difference(self) -> float:
        """The run's value minus the other's; 0 if both are infinite."""
        return float(_minus(np.array([self.value]), np.array([self.against_value]))[0])

    @cached_property
    def differences(self) -> Floats:
        """Difference of each query's values; 0 if they are equal but for rounding."""
        return differences(self.ours.values, self.theirs.values)

    @property
    def rounding(self) -> Floats:
        """Rounding error of each query's difference."""
        return _rounding(self.ours.values, self.theirs.values)

    @cached_property
    def averaged(self) -> Floats | None:
        """Differences of the averaged values; None if the summary is not a mean."""
        ours, theirs = self.ours.sample.averaged, self.theirs.sample.averaged
        return None if ours is None or theirs is None else differences(ours, theirs)

    @cached_property
    def averaged_rounding(self) -> Floats:
        """Rounding error of each of these; 0 for a difference of 0."""
        ours, theirs, averaged = (
            self.ours.sample.averaged,
            self.theirs.sample.averaged,
            self.averaged,
        )
        if ours is None or theirs is None or averaged is None:
            return np.zeros(self.queries)
        return np.where(averaged == 0, 0.0, _rounding(ours, theirs))

    @cached_property
    def differs(self) -> Mask:
        """Mask of the queries that differ in anything that the summary is computed from."""
        ours, theirs = self.ours.sample, self.theirs.sample
        differs = self.differences != 0
        if isinstance(ours, Means) and isinstance(theirs, Means):
            columns = differences(ours.columns.ravel(), theirs.columns.ravel())
            differs = differs | (columns.reshape(ours.columns.shape) != 0).any(axis=1)
            if self.by_trusted is not None:
                differs[self.ours.has(self.by_trusted.ours)] |= self.by_trusted.differs
            return differs
        if isinstance(ours, Median) and isinstance(theirs, Median) and ours.pooled:
            return differs | _pools_differ(ours, theirs)
        return differs

    @cached_property
    def unit_sums(self) -> tuple[Floats, Floats]:
        """Weighted sum of differences and weight of each query or group.

        If the summary is not a mean, the number of differing queries replaces the sum.
        """
        averaged = self.differs.astype(float) if self.averaged is None else self.averaged
        weights = np.ones(self.queries) if self.weights is None else self.weights
        sums = weights * averaged
        if self.groups is None:
            return sums, weights
        size = self.units
        summed: Floats = np.bincount(self.groups, sums, size).astype(float)
        scale = np.bincount(self.groups, np.abs(sums), size)
        summed[np.abs(summed) <= CLOSE * scale] = 0.0
        return summed, np.bincount(self.groups, weights, size).astype(float)

    @cached_property
    def differing(self) -> int:
        """Number of queries, or groups, that differ; with trusted judgements, by these."""
        if self.by_trusted is not None:
            return self.by_trusted.differing
        return int((self.unit_sums[0] != 0).sum())

    @property
    def smallest_p(self) -> float:
        """Smallest p that n differing units allow: all signs agree in two of 2ⁿ cases."""
        return 2.0 ** (1 - max(self.differing, 1))

    @cached_property
    def constant(self) -> bool:
        """True if all queries, or groups, differ by the same amount but for rounding."""
        if self.by_trusted is not None:
            return self.by_trusted.constant
        ours, theirs = self.ours.sample.averaged, self.theirs.sample.averaged
        if ours is None or theirs is None or not self.queries:
            return False
        sums, weights = self.unit_sums
        off = _rounding(ours, theirs) * (1.0 if self.weights is None else self.weights)
        if self.groups is not None:
            off = np.bincount(self.groups, off, self.units).astype(float)
        if not np.isfinite(sums).all():
            return False
        means, off = sums / weights, off / weights
        return bool((means - off).max() <= (means + off).min())

    @cached_property
    def record(self) -> tuple[int, int, int]:
        """Numbers of queries won, tied and lost."""
        up, down = int((self.differences > 0).sum()), int((self.differences < 0).sum())
        won, lost = (up, down) if self.measure.higher_is_better else (down, up)
        return won, self.queries - up - down, lost

    @property
    def width(self) -> float:
        """Largest possible difference."""
        low, high = self.measure.range
        return float(high - low) * (self.queries if self.ours.sample.aggregate == "sum" else 1)

    @property
    def infinite(self) -> Mask:
        """Queries with an infinite value in one of the runs."""
        return np.isinf(self.ours.values) | np.isinf(self.theirs.values)

    @property
    def too_large(self) -> bool:
        """True if finite values have means or differences that overflow."""
        numbers = (self.value, self.against_value, self.difference)
        beyond = any(map(math.isinf, numbers)) or bool(np.isinf(self.differences).any())
        return beyond and not self.infinite.any()

    def on_scale(self, averaged: Floats) -> Floats:
        """Return differences of means on the scale of the summary.

        For geometric means a and b, a difference x of mean logarithms is 2·√(ab)·sinh(x/2), which
        equals a - b for their own x and changes its sign with x.
        """
        aggregate = self.ours.sample.aggregate
        if aggregate == "sum":
            return averaged * self.queries
        if aggregate == "geometric":
            middle = math.sqrt(self.value) * math.sqrt(self.against_value)
            with np.errstate(over="ignore"):
                return 2 * middle * np.sinh(averaged / 2)
        return averaged


def matched(numbers: Numbers, measure: Compared, run: str, against: str) -> Match:
    """Return two of the runs on one measure."""
    ours, theirs = numbers.entry(measure, run), numbers.entry(measure, against)
    place = in_common([ours, theirs])
    groups = numbers.grouped(place)
    return Match(measure, run, against, ours.at(place), theirs.at(place), groups)


def alike(matches: Sequence[Match]) -> list[list[int]]:
    """Return the positions of matches on the same queries, grouped."""
    positions: dict[bytes, list[int]] = {}
    for at, match in enumerate(matches):
        positions.setdefault(match.ours.place.tobytes(), []).append(at)
    return list(positions.values())


def _minus(ours: Floats, theirs: Floats) -> Floats:
    """Return differences; 0 if both are infinite alike."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(ours == theirs, 0.0, ours - theirs)


def differences(ours: Floats, theirs: Floats) -> Floats:
    """Return differences; 0 if the values are equal but for rounding."""
    apart = _minus(ours, theirs)
    return np.where(np.abs(apart) <= _rounding(ours, theirs), 0.0, apart)


def _rounding(ours: Floats, theirs: Floats) -> Floats:
    """Return how far apart equal values of a query may be.

    It is 1e-12 of values above 1, and 1e-12 of the largest of all if none is above 1. So one huge
    value makes no other two equal, and the unit of values does not matter.
    """
    sizes = np.maximum(
        *(np.where(np.isfinite(values), np.abs(values), 0.0) for values in (ours, theirs))
    )
    return CLOSE * np.maximum(sizes, min(1.0, float(sizes.max(initial=0.0))))


def _pools_differ(ours: Median, theirs: Median) -> Mask:
    """Return which queries have other values in one pool than in the other."""
    sizes = [np.bincount(side.owner, minlength=side.size) for side in (ours, theirs)]
    differs = sizes[0] != sizes[1]
    kept = [~differs[side.owner] for side in (ours, theirs)]
    values, owners = [], []
    for side, keep in zip((ours, theirs), kept, strict=True):
        order = np.lexsort((side.values[keep], side.owner[keep]))
        values.append(side.values[keep][order])
        owners.append(side.owner[keep][order])
    differs[owners[0][differences(*values) != 0]] = True
    return differs


def too_few(match: Match, settings: ComparisonSettings, sides: int = 2) -> bool:
    """Return whether the signs of the differing queries, or groups, could not be significant.

    Queries or groups of uneven weight have no verdict either where fewer of equal weight than a
    two-sided test needs, 6 at 95 %, would say as much: one of them would decide.
    """
    needed = settings.fewest_units if sides == 2 else fewest_units(settings.level, sides)
    few = match.units < 2 or match.differing < needed
    return few or too_uneven(match, settings)


def too_uneven(match: Match, settings: ComparisonSettings) -> bool:
    """Return whether uneven weights leave too small an effective number of queries, or groups."""
    return match.uneven and match.effective_units < settings.fewest_units


def columns_of(matches: Sequence[Match]) -> Floats:
    """Return the differences of all matches, one column each."""
    return np.stack([match.averaged for match in matches if match.averaged is not None], axis=1)


def further_variances(matches: Sequence[Match]) -> list[tuple[Floats, Floats]]:
    """Return what repeats and random orders of ties add to the variance of each difference."""
    variances = []
    for side in ("ours", "theirs"):
        entries = [getattr(match, side) for match in matches]
        if any(entry.repeats is not None for entry in entries):
            from judged.statistics.t import repeat_variance

            known = [
                (0.0, math.inf)
                if entry.repeats is None
                else repeat_variance(entry.repeats, entry.sample.weights)
                for entry in entries
            ]
            variances.append((np.array([v for v, _ in known]), np.array([f for _, f in known])))
        if any(entry.error for entry in entries):
            errors = np.array([entry.error**2 for entry in entries])
            variances.append((errors, np.full(len(entries), math.inf)))
    return variances


def powered_spread(matches: Sequence[Match]) -> Spread:
    """Return the differences that trusted judgements correct, with their standard errors."""
    spreads = [match.powered.spread for match in matches if match.powered is not None]
    columns = zip(
        *((spread_of.mean[0], spread_of.error[0], spread_of.freedom[0]) for spread_of in spreads),
        strict=True,
    )
    return Spread(*map(np.array, columns))


class Size(NamedTuple):
    """Size of a difference; None without variance."""

    effect: float | None = None
    """Cohen's d_z."""
    detectable: float | None = None
    """Smallest detectable difference; None if no difference is."""
    wider: float | None = None
    """Width of the t interval by groups, relative to that by queries."""


def sizes(
    matches: Sequence[Match], settings: ComparisonSettings, comparisons: Sequence[int]
) -> list[Size]:
    """Return the size of each difference, and the detectable one among these comparisons."""
    measured = [Size()] * len(matches)
    adjusted = [settings.among(number) for number in comparisons]
    for same in alike(matches):
        which = [at for at in same if _has_spread(matches[at])]
        if not which:
            continue
        together = [matches[at] for at in which]
        columns, first = columns_of(together), together[0]
        every = spread(columns, first.weights, first.groups, more=further_variances(together))
        wider = _wider(columns, together, every, settings)
        for column, (at, match, by) in enumerate(zip(which, together, wider, strict=True)):
            least = _least(every.error[column], every.freedom[column], match, adjusted[at])
            measured[at] = Size(effect(match), least, by)
    for at, match in enumerate(matches):
        if match.powered is not None:
            corrected = powered_spread([match])
            least = _least(corrected.error[0], corrected.freedom[0], match, adjusted[at])
            measured[at] = Size(detectable=least)
        elif (error := jackknife_error(match)) is not None:
            measured[at] = Size(
                detectable=_least(error, match.effective_units - 1, match, adjusted[at])
            )
    return measured


def effect(match: Match) -> float:
    """Return Cohen's d_z: the weighted mean difference in standard deviations of the units."""
    sums, weights = match.unit_sums
    shares, means = weights / weights.sum(), sums / weights
    size = np.abs(means).max()
    mean = float(shares @ (means / size))
    units = len(means)
    variance = float(shares @ (means / size - mean) ** 2) * units / (units - 1)
    return mean / math.sqrt(variance)


def jackknife_error(match: Match) -> float | None:
    """Return the jackknife standard error of a difference of functions of means.

    None for other summaries, and without variance.
    """
    from judged.statistics.bootstrap import left_out

    ours, theirs = match.ours.sample, match.theirs.sample
    if not isinstance(ours, Means) or not isinstance(theirs, Means) or ours.aggregate:
        return None
    units = match.units
    if units < 2:
        return None
    numbers = left_out(ours, match.groups), left_out(theirs, match.groups)
    without = numbers[0] - numbers[1]
    away = without - without.mean()
    if not np.abs(away).max() > CLOSE * np.abs(numbers).max():
        return None
    return float(np.sqrt((away**2).sum() * (units - 1) / units))


def _least(
    error: float, freedom: float, match: Match, settings: ComparisonSettings
) -> float | None:
    """Return the smallest detectable difference.

    None if too few queries differ or it is larger than possible.
    """
    least = detectable(error, freedom, level=settings.tested_level, power=settings.power)
    shown = float(match.on_scale(least).item())
    seen = math.isfinite(shown) and shown <= _largest(match) and not too_few(match, settings)
    return shown if seen else None


def _largest(match: Match) -> float:
    """Return the largest possible difference; infinite if values exceed the measure's range."""
    low, high = match.measure.range
    values = np.concatenate((match.ours.values, match.theirs.values))
    if values.min() < low or values.max() > high:
        return math.inf
    return match.width


def _wider(
    columns: Floats, matches: Sequence[Match], by_group: Spread, settings: ComparisonSettings
) -> list[float | None]:
    """Return the width of each interval by groups, relative to that by queries."""
    if matches[0].groups is None:
        return [None] * len(matches)
    by_query = spread(columns, matches[0].weights, more=further_variances(matches))
    ratio = half_widths(by_group, settings.level) / half_widths(by_query, settings.level)
    return [float(width) if math.isfinite(width) else None for width in ratio]


def _has_spread(match: Match) -> bool:
    return (
        match.averaged is not None
        and match.powered is None
        and match.units > 1
        and not match.constant
        and not match.infinite.any()
    )
