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
    """Order the runs by a measure, the best first and those without a value last.

    Where pairs were compared on other queries than those of the values, or a run is shown better
    than one with a better value, the ranks decide, and values only between equal ranks.
    """
    own = [row for row in rows if row.measure == measure.name]
    behind, ahead = dict.fromkeys(values, 0), dict.fromkeys(values, 0)
    sign = -1 if measure.higher_is_better else 1
    by_ranks = False
    for row in own:
        pair = (row.run, row.value), (row.against, row.against_value)
        by_ranks |= any(not _is_same(values[run], value) for run, value in pair)
        if row.verdict in ("better", "worse"):
            won, lost = (
                (row.run, row.against) if row.verdict == "better" else (row.against, row.run)
            )
            ahead[won] += 1
            behind[lost] += 1
            by_ranks |= sign * values[won] > sign * values[lost]

    def place(run: str) -> tuple[bool, int, int, float]:
        missing = math.isnan(values[run])
        ranks = (behind[run], -ahead[run]) if by_ranks else (0, 0)
        return missing, *ranks, 0.0 if missing else sign * values[run]

    return tuple(
        Place(run, values[run], 1 + behind[run], len(values) - ahead[run])
        for run in sorted(values, key=place)
    )


def _is_same(value: float, other: float) -> bool:
    return math.isclose(value, other, rel_tol=1e-9) or (math.isnan(value) and math.isnan(other))
