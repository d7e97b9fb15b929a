"""What could be judged next: the unjudged results near the top of any run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judged.arrays import Ints
from judged.matching.listings import Listings
from judged.matching.variants import ONE_ORDER


@dataclass(frozen=True, eq=False)
class Candidates:
    """Unjudged results, query after query and in the order of their ids."""

    listings: Listings
    number: Ints
    """The number of each among all items."""
    best_rank: Ints
    """The best rank of each in any run; where ties have no order of their own, the first of its
    tie."""

    @classmethod
    def of(cls, listings: Listings, *, depth: int, ties: str) -> Candidates:
        """Those at or above a rank of any run."""
        best = best_ranks(listings, ties, range(len(listings.runs)))
        number = np.flatnonzero(np.isnan(listings.grades) & (best <= depth))
        ids = listings.items.gather(number).rank("ordinal").to_numpy()
        number = number[np.lexsort((ids, listings.query[number]))]
        return cls(listings, number, best[number])

    def __len__(self) -> int:
        return len(self.number)

    @property
    def query(self) -> Ints:
        """The query of each."""
        return self.listings.query[self.number]


def best_ranks(listings: Listings, ties: str, runs: range | tuple[int, ...]) -> Ints:
    """The best rank that each item has in some runs, or may have by its ties; beyond all ranks for
    one that none has."""
    best = np.full(len(listings.grades), np.iinfo(np.int64).max)
    for run in runs:
        listed = listings.runs[run]
        highest = listed.places.rank if ties in ONE_ORDER else listed.places.first
        best[listed.item] = np.minimum(best[listed.item], highest)
    return best
