"""Titles and texts of items and queries, from dicts, tables and files."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from judged.inputs.texts import Text, read_texts, text_columns
from support.errors import error_of
from support.hostile import NAMES
from support.loops import for_each

ROWS = [
    {"_id": "d1", "title": "Colds", "text": "A cold needs a virus."},
    {"_id": "d2", "title": "", "text": 'It says "no", twice.'},
    {"_id": "3", "title": "Only a title", "text": ""},
]
EXPECTED = {
    "d1": Text("Colds", "A cold needs a virus."),
    "d2": Text("", 'It says "no", twice.'),
    "3": Text("Only a title", ""),
}
CSV = (
    'id,title,text\nd1,Colds,A cold needs a virus.\nd2,,"It says ""no"", twice."\n'
    "3, Only a title ,\n"
)
TSV = (
    "docno\tTitle\tcontents\r\nd1\tColds\tA cold needs a virus.\r\n"
    'd2\t\tIt says "no", twice.\r\n3\tOnly a title\t\r\n'
)


def parquet(rows: list[dict[str, Any]]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(rows).write_parquet(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        CSV.encode(),
        b"\xef\xbb\xbf" + CSV.encode(),
        b"id;headline;body\nd1;Colds;A cold needs a virus.\n"
        b'd2;;"It says ""no"", twice."\n3;Only a title;\n',
        TSV.encode(),
        gzip.compress(TSV.encode()),
        "\n".join(map(json.dumps, ROWS)).encode(),
        json.dumps(ROWS, indent=1).encode(),
        json.dumps({row["_id"]: {"title": row["title"], "text": row["text"]} for row in ROWS})
        .encode(),
        parquet(ROWS),
    ],
)  # fmt: skip
def test_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "texts"
    path.write_bytes(content)
    assert dict(read_texts(path)) == EXPECTED
    assert read_texts(str(path)).source == str(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("q1\tdoes cold weather\nq2\twhy\n", {"q1": "does cold weather", "q2": "why"}),
        ("q1,does cold weather\nq2,why\n", {"q1": "does cold weather", "q2": "why"}),
        ("query_id,query\nq1,does cold weather\n", {"q1": "does cold weather"}),
        ("query,text\nq1,does cold weather\n", {"q1": "does cold weather"}),
        ('{"_id": "q1", "text": "why"}\n', {"q1": "why"}),
        ('{"_id": "q1", "text": "why"}\n\n{"_id": 2, "text": "how"}\n', {"q1": "why", "2": "how"}),
        ('{"q1": "why", "q2": "how"}', {"q1": "why", "q2": "how"}),
    ],
)
def test_queries(tmp_path: Path, text: str, expected: dict[str, str]) -> None:
    path = tmp_path / "queries"
    path.write_text(text)
    found = read_texts(path, of="queries")
    assert {name: each.heading for name, each in found.items()} == expected


def test_only_what_is_wanted_is_kept() -> None:
    texts = read_texts(ROWS, only=["3", "d7"])
    assert list(texts) == ["3"]


@for_each("name", NAMES)
def test_odd_ids_are_ids(tmp_path: Path, name: str) -> None:
    path = tmp_path / "texts.json"
    path.write_text(json.dumps([{"id": name, "text": name}]), encoding="utf-8")
    assert read_texts(path) == {name: Text("", name.strip())}


UNDERSTOOD = (
    "an id and a title or a text are needed. Names understood for the id: _id, id, item_id, docno, "
    "doc_id, …; for the title: title, headline, heading, name, subject; for the text: text, "
    "contents, content, body, abstract, description, passage, chunk, document, doc, snippet, "
    "caption, summary."
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "{path}: the file is empty."),
        ("id,text\n", "{path}: holds no rows."),
        ("id,text\na,x\na,y\n", '{path}, line 3: item "a" has a text already; give each one row.'),
        ("id\ttext\na\n", '{path}, line 2: expected 2 fields, found 1: "a".'),
        (
            "id,text\n,x\n",
            "{path}, line 2: the id '' is an empty text; ids must be texts or whole numbers.",
        ),
        ('{"id": "a", "text": [1]}\n{"id": "b"}', "{path}, line 1: [1] is not a text."),
        ('{"id": null, "text": "x"}\n{}', '{path}, line 1: "id" is missing.'),
        ('[{"id": "a", "rank": 1}]', '{path}: the columns are "id", "rank"; ' + UNDERSTOOD),
        ("a b c\n", '{path}: the columns are "a b c"; ' + UNDERSTOOD),
        ('{"a": {"b": 1}}', "{path}, \"a\": {{'b': 1}} has neither title nor text."),
        (
            "[1, 2]",
            "{path}, row 1: texts are {{id: text}}, {{id: {{title, text}}}}, rows with an id and a "
            "text, a table, or a file; JSON is such a dict or table.",
        ),
    ],
)
def test_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "texts"
    path.write_text(text)
    assert error_of(read_texts, path) == message.format(path=path)


def test_other_things_are_refused() -> None:
    assert error_of(read_texts, 3) == (
        "texts are {id: text}, {id: {title, text}}, rows with an id and a text, a table, or a "
        "file; got int."
    )


def test_columns_mean_another_thing_for_queries() -> None:
    header = ["query", "document", "text"]
    assert text_columns(header) == ("document", None, "text")
    assert text_columns(header, "queries") == ("query", None, "text")
