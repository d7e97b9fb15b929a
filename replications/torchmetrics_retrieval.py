"""The examples of the retrieval metrics in torchmetrics."""

from replications.replication import Printed, Replication

QUERY = (0, 0, 0, 1, 1, 1, 1)
SCORE = (0.2, 0.3, 0.5, 0.1, 0.3, 0.5, 0.2)
RIGHT = (0, 0, 1, 0, 1, 0, 1)


def _printed(name: str, value: str) -> Printed:
    return Printed(name, value, name, "torchmetrics")


REPLICATION = Replication(
    source="torchmetrics, torchmetrics.retrieval, the examples in its documentation",
    judgements={
        f"q{number}": {
            f"d{at}": right
            for at, (query, right) in enumerate(zip(QUERY, RIGHT, strict=True))
            if query == number
        }
        for number in (0, 1)
    },
    run={
        f"q{number}": {
            f"d{at}": score
            for at, (query, score) in enumerate(zip(QUERY, SCORE, strict=True))
            if query == number
        }
        for number in (0, 1)
    },
    printed=(
        _printed("RetrievalMAP", "0.7917"),
        _printed("RetrievalMRR", "0.7500"),
        _printed("RetrievalPrecision(top_k=2)", "0.5000"),
        _printed("RetrievalRecall(top_k=2)", "0.7500"),
        _printed("RetrievalNormalizedDCG", "0.8467"),
        _printed("RetrievalRPrecision", "0.7500"),
    ),
)
