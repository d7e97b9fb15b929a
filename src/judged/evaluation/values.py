"""The values of measures before any policy, of all queries or of those of a block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from judged.statistics.samples import Rows

if TYPE_CHECKING:
    from judged.arrays import Floats, Ints
    from judged.measures import Measure
    from judged.measures.spec import Mask


@dataclass(frozen=True, eq=False)
class Values:
    """One number per query for each measure, and what settling them takes."""

    raw: dict[Measure, Floats] = field(default_factory=dict)
    """NaN where a measure is undefined."""
    nothing: dict[Measure, Mask] = field(default_factory=dict)
    """Queries in which nothing is relevant to the measure."""
    errors: dict[Measure, Floats] = field(default_factory=dict)
    """Standard errors, where values were estimated from random orders of ties."""
    rows: dict[Measure, Rows] = field(default_factory=dict)
    """What queries give to summaries that are not made of the values."""
    sure: dict[Measure, Mask] = field(default_factory=dict)
    """Queries in which no order of ties goes further, where values are the worst or the best."""

    @classmethod
    def concat(cls, parts: Sequence[Values]) -> Values:
        """The values of several blocks, one after the other."""
        if len(parts) == 1:
            return parts[0]
        measures = list(parts[0].raw)
        estimated = {measure for part in parts for measure in part.errors}
        unsure = {measure for part in parts for measure in part.sure}
        joined = np.concatenate
        return cls(
            {m: joined([part.raw[m] for part in parts]) for m in measures},
            {m: joined([part.nothing[m] for part in parts]) for m in measures},
            # What needed no estimate in one block is exact there.
            {
                m: joined([part.errors.get(m, np.zeros(len(part.raw[m]))) for part in parts])
                for m in measures
                if m in estimated
            },
            {m: Rows.concat([part.rows[m] for part in parts]) for m in parts[0].rows},
            {
                m: joined([part.sure.get(m, np.ones(len(part.raw[m]), bool)) for part in parts])
                for m in measures
                if m in unsure
            },
        )

    def take(self, chosen: Ints) -> Values:
        """The values of the queries in another order."""
        return Values(
            {measure: each[chosen] for measure, each in self.raw.items()},
            {measure: each[chosen] for measure, each in self.nothing.items()},
            {measure: each[chosen] for measure, each in self.errors.items()},
            {measure: each.take(chosen) for measure, each in self.rows.items()},
            {measure: each[chosen] for measure, each in self.sure.items()},
        )
