"""Confidence intervals of numbers over queries, of shares, and of the area under the ROC curve."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judged.arrays import Floats, Ints
from judged.errors import InputError
from judged.options import LEVEL, RESAMPLES, choice
from judged.options import level as checked_level
from judged.statistics.samples import (
    CLOSE,
    Means,
    Median,
    Sample,
    effective_number,
    effective_units,
    exact_mean,
    is_uneven,
    number_of_units,
    numbered,
)
from judged.statistics.t import Spread, fewest_units, half_widths, normal_quantile, spread
from judged.text import counted, listed, plain, shown

METHODS = ("t", "bca", "percentile")
"""Methods that can be requested by name."""
UNKNOWN = (-math.inf, math.inf)
"""The range of values without known bounds."""


@dataclass(frozen=True)
class Interval:
    """A number with its confidence interval.

    >>> Interval(0.5, 0.25, 0.75, "t").to_dict()
    {'estimate': 0.5, 'low': 0.25, 'high': 0.75, 'method': 't'}
    """

    estimate: float
    """The number itself."""
    low: float = math.nan
    """The lower bound; NaN if unknown."""
    high: float = math.nan
    """The upper bound; NaN if unknown."""
    method: str | None = None
    """The method of the bounds: t, log t, wilson, order, bca or percentile."""
    note: str = ""
    """The reason for missing bounds."""

    @property
    def known(self) -> bool:
        """True if there are bounds."""
        return not math.isnan(self.low)

    def said(self, sign: str = "") -> str:
        """Return the number and its bounds as text; `sign="+"` writes the signs of differences.

        >>> Interval(0.5, 0.25, 0.75).said(), Interval(0.5).said("+")
        ('0.5000 [0.2500, 0.7500]', '+0.5000')
        """

        def one(value: float) -> str:
            return f"{value:{sign}.4f}" if math.isfinite(value) else shown(value)

        bounds = f" [{one(self.low)}, {one(self.high)}]" if self.known else ""
        return one(self.estimate) + bounds

    def to_dict(self) -> dict[str, float | str | None]:
        """Return plain values for JSON: null for NaN, "Infinity" for infinity."""
        ends = {name: plain(getattr(self, name)) for name in ("estimate", "low", "high")}
        return {**ends, "method": self.method} | ({"note": self.note} if self.note else {})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Interval:
        """Read what `to_dict` returned."""
        estimate, low, high = (
            math.nan if values[name] is None else float(values[name])
            for name in ("estimate", "low", "high")
        )
        return cls(estimate, low, high, values.get("method"), values.get("note", ""))


def mean_interval(
    values: Sequence[float] | NDArray[Any],
    *,
    level: float = LEVEL,
    range: tuple[float, float] | None = None,
) -> Interval:
    """Compute the confidence interval of a mean, or of paired differences, by Student's t."""
    # `range` holds the bounds of the values. Leave it out for differences, since differences of 0
    # and 1 are not shares. One value, or equal values, have no bounds.
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 1 or not len(numbers) or not np.isfinite(numbers).all():
        raise InputError(
            "an interval of a mean needs one finite number for each query, and at least one."
        )
    sample = Means.of_values(numbers)
    if range is None:
        return interval(sample, level=level, method="t")
    return interval(sample, level=level, range=range)


def mean_intervals(
    columns: Sequence[Floats], *, level: float = LEVEL, range: tuple[float, float] = UNKNOWN
) -> list[Interval]:
    """Compute the interval of each column's mean by Student's t, many columns at once."""
    # A tenth of the time of one after the other. Columns may differ in length.
    found = [Interval(math.nan, method="t", note="no query counts")] * len(columns)
    by_length: dict[int, list[int]] = {}
    for place, column in enumerate(columns):
        by_length.setdefault(len(column), []).append(place)
    for length, places in by_length.items():
        half = np.full(len(places), np.nan)
        if length > 1:
            # Columns lie end to end in memory, so that sums have the bits of a single column's.
            table = np.stack([columns[place] for place in places]).T
            half = half_widths(spread(table), level)
        for place, width in zip(places, half.tolist(), strict=True):
            if not math.isnan(width):
                mean = exact_mean(columns[place])
                low, high = max(mean - width, range[0]), min(mean + width, range[1])
                found[place] = Interval(mean, low, high, "t")
            elif length:
                sample = Means.of_values(columns[place])
                found[place] = interval(sample, level=level, method="t", range=range)
    return found


def interval(
    sample: Sample,
    *,
    level: float = LEVEL,
    method: str | None = None,
    groups: Ints | None = None,
    range: tuple[float, float] = UNKNOWN,
    error: float = 0.0,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """Compute the confidence interval of a number over queries, by the method that suits it."""
    # Means and sums use Student's t, geometric means the t of their logarithms. A mean of values
    # that are all 0 or 1 is a share with Wilson's interval; with weights, its size is the effective
    # number (Kish). Shares with groups use the t of groups, or Wilson's interval if all groups have
    # the same share. A median of one value per query uses exact order statistics, other medians the
    # percentile bootstrap, and other numbers the BCa bootstrap. With uneven weights or groups, the
    # percentile bootstrap, expanded to Student's t, replaces BCa. A single unit, or values without
    # spread, have no interval, and the note says why.
    # `method` is t, bca or percentile instead of the default. `groups` numbers the group of each
    # query from 0. The interval is cut at `range`. `error`, the standard error of the number itself
    # if it is a Monte Carlo estimate, widens it.
    checked_level("level", level)
    chosen = (
        _choose_method(sample, groups, range) if method is None else _check_method(sample, method)
    )
    if chosen == "bca" and is_uneven(len(sample), sample.weights, groups):
        chosen = "percentile"
    if not len(sample):
        return Interval(math.nan, method=chosen, note="no query counts")
    estimate = sample.value()
    if note := _why_none(sample, groups, chosen, level):
        return Interval(estimate, method=chosen, note=note)
    if chosen == "wilson":
        bounds = _wilson(sample, groups, level)
    elif chosen == "order":
        bounds = _order(sample, level)
    elif chosen in ("t", "log t"):
        bounds = _student(sample, groups, estimate, level, error)
    else:
        bounds = _bootstrap(sample, groups, level, chosen, resamples, seed)
    enough = effective_units(len(sample), sample.weights, groups) >= fewest_units(level)
    if math.isnan(bounds[0]) and isinstance(sample, Median) and enough:
        bounds = estimate, estimate  # all resamples are equal
    if math.isnan(bounds[0]):
        units = "queries have" if groups is None else "groups have"
        same = "resamples give" if chosen in ("bca", "percentile") else units
        note = f"all {same} the same value, which says nothing of how others would spread"
        return Interval(estimate, method=chosen, note=note)
    if error and chosen not in ("t", "log t"):
        bounds = _widen(estimate, bounds, error, level)
    low, high = max(bounds[0], float(range[0])), min(bounds[1], float(range[1]))
    return Interval(estimate, low, high, chosen)


def _choose_method(sample: Sample, groups: Ints | None, range: tuple[float, float]) -> str:
    """Choose the default method."""
    if isinstance(sample, Median):
        exact = sample.weights is None and groups is None and not sample.pooled
        return "order" if exact else "percentile"
    if sample.aggregate == "mean" and _is_share(sample, range):
        by_group = groups is not None and not np.isnan(_spread(sample, groups, 0.0).error[0])
        return "t" if by_group else "wilson"
    return {"geometric": "log t", "": "bca"}.get(sample.aggregate, "t")


def _check_method(sample: Sample, method: str) -> str:
    """Check the requested method."""
    choice("the method of an interval", method, METHODS)
    if isinstance(sample, Median):
        number, fitting = "a median", ["percentile"]
    elif not sample.aggregate:
        number, fitting = "a number that is no mean, sum or geometric mean", ["bca", "percentile"]
    else:
        return "log t" if method == "t" and sample.aggregate == "geometric" else method
    if method not in fitting:
        raise InputError(
            f"{method} gives no interval of {number}; {listed(fitting)} "
            f"{'does' if len(fitting) == 1 else 'do'}."
        )
    return method


def _is_share(sample: Means, range: tuple[float, float]) -> bool:
    if tuple(range) != UNKNOWN and not (range[0] >= 0 and range[1] <= 1):
        return False
    return bool(np.isin(sample.columns, (0.0, 1.0)).all())


def _why_none(sample: Sample, groups: Ints | None, method: str, level: float) -> str:
    """Explain why an interval is impossible; "" if it is possible."""
    size, effective = len(sample), effective_units(len(sample), sample.weights, groups)
    if isinstance(sample, Means) and not np.isfinite(sample.columns).all():
        return "values that are not finite have no mean to make an interval of"
    if groups is not None and (groups == groups[0]).all():
        return "one group alone says nothing of how others would spread"
    if size == 1:
        return "one query alone says nothing of how others would spread"
    if effective == 1:
        return "one query or group has all of the weight, so there is no spread to go by"
    if method == "order":
        needed = 1 + math.ceil(-math.log2(_outside(level)))
        if size < needed:
            return (
                f"{counted(size, 'query', 'queries')} are too few for a {100 * level:g} % interval "
                f"of a median, which takes {needed}"
            )
    elif method != "wilson" and is_uneven(size, sample.weights, groups):
        needed, units = fewest_units(level), f"{size:,} queries"
        if groups is not None:
            units = f"{number_of_units(size, numbered(groups)):,} groups"
        if effective < needed:
            return (
                f"{units} count as {effective:,.1f} of equal weight (Kish), too few for a "
                f"{100 * level:.10g} % interval, which takes {needed}"
            )
    return ""


def _outside(level: float) -> float:
    """Return 1 - level, plus what its rounding may have lost."""
    return (1 - level) * (1 + 1e-12) + 2.0**-53


def _spread(sample: Means, groups: Ints | None, error: float) -> Spread:
    more = [(np.array([error**2]), np.array([math.inf]))] if error else ()
    return spread(sample.columns[:, :1], sample.weights, groups, more=more)


def _student(
    sample: Sample, groups: Ints | None, estimate: float, level: float, error: float
) -> tuple[float, float]:
    """Compute Student's bounds on the scale of what is averaged."""
    assert isinstance(sample, Means)
    size = len(sample) if sample.aggregate == "sum" else 1
    if sample.aggregate == "geometric":
        log_spread = _spread(sample, groups, error / estimate)
        half = float(half_widths(log_spread, level)[0])
        return estimate * math.exp(-half), estimate * math.exp(half)
    half = float(half_widths(_spread(sample, groups, error / size), level)[0]) * size
    return estimate - half, estimate + half


def _wilson(sample: Sample, groups: Ints | None, level: float) -> tuple[float, float]:
    """Compute Wilson's bounds for the effective number of units."""
    assert isinstance(sample, Means)
    # All zero or all one exactly, whatever the weights round to.
    share = 1.0 if sample.columns.all() else sample.value()
    size = effective_units(len(sample), sample.weights, groups)
    low, high = wilson(share * size, size, level)
    return float(low), float(high)


def _order(sample: Sample, level: float) -> tuple[float, float]:
    """Return the k-th smallest and largest value, for the largest k that keeps the level."""
    # A median is below the k-th smallest of n values as often as n coin tosses show fewer than k
    # heads.
    from scipy.special import bdtr

    assert isinstance(sample, Median)
    size = len(sample)
    beyond = 2 * bdtr(np.arange((size + 1) // 2), size, 0.5)
    k = int((beyond <= _outside(level)).sum())
    ordered = np.sort(sample.values)
    return float(ordered[k - 1]), float(ordered[-k])


def _bootstrap(
    sample: Sample, groups: Ints | None, level: float, method: str, resamples: int, seed: int
) -> tuple[float, float]:
    from judged.statistics.bootstrap import bootstrap

    rows = sample.values[:, None] if isinstance(sample, Median) else sample.columns
    if all(_all_equal(column) for column in rows.T):
        return math.nan, math.nan
    tested = bootstrap(
        [(sample,)], groups, levels=(level,), method=method, resamples=resamples, seed=seed
    )
    return float(tested.low[0, 0]), float(tested.high[0, 0])


def _all_equal(values: Floats) -> bool:
    low, high = float(values.min()), float(values.max())
    if math.isinf(low) or math.isinf(high):
        return low == high
    return high - low <= CLOSE * max(abs(low), abs(high))


def _widen(
    estimate: float, bounds: tuple[float, float], error: float, level: float
) -> tuple[float, float]:
    """Move bounds outwards by the standard error of the number itself."""
    more = normal_quantile((1 + level) / 2) * error
    below, above = (math.hypot(estimate - end, more) for end in bounds)
    return estimate - below, estimate + above


def wilson(successes: ArrayLike, size: ArrayLike, level: float) -> tuple[Floats, Floats]:
    """Compute Wilson's score interval of a share; neither number need be whole."""
    successes, size = np.asarray(successes, np.float64), np.asarray(size, np.float64)
    z = normal_quantile((1 + level) / 2)
    share = successes / size
    middle = share + z * z / (2 * size)
    half = z * np.sqrt(share * (1 - share) / size + (z / size) ** 2 / 4)
    whole = 1 + z * z / size
    low = np.where(successes <= 0, 0.0, (middle - half) / whole)
    high = np.where(successes >= size, 1.0, (middle + half) / whole)
    return low, high


def clopper_pearson(
    successes: ArrayLike, size: ArrayLike, level: float, *, one_sided: bool = False
) -> tuple[Floats, Floats]:
    """Compute the exact binomial interval of a share; `one_sided`, each end alone has the level."""
    from scipy.special import betaincinv

    successes, size = np.asarray(successes, np.float64), np.asarray(size, np.float64)
    outside = (1 - level) / (1 if one_sided else 2)
    none, all_of_them = successes <= 0, successes >= size
    failures = size - successes
    low = betaincinv(np.where(none, 1, successes), failures + 1, outside)
    # The upper end of successes is 1 minus the lower end of failures.
    high = 1 - betaincinv(np.where(all_of_them, 1, failures), successes + 1, outside)
    return np.where(none, 0.0, low), np.where(all_of_them, 1.0, high)


AUROC_METHOD = "Newcombe's score interval (2006, method 5)"
"""The method of the bounds. At an area of 1 they still have a width, unlike those of DeLong."""


Numbers = Sequence[float] | NDArray[Any]


def auroc(
    first: Numbers,
    second: Numbers,
    *,
    weights: tuple[Numbers, Numbers] | None = None,
    level: float = LEVEL,
) -> Interval:
    """Compute the area under the ROC curve with its confidence interval."""
    # The area is the exact Mann-Whitney statistic as a share. The bounds are Newcombe's (2006,
    # method 5), with the variance of Hanley and McNeil. One score of a kind alone has no bounds.
    # With weights above 0 for each score, the bounds use effective numbers (Kish).
    checked_level("level", level)
    above, below = (np.asarray(scores, np.float64) for scores in (first, second))
    if any(
        scores.ndim != 1 or not len(scores) or np.isnan(scores).any() for scores in (above, below)
    ):
        raise InputError("an AUROC needs at least one score of each kind, and none that is NaN.")
    heavy, light = (
        (np.ones(len(above)), np.ones(len(below)))
        if weights is None
        else (np.asarray(scores, np.float64) for scores in weights)
    )
    value = _area(above, below, heavy, light)
    if min(len(above), len(below)) < 2:
        return Interval(value, method=AUROC_METHOD)
    bounds = _newcombe_bounds(value, effective_number(heavy), effective_number(light), level)
    return Interval(value, *bounds, AUROC_METHOD)


def _area(above: Floats, below: Floats, heavy: Floats, light: Floats) -> float:
    """Return the share of weighted pairs in the right order; ties count half."""
    order = np.argsort(below, kind="stable")
    upto = np.concatenate([[0.0], np.cumsum(light[order])])
    less = upto[np.searchsorted(below[order], above, "left")]
    less_or_equal = upto[np.searchsorted(below[order], above, "right")]
    right = float((heavy * (less + less_or_equal)).sum() / 2)
    return right / (float(heavy.sum()) * float(upto[-1]))


def _newcombe_bounds(value: float, m: float, n: float, level: float) -> tuple[float, float]:
    z = normal_quantile((1 + level) / 2)

    def too_far(area: float) -> bool:
        other = 1 - area
        spread = 1 + ((m + n) / 2 - 1) * (other / (2 - area) + area / (1 + area))
        return (value - area) ** 2 > z * z * area * other * spread / (m * n)

    def bound(outside: float) -> float:
        inside = value
        while abs(outside - inside) > 1e-15 and (middle := (outside + inside) / 2) not in (
            outside,
            inside,
        ):
            if too_far(middle):
                outside = middle
            else:
                inside = middle
        return inside

    return bound(0.0), bound(1.0)
