"""In-batch softmax: what a batch holds, and that its numbers are those of the whole matrix
restricted to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import judged
from judged.embeddings.embeddings import Embeddings
from judged.embeddings.relations import as_relation
from judged.learning._softmax import Batches, Corpus, product_of
from judged.learning.temperature import sweep
from judged.policy import POSITIVES
from support import softmaxes


def drawn(data: Any, relevance: Any, size: int, *, exclude: Any = None, seed: int = 0) -> Batches:
    compared = Embeddings(*data, similarity="dot", exclude=exclude)
    relation = as_relation(relevance, what="relevance")
    bound = relation.bind(compared.queries, compared.items)
    corpus = Corpus(product_of(compared), bound, 1)
    return Batches.drawn(compared, relation, corpus, size, seed)


def matrices(batches: Batches, scores: Any, positive: Any, candidate: Any) -> tuple[Any, Any, Any]:
    """Scores, positives and candidates of all batches, one under the other, by the definition."""
    found = []
    for query, item, *_ in batches.parts:
        more = np.zeros((len(query), batches.size - len(item)))  # items that came several times
        allowed = candidate[np.ix_(query, item)]
        parts = scores[np.ix_(query, item)], positive[np.ix_(query, item)] & allowed, allowed
        found.append([np.hstack([part, more]).astype(part.dtype) for part in parts])
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))  # type: ignore[return-value]


@pytest.mark.parametrize("rule", POSITIVES)
@pytest.mark.parametrize("size", [2, 7, 25])
@pytest.mark.parametrize("excluding", [False, True])
def test_numbers_of_batches(size: int, rule: str, excluding: bool) -> None:
    random = np.random.default_rng(size)
    data = tuple(random.integers(-4, 5, (50, 4)) / 4.0 for _ in range(2))
    labels = random.integers(0, 8, 50), random.integers(0, 8, 50)
    scores, positive = data[0] @ data[1].T, labels[0][:, None] == labels[1]
    candidate = ~np.eye(50, dtype=bool) if excluding else np.ones((50, 50), bool)
    exclude = judged.relevance.same_row() if excluding else None
    relevance = judged.relevance.same_label(*labels)
    batches = drawn(data, relevance, size, exclude=exclude, seed=3)
    parts = matrices(batches, scores, positive, candidate)
    found = sweep(
        judged.Embeddings(*data, similarity="dot", exclude=exclude),
        relevance,
        [0.05, 1.0],
        batch_size=size,
        positives=rule,
        seed=3,
        search=False,
    )
    for point in found.points:
        expected = softmaxes.described(*parts, point.temperature, rule, 10)
        values = {name: getattr(point, name) for name in expected}
        assert values == pytest.approx(expected, rel=2e-5, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize(
    "similarity", ["dot", "euclidean", "manhattan", np.diag([1.0, 2.0, 3.0, 4.0])]
)
@pytest.mark.parametrize("rule", POSITIVES)
def test_both_directions_of_batches(rule: str, similarity: Any) -> None:
    random = np.random.default_rng(1)
    data = tuple(random.integers(-4, 5, (40, 4)) / 4.0 for _ in range(2))
    labels = random.integers(0, 8, 40), random.integers(0, 8, 40)
    apart = data[0][:, None] - data[1]
    named = {
        "dot": data[0] @ data[1].T,
        "euclidean": -(apart**2).sum(axis=2) / 2,
        "manhattan": -np.abs(apart).sum(axis=2),
    }
    scores = named[similarity] if isinstance(similarity, str) else data[0] @ similarity @ data[1].T
    positive, relevance = labels[0][:, None] == labels[1], judged.relevance.same_label(*labels)
    batches = drawn(data, relevance, 8)
    options: dict[str, Any] = {
        "batch_size": 8,
        "both": True,
        "search": False,
    }
    embeddings = judged.Embeddings(*data, similarity=similarity)
    found = sweep(embeddings, relevance, [0.1], positives=rule, **options).points[0]
    back = []
    for query, item, *_ in batches.parts:
        part = scores[np.ix_(query, item)].T, positive[np.ix_(query, item)].T
        back.append(softmaxes.losses(*part, np.ones(part[0].shape, bool), 0.1, rule))
    assert found.loss_back == pytest.approx(np.concatenate(back).mean(), rel=1e-5)


def test_every_query_brings_one_of_its_positives() -> None:
    random = np.random.default_rng(0)
    labels = random.integers(0, 5, 60), random.integers(0, 5, 90)
    data = random.normal(size=(60, 3)), random.normal(size=(90, 3))
    seen = set()
    for seed in range(30):
        batches = drawn(data, judged.relevance.same_label(*labels), 16, seed=seed)
        queries = np.concatenate([query for query, *_ in batches.parts]).tolist()
        assert len(queries) == len(set(queries)) == 48
        for query, item, *_ in batches.parts:
            assert set(labels[1][item].tolist()) == set(labels[0][query].tolist())
            seen |= set(item.tolist())
    assert len(seen) > 80  # not always the first positive


def swept(data: Any, relevance: Any = None, *temperatures: float, **options: Any) -> Any:
    relevance = judged.relevance.pairs() if relevance is None else relevance
    both = judged.Embeddings(*data, similarity=options.pop("similarity", "cosine"))
    return sweep(both, relevance, temperatures or None, search=False, **options)


NORMAL = tuple(np.random.default_rng(0).normal(size=(2, 64, 4)))


def test_what_is_drawn_does_not_hang_on_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = np.random.default_rng(0).integers(0, 5, 64)
    same = judged.relevance.same_label(labels, labels)
    expected = swept(NORMAL, same, 0.1, batch_size=8).to_frame().row(0)
    monkeypatch.setattr("judged.embeddings.product._shape", lambda *given: (7, 20))
    found = swept(NORMAL, same, 0.1, batch_size=8).to_frame().row(0)
    assert found == pytest.approx(expected, rel=1e-6)


def test_a_batch_of_everything_is_the_corpus() -> None:
    batch, corpus = (swept(NORMAL, batch_size=size, both=True).to_frame() for size in (64, None))
    for name in batch.columns:
        assert batch[name].to_list() == pytest.approx(corpus[name].to_list(), rel=1e-5), name


def test_more_candidates_make_a_higher_loss_and_the_result_says_which() -> None:
    small, large = (swept(NORMAL, None, 1.0, batch_size=size) for size in (4, 32))
    assert small.points[0].loss < large.points[0].loss
    assert (small.softmax, small.candidates) == ("batch", 4)
    assert small.basis[-1] == (
        "in-batch softmax: a query's probabilities go over the 4 items of a batch drawn at random "
        "(seed 0), "
        "one positive of each of its queries, from scores in single precision"
    )


def test_queries_left_over_are_said() -> None:
    data = tuple(np.random.default_rng(0).normal(size=(2, 10, 4)))
    found = swept(data, {str(row): {str(row): 1} for row in range(9)}, 1.0, batch_size=4)
    assert found.queries == 8
    assert found.notes == (
        "1 of 10 queries without a positive are left out.",
        "1 queries are left over from the last whole batch and are left out.",
    )


def test_equal_items_tie_in_a_batch() -> None:
    """Items 0 and 1 have one vector: whoever has one of them on top has both, and is right half of
    the time."""
    random = np.random.default_rng(2)
    items = random.normal(size=(6, 33))
    items[1] = items[0]
    found = swept((items, items), None, 0.001, batch_size=6)
    assert found.points[0].accuracy == pytest.approx((4 + 0.5 + 0.5) / 6)
