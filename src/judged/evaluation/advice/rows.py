"""What is known of the lists and of each measure, and the words that its numbers earn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SATURATED, HARD, CAPPED, UNJUDGED, BEYOND = "saturated", "hard", "capped", "unjudged", "beyond"
MOST, FEW_JUDGED, HALF = 0.9, 0.8, 0.5
"""What a measure can be found to be on these data, and from where on: docs/choosing.md."""


_OF_LISTS = ("length", "relevant", "judged_queries", "reachable")


@dataclass(frozen=True)
class Lists:
    """What is known of the judgements and the lists."""

    queries: int
    """How many judged queries there are."""
    relevant: float
    """How many relevant items a query has, in the median."""
    most_relevant: float
    """The most that one has."""
    length: float
    """How long lists are, in the median over all runs."""
    graded: bool
    """Whether there is more than one grade above 0."""
    known: bool = True
    """Whether the best value that each query can have is known."""


@dataclass(frozen=True)
class Row:
    """One measure on these data."""

    measure: str
    """What it is called."""
    k: int | None
    """How deep it looks, where that is a number."""
    queries: int
    """How many queries have something to find."""
    lowest: float
    """The lowest number that a run has."""
    highest: float
    """The highest."""
    at_best: float
    """Share of the queries in which every run has the best value that the query can have."""
    at_worst: float
    """Share of the queries in which every run has the worst value."""
    half_width: float | None
    """Half of the widest interval of a run's number; None where there is none."""
    judged: float | None
    """The share of the first k results that was judged, of the run with the least; None if the
    judgements list relevant items only."""
    ceiling: float = float("nan")
    """The number of a perfect system on these queries, under the same policy."""
    differ: float | None = None
    """Share of the queries in which two runs differ; None of a single run."""
    pairs: int = 0
    """How many pairs of runs there are."""
    separated: int = 0
    """How many of them are shown to differ, corrected for their number."""
    effect: float | None = None
    """The median of the pairs' effect sizes, d_z without its sign: what a measure needs few queries
    by, if it is large."""
    detectable: float | None = None
    """The median of the differences that these queries would have shown, 8 times in 10."""
    length: float = float("inf")
    """How long lists are, in the median."""
    relevant: float = 0.0
    """How many relevant items queries have, in the median."""
    reachable: float = float("nan")
    """The mean of the best values of the queries that have something to find."""
    judged_queries: int = 0
    """How many judged queries there are."""

    @property
    def findings(self) -> tuple[str, ...]:
        """What speaks against the measure here, if anything does."""
        said = {
            SATURATED: self.at_best >= MOST,
            HARD: self.at_worst >= MOST,
            CAPPED: self.ceiling < HALF,
            UNJUDGED: self.judged is not None and self.judged < FEW_JUDGED,
            BEYOND: self.k is not None and self.k > self.length,
        }
        return tuple(name for name, holds in said.items() if holds)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON.

        Returns
        -------
        dict
        """
        found = {name: value for name, value in vars(self).items() if name not in _OF_LISTS}
        return {**found, "findings": list(self.findings)}
