"""What can be encoded: texts and files, in every form, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import judged
from judged.inputs.encode import read_inputs
from support.errors import error_of

TEXTS = ("one", " two ")
IDS = ("a", "7")


def test_forms_of_texts(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("a\tone\n7\t two \n")
    frame = pl.DataFrame({"id": IDS, "text": TEXTS})
    rows = [{"id": "a", "text": "one"}, {"id": 7, "text": " two "}]
    by_id: tuple[Any, ...] = ({"a": "one", 7: " two "}, rows, frame, tmp_path / "t.tsv")
    for form in by_id:
        found = read_inputs(form, "items")
        assert (found.ids, found.contents, found.files) == (IDS, TEXTS, False)
    for form in (list(TEXTS), TEXTS, np.array(TEXTS), frame["text"], frame.to_pandas()["text"]):
        found = read_inputs(form, "items")
        assert (found.ids, found.contents) == (None, TEXTS)
        assert found.name(1) == "1"


def test_titles_are_joined_and_that_is_said() -> None:
    given = {"a": {"title": "One", "text": "more"}, "b": {"title": "Two"}, "c": "three"}
    found = read_inputs(given, "items")
    assert found.contents == ("One more", "Two", "three")
    assert found.notes == ("Title and text of 1 item joined by a space.",)


def test_empty_texts_are_encoded_and_warned_of() -> None:
    found = judged.Embeddings.encode(
        ["a"], {"x": "", "y": "b", "z": None}, lambda texts: [[len(t), 1] for t in texts]
    )
    assert found.evaluate({"0": {"y": 1}}, "RR").warnings() == [
        "2 items have an empty text (x, z), which was encoded as it is."
    ]
    assert found.items.values.tolist() == [[0, 1], [1, 1], [0, 1]]


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    (folder / "more").mkdir(parents=True)
    for name in ("b.png", "a.png", "more/c.png", ".hidden"):
        (folder / name).write_bytes(name.encode())
    (folder / "more" / "same.png").write_bytes(b"a.png")
    return folder


def test_a_folder_of_files(pictures: Path) -> None:
    found = read_inputs(pictures, "items")
    names = ("a.png", "b.png", "more/c.png", "more/same.png")
    assert found.ids == names
    assert found.contents == tuple(str(pictures / name) for name in names)
    assert found.files


def test_paths_by_id_in_a_list_and_in_a_file(pictures: Path, tmp_path: Path) -> None:
    path = str(pictures / "a.png")
    (tmp_path / "paths.tsv").write_text(f"x\t{path}\n")
    for given, ids, paths in (
        ({"x": Path(path)}, ("x",), False),
        ([Path(path)], None, False),
        ({"x": path}, ("x",), True),
        ([path], None, True),
        (tmp_path / "paths.tsv", ("x",), True),
    ):
        found = read_inputs(given, "items", paths=paths)
        assert (found.ids, found.contents, found.files) == (ids, (path,), True)


def test_files_are_known_by_their_bytes(pictures: Path, tmp_path: Path) -> None:
    given: list[str] = []

    def sizes(paths: list[str]) -> Any:
        given.extend(Path(path).name for path in paths)
        return [[Path(path).stat().st_size, 1] for path in paths]

    def encode() -> Any:
        return judged.Embeddings.encode(
            {"q": pictures / "b.png"}, pictures, sizes,
            encoder_name="sizes", cache=tmp_path / "kept",
        )  # fmt: skip

    encode()
    assert given == ["b.png", "a.png", "c.png"]  # b.png of the queries is that of the items
    given.clear()
    (pictures / "a.png").rename(pictures / "z.png")
    (pictures / "more" / "c.png").write_bytes(b"another picture")
    found = encode()
    assert given == ["b.png", "c.png"]  # b.png to compare it with the cached vector
    assert found.items.ids == ("b.png", "more/c.png", "more/same.png", "z.png")
    assert found.items.values[:, 0].tolist() == [5, 15, 5, 5]


REFUSED: list[tuple[Any, str]] = [
    ([], "the items: there is nothing to encode; give at least one text."),
    ({}, "the texts given: holds no rows."),
    (
        ["a", None],
        "the items, row 2: None is not a text, but other rows are; give texts only, or {id: text}.",
    ),
    ({"a": Path("no.png")}, 'the items, item "a": there is no file "no.png".'),
    ([Path("no.png"), 3], "the items, row 2: 3 is not a path, but other rows are."),
    ("no.tsv", "no.tsv: no such file."),
    (
        3,
        "texts are {id: text}, {id: {title, text}}, rows with an id and a text, a table, or a "
        "file; got int.",
    ),
]


@pytest.mark.parametrize(("given", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_encoded(given: Any, message: str) -> None:
    assert error_of(read_inputs, given, "items") == message


def test_an_empty_folder_and_prompts_of_files(pictures: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert (
        error_of(read_inputs, tmp_path / "empty", "items")
        == f"{tmp_path}/empty: the folder is empty."
    )
    assert (
        error_of(judged.Embeddings.encode, ["a"], pictures, len_of, prompts=(None, "x"))
        == f"{pictures}: files take no prompt; leave it out."
    )


def len_of(texts: list[str]) -> Any:
    return [[len(text)] for text in texts]
