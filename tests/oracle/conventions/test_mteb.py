"""The convention of MTEB beside MTEB: means over queries, rounded to five decimals but for mrr."""

from __future__ import annotations

import pytest

from support.generated import Collection
from support.loops import for_each
from support.peers import COLLECTIONS, HEAVY, Case, cases, compare, judged_only

pytestmark = HEAVY

NAME = "mteb"
DATA = {name: judged_only(given) for name, given in COLLECTIONS.items()}
"""Its own measures stop where the run has a query that nobody judged."""


def value(case: Case, given: Collection) -> float:
    metrics = pytest.importorskip("mteb._evaluators.retrieval_metrics")
    k = int(case.places.get("k", 1))
    run = {query: given.run[query] for query in given.judgements if query in given.run}
    if case.theirs.startswith("R_cap"):
        values = [
            each
            for each in metrics.recall_cap(given.judgements, run, [k])[case.theirs]
            if each is not None
        ]
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


@pytest.mark.parametrize("collection", DATA)
@for_each("case", cases(NAME), ids=str)
def test_every_name(case: Case, collection: str) -> None:
    exact = case.theirs.startswith(("mrr", "R_cap"))
    assert compare(
        NAME,
        case,
        DATA[collection],
        value(case, DATA[collection]),
        tolerance=1e-9 if exact else None,
    )


def test_its_accuracy_has_no_entry_for_a_query_without_a_hit() -> None:
    metrics = pytest.importorskip("mteb._evaluators.retrieval_metrics")
    found = metrics.top_k_accuracy(
        {"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 1.0}, "r": {"b": 1.0}}, [1]
    )
    assert dict(found) == {"Accuracy@1": [1.0]}
