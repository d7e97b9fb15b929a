"""The ways in which the same run can be evaluated, each as a function of a batch of cases."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from judged import config, evaluate
from judged.evaluation.evaluation import Evaluation
from support.engine_cases import BATCHES, Batch

Way = Callable[[Batch, Path, Any], Evaluation]
"""A batch, a folder for files, and a function that gives the Spark session."""


def asked(batch: Batch) -> dict[str, Any]:
    """What `evaluate` is told."""
    return {"measures": batch.measures or None, **batch.options}


def told(evaluation: Evaluation, **shown: Any) -> dict[str, Any]:
    """Return all that an evaluation holds: values, scores, errors, ranges and audit."""
    (run,) = evaluation.showing(**shown).to_dict(per_query=True)["runs"]
    return run


@cache
def expected(name: str) -> dict[str, Any]:
    """What is found in memory."""
    batch = BATCHES[name]
    return told(evaluate(batch.judgements, batch.frame, **asked(batch)), **batch.shown)


def _in_memory(batch: Batch, folder: Path, spark: Any) -> Evaluation:
    """Rows in another order, where that does not count."""
    frame = batch.frame
    if not batch.ordered:
        frame = frame.sample(fraction=1, shuffle=True, seed=3)
    return evaluate(batch.judgements, frame, **asked(batch))


def _on_disk(*, grouped: bool) -> Way:
    """A folder of Parquet files, read in blocks; partitioned on disk where it is not grouped."""

    def way(batch: Batch, folder: Path, spark: Any) -> Evaluation:
        frame = batch.frame
        if grouped:
            frame = frame.sort("query", maintain_order=True)
        (folder / "run").mkdir()
        third = -(-frame.height // 3)
        for number in range(3):
            piece = frame[number * third : (number + 1) * third]
            piece.write_parquet(folder / "run" / f"part-{number}.parquet")
        with config(temporary=folder):
            return evaluate(batch.judgements, folder / "run", **asked(batch))

    return way


def _duckdb(batch: Batch) -> Any:
    import duckdb

    connection = duckdb.connect()
    connection.register("given", batch.frame)
    connection.execute(f"CREATE TABLE run ({_columns(batch)})")
    connection.execute("INSERT INTO run SELECT * FROM given")
    return connection


def _on_duckdb(batch: Batch, folder: Path, spark: Any) -> Evaluation:
    return evaluate(batch.judgements, _duckdb(batch).table("run"), **asked(batch))


def _on_ibis_duckdb(batch: Batch, folder: Path, spark: Any) -> Evaluation:
    import ibis

    table = ibis.duckdb.from_connection(_duckdb(batch)).table("run")
    return evaluate(batch.judgements, table, **asked(batch))


@contextmanager
def sqlite_database(path: Path) -> Iterator[Any]:
    """Connect ibis with a database, whose `con` takes statements."""
    import ibis

    connection = ibis.sqlite.connect(path)
    with closing(connection.con):
        yield connection


def _on_ibis_sqlite(batch: Batch, folder: Path, spark: Any) -> Evaluation:
    with sqlite_database(folder / "run.sqlite") as database:
        database.con.execute(f"CREATE TABLE run ({_columns(batch)})")
        database.con.executemany("INSERT INTO run VALUES (?, ?, ?)", batch.frame.rows())
        return evaluate(batch.judgements, database.table("run"), **asked(batch))


def _columns(batch: Batch) -> str:
    """The columns of a table in SQL."""
    types = {
        "String": f"VARCHAR{' COLLATE NOCASE' if batch.collated else ''}",
        "Int64": "BIGINT",
        "Float32": "FLOAT",
        "Float64": "DOUBLE",
    }
    return ", ".join(f"{name} {types[str(dtype)]}" for name, dtype in batch.frame.schema.items())


def _spark_frame(batch: Batch, session: Any, partitions: int) -> Any:
    frame = session.createDataFrame(batch.frame.to_arrow())
    if batch.collated:
        collated = (f"{name} COLLATE UTF8_LCASE AS {name}" for name in ("query", "item"))
        frame = frame.selectExpr(*collated, batch.value)
    return frame.repartition(partitions)


def _on_spark(partitions: int) -> Way:
    """So many partitions."""

    def way(batch: Batch, folder: Path, spark: Any) -> Evaluation:
        from judged.engines.spark.run import PARTITION_ROWS

        session = spark()
        rows = batch.frame.height + sum(map(len, batch.judgements.values()))
        session.conf.set(PARTITION_ROWS, str(-(-rows // partitions)))
        try:
            frame = _spark_frame(batch, session, partitions)
            return evaluate(batch.judgements, frame, **asked(batch))
        finally:
            session.conf.unset(PARTITION_ROWS)

    return way


def _in_blocks(size: int | None) -> Way:
    """Batches of whole queries, of this many or of random sizes."""

    def way(batch: Batch, folder: Path, spark: Any) -> Evaluation:
        from judged import Evaluator

        draw = random.Random(17)
        frame = batch.frame
        queries = frame["query"].unique(maintain_order=True).to_list()
        evaluator = Evaluator(batch.judgements, **asked(batch))
        while queries:
            number = size or draw.randint(1, 7)
            block, queries = queries[:number], queries[number:]
            wanted = pl.Series(block, dtype=frame.schema["query"])
            evaluator.add(frame.filter(pl.col("query").is_in(wanted.implode())))
        return evaluator.evaluation()

    return way


WAYS: dict[str, Way] = {
    "memory": _in_memory,
    "blocks of one": _in_blocks(1),
    "blocks": _in_blocks(None),
    "files": _on_disk(grouped=True),
    "disk": _on_disk(grouped=False),
    "duckdb": _on_duckdb,
    "ibis on duckdb": _on_ibis_duckdb,
    "ibis on sqlite": _on_ibis_sqlite,
    "spark 1": _on_spark(1),
    "spark 3": _on_spark(3),
    "spark 7": _on_spark(7),
}
"""The engines under test."""

TABLES = ("duckdb", "ibis on duckdb", "ibis on sqlite")
SPARK = ("spark 1", "spark 3", "spark 7")
UNORDERED = (*TABLES, *SPARK)
"""Engines whose tables have no order."""

FEW = (
    *("id", "expected", "golden, judged only", "first of duplicates", "collated", "subtopics"),
    *("as beir", "NaN", "duplicates"),
)
"""What an engine is asked that differs little from another."""
FEWER = ("id", "first of duplicates", "subtopics", "NaN")
"""What another number of partitions could change: all cuts are tried without Spark, in
test_spark_partitions.py. Spark takes seconds for each."""
LIMITED = {
    **dict.fromkeys(("blocks of one", "disk", "ibis on duckdb"), FEW),
    **dict.fromkeys(("spark 1", "spark 7"), FEWER),
}
CASES = [
    (engine, batch) for engine in WAYS for batch in BATCHES if batch in LIMITED.get(engine, BATCHES)
]

GAPS: dict[tuple[str, str], str] = {
    **{
        (engine, name): "a table has no order that ties=input could take"
        for engine in UNORDERED
        for name, batch in BATCHES.items()
        if batch.ordered and (engine, name) in CASES
    },
    ("spark 3", "categories"): "categories need every result, which stays in Spark",
    ("blocks", "categories"): "an Evaluator takes no categories",
    ("files", "categories"): "categories need the whole run, and a folder is read in blocks",
    ("ibis on sqlite", "NaN"): "SQLite keeps a NaN as NULL, a score that is missing",
}
"""What an engine cannot do, or does otherwise, and why."""
