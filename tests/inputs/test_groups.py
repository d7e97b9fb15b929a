"""Groups of queries, from dicts, tables and files."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from judged.inputs.keyed import groups_of
from support.errors import error_of

ASKED = ["q2", "q1", "q3"]
SAME = ([0, 1, 1], ("s2", "s1"))
"""Of q2 in s2, and q1 and q3 in s1, numbered as they are asked for."""


def read(given: Any, queries: list[str] = ASKED) -> tuple[list[int], tuple[str, ...]]:
    groups, names = groups_of(given, queries)
    assert groups.dtype == "int64"
    return groups.tolist(), names


@pytest.mark.parametrize(
    "text",
    [
        "query,group\nq1,s1\nq2,s2\nq3,s1\n",
        "group,note,query_id\r\ns1,a,q1\r\ns2,b,q2\r\ns1,c,q3\r\n",
        "query\tpassage\nq1\ts1\nq2\ts2\nq3\ts1\n",
        "query;group\nq1;s1\nq2;s2\nq3;s1\n",
        "qid topic\nq1 s1\nq2 s2\nq3 s1\n",
        "user_id,query\ns1,q1\ns2,q2\ns1,q3\n",
        "\n q1 s1\n\nq2  s2\nq3 \t s1\n",
        "# which session\nq1 s1\nq2 s2\nq3 s1\n",
        "q1\ts1\nq2\ts2\nq3\ts1",
        "q1, s1\nq2,s2 \nq3,s1\n",
        '"q1",s1\n"q2","s2"\n"q3",s1\n',
        '{"q1": "s1", "q2": "s2", "q3": "s1"}',
        '{"q1": "s1",\n "q2": "s2",\n "q3": "s1", "other": 7}\n',
        '[{"query": "q1", "group": "s1"}, {"query": "q2", "group": "s2"}, '
        '{"query": "q3", "group": "s1"}]',
        '{"qid": "q1", "group": "s1"}\n\n{"group": "s2", "qid": "q2"}\n{"qid":"q3","group":"s1"}\n',
        "\ufeffquery,group\nq1,s1\nq2,s2\nq3,s1\n",
        "q1 s1\nq2 s2\nq3 s1\nq1 s1\nq9 s9\n",
    ],
)
def test_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "groups"
    path.write_bytes(text.encode())
    assert read(path) == read(str(path)) == SAME
    packed = tmp_path / "groups.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert read(packed) == SAME


COLUMNS = {"query": ["q1", "q2", "q3"], "group": ["s1", "s2", "s1"]}
ROWS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]


@pytest.mark.parametrize(
    "given",
    [
        dict(zip(*COLUMNS.values(), strict=True)),
        pd.Series(COLUMNS["group"], index=COLUMNS["query"]),
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).astype("category"),
        pd.DataFrame(COLUMNS).set_index("query"),
        pl.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS).lazy(),
        pl.DataFrame(COLUMNS, schema={"query": pl.String, "group": pl.Categorical}),
        pa.table(COLUMNS),
        ROWS,
        tuple(ROWS),
        iter(ROWS),
    ],
)
def test_tables(given: Any, tmp_path: Path) -> None:
    assert read(given) == SAME
    pl.DataFrame(COLUMNS).write_parquet(tmp_path / "groups.parquet")
    assert read(tmp_path / "groups.parquet") == SAME


EVERY = "give every query one, if need be one of its own."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,group\nq1,\n", f", line 2: the group of query 'q1' is missing; {EVERY}"),
        ("query,group\n,s\n", ", line 2: the query is missing."),
        ('{"q1": null}', f": the group of query 'q1' is missing; {EVERY}"),
        ('{"": "s"}', ": the id '' is an empty text; ids must be texts or whole numbers."),
        (
            '{"s1": ["q1"]}',
            ": the group of query 's1': the id ['q1'] is of type list; ids must be texts or whole "
            "numbers.",
        ),
        (
            "q1 a\n\nq1 b\n",
            ", line 3: query 'q1' has the group 'a' already, and now 'b'; give it one.",
        ),
        ("q1 a\nq2\n", ', line 2: expected 2 fields, found 1: "q2".'),
        ("query,group\n", ": holds no rows."),
        ("", ": the file is empty."),
        (
            "[1]",
            ", row 1: groups of queries are a dict {query: group}, a table or a file; JSON is such "
            "a dict or table.",
        ),
        (
            "query,session,template\nq1,3,4\n",
            ': the columns "session" and "template" may both be the group; leave one out.',
        ),
        (
            "query,a,b\nq1,3,4\n",
            ': the columns query and group are needed; the columns are "query", "a", "b". Names '
            "understood for the group: group, group_id, groups, cluster, cluster_id, session, "
            "session_id, template, template_id.",
        ),
        ('q1,"a\nq2,b\n', ", line 1: the quotation marks do not match (unexpected end of data)."),
        ("q1 a\nq2 b\n", f": 3 queries have no group ('q3', 'q4', 'q5'); {EVERY}"),
        (
            "x1 a\nx2 b\n",
            ": no query has a group. The groups are of 'x1', 'x2'; the queries are 'q1', 'q2', "
            "'q3', …. Their numbers agree, the letters around them do not: ids are compared as "
            "exact texts.",
        ),
        (
            "Q1 a\nQ2 b\n",
            ": no query has a group. The groups are of 'Q1', 'Q2'; the queries are 'q1', 'q2', "
            "'q3', …. They would agree with their ids in lower case: ids are compared as exact "
            "texts.",
        ),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "groups"
    path.write_text(text)
    assert error_of(groups_of, path, ["q1", "q2", "q3", "q4", "q5"]) == f"{path}{message}"


FORMS = "groups of queries are a dict {query: group}, a table or a file; got"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, f"{FORMS} int."),
        ([], "the groups given: holds no rows."),
        (
            ["s1", "s2"],
            "the groups given, row 1: expected a dict, a namedtuple or a dataclass object; got "
            "str.",
        ),
        (None, f"{FORMS} NoneType."),
        (
            pd.Series(["a", "b"], index=["q1", "q1"]),
            "the groups given, row 2: query 'q1' has the group 'a' already, and now 'b'; give it "
            "one.",
        ),
        (
            pl.DataFrame({"query": ["a", "b"], "group": ["x", None]}),
            f"the groups given, row 2: the group of query 'b' is missing; {EVERY}",
        ),
        (
            pd.DataFrame({"query": ["a", "b"], "group": [1, None]}),
            "the groups given, row 1: the group of query 'a': the id 1.0 is of type float; ids "
            "must be texts or whole numbers.",
        ),
        ("none.csv", "none.csv: no such file."),
    ],
)
def test_what_is_refused(given: Any, message: str) -> None:
    assert error_of(groups_of, given, ["q1"]) == message
