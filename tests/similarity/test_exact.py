"""Scores that are rounded once, the bound of those that are not, and products of the same bits
everywhere."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from judged.embeddings.exact import (
    VectorPairs,
    absolute_sums,
    cosines,
    dots,
    half_squares,
    lengths,
    rescored,
    rounded_once,
    times,
)
from judged.embeddings.learned import as_similarity
from judged.embeddings.product import TiledProduct
from judged.inputs.vectors import as_vectors
from support.dense import Array
from support.real import real

FORMULAS = {
    "dot": dots,
    "cosine": cosines,
    "euclidean": half_squares,
    "manhattan": absolute_sums,
}
NUMBERS = st.one_of(
    st.floats(-1e3, 1e3, width=32),
    st.sampled_from([0.0, 1.0, -1.0, 0.5, 3.0, 2.0**-20, 2.0**20, 1 + 2.0**-23]),
)


@pytest.mark.parametrize("name", FORMULAS)
@given(data=st.data(), wide=st.booleans(), dims=st.integers(1, 9))
def test_scores_are_rounded_once(name: str, data: Any, wide: bool, dims: int) -> None:
    numbers = st.floats(-1e9, 1e9) if wide else NUMBERS
    dtype = np.float64 if wide else np.float32
    both = data.draw(hnp.arrays(dtype, (4, dims), elements=numbers))
    both[np.abs(both) < 1e-100] = 0  # products of such are refused
    if name == "cosine":
        both[:, 0] += (both == 0).all(axis=1)
    query, item = np.repeat([0, 1], 2), np.array([0, 1, 0, 1])
    found = rounded_once(FORMULAS[name], VectorPairs(both[:2], both[2:], query, item))
    assert found.tolist() == [
        real(name, both[a], both[2 + b]) for a, b in zip(query, item, strict=True)
    ]


@pytest.mark.parametrize("name", FORMULAS)
@given(data=st.data(), wide=st.booleans(), dims=st.integers(1, 9))
def test_no_rescored_score_is_off_by_more_than_its_error(
    name: str, data: Any, wide: bool, dims: int
) -> None:
    sizes = st.sampled_from([1e-120, 1e-30, 1.0, 1e30, 1e180] if wide else [1.0])
    dtype = np.float64 if wide else np.float32
    both = data.draw(hnp.arrays(dtype, (4, dims), elements=NUMBERS))
    both *= dtype(data.draw(sizes))
    both[:, 0] += (both == 0).all(axis=1)
    query, item = np.repeat([0, 1], 2), np.array([0, 1, 0, 1])
    scores, errors = rescored(FORMULAS[name], VectorPairs(both[:2], both[2:], query, item))
    for at, (a, b) in enumerate(zip(query, item, strict=True)):
        if errors[at] < np.inf:
            exact = Fraction(real(name, both[a], both[2 + b]))
            assert abs(exact - Fraction(scores[at])) <= Fraction(errors[at])


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_of_numbers_of_all_sizes_are_rounded_once(name: str, dtype: Any) -> None:
    rng = np.random.default_rng(1)
    small, large = (-18, 18) if dtype is np.float32 else (-60, 60)
    both = (rng.normal(size=(40, 7)) * 10.0 ** rng.integers(small, large, (40, 7))).astype(dtype)
    both[5], both[6], both[7] = both[0] * 2, -both[1], both[2]  # parallel, opposite and equal
    both[8, :2] = both[3, 1], -both[3, 0]
    both[8, 2:] = 0  # at right angles but for what lies beyond
    query, item = np.arange(5).repeat(35), np.tile(np.arange(5, 40) - 5, 5)
    found = rounded_once(FORMULAS[name], VectorPairs(both[:5], both[5:], query, item))
    wanted = [real(name, both[a], both[5 + b]) for a, b in zip(query, item, strict=True)]
    assert found.tolist() == wanted


@pytest.mark.parametrize("name", ["dot", "cosine"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_errors_of_vectors_nearly_at_right_angles_are_known(name: str, dtype: Any) -> None:
    rng = np.random.default_rng(2)
    query, items = rng.normal(size=(1, 33)), rng.normal(size=(60, 33))
    items -= items @ query.T / (query @ query.T) * query  # what is left of scores is rounding
    query, items = query.astype(dtype), items.astype(dtype)
    pairs = VectorPairs(query, items, np.zeros(60, np.int64), np.arange(60))
    scores, errors = rescored(FORMULAS[name], pairs)
    exact = np.array([real(name, query[0], item) for item in items])
    assert (np.abs(exact - scores) <= errors).all()
    assert errors.max() < 1e-12


def test_a_tie_of_two_numbers_is_rounded_to_the_even_one() -> None:
    for last, wanted in ((2.0**-53, 1.0), (3 * 2.0**-53, 1 + 2.0**-51)):
        item = np.array([[1.0, last, 2.0**-200, -(2.0**-200)]])
        one = np.array([0])
        pairs = VectorPairs(np.ones((1, 4)), item, one, one)
        assert rounded_once(dots, pairs).tolist() == [wanted]


@given(
    hnp.arrays(np.float64, (3, 11), elements=st.floats(-1e6, 1e6)),
    hnp.arrays(np.float64, (11, 2), elements=st.floats(-1e6, 1e6)),
)
def test_matrix_products_are_in_double_precision_and_the_same_row_by_row(
    left: Array, right: Array
) -> None:
    found = times(left, right)
    size = np.abs(left).max(axis=1, keepdims=True) * np.abs(right).max(axis=0, keepdims=True)
    tiny = left.shape[1] * np.finfo(float).tiny  # products can underflow
    assert (np.abs(found - left @ right) <= 1e-13 * size + tiny).all()
    for row in range(3):
        assert (times(left[row : row + 1], right) == found[row]).all()
    # Another order of the same numbers, as another processor may add them.
    assert (times(left[:, ::-1], right[::-1]) == found).all()
    assert lengths(left) == pytest.approx(np.linalg.norm(left, axis=1))


# -- the bound


@pytest.mark.parametrize("name", [*FORMULAS, "bilinear"])
@given(data=st.data())
def test_no_score_of_a_tile_is_off_by_more_than_its_bound(name: str, data: Any) -> None:
    seed, dims = data.draw(st.integers(0, 2**32 - 1)), data.draw(st.integers(1, 40))
    power = data.draw(st.sampled_from([0, 0, 3, -3, 12, -12]))
    rng = np.random.default_rng(seed)
    both = rng.normal(size=(12, dims)) * rng.choice([1.0, 1e-4, 1e3], (12, 1)) * 10.0**power
    both[rng.random((12, dims)) < 0.2] *= 1e-9
    both += rng.choice([0.0, 1.0]) * 10.0**power
    weights = rng.normal(size=(dims, dims)) if name == "bilinear" else name
    queries, items = (as_vectors(each, source="x") for each in (both[:4], both[4:]))
    similarity = as_similarity(weights).placed(items)
    whole = TiledProduct(queries, items, similarity, exclude=None, memory="1GB")
    tile = whole.tile(whole.query_block(0, 4), 0, 0, None)
    assert tile.slack is not None
    # The shift is rounded too, in double precision.
    shift = similarity.shift(similarity.prepare(both[:4], queries, 0, items=False))
    found = tile.scores.astype(float) + shift
    slack = tile.slack + np.abs(shift[:, 0]) * 1e-12
    pairs = np.repeat(np.arange(4), 8), np.tile(np.arange(8), 4)
    exact = whole.exact_pairs(*pairs).reshape(4, 8)
    assert (np.abs(found - exact) <= (slack / 2)[:, None] + np.abs(exact) * 2.0**-53).all()
