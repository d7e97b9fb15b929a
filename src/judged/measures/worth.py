"""What tied results are worth to a measure, where that tells the best order of a tie and the
worst."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.rankings.lists import favoured
from judged.rankings.rankings import Rankings


@dataclass(frozen=True, eq=False)
class Worth:
    """What each result is worth: in the order by worth a measure has one end of the values that it
    has in all orders of the ties, and in the reverse order the other."""

    hits: Floats
    """What each hit is worth."""
    unjudged: float
    """What any other result is."""
    sure: NDArray[np.bool_] | None = None
    """The queries where this holds; None where it does for all."""

    def sure_of(self, r: Rankings) -> NDArray[np.bool_]:
        """The same as a mask."""
        return np.ones(len(r), bool) if self.sure is None else self.sure

    def ranks(self, r: Rankings, *, best: bool) -> Ints:
        """The ranks of the hits in the order by worth, or in the reverse order."""
        first, last = r.spans
        tied = np.flatnonzero(last > first)
        rank = r.hit_rank.copy()
        rank[tied] = favoured(
            r.hit_query[tied],
            first[tied],
            last[tied],
            self.hits[tied],
            best=best,
            unjudged=self.unjudged,
            then=None if r.hit_item is None else r.hit_item[tied],
        )
        return rank


class Closed(NamedTuple):
    """Means over all orders of ties in closed form, and the queries that have one."""

    values: Floats
    known: NDArray[np.bool_]


def by_grade(r: Rankings) -> Worth:
    """Better grades are worth more, and what nobody judged is worth least.

    So it is for every measure that does not lose when two neighbours change places and the better
    grade comes up.
    """
    return Worth(r.hit_grade, -np.inf)


def own_merit(params: Mapping[str, Any]) -> bool:
    """Declared as `monotone` of measures to which each result counts for itself: not with a cutoff
    that depends on all relevant items, nor with a table in which a better grade may gain less."""
    return params.get("k") != "R" and not params.get("gains")


def uncut(r: Rankings, end: Floats) -> NDArray[np.bool_]:
    """The queries in which no tie of a judged item reaches from above a rank, or the end of the
    list, to below it."""
    first, last = r.spans
    stop = np.minimum(end, r.retrieved)[r.hit_query]
    whole = np.ones(len(r), bool)
    whole[r.hit_query[(first <= stop) & (last > stop)]] = False
    return whole
