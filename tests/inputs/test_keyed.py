"""Tables from a query to its group, weight or attributes, from dicts, tables and files."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from judged.inputs.keyed import attributes_of, groups_of, read_weights
from judged.inputs.weights import QueryWeights
from judged.text import Warned
from support.errors import error_of
from support.hostile import NAMES
from support.loops import for_each
from support.tables import every_form

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


def test_tables(tmp_path: Path) -> None:
    table = pl.DataFrame({"query": ["q1", "q2", "q3"], "group": ["s1", "s2", "s1"]})
    forms = every_form(table, tmp_path)
    forms |= {
        "dict": dict(table.rows()),
        "series": forms["pandas"].set_index("query")["group"],
        "index": forms["pandas"].set_index("query"),
        "categories of pandas": forms["pandas"].astype("category"),
        "categories": table.cast({"group": pl.Categorical}),
        "tuple": tuple(forms["rows"]),
        "iterator": iter(forms["rows"]),
    }
    assert {form: read(given) for form, given in forms.items()} == dict.fromkeys(forms, SAME)


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


# Weights


WEIGHTS = {"q1": 3.0, "q2": 0.5}


@for_each(
    "given",
    [
        "traffic,note,query_id\r\n3,a,q1\r\n0.5,b,q2\r\n",
        "\n q1 3\n\nq2 5e-1\n",
        '"q1",3\n"q2","0.5"\n',
        '{"q1": 3, "q2": 0.5}',
        '{"qid": "q1", "weight": 3}\n\n{"weight": 0.5, "qid": "q2"}\n',
        WEIGHTS,
        {"q1": 3, "q2": "0.5"},
        pd.Series(WEIGHTS),
        pl.DataFrame({"query": list(WEIGHTS), "weight": list(WEIGHTS.values())}),
        QueryWeights(WEIGHTS),
    ],
)
def test_forms(given: Any, tmp_path: Path) -> None:
    """The forms that groups and weights share are in the tests of groups."""
    if isinstance(given, str):
        (tmp_path / "weights").write_bytes(given.encode())
        given = tmp_path / "weights"
    assert read_weights(given).weights == WEIGHTS


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
def test_files_of_weights_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "weights"
    path.write_text(text)
    said = message.replace("{from_0}", "a weight is a finite number from 0.")
    assert error_of(read_weights, path) == f"{path}{said}"


def test_every_judged_query_needs_one_weight() -> None:
    assert error_of(read_weights, {1: 1, "1": 1}) == (
        "the weights given: query '1' has a weight already; give each query one, if need be the "
        "sum."
    )
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


# Attributes


def read_attributes(given: Any, queries: list[str]) -> pl.DataFrame:
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
    assert_frame_equal(read_attributes(frame, ["1", "2"]), expected)


def test_a_series_by_query() -> None:
    one = pd.Series(["en", "de"], index=["a", "b"], name="language")
    assert read_attributes(one, ["b", "a"]).to_dict(as_series=False) == {"language": ["de", "en"]}
    assert read_attributes(one.rename(None), ["b"]).columns == ["attribute"]


def test_codes_with_leading_zeros_are_texts(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("query,code\na,007\nb,7\n")
    assert read_attributes(path, ["a", "b"])["code"].to_list() == ["007", "7"]


def test_rows_of_one_query_may_agree() -> None:
    """As in a golden set with a row for each relevant item."""
    golden = pl.DataFrame(
        {"query": ["b", "b", "a"], "item": ["x", "y", "x"], "level": ["hard", "hard", "easy"]}
    )
    known = attributes_of(golden, ["a", "b"])
    assert known.frame.to_dict(as_series=False) == {"level": ["easy", "hard"]}
    assert known.notes == ('the attributes given: rows of one query differ in "item"; ignored.',)


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
    nested = {row.pop("query"): row for row in frame.to_dicts()}
    (tmp_path / "nested.json").write_text(json.dumps(nested))
    for given in (*every_form(frame, tmp_path).values(), nested, tmp_path / "nested.json"):
        assert_frame_equal(attributes_of(given, asked).frame, expected)


ATTRIBUTES = (
    "attributes of queries are a dict {query: {attribute: value}}, a table with the column query "
    "and one for each attribute, or a file; got"
)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, f"{ATTRIBUTES} int."),
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
            pl.DataFrame({"query": ["q1", "q1"], "x": [1, 2]}),
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
    ],
)
def test_attributes_that_are_refused(given: Any, message: str) -> None:
    assert error_of(attributes_of, given, ["q1", "q2"]) == message
