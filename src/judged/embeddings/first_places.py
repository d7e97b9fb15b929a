"""Where the highest scores of a row stand.

A row of scores is seen as a table of groups whose greatest scores come from one pass over the row.
The k-th greatest of these is a score that at least k items reach, so only the groups that reach it
are looked into: the rest of the row is never sorted, partitioned or copied.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from judged.arrays import Ints
from judged.inputs.vectors.vectors import Matrix

_GROUPED_FROM = 16
"""A row so many times longer than k is looked through by groups; a shorter one is partitioned at
once."""


def reaching(scores: Matrix, k: int) -> Ints:
    """Where all scores stand that reach the k-th greatest of a row, ties included; minus infinity
    is nobody's score."""
    width = len(scores)
    if k >= width:
        return np.flatnonzero(scores > -np.inf)
    if width < _GROUPED_FROM * k:
        return _from(scores, np.partition(scores, width - k)[width - k])
    # With as many groups as members of the best k groups, both steps cost the same.
    groups = isqrt(width * k)
    deep, rest = divmod(width, groups)
    greatest = scores[: deep * groups].reshape(deep, groups).max(axis=0)
    if rest:
        np.maximum(greatest[:rest], scores[deep * groups :], out=greatest[:rest])
    limit = np.partition(greatest, groups - k)[groups - k]
    chosen = np.flatnonzero(greatest >= limit)
    if len(chosen) * 4 > groups or limit == -np.inf:
        found = _from(scores, limit)
    else:
        members = (np.arange(0, width, groups)[:, None] + chosen).ravel()
        members = members[
            : np.searchsorted(members[-len(chosen) :], width) + len(members) - len(chosen)
        ]
        found = members[_from(scores[members], limit)]
    if len(found) <= k:
        return found
    reached = scores[found]
    return found[_from(reached, np.partition(reached, len(found) - k)[len(found) - k])]


def _from(scores: Matrix, limit: np.float32) -> Ints:
    return np.flatnonzero(scores >= limit if limit > -np.inf else scores > limit)
