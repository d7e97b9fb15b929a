"""The example with which ranx introduces itself."""

from replications.replication import Printed, Replication

REPLICATION = Replication(
    source="ranx, the example of its documentation",
    judgements={"q_1": {"d_12": 5, "d_25": 3}, "q_2": {"d_11": 6, "d_22": 1}},
    run={
        "q_1": {"d_12": 0.9, "d_23": 0.8, "d_25": 0.7, "d_36": 0.6, "d_32": 0.5, "d_35": 0.4},
        "q_2": {"d_12": 0.9, "d_11": 0.8, "d_25": 0.7, "d_36": 0.6, "d_22": 0.5, "d_35": 0.4},
    },
    printed=(
        Printed("ndcg@5", "0.7861", "nDCG@5"),
        Printed("map@5", "0.6416...", "AP@5"),
        Printed("mrr", "0.75", "RR"),
    ),
    note="map@5 is printed as 0.6416, which is cut off and not rounded.",
)
