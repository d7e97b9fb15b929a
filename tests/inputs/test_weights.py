"""Weights of queries, from dicts, tables and files."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from judged.errors import InputError
from judged.inputs.keyed import read_weights
from judged.inputs.tables import QueryWeights
from support.errors import error_of

SAME = {"q1": 3.0, "q2": 0.5}


@pytest.mark.parametrize(
    "text",
    [
        "query,weight\nq1,3\nq2,0.5\n",
        "traffic,note,query_id\r\n3,a,q1\r\n0.5,b,q2\r\n",
        "query\tvisits\nq1\t3\nq2\t.5\n",
        "query;weight\nq1;3\nq2;0.5\n",
        "\n q1 3\n\nq2 5e-1\n",
        "q1\t3\nq2\t0.5",
        '"q1",3\n"q2","0.5"\n',
        '{"q1": 3, "q2": 0.5}',
        '{"q1": 3,\n "q2": 0.5}\n',
        '[{"query": "q1", "weight": 3}, {"query": "q2", "weight": 0.5}]',
        '{"qid": "q1", "weight": 3}\n\n{"weight": 0.5, "qid": "q2"}\n',
        "\ufeffquery,weight\nq1,3\nq2,0.5\n",
    ],
)
def test_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "weights"
    path.write_bytes(text.encode())
    assert read_weights(path).weights == SAME
    assert read_weights(str(path)).source == str(path)
    packed = tmp_path / "weights.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert read_weights(packed).weights == SAME


COLUMNS: dict[str, list[Any]] = {"query": ["q1", "q2"], "weight": [3.0, 0.5]}


@pytest.mark.parametrize(
    "given",
    [
        SAME,
        {"q1": 3, "q2": 0.5},
        pd.Series(SAME),
        pd.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS).lazy(),
        pa.table(COLUMNS),
        [{"query": "q1", "weight": 3}, {"query": "q2", "weight": 0.5}],
        QueryWeights(SAME),
    ],
)
def test_tables(given: Any, tmp_path: Path) -> None:
    assert read_weights(given).weights == SAME
    pl.DataFrame(COLUMNS).write_parquet(tmp_path / "weights.parquet")
    assert read_weights(tmp_path / "weights.parquet").weights == SAME


def test_ids_that_are_whole_numbers() -> None:
    assert read_weights({1: 2}).weights == {"1": 2.0}
    assert read_weights(pd.DataFrame({"user_id": [7], "weight": [2]})).weights == {"7": 2.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,weight\nq1,-3\n", ", line 2: the weight of query 'q1' is -3.0; {from_0}"),
        ("query,weight\nq1,\n", ", line 2: the weight of query 'q1' is missing; {from_0}"),
        ("q0 1\nq1 x\n", ", line 2: the weight of query 'q1' is 'x'; {from_0}"),
        ("q0 1\nq1 1_0\n", ", line 2: the weight of query 'q1' is '1_0'; {from_0}"),
        ("q1,inf\n", ", line 1: the weight of query 'q1' is inf; {from_0}"),
        ("q1,nan\n", ", line 1: the weight of query 'q1' is nan; {from_0}"),
        ('{"q1": true}', ": the weight of query 'q1' is True; {from_0}"),
        ('{"q1": "3"}', ": the weight of query 'q1' is '3'; {from_0}"),
        ('{"q1": NaN}', ": the weight of query 'q1' is nan; {from_0}"),
        ('{"q1": null}', ": the weight of query 'q1' is missing; {from_0}"),
        (
            '{"query": "q1", "weight": null}\n',
            ", line 1: the weight of query 'q1' is missing; {from_0}",
        ),
        ("query,weight\n,3\n", ", line 2: the query is missing."),
        ('{"q1": 1, "q1": 1}', ', line 1: "q1" occurs twice in one object, which ends here.'),
        (
            "q1 1\n\nq1 1\n",
            ", line 3: query 'q1' has a weight already; give each query one, if need be the sum.",
        ),
        (
            "q1,3,4\n",
            ', line 1: expected a query and its weight, found 3 fields: "q1 3 4". With more '
            "columns, the first line has to name them.",
        ),
        ("q1 3\nq2\n", ', line 2: expected 2 fields, found 1: "q2".'),
        ("query,weight\n", ": holds no rows."),
        ("", ": the file is empty."),
        (
            "[1]",
            ": weights of queries are a dict {query: weight}, a table or a file; JSON is such a "
            "dict or table.",
        ),
        (
            '{"query": "q1", "weight": 3}\n[4]\n',
            ", line 2: A line should be an object with names of columns.",
        ),
        (
            "query,traffic,clicks\nq1,3,4\n",
            ': the columns "traffic" and "clicks" may both be the weight; leave one out.',
        ),
        (
            "query,a,b\nq1,3,4\n",
            ': the columns query and weight are needed; the columns are "query", "a", "b". Names '
            "understood for the weight: weight, weights, traffic, frequency, freq, count, volume, "
            "clicks, impressions, searches.",
        ),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "weights"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        read_weights(path)
    said = message.replace("{from_0}", "a weight is a finite number from 0.")
    assert str(refused.value) == f"{path}{said}"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "weights of queries are a dict {query: weight}, a table or a file; got int."),
        ([], "weights of queries are a dict {query: weight}, a table or a file; got list."),
        ({}, "the weights given: holds no rows."),
        (
            {1: 1, "1": 1},
            "the weights given: query '1' has a weight already; give each query one, "
            "if need be the sum.",
        ),
        (
            pd.Series([1, 2], index=["a", "a"]),
            "the weights given, row 2: query 'a' has a weight already; give each query one, if "
            "need be the sum.",
        ),
        (
            {1.5: 1},
            "the weights given: the id 1.5 is a floating-point number; ids must be texts or "
            "whole numbers.",
        ),
        (
            pl.DataFrame({"query": ["a", "b"], "weight": [1.0, None]}),
            "the weights given, row 2: the weight of query 'b' is missing; a weight is a finite "
            "number from 0.",
        ),
    ],
)
def test_what_is_refused(given: Any, message: str) -> None:
    assert error_of(read_weights, given) == message


def test_no_such_file() -> None:
    assert error_of(read_weights, "none.csv") == "none.csv: no such file."


def test_every_judged_query_needs_one() -> None:
    given = QueryWeights({"a": 0.0, "b": 0.0, "x": 1.0}, "traffic.csv")
    assert given.unknown(["a", "b"]) == ["x"]
    assert error_of(given.of, ["a", "c", "d", "e", "f"]) == (
        "traffic.csv: 4 judged queries have no weight ('c', 'd', 'e', …); give every judged query "
        "one, 0 for one that is not to count."
    )
    assert error_of(given.of, ["a", "b"]) == (
        "traffic.csv: all judged queries have the weight 0, so that none counts; give some of them "
        "a weight above 0."
    )
