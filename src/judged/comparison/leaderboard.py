"""Runs in order, each with the ranks that the comparisons leave open."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judged.comparison.numbers import Compared
from judged.comparison.pair import Pair
from judged.text import plain


@dataclass(frozen=True)
class Place:
    """A run on a leaderboard.

    >>> Place("bm25", 0.21, 1, 2).to_dict()
    {'run': 'bm25', 'value': 0.21, 'rank_low': 1, 'rank_high': 2}
    """

    run: str
    """The run's name."""
    value: float
    """Its number."""
    rank_low: int
    """The best rank it may have: one more than the number of runs that are shown better."""
    rank_high: int
    """The worst rank it may have: the number of runs less those that are shown worse."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON.

        Returns
        -------
        dict

        >>> Place("bm25", 0.21, 1, 1).to_dict()["rank_low"]
        1
        """
        return {
            "run": self.run,
            "value": plain(self.value),
            "rank_low": self.rank_low,
            "rank_high": self.rank_high,
        }


def leaderboard(
    measure: Compared, values: dict[str, float], rows: Sequence[Pair]
) -> tuple[Place, ...]:
    """The runs by a measure, the best first and those without a value last."""
    behind, ahead = dict.fromkeys(values, 0), dict.fromkeys(values, 0)
    for row in rows:
        if row.measure == measure.name and row.verdict in ("better", "worse"):
            won = row.verdict == "better"
            ahead[row.run if won else row.against] += 1
            behind[row.against if won else row.run] += 1
    sign = -1 if measure.higher_is_better else 1

    def place(run: str) -> tuple[bool, float]:
        missing = math.isnan(values[run])
        return missing, 0.0 if missing else sign * values[run]

    return tuple(
        Place(run, values[run], 1 + behind[run], len(values) - ahead[run])
        for run in sorted(values, key=place)
    )
