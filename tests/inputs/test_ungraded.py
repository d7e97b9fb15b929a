"""Judgements that are not finished: rows without a grade are left out, and counted."""

from __future__ import annotations

import polars as pl
import pytest

from judged import evaluate, read_judgements
from support.errors import error_of

LEFT = "2 rows have no grade and are left out as unjudged."
WAYS = {
    "a.csv": "query,item,grade\nq1,a,1\nq1,b,\nq2,c,\nq3,d,0\n",
    "a.tsv": "query\titem\tgrade\nq1\ta\t1\nq1\tb\t\nq2\tc\t\nq3\td\t0\n",
    "named.csv": "query,item,grade\nq1,a,1\nq1,b,\nq2,c,\nq3,d,0\nq4,,\n",
    "a.jsonl": '{"query":"q1","item":"a","grade":1}\n{"query":"q1","item":"b","grade":null}\n'
    '{"query":"q2","item":"c"}\n{"query":"q3","item":"d","grade":0}\n',
    "a.json": '[{"query":"q1","item":"a","grade":1},{"query":"q1","item":"b","grade":""},'
    '{"query":"q2","item":"c","grade":null},{"query":"q3","item":"d","grade":0}]',
}


@pytest.mark.parametrize("name", WAYS)
def test_rows_without_a_grade_are_left_out_and_counted(write, name):
    table = read_judgements(write(name, WAYS[name]))
    assert table.frame.rows() == [("q1", "a", 1.0), ("q3", "d", 0.0)]
    assert LEFT in table.notes
    assert table.names() == ["q1", "q3", *(["q4"] if name == "named.csv" else [])]
    place = {"a.json": "row 4", "a.jsonl": "line 4"}.get(name, "line 5")
    assert table.where([1]) == place


def test_tables_are_the_same(tmp_path):
    frame = pl.DataFrame({"query": ["q1", "q1"], "item": ["a", "b"], "grade": [1, None]})
    frame.write_parquet(tmp_path / "a.parquet")
    for given in (frame, frame.lazy(), tmp_path / "a.parquet"):
        table = read_judgements(given)
        assert table.frame.rows() == [("q1", "a", 1.0)]
        assert table.notes == ("1 row has no grade and is left out as unjudged.",)


def test_the_audit_says_it(write):
    path = write("a.csv", WAYS["a.csv"])
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
