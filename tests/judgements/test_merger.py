"""Several judges made one: each rule against a plain loop, files, and what is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
import pytest

import judged
from judged.errors import OutputError
from judged.judgements.merge import MERGE_RULES, one_grade, tied
from support.errors import error_of
from support.tables import queries_of, rows_of

JUDGES: dict[str, Any] = {
    "ann": {"q": {"a": 2, "b": 0, "c": 1}},
    "bob": {"q": {"a": 1, "b": 0, "d": 1}, "r": {"a": 3}},
    "carl": {"q": {"a": 1, "b": 1}},
}


def twin(grades: list[float], rule: str) -> float:
    """One item, its grades in the order of the judges."""
    if rule == "majority":
        counts = Counter(grades)
        return min(grade for grade in grades if counts[grade] == max(counts.values()))
    rules = {
        "mean": fmean,
        "median": median,
        "highest": max,
        "lowest": min,
        "first": lambda grades: grades[0],
    }
    return float(rules[rule](grades))


@pytest.mark.parametrize("rule", MERGE_RULES)
def test_every_rule_is_that_of_a_plain_loop(rule: str) -> None:
    generator = np.random.default_rng(3)
    grades = generator.choice([0, 0.1, 1, 2, 3], size=(400, 5))
    grades[generator.random(grades.shape) < 0.4] = np.nan
    found = one_grade(grades, rule)
    for row, grade in zip(grades, found, strict=True):
        known = row[~np.isnan(row)].tolist()
        if not known:
            assert np.isnan(grade)
        elif rule in ("mean", "median"):
            assert grade == pytest.approx(twin(known, rule), rel=1e-15)
        else:
            assert grade == twin(known, rule)


def test_split_majorities_are_counted_as_by_a_plain_loop() -> None:
    generator = np.random.default_rng(4)
    grades = generator.integers(0, 3, (300, 4)).astype(float)
    grades[generator.random(grades.shape) < 0.4] = np.nan
    for row, split in zip(grades, tied(grades), strict=True):
        counts = Counter(row[~np.isnan(row)].tolist())
        most = max(counts.values(), default=0)
        assert split == (list(counts.values()).count(most) > 1 if counts else False)


def test_the_mean_of_equal_grades_is_that_grade() -> None:
    # 0.1 + 0.1 + 0.1 is 0.30000000000000004.
    assert one_grade(np.array([[0.1, 0.1, 0.1]]), "mean").tolist() == [0.1]
    assert one_grade(np.array([[1e308, 1.5e308]]), "mean").tolist() == [1.25e308]


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ("majority", {"a": 1.0, "b": 0.0, "c": 1.0, "d": 1.0}),
        ("mean", {"a": 4 / 3, "b": 1 / 3, "c": 1.0, "d": 1.0}),
        ("highest", {"a": 2.0, "b": 1.0, "c": 1.0, "d": 1.0}),
        ("first", {"a": 2.0, "b": 0.0, "c": 1.0, "d": 1.0}),
    ],
)
def test_what_is_merged_is_judgements(rule: str, wanted: dict[str, float]) -> None:
    found = judged.merge_judgements(JUDGES, rule=rule)
    assert found.to_dict() == {"q": wanted, "r": {"a": 3.0}}
    assert found.judged_by == (0, 3, 0, 2)
    if rule == "first":  # whoever comes first settles
        settled = judged.merge_judgements({"settled": {"q": {"a": 3}}, **JUDGES}, rule=rule)
        assert settled.to_dict()["q"] == {**wanted, "a": 3.0}
    run = {"q": ["b", "a"], "r": ["a"]}
    values = [judged.evaluate(each, run, "nDCG").value() for each in (found, found.to_dict())]
    assert values[0] == pytest.approx(values[1])
    assert judged.agreement({"ann": JUDGES["ann"], "all": found}).pair().items == 3
    assert judged.read_judgements(found) is found


def test_what_is_said() -> None:
    found = judged.merge_judgements(JUDGES)
    assert found.sentences() == [
        "5 items of 2 queries, judged: 3 by 1 assessor, 2 by 3 assessors.",
        "Rule majority: the most frequent grade, the lowest of several.",
    ]
    nothing = judged.merge_judgements({"ann": {"q": {}}, "bob": {"q": {}}})
    assert (nothing.to_dict(), nothing.sentences()[0]) == ({"q": {}}, "0 items of 1 query.")
    [table] = found.tables()
    assert table.header == ["assessor", "judged", "alone", "grade kept"]
    assert table.rows == [["ann", "3", "1", "2"], ["bob", "4", "2", "4"], ["carl", "2", "0", "1"]]


def test_a_split_majority_takes_the_lowest_and_is_counted() -> None:
    two = {name: JUDGES[name] for name in ("bob", "ann")}
    found = judged.merge_judgements(two)
    assert found.to_dict()["q"]["a"] == 1.0
    assert found.warnings() == [
        "1 item has no majority, because several grades are equally frequent. The lowest of them "
        "is used. That is so wherever two assessors differ; a third would settle it."
    ]
    three = {**two, "dora": {"q": {"a": 0}, "r": {"a": 3}}}
    assert judged.merge_judgements(three).warnings() == [
        "1 item has no majority, because several grades are equally frequent. The lowest of them "
        "is used."
    ]
    evaluated = judged.evaluate(found, {"q": ["a"], "r": ["a"]}, "RR")
    assert any("no majority" in text for text in evaluated.warnings())


def test_a_negative_grade_counts_only_where_nobody_judged() -> None:
    judges = {"ann": {"q": {"a": -1, "b": -1}}, "bob": {"q": {"a": 2, "b": -2}}}
    found = judged.merge_judgements(judges, rule="mean")
    assert found.to_dict() == {"q": {"a": 2.0, "b": -1.0}}
    assert found.sentences()[2] == (
        "2 items of 1 query, judged: 1 by 0 assessors, 1 by 1 assessor."
    )


@pytest.mark.parametrize(
    "ending", ["", ".qrels", ".qrel", ".trec", ".txt", ".csv", ".json", ".parquet"]
)
def test_what_is_written_is_read_back(tmp_path: Path, ending: str) -> None:
    found = judged.merge_judgements(JUDGES, rule="mean")
    path = tmp_path / f"merged{ending}"
    found.save(path)
    again = judged.read_judgements(path)
    assert rows_of(again) == found.frame.rows()  # 4/3 with all its digits
    if ending == ".qrels":
        lines = path.read_text().splitlines()
        assert lines[:3] == ["q 0 a 1.3333333333333333", "q 0 b 0.3333333333333333", "q 0 c 1"]


@pytest.mark.parametrize("ending", [".qrels", ".csv", ".json", ".parquet"])
def test_subtopics_stay(tmp_path: Path, ending: str) -> None:
    judges = {"ann": {"q": {"a": {"1": 1, "2": 0}}}, "bob": {"q": {"a": {"1": 2}, "b": {"1": 1}}}}
    found = judged.merge_judgements(judges, rule="highest")
    assert found.to_dict() == {"q": {"a": {"1": 2.0, "2": 0.0}, "b": {"1": 1.0}}}
    found.save(tmp_path / f"merged{ending}")
    again = judged.read_judgements(tmp_path / f"merged{ending}")
    columns = ["query", "item", "grade", "subtopic"]
    assert sorted(rows_of(again)) == sorted(found.frame.select(columns).rows())


def test_queries_with_nothing_in_them_stay(tmp_path: Path) -> None:
    found = judged.merge_judgements({"ann": {"q": {"a": 1}, "none": {}}, "bob": {"q": {"a": 1}}})
    assert found.names() == ["q", "none"]
    found.save(tmp_path / "merged.json")
    again = judged.read_judgements(tmp_path / "merged.json")
    assert queries_of(again) == ["q", "none"]


@pytest.mark.parametrize(
    ("judgements", "file", "message"),
    [
        (
            {"q 1": {"a": 1}},
            "merged.qrels",
            "the query id 'q 1' has white space or a NUL in it, or begins like a comment, which a "
            "TREC file of judgements cannot hold; write .json, or change it.",
        ),
        (
            {"q": {"a": {"1": 1}}},
            "merged.qrels",
            "there is only one subtopic, which a TREC file of judgements cannot tell from none; "
            "write .json.",
        ),
        (
            {"q": {"a": 1}, "none": {}},
            "merged.qrels",
            "1 query has no judged item (none), which a TREC file of judgements cannot hold; write "
            ".json.",
        ),
    ],
)
def test_files_that_cannot_hold_them(
    tmp_path: Path, judgements: Any, file: str, message: str
) -> None:
    path, merged = tmp_path / file, judged.merge_judgements({"a": judgements, "b": judgements})
    assert error_of(merged.save, path, error=OutputError) == f"{path}: {message}"
    assert not path.exists()


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (
            JUDGES["ann"],
            {},
            "merge_judgements needs two or more assessors: give {name: judgements}, or a list of "
            "files; got only the judgements of one.",
        ),
        (
            JUDGES,
            {"columns": {"weight": "w"}},
            "columns: merged judgements have no weight; leave "
            "it out, and give it when they are evaluated.",
        ),
    ],
)
def test_what_is_refused(given: Any, options: dict[str, Any], message: str) -> None:
    assert error_of(judged.merge_judgements, given, **options) == message


def test_grades_below_relevant_that_a_rule_made_are_warned_of() -> None:
    judges = {"ann": {"q": {"a": 1, "b": 0, "c": 0.5}}, "bob": {"q": {"a": 0, "b": 0, "c": 0.5}}}
    said = (
        "1 item has a grade between 0 and 1 that no assessor gave, so it counts as not relevant in "
        "most measures. Set the relevant grade, such as P(rel=0.5)@10; nDCG uses the grade as it "
        "is."
    )
    for rule in ("mean", "median"):
        assert judged.merge_judgements(judges, rule=rule).warnings() == [said]
    assert judged.merge_judgements(judges, rule="highest").warnings() == []
