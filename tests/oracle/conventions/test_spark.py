"""The convention of Spark MLlib beside Spark MLlib: means over queries, rankings without scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.loops import for_each
from support.peers import HEAVY, WITHOUT_TIES, Case, cases, compare, only_relevant, ranked

pytestmark = HEAVY

NAME = "spark"
DATA = {name: only_relevant(given) for name, given in WITHOUT_TIES.items()}


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql")
    session = (
        sql.SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def metrics(spark: Any) -> dict[str, Any]:
    from pyspark.mllib.evaluation import RankingMetrics

    return {
        name: RankingMetrics(
            spark.sparkContext.parallelize(
                [(ranked(given, query), list(grades)) for query, grades in given.judgements.items()]
            )
        )
        for name, given in DATA.items()
    }


@pytest.mark.parametrize("collection", DATA)
@for_each("case", cases(NAME), ids=str)
def test_every_name(case: Case, collection: str, metrics: dict[str, Any]) -> None:
    found = getattr(metrics[collection], case.theirs.partition("(")[0])
    assert compare(NAME, case, DATA[collection], found(case.k) if case.places else found)


def test_what_it_does_wrong(spark: Any) -> None:
    from pyspark.mllib.evaluation import RankingMetrics

    def metrics(*row: list[Any]) -> Any:
        return RankingMetrics(spark.sparkContext.parallelize([row]))

    # Grades are ignored. The worse of two items first gains (1 + 3/log2(3)) / (3 + 1/log2(3)) with
    # gains of 2^g - 1, and 1 if all gain alike.
    assert metrics(["b", "a"], ["a", "b"], [2.0, 1.0]).ndcgAt(2) == 1.0
    # An item predicted twice counts twice.
    assert metrics(["a", "a"], ["a"]).recallAt(2) == 2.0
