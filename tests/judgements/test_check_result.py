"""What the result of a check says, and in which formats."""

from __future__ import annotations

import json

import pytest

import judged
from judged.judgements.collection import FindingEffect, ValueChange

JUDGEMENTS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1, "b": 0}, "q3": {"b": 0}}
RUNS = {"one": {"q1": ["b", "a"], "q2": ["c"], "q3": ["b"]}, "two": {"q1": ["a"], "q2": ["c"]}}


@pytest.fixture(scope="module")
def found() -> judged.results.CollectionCheck:
    return judged.check(JUDGEMENTS, RUNS, "RR")


def test_sentences_come_first_and_numbers_after_them(found: judged.results.CollectionCheck) -> None:
    # RR of one: (1/2 + 1 + 0)/3 and (1/2 + 1)/2; of two: (1 + 1 + 0)/3 and 1.
    assert found.to_text().splitlines() == [
        "1 kind of problem found (3 queries, 5 judgements, 2 runs checked).",
        "nothing-relevant: 1 of 3 judged queries has no relevant items.",
        "  'q3'",
        "  Without this query: RR of two 0.6667 → 1.0000 (+0.3333), RR of one 0.5000 → 0.7500 "
        "(+0.2500).",
        "",
        "finding           run  measure  as it is  corrected  difference",
        "nothing-relevant  one  RR         0.5000     0.7500     +0.2500",
        "nothing-relevant  two  RR         0.6667     1.0000     +0.3333",
        "",
        "Not checked: (nearly) identical queries: no texts or vectors of queries were given.",
        "Not checked: unjudged twins of relevant items, and judged items that occur nowhere: no "
        "texts or vectors of items were given.",
        "Not checked: overlap with a training set: none was given.",
        "More: to_text(verbose=True).",
    ]
    assert found.to_text(verbose=True).splitlines()[-2:] == [
        "Relevant: any grade above 0.",
        "As it is: the value of 'judged evaluate' for all judgements. Corrected: the same run, "
        "measure and policy (ties=id, missing=zero, empty=zero, unjudged=nonrelevant, "
        "duplicates=first), with only the finding corrected.",
    ]
    assert found.to_text(quiet=True).splitlines()[-3].startswith("finding")


def test_json_is_plain(found: judged.results.CollectionCheck) -> None:
    read = json.loads(found.to_json())
    assert read == found.to_dict()
    assert read["findings"][0] == {
        "finding": "nothing-relevant",
        "count": 1,
        "says": "1 of 3 judged queries has no relevant items.",
        "examples": [{"query": "q3"}],
        "otherwise": "without this query",
        "no_numbers": None,
        "numbers": [
            {"run": "one", "measure": "RR", "as_is": 0.5, "otherwise": 0.75, "difference": 0.25},
            {
                "run": "two",
                "measure": "RR",
                "as_is": pytest.approx(2 / 3),
                "otherwise": 1.0,
                "difference": pytest.approx(1 / 3),
            },
        ],
    }
    assert read["looked_at"] == {"queries": 3, "judgements": 5, "runs": 2}


def test_three_examples_and_how_many_more() -> None:
    judgements = {f"q{number}": {"a": number % 2} for number in range(10)}
    finding = judged.check(judgements).finding("nothing-relevant")
    assert finding is not None
    assert finding.sentences() == [
        "nothing-relevant: 5 of 10 judged queries have no relevant items.",
        "  'q0'",
        "  'q2'",
        "  'q4'",
        "  … and 2 more",
    ]


def test_what_an_effect_says() -> None:
    same = ValueChange("one", "AP", 0.5, 0.5)
    moved = [ValueChange("one", "P", 0.5, 0.5 + step / 100) for step in range(1, 7)]
    assert str(FindingEffect("without them", (same,))) == "Without them, all values stay the same."
    assert str(FindingEffect("without them", (same, *moved))).endswith(
        "P of one 0.5000 → 0.5300 (+0.0300); the others change less or not at all."
    )


def test_nothing_left_is_said() -> None:
    finding = judged.check({"q": {"a": 0}}, {"q": ["a"]}).findings[0]
    assert finding.effect.reason == "Nothing is left to evaluate without this query."
