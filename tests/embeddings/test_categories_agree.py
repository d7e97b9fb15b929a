"""Categories of vectors and of runs: equal scores give equal numbers, under every tie rule."""

from typing import Any, get_args

import numpy as np
import polars as pl
import pytest

import judged
from judged.options import Ties
from support.dense import as_run, whole_numbers
from support.loops import for_each

MEASURES = ["AP", "nDCG", "RR", "P@1", "P@3", "R@2", "Rank"]


def drawn(seed: int) -> tuple[Any, ...]:
    """Whole numbers, so that scores are exact and tie often."""
    random = np.random.default_rng(seed)
    queries, items = whole_numbers(random, 6, 2, 2), whole_numbers(random, 24, 2, 1)
    kinds = random.integers(0, random.integers(2, 12), 24)
    table = {str(item): f"k{kind}" for item, kind in enumerate(kinds)}
    grades = {
        str(query): {
            str(item): int(random.integers(1, 4))
            for item in np.flatnonzero(random.random(24) < 0.25)
        }
        for query in range(6)
    }
    gone = random.random((6, 24)) < (0.2 if seed % 2 else 0.0)
    return queries, items, table, {query: own for query, own in grades.items() if own}, gone


def values(found: judged.Evaluation) -> dict[str, list[float]]:
    frame = found.per_query().sort("query")
    return {name: frame[name].to_list() for name in frame.columns if name in MEASURES}


def runs_of(scores: Any, gone: Any) -> dict[str, Any]:
    """The same results in item order, and in the order of a list that was ranked before."""
    lists = as_run(scores, gone)
    ranked = {
        query: dict(sorted(own.items(), key=lambda each: -each[1])) for query, own in lists.items()
    }
    rows = [(query, item, score) for query, own in lists.items() for item, score in own.items()]
    frame = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")
    return {"items in order": lists, "ranked": ranked, "a frame": frame}


@for_each("ties", get_args(Ties))
@for_each("seed", range(12))
def test_vectors_and_runs_rank_categories_alike(ties: str, seed: int) -> None:
    queries, items, table, grades, gone = drawn(seed)
    exclude = {
        str(query): {str(item): 1 for item in np.flatnonzero(own)}
        for query, own in enumerate(gone)
        if own.any()
    }
    policy = {"ties": ties}
    # What is excluded is not there: neither ranked nor asked for.
    left = {
        query: {item: grade for item, grade in own.items() if not gone[int(query), int(item)]}
        for query, own in grades.items()
    }
    expected = None
    for memory in ("1GB", "1MB"):
        search = judged.Embeddings(
            queries,
            items,
            similarity="dot",
            unique=table,
            exclude=judged.relevance.listed(exclude) if exclude else None,
            memory=memory,
        )
        found = values(search.evaluate(left, MEASURES, policy=policy))
        assert expected is None or found == expected
        expected = found
    for name, run in runs_of(queries @ items.T, gone).items():
        of_run = judged.evaluate(left, run, MEASURES, policy=policy, unique=table)
        for measure, wanted in values(of_run).items():
            assert expected[measure] == pytest.approx(wanted, nan_ok=True), (name, measure)


@pytest.mark.parametrize("similarity", ["dot", "cosine", "euclidean"])
def test_the_first_k_categories_are_in_the_order_of_a_run(similarity: str) -> None:
    # Item 0 is of A and scores low; items 1 (of B) and 2 (of A) tie at the top: B came first.
    items = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    search = judged.Embeddings([[0.0, 1.0]], items, similarity=similarity, unique=["A", "B", "A"])
    assert list(search.top_k(2, ties="input").to_dict()["0"]) == ["B", "A"]
    evaluation, listed = search.evaluate_and_top_k(
        {"0": {"1": 1}}, "RR", k=2, policy={"ties": "input"}
    )
    assert evaluation.value() == 1.0
    assert list(listed.to_dict()["0"]) == ["B", "A"]


def test_many_queries_and_small_tiles_find_the_same_first_categories() -> None:
    random = np.random.default_rng(4)
    queries, items = whole_numbers(random, 70, 3, 1), whole_numbers(random, 9000, 3, 1)
    kinds = random.integers(0, 500, 9000)
    found = [
        judged.Embeddings(queries, items, similarity="dot", unique=kinds, memory=memory)
        .top_k(40, ties="input")
        .to_dict()
        for memory in ("1GB", "1MB")
    ]
    assert found[0] == found[1]
    scores = queries @ items.T
    for query in range(0, 70, 7):
        order = np.argsort(-scores[query], kind="stable")
        wanted = list(dict.fromkeys(str(kind) for kind in kinds[order]))[:40]
        assert list(found[0][str(query)]) == wanted
