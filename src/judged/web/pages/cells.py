"""One number of a leaderboard, with what is known beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judged.evaluation.scores import TIE_ORDERS, UNJUDGED_ENDS, is_bounded

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.comparison.pair import Pair
    from judged.evaluation.evaluation import Evaluation


@dataclass(frozen=True)
class Range:
    """How far a number could go under other assumptions."""

    about: str
    """Ties or unjudged."""
    low: float
    high: float
    expected: float | None = None
    """Of ties: the mean over all orders."""
    sure: bool = True
    """Whether nothing goes further."""


@dataclass(frozen=True)
class Cell:
    """One number of a leaderboard."""

    measure: str
    """What the measure is called."""
    value: float
    low: float = math.nan
    high: float = math.nan
    note: str = ""
    """Why there is no interval."""
    before: float | None = None
    """What it was before the last change of terms, where it is another number now."""
    against: Pair | None = None
    """How it differs from the baseline's, where there is one."""
    ranges: tuple[Range, ...] = ()
    """How far it could go, where that was asked for."""

    @property
    def half_width(self) -> float | None:
        """Digits below this are not sure; None where there is no interval."""
        width = (self.high - self.low) / 2
        return None if math.isnan(width) else width

    @property
    def move(self) -> float | None:
        """By how much the last change moved it."""
        return None if self.before is None else self.value - self.before


def before_of(before: Evaluation | None, run: str, name: str, value: float) -> float | None:
    """What a number was, where it was another one."""
    if before is None or name not in before.labels:
        return None
    was = {each.name: each for each in before.runs}.get(run)
    if was is None:
        return None
    number = was.summary[before.labels[name]]
    same = number == value or (math.isnan(number) and math.isnan(value))
    return None if same else number


def against_of(against: Comparison | None, run: str, name: str) -> Pair | None:
    """Return how a number differs from the baseline's; None for the baseline, or without one."""
    if against is None or against.baseline in (None, run) or name not in against.measures:
        return None
    return against.pair(run, against.baseline, name)


def ranges_of(ranges: Evaluation | None, run: str, name: str) -> tuple[Range, ...]:
    """How far a number could go, by ties and by unjudged results."""
    if ranges is None or name not in ranges.labels:
        return ()
    scored, measure = ranges.scored(run), ranges.labels[name]
    found = []
    if set(TIE_ORDERS) <= set(scored.others):
        ties = ranges.tie_range(measure, run)
        low, high = sorted((ties.worst, ties.best))
        sure = not any(measure in scored.others[each].unsure for each in TIE_ORDERS)
        found.append(Range("ties", low, high, ties.expected, sure))
    if set(UNJUDGED_ENDS) <= set(scored.others):
        low, high = sorted(ranges.unjudged_range(measure, run))
        sure = is_bounded(scored, measure, ranges.policy)
        found.append(Range("unjudged", low, high, sure=sure))
    return tuple(found)
