"""Samples: what a number over queries is made of, so that any resample of queries gives it again.

Sums are rounded once, so that the order of values changes no bit. Units are queries, or groups of
queries: what is drawn, flipped or left out as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.text import counted, listed

if TYPE_CHECKING:
    from fractions import Fraction


def _same(means: Floats) -> Floats:
    return means[..., 0]


@dataclass(eq=False, repr=False)
class Means:
    """A number that is a function of means over the queries: of one column or of several."""

    columns: Floats  # one row per query that counts, without NaN
    function: Callable[[Floats], Floats] = _same
    """The number as a function of the means of the columns, along the last axis."""
    aggregate: str = ""
    """"mean", "sum" or "geometric" for one value per query: the column holds what is averaged.
    Else ""."""
    weights: Floats | None = None  # the weight of each query; None for equal weights
    of_totals: bool = False
    """True if the function of the totals gives the same number, such as for a ratio, without
    rounding of means."""

    @classmethod
    def of_values(
        cls, values: Floats, aggregate: str = "mean", weights: Floats | None = None
    ) -> Means:
        """Make the mean, sum or geometric mean of one value per query."""
        size = len(values)
        if aggregate == "geometric":
            logs = np.log(np.maximum(values, GEOMETRIC_FLOOR))
            return cls(logs[:, None], lambda m: np.exp(m[..., 0]), aggregate, weights)
        if aggregate == "sum":
            return cls(values[:, None], lambda m: m[..., 0] * size, aggregate, weights)
        return cls(values[:, None], aggregate=aggregate, weights=weights)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def averaged(self) -> Floats | None:
        """The values that the number is a mean of; None for any other function."""
        return self.columns[:, 0] if self.aggregate else None

    @classmethod
    def ratio(cls, upper: Floats, lower: Floats, weights: Floats | None = None) -> Means:
        """Make the total of one column divided by the total of another."""
        columns = np.stack([upper, lower], axis=1)
        return cls(columns, lambda m: m[..., 0] / m[..., 1], "", weights, of_totals=True)

    def value(self) -> float:
        """Return the number."""
        if self.aggregate == "sum" and self.weights is None:
            return exact_sum(self.columns[:, 0])
        if self.of_totals:
            weighed = self.columns if self.weights is None else self.columns * self.weights[:, None]
            return float(self.function(np.array([exact_sum(total) for total in weighed.T])))
        means = [weighted_mean(column, self.weights) for column in self.columns.T]
        return float(self.function(np.array(means)))

    def take(self, which: Ints) -> Means:
        """Return the same of some of the queries, in this order."""
        weights = None if self.weights is None else self.weights[which]
        if self.aggregate == "sum":
            return Means.of_values(self.columns[which, 0], "sum", weights)
        return replace(self, columns=self.columns[which], weights=weights)


@dataclass(eq=False, repr=False)
class Median:
    """A median of values, one or more per query, which may be infinite."""

    values: Floats
    owner: Ints  # the query of each value, as its number from 0
    size: int  # the number of queries
    weights: Floats | None = None  # the weight of each query; None for equal weights
    aggregate: str = field(default="median", init=False)

    @classmethod
    def of_values(cls, values: Floats, weights: Floats | None = None) -> Median:
        """Make the median of one value per query."""
        return cls(values, np.arange(len(values)), len(values), weights)

    def __len__(self) -> int:
        return self.size

    @property
    def averaged(self) -> None:
        """None: a median is not a mean."""

    @property
    def pooled(self) -> bool:
        """True if some query has another number of values than one."""
        return bool((np.bincount(self.owner, minlength=self.size) != 1).any())

    def value(self) -> float:
        """Return the number."""
        return median(self.values, None if self.weights is None else self.weights[self.owner])

    def take(self, which: Ints) -> Median:
        """Return the same of some of the queries, each at most once, in this order."""
        place = np.full(self.size, -1)
        place[which] = np.arange(len(which))
        owner = place[self.owner]
        kept = np.flatnonzero(owner >= 0)
        kept = kept[np.argsort(owner[kept], kind="stable")]
        weights = None if self.weights is None else self.weights[which]
        return Median(self.values[kept], owner[kept], len(which), weights)


@dataclass(eq=False, repr=False)
class QueryRows:
    """Rows of queries, any number per query, behind a number."""

    owner: Ints  # the query of each row, as its number from 0, ascending
    columns: Floats
    size: int  # the number of queries


Sample = Means | Median
"""The queries' parts of any number over queries."""


_BASE = 1074
"""Exact sums are whole multiples of 2 to the power of minus this, the smallest float above 0."""
_HUGE = 2.0**900
"""From this size on, splitting numbers would overflow."""
_FSUM_TERMS = 50
"""Up to this number of terms go to `math.fsum` as they are."""


@dataclass(frozen=True)
class ExactSum:
    """A sum of floats without rounding; such sums add up exactly."""

    steps: int = 0  # the sum of all finite terms, in units of the smallest float above 0
    beyond: float = 0.0  # the sum of the infinite and NaN terms, otherwise 0
    count: int = 0  # the number of terms

    @classmethod
    def of(cls, terms: Iterable[float] | NDArray[np.floating]) -> ExactSum:
        """Add up some numbers."""
        values = np.asarray(terms if isinstance(terms, np.ndarray) else list(terms), np.float64)
        finite = np.isfinite(values)
        beyond = 0.0
        if not finite.all():
            with np.errstate(invalid="ignore"):
                beyond = float(np.sum(values[~finite]))
            kept = values[finite]
        else:
            kept = values
        steps = sum(map(_steps, _partial_sums(kept)))
        return cls(steps, beyond, len(values))

    def __add__(self, other: ExactSum) -> ExactSum:
        return ExactSum(
            self.steps + other.steps, self.beyond + other.beyond, self.count + other.count
        )

    def fraction(self) -> Fraction:
        """Return the sum of the finite terms as it is."""
        from fractions import Fraction  # rarely needed

        return Fraction(self.steps, 1 << _BASE)

    def value(self) -> float:
        """Return the sum, rounded once."""
        if self.beyond:
            return self.beyond
        try:
            return self.steps / (1 << _BASE)
        except OverflowError:
            return math.inf if self.steps > 0 else -math.inf

    def mean(self) -> float:
        """Return the sum divided by the number of terms; NaN for no terms."""
        return self.value() / self.count if self.count else math.nan


def _steps(value: float) -> int:
    upper, lower = value.as_integer_ratio()
    return upper * ((1 << _BASE) // lower)


def _partial_sums(values: Floats) -> list[float]:
    """Return a few numbers that have exactly the sum of many."""
    # Adding and subtracting a power of two well above the sum leaves the leading digits of each
    # number, which add up without rounding. The rest is treated alike (Rump, Ogita and Oishi,
    # 2008).
    parts: list[float] = []
    left = values
    while len(left) > _FSUM_TERMS:
        greatest = float(np.abs(left).max())
        if greatest == 0:
            return parts
        if greatest >= _HUGE:
            break
        power = math.frexp(greatest)[1] + len(left).bit_length() + 1
        far = math.ldexp(1.0, power)
        upper = (left + far) - far
        parts.append(float(upper.sum()))
        left = left - upper
        if len(parts) > 2:  # few numbers have digits as far down
            left = left[left != 0]
    return [*parts, *left.tolist()]


def exact_sum(values: Floats) -> float:
    """Add up an array and round once, so that its order changes no bit."""
    if not np.isfinite(values).all():
        return float(np.sum(values))
    try:
        return math.fsum(_partial_sums(values)) + 0.0
    except OverflowError:  # on the way, or in the end
        return ExactSum.of(values).value()


def exact_mean(values: Floats) -> float:
    """Divide the exact sum of an array by its length; NaN if it is empty."""
    return exact_sum(values) / len(values) if len(values) else math.nan


GEOMETRIC_FLOOR = 1e-5
"""trec_eval's floor, so that one query at zero does not make the geometric mean zero."""
CLOSE = 1e-12
"""Relative difference up to which numbers count as equal but for rounding."""

Weighed = Floats | None
"""Weights above 0 of which the largest is 1; None for equal weights."""


def relative(weights: Floats | None) -> Weighed:
    """Divide weights by the largest; return None for equal weights, so that they change no bit."""
    if weights is None or not len(weights) or (weights == weights[0]).all():
        return None
    return np.maximum(weights / weights.max(), np.finfo(np.float64).tiny)


def effective_number(weights: Floats) -> float:
    """Compute the effective number of weights (Kish): (Σw)² / Σw²."""
    shares = weights / weights.max()
    if (shares == 1).all():  # ten times as fast for a million queries, and the same number
        return float(len(shares))
    return exact_sum(shares) ** 2 / exact_sum(shares**2)


def mean(values: Floats, weights: Floats | None = None) -> float:
    """Compute the weighted mean of values."""
    return weighted_mean(values, relative(weights))


def weighted_mean(values: Floats, weights: Weighed) -> float:
    if weights is None:
        return exact_mean(values)
    return exact_sum(weights * values) / exact_sum(weights)


def sum_error(errors: Floats) -> float:
    """Compute the standard error of a sum."""
    return float(np.sqrt(exact_sum(errors**2)))


def mean_error(values: Floats, errors: Floats, weights: Weighed) -> float:
    if weights is None:
        return sum_error(errors) / len(errors)
    return sum_error(weights * errors) / exact_sum(weights)


def geometric(values: Floats, weights: Weighed) -> float:
    return float(np.exp(weighted_mean(np.log(np.maximum(values, GEOMETRIC_FLOOR)), weights)))


def geometric_error(values: Floats, errors: Floats, weights: Weighed) -> float:
    shares = np.where(values > GEOMETRIC_FLOOR, errors, 0.0) / np.maximum(values, GEOMETRIC_FLOOR)
    return geometric(values, weights) * mean_error(values, shares, weights)


def median(values: Floats, weights: Weighed) -> float:
    if weights is None:
        return float(np.median(values))
    return float(np.mean(values[_middle(values, weights)]))


def median_error(values: Floats, errors: Floats, weights: Weighed) -> float:
    weights = np.ones(len(values)) if weights is None else weights
    middle = _middle(values, weights, errors)
    return sum_error(errors[middle]) / len(middle)


def _middle(values: Floats, weights: Floats, *then: Floats) -> Ints:
    """Return the place of the weighted median, or two; equal values go by weight and by `then`."""
    order = np.lexsort((*then, weights, values))
    upto = np.cumsum(weights[order])
    half = upto[-1] / 2
    low = int(np.searchsorted(upto, half * (1 - CLOSE)))
    high = min(int(np.searchsorted(upto, half * (1 + CLOSE), "right")), len(order) - 1)
    return np.unique(order[[low, high]])


def total(values: Floats, weights: Weighed) -> float:
    assert weights is None, "refused before anything is computed"
    return exact_sum(values)


FEW_UNITS = 20
"""Results with a smaller effective number of weighted queries or groups carry a warning."""


def numbered(groups: Ints | None) -> Ints | None:
    """Renumber groups from 0 without gaps: an empty group would be drawn too."""
    return None if groups is None else np.unique(groups, return_inverse=True)[1]


def number_of_units(size: int, groups: Ints | None) -> int:
    """Return the number of queries, or of groups that are numbered from 0."""
    if groups is None:
        return size
    return int(groups.max()) + 1 if len(groups) else 0


def unit_sums(columns: Floats, groups: Ints | None) -> Floats:
    """Add up each column over the queries of each unit."""
    if groups is None:
        return columns
    units = number_of_units(len(columns), groups)
    sums = np.empty((units, columns.shape[1]))
    for number, column in enumerate(columns.T):
        sums[:, number] = np.bincount(groups, column, units)
    return sums


def unit_weights(size: int, weights: Floats | None, groups: Ints | None) -> Floats:
    """Add up the weights of the queries of each unit."""
    shares = relative(weights)
    return unit_sums((np.ones(size) if shares is None else shares)[:, None], groups)[:, 0]


def effective_units(size: int, weights: Floats | None, groups: Ints | None) -> float:
    """Compute the effective number of queries or groups (Kish)."""
    return effective_number(unit_weights(size, weights, numbered(groups))) if size else 0.0


def is_uneven(size: int, weights: Floats | None, groups: Ints | None) -> bool:
    """Return whether some queries, or groups, weigh more than others."""
    units = number_of_units(size, numbered(groups))
    return effective_units(size, weights, groups) < units * (1 - CLOSE)


def counted_as(queries: int, groups: int | None, effective: float) -> str:
    """Describe the effective number of queries or groups.

    >>> counted_as(300, 11, 2.195)
    '300 queries in 11 groups count as 2.2 groups of equal weight (Kish)'
    >>> counted_as(300, 10, 10)
    '300 queries in 10 groups'
    """
    units = queries if groups is None else groups
    words = counted(queries, "query", "queries")
    words += "" if groups is None else f" in {counted(groups, 'group')}"
    if math.isclose(effective, units):
        return words
    return f"{words} count as {effective:,.1f} {_units(groups)} of equal weight (Kish)"


def about_few_units(rows: Iterable[tuple[str, int, int | None, float]]) -> list[str]:
    """Warn about small effective numbers of weighted queries or groups, once for each number.

    `rows` are (measure, queries, groups, effective number). Unweighted queries without groups give
    no warning.

    >>> print(*about_few_units([("RR", 40, 8, 8.0), ("AP", 400, 80, 80.0), ("P@5", 9, None, 9.0)]))
    RR: 40 queries in 8 groups are few (below 20), so intervals are wide and approximate. Use more
    groups.
    """
    by_words: dict[tuple[str, str], list[str]] = {}
    for measure, queries, groups, effective in rows:
        plain = groups is None and math.isclose(effective, queries)
        if 0 < effective < FEW_UNITS and not plain:
            words = counted_as(queries, groups, effective), _units(groups)
            by_words.setdefault(words, []).append(measure)
    return [
        f"{listed(list(dict.fromkeys(names)))}: {words}"
        f"{', which' if 'count as' in words else ''} are few (below {FEW_UNITS}), so intervals are "
        f"wide and approximate. Use more {units}."
        for (words, units), names in by_words.items()
    ]


def _units(groups: int | None) -> str:
    return "queries" if groups is None else "groups"


def weighed(columns: Floats, weights: Floats | None) -> Floats:
    """Multiply each query's numbers by its weight, relative to the largest."""
    shares = relative(weights)
    return columns if shares is None else columns * shares[:, None]
