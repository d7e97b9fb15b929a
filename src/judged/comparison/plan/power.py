"""A plan tried out: samples drawn from the differences of a pilot, each with its t test."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from judged.arrays import Floats
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

MOST = 10**9
"""More queries than these nobody asks for."""
SMALLEST = 1e-6
"""A ratio of difference to spread that takes more than these, for sure."""


@dataclass(frozen=True)
class Terms:
    """Power, queries, difference and half-width, each from the others, by the noncentral t.

    Units are what is independent: queries, or groups of them. Differences and margins are in the
    measure's own unit, and `sd` is the standard deviation of the units' differences.

    >>> Terms().units(0.1, 0.02, 0.8)
    199
    """

    level: float = 0.95
    """A difference is shown where its p, corrected, is below 1 - level."""
    comparisons: int = 1
    """How many there are in the family."""
    margin: float | None = None
    """By how much a system may be worse, where that is to be shown of it."""
    per_unit: float = 1.0
    """How many queries there are per unit: in a group on average, or the design effect."""

    @property
    def sides(self) -> int:
        """2, or 1 where a margin is to be kept."""
        return 2 if self.margin is None else 1

    @property
    def tested_level(self) -> float:
        """The level of one of the comparisons in the first step of Holm's correction, which is
        Bonferroni's."""
        return 1 - (1 - self.level) / self.comparisons

    @cached_property
    def floor(self) -> int:
        """The fewest units of which `compare` says anything: with fewer, no signs of their
        differences could be shown at the level."""
        return fewest_units(self.level)

    def _away(self, difference: float) -> float:
        """How far the true difference is from the one that is to be refuted."""
        return abs(difference) if self.margin is None else difference + self.margin

    def power(self, sd: float, difference: float, units: float) -> float:
        """How often a true difference is shown, or a system to be no worse than the margin."""
        away = self._away(difference) / sd * math.sqrt(units)
        if away > MOST:
            return 1.0
        critical = critical_value(units - 1.0, self.tested_level, self.sides)
        return min(t_power(away, units - 1.0, critical, self.sides), 1.0)

    def equivalence_power(self, sd: float, difference: float, units: float) -> float:
        """How often `compare` calls two systems equivalent within the margin: both one-sided tests,
        corrected for the number of comparisons."""
        assert self.margin is not None
        above, under = (
            min((self.margin + turned) / sd * math.sqrt(units), MOST)
            for turned in (difference, -difference)
        )
        critical = critical_value(units - 1.0, self.tested_level, 1)
        return min(t_power_within(above, under, units - 1.0, critical), 1.0)

    def half_width(self, sd: float, units: float) -> float:
        """How far the ends of an interval are from the difference, where the sd is as assumed."""
        return critical_value(units - 1.0, self.level, 2) * sd / math.sqrt(units)

    def units(self, sd: float, difference: float, power: float) -> int | None:
        """How many units it takes to show a difference, or that a margin is kept; None where they
        are more than anybody asks for."""
        if not self._away(difference) > 0:
            return None
        return self._fewest(
            lambda units: self.power(sd, difference, units) >= power,
            self._away(difference) / sd,
            self.tested_level,
            power,
        )

    def equivalence_units(self, sd: float, difference: float, power: float) -> int | None:
        """How many it takes to be called equivalent; None too where no number would do."""
        assert self.margin is not None
        if not abs(difference) < self.margin:
            return None
        # At a difference of 0 each of both tests may fail half as often as both together.
        return self._fewest(
            lambda units: self.equivalence_power(sd, difference, units) >= power,
            (self.margin - abs(difference)) / sd,
            self.tested_level,
            power if difference else (1 + power) / 2,
        )

    def half_width_units(self, sd: float, half_width: float) -> int | None:
        """How many it takes for an interval that is no wider."""
        return self._fewest(
            lambda units: self.half_width(sd, units) <= half_width,
            half_width / sd,
            self.level,
            0.5,
            sides=2,
        )

    def detectable(self, sd: float, units: float, power: float) -> float:
        """The smallest difference that so many units show."""
        error = sd / math.sqrt(units)
        found = detectable(
            error, units - 1.0, level=self.tested_level, power=power, sides=self.sides
        )
        return float(found)

    def queries(self, units: int) -> int:
        """How many queries so many units are."""
        return math.ceil(units * self.per_unit * (1 - 1e-12))

    def _fewest(
        self,
        enough: Callable[[int], bool],
        ratio: float,
        level: float,
        power: float,
        sides: int | None = None,
    ) -> int | None:
        """The search, from where the normal distribution would have it end."""
        most = int(MOST / self.per_unit)
        if ratio < SMALLEST:
            return None
        guess = normal_units(ratio, level, power, sides or self.sides)
        found = None if guess > 2 * most else fewest(enough, most, guess=guess)
        return None if found is None else max(found, self.floor)


DRAWS = 10_000
"""How many samples are drawn."""
LEAST = 1_000
"""And how many at least, where they are large."""
NUMBERS = 3 * 10**7
"""So many numbers are drawn at most, as long as that leaves enough samples."""
AT_ONCE = 2 * 10**6
"""So many of them at a time."""


@dataclass(frozen=True)
class Share:
    """In how many of the samples something was shown, and where the true share lies."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, count: int, draws: int, level: float) -> Share:
        """So many of so many."""
        low, high = clopper_pearson(count, draws, level)
        return cls(count / draws, float(low), float(high))

    def to_dict(self) -> dict[str, float]:
        """As plain values for JSON."""
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Simulation:
    """What samples of the pilot's differences showed."""

    draws: int
    """How many samples were drawn."""
    units: int
    """How many queries, or groups, each has."""
    power: Share
    """How often the difference was shown, where it is there."""
    false_alarms: Share
    """How often one was shown where there is none; of a margin, where the system is worse by it."""
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "draws": self.draws,
            "units": self.units,
            "power": self.power.to_dict(),
            "false_alarms": self.false_alarms.to_dict(),
            "seed": self.seed,
        }


def simulated(
    differences: Floats, terms: Terms, *, difference: float, units: int, seed: int
) -> Simulation:
    """Draw samples with replacement from a pilot's differences, centred and with the pilot's
    standard deviation, add the true difference, and test each.

    >>> found = simulated(np.arange(-9.0, 10.0), Terms(), difference=3.0, units=30, seed=0)
    >>> found.power.low < Terms().power(5.6, 3.0, 30) < found.power.high
    True
    """
    away = differences - differences.mean()
    away = away / away.std(ddof=0)
    shift = difference / float(differences.std(ddof=1))
    bound = 0.0 if terms.margin is None else terms.margin / float(differences.std(ddof=1))
    critical = critical_value(units - 1.0, terms.tested_level, terms.sides)
    random = np.random.default_rng(seed)
    per_sample = min(units, len(away))
    draws = min(DRAWS, max(LEAST, NUMBERS // per_sample))
    found = alarms = 0
    for means, errors in _samples(away, units, draws, per_sample, random):
        found += _shown(means + shift + bound, errors * critical, terms.sides)
        alarms += _shown(means, errors * critical, terms.sides)
    return Simulation(
        draws,
        units,
        Share.of(found, draws, terms.level),
        Share.of(alarms, draws, terms.level),
        seed,
    )


def _shown(means: Floats, needed: Floats, sides: int) -> int:
    """In how many samples the mean is further from 0 than it has to be; in none without spread."""
    return int(((np.abs(means) if sides == 2 else means) > needed)[needed > 0].sum())


def _samples(
    away: Floats, units: int, draws: int, per_sample: int, random: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """Means and standard errors of samples: by how often each difference is drawn, where the pilot
    is smaller than a sample, else by the draws themselves."""
    size, squares = len(away), away * away
    for begin in range(0, draws, max(AT_ONCE // per_sample, 1)):
        rows = min(draws - begin, max(AT_ONCE // per_sample, 1))
        if size <= units:
            counts = random.multinomial(units, np.full(size, 1 / size), size=rows)
            means, of_squares = counts @ away / units, counts @ squares / units
        else:
            drawn = random.integers(size, size=(rows, units))
            means, of_squares = away[drawn].mean(axis=1), squares[drawn].mean(axis=1)
        variances = np.maximum(of_squares - means * means, 0.0) / (units - 1)
        variances[variances < 1e-14 / units] = 0.0  # the same value throughout, but for rounding
        yield means, np.sqrt(variances)
