"""Power of the paired t test, and pilots that give the standard deviation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats, Ints
from judged.comparison.comparison import Comparison
from judged.comparison.outcomes import Match, match_pair
from judged.comparison.settings import MAX_QUERIES
from judged.comparison.verdicts import list_pairs
from judged.errors import InputError, MeasureError, quoted
from judged.inputs.keyed import groups_of
from judged.results import ResultPart, plain_value
from judged.statistics.power import (
    critical_value,
    detectable,
    fewest,
    normal_units,
    t_power,
    t_power_within,
)
from judged.statistics.samples import CLOSE, effective_units, number_of_units, numbered
from judged.statistics.t import fewest_units, spread
from judged.text import Warned, counted, few, listed

if TYPE_CHECKING:
    from judged.options import GroupsLike

SMALLEST_EFFECT = 1e-6
"""An effect size that needs more than the largest number of queries."""


@dataclass(frozen=True)
class Estimate(ResultPart):
    """A computed value, with its range if the standard deviation comes from a pilot."""

    # A number of queries is infinite if it is too large; a value is None if it is impossible.

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class PowerAnalysis:
    """Power, queries and difference, each from the others, by the noncentral t."""

    # Units are independent: queries, or groups of them. Differences and margins are in the
    # measure's own unit, and `sd` is the standard deviation of the units' differences.

    level: float = 0.95
    comparisons: int = 1  # number of comparisons that are corrected together
    margin: float | None = None  # by how much a system may be worse, for a non-inferiority test
    per_unit: float = 1.0
    """Queries per unit: the mean size of groups, or the effect of uneven weights."""

    @property
    def sides(self) -> int:
        return 2 if self.margin is None else 1

    @property
    def tested_level(self) -> float:
        """Confidence level of one comparison in the first step of Holm's correction."""
        return 1 - (1 - self.level) / self.comparisons

    @cached_property
    def floor(self) -> int:
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
        return critical_value(units - 1.0, self.level, 2) * sd / math.sqrt(units)

    def units(self, sd: float, difference: float, power: float) -> int | None:
        if not self._away(difference) > 0:
            return None
        return self._fewest(
            lambda units: self.power(sd, difference, units) >= power,
            self._away(difference) / sd,
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
            power if difference else (1 + power) / 2,
            1,
        )

    def detectable(self, sd: float, units: float, power: float) -> float:
        """Return the smallest difference that this number of units detects."""
        error = sd / math.sqrt(units)
        level, sides = self.tested_level, self.sides
        return float(detectable(error, units - 1.0, level=level, power=power, sides=sides))

    def queries(self, units: int) -> int:
        return math.ceil(units * self.per_unit * (1 - 1e-12))

    def _fewest(
        self, enough: Callable[[int], bool], ratio: float, power: float, sides: int
    ) -> int | None:
        """Search from the normal approximation."""
        most = int(MAX_QUERIES / self.per_unit)
        if ratio < SMALLEST_EFFECT:
            return None
        guess = normal_units(ratio, self.tested_level, power, sides)
        units = None if guess > 2 * most else fewest(enough, most, guess=guess)
        return None if units is None else max(units, self.floor)


# -- pilots

MIN_UNITS = 10
"""With fewer units, or fewer that differ, the standard deviation is hardly known."""


@dataclass(frozen=True, eq=False)
class Pilot:
    """Differences of a pilot, by unit."""

    differences: Floats
    """Differences in favour of the run, by unit. They have the mean and the standard deviation that
    the t test uses."""
    queries: int
    differing: int  # number of units that differ
    grouped: bool = False
    measure: str | None = None
    run: str | None = None
    against: str | None = None
    width: float = math.inf  # largest possible difference
    weighted: bool = False
    effective_units: float | None = None
    """Effective number of units (Kish); None if all weigh the same."""
    pairs: int = 1  # number of pairs of runs; this one has the largest standard deviation
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, pilot: Any, *, measure: Any = None, groups: GroupsLike | None = None) -> Pilot:
        """Return a pilot from a comparison, or from differences: an array, or one per query."""
        if isinstance(pilot, Comparison):
            known = _of_comparison(pilot, measure, groups)
        elif measure is not None:
            raise InputError(
                "measure chooses one of a comparison's measures; leave it out with differences."
            )
        else:
            known = _of_differences(pilot, groups)
        return known._check()

    @property
    def units(self) -> int:
        return len(self.differences)

    @property
    def effective(self) -> float:
        return self.units if self.effective_units is None else self.effective_units

    @property
    def unit(self) -> tuple[str, str]:
        """Name of one unit, and of several."""
        return ("group", "groups") if self.grouped else ("query", "queries")

    @property
    def per_unit(self) -> float:
        return max(self.queries / self.effective, 1.0)

    @property
    def difference(self) -> float:
        """Mean difference; a plan does not use it."""
        return float(self.differences.mean())

    @property
    def sd(self) -> float:
        """Standard deviation of the units' differences."""
        if self.units < 2:
            return math.nan
        # In units of the largest, so that no square is too large or too small.
        scale = float(np.abs(self.differences).max()) or 1.0
        return scale * float((self.differences / scale).std(ddof=1))

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the variance's chi-square."""
        # One less than the effective number of units, and fewer with long tails (Hummel, Banga and
        # Hettmansperger, 2005).
        size, plain_freedom = self.units, self.effective - 1.0
        if size < 4:
            return plain_freedom
        away = (self.differences - self.difference) / self.sd
        fourth = float((away**4).sum()) * size * (size + 1) / ((size - 1) * (size - 2) * (size - 3))
        excess = fourth - 3 * (size - 1) ** 2 / ((size - 2) * (size - 3))
        return 2 * size / (max(excess, 0.0) + 2 * size / plain_freedom)

    def interval(self, level: float) -> tuple[float, float]:
        from scipy.special import gammaincinv

        half = self.freedom / 2
        ends = (2 * gammaincinv(half, share) for share in ((1 + level) / 2, (1 - level) / 2))
        low, high = (self.sd * math.sqrt(self.freedom / end) for end in ends)
        return low, high

    def _check(self) -> Pilot:
        one, many = self.unit
        pair = "" if self.run is None else f" {self.run} and {self.against}"
        of, between = (pair and f" {word}{pair}" for word in ("of", "between"))
        largest = float(np.abs(self.differences).max(initial=0.0))
        instead = "Take other queries, or give the standard deviation (sd, --sd)."
        if self.units < 2:
            raise InputError(
                f"a pilot needs at least two {many}; got {counted(self.units, one, many)}{of}."
            )
        if self.effective < 2 * (1 - CLOSE):
            raise InputError(
                f"a pilot needs the weight of at least two {many}; its {self.units:,} {many}{of} "
                f"count as {self.effective:.2f} of equal weight. {instead}"
            )
        if not math.isfinite(largest) or not math.isfinite(self.sd):
            raise InputError("the pilot's differences are too large; give them in a larger unit.")
        if self.sd <= 1e-12 * largest or self.sd == 0:
            same = f"all {many} differ by the same amount" if largest else "no query differs"
            raise InputError(f"the pilot has no variance: {same}{between}. {instead}")
        differing = self.differing
        if not self.units >= MIN_UNITS > differing or differing > self.units / 2:
            return self
        more = Warned(
            f"Only {counted(differing, one, many)} of the pilot's {self.units:,} "
            f"{'differs' if differing == 1 else 'differ'}, so the standard deviation is uncertain. "
            "Take a larger pilot."
        )
        return replace(self, notes=(*self.notes, more))

    def to_dict(self, level: float) -> dict[str, Any]:
        low, high = self.interval(level)
        own = ("measure", "run", "against", "queries", "difference", "sd", "freedom", "weighted")
        values: dict[str, Any] = plain_value(
            {
                **{name: getattr(self, name) for name in (*own, "pairs")},
                "groups": self.units if self.grouped else None,
                **{"sd_low": low, "sd_high": high},
            }
        )
        return values


def _of_differences(differences: Any, groups: Any) -> Pilot:
    """Return a pilot from {query: difference}, or from numbers, whose ids are 1, 2, …"""
    by_query = differences
    try:
        if not isinstance(differences, Mapping):
            by_query = {str(i): number for i, number in enumerate(np.asarray(differences), 1)}
        values = np.array([*by_query.values()])
    except (TypeError, ValueError, OverflowError):
        values = np.array([[]])
    if values.ndim != 1 or values.dtype.kind not in "iuf":
        raise InputError(
            "pilot must be a comparison, or per-query differences: numbers, or {query: "
            f"difference}}; got {quoted(differences)}."
        )
    ids, values = [str(query) for query in by_query], values.astype(np.float64)
    if lost := [ids[i] for i in np.flatnonzero(~np.isfinite(values))]:
        raise InputError(
            f"the pilot's differences must be finite; {counted(len(lost), 'is', 'are')} not "
            f"(query {few(lost)}). Leave these queries out."
        )
    return _by_unit(values, None, None if groups is None else groups_of(groups, ids)[0])


def _of_comparison(comparison: Comparison, measure: Any, groups: GroupsLike | None) -> Pilot:
    """Return a pilot from the pair of a comparison with the largest standard deviation."""
    numbers = comparison.numbers.in_groups(groups)
    if measure is None and len(comparison.measures) > 1:
        raise MeasureError(
            f"a plan is for one measure, but the pilot has {listed(comparison.measures)}; name one "
            "with measure (-m)."
        )
    chosen = comparison.measure(measure)
    pairs = list_pairs(comparison.runs, comparison.baseline)
    matches = [match_pair(numbers, chosen, *pair) for pair in pairs]
    for match in matches:
        _refuse_other_than_means(match)
    pilots = [_of_match(match) for match in matches]
    widest = max(pilots, key=lambda pilot: pilot.sd if math.isfinite(pilot.sd) else -1.0)
    notes = tuple(Warned(f"Pilot: {text}") for text in comparison.warnings())
    return replace(widest, pairs=len(pilots), notes=notes)


def _of_match(match: Match) -> Pilot:
    assert match.averaged is not None
    better = match.averaged if match.measure.higher_is_better else -match.averaged
    pilot = _by_unit(better, match.weights, match.groups)
    if match.constant:  # but for rounding
        pilot = replace(pilot, differences=np.full(pilot.units, pilot.difference))
    return replace(
        pilot, measure=match.measure.name, run=match.run, against=match.against, width=match.width
    )


def _by_unit(values: Floats, weights: Floats | None, groups: Ints | None) -> Pilot:
    """Return units with the mean and the standard deviation that the t test uses."""
    groups = numbered(groups)
    counts = np.ones(len(values)) if weights is None else weights / weights.sum() * len(values)
    mean = float(counts @ values / counts.sum()) if len(values) else math.nan
    apart = counts * (values - mean)
    differs = values != 0
    effective = effective_units(len(values), weights, groups)
    pilot = Pilot(mean + apart, len(values), int(differs.sum()), weighted=weights is not None)
    if groups is not None:
        units = number_of_units(len(values), groups)
        by_unit = np.bincount(groups, apart, units) * units / len(values)
        pilot = replace(
            pilot,
            differences=mean + by_unit,
            differing=len(np.unique(groups[differs])),
            grouped=True,
        )
    if effective < pilot.units * (1 - CLOSE) and pilot.sd > 0:
        # A plan counts in units of equal weight: so many have the standard error of these.
        error = float(spread(values[:, None], weights, groups).error[0])
        scale = error * math.sqrt(effective) / pilot.sd
        differences = mean + (pilot.differences - mean) * scale
        pilot = replace(pilot, differences=differences, effective_units=effective)
    return pilot


def _refuse_other_than_means(match: Match) -> None:
    name, aggregate = match.measure.name, match.ours.sample.aggregate
    if match.averaged is None or aggregate != "mean":
        kinds = {"sum": "a sum, which grows with the queries", "geometric": "a geometric mean"}
        raise MeasureError(
            f"a plan needs a mean over queries, but {name} is "
            f"{kinds.get(aggregate, 'not a mean')}; use a measure such as nDCG@10."
        )
    if match.infinite.any():
        raise MeasureError(
            f"{name} is infinite for {counted(int(match.infinite.sum()), 'query', 'queries')}, so "
            "its differences have no variance; use a finite measure such as RR."
        )
    if match.by_trusted is not None:
        raise InputError(
            "the pilot's differences are corrected by trusted judgements, so their variance "
            "depends on the number of trusted queries; use one kind of judgements alone."
        )
    sides = {match.run: match.ours, match.against: match.theirs}
    if repeated := [run for run, entry in sides.items() if entry.repeats is not None]:
        raise InputError(
            f"the pilot has repeats of {listed(repeated)}, whose variation does not shrink with "
            "more queries; use one run of each system."
        )
