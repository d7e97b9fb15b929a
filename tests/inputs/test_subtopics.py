"""Judgements by subtopic, in every format; and second columns that say nothing."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

import judged
from judged.inputs import Judgements, Lookup, read_judgements
from judged.inputs.columns import NAMES
from support.errors import error_of
from support.tables import every_form, rows_of

ROWS = [("q1", "1", "a", 1), ("q1", "2", "a", 0), ("q2", "1", "b", 2), ("q1", "1", "c", 0)]
SUBTOPICS = ["1", "2", "1", "1"]


def trec(rows: list[tuple[str, str, str, int]], separator: str = " ") -> str:
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def delimited(separator: str, name: str = "subtopic") -> str:
    lines = [("item", name, "grade", "query"), *((i, s, g, q) for q, s, i, g in ROWS)]
    return "".join(separator.join(map(str, line)) + "\n" for line in lines)


def objects(name: str = "subtopic") -> list[dict[str, Any]]:
    return [{"query": q, name: s, "item": i, "grade": g} for q, s, i, g in ROWS]


NESTED = {"q1": {"a": {"1": 1, "2": 0}, "c": {"1": 0}}, "q2": {"b": {"1": 2}}}

FILES: dict[str, str] = {
    "plain.qrels": trec(ROWS),
    "tabs.qrels": trec(ROWS, "\t"),
    "uneven.qrels": trec(ROWS, "   "),
    "comments.qrels": "# query subtopic item grade\n" + trec(ROWS, " \t"),
    "a.csv": delimited(","),
    "a.ndjson": "".join(json.dumps(row) + "\n" for row in objects()),
    "mixed.ndjson": "".join(
        json.dumps({**row, "subtopic": int(row["subtopic"]) if number else "1"}) + "\n"
        for number, row in enumerate(objects())
    ),
    "nested.json": json.dumps(NESTED),
}


def read(given: Any) -> Judgements:
    table = read_judgements(given)
    assert isinstance(table, Judgements)
    return table


def test_every_form(write: Any) -> None:
    expected = [(query, item, grade, subtopic) for query, subtopic, item, grade in ROWS]
    frame = pl.DataFrame(objects())
    forms = {name: write(name, content) for name, content in FILES.items()}
    forms |= {f"numbers: {form}": given for form, given in every_form(frame).items()}
    for form, given in forms.items():
        table = read_judgements(given)
        assert table.by_subtopic
        assert sorted(rows_of(table)) == sorted(expected), form


@pytest.mark.parametrize("name", [*NAMES["subtopic"], "Subtopic-ID", " Aspect "])
def test_column_names(write: Any, name: str) -> None:
    assert read(write("a.csv", delimited(",", name))).frame["subtopic"].to_list() == SUBTOPICS
    assert read(pl.DataFrame(objects(name))).frame["subtopic"].to_list() == SUBTOPICS


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([1, 2, 1, 1]),
        pl.Series(SUBTOPICS, dtype=pl.Categorical),
        pl.Series([0.5, 1.5, 0.5, 0.5]),
        pl.Series([True, False, True, True]),
    ],
    ids=["integers", "categories", "floats", "booleans"],
)
def test_types_of_columns(column: pl.Series) -> None:
    table = read(pl.DataFrame(objects()).with_columns(subtopic=column))
    first, other, *rest = table.frame["subtopic"].to_list()
    assert first != other
    assert rest == [first, first]
    assert table.notes == ()


def test_two_columns_could_be_it(write: Any) -> None:
    frame = pl.DataFrame(objects()).with_columns(iteration=pl.lit("0"))
    table = read(frame)
    assert table.frame["subtopic"].to_list() == SUBTOPICS
    assert table.notes == ('Column "subtopic" was taken for the subtopic, not "iteration".',)


def test_dicts_are_looked_into() -> None:
    lookup = read_judgements(NESTED)
    assert isinstance(lookup, Lookup)
    assert lookup.by_subtopic
    assert lookup.lists == NESTED
    numbered = read_judgements({1: {2: {3: 1}}})
    assert isinstance(numbered, Lookup)
    assert numbered.lists == {"1": {"2": {"3": 1}}}
    assert numbered.notes == ("Ids that were not texts were turned into texts once.",)


def test_a_run_has_no_subtopics(write: Any) -> None:
    text = "query,item,score,iteration\nq,a,1,x\nq,b,2,y\n"
    assert judged.read_run(write("a.csv", text)).frame.columns == ["query", "item", "score"]


# -- columns that say nothing
# ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("filler", ["0", "Q0", "1", "ü"])
def test_the_same_in_all_rows_of_a_trec_file(write: Any, filler: str) -> None:
    rows = [("q1", filler, "a", 1), ("q1", filler, "b", 0), ("q2", filler, "a", 2)]
    for name, separator in (("even.qrels", " "), ("uneven.qrels", "  ")):
        table = read(write(name, trec(rows, separator)))
        assert table.frame.columns == ["query", "item", "grade"]
        assert not table.by_subtopic


def test_the_same_in_all_rows_of_an_iteration_column(write: Any) -> None:
    text = "query,iteration,item,grade\nq,0,a,1\nq,0,b,0\n"
    assert not read(write("a.csv", text)).by_subtopic
    frame = pl.DataFrame(
        {"query": ["q", "q"], "iteration": [0, 0], "item": ["a", "b"], "grade": [1, 0]}
    )
    assert not read(frame).by_subtopic
    assert read(frame).notes == ()


def test_the_same_in_all_rows_of_a_subtopic_column(write: Any) -> None:
    """Who writes a column of that name means it: one intent, as ndeval has it."""
    assert read(write("a.csv", "query,subtopic,item,grade\nq,0,a,1\nq,0,b,0\n")).by_subtopic


def test_an_empty_column_is_none(write: Any) -> None:
    assert not read(write("a.csv", "query,aspect,item,grade\nq,,a,1\nq,,b,0\n")).by_subtopic
    frame = pl.DataFrame(
        {"query": ["q"], "intent": pl.Series([None], dtype=pl.String), "item": ["a"], "grade": [1]}
    )
    assert not read(frame).by_subtopic
    floats = pl.DataFrame({"query": ["q"], "intent": [float("nan")], "item": ["a"], "grade": [1]})
    assert not read(floats).by_subtopic


MISSING: dict[str, tuple[str, str]] = {
    "a.csv": ("query,subtopic,item,grade\nq,1,a,1\nq,,b,0\n", "a.csv, line 3"),
    "last.csv": ("query,item,grade,subtopic\nq,a,1,1\nq,b,0\n", "last.csv, line 3"),
    "odd.csv": (
        '# made by hand\nquery,item,grade,subtopic\nq,a," 1",1\nq,b,0\n',
        "odd.csv, line 4",
    ),
    "a.ndjson": (
        '{"query":"q","item":"a","grade":1,"aspect":"1"}\n{"query":"q","item":"b","grade":0}\n',
        "a.ndjson, line 2",
    ),
    "a.json": (
        '[{"query":"q","item":"a","grade":1,"aspect":"1"},{"query":"q","item":"b","grade":0}]',
        "a.json, row 2",
    ),
}


@pytest.mark.parametrize("name", MISSING)
def test_missing_in_some_rows(write: Any, name: str) -> None:
    content, place = MISSING[name]
    missing = "the subtopic is missing; give one in every row, or in none."
    assert error_of(read, write(name, content)) == f"{place}: {missing}"
    frame = pl.DataFrame(objects()).with_columns(subtopic=pl.Series(["1", None, "1", "1"]))
    assert error_of(read, frame) == f"a data frame, row 2: {missing}"


@pytest.mark.parametrize("name", ["plain.qrels", "a.csv", "a.ndjson"])
def test_repeated_rows_are_named_by_line(write: Any, name: str) -> None:
    path = write(name, FILES[name] + FILES[name].splitlines(keepends=True)[-1])
    lines = FILES[name].count("\n")
    assert error_of(judged.Rankings.from_run, path, {"q1": ["a"]}).startswith(
        f"{name}, lines {lines} and {lines + 1}: query 'q1' has item 'c' more than once for "
        "subtopic '1'. "
    )
