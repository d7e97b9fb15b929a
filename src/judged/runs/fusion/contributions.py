"""What each result of a list gives to its item: by its rank, or by its score once that is
normalised within its list."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, borders
from judged.errors import InputError
from judged.runs.fusion.lists import Lists
from judged.runs.fusion.settings import Settings


def contributions(lists: Lists, settings: Settings) -> Floats:
    """What each result of a run gives, before weights."""
    if settings.normalise is None:
        return _expected(lists, 1 / (settings.k + lists.rank), settings)
    if settings.normalise == "rank":
        gained = 1 - (lists.rank - 1) / lists.each(lists.lengths)
        return _expected(lists, gained, settings)
    _refuse_infinite(lists)
    return _NORMALISED[settings.normalise](lists)


def _expected(lists: Lists, gained: Floats, settings: Settings) -> Floats:
    """The mean over the ranks of each tie, where tied results have no order."""
    if settings.ties != "expected":
        return gained
    new = borders(lists.tie)
    size = np.diff(np.append(np.flatnonzero(new), len(new)))
    mean: Floats = np.add.reduceat(gained, np.flatnonzero(new)) / size
    return np.repeat(mean, size)


def _highest(lists: Lists) -> Floats:
    return lists.score[lists.starts]


def _lowest(lists: Lists) -> Floats:
    return lists.score[lists.starts + lists.lengths - 1]


def constant(lists: Lists) -> NDArray[np.bool_]:
    """Which lists have one score throughout."""
    return _highest(lists) == _lowest(lists)


def _minmax(lists: Lists) -> Floats:
    """From 1 for the highest score of a list to 0 for its lowest; 1 where there is only one."""
    high, low = _highest(lists), _lowest(lists)
    # The difference of two floating-point numbers may be beyond all of them; that of halves is not.
    scale = np.where(np.isinf(high - low), 0.5, 1.0)
    span = high * scale - low * scale
    part = lists.score * lists.each(scale) - lists.each(low * scale)
    same = lists.each(span == 0)
    return np.where(same, 1.0, part / np.where(same, 1.0, lists.each(span)))


def _zscore(lists: Lists) -> Floats:
    """In standard deviations (of all results, not of a sample) from the mean; 0 where all are
    equal."""
    # The same of min-max scores, as both are linear; nothing is too large or too small in these.
    value, starts = _minmax(lists), lists.starts
    away = value - lists.each(np.add.reduceat(value, starts) / lists.lengths)
    deviation = np.sqrt(np.add.reduceat(away**2, starts) / lists.lengths)
    same = constant(lists)
    scaled: Floats = away / lists.each(np.where(same, 1.0, deviation))
    return np.where(lists.each(same), 0.0, scaled)


def _max(lists: Lists) -> Floats:
    """Shares of a list's highest score, which must be above 0."""
    high = _highest(lists)
    if (high <= 0).any():
        at = lists.starts[np.argmax(high <= 0)]
        query, _, score = lists.original(at)
        why = "which nothing can be divided by" if not score else "and to divide by it turns orders"
        raise InputError(
            f"{lists.place(at)}: the highest score of query {query!r} is {score:g}, {why}; choose "
            "another normalisation, as minmax."
        )
    return lists.score / lists.each(high)


def _refuse_infinite(lists: Lists) -> None:
    if not np.isfinite(lists.score).all():
        at = np.flatnonzero(~np.isfinite(lists.score))[0]
        query, item, _ = lists.original(at)
        raise InputError(
            f"{lists.place(at)}: the score of item {item!r} for query {query!r} is infinite, which "
            "cannot be added up; give it a number, or fuse ranks: method='rrf' (--method rrf)."
        )


def _sum(lists: Lists) -> Floats:
    """Shares that add up to 1 in each list: of what scores are above the lowest."""
    value = np.where(lists.each(constant(lists)), 1.0, _minmax(lists))
    return value / lists.each(np.add.reduceat(value, lists.starts))


_NORMALISED: dict[str, Callable[[Lists], Floats]] = {
    "minmax": _minmax,
    "zscore": _zscore,
    "max": _max,
    "sum": _sum,
    "none": lambda lists: lists.score,
}
