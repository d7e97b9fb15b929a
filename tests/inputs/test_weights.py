"""Weights of queries, from dicts, tables and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from judged.inputs.keyed import read_weights
from judged.inputs.weights import QueryWeights
from support.errors import error_of
from support.loops import for_each

SAME = {"q1": 3.0, "q2": 0.5}


COLUMNS: dict[str, list[Any]] = {"query": ["q1", "q2"], "weight": [3.0, 0.5]}


@for_each(
    "given",
    [
        "traffic,note,query_id\r\n3,a,q1\r\n0.5,b,q2\r\n",
        "\n q1 3\n\nq2 5e-1\n",
        '"q1",3\n"q2","0.5"\n',
        '{"q1": 3, "q2": 0.5}',
        '{"qid": "q1", "weight": 3}\n\n{"weight": 0.5, "qid": "q2"}\n',
        SAME,
        {"q1": 3, "q2": "0.5"},
        pd.Series(SAME),
        pl.DataFrame(COLUMNS),
        QueryWeights(SAME),
    ],
)
def test_forms(given: Any, tmp_path: Path) -> None:
    """The forms that groups and weights share are in the tests of groups."""
    if isinstance(given, str):
        (tmp_path / "weights").write_bytes(given.encode())
        given = tmp_path / "weights"
    assert read_weights(given).weights == SAME


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
        ('{"q1": null}', ": the weight of query 'q1' is missing; {from_0}"),
        (
            "q1 1\n\nq1 1\n",
            ", line 3: query 'q1' has a weight already; give each query one, if need be the sum.",
        ),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "weights"
    path.write_text(text)
    said = message.replace("{from_0}", "a weight is a finite number from 0.")
    assert error_of(read_weights, path) == f"{path}{said}"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {1: 1, "1": 1},
            "the weights given: query '1' has a weight already; give each query one, "
            "if need be the sum.",
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
