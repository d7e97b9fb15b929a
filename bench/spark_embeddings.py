"""Vectors in Spark, local mode: `python -m bench.spark_embeddings NAME FOLDER` prints one line of
JSON. Only the call is timed, with CPU time of all processes; the session is there before."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.spark import session, spent

Report = dict[str, Any]
MEASURES = ("RR", "R@100", "AP")


class Data:
    """Queries by id, and which items are relevant to each."""

    def __init__(self, folder: str) -> None:
        import numpy as np

        self.queries = np.load(Path(folder) / "queries.npy")
        self.names = [f"q{at}" for at in range(len(self.queries))]
        labels = np.load(Path(folder) / "item_labels.npy")
        order = np.argsort(labels, kind="stable")
        wanted = np.load(Path(folder) / "query_labels.npy")
        first = np.searchsorted(labels[order], wanted)
        last = np.searchsorted(labels[order], wanted, side="right")
        self.judgements = {
            name: {str(item): 1 for item in order[begin:end]}
            for name, begin, end in zip(self.names, first, last, strict=True)
        }
        self.items = Path(folder) / "items.npy"
        self.table = str(Path(folder) / "items.parquet")


def judged_spark(folder: str) -> Report:
    import judged

    data, spark = Data(folder), session()
    items = spark.read.parquet(data.table)

    def call() -> Any:
        return judged.evaluate_embeddings(
            data.queries, items, data.judgements, measures=MEASURES, query_ids=data.names
        )

    spark.range(1000).repartition(2).mapInArrow(lambda batches: batches, "id long").collect()
    return _clocked(call)


def judged_memory(folder: str) -> Report:
    import numpy as np

    import judged

    data = Data(folder)
    items = np.load(data.items)
    ids = [str(item) for item in range(len(items))]
    judged.evaluate_embeddings([[1.0]], [[1.0]], judged.relevance.pairs(), measures=MEASURES)

    def call() -> Any:
        return judged.evaluate_embeddings(
            data.queries,
            items,
            data.judgements,
            measures=MEASURES,
            query_ids=data.names,
            item_ids=ids,
        )

    return _clocked(call)


def _clocked(call: Callable[[], Any]) -> Report:
    before = spent()["calls"][0]
    found = call()
    after = spent()
    taken = {name: after["calls"][0][name] - before[name] for name in before}
    report = {"calls": [taken], "memory": after["memory"]}
    if hasattr(found, "to_dict"):
        report["scores"] = found.to_dict()["runs"][0]["scores"]
    return report


CONTENDERS: dict[str, Callable[[str], Report]] = {
    "judged": judged_spark,
    "memory": judged_memory,
}


if __name__ == "__main__":
    print(json.dumps(CONTENDERS[sys.argv[1]](*sys.argv[2:])))
