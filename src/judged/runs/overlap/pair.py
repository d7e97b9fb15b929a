"""Two runs: means over the queries that both have results for, and the numbers of each query."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from judged.arrays import Floats
from judged.errors import InputError, quoted
from judged.runs.overlap.lists import Lists
from judged.runs.overlap.numbers import Numbers
from judged.statistics.intervals import Interval, interval
from judged.statistics.samples import Means
from judged.text import plain

NUMBERS = ("rbo", "least", "residual", "jaccard", "shared", "tau")
"""What there is of every query."""
RANGES = {"tau": (-1.0, 1.0), "shared": (0.0, float("inf"))}
"""Between what numbers lie, where that is not 0 and 1."""


@dataclass(frozen=True, eq=False)
class PairOverlap:
    """Two runs: means over the queries that both have results for, and the number of each query.

    >>> from judged import overlap
    >>> overlap({"one": {"q": ["a", "b"]}, "two": {"q": ["a", "b"]}}).pair().rbo.estimate
    1.0
    """

    run: str
    """The first run."""
    against: str
    """The second run."""
    queries: tuple[str, ...]
    """The queries that both have results for: those that all means are over."""
    numbers: Numbers
    """What each of these queries says, in their order."""
    level: float
    """The level of intervals."""
    only_in_run: tuple[str, ...]
    """The queries that only the first run has results for."""
    only_in_against: tuple[str, ...]
    """The queries that only the second run has results for."""

    @cached_property
    def rbo(self) -> Interval:
        """Rank-biased overlap, extrapolated."""
        return self._mean("rbo")

    @cached_property
    def least(self) -> Interval:
        """What rank-biased overlap is at least, whatever follows below the lists."""
        return self._mean("least")

    @cached_property
    def residual(self) -> Interval:
        """By how much it may be more than the least."""
        return self._mean("residual")

    @cached_property
    def jaccard(self) -> Interval:
        """Shared items as a share of all items of both lists."""
        return self._mean("jaccard")

    @cached_property
    def shared(self) -> Interval:
        """How many items both lists have."""
        return self._mean("shared")

    @cached_property
    def tau(self) -> Interval:
        """tau-b of the shared items, over the queries where it is defined."""
        return self._mean("tau")

    @property
    def tau_queries(self) -> int:
        """How many queries have a tau-b: two shared items or more, not all tied in one list."""
        return int((~np.isnan(self.numbers.tau)).sum())

    def _mean(self, name: str) -> Interval:
        values: Floats = getattr(self.numbers, name)
        values = values[~np.isnan(values)]
        if not len(values):
            return Interval(float("nan"), note="no query has two shared items that are not tied")
        return interval(
            Means.of_values(values),
            level=self.level,
            method="t",
            range=RANGES.get(name, (0.0, 1.0)),
        )

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """As plain values for JSON.

        Parameters
        ----------
        per_query : bool, optional
            Whether the numbers of every query are there too.

        Returns
        -------
        dict

        >>> from judged import overlap
        >>> found = overlap({"one": {"q": ["a", "b"]}, "two": {"q": ["a", "b"]}}).pair()
        >>> found.to_dict(per_query=True)["per_query"]["q"]["shared"]
        2.0
        """
        found = {
            "run": self.run,
            "against": self.against,
            "queries": len(self.queries),
            **{name: getattr(self, name).to_dict() for name in NUMBERS},
            "tau_queries": self.tau_queries,
            "tied_queries": self.numbers.tied,
            "only_in_run": list(self.only_in_run),
            "only_in_against": list(self.only_in_against),
        }
        if per_query:
            columns = zip(*(getattr(self.numbers, name).tolist() for name in NUMBERS), strict=True)
            found["per_query"] = {
                query: dict(zip(NUMBERS, map(plain, values), strict=True))
                for query, values in zip(self.queries, columns, strict=True)
            }
        return found


def pair_of(
    queries: tuple[str, ...], ours: Lists, theirs: Lists, numbers: Numbers, level: float
) -> PairOverlap:
    """Two runs with the names of their queries."""
    alone = [
        tuple(queries[at] for at in np.flatnonzero((one.lengths > 0) & (other.lengths == 0)))
        for one, other in ((ours, theirs), (theirs, ours))
    ]
    if not len(numbers.query):
        raise InputError(
            f"{ours.name} and {theirs.name} have no query in common. The first has "
            f"{_few(alone[0])}; the second has {_few(alone[1])}. Are they runs of the same queries?"
        )
    named = tuple(queries[at] for at in numbers.query)
    return PairOverlap(ours.name, theirs.name, named, numbers, level, *alone)


def _few(queries: tuple[str, ...]) -> str:
    said = ", ".join(map(quoted, queries[:3]))
    return f"{said}, …" if len(queries) > 3 else said
