"""Contenders on Spark in local mode: `python -m bench.spark NAME QRELS TABLE` prints one line of
JSON.

CPU time and peak memory are of all processes: Python, the virtual machine, and its Python workers.
Each then says, untimed, what it makes of three small inputs (`ODD`). Nothing but Spark is imported
here that a peer's environment may lack.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

Report = dict[str, Any]
Rows = list[tuple[str, str, float]]
MEASURES = ("P@10", "nDCG(gain=binary)@10", "R@100", "AP(norm=capped)@100")
"""What all of them compute."""
AP = "AP(norm=capped)@100"
ODD: dict[str, tuple[Rows, Rows]] = {
    "an item twice: AP of a, a, b, where a and b are relevant": (
        [("q", "a", 1), ("q", "b", 1)],
        [("q", "a", 3.0), ("q", "a", 2.0), ("q", "b", 1.0)],
    ),
    "a tie: AP where a is relevant and has the score of b": (
        [("q", "a", 1)],
        [("q", "a", 1.0), ("q", "b", 1.0)],
    ),
    "a query without results: AP of one perfect list of two": (
        [("q", "a", 1), ("r", "b", 1)],
        [("q", "a", 1.0)],
    ),
}
PARTITIONS = 8


def session() -> Any:
    """Two threads and 2 GB, with the workers' Python that of this process."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "2g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", str(PARTITIONS))
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def judgements_in(spark: Any, qrels: str) -> Any:
    """The relevant items: query, item."""
    lines = spark.read.csv(
        qrels, sep=" ", schema="query string, zero string, item string, grade int"
    )
    return lines.where("grade > 0").select("query", "item", "grade")


def hand_over(_: str, table: str) -> Report:
    """The floor: rows go to the partition of their query and to Python, which only counts them."""
    spark = session()

    def counted(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        yield pa.RecordBatch.from_pydict({"rows": [sum(batch.num_rows for batch in batches)]})

    rows = spark.read.parquet(table).repartition(PARTITIONS, "query")
    rows.mapInArrow(counted, "rows long").collect()
    return spent()


def judged_spark(qrels: str, table: str) -> Report:
    import judged

    spark = session()

    def evaluate(judgements: Any, run: Any) -> dict[str, float]:
        scores: dict[str, float] = judged.evaluate(judgements, run, MEASURES).to_dict()["runs"][0][
            "scores"
        ]
        return scores

    scores = evaluate(qrels, spark.read.parquet(table))
    return {"scores": scores, **spent(), "answers": answers(spark, evaluate)}


def judged_memory(qrels: str, table: str) -> Report:
    import judged

    found = judged.evaluate(qrels, table, MEASURES).to_dict()
    return {"scores": found["runs"][0]["scores"], **spent()}


def mllib(qrels: str, table: str) -> Report:
    spark = session()
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import functions

    def evaluate(relevant: Any, run: Any) -> dict[str, float]:
        pairs = functions.sort_array(
            functions.collect_list(functions.struct("score", "item")), asc=False
        )
        lists = run.groupBy("query").agg(pairs.alias("pairs")).select("query", "pairs.item")
        truth = relevant.groupBy("query").agg(functions.collect_list("item").alias("truth"))
        both = lists.join(truth, "query").select("item", "truth")
        metrics = RankingMetrics(both.rdd.map(tuple))
        found = (
            metrics.precisionAt(10),
            metrics.ndcgAt(10),
            metrics.recallAt(100),
            metrics.meanAveragePrecisionAt(100),
        )
        return dict(zip(MEASURES, found, strict=True))

    return _both(spark, evaluate, qrels, table)


def recommenders(qrels: str, table: str) -> Report:
    """An object for each depth, as its measures have the depth of their object."""
    spark = session()
    from recommenders.evaluation.spark_evaluation import SparkRankingEvaluation

    def evaluate(relevant: Any, run: Any) -> dict[str, float]:
        names = {
            "col_user": "query",
            "col_item": "item",
            "col_rating": "grade",
            "col_prediction": "score",
        }
        short, long = (SparkRankingEvaluation(relevant, run, k=k, **names) for k in (10, 100))
        found = (
            short.precision_at_k(),
            short.ndcg_at_k(),
            long.recall_at_k(),
            long.map_at_k(),
        )
        return dict(zip(MEASURES, found, strict=True))

    return _both(spark, evaluate, qrels, table)


def replay(qrels: str, table: str) -> Report:
    spark = session()
    from replay.metrics import MAP, NDCG, OfflineMetrics, Precision, Recall

    def evaluate(relevant: Any, run: Any) -> dict[str, float]:
        wanted = [Precision(10), NDCG(10), Recall(100), MAP(100)]
        metrics = OfflineMetrics(
            wanted, query_column="query", item_column="item", rating_column="score"
        )
        found = metrics(run, relevant.select("query", "item"))
        names = ("Precision@10", "NDCG@10", "Recall@100", "MAP@100")
        return {ours: found[theirs] for ours, theirs in zip(MEASURES, names, strict=True)}

    return _both(spark, evaluate, qrels, table)


def _both(spark: Any, evaluate: Callable[..., dict[str, float]], qrels: str, table: str) -> Report:
    scores = evaluate(judgements_in(spark, qrels), spark.read.parquet(table))
    return {"scores": scores, **spent(), "answers": answers(spark, evaluate)}


def answers(spark: Any, evaluate: Callable[..., dict[str, float]]) -> dict[str, str]:
    """What is made of each odd input: a number, or the start of what it is refused with."""
    said = {}
    for name, (judgements, run) in ODD.items():
        frames = (
            spark.createDataFrame(judgements, "query string, item string, grade long"),
            spark.createDataFrame(run, "query string, item string, score double"),
        )
        try:
            said[name] = f"{evaluate(*frames)[AP]:.3g}"
        except Exception as error:
            said[name] = f"refused: {str(error).partition('.')[0]}"
    return said


def family(first: int) -> list[int]:
    """A process and all that it started, and those started."""
    parents = {}
    for path in Path("/proc").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # others end while we look
            if path.name.isdigit():
                about = path.joinpath("stat").read_text().rpartition(")")[2]
                parents[int(path.name)] = int(about.split()[1])
    found = [first]
    for member in found:
        found += [child for child, parent in parents.items() if parent == member]
    return found


def spent() -> Report:
    """What it took since this process began: time, CPU time of its family with those that ended,
    and the sum of their peaks."""
    ticks, peak = 0, 0
    for member in family(os.getpid()):
        folder = Path(f"/proc/{member}")
        ticks += sum(map(int, (folder / "stat").read_text().rpartition(")")[2].split()[11:15]))
        lines = (folder / "status").read_text().splitlines()
        peak += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    rate = os.sysconf("SC_CLK_TCK")
    began = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]) / rate
    wall = float(Path("/proc/uptime").read_text().split()[0]) - began
    return {"calls": [{"wall": wall, "cpu": ticks / rate}], "memory": peak}


CONTENDERS: dict[str, Callable[[str, str], Report]] = {
    "hand-over": hand_over,
    "judged": judged_spark,
    "memory": judged_memory,
    "mllib": mllib,
    "recommenders": recommenders,
    "replay": replay,
}


if __name__ == "__main__":
    print(json.dumps(CONTENDERS[sys.argv[1]](*sys.argv[2:])))
