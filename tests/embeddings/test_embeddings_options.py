"""What is built upon plain ranks: categories of judged queries, both directions, revisited."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from judged import Evaluation, Policy, Rankings, evaluate_embeddings
from judged.embeddings.embeddings import Embeddings
from judged.embeddings.relevance import listed, revisited, same_label, same_row
from support.dense import (
    Array,
    as_judgements,
    cosines,
    hits_of,
    judged,
    same,
    whole_numbers,
)
from support.loops import sampled
from support.products import rank, rank_both

# -- unique categories


def test_unique_categories_of_judged_queries_alone() -> None:
    # Items 0 and 1 are one category: of the query without a vector one category and one unknown
    # item are judged.
    listed = {"0": {"2": 1}, "7": {"0": 1, "1": 3, "x": 2}}
    found = rank(
        np.eye(2), [[1, 0], [0, 1], [0.5, 0.5]], listed, similarity="dot", unique=["a", "a", "b"]
    )
    assert (found.queries, found.retrieved.tolist(), found.missing.tolist()) == (
        ("0", "7"),
        [2, 0],
        [False, True],
    )
    assert (found.hit_rank.tolist(), found.pool_query.tolist(), found.pool_grade.tolist()) == (
        [2],
        [0, 1, 1],
        [1.0, 3.0, 2.0],
    )


# -- both directions


def assert_equal(found: Rankings, expected: Rankings) -> None:
    assert hits_of(found) == hits_of(expected)
    for part in ("queries", "retrieved", "pool_query", "pool_grade", "missing", "ties"):
        assert np.array_equal(getattr(found, part), getattr(expected, part)), part


def chebyshev(queries: Array, items: Array) -> Array:
    return -np.abs(queries[:, None] - 2 * items[None]).max(axis=2)


WEIGHTS = np.random.default_rng(2).integers(-2, 3, (3, 3))
BOTH: dict[str, tuple[Any, Any]] = {
    **{name: (name, name) for name in ("dot", "cosine", "euclidean", "manhattan", "hamming")},
    "bilinear": (WEIGHTS, WEIGHTS.T),
    "callable": (chebyshev, lambda items, queries: chebyshev(queries, items).T),
}


@pytest.mark.parametrize("ties", ["id", "best"])
@pytest.mark.parametrize("memory", ["1GB", "1MB"])
@pytest.mark.parametrize("similarity", sampled(BOTH, every=3))
def test_both_directions_are_two_evaluations(similarity: str, memory: str, ties: str) -> None:
    rng = np.random.default_rng(3)
    queries, items = whole_numbers(rng, 120, 3), whole_numbers(rng, 1300, 3)
    if similarity == "cosine":  # the two products may round differently, so there must be no ties
        queries, items = rng.normal(size=(120, 6)), rng.normal(size=(1300, 6))
    # 120 × 1300 scores take 624 kB, more than half of 1MB: there they are computed once for each
    # direction.
    left, right = rng.integers(0, 60, 120), rng.integers(0, 60, 1300)
    burst = np.arange(120) % 7, np.arange(1300) % 7
    ids = (
        [f"q{number}" for number in rng.permutation(120)],
        [f"i{number}" for number in rng.permutation(1300)],
    )
    policy = Policy(ties=ties)
    there_by, back_by = BOTH[similarity]
    compared = Embeddings(
        queries,
        items,
        similarity=there_by,
        exclude=[same_label(*burst), same_row()],
        query_ids=ids[0],
        item_ids=ids[1],
        memory=memory,
    )
    there, back = rank_both(compared, same_label(left, right), policy=policy, name="x")
    assert (there.name, back.name) == ("x: queries to items", "x: items to queries")
    for found, one, other, labels, of, names, by in (
        (there, queries, items, (left, right), burst, ids, there_by),
        (back, items, queries, (right, left), burst[::-1], ids[::-1], back_by),
    ):
        expected = rank(
            one,
            other,
            same_label(*labels),
            similarity=by,
            exclude=[same_label(*of), same_row()],
            query_ids=names[0],
            item_ids=names[1],
            policy=policy,
        )
        assert_equal(found, expected)


@pytest.mark.parametrize("memory", ["1GB", "1MB"])
def test_both_directions_of_judgements_and_junk(memory: str) -> None:
    rng = np.random.default_rng(4)
    queries, items = whole_numbers(rng, 150, 3), whole_numbers(rng, 900, 3)
    grades = np.where(rng.random((150, 900)) < 0.003, rng.integers(1, 4, (150, 900)), np.nan)
    grades[0, 0] = 1
    given = {query: each for query, each in as_judgements(grades).items() if each}
    gone = rng.random((150, 900)) < 0.01
    junk_list = as_judgements(judged(gone))
    compared = Embeddings(
        queries, items, similarity="dot", exclude=listed(junk_list), memory=memory
    )
    there, back = rank_both(compared, {**given, "no such query": {"1": 1.0}})
    scores = queries @ items.T
    known = list(map(int, given))
    assert there.queries == (*map(str, known), "no such query")
    same(there.take(range(len(known))), scores[known], grades[known], gone=gone[known])
    # Seen from the items, those that no judgement names are not evaluated.
    seen = np.flatnonzero(~np.isnan(grades).all(axis=0))
    assert back.queries == tuple(map(str, seen))
    same(back, scores.T[seen], grades.T[seen], gone=gone.T[seen])


@pytest.mark.parametrize("memory", ["1GB", "1MB"])
@pytest.mark.parametrize(
    "normalise", ["csls(k=4)", "inverted-softmax", "dual-softmax", "mutual-proximity", "z-score"]
)
def test_both_directions_normalised(normalise: str, memory: str) -> None:
    rng = np.random.default_rng(6)
    queries, items = rng.normal(size=(60, 6)), rng.normal(size=(90, 6))
    left, right = np.arange(60) % 30, np.arange(90) % 30
    there, back = rank_both(
        Embeddings(queries, items, normalise=normalise, memory=memory), same_label(left, right)
    )
    assert_equal(there, rank(queries, items, same_label(left, right), normalise=normalise))
    assert_equal(back, rank(items, queries, same_label(right, left), normalise=normalise))


# -- revisited Oxford and Paris


def revisited_average_precision(order: list[int], wanted: set[int], passed: set[int]) -> float:
    """Positions are counted without junk; the area is that of trapezoids; a query without positives
    has no value."""
    if not wanted:
        return np.nan
    area, position, found = 0.0, 0, 0
    for item in order:
        if item in passed:
            continue
        if item in wanted:
            before = found / position if position else 1.0
            area += (before + (found + 1) / (position + 1)) / 2 / len(wanted)
            found += 1
        position += 1
    return area


@pytest.mark.parametrize("protocol", ["easy", "medium", "hard"])
def test_revisited_protocols(protocol: str) -> None:
    rng = np.random.default_rng(8)
    queries, items = rng.normal(size=(35, 16)), rng.normal(size=(400, 16))
    truth: list[dict[str, list[int]]] = []
    for query in range(35):
        drawn = rng.permutation(400)
        easy, hard = (0, 9) if query % 7 == 0 else (12, 0) if query % 5 == 0 else (8, 15)
        parts = np.split(drawn, [easy, easy + hard, easy + hard + 20])
        truth.append(
            {"easy": parts[0].tolist(), "hard": parts[1].tolist(), "junk": parts[2].tolist()}
        )
    wanted, passed = {
        "easy": (["easy"], ["hard", "junk"]),
        "medium": (["easy", "hard"], ["junk"]),
        "hard": (["hard"], ["easy", "junk"]),
    }[protocol]
    order = np.argsort(-cosines(queries, items), axis=1)
    expected = [
        revisited_average_precision(
            order[query].tolist(),
            {number for part in wanted for number in each[part]},
            {number for part in passed for number in each[part]},
        )
        for query, each in enumerate(truth)
    ]
    relevance, exclude = revisited(truth, protocol)
    found: Evaluation = evaluate_embeddings(
        queries,
        items,
        relevance,
        exclude=exclude,
        measures=["AP(area=trapezoid)"],
        policy={"empty": "skip"},
    )
    assert found.scored().values[found.measure()].tolist() == pytest.approx(
        expected, abs=1e-12, nan_ok=True
    )
    assert found.value() == pytest.approx(np.nanmean(expected), abs=1e-12)
    assert np.isnan(expected).any() == (protocol != "medium")
