"""Vectors from arrays of all kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from judged.inputs.vectors import as_vectors
from judged.inputs.vectors.vectors import Vectors, from_bfloat16
from support.errors import error_of

ROWS = [[1.0, -2.5], [0.0, 0.15625], [3.0, 4.0]]
"""All exact in bfloat16, which has 8 bits."""


def same(vectors: Vectors, expected: Any = ROWS) -> None:
    block = vectors.block(0, len(vectors))
    assert block.dtype == np.float32
    assert block.tolist() == np.asarray(expected).tolist()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", ">f8", "i1", "u1", "i8", "?"])
def test_numbers_of_every_type_are_scored_in_single_precision(dtype: str) -> None:
    given = np.array([[1, 0], [0, 1]], dtype)
    vectors = as_vectors(given)
    assert vectors.values.dtype == np.dtype(dtype)
    same(vectors, [[1, 0], [0, 1]])


def test_float32_is_not_copied() -> None:
    given = np.array(ROWS, np.float32)
    assert np.shares_memory(as_vectors(given).block(1, 3), given)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(ROWS, id="lists"),
        pytest.param(tuple(map(tuple, ROWS)), id="tuples"),
        pytest.param([np.array(row) for row in ROWS], id="list of arrays"),
        pytest.param(memoryview(np.array(ROWS)), id="memoryview"),
        pytest.param(np.asfortranarray(ROWS), id="Fortran order"),
        pytest.param(np.array(ROWS).view(np.matrix), id="matrix"),
        pytest.param(np.ma.masked_array(ROWS), id="nothing masked"),
    ],
)
def test_what_numpy_can_read(given: Any) -> None:
    vectors = as_vectors(given)
    assert type(vectors.values) is np.ndarray
    same(vectors)


def test_the_upper_half_of_float32_is_bfloat16() -> None:
    # 1 = 0x3F80, -2.5 = -1.25 · 2 = 0xC020, 0 = 0, 0.15625 = 1.25 / 8 = 0x3E20
    bits = np.array([[0x3F80, 0xC020], [0, 0x3E20]], np.uint16)
    vectors = as_vectors(Vectors(from_bfloat16(bits)))
    same(vectors, ROWS[:2])
    assert vectors.block(1, 9).tolist() == [[0, 0.15625]]
    assert np.asarray(vectors.values).tolist() == ROWS[:2]
    same(as_vectors(vectors, dims=1), [[1], [0]])


def test_what_is_too_large_becomes_infinite_without_a_warning() -> None:
    assert as_vectors(np.array([[1e300]])).block(0, 1).tolist() == [[np.inf]]


class Elsewhere:
    """An array that is reached through DLPack alone."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


class OnDevice(Elsewhere):
    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("the array is on a GPU")


def test_dlpack() -> None:
    same(as_vectors(Elsewhere(np.array(ROWS))))


def test_cupy_arrays_are_fetched() -> None:
    class Array:
        __module__ = "cupy._core.core"

        def get(self) -> Any:
            return np.array(ROWS)

    same(as_vectors(Array()))


@pytest.mark.full
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64", "float8_e5m2"])
def test_torch(has: Any, dtype: str) -> None:
    has("torch")
    import torch

    tensor = torch.tensor(ROWS, dtype=torch.float32).to(getattr(torch, dtype))
    same(as_vectors(tensor))
    same(as_vectors(list(tensor)))
    same(as_vectors(tensor.T.contiguous().T))


@pytest.mark.full
def test_torch_with_gradients_and_sparse(has: Any) -> None:
    has("torch")
    import torch

    same(as_vectors(torch.nn.Parameter(torch.tensor(ROWS))))
    same(as_vectors([torch.tensor(row, requires_grad=True) for row in ROWS]))
    assert (
        error_of(as_vectors, torch.tensor(ROWS).to_sparse())
        == "the vectors: a sparse tensor; give a dense one, such as x.to_dense()."
    )


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int8"])
def test_jax(has: Any, dtype: str) -> None:
    has("jax")
    import jax.numpy

    whole = [[1, -2], [0, 3]]
    same(as_vectors(jax.numpy.array(whole, dtype=dtype)), whole)


def sparse() -> Any:
    from scipy.sparse import csr_array

    return csr_array(np.eye(2))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            [1.0, 2.0],
            "vectors must be a matrix with one row each; got an array of shape (2,). "
            "For a single vector give a matrix of one row, such as x[None, :].",
        ),
        (
            np.zeros((1, 2, 3)),
            "vectors must be a matrix with one row each; got an array of shape (1, 2, 3).",
        ),
        *(
            (given, f"vectors must be real numbers; got {dtype}.")
            for given, dtype in (
                (np.zeros((2, 2), complex), "complex128"),
                ([["a", "b"]], "<U1"),
                (np.array([[1, "a"]], object), "object"),
                (np.zeros((1, 2), "V2"), "|V2"),
            )
        ),
        (None, "cannot be read as a matrix of numbers; got NoneType."),
        ({"a": [1]}, "cannot be read as a matrix of numbers; got dict."),
        *(
            (given, "cannot be read as a matrix of numbers; give rows of equal length.")
            for given in ([[1.0, 2.0], [3.0, 4.0], [5.0]], [np.zeros(2), np.zeros(3)])
        ),
        (
            np.ma.masked_array([[1.0]], mask=[[True]]),
            "some numbers are masked; fill them, or remove their rows.",
        ),
        (
            OnDevice(np.zeros((1, 1))),
            "cannot be read as a matrix of numbers (the array is on a GPU).",
        ),
        ([], "there are no vectors in it."),
        (np.zeros((0, 3)), "there are no vectors in it."),
        (np.zeros((3, 0)), "the vectors have no dimensions."),
        (sparse(), "a sparse matrix; give a dense one, such as x.toarray()."),
    ],
)
def test_what_is_no_matrix_of_numbers(given: Any, message: str) -> None:
    assert error_of(as_vectors, given, source="the queries") == f"the queries: {message}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ids": ["a", "b", "a"]}, "the items: the id 'a' occurs more than once."),
        ({"ids": ["a", "b"]}, "the items: there are 2 ids for 3 vectors; the numbers must match."),
        ({"dims": 3}, "the items: dims must be a whole number from 1 to 2; got 3."),
        ({"dims": 0}, "the items: dims must be a whole number from 1 to 2; got 0."),
    ],
)
def test_ids_and_dims_that_do_not_fit(options: Any, message: str) -> None:
    assert error_of(as_vectors, ROWS, source="the items", **options) == message


def test_ids_are_texts_and_dims_cut() -> None:
    vectors = as_vectors(ROWS, ids=[2**63 + 1, "b", 3], dims=1)
    assert vectors.names() == ("9223372036854775809", "b", "3")
    same(vectors, [[1], [0], [3]])
