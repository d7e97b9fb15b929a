"""A plan tried out: samples drawn from the differences of a pilot, each with its t test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from judged.arrays import Floats
from judged.comparison.plan.terms import Terms
from judged.statistics.power import critical_value
from judged.statistics.shares import clopper_pearson

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
