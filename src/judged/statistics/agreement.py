"""Agreement of assessors beyond chance: Cohen's kappa and Krippendorff's alpha.

Both are samples, so that they can be computed again for any resample of the queries.

Kappa is 1 - n Σ d / Σ a_c b_k d(c, k) with the n items' distances d. a_c and b_k are the numbers of
items to which one assessor gave c and the other k. Alpha is 1 - (n - 1) Σ o_ck d(c, k) / Σ n_c n_k
d(c, k) with the coincidences o_ck. An item of m grades has m (m - 1) pairs, each of which counts
1 / (m - 1). n_c is how many grades c are paired, and n all of them.

Distances are 0 or 1 (plain, nominal), |c - k| (linear) or its square (quadratic, interval). Those
of ordinal alpha are squares of differences of mean ranks among all paired grades.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judged.arrays import Floats, Ints
from judged.errors import InputError
from judged.options import choice
from judged.statistics.samples import Means

KAPPAS = ("plain", "linear", "quadratic")
"""Distances between grades for Cohen's kappa."""
ALPHAS = ("nominal", "ordinal", "interval")
"""Distances between grades for Krippendorff's alpha."""

EXTREME = 1e100
"""Beyond this, distances are divided by the largest, so that squares do not overflow."""


def cohen_kappa(first: ArrayLike, second: ArrayLike, *, weights: str = "plain") -> float:
    """Compute Cohen's kappa of two assessors.

    It is NaN if both gave one and the same grade to everything.

    Parameters
    ----------
    first, second : array-like
        The grades of the same items.
    weights : {"plain", "linear", "quadratic"}, optional
        Distance of two grades: different or not, their difference, or its square.

    >>> cohen_kappa([0, 0, 1, 1], [0, 0, 1, 0])
    0.5
    """
    one, other = _grades(first), _grades(second)
    same = one.ndim == 1 and one.shape == other.shape and len(one)
    if not same or not np.isfinite([one, other]).all():
        raise InputError(
            "kappa takes two lists of finite grades of the same items, one per assessor."
        )
    return kappa_sample(one, other, np.zeros(len(one), np.int64), weights=weights).value()


def krippendorff_alpha(grades: ArrayLike, *, metric: str = "nominal") -> float:
    """Compute Krippendorff's alpha of two or more assessors; NaN if all paired grades are the same.

    Parameters
    ----------
    grades : array-like
        A row per item and a column per assessor; NaN where a grade is missing.
    metric : {"nominal", "ordinal", "interval"}, optional
        Distance of two grades: different or not, by their ranks, or by their difference.

    >>> krippendorff_alpha([[0, 0], [1, 1], [1, 0], [0, float("nan")], [1, 1]], metric="interval")
    0.533...
    """
    table = _grades(grades)
    if table.ndim != 2 or table.shape[1] < 2 or np.isinf(table).any():
        raise InputError(
            "alpha takes a table of grades: a row per item, and two or more columns, one per "
            "assessor."
        )
    sample = alpha_sample(table, np.zeros(len(table), np.int64), metric=metric)
    return sample.value() if len(sample) else np.nan


def _grades(values: ArrayLike) -> Floats:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError("grades must be numbers.") from None


def kappa_sample(first: Floats, second: Floats, query: Ints, *, weights: str = "plain") -> Means:
    """Make kappa a number over queries: item i belongs to query `query[i]`, from 0."""
    choice("weights", weights, KAPPAS)
    scale, codes = np.unique(np.stack([first, second]), return_inverse=True)
    one, other = codes.reshape(2, -1)
    distance = distances(scale, weights)
    size = int(query.max(initial=-1)) + 1
    columns = [
        np.bincount(query, distance[one, other], size)[:, None],
        *(_margins(query, code, size, len(scale)) for code in (one, other)),
    ]

    def kappa(means: Floats) -> Floats:
        ours, theirs = np.split(means[..., 1:], 2, axis=-1)
        with np.errstate(all="ignore"):
            expected = (ours @ distance * theirs).sum(axis=-1)
            return 1 - ours.sum(axis=-1) * means[..., 0] / expected

    return Means(np.concatenate(columns, axis=1), kappa, of_totals=True)


def alpha_sample(grades: Floats, query: Ints, *, metric: str = "nominal") -> Means:
    """Make alpha a number over queries; rows of fewer than two grades do not count."""
    choice("metric", metric, ALPHAS)
    there = ~np.isnan(grades)
    paired = there.sum(axis=1) > 1
    grades, there, query = grades[paired], there[paired], query[paired]
    scale, codes = np.unique(grades[there], return_inverse=True)
    code = np.full(grades.shape, -1)
    code[there] = codes.reshape(-1)
    size = int(query.max(initial=-1)) + 1
    rows = np.broadcast_to(query[:, None], grades.shape)[there]
    margins = _margins(rows, code[there], size, len(scale))
    apart = list(_apart(code, there))
    row, low, high, weight = (np.concatenate(parts) for parts in zip(*apart, strict=True))
    kinds, kind = np.unique(low * len(scale) + high, return_inverse=True)
    if metric != "ordinal":
        distance = distances(scale, metric)
        observed_sums = np.bincount(query[row], weight * distance[low, high], size)[:, None]
        return Means(np.concatenate([observed_sums, margins], axis=1), _alpha_at(distance, size))
    pairs = np.zeros((size, len(kinds)))
    np.add.at(pairs, (query[row], kind.reshape(-1)), weight)
    below, above = np.divmod(kinds, max(len(scale), 1))

    def alpha(means: Floats) -> Floats:
        counts = means[..., len(kinds) :] * size
        total = counts.sum(axis=-1)
        ranks = np.cumsum(counts, axis=-1) - counts / 2 - total[..., None] / 2
        apart = (ranks[..., above] - ranks[..., below]) ** 2
        with np.errstate(all="ignore"):
            observed = (means[..., : len(kinds)] * size * apart).sum(axis=-1)
            return 1 - (total - 1) * observed / (2 * total * (counts * ranks**2).sum(axis=-1))

    return Means(np.concatenate([pairs, margins], axis=1), alpha)


def _alpha_at(distance: Floats, size: int) -> Callable[[Floats], Floats]:
    """Return alpha as a function of means over queries, for fixed distances."""

    def alpha(means: Floats) -> Floats:
        counts = means[..., 1:] * size
        total = counts.sum(axis=-1)
        with np.errstate(all="ignore"):
            expected = (counts @ distance * counts).sum(axis=-1)
            return 1 - (total - 1) * means[..., 0] * size / expected

    return alpha


def distances(scale: Floats, kind: str) -> Floats:
    """Compute the distances between grades."""
    apart: Floats = np.abs(scale[:, None] - scale)
    largest = float(apart.max(initial=0.0))
    if largest and not 1 / EXTREME < largest < EXTREME:  # squares have to stay numbers
        apart = apart / largest
    if kind in ("plain", "nominal"):
        return (apart > 0).astype(np.float64)
    return apart if kind == "linear" else apart**2


def _margins(query: Ints, code: Ints, size: int, width: int) -> Floats:
    """Count how often each grade occurs in each query."""
    flat = np.bincount(query * width + code, minlength=size * width)
    return flat.reshape(size, width).astype(np.float64)


def _apart(code: Ints, there: NDArray[np.bool_]) -> Iterator[tuple[Ints, Ints, Ints, Floats]]:
    """Yield the items that two assessors graded differently, their grades and weights."""
    weight = 2 / (there.sum(axis=1) - 1)
    for one, other in combinations(range(code.shape[1]), 2):
        row = np.flatnonzero(there[:, one] & there[:, other] & (code[:, one] != code[:, other]))
        both = code[row][:, [one, other]]
        yield row, both.min(axis=1), both.max(axis=1), weight[row]
