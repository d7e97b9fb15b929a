"""`judged identify`: from a number to the definitions that give it."""

from __future__ import annotations

import json

import pytest

# AP of a.run: q1 finds x at rank 2, q2 finds u and v at ranks 1 and 3, q3 is missing: (1/2 + 5/6) /
# 3 and (1/2 + 5/6) / 2.


def test_the_table(judged, files):
    done = judged("identify", "0.6667", "qrels", "a.run", "-m", "AP", "-v")
    assert (done.code, done.err) == (0, "")
    row = next(line for line in done.out.splitlines() if "0.666667" in line)
    assert row.split()[:3] == ["0.666667", "AP,", "missing=skip"]
    assert "pytrec_eval" in row
    assert "No effect here: ties (no judged results are tied)." in done.out


def test_json(judged, files):
    done = judged("identify", "44.44%", "qrels", "a.run", "--measure", "AP@3", "--format", "json")
    found = json.loads(done.out)
    assert found["readings"] == [{"number": 0.4444, "percent": True}]
    assert found["matches"][0]["measure"] == "AP@3"
    assert found["matches"][0]["policy"]["missing"] == "zero"
    assert {"library": "trec_eval", "name": "map_cut_3", "options": ["-c"]} in found["matches"][0][
        "libraries"
    ]


def test_markdown_and_a_limit(judged, files):
    done = judged("identify", "0.5", "qrels", "a.run", "--format", "markdown", "--limit", "2")
    lines = done.out.splitlines()
    assert lines[2:4] == ["| value | definition | as in |", "| --- | --- | --- |"]
    assert sum(line.startswith("| 0.") for line in lines) == 2


def test_the_other_options(judged, files):
    (files / "twice.run").write_text("q1 Q0 x 1 3.0 a\nq1 Q0 x 2 2.0 a\nq1 Q0 z 3 1.0 a\n")
    options = [
        "--duplicates",
        "first",
        "--depth",
        "1",
        "--collection",
        "10",
        "--qrels-format",
        "trec",
        "--run-format",
        "trec",
    ]
    done = judged("identify", "9", "qrels", "twice.run", "-m", "TN", *options, "--format", "json")
    # Of ten items one is relevant and found at rank 1: nine are left, for this query alone.
    assert json.loads(done.out)["matches"][0]["measure"] == "TN"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["high", "qrels", "a.run"],
            "cannot read the number 'high'; write it as it was printed, such as 0.4433, 44.33 or "
            "44.33%.",
        ),
        (["0.5", "qrels", "nofile.run"], "nofile.run: no such file."),
        (["0.5", "noqrels", "a.run"], "noqrels: no such file."),
        (["0.5", "-", "-"], "standard input (-) can be read only once; give the other as a file."),
        (
            ["0.5", "qrels", "a.run", "-m", "nDGC"],
            "There is no measure 'nDGC'; did you mean 'nDCG'? 'judged measures' lists them all.",
        ),
        (
            ["0.5", "qrels", "a.run", "-m", "TN"],
            "TN counts the items that were not retrieved and needs the size of the collection; "
            "give it as collection=… (--collection on the command line).",
        ),
        (
            ["0.5", "qrels", "a.run", "--depth", "0"],
            "--depth must be a whole number from 1; got 0.",
        ),
    ],
)
def test_refusals(judged, files, arguments, message):
    result = judged("identify", *arguments)
    assert (result.code, result.out, result.err) == (2, "", f"judged: {message}\n")


def test_a_limit_below_one(judged, files):
    result = judged("identify", "0.5", "qrels", "a.run", "--limit", "0")
    assert (result.code, result.out) == (2, "")
    assert "Invalid value for '--limit': 0 is not in the range x>=1." in result.err
