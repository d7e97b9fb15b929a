"""What is drawn, flipped or left out as a whole: queries, or groups of them."""

from __future__ import annotations

import numpy as np

from judged.segments import Floats, Ints
from judged.statistics.aggregates import effective_number, relative

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


def weighed(columns: Floats, weights: Floats | None) -> Floats:
    """Each query's numbers times its weight, relative to the greatest."""
    shares = relative(weights)
    return columns if shares is None else columns * shares[:, None]
