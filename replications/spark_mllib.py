"""The example of RankingMetrics in pyspark."""

from replications.replication import Printed, Replication

LISTS = (
    ([1, 6, 2, 7, 8, 3, 9, 10, 4, 5], [1, 2, 3, 4, 5]),
    ([4, 1, 5, 6, 2, 7, 3, 8, 9, 10], [1, 2, 3]),
    ([1, 2, 3, 4, 5], []),
)


def _printed(name: str, value: str) -> Printed:
    return Printed(name, value, name, "spark")


REPLICATION = Replication(
    source="pyspark, pyspark.mllib.evaluation.RankingMetrics, the example in its documentation",
    judgements={
        f"q{at}": {**{str(item): 0 for item in shown}, **{str(item): 1 for item in relevant}}
        for at, (shown, relevant) in enumerate(LISTS)
    },
    run={f"q{at}": [str(item) for item in shown] for at, (shown, _) in enumerate(LISTS)},
    printed=(
        _printed("precisionAt(1)", "0.33..."),
        _printed("precisionAt(5)", "0.26..."),
        _printed("precisionAt(15)", "0.17..."),
        _printed("meanAveragePrecision", "0.35..."),
        _printed("meanAveragePrecisionAt(1)", "0.3333333333333333..."),
        _printed("meanAveragePrecisionAt(2)", "0.25..."),
        _printed("ndcgAt(3)", "0.33..."),
        _printed("ndcgAt(10)", "0.48..."),
        _printed("recallAt(1)", "0.06..."),
        _printed("recallAt(5)", "0.35..."),
        _printed("recallAt(15)", "0.66..."),
    ),
    note="The third query has nothing relevant and counts 0.",
)
