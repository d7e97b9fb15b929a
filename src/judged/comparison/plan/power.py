"""Power of the paired t test: queries, difference and power, each from the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from judged.arrays import Floats
from judged.results import ResultPart
from judged.statistics.intervals import clopper_pearson
from judged.statistics.power import (
    critical_value,
    detectable,
    fewest,
    normal_units,
    t_power,
    t_power_within,
)
from judged.statistics.t import fewest_units

MAX_QUERIES = 10**9
SMALLEST_EFFECT = 1e-6
"""An effect size that needs more than the largest number of queries."""


@dataclass(frozen=True)
class PowerAnalysis:
    """Power, queries, difference and half-width, each from the others, by the noncentral t.

    Units are independent: queries, or groups of them. Differences and margins are in the measure's
    own unit, and `sd` is the standard deviation of the units' differences.

    >>> PowerAnalysis().units(0.1, 0.02, 0.8)
    199
    """

    level: float = 0.95
    """Confidence level."""
    comparisons: int = 1
    """Number of comparisons that are corrected together."""
    margin: float | None = None
    """By how much a system may be worse, for a non-inferiority test."""
    per_unit: float = 1.0
    """Queries per unit: the mean size of groups, or the effect of uneven weights."""

    @property
    def sides(self) -> int:
        """Sides of the test: 1 with a margin, otherwise 2."""
        return 2 if self.margin is None else 1

    @property
    def tested_level(self) -> float:
        """Confidence level of one comparison in the first step of Holm's correction."""
        return 1 - (1 - self.level) / self.comparisons

    @cached_property
    def floor(self) -> int:
        """Fewest units that `compare` tests."""
        return fewest_units(self.level)

    def _away(self, difference: float) -> float:
        """Return how far the true difference is from the null hypothesis."""
        return abs(difference) if self.margin is None else difference + self.margin

    def power(self, sd: float, difference: float, units: float) -> float:
        """Return the power to detect a true difference, or non-inferiority."""
        away = self._away(difference) / sd * math.sqrt(units)
        if away > MAX_QUERIES:
            return 1.0
        critical = critical_value(units - 1.0, self.tested_level, self.sides)
        return min(t_power(away, units - 1.0, critical, self.sides), 1.0)

    def equivalence_power(self, sd: float, difference: float, units: float) -> float:
        """Return the power of both one-sided tests for equivalence within the margin."""
        assert self.margin is not None
        above, under = (
            min((self.margin + turned) / sd * math.sqrt(units), MAX_QUERIES)
            for turned in (difference, -difference)
        )
        critical = critical_value(units - 1.0, self.tested_level, 1)
        return min(t_power_within(above, under, units - 1.0, critical), 1.0)

    def half_width(self, sd: float, units: float) -> float:
        """Return the half-width of the confidence interval."""
        return critical_value(units - 1.0, self.level, 2) * sd / math.sqrt(units)

    def units(self, sd: float, difference: float, power: float) -> int | None:
        """Return the units needed to detect a difference; None if there are too many."""
        if not self._away(difference) > 0:
            return None
        return self._fewest(
            lambda units: self.power(sd, difference, units) >= power,
            self._away(difference) / sd,
            self.tested_level,
            power,
            self.sides,
        )

    def equivalence_units(self, sd: float, difference: float, power: float) -> int | None:
        """Return the units needed for equivalence; None if none suffice."""
        assert self.margin is not None
        if not abs(difference) < self.margin:
            return None
        # At a difference of 0 each of both tests may fail half as often as both together.
        return self._fewest(
            lambda units: self.equivalence_power(sd, difference, units) >= power,
            (self.margin - abs(difference)) / sd,
            self.tested_level,
            power if difference else (1 + power) / 2,
            1,
        )

    def half_width_units(self, sd: float, half_width: float) -> int | None:
        """Return the units needed for an interval of this half-width."""
        return self._fewest(
            lambda units: self.half_width(sd, units) <= half_width,
            half_width / sd,
            self.level,
            0.5,
            2,
        )

    def detectable(self, sd: float, units: float, power: float) -> float:
        """Return the smallest difference that this number of units detects."""
        error = sd / math.sqrt(units)
        level, sides = self.tested_level, self.sides
        return float(detectable(error, units - 1.0, level=level, power=power, sides=sides))

    def queries(self, units: int) -> int:
        """Return the number of queries of this number of units."""
        return math.ceil(units * self.per_unit * (1 - 1e-12))

    def _fewest(
        self, enough: Callable[[int], bool], ratio: float, level: float, power: float, sides: int
    ) -> int | None:
        """Search from the normal approximation."""
        most = int(MAX_QUERIES / self.per_unit)
        if ratio < SMALLEST_EFFECT:
            return None
        guess = normal_units(ratio, level, power, sides)
        units = None if guess > 2 * most else fewest(enough, most, guess=guess)
        return None if units is None else max(units, self.floor)


MAX_SAMPLES = 10_000
MIN_SAMPLES = 1_000
MAX_NUMBERS = 3 * 10**7
"""Numbers drawn in all, as long as that leaves enough samples."""
NUMBERS_AT_ONCE = 2 * 10**6


@dataclass(frozen=True)
class SimulatedShare(ResultPart):
    """Share of samples with a significant result, with its confidence interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, count: int, draws: int, level: float) -> SimulatedShare:
        """Return the share of a count."""
        low, high = clopper_pearson(count, draws, level)
        return cls(count / draws, float(low), float(high))


@dataclass(frozen=True)
class Simulation(ResultPart):
    """Results on samples of the pilot's differences."""

    draws: int
    """Number of samples."""
    units: int
    """Queries, or groups, per sample."""
    power: SimulatedShare
    """Share of significant results with the difference."""
    false_alarms: SimulatedShare
    """Share of significant results without a difference; with a margin, for a system that is worse
    by it."""
    seed: int


def simulate_power(
    differences: Floats, analysis: PowerAnalysis, *, difference: float, units: int, seed: int
) -> Simulation:
    """Test samples of a pilot's differences, drawn with replacement.

    Differences are centred, have the pilot's standard deviation, and the true difference is added.

    >>> analysis, pilot = PowerAnalysis(), np.arange(-9.0, 10.0)
    >>> found = simulate_power(pilot, analysis, difference=3.0, units=30, seed=0)
    >>> found.power.low < analysis.power(5.6, 3.0, 30) < found.power.high
    True
    """
    away = differences - differences.mean()
    away = away / away.std(ddof=0)
    shift = difference / float(differences.std(ddof=1))
    bound = 0.0 if analysis.margin is None else analysis.margin / float(differences.std(ddof=1))
    critical = critical_value(units - 1.0, analysis.tested_level, analysis.sides)
    random = np.random.default_rng(seed)
    per_sample = min(units, len(away))
    draws = min(MAX_SAMPLES, max(MIN_SAMPLES, MAX_NUMBERS // per_sample))
    detected = alarms = 0
    for means, errors in _samples(away, units, draws, per_sample, random):
        detected += _significant(means + shift + bound, errors * critical, analysis.sides)
        alarms += _significant(means, errors * critical, analysis.sides)
    return Simulation(
        draws,
        units,
        SimulatedShare.of(detected, draws, analysis.level),
        SimulatedShare.of(alarms, draws, analysis.level),
        seed,
    )


def _significant(means: Floats, needed: Floats, sides: int) -> int:
    """Count the samples with a significant mean; none without variance."""
    return int(((np.abs(means) if sides == 2 else means) > needed)[needed > 0].sum())


def _samples(
    away: Floats, units: int, draws: int, per_sample: int, random: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """Yield means and standard errors of samples; counts of draws are faster for small pilots."""
    size, squares = len(away), away * away
    for begin in range(0, draws, max(NUMBERS_AT_ONCE // per_sample, 1)):
        rows = min(draws - begin, max(NUMBERS_AT_ONCE // per_sample, 1))
        if size <= units:
            counts = random.multinomial(units, np.full(size, 1 / size), size=rows)
            means, of_squares = counts @ away / units, counts @ squares / units
        else:
            drawn = random.integers(size, size=(rows, units))
            means, of_squares = away[drawn].mean(axis=1), squares[drawn].mean(axis=1)
        variances = np.maximum(of_squares - means * means, 0.0) / (units - 1)
        variances[variances < 1e-14 / units] = 0.0  # the same value throughout, but for rounding
        yield means, np.sqrt(variances)
