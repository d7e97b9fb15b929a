"""How far ties move the values of a run: in the orders of the tied results that are the worst and
the best for most measures, and of the queries with a tie alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judged.evaluation.settlement import graded_for, nothing_relevant, settled
from judged.measures.expected import ByWorth
from judged.measures.orders import in_order, tied_queries

if TYPE_CHECKING:
    from judged.arrays import Floats
    from judged.evaluation.request import Conventional
    from judged.evaluation.settlement import Outcome
    from judged.measures import Measure
    from judged.measures.spec import Mask
    from judged.policy import Policy
    from judged.rankings.rankings import Rankings


@dataclass(frozen=True, eq=False)
class TieEnds:
    """What the orders of tied results make of one measure, where they move it."""

    rankings: Rankings
    """Whose ties are unbroken, with the grades that the measure takes."""
    low: Floats
    """The least value of each query; NaN for one that does not count."""
    high: Floats
    """The greatest."""
    loose: Mask
    """In which queries other orders may go further."""

    @property
    def unsure(self) -> int:
        """In how many queries other orders may go further."""
        return int(self.loose.sum())

    def part(self, begin: int, end: int) -> TieEnds:
        """Of some of the queries."""
        at = slice(begin, end)
        rankings = self.rankings.take(np.arange(begin, end))
        return TieEnds(rankings, self.low[at], self.high[at], self.loose[at])

    def by_worth(
        self, measure: Measure, policy: Policy, convention: Conventional | None, *, best: bool
    ) -> Outcome | None:
        """What the best or the worst order makes of a measure whose summary is not made of the
        queries' values; None where nothing tells which order that is."""
        r = self.rankings
        worth = measure.worth(r)
        if worth is None:
            return None
        order = in_order(r, worth.ranks(r, best=best))
        raw = measure.compute_as_ranked(order)
        raw = convention.filled(measure, raw) if convention else raw
        return settled(
            measure, order, policy, raw, nothing_relevant(measure, order), measure.gives(order)
        )


def tie_ends(
    known: Mapping[Measure, Floats],
    unbroken: Rankings,
    measures: tuple[Measure, ...],
    policy: Policy,
    convention: Conventional | None,
) -> dict[Measure, TieEnds]:
    """The measures that ties move, by the values of queries that are known; `unbroken` is their
    rankings without an order of ties."""
    tied = np.flatnonzero(tied_queries(unbroken))
    found: dict[Measure, TieEnds] = {}
    loose: dict[int, ByWorth] = {}
    if not len(tied):
        return found
    for measure, own in graded_for(unbroken, measures, convention).items():
        if id(own) not in loose:
            loose[id(own)] = ByWorth(own.take(tied))
        low, high, sure = loose[id(own)].ends(measure)
        values = known[measure]
        counts = ~np.isnan(values[tied])
        moves = counts & (low < high)
        if policy.empty == "one" and measure.spec.rates_relevance:
            moves &= ~nothing_relevant(measure, own)[tied]
        if moves.any():
            least, greatest = values.copy(), values.copy()
            least[tied[moves]], greatest[tied[moves]] = low[moves], high[moves]
            beyond = np.zeros(len(values), bool)
            beyond[tied] = ~sure & counts
            found[measure] = TieEnds(own, least, greatest, beyond)
    return found
