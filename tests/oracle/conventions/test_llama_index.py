"""The convention of LlamaIndex beside LlamaIndex: one query at a time, of two lists of ids."""

from __future__ import annotations

from typing import Any

import pytest

from judged import evaluate
from judged.errors import PolicyError
from support.generated import Collection
from support.loops import for_each
from support.peers import COLLECTIONS, HEAVY, Case, cases, compare, only_relevant, ours, ranked

pytestmark = HEAVY

NAME = "llama-index"
CLASSES = {
    **{"hit_rate": "HitRate", "mrr": "MRR", "precision": "Precision", "recall": "Recall"},
    **{"ap": "AveragePrecision", "ndcg": "NDCG", "HitRate": "HitRate"},
}


def found(given: Collection) -> Collection:
    """Only queries with expected and with retrieved ids: LlamaIndex refuses the others."""
    kept = only_relevant(given)
    return Collection({query: kept.judgements[query] for query in kept.common}, kept.rows)


DATA = {name: found(given) for name, given in COLLECTIONS.items()}


def score(metric: str, expected: list[str], retrieved: list[str], **options: Any) -> float:
    metrics = pytest.importorskip("llama_index.core.evaluation.retrieval.metrics")
    metric_of = getattr(metrics, metric)(**options)
    return float(metric_of.compute(expected_ids=expected, retrieved_ids=retrieved).score)


def values(given: Collection, metric: str, options: dict[str, Any], k: int | None) -> Any:
    return {
        query: score(metric, list(grades), ranked(given, query)[:k], **options)
        for query, grades in given.judgements.items()
    }


@pytest.mark.parametrize("collection", DATA)
@for_each("case", cases(NAME), ids=str)
def test_every_name(case: Case, collection: str) -> None:
    given, (metric, options) = DATA[collection], case.call()
    theirs = values(given, CLASSES[metric], options, case.k)
    assert compare(NAME, case, given, theirs) == len(given.judgements)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_ndcg_of_k_results_is_that_of_lists_cut_at_k(k: int) -> None:
    given = DATA["complete"]
    theirs = values(given, "NDCG", {}, k)
    mean = sum(theirs.values()) / len(theirs)
    assert ours(NAME, given, "ndcg", depth=k).value() == pytest.approx(mean, abs=1e-9)
    assert evaluate(given.judgements, given.run, f"nDCG(gain=binary)@{k}").value() > mean + 0.005
    for mode in ("linear", "exponential"):
        assert values(given, "NDCG", {"mode": mode}, k) == theirs


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
            evaluate(judgements, run, "hit_rate", convention=NAME)
