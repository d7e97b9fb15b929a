"""How much each query counts in means over queries."""

from __future__ import annotations

from dataclasses import dataclass

from judged.arrays import Floats, Ints, freeze


@dataclass(frozen=True, eq=False)
class Weights:
    """One weight per query: finite, not negative, and not 0 for all of them."""

    values: Floats
    """A query of weight 0 does not count."""
    source: str
    """What sentences call them: a file as given, a column."""

    def __post_init__(self) -> None:
        freeze(self)

    def take(self, chosen: Ints) -> Weights:
        """The weights of some queries, in the given order."""
        return Weights(self.values[chosen], self.source)
