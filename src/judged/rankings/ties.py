"""Tied results in the order of what they are worth."""

from __future__ import annotations

import numpy as np

from judged.arrays import Floats, Ints, borders, ordinals


def favoured(
    query: Ints,
    first: Ints,
    last: Ints,
    worth: Floats,
    *,
    best: bool,
    unjudged: float = 0.0,
    then: Ints | None = None,
) -> Ints:
    """Ranks of hits when every tie is ordered by worth: what is worth more first (best), or last
    (worst).

    Results that are no hits are worth `unjudged`; a hit worth the same stands below them where the
    best come first. Hits worth the same stand in the order of `then`.

    >>> tie = (np.zeros(2, int), np.array([1, 1]), np.array([3, 3]), np.array([0.0, 2.0]))
    >>> favoured(*tie, best=True).tolist(), favoured(*tie, best=False).tolist()
    ([3, 1], [1, 3])
    """
    tied = np.flatnonzero(last > first)
    if len(tied) < len(first):
        rank = first.copy()
        columns = query[tied], first[tied], last[tied], worth[tied]
        below = None if then is None else then[tied]
        rank[tied] = favoured(*columns, best=best, unjudged=unjudged, then=below)
        return rank
    sign = -1 if best else 1
    keys = (sign * worth, first, query)
    order = np.lexsort(keys if then is None else (then, *keys))
    query, first, last = query[order], first[order], last[order]
    front = (worth[order] > unjudged) == best
    new = borders(query, first)
    group = np.cumsum(new) - 1
    place = ordinals(group, int(new.sum()))
    size = np.bincount(group)[group] if len(order) else place
    rank = np.empty(len(order), np.int64)
    rank[order] = np.where(front, first + place - 1, last - (size - place))
    return rank
