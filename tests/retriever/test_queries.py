"""Queries to ask, by every way in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from judged import evaluate_retriever
from judged.errors import InputError
from judged.inputs.retriever_answers import read_queries
from support.errors import error_of

TWO = {"q1": "red apple", "q2": 'blue, "sky"'}
ROWS = [{"_id": "q1", "text": TWO["q1"]}, {"_id": "q2", "text": TWO["q2"]}]
FRAME = pl.DataFrame({"qid": list(TWO), "query": list(TWO.values())})


FILES: dict[str, str] = {
    "beir.jsonl": '{"_id": "q1", "text": "red apple", "metadata": {}}\n\n'
    '{"_id": "q2", "text": "blue, \\"sky\\"", "metadata": {}}\n',
    "pairs.jsonl": '["q1", "red apple"]\n["q2", "blue, \\"sky\\""]\n',
    "map.json": '{"q1": "red apple", "q2": "blue, \\"sky\\""}',
    "rows.json": '[{"id": "q1", "question": "red apple"},\n'
    '{"id": "q2", "question": "blue, \\"sky\\""}]',
    "rows-without-ending": '{"id": "q1", "question": "red apple"}\n'
    '{"id": "q2", "question": "blue, \\"sky\\""}\n',
    "header.csv": 'query_id,query,lang\r\nq1,red apple,en\r\nq2,"blue, ""sky""",en\r\n',
    "header.tsv": 'qid\ttext\nq1\tred apple\nq2\tblue, "sky"\n',
    "headless.csv": 'q1,red apple\nq2,"blue, ""sky"""\n',
    "msmarco.tsv": 'q1\tred apple\nq2\tblue, "sky"\n',
    "topics.txt": 'q1\tred apple\nq2\tblue, "sky"',
}


@pytest.mark.parametrize("name", FILES)
def test_files(folder: Path, name: str) -> None:
    Path(name).write_text(FILES[name], newline="")
    assert read_queries(name) == read_queries(Path(name)) == TWO


def test_parquet(folder: Path) -> None:
    FRAME.write_parquet("q.parquet")
    assert read_queries("q.parquet") == TWO
    Path("broken.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match="not a Parquet file that can be read"):
        read_queries("broken.parquet")


@pytest.mark.parametrize(
    "given",
    [
        TWO,
        list(TWO.items()),
        ROWS,
        FRAME,
        FRAME.to_pandas(),
        FRAME.to_arrow(),
        pd.DataFrame({"query_id": list(TWO), "text": list(TWO.values())}),
        pa.table({"query_id": list(TWO), "text": list(TWO.values())}),
    ],
    ids=["dict", "pairs", "rows", "polars", "pandas", "arrow", "pandas text", "arrow text"],
)
def test_python(given: Any) -> None:
    assert read_queries(given) == TWO


def test_texts_are_their_own_ids(folder: Path) -> None:
    own = {text: text for text in TWO.values()}
    assert read_queries(list(own)) == read_queries(tuple(own)) == own
    assert read_queries(np.array(list(own))) == own
    assert read_queries([{"question": text} for text in own]) == own
    Path("lines.txt").write_text("\n".join(own))
    assert read_queries("lines.txt") == own
    Path("one.tsv").write_text("\n".join(["question", *own]))
    assert read_queries("one.tsv") == own
    found = evaluate_retriever(lambda text: ["a"], list(own), {"red apple": {"a": 1}}, "RR")
    assert found.value() == 1.0


def test_which_column_is_which(folder: Path) -> None:
    for header, expected in {
        "id,query_id,text": ("b", "c"),
        "query,text": ("a", "b"),
        "topic,title": ("a", "b"),
        "text,Query-ID": ("b", "a"),
        "user_id,question": ("a", "b"),
        "lang,question": ("b", "b"),
    }.items():
        Path("q.csv").write_text(f"{header}\n{'a,b,c' if header.count(',') == 2 else 'a,b'}\n")
        assert read_queries("q.csv") == dict([expected])


FORMS = "texts are {id: text}, {id: {title, text}}, rows with an id and a text, a table, or a file"
NEEDED = "an id and a title or a text are needed."


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "there are no queries to ask; give at least one."),
        ([], "there are no queries to ask; give at least one."),
        (3, f"{FORMS}; got 3."),
        ({"a", "b"}, FORMS),
        (["a", "b", "a"], 'the queries given, row 3: query "a" has a text already; give each one'),
        ([("q1", "a", 3)], f"the queries given, row 1: ('q1', 'a', 3) is no row of texts; {FORMS}"),
        (
            [{"id": "q1", "text": "a"}, {"id": "q2"}],
            f'the queries given, row 2: the columns are "id"; {NEEDED}',
        ),
        (
            [{"id": "q1", "words": "a"}],
            f'the queries given, row 1: the columns are "id", "words"; {NEEDED}',
        ),
        ({"": "a"}, "the queries: the id '' is an empty text"),
        ({1: "a", "1": "b"}, "the queries: the queries 1 and '1' are the same as texts"),
    ],
)
def test_wrong_queries(given: Any, message: str) -> None:
    assert error_of(read_queries, given).startswith(message)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("no.jsonl", None, "no.jsonl: no such file."),
        ("q.jsonl", "", "q.jsonl: the file is empty."),
        (
            "q.jsonl",
            '{"id": "q1", "text": "a"}\n{"id": "q1", "text": "b"}\n',
            'q.jsonl, line 2: query "q1" has a text already; give each one row.',
        ),
        ("q.tsv", "q1\tred\tapple\n", 'q.tsv: the columns are "q1", "red", "apple"; an id and'),
        (
            "q.csv",
            "id,text\nq1,red,apple\n",
            'q.csv, line 2: expected 2 fields, found 3: "q1 red apple".',
        ),
        ("q.tsv", "id\ttext\nq1\t\n", 'q.tsv: query "q1" has no text to ask.'),
        ("q.json", "[]", "q.json: JSON of texts is {id: text}, {id: {title, text}}, rows with"),
    ],
)
def test_wrong_files(folder: Path, name: str, content: str | None, message: str) -> None:
    if content is not None:
        Path(name).write_text(content)
    assert error_of(read_queries, name).startswith(message)


JUDGEMENTS = {"q1": {"a": 1}, "q2": {"b": 1}}


def test_only_judged_queries_are_asked() -> None:
    asked: list[str] = []

    def search(text: str) -> list[str]:
        asked.append(text)
        return ["a"]

    queries = {"q3": "three", "q2": "two", "q1": "one"}
    found = evaluate_retriever(search, queries, JUDGEMENTS, "RR")
    assert asked == ["two", "one"]
    assert "note: 1 query without judgements not asked." in found.sentences()
    asked.clear()
    found = evaluate_retriever(search, queries, JUDGEMENTS, "RR", all_queries=True)
    assert asked == ["three", "two", "one"]
    assert found.audit["search"].ignored_queries == 1
    assert found.value() == 0.5


def test_a_judged_query_without_a_text_is_missing_and_said() -> None:
    found = evaluate_retriever(lambda text: ["a"], {"q1": "one"}, JUDGEMENTS, "RR")
    assert found.value() == 0.5
    assert found.warnings() == [
        "1 judged query is not among the queries to ask (q2).",
        "The run has no results for 1 of 2 judged queries (q2), which "
        "count as empty lists. Use missing=skip to leave them out.",
    ]


def test_queries_that_nobody_judged() -> None:
    assert error_of(evaluate_retriever, lambda text: ["a"], ["red apple"], JUDGEMENTS) == (
        "none of the queries is judged: the queries have 'red apple', the judgements 'q1'. Give "
        "queries the ids of the judgements."
    )
    assert (
        error_of(evaluate_retriever, lambda text: ["a"], None, {})
        == "the judgements are empty: no query is judged."
    )


def test_the_judged_ids_themselves() -> None:
    texts = {"red apple": {"a": 1}}
    assert (
        evaluate_retriever(lambda text: text.split(), None, {"x a": {"a": 1}}, "RR").value() == 0.5
    )
    assert evaluate_retriever(lambda text: ["a"], None, texts, "RR").value() == 1.0
