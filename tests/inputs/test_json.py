"""Parquet, NDJSON and JSON."""

from __future__ import annotations

import math

import polars as pl
import pytest

import judged
from judged.inputs import read_run
from support.errors import error_of
from support.tables import queries_of, rows_of

ROWS = [("q1", "d1", 1.5), ("q1", "d2", 0.5)]


def test_parquet(write):
    path = write("a.parquet", b"")
    pl.DataFrame(
        {"qid": ["q1", "q1"], "docno": ["d1", "d2"], "score": [1.5, 0.5], "other": [1, 2]}
    ).write_parquet(path)
    run = read_run(path)
    assert run.frame.rows() == ROWS
    assert (run.name, run.source, run.where([1])) == ("a", "a.parquet", "row 2")
    path.rename("no-suffix")
    assert read_run("no-suffix").frame.rows() == ROWS


def test_parquet_from_standard_input(write, standard_input):
    path = write("a.parquet", b"")
    pl.DataFrame({"qid": ["q1", "q1"], "docno": ["d1", "d2"], "score": [1.5, 0.5]}).write_parquet(
        path
    )
    standard_input(path.read_bytes())
    assert read_run("-").frame.rows() == ROWS


def test_parquet_that_is_none(write):
    for content in (b"PAR1 and then nothing good", b"hello\n"):
        text = error_of(read_run, write("a.parquet", content))
        assert text.startswith("a.parquet: not a Parquet file that can be read (")
        assert "\n" not in text


NDJSON = (
    '{"query": "q1", "item": "d1", "score": 1.5}\n{"query": "q1", "item": "d2", "score": 0.5}\n'
)


@pytest.mark.parametrize("name", ["a.ndjson", "a.jsonl", "a.json", "a"])
@pytest.mark.parametrize(
    "text",
    [
        NDJSON,
        NDJSON[:-1],
        NDJSON.replace("\n", "\r\n"),
        NDJSON.replace("\n", "\n\n"),
        "\ufeff" + NDJSON,
    ],
)
def test_ndjson(write, name, text):
    run = read_run(write(name, text))
    assert run.frame.rows() == ROWS
    assert run.notes == ()


def test_ndjson_lines(write):
    run = read_run(write("a.ndjson", "\n" + NDJSON.replace("\n", "\n\n")))
    assert run.where([0, 1]) == "lines 2 and 4"


def test_ndjson_with_integers(write):
    text = '{"query": 1, "item": 7, "rank": 1}\n{"query": 1, "item": 8, "rank": 2}\n'
    run = read_run(write("a.ndjson", text))
    assert run.frame.rows() == [("1", "7", -1.0), ("1", "8", -2.0)]
    assert run.notes == (
        'The integer ids of column "query" were turned into strings.',
        'The integer ids of column "item" were turned into strings.',
        'There is no score: column "rank" gives the order.',
    )


def test_ndjson_with_mixed_ids_and_odd_numbers(write):
    text = (
        '{"query": 1, "item": "d", "score": NaN}\n{"query": "01", "item": "1.5", "score": '
        "-Infinity}\n"
    )
    run = read_run(write("a.ndjson", text))
    assert run.frame["query"].to_list() == ["1", "01"]
    assert run.frame["item"].to_list() == ["d", "1.5"]
    assert math.isnan(run.frame["score"][0])
    assert run.frame["score"][1] == -math.inf
    assert run.notes == ()


FIRST = '{"query": "q1", "item": "d1", "score": 1.5}\n'
NDJSON_ERRORS = {
    FIRST + '{"query": "q1", "item": "d2",\n': (
        "line 2: not valid JSON (Expecting property name enclosed in double quotes, column 30): "
        '"{"query": "q1", "item": "d2",". The text may be cut off here.'
    ),
    FIRST + "[1, 2]\n": 'line 2: expected a JSON object, found "[1, 2]".',
    FIRST + '{"query": "q1", "item": "d2"}\n': "line 2: the score is missing.",
    FIRST + '{"query": null, "item": "d2", "score": 1}\n': ("line 2: the query is missing."),
    FIRST + '{"query": "q1", "item": 2.5, "score": 1}\n': (
        'line 2: the item is "2.5", but ids must be strings or integers.'
    ),
    FIRST + '{"query": true, "item": "d", "score": 1}\n': (
        'line 2: the query is "true", but ids must be strings or integers.'
    ),
    FIRST + '{"query": "q1", "item": "d2", "score": "1.5"}\n': (
        'line 2: the score is not a number: ""1.5"".'
    ),
    FIRST + '{"query": "q1", "item": "d2", "score": true}\n': (
        'line 2: the score is not a number: "true".'
    ),
}


@pytest.mark.parametrize("text", NDJSON_ERRORS)
def test_ndjson_errors(write, text):
    assert error_of(read_run, write("a.ndjson", text)) == f"a.ndjson, {NDJSON_ERRORS[text]}"


def test_half_a_pair_matters_only_in_ids(write):
    text = '{"query": "q", "item": "d", "score": 1, "title": "\\ud800"}\n'
    assert read_run(write("a.ndjson", text)).frame.rows() == [("q", "d", 1.0)]
    for role, name in {"item": "d", "query": "q"}.items():
        bad = text.replace(f'"{name}"', '"\\ud800"')
        assert error_of(read_run, write("a.ndjson", text + bad)) == (
            f"the {role} '\\ud800' holds half a character, as names of files may that are not "
            f"UTF-8; "
            "a table cannot hold it. Rename it."
        )


@pytest.mark.parametrize(
    "text",
    [
        '{"q1": {"d1": 1.5, "d2": 0.5}}',
        '\n{\n "q1": {\n  "d1": 1.5,\n  "d2": 0.5\n }\n}\n',
        '[{"query": "q1", "item": "d1", "score": 1.5}, {"query": "q1", "item": "d2", "score": '
        "0.5}]",
    ],
)
@pytest.mark.parametrize("name", ["a.json", "a"])
def test_json(write, text, name):
    run = read_run(write(name, text))
    assert rows_of(run) == ROWS
    assert run.notes == ()


def test_json_of_ranked_lists(write):
    run = read_run(write("a.json", '{"q1": ["d1", "d2"], "q2": []}'))
    assert rows_of(run) == [("q1", "d1", 2.0), ("q1", "d2", 1.0)]
    assert queries_of(run) == ["q1", "q2"]
    assert run.notes == ("There are no scores: the order of each list is the ranking.",)


EXPECTED = (
    "JSON should be {query: {item: score}}, {query: [item, …]} or {query: [[item, score], …]}, or "
    "a list of rows with names."
)
JSON_ERRORS = {
    '{"q1": {"d1": "x"}}': 'a.json, query "q1", item "d1": the score is not a number: ""x"".',
    '{"q1": {"d1": null}}': 'a.json, query "q1", item "d1": the score is not a number: "null".',
    '{"q1": 5, "q2": {}}': (
        "a.json, query 'q1' has a int; give it a dict of items, each with a score."
    ),
    '{"q1": [1, 2.5]}': (
        "a.json, query 'q1': the id 2.5 of result 2 is of type float; ids must be texts or whole "
        "numbers."
    ),
    '{"q1": [["d1", 2], "d2"]}': (
        "a.json, query 'q1': result 2 is 'd2', but result 1 is ['d1', 2]; a list holds items, "
        "the best first, or (item, score) throughout."
    ),
    '{"q1": [["d1", "2"]]}': ('a.json, query "q1", item "d1": the score is not a number: ""2"".'),
    '{"q1": ["d1"], "q2": {"d1": 1}}': (
        "a.json, query 'q2' has a dict where other queries have a ranked list; give every query a "
        "list of items, or every query a dict of scores."
    ),
    '{"q1": {"": 1}}': (
        "a.json, query 'q1': the id '' is an empty text; ids must be texts or whole numbers."
    ),
    "5": f"a.json: {EXPECTED}",
    "[1, 2]": f"a.json, row 1: {EXPECTED}",
    "{}": "a.json: holds no rows.",
    "[]": "a.json: holds no rows.",
    '{"q1": {"}": 1},\n "q2": {"d1": 1,\n "d2": {}, "d1": 2}}': (
        'a.json: the JSON cannot be read ("d1" occurs twice in one object).'
    ),
    '{"q1": {"d1": 1},\n\n': (
        "a.json, line 3: not valid JSON (Expecting property name enclosed in double quotes, column "
        '1): "{"q1": {"d1": 1},". The text may be cut off here.'
    ),
    '{"q1": {"d1": 1},\n "q2": {"d1" 2}\n}': (
        'a.json, line 2: not valid JSON (Expecting \':\' delimiter, column 14): " "q2": {"d1" 2}".'
    ),
    '[{"query": "q", "item": "d", "score": 1},\n {"query": "q", "item": "e"}]': (
        "a.json, row 2: the score is missing."
    ),
    '[{"query": 1' + "0" * 5000 + "}]": (
        "a.json: the JSON cannot be read (Exceeds the limit (4300 digits) for integer string "
        "conversion: "
        "value has 5001 digits; use sys.set_int_max_str_digits() to increase the limit)."
    ),
    "[" * 100_000: f"a.json: the JSON is nested too deeply. {EXPECTED}",
}


@pytest.mark.parametrize("text", JSON_ERRORS, ids=lambda text: text[:30])
def test_json_errors(write, text):
    assert error_of(read_run, write("a.json", text), format="json") == JSON_ERRORS[text]


def test_json_with_a_number_beyond_floats(write):
    path = write("a.json", '{"q": {"d": -1' + "0" * 400 + "}}")
    assert error_of(judged.evaluate, {"q": ["d"]}, path).endswith(
        "where a score should be; it is beyond all floating-point numbers."
    )


def test_a_grade_that_is_nan(write):
    path = write("a.json", '{"q1": {"d0": 1, "d1": NaN}}')
    assert error_of(judged.evaluate, path, {"q1": ["d0"]}) == (
        "a.json: the grade of item 'd1' for query 'q1' is nan; grades must be finite numbers."
    )
