"""What a replication is, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import judged


@dataclass(frozen=True)
class Printed:
    """One number that was published."""

    name: str
    """What it is called there."""
    value: str
    """As it was printed; dots at its end say that it was cut off."""
    measure: str
    """The definition that gives it: a measure of ours, or a name of the convention."""
    convention: str | None = None
    """The library whose definitions are meant, where that is needed."""

    def fits(self, computed: float) -> bool:
        """Whether a number is the printed one, rounded, or cut off where dots say so."""
        digits = self.value.rstrip(".")
        places = len(digits.partition(".")[2])
        if digits != self.value:
            return f"{computed:.{places + 6}f}".startswith(digits)
        return abs(computed - float(digits)) <= 0.5 * 10.0**-places + 1e-9


@dataclass(frozen=True)
class Replication:
    """Published numbers of one source."""

    source: str
    """Who published them, and where."""
    judgements: Mapping[str, Mapping[str, float]]
    run: Mapping[str, Any]
    printed: tuple[Printed, ...]
    policy: Mapping[str, str] | None = None
    """What has to be assumed, where it is not what judged assumes."""
    note: str = ""
    """What there is to know."""
    value: Callable[[Printed], float] | None = None
    """How a number is computed, where that is not by `judged.evaluate` of the lists."""

    def computed(self, printed: Printed) -> float:
        """The number by judged."""
        if self.value is not None:
            return self.value(printed)
        return judged.evaluate(
            self.judgements,
            self.run,
            printed.measure,
            policy=self.policy,
            convention=printed.convention,
        ).value()

    def rows(self) -> Iterator[tuple[Printed, float, bool]]:
        """Each number, what judged computes, and whether the two agree."""
        for each in self.printed:
            computed = self.computed(each)
            yield each, computed, each.fits(computed)
