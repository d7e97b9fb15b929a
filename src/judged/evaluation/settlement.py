"""What a policy makes of a measure's values: which queries count, and what is put where a value is
undefined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judged.measures import Measure, Spec
from judged.measures.spec import Mask
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.segments import Floats


def nothing_relevant(measure: Measure, r: Rankings) -> Mask:
    """The queries with nothing relevant, at the measure's own `rel` or, where it has none, with no
    grade above 0."""
    rel: float = measure.params.get("rel", float(np.nextafter(0, 1)))
    return r.relevant(rel) == 0


@dataclass(frozen=True, eq=False)
class Settling:
    """A policy, made ready for the values of one measure."""

    spec: Spec
    policy: Policy
    nothing: Mask
    """Queries with nothing relevant."""
    missing: Mask
    """Queries that the run lacks."""

    @property
    def counted(self) -> Mask:
        """The queries that count."""
        counted = np.ones(len(self.missing), bool)
        if self.policy.missing == "skip":
            counted &= ~self.missing
        if self.policy.empty == "skip":
            counted &= ~self.nothing
        return counted

    def settle(self, values: Floats) -> Floats:
        """The values of the queries that count, none of them undefined; queries are along the last
        axis."""
        spec = self.spec
        upwards = spec.higher_is_better or not spec.rates_relevance
        worst, best = (spec.range[0], 1.0) if upwards else (spec.range[1], spec.range[0])
        filled = values
        if spec.rates_relevance and self.policy.empty == "one":
            filled = np.where(self.nothing, best, filled)
        return np.where(np.isnan(filled), worst, filled)[..., self.counted]
