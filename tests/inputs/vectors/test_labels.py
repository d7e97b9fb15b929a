"""Labels from files of every format, and what is wrong with files that cannot be read."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from judged.inputs.vectors.labels import labels_from, labels_lists_from, revisited_from
from support.errors import error_of
from support.vector_files import OBJECTS, PICKLE, PNG, ROWS, npy, npz, parquet, vecs


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("l.txt", "cat\n 007 \r\nNew York\n\n", ["cat", "007", "New York"]),
        ("l", "9007199254740993\n9007199254740992\n", ["9007199254740993", "9007199254740992"]),
        ("l.csv", 'id,label\na,007\nb,"x, y"\n', ["007", "x, y"]),
        ("l.csv", "Label\na\nb\n", ["a", "b"]),
        ("l.csv", "a\nb\n", ["a", "b"]),
        ("l.csv", 'class\nNew York\n"a, b"\n', ["New York", "a, b"]),
        ("l.csv", "New York\nSan Jose\n", ["New York", "San Jose"]),
        ("l.tsv", "class\tid\na b\t1\n", ["a b"]),
        ("l.csv", "# made by hand\nid,label\na,1\nb,2\n", ["1", "2"]),
        ("l.csv::second", "first,second\n1,2\n", ["2"]),
        ("l.npy", npy(np.array([2**63 - 1, 2**63 - 2])), [2**63 - 1, 2**63 - 2]),
        ("l.npy", npy(np.array([["a"], ["b"]])), ["a", "b"]),
        ("l.npy", npy(np.array(["ü".encode()])), ["ü"]),
        ("l.npz", npz(images=ROWS, labels=np.array([1, 2])), [1, 2]),
        ("l.parquet", parquet(id=["a", "b"], label=[2**60 + 1, 2]), [2**60 + 1, 2]),
        ("l.parquet", parquet(label=pl.Series(["a", "b"], dtype=pl.Categorical)), ["a", "b"]),
    ],
)
def test_labels(write: Any, name: str, content: str | bytes, expected: list[Any]) -> None:
    write(name.partition("::")[0], content)
    assert list(labels_from(name)) == expected


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("l.txt", b"", "l.txt: the file is empty."),
        ("l.txt", "\n\n", "l.txt: the file has no labels."),
        ("l.txt", "a\n\nb\n", "l.txt, line 2: the label is missing."),
        (
            "l.txt",
            b"a\n\xff\n",
            'l.txt, line 2: not UTF-8 text: "\\xff". Convert the file to UTF-8 first.',
        ),
        ("l.txt", PNG, "l.txt: this is a PNG image, not labels."),
        ("l.csv", "id,label\na,1\nb,\n", "l.csv, line 3: the label is missing."),
        ("l.csv", "labels\nred,blue\n", 'l.csv, line 2: expected 1 field, found 2: "red,blue".'),
        ("l.csv", "id,label\na\n", 'l.csv, line 2: expected 2 fields, found 1: "a".'),
        (
            "l.csv",
            "a,b\n1,2\n",
            "l.csv: has a, b, none with a name known for labels "
            "(label, labels, class, category, group, target, y); choose one as l.csv::NAME.",
        ),
        (
            "l.npy",
            npy(ROWS),
            "l.npy: one label per vector is needed; got an array of shape (2, 3).",
        ),
        ("l.npy", OBJECTS, f"l.npy: the labels {PICKLE}"),
        ("l.parquet", parquet(label=["a", None]), "l.parquet, row 2: the label is missing."),
        (
            "l.parquet",
            parquet(label=[0.5]),
            'l.parquet: labels must be texts or whole numbers; column "label" is Float64.',
        ),
        (
            "l.fvecs",
            vecs(ROWS),
            "l.fvecs: labels are not read from fvecs files; from npy, npz, parquet, csv, tsv, "
            "text.",
        ),
    ],
)
def test_bad_labels(write: Any, name: str, content: str | bytes, expected: str) -> None:
    write(name, content)
    assert error_of(labels_from, name) == expected


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("l.txt", "a b\n\nc\n", [["a", "b"], [], ["c"]]),
        ("l.txt", "New York, b\nc\n", [["New York", "b"], ["c"]]),
        ("l.txt", "a, b; c\n;d\n", [["a, b", "c"], ["d"]]),
        ("l.csv", "a,b\nc\n", [["a", "b"], ["c"]]),
        ("l.csv", "id,labels\n1,a;b\n2,\n", [["a", "b"], []]),
        ("l.parquet", parquet(id=[1, 2], labels=[["a", "b"], []]), [["a", "b"], []]),
        ("l.npy", npy(np.array([[1, 0, 1], [0, 0, 0]])), [[1, 0, 1], [0, 0, 0]]),
        ("l.csv", "1,0,1\n0,0,0\n", [["1", "0", "1"], ["0", "0", "0"]]),
        ("l.csv", "cat,dog\n1,0\n1,1\n", [["cat"], ["cat", "dog"]]),
        ("l.csv", "id,cat,dog\na,1,0\nb,True,0.0\n", [["cat"], ["cat"]]),
        ("l.csv", ",0,1,2\n0,1,0,0\n1,0,1,1\n", [["0"], ["1", "2"]]),
        ("l.txt", "a 1 0 0\nb 0 1 1\n", [["0"], ["1", "2"]]),
        ("l.txt", "3 1 0\n3 0 1\n", [["3", "1", "0"], ["3", "0", "1"]]),
        ("l.parquet", parquet(cat=[True, False], dog=[1, 1]), [["cat", "dog"], ["dog"]]),
        ("l.csv", "id,labels\n1,\"['a', 'b']\"\n2,[]\n", [["a", "b"], []]),
    ],
)
def test_several_labels(
    write: Any, name: str, content: str | bytes, expected: list[list[str]]
) -> None:
    write(name, content)
    assert [list(each) for each in labels_lists_from(name)] == expected


def test_ids_beside_labels(write: Any) -> None:
    wrong = []
    for name, content, expected in (
        ("l.csv", "label,id\na,1\nb,2\n", ("1", "2")),
        ("l.tsv", "item_id\tlabels\nx\ta;b\n", ("x",)),
        ("l.csv", ",label\nx,a\ny,b\n", ("x", "y")),
        ("l.csv", ",id,label\n0,x,a\n1,y,b\n", ("x", "y")),
        ("l.csv", ",id,cat,dog\n0,x,1,0\n1,y,0,1\n2,z,1,1\n", ("x", "y", "z")),
        ("l.csv", "image,label\nx,a\ny,b\n", None),
        ("l.csv", "id,cat,dog\na,1,0\nb,1,1\n", ("a", "b")),
        ("l.txt", "a 1 0 0\nb 0 1 1\n", ("a", "b")),
        ("l.npz", npz(labels=np.array([[0, 1], [1, 1]]), ids=np.array(["x", "y"])), ("x", "y")),
        ("l.npz", npz(labels=np.array([[0, 1], [1, 1]]), ids=np.array(["x"])), None),
        ("l.parquet", parquet(id=[7, 8], labels=[["a"], ["b"]]), ("7", "8")),
        ("l.parquet", parquet(id=["u", "v"], cat=[0, 1], dog=[1, 1]), ("u", "v")),
    ):
        write(name, content)
        ids = getattr(labels_lists_from(name), "ids", None)
        if ids != expected:
            wrong.append((name, content, ids))
    assert not wrong


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("l.txt", "\n\n", "l.txt: the file has no labels."),
        (
            "l.npy",
            npy(np.array([[1, 2]])),
            "l.npy: several labels per vector are a matrix of 0 and 1; it has other numbers.",
        ),
        (
            "l.npy",
            npy(np.array([1, 0])),
            "l.npy: a matrix with a row for each vector is needed; got an array of shape (2,).",
        ),
        (
            "l.parquet",
            parquet(label=["a"]),
            'l.parquet: column "label" is String; lists of labels are needed.',
        ),
        (
            "l.csv",
            "id,title,cat,dog\na,A title,1,0\nb,Another,1,1\n",
            'l.csv: the columns "title" are neither ids nor labels of 0 and 1, as other '
            "columns are. Leave them out, name a column of ids id, or choose the column of labels, "
            'as "l.csv::title".',
        ),
    ],
)
def test_bad_lists_of_labels(write: Any, name: str, content: str | bytes, expected: str) -> None:
    write(name, content)
    assert error_of(labels_lists_from, name) == expected


def test_a_text_of_labels_has_no_columns_to_choose(write: Any) -> None:
    write("labels", "a\nb\n")
    for read in (labels_from, labels_lists_from):
        assert (
            error_of(read, "labels::x")
            == "labels: a text file holds one label per line; there is no 'x' to choose."
        )


def test_bad_files_of_the_revisited_benchmarks(write: Any) -> None:
    lists = "the lists easy, hard and junk of item rows for each query."
    write("deep.json", "[" * 100_000)
    write("gnd.pkl", b"\x80\x04\x95\x00\x00")
    write("other.json", '{"easy": []}')
    for path, expected in {
        "none.json": "no such file.",
        ".": "is a directory; give a file.",
        "deep.json": f"the JSON is nested too deeply. Give {lists}",
        "gnd.pkl": (
            "this is a Python pickle, not JSON, as json.dump(pickle.load(f)['gnd'], …) writes it."
        ),
        "other.json": f"a list is needed, with {lists}",
    }.items():
        assert error_of(revisited_from, path) == f"{path}: {expected}"
