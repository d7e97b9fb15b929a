"""The convention of Spark MLlib beside Spark MLlib: means over queries, rankings without scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from support.loops import for_each
from support.peers import (
    WITHOUT_TIES,
    Case,
    cases,
    check_table,
    check_version,
    compare,
    only_relevant,
    ranked,
)

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]

NAME = "spark"
CALLS: dict[str, Callable[..., float]] = {
    "precisionAt({k})": lambda metrics, k: metrics.precisionAt(k),
    "recallAt({k})": lambda metrics, k: metrics.recallAt(k),
    "meanAveragePrecision": lambda metrics: metrics.meanAveragePrecision,
    "meanAveragePrecisionAt({k})": lambda metrics, k: metrics.meanAveragePrecisionAt(k),
    "ndcgAt({k})": lambda metrics, k: metrics.ndcgAt(k),
}
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


def test_table() -> None:
    check_table(NAME, CALLS)


@pytest.mark.parametrize("collection", DATA)
@for_each("case", cases(NAME), ids=str)
def test_every_name(case: Case, collection: str, metrics: dict[str, Any]) -> None:
    theirs = CALLS[case.name.theirs](metrics[collection], **case.places)
    assert compare(NAME, case, DATA[collection], theirs)


def test_relevance_values_are_ignored(spark: Any) -> None:
    """The worse of two items first: (1 + 3/log2(3)) / (3 + 1/log2(3)) with gains of 2^g - 1, and 1
    if all gain alike."""
    from pyspark.mllib.evaluation import RankingMetrics

    assert (
        RankingMetrics(
            spark.sparkContext.parallelize([(["b", "a"], ["a", "b"], [2.0, 1.0])])
        ).ndcgAt(2)
        == 1.0
    )


def test_an_item_predicted_twice_counts_twice(spark: Any) -> None:
    from pyspark.mllib.evaluation import RankingMetrics

    assert RankingMetrics(spark.sparkContext.parallelize([(["a", "a"], ["a"])])).recallAt(2) == 2.0


def test_version() -> None:
    pytest.importorskip("pyspark")
    check_version(NAME, exactly=True)
