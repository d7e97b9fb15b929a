"""Judgements by subtopic on their way into Rankings: collapsed, repeated, cut, condensed, taken,
refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import judged
from judged import Rankings
from judged.errors import MeasureError
from judged.matching.ties import condensed
from judged.measures import parse_measure
from measures.diversity.generated import Collection, generate
from support.errors import error_of

MEASURES = [
    *("alpha_nDCG@10", "alpha_DCG", "ERR_IA@5", "nERR_IA", "NRBP", "nNRBP", "AP_IA", "P_IA@5"),
    *("StRecall@3",),
]
PLAIN = ["AP", "nDCG@10", "P@5", "NumRel"]


def frame(collection: Collection) -> pl.DataFrame:
    return pl.DataFrame(
        collection.rows, schema=["query", "subtopic", "item", "grade"], orient="row"
    )


def run_frame(collection: Collection) -> pl.DataFrame:
    rows = [
        (query, item, score)
        for query, each in collection.run.items()
        for item, score in each.items()
    ]
    return pl.DataFrame(rows, schema=["query", "item", "score"], orient="row").sample(
        fraction=1, shuffle=True, seed=7
    )


def values(
    judgements: Any, run: Any, measures: list[str], **options: Any
) -> dict[str, dict[str, float]]:
    evaluation = judged.evaluate(judgements, run, measures, **options)
    return {
        row["query"]: {name: row[name] for name in measures}
        for row in evaluation.to_frame(per_query=True).iter_rows(named=True)
    }


def test_collapsed_to_the_best_grade() -> None:
    collection = generate(2)
    best = {
        query: {item: max(grades.values()) for item, grades in items.items()}
        for query, items in collection.judgements.items()
    }
    expected = values(best, collection.run, PLAIN)
    assert values(collection.judgements, collection.run, PLAIN) == expected
    assert values(frame(collection), run_frame(collection), PLAIN) == expected


NOTE = (
    "3 judgements by subtopic are of 2 items: measures that know no subtopics take the best "
    "grade of each item."
)


@pytest.mark.parametrize("as_frame", [False, True])
def test_the_audit_says_so(as_frame: bool) -> None:
    nested = {"q": {"a": {"1": 1, "2": 0}, "b": {"1": 1}}}
    rows = [
        ("q", item, subtopic, grade)
        for item, each in nested["q"].items()
        for subtopic, grade in each.items()
    ]
    table = pl.DataFrame(rows, schema=["query", "item", "subtopic", "grade"], orient="row")
    audit = judged.evaluate(table if as_frame else nested, {"q": {"a": 1.0}}, ["AP"]).audit["run"]
    assert audit.notes == (NOTE,)
    assert audit.sentences()[-1] == NOTE


# -- repeated rows

REPEATED = {
    "query": ["q"] * 4,
    "item": ["a", "a", "b", "a"],
    "subtopic": ["1", "2", "1", "1"],
    "grade": [1, 1, 0, 0],
}


def test_the_same_subtopic_twice_is_an_error() -> None:
    assert error_of(judged.Rankings.from_run, pl.DataFrame(REPEATED), {"q": ["a"]}) == (
        "a data frame, rows 1 and 4: query 'q' has item 'a' more than once for subtopic '1'. "
        "Remove the repetitions, or keep the best-ranked of each with duplicates='first'."
    )


# -- what is done to rankings


def test_depth_is_a_shorter_run() -> None:
    collection = generate(3)
    short = {
        query: dict(sorted(each.items(), key=lambda pair: -pair[1])[:7])
        for query, each in collection.run.items()
    }
    assert values(collection.judgements, collection.run, MEASURES, policy={"depth": 7}) == values(
        collection.judgements, short, MEASURES
    )


def test_condensed_is_a_run_without_unjudged_items() -> None:
    collection = generate(4)
    known = {
        query: {item for item, grades in items.items() if max(grades.values()) >= 0}
        for query, items in collection.judgements.items()
    }
    kept = {
        query: {item: score for item, score in each.items() if item in known.get(query, ())}
        for query, each in collection.run.items()
    }
    policy = {"unjudged": "removed"}
    expected = values(collection.judgements, kept, MEASURES)
    assert values(collection.judgements, collection.run, MEASURES, policy=policy) == expected
    later = (
        condensed(judged.Rankings.from_run(collection.judgements, collection.run))
        .evaluate(MEASURES)
        .scored()
    )
    assert [later.values[parse_measure(name)].tolist() for name in MEASURES] == [
        [expected[query][name] for query in later.queries] for name in MEASURES
    ]


# -- lists in rank order


def test_lists_in_rank_order() -> None:
    lists = [[{"a": 1}, None, {"a": 1, "b": 2}], [None]]
    rankings = Rankings.from_relevance(lists)
    assert rankings.pool_grade.tolist() == [2.0, 1.0]
    assert parse_measure("StRecall@2").compute(rankings).tolist()[0] == 0.5
    assert np.isnan(parse_measure("StRecall@2").compute(rankings)[1])
    more = Rankings.from_relevance(lists, pool=[[{"c": 1}, {"a": 1, "b": 2}, {"a": 1}], []])
    assert parse_measure("StRecall@2").compute(more).tolist()[0] == 1 / 3


LIST_ERRORS: dict[str, tuple[list[Any], dict[str, Any], str]] = {
    "mixed": (
        [[{"a": 1}, 0]],
        {},
        "where some items have {subtopic: grade}, all judged items must; got 0.",
    ),
    "count": (
        [[{"a": 1}]],
        {"relevant": 3},
        "relevant says nothing of subtopics; give pool, the {subtopic: grade} of all judged items.",
    ),
    "pool": (
        [[{"a": 1}]],
        {"pool": [[{"b": 1}]]},
        "pool lacks {'a': 1}, which is in a list; it holds all judged items, in the list and "
        "outside it.",
    ),
}


@pytest.mark.parametrize("case", LIST_ERRORS)
def test_lists_that_are_refused(case: str) -> None:
    lists, options, message = LIST_ERRORS[case]
    assert error_of(Rankings.from_relevance, lists, **options) == message


# -- no subtopics

NEEDED = (
    "{} needs judgements by subtopic, and these have none. Subtopics are the second column of TREC "
    "qrels "
    "(where it is not the same in all rows), a column named subtopic, aspect, nugget, intent or "
    "iteration, or "
    "{{query: {{item: {{subtopic: grade}}}}}}."
)


@pytest.mark.parametrize("measure", MEASURES)
def test_judgements_without_subtopics(measure: str) -> None:
    assert error_of(
        judged.evaluate, {"q": {"a": 1}}, {"q": ["a"]}, [measure], error=MeasureError
    ) == NEEDED.format(parse_measure(measure).spec.name)


DICT_ERRORS: dict[str, tuple[dict[str, Any], str]] = {
    "number among dicts": (
        {"q": {"a": {"1": 1}, "b": 1}},
        "item 'b' of query 'q' has 1 where other items have grades by subtopic; "
        "give every item {subtopic: grade}, with a grade of 0 where it serves none.",
    ),
    "dict among numbers": (
        {"q": {"a": 1, "b": {"1": 1}}},
        "item 'b' of query 'q' has {'1': 1} where a grade should be; give a number.",
    ),
    "text": (
        {"q": {"a": {"1": "high"}}},
        "item 'a' of query 'q' has 'high' where a grade for subtopic '1' should be; give a number.",
    ),
    "same text": (
        {"q": {"a": {"1": 1, 1: 0}}},
        "item 'a' of query 'q' has subtopics other than texts and numbers, or equal as texts.",
    ),
}


@pytest.mark.parametrize("case", DICT_ERRORS)
def test_dicts_that_are_refused(case: str) -> None:
    judgements, message = DICT_ERRORS[case]
    assert error_of(judged.Rankings.from_run, judgements, {"q": ["a"]}) == message
