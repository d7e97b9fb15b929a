"""Where single precision is not enough, or rounds by position: duplicates, near duplicates, and
numbers of other types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from judged import Rankings
from judged.embeddings.embeddings import Embeddings
from judged.embeddings.relevance import same_label, same_row
from support.dense import Array, cosines, distances, hits_of, judged, same, whole_numbers
from support.parts import Needs
from support.products import rank, top_k

# -- duplicates
# A matrix product sums up a column in an order that depends on where it stands, so equal vectors
# may get different scores. 61 dimensions and odd numbers of columns make that happen on common
# processors.


def copies(
    seed: int, different: int, times: int, dims: int = 61
) -> tuple[Array, Array, np.random.Generator]:
    """Vectors in some copies each, shuffled, and which of the originals each is."""
    rng = np.random.default_rng(seed)
    which = rng.permutation(np.tile(np.arange(different), times))
    return rng.normal(size=(different, dims)).astype(np.float32)[which], which, rng


def spans(r: Rankings) -> list[int]:
    assert r.hit_tie_first is not None
    assert r.hit_tie_last is not None
    return (r.hit_tie_last - r.hit_tie_first + 1).tolist()


@pytest.mark.parametrize("memory", ["1GB", "1MB"])
@pytest.mark.parametrize(
    "similarity", ["dot", "cosine", "euclidean", "manhattan", "bilinear", "callable"]
)
def test_equal_vectors_tie_wherever_they_stand(similarity: str, memory: str) -> None:
    items, which, rng = copies(1, 331, 9)
    queries = rng.normal(size=(70, 61)).astype(np.float32)
    given: Any = {
        "bilinear": rng.normal(size=(61, 61)),
        "callable": lambda q, x: np.tanh(q @ x.T / 8),
    }.get(similarity, similarity)
    wanted = np.arange(70) * 3
    found = rank(
        queries,
        items,
        same_label(wanted, which),
        similarity=given,
        memory=memory,
        policy={"ties": "input"},
    )
    assert spans(found) == [9] * (70 * 9)
    # Nine copies of one vector are all that is relevant: their ranks follow each other in the order
    # of the input.
    assert (np.diff(found.hit_rank.reshape(70, 9), axis=1) == 1).all()
    best = top_k(queries, items, 9, similarity=given, memory=memory, ties="input")
    assert (which[best.items] == which[best.items[:, :1]]).all()
    assert (np.diff(best.items, axis=1) > 0).all()


@pytest.mark.parametrize("memory", ["1GB", "1MB"])
def test_zero_with_a_sign_is_zero(memory: str) -> None:
    items, which, rng = copies(2, 50, 8)
    items[:, :40] = np.where(rng.random((400, 40)) < 0.5, np.float32(0), np.float32(-0.0))
    queries = rng.normal(size=(3, 61))
    found = rank(queries, items, same_label([0, 1, 2], which), similarity="dot", memory=memory)
    assert spans(found) == [8] * 24


@pytest.mark.parametrize("similarity", ["dot", "cosine", "euclidean"])
def test_equal_vectors_tie_in_categories_too(similarity: str) -> None:
    # Tiles of categories begin at any column: 1MB cuts these items into several.
    items, _, rng = copies(3, 2400, 2, dims=15)
    queries = rng.normal(size=(66, 15)).astype(np.float32)
    categories = rng.integers(0, 1500, len(items))
    relevant = np.arange(len(items)) % 97 == 0
    found = [
        rank(
            queries,
            items,
            lambda begin, end: np.tile(relevant, (end - begin, 1)),
            similarity=similarity,
            unique=categories,
            memory=memory,
            policy={"ties": "best"},
        )
        for memory in ("1GB", "1MB")
    ]
    assert hits_of(found[0]) == hits_of(found[1])
    # Two categories whose best items are copies of each other tie.
    scores = (
        -distances(queries, items)
        if similarity == "euclidean"
        else (cosines if similarity == "cosine" else np.inner)(
            queries.astype(float), items.astype(float)
        )
    )
    best = np.array(
        [[row[categories == each].max() for each in np.unique(categories)] for row in scores[:5]]
    )
    order = np.argsort([np.flatnonzero(categories == each)[0] for each in np.unique(categories)])
    wanted = np.isin(np.unique(categories), categories[relevant])
    same(
        found[0].take(range(5)),
        np.round(best, 9)[:, order],
        judged(np.tile(wanted, (5, 1)))[:, order],
        ties="best",
    )


@pytest.mark.parametrize(
    "normalise", ["csls(k=3)", "inverted-softmax", "dual-softmax", "mutual-proximity", "softmax"]
)
@pytest.mark.parametrize("memory", ["1GB", "1MB"])
def test_equal_vectors_tie_when_normalised(normalise: str, memory: str) -> None:
    items, which, rng = copies(4, 203, 9)
    queries = rng.normal(size=(70, 61)).astype(np.float32)
    found = rank(
        queries, items, same_label(np.arange(70), which), normalise=normalise, memory=memory
    )
    assert spans(found) == [9] * (70 * 9)


@pytest.mark.parametrize("exclude", [None, same_row()])
def test_equal_queries_tie_when_the_items_search_in_the_same_product(exclude: Any) -> None:
    queries, which, rng = copies(5, 37, 29)
    items = rng.normal(size=(50, 61)).astype(np.float32)
    compared = Embeddings(queries, items, similarity="dot", exclude=exclude)
    _, back = compared.rank_both(same_label(which, np.arange(50) % 37))
    # All 29 copies of one query tie; where one of them has the item's own row number and is
    # excluded, 28 are left.
    own = which[np.arange(50)] == np.arange(50) % 37 if exclude is not None else np.zeros(50, bool)
    assert spans(back) == np.repeat(29 - own, 29 - own).tolist()


# -- near duplicates by distance


def clusters(apart: float, near: float, *, dims: int = 24, seed: int = 6) -> tuple[Array, Array]:
    """Fifteen clusters of twenty vectors, in single precision already, so that double precision is
    exact for them."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(15, 1, dims)) / np.sqrt(dims) * apart
    vectors = (
        (centres + rng.normal(size=(15, 20, dims)) / np.sqrt(dims) * near)
        .reshape(-1, dims)
        .astype(np.float32)
    )
    return vectors, np.repeat(np.arange(15), 20)


APART_AND_NEAR = [
    *[(1e3, 1e-1), (1e3, 1e-3), (1e3, 3e-4), (1e6, 1.0), (1.0, 1e-6)],
    *[(1e-8, 1e-13), (1e-14, 1e-19), (1e-20, 1e-25), (1e-30, 1e-35)],
]
NEAR = pytest.mark.parametrize(("apart", "near"), APART_AND_NEAR)


@NEAR
@pytest.mark.parametrize("memory", ["1GB", "1MB"])
def test_near_duplicates_far_from_the_origin_are_ranked_as_in_double_precision(
    apart: float, near: float, memory: str
) -> None:
    vectors, cluster = clusters(apart, near)
    queries = vectors[::9]
    found = rank(
        queries, vectors, same_label(cluster[::9], cluster), similarity="euclidean", memory=memory
    )
    exact = -distances(queries, vectors)
    assert len(np.unique(exact[0])) > 200  # rounding has not made them all the same
    same(found, exact, judged(cluster[::9, None] == cluster))


@NEAR
def test_near_duplicates_are_listed_as_in_double_precision(apart: float, near: float) -> None:
    vectors, _ = clusters(apart, near, seed=7)
    queries = vectors[::9]
    exact = distances(queries, vectors)
    results = top_k(queries, vectors, 25, similarity="euclidean", ties="input")
    assert results.items.tolist() == np.argsort(exact, axis=1, kind="stable")[:, :25].tolist()
    assert results.scores == pytest.approx(
        np.take_along_axis(exact, results.items, axis=1) / -2, rel=1e-12, abs=0
    )


@pytest.mark.parametrize("memory", ["1GB", "1MB"])
def test_near_duplicates_with_exclusions_in_categories_and_both_ways(memory: str) -> None:
    vectors, cluster = clusters(1e3, 1e-3, seed=8)
    exact, gone = -distances(vectors, vectors), np.eye(300) > 0
    relation = same_label(cluster, cluster)
    same(
        rank(vectors, vectors, relation, similarity="euclidean", exclude=same_row(), memory=memory),
        exact,
        judged(cluster[:, None] == cluster),
        gone=gone,
    )
    # Ten categories of a cluster hold two vectors each; without itself a query's own category has
    # one left.
    category = np.arange(300) // 2
    best = np.where(gone, -np.inf, exact).reshape(300, 150, 2).max(axis=2)
    found = rank(
        vectors,
        vectors,
        relation,
        similarity="euclidean",
        exclude=same_row(),
        unique=category,
        memory=memory,
    )
    same(found, best, judged(cluster[:, None] == cluster[::2]))
    compared = Embeddings(vectors[::7], vectors, similarity="euclidean", memory=memory)
    there, back = compared.rank_both(same_label(cluster[::7], cluster))
    same(there, exact[::7], judged(cluster[::7, None] == cluster))
    same(back, exact[::7].T, judged(cluster[:, None] == cluster[::7]))


def test_one_vector_far_from_all_others_spoils_nothing() -> None:
    rng = np.random.default_rng(9)
    items = rng.normal(size=(400, 5)).astype(np.float32)
    items[17] *= 1e6
    queries = rng.normal(size=(20, 5)).astype(np.float32)
    found = rank(
        queries, items, lambda begin, end: np.ones((end - begin, 400)), similarity="euclidean"
    )
    same(found, -distances(queries, items), np.ones((20, 400)))


# -- types of numbers


@pytest.mark.parametrize(
    "dtype",
    ["float16", "float32", "float64", "longdouble", "int8", "uint8", "int64", "bool", ">f4"],
)
@pytest.mark.parametrize("similarity", ["dot", "euclidean", "hamming"])
def test_types_of_numbers(dtype: str, similarity: str) -> None:
    rng = np.random.default_rng(10)
    queries, items = (np.abs(whole_numbers(rng, rows, 5)).astype(dtype) for rows in (12, 90))
    relevant = rng.random((12, 90)) < 0.2
    twin = {
        "dot": lambda q, x: q @ x.T,
        "euclidean": lambda q, x: -distances(q, x),
        "hamming": lambda q, x: ((q[:, None] > 0) == (x > 0)).sum(axis=2),
    }[similarity]
    found = rank(queries, items, lambda begin, end: relevant[begin:end], similarity=similarity)
    same(found, twin(queries.astype(float), items.astype(float)), judged(relevant))


def test_both_sides_may_be_of_different_types_and_orders() -> None:
    rng = np.random.default_rng(11)
    queries, items, relevant = (
        whole_numbers(rng, 12, 5),
        whole_numbers(rng, 90, 5),
        rng.random((12, 90)) < 0.2,
    )
    found = rank(
        queries.astype(np.int8)[::-1],
        np.asfortranarray(items.astype(float)),
        lambda a, b: relevant[a:b],
        similarity="dot",
    )
    same(found, queries[::-1] @ items.T, judged(relevant))


@pytest.mark.full
@pytest.mark.parametrize(
    "dtype", ["bfloat16", "float16", "float32", "float64", "int8", "float8_e4m3fn"]
)
def test_types_of_torch(needs: Needs, dtype: str) -> None:
    needs("torch")
    import torch

    rng = np.random.default_rng(12)
    queries, items, relevant = (
        whole_numbers(rng, 12, 5),
        whole_numbers(rng, 90, 5),
        rng.random((12, 90)) < 0.2,
    )
    left, right = (torch.tensor(each).to(getattr(torch, dtype)) for each in (queries, items))
    for dims in (None, 3):
        found = rank(
            left, right, lambda begin, end: relevant[begin:end], similarity="dot", dims=dims
        )
        same(found, queries[:, :dims] @ items[:, :dims].T, judged(relevant))
