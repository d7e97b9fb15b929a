"""The example with which pytrec_eval introduces itself, query by query."""

import judged
from replications.replication import Printed, Replication

JUDGEMENTS = {"q1": {"d1": 0, "d2": 1, "d3": 0}, "q2": {"d2": 1, "d3": 1}}
RUN = {"q1": {"d1": 1.0, "d2": 0.0, "d3": 1.5}, "q2": {"d1": 1.5, "d2": 0.2, "d3": 0.5}}


def _value(printed: Printed) -> float:
    """Of one query, which stands before the name."""
    query = printed.name.split()[0]
    return judged.evaluate({query: JUDGEMENTS[query]}, {query: RUN[query]}, printed.measure).value()


REPLICATION = Replication(
    source="pytrec_eval, the example of its documentation",
    judgements=JUDGEMENTS,
    run=RUN,
    printed=(
        Printed("q1 map", "0.3333333333333333", "AP"),
        Printed("q1 ndcg", "0.5", "nDCG"),
        Printed("q2 map", "0.5833333333333333", "AP"),
        Printed("q2 ndcg", "0.6934264036172708", "nDCG"),
    ),
    value=_value,
)
