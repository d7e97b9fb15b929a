"""Vectors from files of every format, and what is wrong with files that cannot be read."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import struct
import sys
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest

from judged import Embeddings
from judged.errors import InputError, JudgedError, MissingExtraError
from judged.inputs.formats import promised
from judged.inputs.vectors import as_vectors, read_vectors
from judged.inputs.vectors.formats import FORMATS
from judged.inputs.vectors.vectors import IN_MEMORY, Lazy, Vectors
from judged.options import VectorFileFormat
from judged.text import Warned
from support.errors import error_of
from support.loops import for_each
from support.vector_files import (
    OBJECTS,
    PICKLE,
    PNG,
    ROWS,
    binary,
    npy,
    npz,
    parquet,
    safetensors,
    vecs,
)

WHOLE = np.array([[1, 2, 3], [0, 5, 255]], np.uint8)


def values(vectors: Vectors) -> list[list[float]]:
    return vectors.block(0, len(vectors)).tolist()


def is_mapped(array: Any) -> bool:
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array is not None


def message(path: str, **options: Any) -> str:
    with pytest.raises(InputError) as raised:
        read_vectors(path, **options)
    return str(raised.value)


def test_every_format_has_a_reader() -> None:
    assert all(callable(resolve_name(row.reader)) for row in FORMATS.values())
    assert get_args(VectorFileFormat) == tuple(FORMATS)


FLOATS = {
    "v.npy": npy(ROWS),
    "v.npz": npz(vectors=ROWS),
    "v.fvecs": vecs(ROWS),
    "v.fbin": binary(ROWS),
    "v.safetensors": safetensors(v=("F32", ROWS)),
    "v.parquet": parquet(v=ROWS.tolist()),
    "v.csv": "1,-2.5,3\n0,0.15625,7\n",
    "v.tsv": "1\t-2.5\t3\n0\t0.15625\t7\n",
    "v.txt": "1 -2.5 3\n0 0.15625 7\n",
    "v.ndjson": '{"vector": [1, -2.5, 3]}\n{"vector": [0, 0.15625, 7]}\n',
}
MAPPED = ("v.npy", "v.fvecs", "v.fbin", "v.safetensors")
UNSIGNED = ("v.fvecs", "v.fbin")
"""Nothing in these files says what they are."""


@pytest.mark.parametrize("name", FLOATS)
def test_formats(write: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write(name, FLOATS[name])
    for size, mapped in ((IN_MEMORY, False), (0, name in MAPPED)):
        monkeypatch.setattr("judged.inputs.vectors.vectors.IN_MEMORY", size)
        vectors = as_vectors(name)
        assert values(vectors) == ROWS.tolist()
        assert (vectors.ids, vectors.source, vectors.notes) == (None, name, ())
        assert is_mapped(vectors.values) == mapped == (vectors.origin is not None)


@pytest.mark.parametrize("name", MAPPED)
def test_a_file_that_is_written_to_while_it_is_read(
    write: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(name, FLOATS[name])
    small = as_vectors(name)  # read at once
    monkeypatch.setattr("judged.inputs.vectors.vectors.IN_MEMORY", 0)
    replaced, mapped = as_vectors(name), as_vectors(name)
    both, rows = Embeddings(mapped, mapped), np.array([0])
    relevance = {"0": {"1": 1}}
    expected = both.evaluate(relevance, "RR").value()
    other = write("other", FLOATS[name])
    other.replace(path)  # the file under the old name is another one, and the old one stays
    assert values(replaced) == ROWS.tolist()
    assert both.evaluate(relevance, "RR").value() == expected
    mapped = as_vectors(name)
    both = Embeddings(mapped, mapped)
    path.write_bytes(path.read_bytes()[:-4])  # cut, as when it is being written
    words = (
        f"{name}: the file was changed while it was read, so its numbers may come from both "
        "versions. Wait until it is written, and start again."
    )
    for use in (
        lambda: mapped.block(0, 2),
        lambda: mapped.rows(rows),
        lambda: both.evaluate(relevance, "RR"),
        lambda: both.top_k(1),
    ):
        assert error_of(use) == words
    assert values(small) == ROWS.tolist()


def test_a_file_that_changes_after_the_last_block_was_read(
    write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judged.inputs.vectors.vectors.IN_MEMORY", 0)
    path = write("v.npy", npy(ROWS))
    mapped = as_vectors("v.npy")
    both = Embeddings(mapped, mapped)

    def touch(done: int) -> None:
        os.utime(path, ns=(1, 1))

    with pytest.raises(InputError, match="changed while it was read"):
        both.top_k(1, progress=touch)


@pytest.mark.parametrize("name", FLOATS)
def test_formats_by_content_or_option(write: Any, name: str) -> None:
    path = write("nameless", FLOATS[name])
    format = promised(Path(name), FORMATS)
    assert values(read_vectors(path, format=format)) == ROWS.tolist()
    if name not in UNSIGNED:
        assert values(read_vectors(path)) == ROWS.tolist()


@pytest.mark.parametrize(
    ("name", "content", "dtype"),
    [
        ("v.bvecs", vecs(WHOLE), "u1"),
        ("v.u8bin", binary(WHOLE), "u1"),
        ("v.ivecs", vecs(WHOLE.astype("<i4")), "i4"),
        ("v.i8bin", binary(WHOLE.astype("i1")), "i1"),
        ("v.safetensors", safetensors(v=("U8", WHOLE)), "u1"),
        ("v.safetensors", safetensors(v=("I8", WHOLE.astype("i1"))), "i1"),
        ("v.npy", npy(WHOLE.astype(">f8")), ">f8"),
        ("v.npy", npy(WHOLE.astype("f2")), "f2"),
    ],
)
def test_types_stay_as_they_are(write: Any, name: str, content: bytes, dtype: str) -> None:
    write(name, content)
    vectors = read_vectors(name)
    assert vectors.values.dtype == np.dtype(dtype)
    assert values(vectors) == WHOLE.astype("i1" if dtype == "i1" else "i4").tolist()


def test_bfloat16_in_safetensors(write: Any) -> None:
    # The upper halves of float32: 1 = 3F80, -2.5 = C020, 3 = 4040, 0.15625 = 3E20, 7 = 40E0.
    bits = np.array([[0x3F80, 0xC020, 0x4040], [0, 0x3E20, 0x40E0]], "<u2")
    write("v.safetensors", safetensors(metadata={"format": "pt"}, v=("BF16", bits)))
    vectors = as_vectors("v.safetensors", dims=2)
    assert isinstance(vectors.values, Lazy)
    assert values(vectors) == ROWS[:, :2].tolist()


def test_safetensors_as_the_library_writes_it(has: Any, folder: Path) -> None:
    has("safetensors")
    from safetensors.numpy import save_file

    save_file({"v": ROWS, "b": np.zeros(3)}, "v.safetensors")
    assert values(read_vectors("v.safetensors")) == ROWS.tolist()


@pytest.mark.parametrize(
    ("name", "content", "ids"),
    [
        ("v.npz", npz(embeddings=ROWS, ids=np.array(["a", "ü"])), ("a", "ü")),
        ("v.npz", npz(x=ROWS, names=np.array([b"a", b"b"])), ("a", "b")),
        (
            "v.npz",
            npz(arr_0=ROWS, other=ROWS.T, ids=np.array([2**63, 7], np.uint64)),
            ("9223372036854775808", "7"),
        ),
        ("v.safetensors", safetensors(v=("F32", ROWS), ids=("I64", np.array([5, 6]))), ("5", "6")),
        ("v.parquet", parquet(docno=["a", "b"], text=["x", "y"], v=ROWS.tolist()), ("a", "b")),
        (
            "v.parquet",
            parquet(query=["text", "text"], Id=[2**60 + 1, 4], embedding=ROWS.tolist()),
            ("1152921504606846977", "4"),
        ),
        ("v.parquet", parquet(a=ROWS[:, 0], b=ROWS[:, 1], id=["a", "b"], c=ROWS[:, 2]), ("a", "b")),
        (
            "v.parquet",
            parquet(id=["a", "b"], v=pl.Series(ROWS.tolist(), dtype=pl.Array(pl.Float32, 3))),
            ("a", "b"),
        ),
        ("v.csv", "id,x,y,z\n007,1,-2.5,3\n1e5,0,0.15625,7\n", ("007", "1e5")),
        ("v.csv", '"a, b",1,-2.5,3\nc,0,0.15625,7', ("a, b", "c")),
        ("v.csv", ",0,1,2\n0,1,-2.5,3\n1,0,0.15625,7\n", ("0", "1")),
        ("v.csv", "id,0,1,2\r\na,1,-2.5,3\r\nb,0,0.15625,7\r\n", ("a", "b")),
        ("v.csv", "a, 1, -2.5, 3\nb, 0, 0.15625, 7\n\n\n", ("a", "b")),
        ("v.tsv", 'New York\t1\t-2.5\t3\n"\t0\t0.15625\t7\n', ("New York", '"')),
        ("v.txt", ", 1 -2.5 3\n# 0 0.15625 7\n", (",", "#")),
        ("v.txt", "  a   1 -2.5\t3 \n\tb 0   0.15625 7", ("a", "b")),
        ("v.vec", "2 3\nthe 1 -2.5 3\n2 0 0.15625 7\n", ("the", "2")),
        ("v.txt", "# made by np.savetxt\n\n1 -2.5 3\n0 0.15625 7\n", None),
        ("v.csv", "x,y,z\n1,-2.5,3\n0,0.15625,7\n", None),
        ("v.csv", "1,-2.5,3\r0,0.15625,7\r", None),
        (
            "v.jsonl",
            '{"_id": "a", "embedding": [1, -2.5, 3]}\n\n{"_id": "b", "embedding": [0, 0.15625, 7]}',
            ("a", "b"),
        ),
        (
            "v.jsonl",
            '{"id": 1, "vector": [1, -2.5, 3]}\n{"id": "b", "vector": [0, 0.15625, 7]}',
            ("1", "b"),
        ),
        (
            "v.jsonl.gz",
            gzip.compress(b'{"id": "a", "v": [1, -2.5, 3]}\n{"id": "b", "v": [0, 0.15625, 7]}'),
            ("a", "b"),
        ),
        ("v.csv.gz", gzip.compress(b"a,1,-2.5,3\nb,0,0.15625,7\n"), ("a", "b")),
    ],
)
def test_ids(write: Any, name: str, content: str | bytes, ids: tuple[str, ...] | None) -> None:
    write(name, content)
    vectors = read_vectors(name)
    assert values(vectors) == ROWS.tolist()
    assert vectors.ids == ids


@pytest.mark.parametrize(
    ("name", "content", "note"),
    [
        (
            "v.csv",
            "0,1,2\n1,-2.5,3\n0,0.15625,7\n",
            'v.csv: the first line, "0,1,2", was taken for the names of columns.',
        ),
        (
            "v.csv",
            "id,label,x,y,z\na,5,1,-2.5,3\nb,6,0,0.15625,7\n",
            'v.csv: "label" were not taken for dimensions.',
        ),
        (
            "v.parquet",
            parquet(label=[1, 2], x=ROWS[:, 0], y=ROWS[:, 1], z=ROWS[:, 2], w=["", ""]),
            'v.parquet: "label", "w" were not taken for dimensions.',
        ),
    ],
)
def test_what_was_assumed_is_noted(write: Any, name: str, content: str | bytes, note: str) -> None:
    write(name, content)
    vectors = read_vectors(name)
    assert values(vectors) == ROWS.tolist()
    assert vectors.notes == (note,)


def test_a_first_column_of_whole_numbers(write: Any) -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(40, 6))
    sparse = np.where(rng.random((40, 6)) < 0.7, 0, rows)
    sparse[:, 3] = 0
    codes = rng.integers(0, 256, (40, 6))
    wide = rng.permutation(10**6)[:40] + 2**40
    header = [f"x{at}" for at in range(6)]
    wrong = []
    for name, values, first, names, are_ids in (
        ("counted from 0", rows, range(40), None, True),
        ("counted from 1", rows, range(1, 41), None, True),
        ("any numbers", rows, wide, None, True),
        ("few rows", rows[:4], [17, 5, 99, 3], None, True),
        ("one row of many", rng.normal(size=(1, 32)), [7], None, True),
        ("mostly zeros", sparse, wide, None, True),
        ("named as no dimension", rows, range(40), "row", True),
        ("Unnamed: 0", rows, range(40), "Unnamed: 0", True),
        ("Unnamed: 0 of codes", codes, wide, "Unnamed: 0", True),
        ("no name of pandas", rows, wide, "", True),
        ("repeated", rows, rng.integers(0, 9, 40), None, False),
        ("codes", codes, rng.integers(0, 256, 40), None, False),
        ("fractions", rows, rng.normal(size=40), None, False),
        ("named as a dimension", rows, range(40), "x9", False),
        ("a few rows and dimensions", rows[:2, :2], [1, 0], None, False),
        ("whole floats", rows, [f"{each}.0" for each in range(40)], None, False),
    ):
        for mark, file in ((",", "v.csv"), ("\t", "v.tsv"), (" ", "v.txt")):
            if names is not None and mark == " ":
                continue
            lines = [] if names is None else [mark.join([names, *header])]
            lines += [
                mark.join([str(one), *map(repr, row)])
                for one, row in zip(first, values.tolist(), strict=True)
            ]
            write(file, "\n".join(lines) + "\n")
            found = read_vectors(file)
            ids = tuple(map(str, first)) if are_ids else None
            expected = values if are_ids else np.column_stack([np.array(first, float), values])
            if found.ids != ids or not np.allclose(found.values, expected):
                wrong.append((name, mark, found.ids, found.dims))
    assert not wrong


def test_a_first_column_that_may_be_ids_is_warned_of(write: Any) -> None:
    write("v.csv", "\n".join(f"{at},{at * 0.3}" for at in range(12)))
    (note,) = read_vectors("v.csv").notes
    assert isinstance(note, Warned)
    assert note == (
        "v.csv: the first column, of whole numbers, was taken for ids, so it is no dimension of "
        'the vectors. If it is one, begin the file with names of columns, as "x0,x1,x2,…".'
    )
    for text in ("1,0.5\n2,0.5\n3,0.1\n", "7,0.5\n3,0.5\n5,0.1\n", "1,2\n2,7\n3,2\n"):
        write("v.csv", text)
        (note,) = read_vectors("v.csv").notes
        assert isinstance(note, Warned)
        assert note == (
            "v.csv: the first column, of whole numbers, was taken for a dimension. If it holds "
            'ids, begin the file with names of columns, as "id,x1,x2,…".'
        )


def test_whole_numbers_before_whole_numbers_are_ids_or_refused(write: Any) -> None:
    rng = np.random.default_rng(2)
    codes, bits = rng.integers(0, 256, (200, 16)), rng.integers(0, 2, (200, 16))
    features = np.column_stack([rng.normal(size=(200, 3)), bits])
    ranks = np.column_stack([rng.permutation(200) for _ in range(5)])
    ids, wide = rng.permutation(200), rng.permutation(1000)
    wrong = []
    for name, first, others, expected in (
        ("shuffled from 0", ids, codes, "refused"),
        ("shuffled beside bits", ids + 1, bits, "refused"),
        ("gaps beside codes", ids * 5, codes, "refused"),
        ("gaps beside bits", ids * 5, bits, "refused"),
        ("counted beside codes", np.arange(200), codes, "refused"),
        ("gaps beside a few codes", wide[:20] + 300, codes[:20], "refused"),
        ("a wide dimension or ids", wide[:200], features, "refused"),
        ("one of the ranks", ids, ranks, "dimension"),
        ("codes", codes[:, 0], codes, "dimension"),
        ("bits", bits[:, 0], bits, "dimension"),
        ("few codes", codes[:9, 0], codes[:9], "dimension"),
    ):
        for separator, file in ((",", "v.csv"), ("\t", "v.tsv"), (" ", "v.txt")):
            rows = zip(first.tolist(), others.tolist(), strict=True)
            lines = [separator.join(map(repr, (one, *row))) for one, row in rows]
            names = [f"x{at}" for at in range(others.shape[1])]
            outcomes = []
            # The advice of the error is followed: names of columns decide.
            for header in ([], ["x", *names], ["id", *names]):
                write(file, "\n".join([separator.join(header)] * bool(header) + lines) + "\n")
                try:
                    outcomes.append("dimension" if read_vectors(file).ids is None else "ids")
                except InputError as error:
                    outcomes.append("refused" if "ids or a dimension" in str(error) else "error")
            if outcomes[:2] != [expected, "dimension"]:
                wrong.append((name, file, outcomes))
            if expected != "dimension" and outcomes[2] != "ids":
                wrong.append((name, file, outcomes))
    assert not wrong


def test_text_is_single_precision_however_it_is_read(write: Any) -> None:
    """A cell that polars does not read, such as one after a space, changes no number."""
    rng = np.random.default_rng(4)
    # Between two neighbours in single precision, where rounding twice would go wrong.
    halfway = ["1.00000005960464477539062500001", "16777217.0000000001"]
    cells = [*map(repr, rng.normal(size=500).tolist()), *halfway]
    for name, plain, odd in (
        ("v.csv", ["a", *cells], ["a", *(f" {cell}" for cell in cells)]),
        ("v.ndjson", ["a", *cells[:-2]], ["1.5", *cells[:-2]]),
    ):
        read = []
        for key, *numbers in (plain, odd):
            row = ",".join(numbers)
            write(
                name, f"{key},{row}\n" if name == "v.csv" else f'{{"id": "{key}", "v": [{row}]}}\n'
            )
            read.append(read_vectors(name).values)
        assert [values.dtype for values in read] == [np.float32, np.float32]
        assert read[0].tolist() == read[1].tolist()


def test_ids_under_an_unknown_name_are_not_joined_by_row(write: Any) -> None:
    rng = np.random.default_rng(3)
    rows, ids = rng.normal(size=(20, 4)), rng.permutation(20)
    ids[ids == 0] = 20  # of which row numbers are no permutation
    by_id = {str(one): {str(one): 1} for one in ids}
    names = [f"x{at}" for at in range(4)]
    columns = dict(zip(names, rows.T.tolist(), strict=True))
    wrong = []
    for name, are_ids in (("index", True), ("track", False), ("title", False)):
        lines = [
            ",".join(map(repr, [one, *row]))
            for one, row in zip(ids.tolist(), rows.tolist(), strict=True)
        ]
        write("v.csv", "\n".join([",".join([name, *names]), *lines]))
        write("list.parquet", parquet(**{name: ids.tolist(), "vector": rows.tolist()}))
        write("columns.parquet", parquet(**{name: ids.tolist(), **columns}))
        objects = [
            json.dumps({name: one, "vector": row})
            for one, row in zip(ids.tolist(), rows.tolist(), strict=True)
        ]
        write("v.ndjson", "\n".join(objects))
        for file in ("v.csv", "list.parquet", "columns.parquet", "v.ndjson"):
            both = Embeddings(file, file)
            if (both.items.ids is not None) != are_ids or both.items.dims != 4:
                wrong.append((name, file, "ids"))
            try:
                if both.rank(by_id).hit_rank.tolist() != [1] * 20:
                    wrong.append((name, file, "rank"))
            except InputError as error:
                if are_ids or f"the id in column {name!r}" not in str(error):
                    wrong.append((name, file, str(error)))
            else:
                if not are_ids:
                    wrong.append((name, file, "no error"))
    assert not wrong


def test_an_index_of_pandas_that_repeats_is_no_id(write: Any) -> None:
    write("v.csv", "index,a,b\n0,0.5,1\n1,1.5,1\n0,2.5,3\n")
    write("v.parquet", parquet(index=[0, 1, 0], a=[0.5, 1.5, 2.5], b=[1.5, 1.5, 3.5]))
    for file in ("v.csv", "v.parquet"):
        found = read_vectors(file)
        assert (found.ids, found.dims) == (None, 2)


def test_an_index_of_pandas_is_no_dimension(write: Any) -> None:
    for name in ("Unnamed: 0", "__index_level_0__", "index"):
        write("v.parquet", parquet(**{name: [5, 7], "a": [0.5, 1.5], "b": [2.5, 3.5]}))
        found = read_vectors("v.parquet")
        assert (found.ids, found.dims) == (("5", "7"), 2)
        write("v.parquet", parquet(**{name: [5, 7], "id": ["x", "y"], "a": [0.5, 1.5]}))
        found = read_vectors("v.parquet")
        assert (found.ids, found.dims) == (("x", "y"), 1)
    write("v.csv", "Unnamed: 0,id,a\n0,x,0.5\n1,y,1.5\n")
    found = read_vectors("v.csv")
    assert (found.ids, found.dims) == (("x", "y"), 1)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"1,-2.5,3\n0,0.15625,7\n")))
    vectors = read_vectors("-")
    assert values(vectors) == ROWS.tolist()
    assert vectors.source == "standard input"


SEVERAL = {
    "v.npz": npz(items=ROWS, queries=ROWS[:1], ids=np.array(["a", "b"])),
    "v.safetensors": safetensors(
        items=("F32", ROWS), queries=("F32", ROWS[:1]), ids=("I64", np.array([5, 6]))
    ),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_one_of_several_arrays(write: Any, name: str) -> None:
    path = write(name, SEVERAL[name])
    assert message(name) == (
        f"{name}: has 2 matrices, items, queries; choose one with key='items', or as "
        f'"{name}::items".'
    )
    assert (
        message(f"{name}::item")
        == f"{name}: has no array 'item'; did you mean 'items'? It has items, queries, ids."
    )
    items = read_vectors(path, key="items")
    assert values(items) == ROWS.tolist()
    assert items.ids is not None
    queries = as_vectors(f"{name}::queries")
    assert values(queries) == ROWS[:1].tolist()
    assert queries.ids is None
    assert queries.notes == (
        f"{name}::queries: ids has another length than the vectors, so it was not used as their "
        f"ids.",
    )
    assert message(f"{name}::ids").startswith(f"{name}::ids: ")


def test_a_column_by_key(write: Any) -> None:
    write("v.parquet", parquet(a=ROWS.tolist(), b=ROWS[:, :2].tolist()))
    assert values(read_vectors("v.parquet::b")) == ROWS[:, :2].tolist()
    write("v.ndjson", '{"a": [1, 2], "b": [3]}\n')
    assert values(read_vectors("v.ndjson", key="b")) == [[3]]


@pytest.mark.parametrize("options", [{}, {"chunks": (1, 2), "compression": "gzip"}])
def test_hdf5(has: Any, folder: Path, options: Any) -> None:
    has("h5py")
    import h5py

    with h5py.File("v.h5", "w") as file:
        file.create_dataset("vectors", data=ROWS, **options)
        file.create_dataset("deep/down", data=ROWS[:1], **options)
        file["ids"] = ["a", "ü"]
    vectors = as_vectors("v.h5", dims=2)
    assert isinstance(vectors.values, Lazy)
    assert values(vectors) == ROWS[:, :2].tolist()
    assert vectors.block(1, 9).tolist() == ROWS[1:, :2].tolist()
    assert vectors.ids == ("a", "ü")
    below = read_vectors("v.h5::deep/down")
    assert (values(below), below.ids) == (ROWS[:1].tolist(), None)
    assert (
        message("v.h5::deep")
        == "v.h5: has no array 'deep'; did you mean 'deep/down'? It has deep/down, ids, vectors."
    )


def test_damaged_hdf5(has: Any, write: Any) -> None:
    has("h5py")
    write("v.h5", b"\x89HDF\r\n\x1a\n and no more of it")
    assert message("v.h5").startswith("v.h5: not a .h5 file that can be read (")


def test_hdf5_without_h5py(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    write("v.h5", b"\x89HDF\r\n\x1a\n")
    with pytest.raises(MissingExtraError) as raised:
        read_vectors("v.h5")
    assert str(raised.value) == 'v.h5: needs h5py: pip install "judged[vectors]".'


@for_each(
    ("name", "content", "expected"),
    [
        ("v.npy", b"", "v.npy: the file is empty."),
        ("v.npy", PNG, "v.npy: this is a PNG image, not a .npy file."),
        ("v", PNG, "v: this is a PNG image, not vectors."),
        ("v.npy", "1 2\n", "v.npy: this is text, not a .npy file."),
        ("v.fbin", "1 2 3 4 5 6\n", "v.fbin: this is text, not a .fbin file."),
        ("v.h5", b"\x00" * 100, "v.h5: this is a binary file, not a .h5 file."),
        (
            "v.npy.gz",
            gzip.compress(npy(ROWS)),
            "v.npy.gz: is compressed; decompress it first, a .npy file is read in place.",
        ),
        ("v.npy", OBJECTS, f"v.npy: the vectors {PICKLE}"),
        (
            "v.npz",
            npz(vectors=ROWS)[:40],
            "v.npz: not a .npz file that can be read (File is not a zip file).",
        ),
        (
            "v.npy",
            npy(ROWS)[:-1],
            "v.npy: not a .npy file that can be read (mmap length is greater than file size).",
        ),
        ("v.npy", npy(ROWS[:0]), "v.npy: there are no vectors in it."),
        ("v.npy", npy(np.array([["a"]])), "v.npy: vectors must be real numbers; got <U1."),
        ("v.npz", npz(), "v.npz: has no matrix of numbers, one row per vector; it has no arrays."),
        (
            "v.npz",
            npz(a=ROWS[0], b=np.array(["x"])),
            "v.npz: has no matrix of numbers, one row per vector; it has a, b.",
        ),
        (
            "v.npz",
            npz(vectors=ROWS, ids=np.array([0.5, 1])),
            "v.npz: ids must be texts or whole numbers; got float64.",
        ),
        (
            "v.fvecs",
            vecs(ROWS)[:-3],
            "v.fvecs: not a .fvecs file that can be read (cut off in vector 1 (from 0), of 3 "
            "dimensions).",
        ),
        (
            "v.fvecs",
            vecs(ROWS) + vecs(ROWS[:, :2]),
            "v.fvecs: not a .fvecs file that can be read (vector 2 (from 0) has 2 dimensions, not "
            "3).",
        ),
        (
            "v.fvecs",
            b"\x01\x00",
            "v.fvecs: not a .fvecs file that can be read (it has 2 bytes and 0 dimensions).",
        ),
        (
            "v.fbin",
            binary(ROWS)[:-4],
            "v.fbin: not a .fbin file that can be read (2 vectors of 3 dimensions take 32 bytes; "
            "it has 28).",
        ),
        (
            "v.fbin",
            b"\x01\x00\x00\x00",
            "v.fbin: not a .fbin file that can be read (it has 4 bytes).",
        ),
        (
            "v.safetensors",
            safetensors(v=("F8_E4M3", WHOLE)),
            "v.safetensors: tensor v is F8_E4M3; known types are F64, F32, F16, BF16, BOOL, I8, "
            "I16, I32, I64, U8, U16, U32, U64.",
        ),
        (
            "v.safetensors",
            safetensors(v=("F32", ROWS))[:-1],
            "v.safetensors: not a .safetensors file that can be read (incomplete metadata, file "
            "not fully covered).",
        ),
        (
            "v.safetensors",
            struct.pack("<Q", 1000),
            "v.safetensors: not a .safetensors file that can be read (invalid header length).",
        ),
        (
            "v.parquet",
            parquet(v=[[1.0, 2.0], [3.0]]),
            "v.parquet, row 2: the vector has 1 dimensions, but the first has 2.",
        ),
        ("v.parquet", parquet(v=[[1.0, 2.0], None]), "v.parquet, row 2: the vector is missing."),
        (
            "v.parquet",
            parquet(v=[[1.0, 2.0], [3.0, None]]),
            "v.parquet, row 2: a number of the vector is missing (null).",
        ),
        ("v.parquet", parquet(x=[1.0, None]), 'v.parquet, row 2: column "x" is missing.'),
        (
            "v.parquet",
            parquet(id=["a", None], v=[[1.0], [2.0]]),
            "v.parquet, row 2: the id is missing.",
        ),
        (
            "v.parquet",
            parquet(id=["a"], text=["b"]),
            "v.parquet: has no matrix of numbers, one row per vector; it has id, text.",
        ),
        ("v.csv", "1,2\n3,x\n", 'v.csv, line 2: not a number: "x".'),
        ("v.csv", "1,x,3\n", 'v.csv, line 1: not a number: "x".'),
        ("v.csv", "1,2\n3\n", 'v.csv, line 2: expected 2 fields, found 1: "3"'),
        ("v.csv", "1,2\n\n3,4\n", "v.csv, line 2: a blank line between vectors; remove it."),
        ("v.csv", "id,x\na,1\n,2\n", "v.csv, line 3: the id is missing."),
        (
            "v.csv",
            "id,text\na,b\n",
            'v.csv: no column holds numbers; the columns are "id", "text".',
        ),
        ("v.csv", "id,x\n", "v.csv: there are no vectors in it."),
        ("v.txt", "# nothing\n\n", "v.txt: there are no vectors in it."),
        ("v.txt", "1 2\n3 1_0\n", 'v.txt, line 2: not a number: "1_0".'),
        (
            "v.txt",
            b"a 1\n\xff 2\n",
            'v.txt, line 2: not UTF-8 text: "\\xff 2". Convert the file to UTF-8 first.',
        ),
        ("v.vec", "3 2\na 1 2\nb 1 2\n", "v.vec: the first line promises 3 vectors, there are 2."),
        ("v.ndjson", '{"v": [1]}\n[2]\n', 'v.ndjson, line 2: expected a JSON object, found "[2]".'),
        (
            "v.ndjson",
            '{"v": [1]}\n{"v": [2}\n',
            'v.ndjson, line 2: not valid JSON (Expecting \',\' delimiter, column 9): "{"v": [2}".',
        ),
        (
            "v.ndjson",
            '{"v": [1]}\n{"w": [2]}\n',
            'v.ndjson, line 2: the vector is missing (no list "v").',
        ),
        ("v.ndjson", '{"v": [1]}\n\n{"v": ["2"]}\n', 'v.ndjson, line 3: not a number: ""2"".'),
        ("v.ndjson", '{"v": [1]}\n{"v": [null]}\n', 'v.ndjson, line 2: not a number: "null".'),
        (
            "v.ndjson",
            '{"v": [1]}\n{"v": [1, 2]}\n',
            "v.ndjson, line 2: 2 numbers, but the first vector has 1.",
        ),
        (
            "v.ndjson",
            '{"id": "a", "v": [1]}\n{"id": 1.5, "v": [1]}\n',
            'v.ndjson, line 2: the id is "1.5", but ids must be strings or integers.',
        ),
    ],
)
def test_bad_files(write: Any, name: str, content: str | bytes, expected: str) -> None:
    write(name, content)
    assert message(name) == expected


def test_bad_paths_and_options(write: Any) -> None:
    assert message("none.npy") == "none.npy: no such file."
    assert message("none.npz::a") == "none.npz: no such file."
    assert message(".") == ".: is a directory; give a file."
    write("v.csv", FLOATS["v.csv"])
    assert message("v.csv::x") == "v.csv: a text file holds one table; there is no 'x' to choose."
    for name in ("v.npy", "v.fvecs", "v.fbin"):
        write(name, FLOATS[name])
        assert (
            message(f"{name}::x")
            == f"{name}: a {name[1:]} file holds one array; there is no 'x' to choose."
        )
    assert message("v.csv", format="fvec") == (
        f"Unknown format 'fvec' of vectors; did you mean 'fvecs'? Formats: {', '.join(FORMATS)}."
    )
    assert message("v.csv", format="parquet") == "v.csv: this is text, not a .parquet file."
    write("v.npy", FLOATS["v.npy"])
    assert (
        message("v.npy", format="parquet") == "v.npy: this is a NumPy array, not a .parquet file."
    )
    write("v.parquet", FLOATS["v.parquet"])
    assert (
        message("v.parquet", format="npy") == "v.parquet: this is a Parquet file, not a .npy file."
    )


@pytest.mark.parametrize("name", [*FLOATS, *SEVERAL])
def test_no_cut_and_no_flipped_byte_gives_anything_but_our_own_errors(
    write: Any, name: str
) -> None:
    content = {**FLOATS, **SEVERAL}[name]
    whole = content.encode() if isinstance(content, str) else content
    tried, read = 0, 0
    for place in range(0, len(whole), max(1, len(whole) // 60)):
        for damaged in (
            whole[:place],
            whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :],
        ):
            path = write(name, damaged)
            tried += 1
            with contextlib.suppress(JudgedError):
                values(read_vectors(path))
                read += 1
    assert read < tried  # some of it was refused: at least the file that is empty
