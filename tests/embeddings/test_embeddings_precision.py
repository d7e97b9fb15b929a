"""Where single precision is not enough, or rounds by position: duplicates, near duplicates, and
numbers of other types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from judged import Rankings
from judged.embeddings.relevance import same_label
from support.dense import Array, distances, judged, same, whole_numbers
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
