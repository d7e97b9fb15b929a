"""What is built upon plain ranks, each against the whole matrix: categories, both directions,
normalised scores, revisited."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp

from judged import Evaluation, Policy, Rankings, evaluate_embeddings
from judged.embeddings.embeddings import Embeddings
from judged.embeddings.normalisation import CSLS, AlphaQueryExpansion, InvertedSoftmax, QBNorm
from judged.embeddings.relevance import listed, pairs, revisited, same_label, same_row
from judged.measures import parse_measure
from judged.policy import CHOICES
from support.dense import (
    Array,
    as_judgements,
    cosines,
    distances,
    hits_of,
    judged,
    same,
    whole_numbers,
)
from support.products import rank

RULES = tuple(CHOICES["ties"])

# -- unique categories


def by_category(values: Array, category: Array, least: float) -> tuple[Array, list[str]]:
    """The greatest of each category's values, categories in the order of their first item."""
    names = list(dict.fromkeys(category.tolist()))
    return np.stack(
        [values[:, category == name].max(axis=1, initial=least) for name in names], axis=1
    ), list(map(str, names))


def grades_by_category(grades: Array, category: Array) -> Array:
    best, _ = by_category(np.where(np.isnan(grades), -np.inf, grades), category, -np.inf)
    return np.where(np.isinf(best), np.nan, best)


@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("similarity", ["dot", "euclidean"])
def test_unique_categories(similarity: str, ties: str) -> None:
    rng = np.random.default_rng(1)
    queries, items, category = (
        whole_numbers(rng, 25, 3),
        whole_numbers(rng, 150, 3),
        rng.integers(0, 40, 150),
    )
    grades = np.where(rng.random((25, 150)) < 0.1, rng.integers(0, 4, (25, 150)), np.nan)
    grades[:, 0] = 1
    gone = np.arange(25)[:, None] % 9 == np.arange(150) % 9
    scores = queries @ items.T if similarity == "dot" else -distances(queries, items)
    shown = np.where(gone, -np.inf, scores.astype(float))
    best, names = by_category(shown, category, -np.inf)
    # A category stands where the first of its best items stands.
    place = np.stack(
        [
            np.argmax((shown == value[:, None]) & (category == int(name)), axis=1)
            for name, value in zip(names, best.T, strict=True)
        ],
        axis=1,
    )
    for given in (category, dict(enumerate(category.tolist()))):
        found = rank(
            queries,
            items,
            as_judgements(grades),
            similarity=similarity,
            unique=given,
            exclude=same_label(np.arange(25) % 9, np.arange(150) % 9),
            policy={"ties": ties},
        )
        wanted = grades_by_category(np.where(gone, np.nan, grades), category)
        same(found, best, wanted, gone=np.isinf(best), names=names, ties=ties, place=place)
    assert (
        "the best result of each category stands for it, and categories are ranked" in found.basis
    )


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
@pytest.mark.parametrize("similarity", BOTH)
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
    there, back = compared.rank_both(same_label(left, right), policy=policy, name="x")
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
    there, back = compared.rank_both({**given, "no such query": {"1": 1.0}})
    scores = queries @ items.T
    known = list(map(int, given))
    assert there.queries == (*map(str, known), "no such query")
    same(there.take(range(len(known))), scores[known], grades[known], gone=gone[known])
    # Seen from the items, those that no judgement names are not evaluated.
    seen = np.flatnonzero(~np.isnan(grades).all(axis=0))
    assert back.queries == tuple(map(str, seen))
    same(back, scores.T[seen], grades.T[seen], gone=gone.T[seen])


def test_both_directions_are_two_rows() -> None:
    rng = np.random.default_rng(5)
    queries, items = rng.normal(size=(30, 5)), rng.normal(size=(30, 5))
    found = evaluate_embeddings(
        queries, items, pairs(), measures=["RR", "R@1"], both=True, name="clips"
    )
    assert [run.name for run in found.runs] == [
        "clips: queries to items",
        "clips: items to queries",
    ]
    rows = [run.summary[parse_measure("RR")] for run in found.runs]
    alone = [
        evaluate_embeddings(*pair, pairs(), measures=["RR"]).value()
        for pair in ((queries, items), (items, queries))
    ]
    assert rows == alone


@pytest.mark.parametrize("memory", ["1GB", "1MB"])
@pytest.mark.parametrize(
    "normalise", ["csls(k=4)", "inverted-softmax", "dual-softmax", "mutual-proximity", "z-score"]
)
def test_both_directions_normalised(normalise: str, memory: str) -> None:
    rng = np.random.default_rng(6)
    queries, items = rng.normal(size=(60, 6)), rng.normal(size=(90, 6))
    left, right = np.arange(60) % 30, np.arange(90) % 30
    there, back = Embeddings(queries, items, normalise=normalise, memory=memory).rank_both(
        same_label(left, right)
    )
    assert_equal(there, rank(queries, items, same_label(left, right), normalise=normalise))
    assert_equal(back, rank(items, queries, same_label(right, left), normalise=normalise))


# -- normalised scores

RANDOM = np.random.default_rng(7)
QUERIES, ITEMS, BANK = (RANDOM.normal(size=(count, 8)) for count in (40, 75, 30))
CATEGORY = RANDOM.integers(0, 25, 75)
RELEVANT = RANDOM.random((40, 75)) < 0.2


def highest(scores: Array, k: int) -> Array:
    return np.sort(scores, axis=1)[:, -k:].mean(axis=1)


def csls(scores: Array, seen_by: Array, k: int) -> Array:
    return 2 * scores - highest(scores, k)[:, None] - highest(seen_by.T, k)


def qb_norm(scores: Array, bank: Array, beta: float, k: int) -> Array:
    active = np.isin(scores.argmax(axis=1), np.argsort(-bank, axis=1)[:, :k])
    return np.where(active[:, None], beta * scores - logsumexp(beta * bank, axis=0), scores)


NORMALISED: dict[str, tuple[Any, Any]] = {
    "csls": ("csls(k=5)", lambda s, b: csls(s, s, 5)),
    "csls with a bank": (CSLS(k=3, bank=BANK), lambda s, b: csls(s, b, 3)),
    "inverted-softmax": (
        "inverted-softmax(beta=10)",
        lambda s, b: 10 * s - logsumexp(10 * s, axis=0),
    ),
    "inverted-softmax with a bank": (
        InvertedSoftmax(bank=BANK),
        lambda s, b: 20 * s - logsumexp(20 * b, axis=0),
    ),
    "dual-softmax": (
        "dual-softmax(beta=5)",
        lambda s, b: log_softmax(5 * s, axis=0) + log_softmax(5 * s, axis=1),
    ),
    "qb-norm": (QBNorm(bank=BANK, k=1), lambda s, b: qb_norm(s, b, 20, 1)),
    "qb-norm of more": (QBNorm(bank=BANK, k=4, beta=7), lambda s, b: qb_norm(s, b, 7, 4)),
}


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
@pytest.mark.parametrize("name", NORMALISED)
def test_normalised_scores_are_ranked_as_the_formula_ranks(name: str, similarity: str) -> None:
    normalise, formula = NORMALISED[name]
    scores, bank = (
        cosines(each, ITEMS) if similarity == "cosine" else each @ ITEMS.T
        for each in (QUERIES, BANK)
    )
    dense = formula(scores, bank)
    found = rank(
        QUERIES,
        ITEMS,
        lambda begin, end: RELEVANT[begin:end],
        similarity=similarity,
        normalise=normalise,
    )
    same(found, dense, judged(RELEVANT))
    assert hits_of(found) != hits_of(
        rank(QUERIES, ITEMS, lambda a, b: RELEVANT[a:b], similarity=similarity)
    )
    unique = rank(
        QUERIES,
        ITEMS,
        lambda begin, end: RELEVANT[begin:end],
        similarity=similarity,
        normalise=normalise,
        unique=CATEGORY,
    )
    best, names = by_category(dense, CATEGORY, -np.inf)
    same(unique, best, grades_by_category(judged(RELEVANT), CATEGORY), names=names)
    assert any(text.startswith("scores were normalised by") for text in found.basis)


def test_normalised_distances() -> None:
    dense = csls(-distances(QUERIES, ITEMS) / 2, -distances(QUERIES, ITEMS) / 2, 4)
    found = rank(
        QUERIES, ITEMS, lambda a, b: RELEVANT[a:b], similarity="euclidean", normalise="csls(k=4)"
    )
    same(found, dense, judged(RELEVANT))


def test_normalised_scores_leave_excluded_pairs_out() -> None:
    gone = np.eye(40, 75) > 0
    scores = np.where(gone, -np.inf, cosines(QUERIES, ITEMS))
    near = csls(scores, scores, 5)
    found = rank(
        QUERIES, ITEMS, lambda a, b: RELEVANT[a:b], normalise="csls(k=5)", exclude=same_row()
    )
    same(found, near, judged(RELEVANT), gone=gone)


def test_expanded_queries_are_asked_again() -> None:
    unit = [each / np.linalg.norm(each, axis=1)[:, None] for each in (QUERIES, ITEMS)]
    best = np.argsort(-cosines(QUERIES, ITEMS), axis=1)[:, :4]
    weight = np.maximum(np.take_along_axis(cosines(QUERIES, ITEMS), best, axis=1), 0) ** 2
    expanded = unit[0] + np.einsum("qk,qkd->qd", weight, unit[1][best])
    for unique in (None, CATEGORY):
        found = rank(
            QUERIES,
            ITEMS,
            lambda a, b: RELEVANT[a:b],
            normalise=AlphaQueryExpansion(alpha=2, k=4),
            unique=unique,
        )
        assert hits_of(found) == hits_of(
            rank(expanded, ITEMS, lambda a, b: RELEVANT[a:b], unique=unique)
        )


@pytest.mark.parametrize("unique", [None, CATEGORY], ids=["items", "categories"])
@pytest.mark.parametrize("text", ["min-max", "z-score", "softmax", "softmax(temperature=0.001)"])
def test_what_cannot_change_a_ranking_does_not_and_says_so(text: str, unique: Any) -> None:
    plain, found = (
        rank(QUERIES, ITEMS, lambda a, b: RELEVANT[a:b], normalise=each, unique=unique)
        for each in (None, text)
    )
    assert hits_of(found) == hits_of(plain)
    note = (
        "scores were normalised by "
        f"{text if '(' in text or text != 'softmax' else 'softmax(temperature=1.0)'}, "
    )
    assert (
        f"{note}which looks at one query at a time (per query); it cannot change any ranking"
        in found.basis
    )


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
