"""Side by side with sentence-transformers' InformationRetrievalEvaluator, fed by a stand-in that
returns ready vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from judged import evaluate_embeddings
from support.parts import Needs

pytestmark = pytest.mark.full

CUTOFFS = [1, 3, 10, 500]
PAIRS = {
    f"{theirs}@{k}": ours.format(k)
    for k in CUTOFFS
    for theirs, ours in {
        **{"accuracy": "Success@{}", "precision": "P@{}", "recall": "R@{}", "mrr": "RR@{}"},
        **{"ndcg": "nDCG@{}", "map": "AP(norm=capped)@{}"},
    }.items()
}
Evaluated = Callable[..., dict[str, float]]


class Ready:
    """As much of a model as the evaluator asks for: what it is to encode are the row numbers of
    vectors."""

    similarity_fn_name = "cosine"

    def __init__(self, queries: Any, items: Any) -> None:
        self._queries, self._items, self.model_card_data = queries, items, self

    def encode_query(self, rows: list[str], **options: Any) -> Any:
        return self._taken(self._queries, rows, options["truncate_dim"])

    def encode_document(self, rows: list[str], **options: Any) -> Any:
        return self._taken(self._items, rows, options["truncate_dim"])

    def set_evaluation_metrics(self, *given: Any) -> None:
        """The evaluator writes its numbers into the model's card."""

    def _taken(self, vectors: Any, rows: list[str], dims: int | None) -> Any:
        import torch

        return torch.tensor(vectors[[int(row) for row in rows]][:, :dims], dtype=torch.float32)


@pytest.fixture
def evaluated(needs: Needs) -> Evaluated:
    needs("torch")
    needs("sentence_transformers")
    try:
        from sentence_transformers.sentence_transformer.evaluation import (
            InformationRetrievalEvaluator,
        )
    except ModuleNotFoundError:  # before version 6
        from sentence_transformers.evaluation import InformationRetrievalEvaluator
    from sentence_transformers.util import cos_sim, dot_score

    def run(
        queries: Any, items: Any, relevant: dict[str, set[str]], **options: Any
    ) -> dict[str, float]:
        evaluator = InformationRetrievalEvaluator(
            {str(row): str(row) for row in range(len(queries))},
            {str(row): str(row) for row in range(len(items))},
            relevant,
            **{
                f"{name}_at_k": CUTOFFS
                for name in ("mrr", "ndcg", "accuracy", "precision_recall", "map")
            },
            score_functions={"cosine": cos_sim, "dot": dot_score},
            **options,
        )
        return evaluator(Ready(queries, items))

    return run


RANDOM = np.random.default_rng(1)
QUERIES, ITEMS = RANDOM.normal(size=(30, 12)), RANDOM.normal(size=(200, 12))
RELEVANT = {
    str(query): {str(item) for item in RANDOM.permutation(200)[: 1 + query % 9]}
    for query in range(30)
}


def compare(
    theirs: dict[str, float], relevant: dict[str, set[str]], similarity: str, **options: Any
) -> None:
    judgements = {query: dict.fromkeys(items, 1) for query, items in relevant.items()}
    ours = evaluate_embeddings(
        QUERIES, ITEMS, judgements, similarity=similarity, measures=list(PAIRS.values()), **options
    )
    for name, measure in PAIRS.items():
        assert ours.value(measure) == pytest.approx(theirs[f"{similarity}_{name}"], abs=1e-12), name


def test_all_its_measures(evaluated: Evaluated) -> None:
    for size in (50_000, 37):
        found = evaluated(QUERIES, ITEMS, RELEVANT, corpus_chunk_size=size)
        for similarity in ("cosine", "dot"):
            compare(found, RELEVANT, similarity)
    # Queries without judgements are left out; items without a vector can only be missed.
    some = {query: items for query, items in RELEVANT.items() if int(query) % 3}
    more = {query: {*items, "elsewhere", "nowhere"} for query, items in RELEVANT.items()}
    for relevant in (some, more):
        compare(evaluated(QUERIES, ITEMS, relevant), relevant, "cosine")
    # Fewer dimensions.
    compare(evaluated(QUERIES, ITEMS, RELEVANT, truncate_dim=5), RELEVANT, "cosine", dims=5)


def test_known_disagreement_judged_queries_without_a_vector(evaluated: Evaluated) -> None:
    """They are left out there, which is the policy missing=skip; here they count as found nothing
    unless told so."""
    more = {**RELEVANT, "elsewhere": {"1"}}
    compare(evaluated(QUERIES, ITEMS, more), more, "cosine", policy={"missing": "skip"})
    judgements = {query: dict.fromkeys(items, 1) for query, items in more.items()}
    zero = evaluate_embeddings(QUERIES, ITEMS, judgements, measures=["R@500"]).value()
    assert zero == pytest.approx(30 / 31)
