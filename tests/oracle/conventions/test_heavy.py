"""Conventions of libraries that need environments of their own, each beside its library."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judged import evaluate
from judged.errors import ConventionError, PolicyError
from support.errors import error_of
from support.generated import Collection, generate
from support.loops import for_each
from support.peers import (
    COLLECTIONS,
    WITHOUT_TIES,
    Case,
    cases,
    closed,
    compare,
    every_name,
    in_order,
    judged_only,
    only_relevant,
    ours,
    ranked,
    regraded,
    with_relevant,
    without_negative,
)

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]

TIED = {name: only_relevant(given) for name, given in COLLECTIONS.items()}
UNTIED = {name: only_relevant(given) for name, given in WITHOUT_TIES.items()}
GRADED = {name: without_negative(given) for name, given in COLLECTIONS.items()}


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


@every_name("beir", OF_BEIR)
def test_beir(case: Case, given: Collection) -> None:
    pytest.importorskip("beir")
    from beir.retrieval.evaluation import EvaluateRetrieval

    root, k = case.theirs.partition("@")[0], int(case.places["k"])
    own = root in ("MRR", "R_cap", "Accuracy")
    if (given is EMPTY and root == "R_cap") or (given is SELF and own):
        pytest.skip("it stops with an error")
    run: dict[str, dict[str, Any]] = given.run
    if own:
        found = EvaluateRetrieval.evaluate_custom(given.judgements, run, [k], metric=root)
    else:
        parts = EvaluateRetrieval.evaluate(given.judgements, run, [k])
        found = {name: value for part in parts for name, value in part.items()}
    compare("beir", case, given, found[case.theirs])


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


@every_name("mteb", OF_MTEB)
def test_mteb(case: Case, given: Collection) -> None:
    allowed = 1e-9 if case.theirs.startswith(("mrr", "R_cap")) else None
    compare("mteb", case, given, mteb(case, given), tolerance=allowed)


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


@every_name("recbole", OF_RECBOLE)
def test_recbole(case: Case, given: Collection) -> None:
    k = int(case.places["k"])
    metric = case.theirs.partition("@")[0]  # RecBole lowers every name
    # Other cutoffs beside it change nothing.
    for topk in ([k], [1, k, 60]):
        for decimals, allowed in ((4, None), (12, 1e-9)):
            found = recbole(given, metric, topk, decimals)[case.theirs]
            compare("recbole", case, given, found, tolerance=allowed)


# -- recommenders: means over users


@every_name("recommenders", TIED)
def test_recommenders(case: Case, given: Collection) -> None:
    evaluation = pytest.importorskip("recommenders.evaluation.python_evaluation")
    function, options = case.call()
    rows = [(query, item, float(given.judgements[query][item])) for query, item in pairs(given)]
    truth = pd.DataFrame(rows, columns=["userID", "itemID", "rating"])
    run = pd.DataFrame(given.rows, columns=["userID", "itemID", "prediction"])
    found = getattr(evaluation, function)(truth, run, **options)
    compare("recommenders", case, given, float(found))


# -- RecTools, user by user

CATALOG = 5000


@every_name("rectools", UNTIED)
def test_rectools(case: Case, given: Collection) -> None:
    metrics = pytest.importorskip("rectools.metrics")
    metric, options = case.call()
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
    compare("rectools", case, given, dict(found), collection=CATALOG)


# -- RePlay, user by user


@every_name("replay", TIED)
def test_replay(case: Case, given: Collection) -> None:
    metrics = pytest.importorskip("replay.metrics")
    metric, _ = case.call()
    asked = getattr(metrics, metric)(int(case.places["k"]), mode=metrics.PerUser())
    run = pd.DataFrame(given.rows, columns=["query_id", "item_id", "rating"])
    truth = pd.DataFrame(pairs(given), columns=["query_id", "item_id"])
    (theirs,) = asked(run, truth).values()
    compare("replay", case, given, dict(theirs))
    # Dicts keep the order of ties.
    (theirs,) = asked(
        {query: list(scores.items()) for query, scores in given.run.items()},
        {query: list(grades) for query, grades in given.judgements.items()},
    ).values()
    compare("replay", case, given, dict(theirs), policy={"ties": "input"})


def test_replay_orders_ids_that_are_numbers_as_numbers() -> None:
    """9 and 10 are tied, and 10 is relevant: first as a number, second as a text."""
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
def spark() -> Iterator[dict[int, Any]]:
    """The metrics of Spark for each collection."""
    sql = pytest.importorskip("pyspark.sql")
    from pyspark.mllib.evaluation import RankingMetrics

    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield {
        id(given): RankingMetrics(
            session.sparkContext.parallelize(
                [(ranked(given, query), list(grades)) for query, grades in given.judgements.items()]
            )
        )
        for given in UNTIED.values()
    }
    session.stop()


@every_name("spark", UNTIED)
def test_spark(case: Case, given: Collection, spark: dict[int, Any]) -> None:
    found = getattr(spark[id(given)], case.theirs.partition("(")[0])
    compare("spark", case, given, found(case.k) if case.places else found)


# -- Haystack: lists of documents, one of each kind a query


def document(item: str, score: float | None = None) -> Any:
    haystack = pytest.importorskip("haystack")
    return haystack.Document(id=item, content=f"text of {item}", meta={"key": item}, score=score)


def evaluator_run(evaluator: str, truth: Any, retrieved: Any, **options: Any) -> list[float]:
    evaluators = pytest.importorskip("haystack.components.evaluators")
    found = getattr(evaluators, evaluator)(**options).run(
        ground_truth_documents=truth, retrieved_documents=retrieved
    )
    assert found["score"] == pytest.approx(sum(found["individual_scores"]) / len(truth), abs=1e-12)
    return found["individual_scores"]


def by_haystack(
    given: Collection, evaluator: str, options: dict[str, Any], k: int | None = None
) -> dict[str, float]:
    """A query with nothing relevant, or nothing retrieved, has an empty list."""
    graded = evaluator == "DocumentNDCGEvaluator"
    truth = [
        [
            document(item, float(grade) if graded else None)
            for item, grade in grades.items()
            if graded or grade > 0
        ]
        for grades in given.judgements.values()
    ]
    retrieved = [[document(item) for item in ranked(given, q)[:k]] for q in given.judgements]
    found = evaluator_run(evaluator, truth, retrieved, **options)
    return dict(zip(given.judgements, found, strict=True))


@every_name("haystack", GRADED)
def test_haystack(case: Case, given: Collection) -> None:
    evaluator, options = case.call()
    for field in ("id", "content", "meta.key"):
        options["document_comparison_field"] = field
        compare("haystack", case, given, by_haystack(given, evaluator, options, case.k))


def test_documents_without_scores_gain_1() -> None:
    given = only_relevant(COLLECTIONS["complete"])
    truth = [[document(item) for item in grades] for grades in given.judgements.values()]
    retrieved = [[document(item) for item in ranked(given, q)] for q in given.judgements]
    theirs = evaluator_run("DocumentNDCGEvaluator", truth, retrieved)
    binary = Collection({q: dict.fromkeys(g, 1) for q, g in given.judgements.items()}, given.rows)
    assert ours("haystack", binary, "DocumentNDCGEvaluator").value() == pytest.approx(
        sum(theirs) / len(theirs), abs=1e-9
    )


@pytest.mark.parametrize("k", [1, 3, 10])
def test_ndcg_of_k_results_in_haystack_is_that_of_lists_cut_at_k(k: int) -> None:
    given = GRADED["complete"]
    theirs = by_haystack(given, "DocumentNDCGEvaluator", {}, k)
    mean = sum(theirs.values()) / len(theirs)
    found = ours("haystack", given, "DocumentNDCGEvaluator", depth=k).value()
    assert found == pytest.approx(mean, abs=1e-9)
    assert evaluate(given.judgements, given.run, f"nDCG@{k}").value() > mean + 0.005


# -- LlamaIndex: one query at a time, of two lists of ids

OF_LLAMA_INDEX = {
    **{"hit_rate": "HitRate", "mrr": "MRR", "precision": "Precision", "recall": "Recall"},
    **{"ap": "AveragePrecision", "ndcg": "NDCG", "HitRate": "HitRate"},
}


def not_empty(given: Collection) -> Collection:
    """Only queries with expected and with retrieved ids: LlamaIndex refuses the others."""
    kept = only_relevant(given)
    return Collection({query: kept.judgements[query] for query in kept.common}, kept.rows)


NOT_EMPTY = {name: not_empty(given) for name, given in COLLECTIONS.items()}


def score(metric: str, expected: list[str], retrieved: list[str], **options: Any) -> float:
    metrics = pytest.importorskip("llama_index.core.evaluation.retrieval.metrics")
    metric_of = getattr(metrics, metric)(**options)
    return float(metric_of.compute(expected_ids=expected, retrieved_ids=retrieved).score)


def by_llama_index(given: Collection, metric: str, options: dict[str, Any], k: int | None) -> Any:
    return {
        query: score(metric, list(grades), ranked(given, query)[:k], **options)
        for query, grades in given.judgements.items()
    }


@every_name("llama-index", NOT_EMPTY)
def test_llama_index(case: Case, given: Collection) -> None:
    metric, options = case.call()
    theirs = by_llama_index(given, OF_LLAMA_INDEX[metric], options, case.k)
    compare("llama-index", case, given, theirs)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_ndcg_of_k_results_in_llama_index_is_that_of_lists_cut_at_k(k: int) -> None:
    given = NOT_EMPTY["complete"]
    theirs = by_llama_index(given, "NDCG", {}, k)
    mean = sum(theirs.values()) / len(theirs)
    assert ours("llama-index", given, "ndcg", depth=k).value() == pytest.approx(mean, abs=1e-9)
    assert evaluate(given.judgements, given.run, f"nDCG(gain=binary)@{k}").value() > mean + 0.005
    for mode in ("linear", "exponential"):
        assert by_llama_index(given, "NDCG", {"mode": mode}, k) == theirs


@pytest.mark.parametrize("metric", ["HitRate", "MRR", "Precision", "Recall", "AveragePrecision"])
def test_nothing_retrieved_or_expected_is_refused(metric: str) -> None:
    for expected, retrieved in (([], ["a"]), (["a"], [])):
        with pytest.raises(ValueError, match="must be provided"):
            score(metric, expected, retrieved)
    for judgements, run in (
        ({"q": {"a": 1}, "r": {"b": 0}}, {"q": ["a"], "r": ["b"]}),
        ({"q": {"a": 1}, "r": {"b": 1}}, {"q": ["a"]}),
    ):
        with pytest.raises(PolicyError):
            evaluate(judgements, run, "hit_rate", convention="llama-index")


# -- ragas: rows of ids, of texts, and of verdicts

OF_RAGAS = {
    "id_based_context_precision": "IDBasedContextPrecision",
    "id_based_context_recall": "IDBasedContextRecall",
    "context_precision": "LLMContextPrecisionWithReference",
    "non_llm_context_precision_with_reference": "NonLLMContextPrecisionWithReference",
    "non_llm_context_recall": "NonLLMContextRecall",
}
SMALL = {
    "ties": generate(171, queries=16, items=18, longest=12),
    "no ties": generate(172, queries=16, items=18, longest=12, ties=False),
    "nothing relevant": generate(
        173, queries=16, items=18, longest=12, ties=False, grades=(0, 0, 0, 0, 1)
    ),
}
"""Every pair of texts is compared, letter by letter."""


def metric(name: str) -> Any:
    return getattr(pytest.importorskip("ragas.metrics"), name)()


def row(retrieved: list[str], references: list[str]) -> Any:
    """The same contexts as ids and as texts."""
    schema = pytest.importorskip("ragas.dataset_schema")
    return schema.SingleTurnSample(
        user_input="?",
        retrieved_context_ids=retrieved,
        reference_context_ids=references,
        retrieved_contexts=list(map(text, retrieved)),
        reference_contexts=list(map(text, references)),
    )


def text(item: str) -> str:
    """A text that is like that of no other item."""
    draw = random.Random(item)
    return "".join(chr(draw.randrange(0x4E00, 0x9000)) for _ in range(12))


async def _scores(name: str, rows: Mapping[str, Any]) -> dict[str, float]:
    found = {}
    for query, sample in rows.items():
        try:
            found[query] = float(await metric(name).single_turn_ascore(sample))
        except ValueError:
            # As evaluate() of ragas does, which leaves such rows out.
            found[query] = math.nan
    return found


def by_ragas(given: Collection, name: str, k: int | None) -> dict[str, float]:
    """The rows that count; a query that the run lacks has nothing retrieved."""
    rows = {
        query: (ranked(given, query)[:k], [item for item, grade in grades.items() if grade > 0])
        for query, grades in given.judgements.items()
    }
    if name == "LLMContextPrecisionWithReference":
        found = {query: verdicts(*lists) for query, lists in rows.items()}
    else:
        samples = {query: row(*lists) for query, lists in rows.items()}
        found = asyncio.run(_scores(name, samples))
    return {query: value for query, value in found.items() if value == value}


def verdicts(retrieved: list[str], references: list[str]) -> float:
    """Its average precision of the verdicts that a language model gives."""
    module = pytest.importorskip("ragas.metrics._context_precision")
    said = [module.Verification(reason="", verdict=int(each in references)) for each in retrieved]
    return float(metric("LLMContextPrecisionWithReference")._calculate_average_precision(said))


CALLS = {**OF_RAGAS, **{f"{name}@{{k}}": each for name, each in OF_RAGAS.items()}}


@for_each("case", cases("ragas", CALLS), ids=str)
def test_ragas(case: Case) -> None:
    """Without queries that have nothing relevant and nothing retrieved."""
    name = case.name.theirs.removesuffix("@{k}")
    for given in (SMALL if name.startswith("non_llm") else COLLECTIONS).values():
        kept = with_relevant(given).judgements.keys() | given.run.keys()
        judged = {query: grades for query, grades in given.judgements.items() if query in kept}
        some = Collection(judged, given.rows)
        compare("ragas", case, some, by_ragas(some, OF_RAGAS[name], case.k))


def test_rows_without_a_value_are_left_out_of_the_mean() -> None:
    ragas = pytest.importorskip("ragas")
    rows = {
        "found": row(["a", "b"], ["a"]),
        "nothing retrieved": row([], ["a"]),
        "nothing relevant": row(["b"], []),
    }
    names = [name for name in OF_RAGAS if name != "context_precision"]
    found = ragas.evaluate(
        ragas.EvaluationDataset(samples=list(rows.values())),
        metrics=[metric(OF_RAGAS[name]) for name in names],
        show_progress=False,
    )
    judgements = {"found": {"a": 1}, "nothing retrieved": {"a": 1}, "nothing relevant": {"c": 0}}
    run = {"found": ["a", "b"], "nothing retrieved": [], "nothing relevant": ["b"]}
    expected = (0.25, 0.5, 0.5, 1.0)
    for name, mean in zip(names, expected, strict=True):
        assert found._repr_dict[name] == pytest.approx(mean, abs=1e-9)
        value = evaluate(judgements, run, name, convention="ragas").value()
        assert value == pytest.approx(mean, abs=1e-9)


def test_precision_and_recall_need_one_policy_to_stand_together() -> None:
    both = ["id_based_context_precision", "id_based_context_recall"]
    assert error_of(
        evaluate, {"q": {"a": 1}}, {"q": ["a"]}, both, convention="ragas", error=ConventionError
    ) == (
        "ragas has missing=skip for id_based_context_precision and missing=zero for "
        "id_based_context_recall; evaluate them one at a time, or choose missing for both."
    )


# -- Evidently: means over users, of what stands in one frame

OF_EVIDENTLY = {
    name: without_negative(closed(given))
    for name, given in WITHOUT_TIES.items()
    if name != "short lists"
}
EVEN = without_negative(
    closed(generate(131, ties=False, gaps=False, shortest=12, longest=12, grades=(0, 0, 1, 2)))
)
"""Lists of one length, which MAP needs."""


def frame_of(given: Collection) -> Any:
    """One row a result, in rank order, which MAP needs."""
    rows = [
        (query, item, score, given.judgements[query][item])
        for query, item, score in in_order(given).rows
    ]
    return pd.DataFrame(rows, columns=["user_id", "item_id", "prediction", "target"])


def by_evidently(name: str, given: Collection, k: int, **options: Any) -> float:
    pytest.importorskip("evidently")
    from evidently.legacy import metrics
    from evidently.legacy.pipeline.column_mapping import ColumnMapping
    from evidently.legacy.report import Report

    metric = f"{name}Metric" if name.endswith("TopK") else f"{name}KMetric"
    asked = getattr(metrics, metric)(k=k, **options)
    report = Report(metrics=[asked])
    columns = ColumnMapping(
        user_id="user_id",
        item_id="item_id",
        prediction="prediction",
        target="target",
        recommendations_type="score",
    )
    report.run(reference_data=None, current_data=frame_of(given), column_mapping=columns)
    found = asked.get_result().current
    # Some series begin at 0, some at 1.
    return float(found.iloc[k - 1])


def has_contexts(case: Case) -> bool:
    return case.theirs.startswith("ContextRelevance")


@every_name(
    "evidently",
    OF_EVIDENTLY,
    only=lambda case: not has_contexts(case),
    places={"k": (1, 3, 10), "rel": (0.5, 1)},
)
def test_evidently(case: Case, given: Collection) -> None:
    name, options = case.call()
    if name == "MAP":
        given = EVEN
    compare("evidently", case, given, by_evidently(name, given, **options))
    # Users without feedback can count.
    theirs = by_evidently(name, given, **options, no_feedback_users=True)
    compare("evidently", case, given, theirs, policy={"empty": "zero"})


def contexts(
    given: Collection, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> dict[str, float]:
    """What the contexts of each row come to, where a model gives them their grades as scores."""
    evidently = pytest.importorskip("evidently")
    from evidently.descriptors import _context_relevance as descriptors

    def score(question: Any, context: Any, options: Any) -> Any:
        scores = [
            [given.judgements[query][item] for item in items]
            for query, items in zip(question.data, context.data, strict=True)
        ]
        return descriptors.DatasetColumn(
            descriptors.ColumnType.List, pd.Series(scores, index=question.data.index)
        )

    monkeypatch.setitem(descriptors.METHODS, "given", (score, descriptors.MeanAggregation))
    rows = pd.DataFrame(
        {"question": list(given.run), "contexts": [list(items) for items in given.run.values()]}
    )
    wanted = descriptors.ContextRelevance(
        "question", "contexts", method="given", alias="found", **options
    )
    found = evidently.Dataset.from_pandas(rows, descriptors=[wanted]).as_dataframe()
    return dict(zip(found["question"], map(float, found["found"]), strict=True))


@pytest.mark.parametrize("tenths", [(0, 1, 3, 5, 7), (2, 5, 7, 8, 9, 10), (0, 0, 0, 8)], ids=str)
@for_each(
    "case",
    [case for case in cases("evidently", places={"rel": (0.5, 1)}) if has_contexts(case)],
    ids=str,
)
def test_contexts_of_rows(
    case: Case, tenths: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = closed(generate(132, gaps=False, longest=8, grades=tenths))
    given = regraded(whole, lambda grades: {item: g / 10 for item, g in grades.items()})  # type: ignore[misc]
    compare("evidently", case, given, contexts(given, monkeypatch, **case.call()[1]))


# -- LightFM: one value a user, of the scores of all items

ITEMS = 60


def of_all_items(seed: int, *, ties: bool, most: int = 12) -> Collection:
    """Scores of all items for every user; at most one relevant item among tied ones."""
    draw = random.Random(seed)
    judgements: dict[str, dict[str, int]] = {}
    rows = []
    for user in map(str, range(30)):
        scores = [
            draw.randint(0, 15) / 4 if ties else score / 64
            for score in draw.sample(range(-5000, 5000), ITEMS)
        ]
        alone = {score: item for item, score in enumerate(scores)}
        wanted = draw.sample(sorted(alone.values()), min(len(alone), draw.randint(1, most)))
        judgements[user] = {str(item): 1 for item in wanted}
        rows += [(user, str(item), score) for item, score in enumerate(scores)]
    draw.shuffle(rows)
    return Collection(judgements, rows)


OF_LIGHTFM = {
    "ties": of_all_items(161, ties=True),
    "no ties": of_all_items(162, ties=False),
    "one relevant": of_all_items(163, ties=False, most=1),
    "many relevant": of_all_items(164, ties=False, most=50),
}


def interactions(pairs: dict[str, Any], users: list[str], items: int = ITEMS) -> Any:
    sparse = pytest.importorskip("scipy.sparse")
    found = [
        (at, int(item), weight)
        for at, user in enumerate(users)
        for item, weight in pairs.get(user, {}).items()
    ]
    rows, columns, weights = zip(*found, strict=True) if found else ((), (), ())
    return sparse.csr_matrix(
        (np.array(weights, np.float32), (rows, columns)), shape=(len(users), items)
    )


def model(given: Collection, users: list[str], items: int = ITEMS) -> Any:
    """A model whose scores are those of the run: each user is a dimension of its own."""
    fitted = pytest.importorskip("lightfm").LightFM(no_components=len(users))
    scores = np.zeros((items, len(users)), np.float32)
    for user, item, score in given.rows:
        scores[int(item), users.index(user)] = score
    fitted.item_embeddings, fitted.item_biases = scores, np.zeros(items, np.float32)
    fitted.user_embeddings = np.eye(len(users), dtype=np.float32)
    fitted.user_biases = np.zeros(len(users), np.float32)
    for side in ("item", "user"):
        for kind in ("embedding", "bias"):
            own = getattr(fitted, f"{side}_{kind}{'s' if kind == 'embedding' else 'es'}")
            setattr(fitted, f"{side}_{kind}_gradients", np.zeros_like(own))
            setattr(fitted, f"{side}_{kind}_momentum", np.zeros_like(own))
    return fitted


def by_lightfm(
    given: Collection,
    function: str,
    options: dict[str, Any],
    *,
    met: dict[str, Any] | None = None,
    items: int = ITEMS,
) -> dict[str, float]:
    evaluation = pytest.importorskip("lightfm.evaluation")
    users = list(dict.fromkeys([*given.judgements, *(row[0] for row in given.rows)]))
    found = getattr(evaluation, function)(
        model(given, users, items),
        interactions(given.judgements, users, items),
        train_interactions=interactions(met, users, items) if met else None,
        **options,
    )
    kept = users if options.get("preserve_rows") else list(given.judgements)
    return dict(zip(kept, map(float, found), strict=True))


@every_name("lightfm", OF_LIGHTFM)
def test_lightfm(case: Case, given: Collection) -> None:
    compare("lightfm", case, given, by_lightfm(given, *case.call()), collection=ITEMS)


@for_each("case", cases("lightfm"), ids=str)
def test_items_of_the_training_are_left_out_of_the_run(case: Case) -> None:
    given, draw = OF_LIGHTFM["no ties"], random.Random(165)
    others = {
        user: [str(item) for item in range(ITEMS) if str(item) not in relevant]
        for user, relevant in given.judgements.items()
    }
    met = {user: dict.fromkeys(draw.sample(items, 7), 1) for user, items in others.items()}
    theirs = by_lightfm(given, *case.call(), met=met)
    unmet = [row for row in given.rows if row[1] not in met[row[0]]]
    some = Collection(given.judgements, unmet)
    compare("lightfm", case, some, theirs, collection=ITEMS - 7)
