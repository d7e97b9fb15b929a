"""The worked example of discounted cumulative gain in the English Wikipedia."""

import judged
from replications.replication import Printed, Replication

SHOWN = [3, 2, 3, 0, 1, 2]
POOL = [3, 3, 3, 2, 2, 2, 1, 0]


def _value(printed: Printed) -> float:
    rankings = judged.Rankings.from_relevance([SHOWN], pool=[POOL])
    return rankings.evaluate(printed.measure).value()


REPLICATION = Replication(
    source="Wikipedia, article Discounted cumulative gain, its worked example",
    judgements={},
    run={},
    printed=(
        Printed("DCG of the first 6", "6.861", "DCG@6"),
        Printed("IDCG of the first 6", "8.740", "IdealDCG@6"),
        Printed("nDCG of the first 6", "0.785", "nDCG@6"),
    ),
    value=_value,
)
