"""The examples of ndcg_score and average_precision_score in scikit-learn."""

import judged
from replications.replication import Printed, Replication

GRADES = [10, 0, 0, 1, 5]
SCORES = {
    "ndcg_score, first scores": [0.1, 0.2, 0.3, 4, 70],
    "ndcg_score, other scores": [0.05, 1.1, 1.0, 0.5, 0.0],
    "ndcg_score, k=4": [0.05, 1.1, 1.0, 0.5, 0.0],
    "dcg_score": [0.1, 0.2, 0.3, 4, 70],
    "average_precision_score": [0.1, 0.4, 0.35, 0.8],
}
RIGHT = [0, 0, 1, 1]


def _value(printed: Printed) -> float:
    grades = RIGHT if printed.name == "average_precision_score" else GRADES
    rankings = judged.Rankings.from_scores([grades], [SCORES[printed.name]])
    return rankings.evaluate(printed.measure).value()


REPLICATION = Replication(
    source="scikit-learn, sklearn.metrics, the examples in its documentation",
    judgements={},
    run={},
    printed=(
        Printed("ndcg_score, first scores", "0.69...", "nDCG"),
        Printed("ndcg_score, other scores", "0.49...", "nDCG"),
        Printed("ndcg_score, k=4", "0.35...", "nDCG@4"),
        Printed("dcg_score", "9.49...", "DCG"),
        Printed("average_precision_score", "0.83...", "AP"),
    ),
    value=_value,
)
