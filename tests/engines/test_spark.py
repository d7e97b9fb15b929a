"""Runs and judgements in Spark: the same bits and notes as from memory, also if workers die."""

from __future__ import annotations

import os
import re
import stat
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import judged
from judged.engines.spark import per_query, summary
from judged.engines.spark.reading import opened
from judged.engines.spark.run import SparkFrame
from judged.errors import EngineError, InputError, JudgedWarning, MeasureError, PolicyError
from support.errors import error_of

pytestmark = pytest.mark.full

MEASURES = "AP, nDCG@10, RR, P@5, RBP, F(average=means)@10"
HERE = Path(__file__).parent


def tables() -> tuple[dict[str, dict[str, float]], pl.DataFrame]:
    """Judgements, and a run with ties, missing queries and queries that nobody judged."""
    rng = np.random.default_rng(3)
    judgements = {
        f"q{query}": {f"d{item}": float(rng.integers(-1, 4)) for item in rng.choice(40, 8, False)}
        for query in range(12)
    }
    rows = [
        (f"q{query}", f"d{item}", float(rng.integers(0, 6)))
        for query in range(2, 15)
        for item in rng.choice(40, 20 + query, False)
    ]
    return judgements, pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")


def as_spark(spark: Any, frame: pl.DataFrame) -> Any:
    schema = "query string, item string, score double"
    return spark.createDataFrame(frame.rows(), schema)


def assert_same(found: judged.Evaluation, wanted: judged.Evaluation) -> None:
    assert found.to_frame(per_query=True).equals(wanted.to_frame(per_query=True), null_equal=True)
    assert found.to_frame().equals(wanted.to_frame(), null_equal=True)
    assert found.audit == wanted.audit


def test_a_list_that_is_too_long_for_a_worker(spark: Any, settings: Any) -> None:
    judgements, run = tables()
    settings(longestList=30)
    with pytest.raises(InputError) as raised:
        judged.evaluate(judgements, as_spark(spark, run), MEASURES)
    assert str(raised.value) == (
        "a Spark frame: query 'q11' has 31 results, more than the 30 that a worker gets at most. "
        "Keep the best results of each query, or raise spark.judged.longestList (about 100 bytes "
        "of memory per result)."
    )


def test_judgements_in_spark_too(spark: Any) -> None:
    """Queries come by id; judgements may have other names and types of columns."""
    judgements, run = tables()
    rows = [
        (query, item, grade) for query, own in judgements.items() for item, grade in own.items()
    ]
    frame = spark.createDataFrame(rows, "qid string, docid string, rel float")
    runs = {"one": as_spark(spark, run), "two": as_spark(spark, run.filter(pl.col("score") > 1))}
    found = judged.evaluate(frame, runs, MEASURES)
    by_id = {query: judgements[query] for query in sorted(judgements)}
    local = {"one": run, "two": run.filter(pl.col("score") > 1)}
    assert_same(found, judged.evaluate(by_id, local, MEASURES))


def test_values_that_stay_in_spark(spark: Any) -> None:
    judgements, run = tables()
    rows = [
        (query, item, grade) for query in judgements for item, grade in judgements[query].items()
    ]
    own = ("q3 3", "q3 3", 1.0)  # a partition may hold nothing but this judgement
    graded = spark.createDataFrame([*rows, own], "query string, item string, grade double")
    frame = as_spark(spark, run)
    by_id = {**judgements, "q3 3": {"q3 3": 1}}
    whole = judged.evaluate(by_id, run, MEASURES, exclude_same_id=True).to_frame(per_query=True)
    for given in (graded, by_id):
        with pytest.warns(JudgedWarning, match="no results for 3 of 13 judged queries, which cou"):
            found = per_query(given, frame, MEASURES, exclude_same_id=True).collect()
        values = {row["query"]: row.asDict() for row in found}
        assert [values[row["query"]] for row in whole.to_dicts()] == [
            {name: row[name] for name in ("query", *map(str.strip, MEASURES.split(", ")))}
            for row in whole.to_dicts()
        ]
    assert error_of(per_query, by_id, run) == "per_query takes a run in Spark; got DataFrame."
    assert error_of(per_query, by_id, frame, weights={"q1": 1}) == (
        "per_query has no option 'weights'; use judged.evaluate."
    )


def test_summary_returns_the_means_and_nothing_else(spark: Any, settings: Any) -> None:
    judgements, run = tables()
    frame = as_spark(spark, run)
    settings(partitionRows=150)
    for policy in ({}, {"missing": "skip", "empty": "skip"}):
        evaluation = judged.evaluate(judgements, run, "AP, P@5, nDCG@10", policy=policy)
        with pytest.warns(JudgedWarning, match="The run has no results for 2 of 12 judged queries"):
            means = summary(judgements, frame, "AP, P@5, nDCG@10", policy=policy)
        assert means == pytest.approx(
            {name: evaluation.value(name) for name in ("AP", "P@5", "nDCG@10")}, rel=1e-12
        )
    nothing_counts = {"q2": {"d1": 0.0}}
    means = summary(nothing_counts, frame, "AP", policy={"empty": "skip"})
    assert np.isnan(means["AP"])
    for name in ("missing", "empty"):
        with pytest.raises(PolicyError, match=f"{name}=error needs the ids of all queries"):
            summary(judgements, frame, "AP", policy={name: "error"})
    weighted = pl.DataFrame({"query": ["q2"], "item": ["d1"], "grade": [1.0], "weight": [2.0]})
    for given in (weighted, spark.createDataFrame(weighted.rows(), weighted.columns)):
        with pytest.raises(InputError, match="values in Spark have no weights of queries"):
            summary(given, frame, "AP", columns={"weight": "weight"})
    for measure in ("AP(aggregate=median)", "F(average=means)@10"):
        with pytest.raises(MeasureError, match="is not a mean over the queries"):
            summary(judgements, frame, measure)


def test_what_is_wrong_is_said_as_everywhere(spark: Any) -> None:
    judgements, run = tables()
    frame = as_spark(spark, run)
    with pytest.raises(InputError) as caught:
        judged.evaluate(judgements, as_spark(spark, pl.concat([run, run[:3]])), "AP")
    assert str(caught.value) == (
        "a Spark frame, query 'q2': query 'q2' has item 'd11' more than once (and at least 2 more "
        "such pairs). Remove the repetitions, or keep the best-ranked of each with "
        "duplicates='first'."
    )
    with pytest.raises(PolicyError) as refused:
        judged.evaluate(judgements, frame, "AP", policy={"ties": "input"})
    assert str(refused.value) == (
        "a Spark frame: ties=input needs an order, which a table in Spark does not have. Give a "
        "column with ranks, or choose ties=id, best, worst or expected."
    )
    with pytest.raises(InputError, match="is String, but a score must be a number"):
        judged.evaluate(judgements, frame.withColumn("score", frame.item), "AP")


def test_what_spark_would_read_otherwise(spark: Any, settings: Any, folder: Path) -> None:
    """Ids in the names of folders, columns in another order, bad bytes and bad lines."""

    def found(path: str) -> judged.Evaluation:
        judgements, runs = opened(spark, "qrels", [str(Path(path).absolute())])
        return judged.evaluate(judgements, {name: SparkFrame(run) for name, run in runs.items()})

    def refused(path: str) -> str:
        with pytest.raises(InputError) as caught:
            found(path)
        return str(caught.value).replace(str(folder.absolute()), "HERE")

    Path("qrels").write_text("001 0 a 1\n1 0 b 1\n")
    for query in ("001", "1"):
        Path(f"run/query={query}").mkdir(parents=True)
        rows = pl.DataFrame({"item": ["a", "b"], "score": [2.0, 1.0]})
        rows.write_parquet(f"run/query={query}/rows.parquet")
    lists = {query: {"a": 2.0, "b": 1.0} for query in ("001", "1")}
    assert_same(found("run"), judged.evaluate("qrels", {"run": lists}))
    Path("csv").mkdir()
    Path("csv/1.csv").write_text("query,item,score\n001,a,1\n")
    Path("csv/2.csv").write_text("item,query,score\nb,1,1\n")
    assert refused("csv") == ("Spark cannot read it: CSV header does not conform to the schema.")
    Path("short.csv").write_text("query,item,score\n001,a\n")
    assert refused("short.csv").startswith("Spark cannot read it: [MALFORMED_CSV_RECORD]")
    lines = [b"1 Q0 %d 0 1 t\n" % number for number in range(1001)]
    Path("bytes.run").write_bytes(b"".join([*lines, b"1 Q0 b\xe9 0 1 t\n"]))
    says = 'not UTF-8 text: "1 Q0 b\\xe9 0 1 t". Convert the file to UTF-8 first.'
    assert refused("bytes.run") == f"HERE/bytes.run: {says}"
    Path("first.run").write_bytes(b"1 Q0 b\xe9 0 1 t\n")
    assert refused("first.run") == f"HERE/first.run, line 1: {says}"
    Path("long.run").write_text("1 Q0 a 0 1 t t\n1 Q0 b 0 1 t\n")
    assert_same(found("long.run"), judged.evaluate("qrels", "long.run"))


class CrashOnce:
    """Something done to a run that ends its worker the first time."""

    def __init__(self, marker: Path) -> None:
        self.marker = str(marker)

    def __call__(self, run: Any) -> Any:
        try:
            os.close(os.open(self.marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return run
        os._exit(1)


def test_a_worker_that_dies_changes_nothing(
    spark: Any, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark import cloudpickle

    from judged.engines.spark.run import SparkRun

    judgements, run = tables()
    settings(partitionRows=150)
    usual = SparkRun.of.__func__
    crash = CrashOnce(tmp_path / "died")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests
    monkeypatch.setattr(
        SparkRun, "of", classmethod(lambda cls, table: usual(cls, table).then(crash))
    )
    found = judged.evaluate(judgements, as_spark(spark, run), MEASURES)
    assert (tmp_path / "died").exists()
    monkeypatch.undo()
    assert_same(found, judged.evaluate(judgements, run, MEASURES))


def test_workers_without_judged(spark: Any, tmp_path: Path) -> None:
    judgements, run = tables()
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Blocked:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'judged':\n"
        "            raise ModuleNotFoundError('No module named judged', name='judged')\n"
        "sys.meta_path.insert(0, Blocked())\n"
    )
    script = tmp_path / "python"
    path = f"{tmp_path}{os.pathsep}$PYTHONPATH"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{path}" exec {sys.executable} "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    context = spark.sparkContext
    before = context.pythonExec
    context.pythonExec = str(script)
    try:
        with pytest.raises(EngineError) as caught:
            judged.evaluate(judgements, as_spark(spark, run), "AP")
    finally:
        context.pythonExec = before
    assert str(caught.value) == (
        f"the Spark workers lack the Python package judged: install judged {judged.__version__}, "
        "pyarrow and pandas there."
    )


def test_items_in_spark_are_counted_where_they_are(spark: Any) -> None:
    """Whole numbers, whose products are exact; ids in any order, ties, and queries among items."""
    rng = np.random.default_rng(5)
    queries, items = (rng.integers(-3, 4, (size, 8)).astype(float) for size in (15, 300))
    items[1::7] = items[0::7][: len(items[1::7])]
    query_ids, item_ids = ([f"i{at}" for at in range(size)] for size in (15, 300))
    judgements = {
        query: {f"i{item}": int(item % 3) for item in rng.choice(300, 6, False)}
        for query in query_ids
    }
    rows = [(name, vector.tolist()) for name, vector in zip(item_ids, items, strict=True)]
    frame = spark.createDataFrame(rows, "id string, vector array<double>").repartition(3)
    options: dict[str, Any] = {
        "similarity": "dot",
        "query_ids": query_ids,
        "exclude": judged.relevance.same_id(),
    }
    found = judged.evaluate_embeddings(queries, frame, judgements, "AP, RR", **options)
    wanted = judged.evaluate_embeddings(
        queries, items, judgements, "AP, RR", item_ids=item_ids, **options
    )
    assert_same(found, wanted)
    ranges = (each.showing(tie_range=True).to_dict()["runs"] for each in (found, wanted))
    assert next(ranges) == next(ranges)
    with pytest.raises(InputError) as caught:
        judged.evaluate_embeddings(queries, frame, judgements, unique={}, query_ids=query_ids)
    assert str(caught.value) == "unique is not supported for items in Spark; leave it out."
    with pytest.raises(InputError) as again:
        judged.evaluate_embeddings(queries, frame.union(frame), judgements, query_ids=query_ids)
    assert str(again.value) == ("the items: 'i0' occurs more than once (and 299 more such ids).")


@pytest.mark.parametrize("lost", ["a", "b"])
def test_a_missing_vector_is_named(spark: Any, lost: str) -> None:
    """Of a judged item, which are read first, and of another, alone in its partition."""
    rows = [(name, None if name == lost else [1.0, 2.0]) for name in ("a", "b")]
    frame = spark.createDataFrame(rows, "id string, vector array<double>").repartition(2, "id")
    with pytest.raises(InputError) as caught:
        judged.evaluate_embeddings([[1.0, 2.0]], frame, {"0": {"a": 1}}, "RR")
    assert str(caught.value) == f"the items: the vector of {lost!r} is missing."


RUN = "query string, item string, score double"


def listed(queries: int, length: int, item: str = "d{}") -> pl.DataFrame:
    """Lists of the same length, the best first."""
    rows = [
        (f"q{query}", item.format(query * 100 + at), float(length - at))
        for query in range(queries)
        for at in range(length)
    ]
    return pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")


def test_judgements_by_subtopic_that_stay_in_spark(spark: Any) -> None:
    grades = [
        *(("q1", "a", "s1", 1.0), ("q1", "a", "s2", 2.0), ("q1", "b", "s1", 1.0)),
        *(("q2", "c", "x", 1.0), ("q3", "c", "x", 0.0), ("q3", "q3", "x", 1.0)),
    ]
    rows = [("q1", "a", 2.0), ("q1", "q1", 3.0), ("q2", "c", 1.0), ("q3", "d", 1.0)]
    judgements = pl.DataFrame(grades, schema=["query", "item", "subtopic", "grade"], orient="row")
    run = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")
    graded = "query string, item string, subtopic string, grade double"
    frames = spark.createDataFrame(grades, graded), spark.createDataFrame(rows, RUN)
    found = per_query(*frames, "AP, StRecall@5", exclude_same_id=True).collect()
    wanted = judged.evaluate(judgements, run, "AP, StRecall@5", exclude_same_id=True)
    assert sorted(map(tuple, found)) == sorted(
        wanted.to_frame(per_query=True).drop("run", strict=False).rows()
    )


@pytest.mark.filterwarnings("ignore::judged.JudgedWarning")
def test_doubts_about_lists_in_partitions(spark: Any, settings: Any) -> None:
    """Own ids, ids that are written otherwise, and large ties."""
    settings(partitionRows=20)
    long, short = listed(4, 8), listed(12, 3).filter(pl.col("query").is_in(["q10", "q11"]))
    own = pl.DataFrame({"query": ["q0", "q1", "q10"], "score": [9.0, 4.5, 9.0]})
    own = own.select("query", pl.col("query").alias("item"), "score")
    run = pl.concat([long, short, own])
    judgements = {
        **{f"q{query}": {f"d{query * 100 + 3}": 1, "x": 1} for query in range(4)},
        **{f"q{query}": {f"d{query * 100 + 1}": 1} for query in (10, 11)},
    }
    otherwise = {
        query: {item.upper(): grade for item, grade in own.items()}
        for query, own in judgements.items()
    }
    large = run.with_columns(score=pl.lit(2.0**60))
    cases = (
        (judgements, run, "3 of 6 queries have their own id among their results, 2 at rank 1"),
        (
            otherwise,
            run,
            "No result is judged. With the judgements' ids in lower case, 100% of the queries",
        ),
        (judgements, large, "of tied scores from 2^53 on, such as 1152921504606846976 of query"),
    )
    for grades, rows, says in cases:
        found = judged.evaluate(grades, spark.createDataFrame(rows.rows(), RUN), "AP, RR")
        wanted = judged.evaluate(grades, rows, "AP, RR")
        assert found.audit == wanted.audit
        assert any(says in note for note in found.audit["run"].notes), found.audit["run"].notes
        assert found.to_frame(per_query=True).equals(
            wanted.to_frame(per_query=True), null_equal=True
        )


def test_a_row_that_only_names_a_query_with_results(spark: Any) -> None:
    """It is in a partition of its own."""
    rows = [("q1", "a", 2.0), ("q1", "b", 1.0), ("q2", None, None), ("q2", None, None)]
    clash = spark.createDataFrame([("q1", None, None)], RUN)
    frame = spark.createDataFrame(rows, RUN).coalesce(1)
    judgements = {"q1": {"a": 1}, "q2": {"b": 1}}
    found = judged.evaluate(judgements, frame, "AP")
    assert found.to_frame(per_query=True)["AP"].to_list() == [1.0, 0.0]
    with pytest.raises(InputError) as raised:
        judged.evaluate(judgements, frame.union(clash).union(clash), "AP")
    assert str(raised.value) == ("a Spark frame, query 'q1': the item is missing.")


ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "guide-large.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"<!-- spark -->\n```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_guide_runs_and_gives_the_numbers_of_memory(spark: Any, folder: Path) -> None:
    left: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for block in BLOCKS:
            exec(compile(block, "guide-large", "exec"), left)
    run = {
        "q1": {"d3": 9.0, "d1": 7.5},
        "q2": {"d5": 3.0, "d4": 2.0},
        "q9": {"d1": 1.0},
    }
    judgements = {"q1": {"d1": 2, "d2": 0}, "q2": {"d4": 1}, "q3": {"d6": 1}}
    wanted = judged.evaluate(judgements, run, ["nDCG@10", "RR"])
    assert left["found"].to_metrics() == wanted.to_metrics()
    # Rank 2 of the relevant items, and a query that is missing: (1/2 + 1/2 + 0) / 3.
    assert wanted.value("RR") == pytest.approx(1 / 3)
    assert left["means"] == pytest.approx(
        {"nDCG@10": wanted.value("nDCG@10"), "RR": wanted.value("RR")}
    )
    rows = {row["query"]: row["nDCG@10"] for row in left["values"].collect()}
    assert rows == dict(wanted.to_frame(per_query=True).select("query", "nDCG@10").rows())
    # In the other run d1 and d3 have changed places: rank 1 instead of 2 for q1.
    assert left["comparison"].pair("new", "old").wins == 1
    assert len(BLOCKS) == 3
