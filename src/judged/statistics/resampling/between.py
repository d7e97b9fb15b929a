"""Whether means differ between parts of the queries: the F of an analysis of variance, with p from
permutations of the parts' labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from judged.segments import Floats, Ints
from judged.statistics.aggregates import CLOSE

BLOCK = 2**20
"""How many labels are drawn at a time."""
REACHED = 1e-10
"""What is within this share of the whole spread counts as reached: the rest is rounding."""


@dataclass(frozen=True, eq=False)
class Between:
    """Of each column, how much its means differ between parts."""

    statistic: Floats
    """F: the spread between the parts by that within them; NaN where there is none to go by."""
    p: Floats
    """How often labels put at random make it as large; 1 where nothing spreads."""


def between(
    columns: Floats,
    labels: Ints,
    weights: Floats | None = None,
    groups: Ints | None = None,
    *,
    resamples: int = 9_999,
    seed: int = 0,
) -> Between:
    """Test whether means of columns differ between parts of the queries.

    Labels go from query to query. Where queries come in groups they go from group to group, if each
    group is of one part, and else from query to query within each group: so queries of a group
    never count as if they were independent.

    Parameters
    ----------
    columns : array of queries and columns
        One row per query.
    labels : array of int
        The part of each query, numbered from 0.
    weights : array, optional
        How much each query counts, above 0.
    groups : array of int, optional
        The group of each query, numbered from 0.
    resamples : int
        How often the labels are permuted.
    seed : int
        What the permutations are drawn from.

    Returns
    -------
    Between

    >>> found = between(np.array([[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]), np.repeat([0, 1], 3))
    >>> found.statistic, found.p.round(1)
    (array([54.]), array([0.1]))
    """
    size = int(labels.max(initial=-1)) + 1
    finite = np.isfinite(columns).all(axis=0)
    values = np.where(finite, columns, 0.0)
    weights = np.ones(len(values)) if weights is None else weights / weights.mean()
    if len(values):
        values = values - values[0]
        largest = np.abs(values).max(axis=0)
        # Constant but for rounding is constant, and no square is too large or too small.
        spreads = finite & (largest > CLOSE * np.abs(columns).max(axis=0))
        values = np.where(spreads, values, 0.0) / np.where(spreads, largest, 1.0)
        values = values - weights @ values / weights.sum()
    whole = weights @ values**2
    apart = _apart(values, labels[None], weights, size)[0]
    rest = len(values) - size
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = (apart / (size - 1)) / (np.maximum(whole - apart, 0.0) / rest)
    statistic = np.where(finite & (whole > 0) & (size > 1) & (rest > 0), statistic, np.nan)
    reached = np.zeros(values.shape[1])
    for permuted in _permutations(labels, groups, resamples, seed):
        reached += (_apart(values, permuted, weights, size) >= apart - REACHED * whole).sum(axis=0)
    return Between(statistic, np.where(finite, (1 + reached) / (1 + resamples), np.nan))


def _apart(values: Floats, labels: Ints, weights: Floats, size: int) -> Floats:
    """For each row of labels and each column the spread between parts: the sum of squares of their
    means, each as often as its part weighs. The mean of all is 0."""
    weighed = np.column_stack([values * weights[:, None], weights])
    found = np.zeros((len(labels), values.shape[1]))
    for part in range(size):
        sums = (labels == part).astype(np.float64) @ weighed
        found += sums[:, :-1] ** 2 / sums[:, -1:]
    return found


def _permutations(labels: Ints, groups: Ints | None, resamples: int, seed: int) -> Iterator[Ints]:
    """Labels in random order, a block of rows at a time."""
    random = np.random.default_rng(seed)
    step = max(1, BLOCK // max(len(labels), 1))
    blocks = [min(step, resamples - start) for start in range(0, resamples, step)]
    if groups is not None and not _one_label_each(labels, groups):
        order = np.argsort(groups, kind="stable")
        back = np.argsort(order, kind="stable")
        ordered, by_group = labels[order], groups[order]
        for rows in blocks:
            keys = by_group + random.random((rows, len(labels)))
            yield ordered[np.argsort(keys, axis=1)][:, back]
        return
    units = labels if groups is None else labels[np.unique(groups, return_index=True)[1]]
    for rows in blocks:
        permuted = random.permuted(np.tile(units, (rows, 1)), axis=1)
        yield permuted if groups is None else permuted[:, groups]


def _one_label_each(labels: Ints, groups: Ints) -> bool:
    """Whether all queries of each group are of one part."""
    first = labels[np.unique(groups, return_index=True)[1]]
    return bool((first[groups] == labels).all())
