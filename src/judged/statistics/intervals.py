"""Intervals of numbers over queries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.errors import InputError, quoted
from judged.options import LEVEL, RESAMPLES, choice, real
from judged.statistics.aggregates import CLOSE
from judged.statistics.distributions import normal_quantile
from judged.statistics.samples import Means, Median, Sample
from judged.statistics.shares import wilson
from judged.statistics.student import Spread, half_widths, spread
from judged.statistics.tested import fewest_units
from judged.statistics.units import effective_units, is_uneven, number_of_units, numbered
from judged.text import counted, listed, plain, shown

METHODS = ("t", "bca", "percentile")
"""What may be asked for by name, where it fits."""
UNKNOWN = (-math.inf, math.inf)
"""The range of values of which nobody said between what they lie."""


@dataclass(frozen=True)
class Interval:
    """A number and the bounds that would hold the true one in so many of all samples.

    >>> Interval(0.5, 0.25, 0.75, "t").to_dict()
    {'estimate': 0.5, 'low': 0.25, 'high': 0.75, 'method': 't'}
    """

    estimate: float
    """The number itself."""
    low: float = math.nan
    """The lower bound; NaN where it cannot be said."""
    high: float = math.nan
    """The upper bound; NaN where it cannot be said."""
    method: str | None = None
    """How the bounds were found: t, log t, wilson, order, bca or percentile; None where nobody
    said."""
    note: str = ""
    """Why there are none."""

    @property
    def known(self) -> bool:
        """Whether there are bounds."""
        return not math.isnan(self.low)

    def said(self, sign: str = "") -> str:
        """The number and its bounds as text; the number alone where there are none.

        Parameters
        ----------
        sign : str, optional
            "+" for differences, which carry their sign.

        Returns
        -------
        str

        >>> Interval(0.5, 0.25, 0.75).said(), Interval(0.5).said("+")
        ('0.5000 [0.2500, 0.7500]', '+0.5000')
        """

        def one(value: float) -> str:
            return f"{value:{sign}.4f}" if math.isfinite(value) else shown(value)

        bounds = f" [{one(self.low)}, {one(self.high)}]" if self.known else ""
        return one(self.estimate) + bounds

    def to_dict(self) -> dict[str, float | str | None]:
        """As plain values for JSON, which has neither NaN (null) nor infinity ("Infinity").

        Returns
        -------
        dict

        >>> Interval(0.5, method="t", note="one query alone").to_dict()
        {'estimate': 0.5, 'low': None, 'high': None, 'method': 't', 'note': 'one query alone'}
        """
        ends = {name: plain(getattr(self, name)) for name in ("estimate", "low", "high")}
        return {**ends, "method": self.method} | ({"note": self.note} if self.note else {})

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Interval:
        """The interval that `to_dict` gave.

        Parameters
        ----------
        given : Mapping
            What `to_dict` returned.

        Returns
        -------
        Interval

        >>> Interval.from_dict({"estimate": 0.5, "low": None, "high": None, "method": "t"})
        Interval(estimate=0.5, low=nan, high=nan, method='t', note='')
        """
        estimate, low, high = (
            math.nan if given[name] is None else float(given[name])
            for name in ("estimate", "low", "high")
        )
        return cls(estimate, low, high, given.get("method"), given.get("note", ""))


def checked_level(level: Any) -> float:
    """A level as a float: a number between 0 and 1."""
    found = real(level)
    if found is None or not 0 < found < 1:
        raise InputError(
            "the level of an interval must be a number between 0 and 1, as 0.95; got "
            f"{quoted(level)}."
        )
    return found


def mean_interval(
    values: Sequence[float] | NDArray[Any],
    *,
    level: float = LEVEL,
    range: tuple[float, float] | None = None,
) -> Interval:
    """The interval of a mean of values, or of differences between them.

    It is Student's, mean ± t·s/√n with n - 1 degrees of freedom; of differences of pairs, the
    paired one. One value alone, or values that are all equal, say nothing of how others would
    spread, so there are no bounds. For all else see `interval`.

    Parameters
    ----------
    values : sequence of float
        One finite number per query.
    level : float, optional
        In how many of all samples the bounds hold the true mean.
    range : tuple of two floats, optional
        Between what the values lie; none for differences, of which those of 0 and 1 are no share.

    Returns
    -------
    Interval

    >>> mean_interval([1.0, 2.0, 3.0])
    Interval(estimate=2.0, low=-0.484..., high=4.484..., method='t', note='')
    """
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 1 or not len(numbers) or not np.isfinite(numbers).all():
        raise InputError(
            "an interval of a mean needs one finite number for each query, and at least one."
        )
    sample = Means.of_values(numbers)
    if range is None:
        return interval(sample, level=level, method="t")
    return interval(sample, level=level, range=range)


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
    """The interval of a number over queries, by the method that fits what it is made of.

    Means and sums have Student's t, geometric means the t of their logarithms; weights and groups
    enter as in `judged.statistics.student`. A mean of values
    that are all 0 or 1, and can be nothing beyond, is a share and has Wilson's interval; where
    queries have weights, its size is their effective number (Kish). With groups a share has the t
    of groups too, and where all groups have the same share, Wilson's interval with the effective
    number of groups as size. A median of one value per query has the order statistics that are
    exact by the binomial; a median with weights, groups or several values per query the percentile
    bootstrap; anything else the bootstrap BCa. Uneven weights or groups have the percentile
    bootstrap instead of BCa, expanded to Student's t. It needs as large an effective number of them
    as a median of one value per query. One query (group) alone,
    or values without spread that are no share or median, have no interval, and its note says why.

    Parameters
    ----------
    sample : Means or Median
        What the number is made of.
    level : float, optional
        In how many of all samples the bounds hold the true number.
    method : {'t', 'bca', 'percentile'}, optional
        Another method than the one that fits best.
    groups : array of int, optional
        The group of each query of the sample, numbered from 0.
    range : tuple of two floats, optional
        Between what the number lies: bounds are cut there. Values of 0 and 1 are a share only
        where this is unknown or 0 to 1; differences of them are none.
    error : float, optional
        The standard error of the number itself, where it is a Monte Carlo estimate. For t its
        square is added to that of the mean, as a variance that is known; for other methods the
        square of its normal bound is added to that of each bound's distance.
    resamples, seed : int, optional
        Of the bootstrap.

    Returns
    -------
    Interval

    >>> found = interval(Means.of_values(np.ones(10)), range=(0, 1))
    >>> found.said(), found.method
    ('1.0000 [0.7225, 1.0000]', 'wilson')
    """
    level = checked_level(level)
    chosen = _usual(sample, groups, range) if method is None else _asked(sample, method)
    if chosen == "bca" and is_uneven(len(sample), sample.weights, groups):
        chosen = "percentile"
    if not len(sample):
        return Interval(math.nan, method=chosen, note="no query counts")
    estimate = sample.value()
    if note := _hopeless(sample, groups):
        return Interval(estimate, method=chosen, note=note)
    if chosen == "wilson":
        bounds = _wilson(sample, groups, level)
    elif chosen == "order":
        if note := _too_few(len(sample), level):
            return Interval(estimate, method=chosen, note=note)
        bounds = _order(sample, level)
    elif chosen in ("t", "log t"):
        if note := _too_uneven(sample, groups, level):
            return Interval(estimate, method=chosen, note=note)
        bounds = _student(sample, groups, estimate, level, error)
    else:
        if note := _too_uneven(sample, groups, level):
            return Interval(estimate, method=chosen, note=note)
        bounds = _bootstrap(sample, groups, level, chosen, resamples, seed)
    enough = effective_units(len(sample), sample.weights, groups) >= fewest_units(level)
    if math.isnan(bounds[0]) and isinstance(sample, Median) and enough:
        bounds = estimate, estimate  # all resamples are equal
    if math.isnan(bounds[0]):
        return Interval(estimate, method=chosen, note=_unspread(chosen, groups))
    if error and chosen not in ("t", "log t"):
        bounds = _widened(estimate, bounds, error, level)
    low, high = max(bounds[0], float(range[0])), min(bounds[1], float(range[1]))
    return Interval(estimate, low, high, chosen)


def _usual(sample: Sample, groups: Ints | None, range: tuple[float, float]) -> str:
    """The method that fits best."""
    if isinstance(sample, Median):
        exact = sample.weights is None and groups is None and not sample.pooled
        return "order" if exact else "percentile"
    if sample.aggregate == "mean" and _is_share(sample, range):
        by_group = groups is not None and not np.isnan(_spread(sample, groups, 0.0).error[0])
        return "t" if by_group else "wilson"
    return {"geometric": "log t", "": "bca"}.get(sample.aggregate, "t")


def _asked(sample: Sample, method: str) -> str:
    """The method asked for, unless it does not fit."""
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
    """Whether values are all 0 or 1, and can be nothing beyond."""
    if tuple(range) != UNKNOWN and not (range[0] >= 0 and range[1] <= 1):
        return False
    return bool(np.isin(sample.columns, (0.0, 1.0)).all())


def _hopeless(sample: Sample, groups: Ints | None) -> str:
    """Why no method has anything to go by."""
    if isinstance(sample, Means) and not np.isfinite(sample.columns).all():
        return "values that are not finite have no mean to make an interval of"
    if groups is not None and (groups == groups[0]).all():
        return "one group alone says nothing of how others would spread"
    if len(sample) == 1:
        return "one query alone says nothing of how others would spread"
    if effective_units(len(sample), sample.weights, groups) == 1:
        return "one query or group has all of the weight, so there is no spread to go by"
    return ""


def _too_uneven(sample: Sample, groups: Ints | None, level: float) -> str:
    """Why there is no interval: a few heavy units say nothing of how others would spread."""
    effective = effective_units(len(sample), sample.weights, groups)
    size, needed = number_of_units(len(sample), numbered(groups)), fewest_units(level)
    if effective >= needed or not is_uneven(len(sample), sample.weights, groups):
        return ""
    what = "queries" if groups is None else "groups"
    return (
        f"{size:,} {what} count as {effective:,.1f} of equal weight (Kish), too few for a "
        f"{100 * level:.10g} % interval, which takes {needed}"
    )


def _unspread(method: str, groups: Ints | None) -> str:
    """Why there is no interval: what is all the same."""
    units = "queries have" if groups is None else "groups have"
    same = "resamples give" if method in ("bca", "percentile") else units
    return f"all {same} the same value, which says nothing of how others would spread"


def _too_few(size: int, level: float) -> str:
    """Why there is no interval of a median: where not even the least and the greatest value are
    far enough apart."""
    needed = 1 + math.ceil(-math.log2(_outside(level)))
    if size >= needed:
        return ""
    return (
        f"{counted(size, 'query', 'queries')} are too few for a {100 * level:g} % interval of a "
        f"median, which takes {needed}"
    )


def _outside(level: float) -> float:
    """1 - level, and as much more as its rounding may have taken."""
    return (1 - level) * (1 + 1e-12) + 2.0**-53


def _spread(sample: Means, groups: Ints | None, error: float) -> Spread:
    more = [(np.array([error**2]), np.array([math.inf]))] if error else ()
    return spread(sample.columns[:, :1], sample.weights, groups, more=more)


def _student(
    sample: Sample, groups: Ints | None, estimate: float, level: float, error: float
) -> tuple[float, float]:
    """Student's bounds, on the scale of what is averaged."""
    assert isinstance(sample, Means)
    size = len(sample) if sample.aggregate == "sum" else 1
    if sample.aggregate == "geometric":
        found = _spread(sample, groups, error / estimate)
        half = float(half_widths(found, level)[0])
        return estimate * math.exp(-half), estimate * math.exp(half)
    half = float(half_widths(_spread(sample, groups, error / size), level)[0]) * size
    return estimate - half, estimate + half


def _wilson(sample: Sample, groups: Ints | None, level: float) -> tuple[float, float]:
    """Wilson's bounds, of as many equal queries or groups as say as much."""
    assert isinstance(sample, Means)
    # All zero or all one exactly, whatever the weights round to.
    share = 1.0 if sample.columns.all() else sample.value()
    size = effective_units(len(sample), sample.weights, groups)
    low, high = wilson(share * size, size, level)
    return float(low), float(high)


def _order(sample: Sample, level: float) -> tuple[float, float]:
    """The k-th smallest and the k-th largest value, for the largest k that keeps the level: a
    median is below the k-th smallest of n as often as a coin shows fewer than k heads in n."""
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
    """Bounds from resampled queries or groups."""
    from judged.statistics.resampling.bootstrap import bootstrap

    rows = sample.values[:, None] if isinstance(sample, Median) else sample.columns
    if all(_all_equal(column) for column in rows.T):
        return math.nan, math.nan
    low, high = bootstrap(
        [sample], groups, levels=(level,), method=method, resamples=resamples, seed=seed
    )
    return float(low[0, 0]), float(high[0, 0])


def _all_equal(values: Floats) -> bool:
    low, high = float(values.min()), float(values.max())
    if math.isinf(low) or math.isinf(high):
        return low == high
    return high - low <= CLOSE * max(abs(low), abs(high))


def _widened(
    estimate: float, bounds: tuple[float, float], error: float, level: float
) -> tuple[float, float]:
    """Bounds further away by what the number itself may be off."""
    more = normal_quantile((1 + level) / 2) * error
    below, above = (math.hypot(estimate - end, more) for end in bounds)
    return estimate - below, estimate + above
