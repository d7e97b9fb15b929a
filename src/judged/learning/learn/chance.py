"""What relevance without meaning gains: held-out queries with the relevance of one another.

Learning puts items together that are relevant to the same queries. Such clumps alone raise average
precision, also where queries say nothing of what is relevant to them. A held-out query that is
given the relevance of another one keeps the clumps and loses the relation: what it gains is
gained by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from judged.arrays import Floats
from judged.embeddings.similarity import Similarity
from judged.embeddings.training import Gain
from judged.evaluation.scores import Scored
from judged.learning.learn.data import Part, pairs_of
from judged.measures import Measure

DEALS = 5
"""How many times relevance is dealt out anew; fewer where there are too few queries."""


@dataclass(frozen=True, eq=False)
class Chance:
    """Some queries, each with the relevance of another, several times."""

    parts: tuple[Part, ...]

    @classmethod
    def of(cls, part: Part, *, seed: int) -> Chance:
        """No query has its own, nor the same other one twice: the queries stand in a circle that is
        turned by a different number of places each time."""
        count = len(part.queries)
        circle = np.random.default_rng([seed, 3]).permutation(count)
        deals = []
        for places in range(1, min(DEALS, count - 1) + 1):
            giver = np.empty(count, np.int64)
            giver[circle] = np.roll(circle, places)
            dealt = replace(part.relevance, pairs=pairs_of(part.relevance.pairs, giver))
            deals.append(replace(part, relevance=dealt))
        return cls(tuple(deals))

    def values(self, similarity: Similarity, measures: Sequence[Measure]) -> dict[Measure, Floats]:
        """For each query its mean over all deals; nothing where there is no other query."""
        found = [part.evaluate(similarity, measures).values for part in self.parts]
        return {
            each: np.mean([values[each] for values in found], axis=0)
            for each in (measures if found else ())
        }

    def gains(
        self, before: Similarity, after: Similarity, measures: Sequence[Measure]
    ) -> dict[Measure, Floats]:
        """For each query what it gains from one similarity to the other."""
        old, new = (self.values(each, measures) for each in (before, after))
        return {each: new[each] - old[each] for each in new}


def gains_of(
    part: Part,
    old: Scored,
    before: Similarity,
    after: Similarity,
    measures: Sequence[Measure],
    *,
    seed: int,
) -> tuple[Gain, ...]:
    """What queries gained from one similarity, whose values are there, to the other, and how much
    of that they would gain by chance."""
    new = part.evaluate(after, measures)
    by_chance = Chance.of(part, seed=seed).gains(before, after, measures)
    found = []
    for each in measures:
        gained = new.values[each] - old.values[each]
        old_value, new_value = (
            part.interval(scored.values[each], each.spec.range) for scored in (old, new)
        )
        dealt = by_chance.get(each)
        chance = () if dealt is None else (part.interval(dealt), part.interval(gained - dealt))
        found.append(Gain(str(each), old_value, new_value, part.interval(gained), *chance))
    return tuple(found)
