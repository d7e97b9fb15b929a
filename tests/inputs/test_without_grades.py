"""Judgements that only list what is relevant, by every way in, and what is still refused."""

from __future__ import annotations

import json
from collections import OrderedDict

import numpy as np
import pandas as pd
import polars as pl
import pytest

import judged
from judged import evaluate
from judged.inputs import read_judgements, read_run
from judged.inputs.tables import NO_GRADES
from support.errors import error_of
from support.tables import every_form

LISTS = {"q1": ["b", "a"], "q2": [], "q3": ["c"]}
GRADES = {"q1": {"b": 1, "a": 1}, "q2": {}, "q3": {"c": 1}}
PAIRS = {"query": ["q1", "q1", "q2", "q3"], "item": ["b", "a", None, "c"]}
RUN = {"q1": ["x", "a", "b"], "q2": ["a"], "q3": ["c"]}


FORMS = ("a.csv", "a.tsv", "a.jsonl", "a.json", "a.parquet", "polars", "pandas", "pyarrow", "rows")
WAYS = {
    "lists": lambda write: LISTS,
    "tuples": lambda write: {query: tuple(items) for query, items in LISTS.items()},
    "sets": lambda write: {query: set(items) for query, items in LISTS.items()},
    "frozen sets": lambda write: {query: frozenset(items) for query, items in LISTS.items()},
    "keys": lambda write: {query: dict.fromkeys(items).keys() for query, items in LISTS.items()},
    "arrays": lambda write: {query: np.array(items, object) for query, items in LISTS.items()},
    "series": lambda write: {
        query: pl.Series(items, dtype=pl.String) for query, items in LISTS.items()
    },
    "pandas series": lambda write: {
        query: pd.Series(items, dtype=object) for query, items in LISTS.items()
    },
    "another mapping": lambda write: OrderedDict(LISTS),
    "an empty dict among lists": lambda write: LISTS | {"q2": {}},
    "pairs": lambda write: {query: [(item, 1) for item in items] for query, items in LISTS.items()},
    "mappings": lambda write: {
        query: [{"id": item, "grade": 1} for item in items] for query, items in LISTS.items()
    },
    **{form: lambda write, form=form: every_form(pl.DataFrame(PAIRS))[form] for form in FORMS},
    "json lists": lambda write: write("a.json", json.dumps(LISTS)),
    "json pairs": lambda write: write(
        "a.json",
        json.dumps({query: [[item, 1] for item in items] for query, items in LISTS.items()}),
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_item_that_is_listed_is_relevant(way, write):
    given = WAYS[way](write)
    notes = read_judgements(given).notes
    assert (NO_GRADES in notes) == (way not in ("pairs", "mappings", "json pairs"))
    expected = judged.evaluate(GRADES, RUN, "AP, nDCG@2, NumRel")
    found = judged.evaluate(given, RUN, "AP, nDCG@2, NumRel")
    for measure in found.measures:
        assert found.value(measure) == expected.value(measure)
    assert found.audit["run"].judged_queries == 3
    assert found.audit["run"].nothing_relevant == 1
    assert found.warnings() == expected.warnings()


def test_columns_that_say_nothing_are_ignored(write):
    text = "user_id,movieId,timestamp,title\n1,7,964982703,Toy Story\n1,8,964982704,Jumanji\n"
    table = read_judgements(write("a.csv", text))
    assert table.frame.rows() == [("1", "7", 1.0), ("1", "8", 1.0)]
    assert table.notes == (NO_GRADES,)


UNDERSTOOD = (
    "Say which it is: columns={'grade': COLUMN}. Or use a name that is "
    "understood: grade: grade, relevance, rel, label, judgement, judgment, relevance_grade, "
    "relevance_label, relevant, is_relevant, rating, r_ui. If every item that is listed is "
    "relevant, say so: columns={'grade': 1}."
)


def test_a_column_that_may_be_the_grade_is_not_overlooked(write):
    path = write("a.csv", "query,item,good\nq,a,0\nq,b,1\n")
    assert error_of(read_judgements, path) == (
        f'a.csv: no column with a grade; the columns are "query", "item", "good". {UNDERSTOOD}'
    )
    assert read_judgements(path, columns="grade=good").frame["grade"].to_list() == [0, 1]
    said = read_judgements(path, columns={"grade": "1"})
    assert said.frame["grade"].to_list() == [1, 1]
    assert said.notes == (NO_GRADES,)


def test_a_grade_that_only_later_rows_have(write):
    rows = '{"query": "q", "item": "a"}\n{"query": "q", "item": "b", "grade": 0}\n'
    content = f"[{','.join(rows.splitlines())}]"
    for path in (write("a.jsonl", rows), write("a.json", content)):
        judgements = read_judgements(path)
        assert judgements.frame.rows() == [("q", "b", 0.0)]
        assert judgements.notes == ("1 row has no grade and is left out as unjudged.",)


@pytest.mark.parametrize(
    ("header", "role"),
    [("rank", "rank"), ("position", "rank"), ("prediction", "score"), ("predicted_score", "score")],
)
def test_a_run_is_no_list_of_what_is_relevant(write, header, role):
    path = write("a.csv", f"query,item,{header}\nq,a,1\n")
    assert error_of(read_judgements, path) == (
        f'a.csv looks like a run (column "{header}" is a {role}), not judgements. Were the two '
        "files given in the wrong order?"
    )


def test_a_run_needs_a_score_or_a_rank(write):
    assert error_of(read_run, write("a.csv", "query,item\nq,a\n")).startswith(
        'a.csv: no column with a score or a rank; the columns are "query", "item".'
    )
    assert error_of(read_run, {"q": {"a"}}) == (
        "query 'q' has a set; give it a dict of items, each with a score."
    )


REFUSED = [
    (
        {"q": ["a"], "p": {"b": 1}},
        "query 'p' has a dict where other queries have a list of relevant items; give every query "
        "a list of items, or every query a dict of grades.",
    ),
    ({"q": "a"}, "query 'q' has a str; give it a dict of items, each with a grade."),
    ({"q": None}, "query 'q' has a NoneType; give it a dict of items, each with a grade."),
]


@pytest.mark.parametrize(("given", "expected"), REFUSED)
def test_refused_dicts(given, expected):
    assert error_of(read_judgements, given) == expected


def test_refused_json(write):
    path = write("a.json", '{"q": ["a"], "p": {"b": 1}}')
    assert error_of(read_judgements, path) == f"a.json, {REFUSED[0][1]}"
    path = write("a.json", '{"q": [["a", "b"]]}')
    assert error_of(read_judgements, path) == (
        'a.json, query "q", item "a": the grade is not a number: ""b"".'
    )


@pytest.mark.parametrize("way", ["dict", "json", "csv", "polars"])
def test_an_item_that_is_listed_twice(way, write):
    lists = {"q": ["a", "b", "a"]}
    given = {
        "dict": lambda: lists,
        "json": lambda: write("a.json", json.dumps(lists)),
        "csv": lambda: write("a.csv", "query,item\nq,a\nq,b\nq,a\n"),
        "polars": lambda: pl.DataFrame({"query": ["q"] * 3, "item": lists["q"]}),
    }[way]()
    places = {
        "dict": "the judgements",
        "json": "a.json",
        "csv": "a.csv, lines 2 and 4",
        "polars": "a data frame, rows 1 and 3",
    }
    run = {"q": ["b", "a"]}
    assert error_of(judged.evaluate, given, run) == (
        f"{places[way]}: query 'q' has item 'a' more than once. Remove the repetitions, or keep "
        "the best-ranked of each with duplicates='first'."
    )
    rankings = judged.Rankings.from_run(given, run, policy={"duplicates": "first"})
    assert rankings.pool_grade.tolist() == [1, 1]
    assert rankings.audit.duplicates_dropped == 1


QUEPID = "\nquery,docid,rating\nstar wars,11,3\nstar wars,12,0\nrambo\nalien,7,1\n"


def test_quepid(write):
    """A query without ratings stands alone in its line."""
    table = read_judgements(write("a.csv", QUEPID))
    assert table.frame.rows() == [
        ("star wars", "11", 3.0),
        ("star wars", "12", 0.0),
        ("alien", "7", 1.0),
    ]
    assert table.names() == ["star wars", "rambo", "alien"]
    assert table.where([0, 2]) == "lines 3 and 6"
    assert error_of(read_judgements, write("a.csv", "query,docno,rating\nrambo\n")) == (
        'a.csv, line 2: expected 3 fields, found 1: "rambo".'
    )
    snapshot = (
        "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title\n"
        "Monday,2026-03-05T12:00:00Z,8,star wars,12,1,Some\n"
        "Monday,2026-03-05T12:00:00Z,8,star wars,11,2,Other\n"
    )
    run = read_run(write("b.csv", snapshot))
    assert run.frame.rows() == [("star wars", "12", -1.0), ("star wars", "11", -2.0)]
    detailed = (
        "Team Name,Case Name,Case ID,Query Text,Doc ID,Title,Rating\nT,C,8,star wars,11,S,3\n"
    )
    assert read_judgements(write("c.csv", detailed)).frame.rows() == [("star wars", "11", 3.0)]


# Unfinished judgements: rows without a grade are left out, and counted


LEFT = "2 rows have no grade and are left out as unjudged."
UNGRADED = {
    "a.csv": "query,item,grade\nq1,a,1\nq1,b,\nq2,c,\nq3,d,0\n",
    "a.tsv": "query\titem\tgrade\nq1\ta\t1\nq1\tb\t\nq2\tc\t\nq3\td\t0\n",
    "named.csv": "query,item,grade\nq1,a,1\nq1,b,\nq2,c,\nq3,d,0\nq4,,\n",
    "a.jsonl": '{"query":"q1","item":"a","grade":1}\n{"query":"q1","item":"b","grade":null}\n'
    '{"query":"q2","item":"c"}\n{"query":"q3","item":"d","grade":0}\n',
    "a.json": '[{"query":"q1","item":"a","grade":1},{"query":"q1","item":"b","grade":""},'
    '{"query":"q2","item":"c","grade":null},{"query":"q3","item":"d","grade":0}]',
}


@pytest.mark.parametrize("name", UNGRADED)
def test_rows_without_a_grade_are_left_out_and_counted(write, name):
    table = read_judgements(write(name, UNGRADED[name]))
    assert table.frame.rows() == [("q1", "a", 1.0), ("q3", "d", 0.0)]
    assert LEFT in table.notes
    assert table.names() == ["q1", "q3", *(["q4"] if name == "named.csv" else [])]
    place = {"a.json": "row 4", "a.jsonl": "line 4"}.get(name, "line 5")
    assert table.where([1]) == place


def test_tables_are_the_same(tmp_path):
    frame = pl.DataFrame({"query": ["q1", "q1"], "item": ["a", "b"], "grade": [1, None]})
    for name, given in every_form(frame, tmp_path).items():
        if name == "pandas":  # which makes NaN of a missing grade
            continue
        table = read_judgements(given)
        assert table.frame.rows() == [("q1", "a", 1.0)]
        assert table.notes == ("1 row has no grade and is left out as unjudged.",)


def test_the_audit_says_it(write):
    path = write("a.csv", UNGRADED["a.csv"])
    with pytest.warns(match="^2 rows have no grade"):
        found = evaluate(path, {"q1": ["b", "a"], "q3": ["d"]}, "P@1")
    assert LEFT in found.audit["run"].notes
    assert LEFT in found.warnings()


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.csv", "query,item,grade\nq,a,\n"), ("a.jsonl", '{"query":"q","item":"a","grade":null}\n')],
)
def test_without_any_grade_it_is_refused(write, name, text):
    assert error_of(read_judgements, write(name, text)) == f"{name}: no row has a grade."
