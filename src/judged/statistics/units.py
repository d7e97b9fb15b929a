"""What is drawn, flipped or left out as a whole: queries, or groups of them."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from judged.arrays import Floats, Ints
from judged.statistics.aggregates import CLOSE, effective_number, relative
from judged.text import counted, listed

FEW_UNITS = 20
"""With a smaller effective number of weighted queries, or of groups, results carry a warning."""


def numbered(groups: Ints | None) -> Ints | None:
    """Groups as numbers from 0 without gaps: an empty one would be a unit that says nothing, and
    yet be drawn."""
    return None if groups is None else np.unique(groups, return_inverse=True)[1]


def number_of_units(size: int, groups: Ints | None) -> int:
    """How many queries there are, or groups of them, which are numbered from 0."""
    if groups is None:
        return size
    return int(groups.max()) + 1 if len(groups) else 0


def unit_sums(columns: Floats, groups: Ints | None) -> Floats:
    """Sums of each column over the queries of each unit."""
    if groups is None:
        return columns
    units = number_of_units(len(columns), groups)
    found = np.empty((units, columns.shape[1]))
    for at, column in enumerate(columns.T):
        found[:, at] = np.bincount(groups, column, units)
    return found


def unit_weights(size: int, weights: Floats | None, groups: Ints | None) -> Floats:
    """How much each unit counts: the sum of its queries' weights."""
    shares = relative(weights)
    return unit_sums((np.ones(size) if shares is None else shares)[:, None], groups)[:, 0]


def effective_units(size: int, weights: Floats | None, groups: Ints | None) -> float:
    """Compute how many queries, or groups, of equal weight would say as much (Kish).

    >>> round(effective_units(4, None, np.array([0, 0, 0, 1])), 6)
    1.6
    """
    return effective_number(unit_weights(size, weights, numbered(groups))) if size else 0.0


def is_uneven(size: int, weights: Floats | None, groups: Ints | None) -> bool:
    """Return whether some queries, or groups, weigh more than others.

    >>> is_uneven(4, None, np.array([0, 0, 0, 1])), is_uneven(4, None, np.array([0, 0, 1, 1]))
    (True, False)
    """
    units = number_of_units(size, numbered(groups))
    return effective_units(size, weights, groups) < units * (1 - CLOSE)


def counted_as(queries: int, groups: int | None, effective: float) -> str:
    """Say how many queries, or groups, of equal weight these are worth.

    >>> counted_as(300, 11, 2.195)
    '300 queries in 11 groups count as 2.2 groups of equal weight (Kish)'
    >>> counted_as(300, 10, 10)
    '300 queries in 10 groups'
    """
    units = queries if groups is None else groups
    said = counted(queries, "query", "queries")
    said += "" if groups is None else f" in {counted(groups, 'group')}"
    if math.isclose(effective, units):
        return said
    return f"{said} count as {effective:,.1f} {_units(groups)} of equal weight (Kish)"


def about_few_units(rows: Iterable[tuple[str, int, int | None, float]]) -> list[str]:
    """Warn of a small effective number of weighted queries, or of groups, once for each number.

    Parameters
    ----------
    rows : iterable of (measure, queries, groups, effective number)
        Nothing is said of queries that all count the same and are in no groups.

    Returns
    -------
    list of str

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
    """Each query's numbers times its weight, relative to the greatest."""
    shares = relative(weights)
    return columns if shares is None else columns * shares[:, None]
