"""Conventions of libraries that need environments of their own, each beside its library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.generated import Collection, generate
from support.loops import for_each
from support.peers import (
    COLLECTIONS,
    HEAVY,
    WITHOUT_TIES,
    Case,
    cases,
    compare,
    judged_only,
    only_relevant,
    ours,
    ranked,
    with_relevant,
)

pytestmark = HEAVY

TIED = {name: only_relevant(given) for name, given in COLLECTIONS.items()}
UNTIED = {name: only_relevant(given) for name, given in WITHOUT_TIES.items()}


def pairs(given: Collection) -> list[tuple[str, str]]:
    """Return query and item of every judgement."""
    return [(query, item) for query, grades in given.judgements.items() for item in grades]


# -- BEIR: means over queries, rounded to five decimals

EMPTY = judged_only(COLLECTIONS["nothing relevant"])
SELF = Collection(
    {"q": {"a": 1}, "r": {"b": 1}, "s": {"s": 2, "c": 1}},
    [
        *[("q", "q", 2.0), ("q", "a", 1.0), ("r", "r", 1.0)],
        *[("s", "s", 3.0), ("s", "x", 2.0), ("s", "c", 1.0)],
    ],
)
"""q and r retrieve themselves, r nothing else; s is judged relevant for itself."""
OF_BEIR = {
    # Its own measures stop at queries of the run without judgements.
    **{name: judged_only(with_relevant(given)) for name, given in COLLECTIONS.items()},
    "nothing relevant, kept": EMPTY,
    "items that are queries": SELF,
}


@pytest.mark.parametrize("collection", OF_BEIR)
@for_each("case", cases("beir"), ids=str)
def test_beir(case: Case, collection: str) -> None:
    pytest.importorskip("beir")
    from beir.retrieval.evaluation import EvaluateRetrieval

    given, root, k = OF_BEIR[collection], case.theirs.partition("@")[0], int(case.places["k"])
    own = root in ("MRR", "R_cap", "Accuracy")
    if (given is EMPTY and root == "R_cap") or (given is SELF and own):
        pytest.skip("it stops with an error")
    run: dict[str, dict[str, Any]] = given.run
    if own:
        found = EvaluateRetrieval.evaluate_custom(given.judgements, run, [k], metric=root)
    else:
        parts = EvaluateRetrieval.evaluate(given.judgements, run, [k])
        found = {name: value for part in parts for name, value in part.items()}
    assert compare("beir", case, given, found[case.theirs])


# -- MTEB: means over queries, rounded to five decimals but for mrr

# Its own measures stop where the run has a query that nobody judged.
OF_MTEB = {name: judged_only(given) for name, given in COLLECTIONS.items()}


def mteb(case: Case, given: Collection) -> float:
    metrics = pytest.importorskip("mteb._evaluators.retrieval_metrics")
    k = int(case.places.get("k", 1))
    run = {query: given.run[query] for query in given.judgements if query in given.run}
    if case.theirs.startswith("R_cap"):
        found = metrics.recall_cap(given.judgements, run, [k])[case.theirs]
        values = [value for value in found if value is not None]
        return float(sum(values) / len(values))
    found = metrics.calculate_retrieval_scores(run, given.judgements, [k])
    scores = metrics.make_score_dict(
        ndcg=found.ndcg,
        _map=found.map,
        recall=found.recall if k == 1 else {**found.recall, "Recall@1": 0.0},
        precision=found.precision,
        mrr=found.mrr,
        naucs=found.naucs,
        naucs_mrr=found.naucs_mrr,
        hit_rate=found.hit_rate,
        task_scores={},
    )
    return float(scores[case.theirs])


@pytest.mark.parametrize("collection", OF_MTEB)
@for_each("case", cases("mteb"), ids=str)
def test_mteb(case: Case, collection: str) -> None:
    given = OF_MTEB[collection]
    allowed = 1e-9 if case.theirs.startswith(("mrr", "R_cap")) else None
    assert compare("mteb", case, given, mteb(case, given), tolerance=allowed)


# -- RecBole: means over users, of a matrix of scores


def scored(given: Collection) -> Collection:
    """Every user has a list, and every relevant item a place in it: at its end, if it had none."""
    rows = [row for row in given.rows if row[0] in given.judgements]
    for query, grades in given.judgements.items():
        lost = [item for item in grades if item not in given.run.get(query, {})]
        rows += [(query, item, -1000.0 - at) for at, item in enumerate(lost)]
    return Collection(given.judgements, rows)


OF_RECBOLE = {name: scored(given) for name, given in UNTIED.items()}


def recbole(given: Collection, metric: str, topk: list[int], decimals: int) -> dict[str, float]:
    """What RecBole's own collector and evaluator make of the scores; item 0 is its padding, which
    it gives the least score, as it does to items of the training set."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("recbole")
    from recbole.config import Config
    from recbole.evaluator import Collector, Evaluator

    # RecBole gives numpy the names back that it asks for.
    Config.compatibility_settings(None)
    users = list(given.judgements)
    items = {item: 1 + at for at, item in enumerate(sorted({row[1] for row in given.rows}))}
    scores = torch.full((len(users), 1 + len(items)), -torch.inf)
    for query, item, score in given.rows:
        scores[users.index(query), items[item]] = score
    positions = [(users.index(user), items[item]) for user, item in pairs(given)]
    config = {
        "metrics": [metric],
        "topk": topk,
        "metric_decimal_place": decimals,
        "eval_args": {"mode": "full"},
        "device": "cpu",
    }
    collector = Collector(config)
    collector.eval_batch_collect(scores, None, *map(torch.tensor, zip(*positions, strict=True)))
    found = Evaluator(config).evaluate(collector.get_data_struct())
    return {name: float(value) for name, value in found.items()}


@pytest.mark.parametrize("collection", OF_RECBOLE)
@for_each("case", cases("recbole"), ids=str)
def test_recbole(case: Case, collection: str) -> None:
    given, k = OF_RECBOLE[collection], int(case.places["k"])
    metric = case.theirs.partition("@")[0]  # RecBole lowers every name
    # Other cutoffs beside it change nothing.
    for topk in ([k], [1, k, 60]):
        for decimals, allowed in ((4, None), (12, 1e-9)):
            found = recbole(given, metric, topk, decimals)[case.theirs]
            assert compare("recbole", case, given, found, tolerance=allowed)


# -- recommenders: means over users


@pytest.mark.parametrize("collection", TIED)
@for_each("case", cases("recommenders"), ids=str)
def test_recommenders(case: Case, collection: str) -> None:
    pd = pytest.importorskip("pandas")
    evaluation = pytest.importorskip("recommenders.evaluation.python_evaluation")
    given, (function, options) = TIED[collection], case.call()
    rows = [(query, item, float(given.judgements[query][item])) for query, item in pairs(given)]
    truth = pd.DataFrame(rows, columns=["userID", "itemID", "rating"])
    run = pd.DataFrame(given.rows, columns=["userID", "itemID", "prediction"])
    found = getattr(evaluation, function)(truth, run, **options)
    assert compare("recommenders", case, given, float(found))


# -- RecTools, user by user

CATALOG = 5000


@pytest.mark.parametrize("collection", UNTIED)
@for_each("case", cases("rectools"), ids=str)
def test_rectools(case: Case, collection: str) -> None:
    pd = pytest.importorskip("pandas")
    metrics = pytest.importorskip("rectools.metrics")
    given, (metric, options) = UNTIED[collection], case.call()
    extra = {}
    if metric == "Accuracy":
        # A list of fewer than k results is filled up with false positives there.
        given = only_relevant(generate(141, ties=False, gaps=False, shortest=50, longest=60))
        extra = {"catalog": range(CATALOG)}
    rows = [
        (query, item, rank)
        for query in given.run
        for rank, item in enumerate(ranked(given, query), 1)
    ]
    recommended = pd.DataFrame(rows, columns=["user_id", "item_id", "rank"])
    interactions = pd.DataFrame(pairs(given), columns=["user_id", "item_id"])
    found = getattr(metrics, metric)(**options).calc_per_user(recommended, interactions, **extra)
    compared = compare("rectools", case, given, dict(found), collection=CATALOG)
    assert compared == len(given.judgements)


# -- RePlay, user by user


@pytest.mark.parametrize("collection", TIED)
@for_each("case", cases("replay"), ids=str)
def test_replay(case: Case, collection: str) -> None:
    pd = pytest.importorskip("pandas")
    metrics = pytest.importorskip("replay.metrics")
    given, (metric, _) = TIED[collection], case.call()
    asked = getattr(metrics, metric)(int(case.places["k"]), mode=metrics.PerUser())
    run = pd.DataFrame(given.rows, columns=["query_id", "item_id", "rating"])
    truth = pd.DataFrame(pairs(given), columns=["query_id", "item_id"])
    (theirs,) = asked(run, truth).values()
    assert compare("replay", case, given, dict(theirs)) == len(given.judgements)
    # Dicts keep the order of ties.
    (theirs,) = asked(
        {query: list(scores.items()) for query, scores in given.run.items()},
        {query: list(grades) for query, grades in given.judgements.items()},
    ).values()
    compared = compare("replay", case, given, dict(theirs), policy={"ties": "input"})
    assert compared == len(given.judgements)


def test_replay_orders_ids_that_are_numbers_as_numbers() -> None:
    """9 and 10 are tied, and 10 is relevant: first as a number, second as a text."""
    pd = pytest.importorskip("pandas")
    metrics = pytest.importorskip("replay.metrics")
    run = pd.DataFrame({"query_id": [1, 1], "item_id": [9, 10], "rating": [1.0, 1.0]})
    truth = pd.DataFrame({"query_id": [1], "item_id": [10]})
    assert metrics.MRR(2)(run, truth)["MRR@2"] == 1.0
    texts = run.astype({"item_id": str}), truth.astype({"item_id": str})
    assert metrics.MRR(2)(*texts)["MRR@2"] == 0.5
    given = Collection({"1": {"10": 1}}, [("1", "9", 1.0), ("1", "10", 1.0)])
    evaluation = ours("replay", given, "MRR@2")
    assert evaluation.value() == 0.5
    assert any("as numbers where ids are numbers" in text for text in evaluation.warnings())


# -- Spark MLlib: means over queries, rankings without scores


@pytest.fixture(scope="module")
def spark() -> Iterator[dict[str, Any]]:
    """The metrics of Spark for each collection."""
    sql = pytest.importorskip("pyspark.sql")
    from pyspark.mllib.evaluation import RankingMetrics

    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield {
        name: RankingMetrics(
            session.sparkContext.parallelize(
                [(ranked(given, query), list(grades)) for query, grades in given.judgements.items()]
            )
        )
        for name, given in UNTIED.items()
    }
    session.stop()


@pytest.mark.parametrize("collection", UNTIED)
@for_each("case", cases("spark"), ids=str)
def test_spark(case: Case, collection: str, spark: dict[str, Any]) -> None:
    found = getattr(spark[collection], case.theirs.partition("(")[0])
    assert compare("spark", case, UNTIED[collection], found(case.k) if case.places else found)
