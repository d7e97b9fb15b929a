"""Two measures: how far their orders of the runs agree, and which runs swap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.statistics.orders import OrderAgreement, levels_of, order_agreement
from judged.text import counted, listed, plain

if TYPE_CHECKING:
    from judged.comparison.numbers import Compared

TURNED = {"better": "worse", "worse": "better"}
"""A verdict seen from the other run."""
NOT_COMPARED = "not compared"
"""Where a comparison with a baseline has no verdict on two others."""
NUMBERS = ("tau", "tau_ap", "tau_ap_reversed", "tau_ap_symmetric", "weighted_tau")


@dataclass(frozen=True)
class Swap:
    """Two runs that stand one way by a measure and the other way by another one.

    >>> Swap("a", "b", "better", "no evidence").shown
    1
    """

    above: str
    """The run that is above by the first measure, and below by the second."""
    below: str
    """The run that is below by the first measure, and above by the second."""
    verdict: str
    """The comparison's verdict on `above` against `below` by the first measure; "not compared"
    where a baseline leaves the pair out."""
    against_verdict: str
    """The same by the second measure."""

    @property
    def shown(self) -> int | None:
        """By how many of both measures the difference is shown; None where it was not compared."""
        verdicts = (self.verdict, self.against_verdict)
        return None if NOT_COMPARED in verdicts else sum(each in TURNED for each in verdicts)

    def to_dict(self) -> dict[str, str]:
        """As plain values for JSON.

        Returns
        -------
        dict

        >>> Swap("a", "b", "better", "no evidence").to_dict()["below"]
        'b'
        """
        return {
            "above": self.above,
            "below": self.below,
            "verdict": self.verdict,
            "against_verdict": self.against_verdict,
        }


@dataclass(frozen=True)
class Ordered:
    """A measure as one comparison has it: what puts the runs in an order."""

    name: str
    """What it is called here; with several comparisons, followed by which one."""
    compared: Compared
    """The measure."""
    values: Mapping[str, float]
    """The number of each run."""
    verdicts: Mapping[tuple[str, str], str]
    """The verdict on each run against each other."""

    @property
    def turned(self) -> dict[str, float]:
        """The numbers, turned where lower is better: higher is better."""
        sign = 1 if self.compared.higher_is_better else -1
        return {run: sign * value for run, value in self.values.items()}

    @property
    def ranks(self) -> dict[str, tuple[int, int]]:
        """The first and last rank of each run; two of them where it is tied."""
        levels = levels_of(np.array(list(self.turned.values())))
        return {
            run: (1 + int((levels < own).sum()), int((levels <= own).sum()))
            for run, own in zip(self.values, levels, strict=True)
        }


@dataclass(frozen=True)
class TwoOrders:
    """Two measures, and how far their orders of the runs agree."""

    measure: str
    """The first measure."""
    against: str
    """The second one."""
    agreement: OrderAgreement
    """The numbers, and all pairs that swap; x is the first measure, y the second."""
    swaps: tuple[Swap, ...]
    """The runs that swap, with the verdicts on them."""

    @property
    def names(self) -> tuple[str, str]:
        """What both are called."""
        return self.measure, self.against

    @property
    def note(self) -> str:
        """Why the numbers are undefined, where they are."""
        note = self.agreement.note.replace("systems", "runs")
        return note.replace(" in x", f" on {self.measure}").replace(" in y", f" on {self.against}")

    @property
    def same(self) -> bool:
        """Whether both have the same order, and there is one."""
        return self.agreement.same and not self.note

    def shown(self) -> dict[int | None, int]:
        """How many swaps are shown by both measures (2), by one (1), by none (0), and how many
        have no verdict (None)."""
        return {of: sum(swap.shown == of for swap in self.swaps) for of in (2, 1, 0, None)}

    def says(self) -> str:
        """What was found, as a sentence."""
        names, runs = " and ".join(self.names), len(self.agreement.systems)
        if self.same:
            return f"{names}: the same order of all {runs:,} runs."
        tied = [
            f"{counted(len(pairs), 'pair')} tied on {name} alone"
            for name, pairs in (
                (self.measure, self.agreement.tied_in_x),
                (self.against, self.agreement.tied_in_y),
            )
            if pairs
        ]
        beside = f"; {listed(tied)}" if tied else ""
        if self.note:
            return f"{names}: the agreement of orders is undefined, as {self.note}{beside}."
        if not self.swaps:
            return f"{names} swap none of {self.agreement.pairs:,} pairs of runs{beside}."
        number = f"{len(self.swaps):,} of {self.agreement.pairs:,} pairs of runs"
        return f"{names} swap {number} ({self._shown()}){beside}."

    def _shown(self) -> str:
        found = self.shown()
        if found[0] == len(self.swaps):
            return "no verdict tells them apart on either measure, so it may be chance"
        without = f"; {found[None]:,} not compared with each other" if found[None] else ""
        return (
            f"the difference is shown on both measures for {found[2]:,}, on one for {found[1]:,}, "
            f"on neither for {found[0]:,}, where it may be chance{without}"
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        both, one, none, without = self.shown().values()
        return {
            "measure": self.measure,
            "against": self.against,
            **{name: plain(getattr(self.agreement, name)) for name in NUMBERS},
            "pairs": self.agreement.pairs,
            "swapped": len(self.swaps),
            "shown_on_both": both,
            "shown_on_one": one,
            "shown_on_none": none,
            "not_compared": without,
            "swaps": [swap.to_dict() for swap in self.swaps],
            "tied_in_measure": [list(pair) for pair in self.agreement.tied_in_x],
            "tied_in_against": [list(pair) for pair in self.agreement.tied_in_y],
            "note": self.note,
            "says": self.says(),
        }


def two_orders(first: Ordered, second: Ordered) -> TwoOrders:
    """Two measures of the same runs."""
    agreement = order_agreement(first.turned, second.turned)
    swaps = tuple(
        Swap(
            str(above),
            str(below),
            first.verdicts.get((str(above), str(below)), NOT_COMPARED),
            second.verdicts.get((str(above), str(below)), NOT_COMPARED),
        )
        for above, below in agreement.swaps
    )
    return TwoOrders(first.name, second.name, agreement, swaps)
