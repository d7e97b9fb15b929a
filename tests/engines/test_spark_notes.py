"""What is said of a run in Spark: the notes of memory, however its rows are shared out."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import judged
from judged.engines.spark import summary
from judged.errors import InputError

pytestmark = pytest.mark.full

RUN = "query string, item string, score double"


def listed(queries: int, length: int, item: str = "d{}") -> pl.DataFrame:
    """Lists of the same length, the best first."""
    rows = [
        (f"q{query}", item.format(query * 100 + at), float(length - at))
        for query in range(queries)
        for at in range(length)
    ]
    return pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")


def test_judgements_by_subtopic_that_stay_in_spark(spark: Any, settings: Any) -> None:
    """The note counts all partitions, those with one subtopic an item too; it stands between what
    is said of the judgements and of the run."""
    settings(partitionRows=4)
    grades = [
        *(("q1", "a", "s1", 1.0), ("q1", "a", "s2", 2.0), ("q1", "b", "s1", 1.0)),
        *(("q2", "c", "x", 1.0), ("q3", "c", "x", 0.0), ("q3", "q3", "x", 1.0)),
    ]
    names = ["query", "item", "subtopic", "grade"]
    judgements = pl.DataFrame(grades, schema=names, orient="row")
    rows = [("q1", "a", 2.0), ("q1", "q1", 3.0), ("q2", "c", 1.0), ("q3", "d", 1.0)]
    run = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")
    frames = (
        spark.createDataFrame(grades, "query string, item string, subtopic string, grade double"),
        spark.createDataFrame(rows, RUN),
    )
    found = summary(*frames, "AP, StRecall@5", exclude_same_id=True)
    wanted = judged.evaluate(judgements, run, "AP, StRecall@5", exclude_same_id=True)
    assert found.audit == wanted.audit
    assert found.summary.equals(wanted.summary)
    (note,) = (note for note in found.audit["run"].notes if "by subtopic" in note)
    assert note.startswith("5 judgements by subtopic are of 4 items:")


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
        assert found.per_query().equals(wanted.per_query(), null_equal=True)


def test_a_row_that_only_names_a_query_with_results(spark: Any) -> None:
    """It is in a partition of its own."""
    rows = [("q1", "a", 2.0), ("q1", "b", 1.0), ("q2", None, None), ("q2", None, None)]
    clash = spark.createDataFrame([("q1", None, None)], RUN)
    frame = spark.createDataFrame(rows, RUN).coalesce(1)
    judgements = {"q1": {"a": 1}, "q2": {"b": 1}}
    found = judged.evaluate(judgements, frame, "AP")
    assert found.per_query()["AP"].to_list() == [1.0, 0.0]
    with pytest.raises(InputError) as raised:
        judged.evaluate(judgements, frame.union(clash).union(clash), "AP")
    assert str(raised.value) == (
        "a Spark frame: the item is missing in a row of query 'q1' (and 1 more)."
    )
