"""The rules by which several grades of an item become one, over all items at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints


def one_grade(grades: Floats, rule: str) -> Floats:
    """The grade of each row by a rule; NaN where nobody gave one.

    >>> one_grade(np.array([[0.0, 2.0, 2.0], [3.0, np.nan, 1.0]]), "majority").tolist()
    [2.0, 1.0]
    """
    ordered = np.sort(grades, axis=1)  # ascending, NaN last
    count = (~np.isnan(grades)).sum(axis=1)
    rows, last = np.arange(len(grades)), np.maximum(count - 1, 0)
    lowest, highest = ordered[:, 0], ordered[rows, last]
    if rule == "first":
        return grades[rows, np.argmax(~np.isnan(grades), axis=1)]
    if rule == "lowest":
        return lowest
    if rule == "highest":
        return highest
    if rule == "majority":
        return ordered[rows, np.argmax(times(ordered), axis=1)]
    if rule == "median":
        middle = np.stack([ordered[rows, last // 2], ordered[rows, (last + 1) // 2]], axis=1)
        return _mean(middle, np.full(len(rows), 2))
    return _mean(ordered, count)


def times(ordered: Floats) -> Ints:
    """How often each grade occurs in its row; 0 for what is none."""
    return (ordered[:, :, None] == ordered[:, None, :]).sum(axis=2)


def tied(grades: Floats) -> NDArray[np.bool_]:
    """Rows in which several grades were given most often.

    >>> tied(np.array([[0.0, 2.0, 2.0], [3.0, np.nan, 1.0]])).tolist()
    [False, True]
    """
    ordered = np.sort(grades, axis=1)
    often = times(ordered)
    most = often.max(axis=1, initial=0)
    return (most > 0) & ((often == most[:, None]).sum(axis=1) > most)


def _mean(ordered: Floats, count: Ints) -> Floats:
    """Means of ascending grades; of equal ones that grade, whatever their sum rounds to."""
    rows = np.arange(len(ordered))
    low, high = ordered[:, 0], ordered[rows, np.maximum(count - 1, 0)]
    with np.errstate(all="ignore"):
        found = np.nansum(ordered, axis=1) / count
        # Sums of grades near the largest number there is are beyond it.
        found = np.where(np.isfinite(found), found, np.nansum(ordered / count[:, None], axis=1))
    return np.where(low == high, low, np.clip(found, low, high))
