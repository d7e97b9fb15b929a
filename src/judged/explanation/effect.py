"""What a change did to a number."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

from judged.measures import Measure

CLOSE = 1e-12
"""Values closer than this are the same: sums in another order."""


@dataclass(frozen=True)
class Effect:
    """A measure's value before and after a change.

    >>> from judged import AP
    >>> effect = Effect(AP, 0.25, 0.5)
    >>> effect.difference, effect.better
    (0.25, True)
    """

    measure: Measure
    before: float
    after: float

    @property
    def difference(self) -> float:
        """What was added; NaN where there was or is no value."""
        return self.after - self.before

    @property
    def moved(self) -> bool:
        """Whether it is another value, or was none before, or is none now."""
        if isnan(self.before) or isnan(self.after):
            return isnan(self.before) != isnan(self.after)
        return self.before != self.after and not abs(self.difference) <= CLOSE

    @property
    def better(self) -> bool | None:
        """Whether the value is better now; None where it is the same, or neither good nor bad."""
        if not self.moved or isnan(self.difference) or not self.measure.spec.rates_relevance:
            return None
        return (self.difference > 0) == self.measure.spec.higher_is_better
