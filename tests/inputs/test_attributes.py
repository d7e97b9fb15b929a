"""Attributes of queries, from dicts, tables and files."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from judged.inputs.keyed import attributes_of
from judged.text import Warned
from support.errors import error_of
from support.hostile import NAMES
from support.loops import for_each


def read(given: Any, queries: list[str]) -> pl.DataFrame:
    found = attributes_of(given, queries)
    assert found.notes == ()
    return found.frame


def test_types() -> None:
    frame = pl.DataFrame(
        {
            "query": [1, 2],
            "flag": [True, None],
            "day": pl.Series(["2020-01-02", None]).str.to_date(),
            "large": [2**60, 1],
            "nothing": [None, None],
            "kind": pl.Series(["a", "b"], dtype=pl.Categorical),
            "topic": ["x", "y"],
            "infinite": [float("inf"), 1.0],
        }
    )
    expected = pl.DataFrame(
        {
            "flag": ["true", None],
            "day": ["2020-01-02", None],
            "large": [2.0**60, 1.0],
            "nothing": pl.Series([None, None], dtype=pl.String),
            "kind": ["a", "b"],
            "topic": ["x", "y"],
            "infinite": [float("inf"), 1.0],
        }
    )
    assert_frame_equal(read(frame, ["1", "2"]), expected)


def test_a_series_by_query() -> None:
    one = pd.Series(["en", "de"], index=["a", "b"], name="language")
    assert read(one, ["b", "a"]).to_dict(as_series=False) == {"language": ["de", "en"]}
    assert read(one.rename(None), ["b"]).columns == ["attribute"]


def test_codes_with_leading_zeros_are_texts(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("query,code\na,007\nb,7\n")
    assert read(path, ["a", "b"])["code"].to_list() == ["007", "7"]


def test_notes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(",query,words\n0,a,1\n1,b,n/a\n2,c,3\n")
    found = attributes_of(path, ["a", "b", "c", "x", "y"])
    assert found.frame.to_dict(as_series=False) == {"words": ["1", "n/a", "3", None, None]}
    assert found.notes == (
        f"{path}: a column without a name was left out.",
        f'{path}: the attribute "words" is read as text, as 1 value is no number ("n/a"). Leave '
        "such cells empty.",
        f"{path}: 2 queries have no attributes ('x', 'y').",
    )
    assert [isinstance(note, Warned) for note in found.notes] == [False, True, True]


@for_each("seed", range(30))
def test_the_same_by_every_way_in(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    queries = draw.sample(NAMES, 8)
    names = [f"{name}:" for name in draw.sample(NAMES, 4)]
    queries, names = ([each.replace("\x00", "0") for each in some] for some in (queries, names))

    def cells(kind: int) -> list[Any]:
        one = [
            lambda: draw.randint(-5, 5),
            lambda: draw.choice([0.5, -2.25, 1e300, 3.0]),
            lambda: draw.choice(["a", "é", "x,y", '"', "a b", "1 2"]),
        ][kind]
        return [None if draw.random() < 0.2 else one() for _ in queries]

    frame = pl.DataFrame(
        {"query": queries, **{name: cells(at % 3) for at, name in enumerate(names)}}
    )
    asked = draw.sample(queries, 6)
    expected = attributes_of(frame, asked).frame
    rows = frame.to_dicts()
    written = {
        "a.csv": frame.write_csv(quote_style="always"),
        "a.tsv": frame.write_csv(separator="\t", quote_style="always"),
        "a.json": json.dumps(rows),
        "a.ndjson": "\n".join(map(json.dumps, rows)),
        "nested.json": json.dumps({row.pop("query"): row for row in frame.to_dicts()}),
    }
    for name, text in written.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
        assert_frame_equal(attributes_of(tmp_path / name, asked).frame, expected)
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    (tmp_path / "a.pq").write_bytes(buffer.getvalue())
    for given in (tmp_path / "a.pq", frame.to_pandas(), frame.to_arrow(), rows):
        assert_frame_equal(attributes_of(given, asked).frame, expected)


FORMS = (
    "attributes of queries are a dict {query: {attribute: value}}, a table with the column query "
    "and one for each attribute, or a file; got"
)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, f"{FORMS} int."),
        ({}, "the attributes given: holds no rows."),
        (
            {"q1": "en"},
            "the attributes given: query 'q1' has a str; give {query: {attribute: value}}.",
        ),
        ({"q1": {}}, "the attributes given: the table has no attribute beside the query."),
        (
            pl.DataFrame({"name": ["q1"], "x": [1]}),
            "the attributes given: a column with the ids of queries is needed, called query_id, "
            'qid, query or id; the columns are "name", "x".',
        ),
        (
            pl.DataFrame({"query": ["q1"], "Relevant": [1]}),
            'the attributes given: the attribute "Relevant" is reserved for the number of '
            "relevant items of each query; use another name.",
        ),
        (
            pl.DataFrame({"query": ["q1", "q1"], "x": [1, 1]}),
            "the attributes given, row 2: query 'q1' has attributes already; give each query one "
            "row.",
        ),
        (
            pl.DataFrame({"query": ["q1"], "x": [[1]]}),
            "the attributes given: the table has no attribute beside the query, only lists, dicts "
            "or long texts.",
        ),
        (
            [{"query": "q1", "x": 1.5}, {"query": "q2", "x": "a"}],
            'the attributes given: the attribute "x" is of several types; an attribute is a number '
            "or a text for each query.",
        ),
        (
            {"Q1": {"x": 1}},
            "the attributes given: no query has attributes. The attributes are of 'Q1'; the "
            "queries are 'q1', 'q2'. They would agree with their ids in lower case: ids are "
            "compared as exact texts.",
        ),
        (
            pd.DataFrame({"query": [1.0], "a": [1]}),
            'the attributes given: column "query" is Float64, but ids must be strings or integers. '
            "Floats come from missing values in pandas, or from ids read as numbers.",
        ),
    ],
)
def test_what_is_refused(given: Any, message: str) -> None:
    assert error_of(attributes_of, given, ["q1", "q2"]) == message
