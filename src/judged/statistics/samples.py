"""What a number over queries is made of: enough to compute it again for any of the queries, each
taken any number of times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from judged.arrays import Floats, Ints, positions, starts_of
from judged.statistics.aggregates import CLOSE, GEOMETRIC_FLOOR, median, weighted_mean
from judged.statistics.exact_sums import exact_sum


def _same(means: Floats) -> Floats:
    return means[..., 0]


@dataclass(frozen=True, eq=False)
class Means:
    """A number that is a function of means over the queries: of one column or of several.

    >>> Means.of_values(np.array([1.0, 3.0])).value()
    2.0
    """

    columns: Floats
    """One row per query that counts, none of them undefined."""
    function: Callable[[Floats], Floats] = _same
    """From means of the columns, along the last axis, to the number."""
    aggregate: str = ""
    """mean, sum or geometric, where the number is that of one value per query; its column then
    holds what is averaged: the values, or their logarithms. Empty for any other function."""
    weights: Floats | None = None
    """How much each query counts; None where all count the same."""
    of_totals: bool = False
    """Whether the function of the columns' totals is the same number, as of a ratio: then it is
    computed of these, without the rounding of means."""

    @classmethod
    def of_values(
        cls, values: Floats, aggregate: str = "mean", weights: Floats | None = None
    ) -> Means:
        """The mean, sum or geometric mean of one value per query."""
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
        """What the number is a mean of, on its own scale; None where it is another function."""
        return self.columns[:, 0] if self.aggregate else None

    @classmethod
    def ratio(cls, upper: Floats, lower: Floats, weights: Floats | None = None) -> Means:
        """The total of one column by that of another: the mean of items pooled over queries, from
        their sum and their number in each."""
        columns = np.stack([upper, lower], axis=1)
        return cls(columns, lambda m: m[..., 0] / m[..., 1], "", weights, of_totals=True)

    def value(self) -> float:
        """The number."""
        if self.aggregate == "sum" and self.weights is None:
            return exact_sum(self.columns[:, 0])
        if self.of_totals:
            weighed = self.columns if self.weights is None else self.columns * self.weights[:, None]
            return float(self.function(np.array([exact_sum(each) for each in weighed.T])))
        means = [weighted_mean(column, self.weights) for column in self.columns.T]
        return float(self.function(np.array(means)))

    def take(self, which: Ints) -> Means:
        """The same of some of the queries only, in this order."""
        weights = None if self.weights is None else self.weights[which]
        if self.aggregate == "sum":
            return Means.of_values(self.columns[which, 0], "sum", weights)
        return replace(self, columns=self.columns[which], weights=weights)

    def resampled(self, counts: Floats) -> Floats:
        """The number for each row of counts: how often each query is taken."""
        weighed = counts if self.weights is None else counts * self.weights
        return self.function(weighed @ self.columns / weighed.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Median:
    """A median of values, one or more per query; infinite ones among them.

    >>> Median.of_values(np.array([1.0, 2.0, np.inf])).value()
    2.0
    """

    values: Floats
    """What the median is of."""
    owner: Ints
    """The query of each value, as its number from 0."""
    size: int
    """How many queries there are."""
    weights: Floats | None = None
    """How much each query counts; None where all count the same."""
    aggregate: str = field(default="median", init=False)

    @classmethod
    def of_values(cls, values: Floats, weights: Floats | None = None) -> Median:
        """The median of one value per query."""
        return cls(values, np.arange(len(values)), len(values), weights)

    def __len__(self) -> int:
        return self.size

    @property
    def averaged(self) -> None:
        """A median is no mean."""

    @property
    def pooled(self) -> bool:
        """Whether queries have other numbers of values than one each."""
        return bool((np.bincount(self.owner, minlength=self.size) != 1).any())

    def value(self) -> float:
        """The number."""
        return median(self.values, None if self.weights is None else self.weights[self.owner])

    def take(self, which: Ints) -> Median:
        """The same of some of the queries only, each at most once, in this order."""
        place = np.full(self.size, -1)
        place[which] = np.arange(len(which))
        owner = place[self.owner]
        kept = np.flatnonzero(owner >= 0)
        kept = kept[np.argsort(owner[kept], kind="stable")]
        weights = None if self.weights is None else self.weights[which]
        return Median(self.values[kept], owner[kept], len(which), weights)

    def resampled(self, counts: Floats) -> Floats:
        """The number for each row of counts: how often each query is taken."""
        weighed = counts if self.weights is None else counts * self.weights
        order = np.argsort(self.values, kind="stable")
        values = self.values[order]
        upto = np.cumsum(weighed[:, self.owner[order]], axis=1)
        half = upto[:, -1:] / 2
        low = np.argmax(upto >= half * (1 - CLOSE), axis=1)
        high = np.argmax(upto > half * (1 + CLOSE), axis=1)
        return np.where(half[:, 0] > 0, (values[low] + values[high]) / 2, np.nan)


@dataclass(frozen=True, eq=False)
class Rows:
    """What queries give to a number that is not made of one value of each: rows of columns, any
    number of them for a query."""

    owner: Ints
    """The query of each row, as its number from 0; rows of a query stand together, and queries in
    order."""
    columns: Floats
    """One row each, in columns."""
    size: int
    """How many queries there are."""

    def take(self, chosen: Ints) -> Rows:
        """What some queries give, in this order."""
        lengths = np.bincount(self.owner, minlength=self.size)
        at = positions(starts_of(lengths)[chosen], lengths[chosen])
        owner = np.repeat(np.arange(len(chosen)), lengths[chosen])
        return Rows(owner, self.columns[at], len(chosen))

    @classmethod
    def concat(cls, parts: Sequence[Rows]) -> Rows:
        """What the queries of several parts give, one part after the other."""
        starts = starts_of(np.array([part.size for part in parts], np.int64)).tolist()
        return cls(
            np.concatenate([part.owner + at for part, at in zip(parts, starts, strict=True)]),
            np.concatenate([part.columns for part in parts]),
            sum(part.size for part in parts),
        )


Sample = Means | Median
"""What any number over queries is made of."""
