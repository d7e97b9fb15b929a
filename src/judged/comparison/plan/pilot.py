"""Pilots: the standard deviation of differences, and how well it is known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats, Ints
from judged.comparison.comparison import Comparison
from judged.comparison.match import Match, matched
from judged.comparison.verdicts import compared_runs
from judged.errors import InputError, MeasureError, quoted
from judged.inputs.keyed import groups_of
from judged.results import plain_value
from judged.statistics.samples import CLOSE, effective_units, number_of_units, numbered
from judged.statistics.t import spread
from judged.text import Warned, counted, few, listed

if TYPE_CHECKING:
    from judged.options import GroupsLike

MIN_UNITS = 10
"""With fewer units, or fewer that differ, the standard deviation is hardly known."""


@dataclass(frozen=True, eq=False)
class Pilot:
    """Differences of a pilot, by unit.

    >>> found = Pilot.of([0.1, -0.1, 0.3, 0.1])
    >>> round(found.sd, 4), found.units
    (0.1633, 4)
    """

    differences: Floats
    """Differences in favour of the run, by unit. They have the mean and the standard deviation that
    the t test uses."""
    queries: int
    differing: int
    """Number of units that differ."""
    grouped: bool = False
    measure: str | None = None
    run: str | None = None
    against: str | None = None
    width: float = math.inf
    """Largest possible difference."""
    weighted: bool = False
    design_effect: float = 1.0
    """Variance of the mean by groups, relative to that by queries."""
    effective_units: float | None = None
    """Effective number of units (Kish); None if all weigh the same."""
    correlation: float | None = None
    """Intraclass correlation that gives the design effect; None without groups."""
    pairs: int = 1
    """Number of pairs of runs; this one has the largest standard deviation."""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Any, *, measure: Any = None, groups: GroupsLike | None = None) -> Pilot:
        """Return a pilot from a comparison, or from differences: an array, or one per query."""
        if isinstance(given, Comparison):
            pilot = _of_comparison(given, measure, groups)
        elif measure is not None:
            raise InputError(
                "measure chooses one of a comparison's measures; leave it out with differences."
            )
        else:
            pilot = _of_differences(given, groups)
        return pilot._checked()

    @property
    def units(self) -> int:
        """Number of queries, or groups."""
        return len(self.differences)

    @property
    def effective(self) -> float:
        """Effective number of units (Kish)."""
        return self.units if self.effective_units is None else self.effective_units

    @property
    def unit(self) -> tuple[str, str]:
        """Name of one unit, and of several."""
        return ("group", "groups") if self.grouped else ("query", "queries")

    @property
    def per_unit(self) -> float:
        """Queries per unit of equal weight."""
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
        """Degrees of freedom of the variance's chi-square.

        One less than the effective number of units, and fewer with long tails (Hummel,
        Banga and Hettmansperger, 2005).
        """
        size, plain_freedom = self.units, self.effective - 1.0
        if size < 4:
            return plain_freedom
        away = (self.differences - self.difference) / self.sd
        fourth = float((away**4).sum()) * size * (size + 1) / ((size - 1) * (size - 2) * (size - 3))
        excess = fourth - 3 * (size - 1) ** 2 / ((size - 2) * (size - 3))
        return 2 * size / (max(excess, 0.0) + 2 * size / plain_freedom)

    def interval(self, level: float) -> tuple[float, float]:
        """Return the confidence interval of the standard deviation."""
        from scipy.special import gammaincinv

        half = self.freedom / 2
        ends = (2 * gammaincinv(half, share) for share in ((1 + level) / 2, (1 - level) / 2))
        low, high = (self.sd * math.sqrt(self.freedom / end) for end in ends)
        return low, high

    def _checked(self) -> Pilot:
        """Check that there is variance, and warn if it is hardly known."""
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
        """Return plain values for JSON."""
        low, high = self.interval(level)
        values: dict[str, Any] = plain_value(
            {
                "measure": self.measure,
                "run": self.run,
                "against": self.against,
                "queries": self.queries,
                "groups": self.units if self.grouped else None,
                "difference": self.difference,
                "sd": self.sd,
                "sd_low": low,
                "sd_high": high,
                "freedom": self.freedom,
                "weighted": self.weighted,
                "design_effect": self.design_effect if self.grouped else None,
                "correlation": self.correlation,
                "pairs": self.pairs,
            }
        )
        return values


def _of_differences(differences: Any, groups: Any) -> Pilot:
    """Return a pilot from differences in any order, or as {query: difference}."""
    named = isinstance(differences, Mapping)
    values = _numbers(list(differences.values()) if named else differences)
    ids = list(map(str, differences)) if named else [f"{at}" for at in range(1, len(values) + 1)]
    if lost := [ids[at] for at in np.flatnonzero(~np.isfinite(values))]:
        raise InputError(
            f"the pilot's differences must be finite; {counted(len(lost), 'is', 'are')} not "
            f"({'query' if named else 'number'} {few(lost)}). Leave these queries out."
        )
    if groups is None:
        return _by_unit(values, None, None)
    if not named:
        listed_groups = groups.tolist() if isinstance(groups, np.ndarray) else groups
        if not isinstance(listed_groups, (list, tuple)) or len(listed_groups) != len(values):
            raise InputError(
                f"groups of differences without ids must be a list of {len(values):,} groups; got "
                f"{quoted(groups)}. Or give the differences as {{query: difference}}."
            )
        groups = dict(zip(ids, listed_groups, strict=True))
    return _by_unit(values, None, groups_of(groups, ids)[0])


def _of_comparison(comparison: Comparison, measure: Any, groups: GroupsLike | None) -> Pilot:
    """Return a pilot from the pair of a comparison with the largest standard deviation."""
    numbers = comparison.numbers.in_groups(groups)
    if measure is None and len(comparison.measures) > 1:
        raise MeasureError(
            f"a plan is for one measure, but the pilot has {listed(comparison.measures)}; name one "
            "with measure (-m)."
        )
    chosen = comparison.measure(measure)
    pairs = compared_runs(comparison.runs, comparison.baseline)
    matches = [matched(numbers, chosen, *pair) for pair in pairs]
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
        effect, correlation = _design_effect(values, weights, groups)
        pilot = replace(
            pilot,
            differences=mean + by_unit,
            differing=len(np.unique(groups[differs])),
            grouped=True,
            design_effect=effect,
            correlation=correlation,
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


def _design_effect(
    values: Floats, weights: Floats | None, groups: Ints
) -> tuple[float, float | None]:
    """Return the design effect, and the intraclass correlation that gives it."""
    columns = values[:, None]
    by_group, by_query = (spread(columns, weights, units).error[0] for units in (groups, None))
    effect = float((by_group / by_query) ** 2)
    if not math.isfinite(effect):
        return 1.0, None
    sizes = np.bincount(groups).astype(float)
    typical = float((sizes**2).sum() / sizes.sum())
    return effect, (effect - 1) / (typical - 1) if typical > 1 else None


def _numbers(differences: Any) -> Floats:
    wrong = (
        "pilot must be a comparison, or per-query differences: numbers, or {query: difference}; "
        f"got {quoted(differences)}."
    )
    try:
        numbers = np.asarray(differences)
    except (TypeError, ValueError, OverflowError):
        raise InputError(wrong) from None
    if numbers.ndim != 1 or numbers.dtype.kind not in "iuf":
        raise InputError(wrong)
    return numbers.astype(np.float64)
