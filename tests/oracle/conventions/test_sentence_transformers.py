"""The convention of sentence-transformers beside its InformationRetrievalEvaluator: means over
queries, without ties."""

from __future__ import annotations

import pytest

from support.generated import Collection
from support.loops import for_each
from support.parts import Later, Needs
from support.peers import WITHOUT_TIES, Case, cases, compare, only_relevant, ours, two_by_default

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore")]

NAME = "sentence-transformers"
evaluation = Later("sentence_transformers.evaluation")


@pytest.fixture(autouse=True)
def library(needs: Needs) -> None:
    needs("torch")
    needs("sentence_transformers")


def complete(given: Collection) -> Collection:
    """Every query is searched for there, so none is missing from the run; what is not relevant was
    never listed."""
    kept = only_relevant(given)
    found = {query: grades for query, grades in kept.judgements.items() if query in given.run}
    return Collection(found, [row for row in given.rows if row[0] in found])


DATA = {name: complete(given) for name, given in WITHOUT_TIES.items()}


def value(theirs: str, given: Collection, k: int) -> float:
    corpus = {item: "text" for scores in given.run.values() for item in scores}
    evaluator = evaluation.InformationRetrievalEvaluator(
        queries=dict.fromkeys(given.judgements, "text"),
        corpus=corpus,
        relevant_docs={query: set(grades) for query, grades in given.judgements.items()},
        **{f"{name}_at_k": [k] for name in ("accuracy", "precision_recall", "mrr", "ndcg", "map")},
    )
    hits = [
        [{"corpus_id": item, "score": score} for item, score in given.run[query].items()]
        for query in evaluator.queries_ids
    ]
    root = theirs.partition("@")[0]
    return float(evaluator.compute_metrics(hits)[f"{root}@k"][k])


@pytest.mark.parametrize("collection", two_by_default(DATA))
@for_each("case", cases(NAME), ids=str)
def test_every_name(case: Case, collection: str) -> None:
    assert compare(
        NAME, case, DATA[collection], value(case.theirs, DATA[collection], int(case.places["k"]))
    )


def test_its_order_of_ties_is_ascending() -> None:
    given = Collection({"q": {"a": 1}}, [("q", "b", 1.0), ("q", "a", 1.0)])
    assert value("mrr@10", given, 10) == 1.0
    assert ours(NAME, given, "mrr@10").value() == 0.5
