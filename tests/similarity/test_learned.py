"""A learned similarity wherever one is taken, and the queries it refuses."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import judged
from judged.embeddings.normalisation import as_normalisation
from judged.errors import InputError
from judged.inputs.vectors import as_vectors
from judged.learning.learn import KINDS, Learned, fit
from support.errors import error_of
from support.learnable import Hidden, behind_a_map, behind_noise
from support.loops import for_each
from support.products import diagnose, evaluate_index, rank, top_k


@cache
def trained(kind: str) -> tuple[Hidden, Learned]:
    data = behind_noise() if KINDS[kind].equal_dims else behind_a_map(item_dims=6)
    return data, fit(*data.given(), kind=kind, iterations=5)


def unseen(kind: str) -> tuple[Any, Any, Any, Learned]:
    """Queries that may be evaluated, items, what is relevant, the similarity."""
    data, learned = trained(kind)
    rows = learned.unseen(data.queries)
    return (
        data.queries[rows],
        data.items,
        judged.relevance.same_label(data.query_labels[rows], data.item_labels),
        learned,
    )


def by_definition(learned: Learned, queries: Any, items: Any) -> Any:
    """Scores in double precision, as the kinds say."""
    q, x = (
        each / np.linalg.norm(each, axis=1, keepdims=True)
        for each in (queries.astype(float), items.astype(float))
    )
    weights = {name: part.astype(float) for name, part in learned.weights.items()}
    match learned.kind.name:
        case "bilinear":
            return q @ weights["W"] @ x.T
        case "low-rank":
            return (q @ weights["U"]) @ (x @ weights["V"]).T
        case "diagonal":
            return np.einsum("id,d,jd->ij", q, weights["w"], x)
        case _:
            left, right = q @ weights["A"], x @ weights["B"]
            return (
                left
                @ right.T
                / np.outer(np.linalg.norm(left, axis=1), np.linalg.norm(right, axis=1))
            )


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_as_the_kind_says(kind: str) -> None:
    queries, items, _, learned = unseen(kind)
    found = top_k(queries, items, 5, similarity=learned)
    expected = by_definition(learned, queries, items)
    np.testing.assert_allclose(
        found.scores, -np.sort(-expected, axis=1)[:, :5], rtol=1e-4, atol=1e-5
    )


def relevant_of(queries: Any, items: Any, relevance: Any) -> Any:
    pairs = relevance.bind(as_vectors(queries), as_vectors(items)).block(0, len(queries))
    relevant = np.zeros((len(queries), len(items)), bool)
    relevant[pairs.row, pairs.item] = True
    return relevant


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("memory", ["1GB", "1MB"])
def test_both_ways(kind: str, memory: str) -> None:
    """The items' search is that of the transposed scores."""
    queries, items, relevance, learned = unseen(kind)
    found = judged.evaluate_embeddings(
        queries, items, relevance, similarity=learned, both=True, measures="AP", memory=memory
    )
    scores, relevant = (
        by_definition(learned, queries, items),
        relevant_of(queries, items, relevance),
    )
    for run, own, good in zip(found.runs, (scores, scores.T), (relevant, relevant.T), strict=True):
        ranked = np.take_along_axis(good, np.argsort(-own, axis=1), axis=1)
        precision = np.cumsum(ranked, axis=1) / np.arange(1, ranked.shape[1] + 1)
        expected = (precision * ranked).sum(axis=1) / ranked.sum(axis=1)
        np.testing.assert_allclose(next(iter(run.values.values())), expected, rtol=1e-12)


def test_indexes_diagnosis_normalisation_and_categories() -> None:
    queries, items, relevance, learned = unseen("two-tower-linear")
    exact = top_k(queries, items, 10, similarity=learned)
    by_rows = {row.tobytes(): number for number, row in enumerate(queries)}

    def index(block: Any, k: int) -> tuple[Any, Any]:
        rows = [by_rows[row.tobytes()] for row in block]
        return exact.items[rows, :k], exact.scores[rows, :k]

    assert evaluate_index(index, queries, items, relevance, k=10, similarity=learned).recall == 1.0
    assert (
        diagnose(queries, items, relevance, similarity=learned).similarity
        == "learned two-tower-linear"
    )
    for normalise in ("z-score", "csls(k=3)", "dual-softmax"):
        value = judged.evaluate_embeddings(
            queries, items, relevance, similarity=learned, normalise=normalise, measures="AP"
        ).value()
        assert 0 < value <= 1
    categories = [str(number % 7) for number in range(len(items))]
    assert (
        judged.evaluate_embeddings(
            queries, items, relevance, similarity=learned, unique=categories, measures="RR"
        ).value()
        > 0
    )


def test_a_bank_may_hold_training_queries() -> None:
    """It is looked at, not evaluated."""
    data, learned = trained("bilinear")
    queries, items, relevance, _ = unseen("bilinear")
    found = rank(
        queries,
        items,
        relevance,
        similarity=learned,
        normalise=as_normalisation("qb-norm", bank=data.queries),
    )
    assert len(found) == len(queries)


def test_the_definition_says_what_it_was() -> None:
    queries, items, relevance, learned = unseen("bilinear")
    found = judged.evaluate_embeddings(queries, items, relevance, similarity=learned)
    assert found.sentences()[1].split("; all items")[0] == (
        "ranking: learned bilinear: the score is q W x, with a matrix W, q and x brought to length "
        "1 (learned from 36 queries at temperature 0.05), in double precision"
    )
    allowed = judged.evaluate_embeddings(
        queries, items, relevance, similarity=learned.allow_training_queries()
    )
    assert (
        "(learned from 36 queries at temperature 0.05; queries that training saw are not refused)"
        in allowed.sentences()[1]
    )


def refused(data: Hidden, learned: Learned) -> str:
    trained_on, chose = learned.seen.of(as_vectors(data.queries))
    names = ", ".join(map(str, np.flatnonzero(trained_on | chose)[:3]))
    return (
        f"the queries: 48 of 60 queries ({names}, …) were seen when this similarity was learned, "
        "36 in training and 12 to "
        "choose when to stop; numbers on them flatter it. Leave these queries out, or allow "
        "them with allow_training_queries()."
    )


WAYS: dict[str, Any] = {
    "evaluate": lambda q, x, r, s: judged.evaluate_embeddings(q, x, r, similarity=s),
    "rank": lambda q, x, r, s: rank(q, x, r, similarity=s),
    "both ways": lambda q, x, r, s: judged.evaluate_embeddings(q, x, r, similarity=s, both=True),
    "both ways, in parts": lambda q, x, r, s: judged.evaluate_embeddings(
        q, x, r, similarity=s, both=True, normalise="csls(k=2)"
    ),
    "first k": lambda q, x, r, s: top_k(q, x, 3, similarity=s),
    "index": lambda q, x, r, s: evaluate_index(lambda block, k: None, q, x, r, similarity=s),
    "diagnosis": lambda q, x, r, s: diagnose(q, x, r, similarity=s),
    "categories": lambda q, x, r, s: judged.evaluate_embeddings(
        q, x, r, similarity=s, unique=["a", "b"] * 40
    ),
    "normalised": lambda q, x, r, s: judged.evaluate_embeddings(
        q, x, r, similarity=s, normalise="csls(k=2)"
    ),
}


@for_each("way", WAYS)
@for_each("kind", KINDS)
def test_queries_that_training_saw_are_refused(way: str, kind: str) -> None:
    data, learned = trained(kind)
    assert error_of(WAYS[way], *data.both, learned) == refused(data, learned)
    if way != "index":
        assert WAYS[way](*data.both, learned.allow_training_queries()) is not None


@pytest.mark.parametrize("kind", KINDS)
def test_scaled_queries_are_refused_too(kind: str) -> None:
    """As whoever normalises vectors for an index scales them: the scores are the same."""
    data, learned = trained(kind)
    normed = data.queries / np.linalg.norm(data.queries, axis=1, keepdims=True)
    for queries in (
        normed.astype(np.float32),
        normed.astype(np.float64),
        data.queries * np.float32(1e-3),
    ):
        assert np.array_equal(learned.unseen(queries), learned.unseen(data.queries))
        assert error_of(
            judged.evaluate_embeddings, queries, data.items, data.relevance, similarity=learned
        ) == refused(data, learned)
        order = np.random.default_rng(0).permutation(60)
        with pytest.raises(InputError, match="48 of 60 queries"):
            rank(queries[order], data.items, data.relevance, similarity=learned)


def test_near_is_not_the_same() -> None:
    data, learned = trained("bilinear")
    near = data.queries * (1 + 1e-4 * np.random.default_rng(0).normal(size=data.queries.shape))
    assert len(learned.unseen(near)) == 60
    strange = np.random.default_rng(0).normal(size=(20_000, data.queries.shape[1]))
    assert len(learned.unseen(strange)) == 20_000


def test_reversed_it_still_knows_its_queries() -> None:
    """Items search queries: what training saw is now on the other side."""
    data, learned = trained("bilinear")
    relevance = judged.relevance.same_label(data.item_labels, data.query_labels)
    turned = learned.reversed()
    assert error_of(
        judged.evaluate_embeddings, data.items, data.queries, relevance, similarity=turned
    ) == refused(data, learned).replace("the queries: ", "the items: ")
    rows = learned.unseen(data.queries)
    some = judged.relevance.same_label(data.item_labels, data.query_labels[rows])
    found = top_k(data.items, data.queries[rows], 2, similarity=turned)
    expected = by_definition(learned, data.queries[rows], data.items).T
    np.testing.assert_allclose(
        found.scores, -np.sort(-expected, axis=1)[:, :2], rtol=1e-4, atol=1e-5
    )
    assert (
        judged.evaluate_embeddings(data.items, data.queries[rows], some, similarity=turned).value(
            "AP"
        )
        > 0
    )


def test_other_dimensions() -> None:
    data, learned = trained("bilinear")
    assert error_of(top_k, data.queries[:, :4], data.items, 1, similarity=learned) == (
        "this similarity was learned from queries of 8 dimensions and items of 6, but the queries "
        "have 4 and the items 6."
    )
