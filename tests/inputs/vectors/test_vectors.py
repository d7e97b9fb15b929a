"""Vectors from arrays of all kinds."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import judged
from judged.errors import InputError, JudgedError
from judged.inputs.vectors import as_vectors, read_vectors
from judged.inputs.vectors.labels import labels_from, labels_lists_from, revisited_from
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


# Odd, damaged or hostile vectors: one clear message, or the same numbers


VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3) + 1


@pytest.mark.parametrize(
    "ids",
    [[1.0, 2.5, 3.0, 4.0], [True, False, True, False], [[1], [2], [3], [4]]],
    ids=["floats", "flags", "lists"],
)
def test_a_column_of_ids_that_cannot_be_ids_is_refused(ids: list[Any], tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": ids, "embedding": VECTORS.tolist()})
    parquet, ndjson = tmp_path / "v.parquet", tmp_path / "v.ndjson"
    frame.write_parquet(parquet)
    frame.write_ndjson(ndjson)
    for path in (parquet, ndjson) if not isinstance(ids[0], list) else (parquet,):
        with pytest.raises(InputError, match='"id" should hold ids, texts or whole numbers; it is'):
            read_vectors(path, key="embedding")
    columns = pl.DataFrame({"id": ids, "a": [1.0, 2, 3, 4], "b": [0.0, 1, 2, 3]})
    columns.write_parquet(parquet)
    with pytest.raises(InputError, match='"id" should hold ids'):
        read_vectors(parquet)


def test_ids_of_bytes_are_texts(tmp_path: Path) -> None:
    path = tmp_path / "v.parquet"
    pl.DataFrame({"id": [b"a", b"\xc3\xa9"], "embedding": VECTORS[:2].tolist()}).write_parquet(path)
    assert read_vectors(path).ids == ("a", "é")
    pl.DataFrame({"id": [b"a", b"\xff"], "embedding": VECTORS[:2].tolist()}).write_parquet(path)
    with pytest.raises(InputError, match="the ids are not UTF-8 text"):
        read_vectors(path)


@pytest.mark.parametrize(
    "ids",
    [
        *("abcd", b"abcd", 7, [1.0, 2.0, 3.0, 4.0], [None, 1, 2, 3], [True, False, 1, 2]),
        *([b"a", b"b", b"c", b"d"], np.array(4), [["a"], "b", "c", "d"], [1, 2, 3], np.eye(4)),
    ],
    ids=str,
)
def test_ids_are_texts_or_whole_numbers(ids: Any) -> None:
    with pytest.raises(InputError, match="ids"):
        as_vectors(VECTORS, ids=ids)


def test_ids_in_many_hands() -> None:
    texts, numbers = ("a", "b", "c", "d"), ("3", "1", "2", "0")
    for given in (list(texts), texts, np.array(texts), pl.Series(texts), dict.fromkeys(texts)):
        assert as_vectors(VECTORS, ids=given).ids == texts
    for given in ([3, 1, 2, 0], np.array([3, 1, 2, 0], np.uint8), pl.Series([3, 1, 2, 0])):
        assert as_vectors(VECTORS, ids=given).ids == numbers
    assert as_vectors(VECTORS, ids=(str(row) for row in range(4))).ids == ("0", "1", "2", "3")


ODD: dict[str, Any] = {
    "dates": VECTORS.astype("datetime64[s]"),
    "no rows": np.zeros((0, 3)),
    "a number": 5,
    "a text in a list": ["a"],
    "a set": {1.0},
    "a function": len,
    "records": np.zeros(3, [("a", float)]),
    "no such file": "no-such-file.npy",
    "a folder": ".",
    "bytes": b"abc",
    "NaN": np.full((4, 3), np.nan),
    "infinite": np.full((4, 3), np.inf),
    "zeros": np.zeros((4, 3)),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_vectors_are_refused_in_words(name: str) -> None:
    for sides in ((ODD[name], VECTORS), (VECTORS, ODD[name])):
        with pytest.raises(JudgedError) as raised:
            judged.Embeddings(*sides).evaluate(judged.relevance.pairs(), "RR")
        assert str(raised.value).strip().endswith((".", "?"))


def test_a_signalling_nan_is_refused_without_a_warning(tmp_path: Path) -> None:
    """Damaged files hold it, and NumPy warns where it casts one; warnings are errors here."""
    patterns = {"u2": ("f2", 0x7D00), "u4": ("f4", 0x7FA00000), "u8": ("f8", 0x7FF4 << 48)}
    for whole, (kind, pattern) in patterns.items():
        values = np.ones((4, 3), kind)
        values.view(whole)[1, 2] = pattern
        np.save(tmp_path / "v.npy", values)
        for given in (values, tmp_path / "v.npy"):
            for similarity in ("cosine", "euclidean"):
                embeddings = judged.Embeddings(given, given, similarity=similarity)
                with pytest.raises(InputError, match="NaN or infinite numbers"):
                    embeddings.evaluate(judged.relevance.pairs(), "RR")


def test_long_lines_of_text(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    wide = np.arange(40_000) % 7
    path.write_text("\n".join(",".join(map(str, row)) for row in (wide, wide + 1)))
    assert read_vectors(path).dims == 40_000
    path.write_text('"' + "a" * 200_000 + '",1,2\n"b",3,4\n')
    with pytest.raises(InputError, match=r"the quotation marks do not match \(field larger"):
        read_vectors(path)
    path = tmp_path / "long.txt"
    path.write_text("1 " * 70_000 + "\n")
    assert read_vectors(path).dims == 70_000
    path.write_text("9" * 5000 + " " + "9" * 5000 + "\n1 2 3\n")
    with pytest.raises(InputError, match=r"long\.txt, line 2: expected 2 fields, found 3"):
        read_vectors(path)


def test_a_small_file_that_unpacks_to_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "zeros.npz"
    np.savez_compressed(path, vectors=np.ones((2000, 500), np.float32))
    assert len(read_vectors(path)) == 2000
    monkeypatch.setenv("JUDGED_MAX_UNPACKED", "3MB")
    with pytest.raises(InputError, match=r"zeros.npz: its [0-9,]+ bytes unpack to more than"):
        read_vectors(path)
    monkeypatch.setenv("JUDGED_MAX_UNPACKED", "5MB")
    assert len(read_vectors(path)) == 2000
    # What is not compressed is as large as it looks.
    monkeypatch.setenv("JUDGED_MAX_UNPACKED", "3MB")
    np.savez(path, vectors=np.ones((2000, 500), np.float32))
    assert len(read_vectors(path)) == 2000
    # A header that promises more than there is, is damage.
    monkeypatch.delenv("JUDGED_MAX_UNPACKED")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000000), }\n"
        prefix = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little")
        archive.writestr("vectors.npy", prefix + head)
    with pytest.raises(InputError, match="unpack to more than"):
        read_vectors(path)


def test_numbers_in_other_files_are_not_followed(has: Any, tmp_path: Path) -> None:
    has("h5py")
    import h5py

    secret = tmp_path / "secret.bin"
    VECTORS.tofile(secret)
    path = tmp_path / "v.h5"
    with h5py.File(path, "w") as opened:
        opened.create_dataset("vectors", (4, 3), "f4", external=[(str(secret), 0, VECTORS.nbytes)])
    with pytest.raises(InputError, match="vectors is stored in other files, which are not read"):
        read_vectors(path)
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as opened:
        opened["vectors"] = VECTORS
    with h5py.File(path, "w") as opened:
        layout = h5py.VirtualLayout((4, 3), "f4")
        layout[:] = h5py.VirtualSource(str(other), "vectors", (4, 3))
        opened.create_virtual_dataset("vectors", layout)
    with pytest.raises(InputError, match="is stored in other files"):
        read_vectors(path)
    with h5py.File(path, "w") as opened:
        opened["vectors"] = h5py.ExternalLink(str(other), "vectors")
    for key in (None, "vectors"):
        with pytest.raises(InputError, match=r"v\.h5"):
            read_vectors(path, key=key)


@pytest.mark.parametrize(
    "given",
    [
        *(5, None, "x", [5], [None], {"gnd": 5}, {"gnd": [[]]}),
        *(
            [{"easy": part, "hard": [], "junk": []}]
            for part in (5, None, "12", ["a"], [1.5], [None], [True], {"0": 1}, [[1]])
        ),
    ],
    ids=json.dumps,
)
def test_lists_of_the_revisited_benchmarks_of_wrong_types(given: Any, tmp_path: Path) -> None:
    path = tmp_path / "gnd.json"
    path.write_text(json.dumps(given))
    with pytest.raises(JudgedError):
        judged.relevance.revisited(revisited_from(path))
    with pytest.raises(JudgedError):
        judged.relevance.revisited(given)


@pytest.mark.parametrize("number", [10**26, -1, 99])
def test_rows_of_the_revisited_benchmarks_that_are_not_there(number: int) -> None:
    lists = [{"easy": [number], "hard": [], "junk": []}] * 4
    relevant, exclude = judged.relevance.revisited(lists, "easy")
    with pytest.raises(InputError, match=r"item .* does not exist"):
        judged.Embeddings(VECTORS, VECTORS, exclude=exclude).evaluate(relevant, "RR")


def test_labels_of_odd_types(tmp_path: Path) -> None:
    for odd in (
        None,
        5,
        "abcd",
        [None] * 4,
        [1.5, 2, 3, 4],
        [[1]] * 4,
        [float("nan")] * 4,
        {"a": 1},
    ):
        with pytest.raises(JudgedError):
            judged.Embeddings(VECTORS, VECTORS).evaluate(
                judged.relevance.same_label(odd, [0, 1, 0, 1]), "RR"
            )
    for odd in (None, 5, ["ab"] * 4, [None] * 4, [[[]]] * 4, [5] * 4, [{}, {}, {}, 3]):
        with pytest.raises(JudgedError):
            judged.Embeddings(VECTORS, VECTORS).evaluate(
                judged.relevance.shared_label(odd, [["a"]] * 4), "RR"
            )
    path = tmp_path / "l.npy"
    np.save(path, np.array([b"a", b"\xff"]))
    with pytest.raises(InputError, match="UTF-8"):
        labels_from(path)
    empty = tmp_path / "empty.csv"
    empty.write_bytes(b"\n")
    with pytest.raises(InputError):
        labels_lists_from(empty)
    os.remove(empty)
