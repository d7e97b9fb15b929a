"""Values of queries that are refused, each with its whole message."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from judged.inputs.values import values_of
from support.errors import error_of
from support.loops import for_each


def refused(given: Any, message: str, measure_name: Any = None) -> None:
    assert error_of(values_of, given, measure_name=measure_name) == message


FORMS = "{run: {query: value}}, {run: {measure: {query: value}}}, a table or files"
NAN = "NaN; give a number, or leave the query out of all runs."
NOT_ZERO = "A system that did not run is not a system that scored zero."
RUNS_OR_MEASURES = (
    "If they are runs, give measure_name; if measures, name the run: NAME=FILE, or a column run."
)


@for_each(
    ("text", "message"),
    [
        ("", ": the file is empty."),
        ("query,a\n", ": holds no rows."),
        ("query,a\nq1,\n", ": holds no values."),
        ("query,a,b\nq1,1,x\n", ", line 2: the value of query 'q1' in run 'b' is no number: 'x'."),
        (
            "query,a\nq1,1_000\n",
            ", line 2: the value of query 'q1' in run 'a' is no number: '1_000'.",
        ),
        ("query,a\nq1,nan\n", f", line 2: the value of query 'q1' in run 'a' is {NAN}"),
        (
            "run,query,value\na,q1,1\n\na,q1,1\n",
            ", line 4: query 'q1' has a value of 'value' in run 'a' already, in {path}. Give each "
            "query one value, and each run a name of its own, as in NAME=FILE.",
        ),
        (
            "run,query,measure,value\na,q1,AP,1\na,q2,AP,1\nb,q1,AP,1\n",
            ": run 'b' has no value of 'AP' for 1 query that run 'a' has ('q2'); give all runs the "
            "same queries, or leave these out of all.",
        ),
        (
            "run,query,measure,value\na,q1,AP,1\na,q2,AP,1\nb,q1,AP,1\nb,q2,AP,\n",
            ": run 'b' has no value of 'AP' for 1 query that run 'a' has ('q2'); give all runs the "
            "same queries, or leave these out of all.",
        ),
        ("query,a,b\nq1,1,\nq2,1,\n", f": run 'b' has no values. {NOT_ZERO}"),
        ("run,query,value\n,q1,1\n", ", line 2: the run is missing."),
        ("run,query,value\na,,1\n", ", line 2: the query is missing."),
        (
            "run,item,value\na,q1,1\n",
            ", line 1: of the three fields, either of the first two may be the measure; name the "
            "columns in a first line, such as measure, query and value.",
        ),
        (
            "run,query,measure\na,q1,AP\n",
            ", line 2: the value of query 'q1' in run 'a' is no number: 'AP'.",
        ),
        ("run,query\na,q1\n", ': no column has values; the columns are "run", "query".'),
        (
            "run,system,query,value\na,b,q1,1\n",
            ': the columns "run" and "system" may both be the run; leave one out.',
        ),
        (
            "query,docno,score\nq1,d,1\n",
            ": this looks like a run (query, item, score), not like values of queries; evaluate it "
            "with judgements first.",
        ),
        (
            "query,AP,dense\nq1,1,1\n",
            ': these may be runs or measures: "AP" is the name of a measure, others are not. '
            f"{RUNS_OR_MEASURES}",
        ),
        (
            "a q1 AP 0.5\n",
            ", line 1: the first line has to name the columns, such as run, query, measure and "
            'value; found "a q1 AP 0.5".',
        ),
        (
            "query,a\nq1,1,2\n",
            ', line 2: expected 2 fields, found 3: "q1 1 2". '
            "Put a cell with a separator in it between quotation marks.",
        ),
        ("map\tall\t0.5\n", ": holds no values of queries, only a summary; print them with -q."),
        ("map\t1\tx\n", ", line 1: the value of query '1' of 'map' is no number: 'x'."),
        (
            '{"runs": [{"name": "a", "scores": {}}], "judged": "0.1.0"}',
            ": holds no values of queries, only their summary; write it with per_query=True.",
        ),
        ('{"a": {"q1": true}}', ": the value of query 'q1' in run 'a' is no number: True."),
        ('{"runs": [], "judged": "0.1.0"}', ": holds no values."),
        ('{"a": {"q1": NaN}}', f": the value of query 'q1' in run 'a' is {NAN}"),
        ('{"a": {"q1": [1]}}', ": the value of query 'q1' in run 'a' is no number: [1]."),
        ('{"a": {"q1": 1}, "b": {}}', f": 'b' has no values. {NOT_ZERO}"),
        (
            '{"a": {"q1": 1}, "b": 2}',
            f": 'b' is 2, where others are dicts. Values of queries are {FORMS}.",
        ),
        (
            '{"query": "q1", "a": 1.5}\n{"query": "q2", "a": true}\n',
            ", line 2: the value of query 'q2' in run 'a' is no number: True.",
        ),
        ("[1, 2]", f", row 1: values of queries are {FORMS}; JSON is such a dict or table."),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "values"
    path.write_text(text)
    refused(path, f"{path}{message.replace('{path}', str(path))}")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, f"values of queries are {FORMS}; got int."),
        (None, f"values of queries are {FORMS}; got NoneType."),
        ({}, "the values given: holds no values."),
        ({"a": np.ones(2)}, f"values of queries are {FORMS}; got ndarray."),
        ({"a": "none.csv"}, "none.csv: no such file."),
        (
            {"a": {"q1": 1}, "b": {"Q1": 1}},
            "the values given: run 'a' has no value of 'value' for 1 query that run 'b' has "
            "('Q1'); give all runs the same queries, or leave these out of all.",
        ),
        (
            pl.DataFrame({"query": ["a"], "bm25": [[0.5]]}),
            "the values given, row 1: the value of query 'a' in run 'bm25' is no number: [0.5].",
        ),
        (
            pl.DataFrame({"query": ["a", "b"], "x": [0.5, math.nan]}),
            f"the values given, row 2: the value of query 'b' in run 'x' is {NAN}",
        ),
        (
            {"a": pl.DataFrame({"run": ["x", "y"], "query": ["q", "q"], "value": [1, 2]})},
            "the values of run 'a': is called 'a', but holds the runs 'x', 'y'; leave the name "
            "out.",
        ),
    ],
)
def test_what_is_refused(given: Any, message: str) -> None:
    refused(given, message)


def test_names_that_do_not_fit(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.csv").write_text("run,query,AP\nsame,q1,1\n")
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    refused(
        [a, b],
        f"{b}, line 2: query 'q1' has a value of 'AP' in run 'same' already, in {a}. Give each "
        "query one value, and each run a name of its own, as in NAME=FILE.",
    )
    assert values_of([f"x={a}", f"y={b}"]).runs == ("x", "y")
    refused([f"x={a}", f"x={b}"], "two runs are called 'x'; give each a name of its own.")
    refused(
        a,
        "measure_name is 'RR', but the values say themselves which measures they are of ('AP'); "
        "leave it out.",
        "RR",
    )
    refused(a, "measure_name must be a text; got 3.", 3)
