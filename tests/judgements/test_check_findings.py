"""Every finding on data made by hand; its effect is what `judged.evaluate` has for judgements that
were edited by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import judged
from judged.judgements.check import FINDING_KINDS, CollectionCheck
from judged.judgements.findings import CollectionFinding

Grades = Mapping[str, Mapping[str, float]]

MEASURES = ["nDCG@10", "AP", "P@2", "R@3"]
JUDGEMENTS = {
    "q1": {"a": 2, "b": 0},
    "q2": {"c": 1, "d": 0, "a": 0},
    "q3": {"d": 1, "e": 1, "a": 0},
    "q4": {"e": 3, "b": 0, "c": 1},
}
RUNS = {
    "one": {
        "q1": {"b": 0.9, "a": 0.8, "c": 0.7},
        "q2": {"c": 0.9, "a": 0.8, "d": 0.7},
        "q3": {"a": 0.9, "e": 0.8, "d": 0.7},
        "q4": {"c": 0.9, "d": 0.8, "e": 0.7, "b": 0.1},
    },
    "two": {
        "q1": {"a": 0.9, "e": 0.8, "b": 0.7},
        "q2": {"d": 0.9, "e": 0.8, "c": 0.7},
        "q3": {"d": 0.9, "b": 0.8, "e": 0.7},
        "q4": {"a": 0.9, "e": 0.8},
    },
}
QUERIES = {"q1": "cold war", "q2": "warm peace", "q3": "python 2", "q4": "python 3"}
ITEMS = {"a": "ice", "b": "snow", "c": "rain", "d": "hail", "e": "fog"}
ALL: dict[str, Any] = {"queries": QUERIES, "items": ITEMS, "training": {"t": {"a": 1, "b": 0}}}


def check(judgements: Any = JUDGEMENTS, runs: Any = RUNS, **given: Any) -> CollectionCheck:
    return judged.check(judgements, runs, MEASURES, **given)


def only(found: CollectionCheck, name: str) -> CollectionFinding:
    assert [each.name for each in found.findings] == [name]
    return found.findings[0]


def assert_effect(
    finding: CollectionFinding,
    before: Any,
    after: Any,
    runs: Any = RUNS,
    after_runs: Any = None,
    **given: Any,
) -> None:
    """The numbers of a finding are those of both judgements."""
    one = judged.evaluate(before, runs, MEASURES, **given).to_frame()
    other = judged.evaluate(after, runs if after_runs is None else after_runs, MEASURES, **given)
    expected = [
        (run, measure, old, new)
        for (run, *olds), (_, *news) in zip(one.rows(), other.to_frame().rows(), strict=True)
        for measure, old, new in zip(MEASURES, olds, news, strict=True)
    ]
    got = [(each.run, each.measure, each.as_is, each.otherwise) for each in finding.effect.changes]
    assert got == expected
    assert finding.effect.reason == ""


def without(judgements: Grades, *queries: str) -> dict[str, Any]:
    return {query: own for query, own in judgements.items() if query not in queries}


def test_a_sound_collection_has_no_findings() -> None:
    found = check(**ALL)
    assert found.findings == ()
    assert found.sound
    assert found.unchecked == (
        "queries that are in the training set by their texts: it has only judgements.",
    )
    assert found.sentences()[0] == "No problems found (4 queries, 11 judgements, 2 runs checked)."


def test_a_sound_collection_of_a_thousand_queries() -> None:
    """Words by chance, ids of all kinds, every item there: nothing is found."""
    random = np.random.default_rng(7)
    words = np.array([f"{a}{b}{c}" for a in "bcdfgh" for b in "aeiou" for c in "lmnrst"])
    items = {f"D{n}x": " ".join(random.choice(words, 12)) for n in range(3000)}
    queries = {f"Q{n}": " ".join(random.choice(words, 5)) for n in range(1000)}
    ids = np.array(list(items))
    grades = [2, 1, 0, 0]
    judgements = {q: dict(zip(random.choice(ids, 4, False), grades, strict=True)) for q in queries}
    run = {q: [*random.choice(ids, 5, False), *own] for q, own in judgements.items()}
    run = {q: list(dict.fromkeys(own)) for q, own in run.items()}
    matrix = random.normal(size=(3000, 16))
    given = {"item_vectors": matrix, "query_vectors": random.normal(size=(1000, 16))}
    found = judged.check(judgements, {"run": run}, queries=queries, items=items, **given)
    assert found.findings == ()


def test_the_same_query_with_other_relevant_items() -> None:
    queries = {"q1": "Cold war?", "q2": "  cold WAR", "q3": "warm", "q4": "peace"}
    finding = only(check(**{**ALL, "queries": queries}), "query-twins")
    assert finding.count == 1
    assert finding.says == (
        "1 pair of identical or nearly identical queries with different relevant items (2 of 4 "
        "queries)."
    )
    assert finding.examples == (
        "'q1' \"Cold war?\" and 'q2' \"cold WAR\" (the same words): relevant are 'a' and 'c'",
    )
    assert finding.about[0]["relevant"] == [["a"], ["c"]]
    assert finding.effect.otherwise == "without these 2 queries"
    assert_effect(finding, JUDGEMENTS, without(JUDGEMENTS, "q1", "q2"))


def test_near_queries_by_their_vectors() -> None:
    vectors = np.array([[1, 0, 0.0], [0, 1, 0], [0, 0, 1], [0.001, 0, 1]])
    found = check(query_vectors=judged.Vectors(vectors, ids=tuple(QUERIES)), items=ITEMS)
    finding = only(found, "query-twins")
    assert finding.examples == (
        "'q3' and 'q4' (cosine 1.0000): relevant are 'd', 'e' and 'c', 'e'",
    )
    assert finding.about[0]["texts"] is None
    assert_effect(finding, JUDGEMENTS, without(JUDGEMENTS, "q3", "q4"))


def test_twins_by_vectors_and_by_texts_are_counted_once() -> None:
    vectors = np.eye(6)[[0, 1, 2, 3, 4, 4]]
    items = {**ITEMS, "e2": "fog"}
    finding = only(check(items=items, item_vectors=vectors, queries=QUERIES), "item-twins")
    assert finding.count == 2  # e2 for q3 and for q4
    assert [each["by"] for each in finding.about] == ["text", "text"]
    alone = only(
        check(items=judged.Vectors(vectors, ids=tuple(items)), queries=QUERIES),
        "item-twins",
    )
    assert [each["by"] for each in alone.about] == ["vector", "vector"]
    assert alone.effect == finding.effect


def test_twins_have_the_grades_of_their_twin_by_subtopic() -> None:
    before = {"q": {"a": {"1": 1, "2": 0}, "b": {"2": 1}, "c": {"1": 0}}}
    after = {"q": {**before["q"], "a2": {"1": 1, "2": 0}}}
    runs = {"one": {"q": ["a2", "b", "a", "c"]}}
    found = judged.check(before, runs, ["alpha_nDCG@10", "AP"], items={**ITEMS, "a2": "Ice"})
    one, other = (judged.evaluate(each, runs, "alpha_nDCG@10, AP") for each in (before, after))
    for change in only(found, "item-twins").effect.changes:
        assert change.as_is == one.value(change.measure)
        assert change.otherwise == other.value(change.measure)


ROWS = [(q, item, float(grade)) for q, own in JUDGEMENTS.items() for item, grade in own.items()]
TWICE = [*ROWS, ("q1", "a", 0.0), ("q4", "b", 2.0), ("q4", "b", 0.0), ("q2", "d", 0.0)]


@pytest.mark.parametrize("way", ["frame", "file", "lists", "rows"])
def test_items_judged_twice_with_different_grades(way: str, tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("".join(f"{q} 0 {item} {grade:g}\n" for q, item, grade in TWICE))
    names = ["query", "item", "grade"]
    ways: dict[str, Any] = {
        "frame": pl.DataFrame(TWICE, schema=names, orient="row"),
        "file": path,
        "lists": {q: [(i, g) for own, i, g in TWICE if own == q] for q in JUDGEMENTS},
        "rows": [dict(zip(names, row, strict=True)) for row in TWICE],
    }
    found = check(ways[way], **ALL)
    finding = only(found, "two-grades")
    assert finding.count == 2  # d of q2 has its grade twice
    first = {**JUDGEMENTS, "q4": {**JUDGEMENTS["q4"], "b": 0}}
    other = {**first, "q1": {"a": 0, "b": 0}, "q4": {**JUDGEMENTS["q4"], "b": 2}}
    assert_effect(finding, first, other)
    places = " (lines 1 and 12)" if way == "file" else ""
    assert finding.examples[0] == f"item 'a' of query 'q1': 2 and 0{places}"
    assert found.warnings() == [
        "4 judgements repeat another. The first of each counts here, while evaluate fails "
        "without duplicates='first'."
    ]


def test_relevant_items_that_are_not_there() -> None:
    judgements = {**JUDGEMENTS, "q3": {"d": 1, "x": 1, "a": 0, "e": 0}, "q4": {"y": 1, "b": 0}}
    unknown = check(judgements, **ALL).finding("unknown-items")
    assert unknown is not None
    assert unknown.says == "2 of 7 judged items are not among the given items or in any run."
    finding = only(check(judgements, ignore="unknown-items", **ALL), "unreachable")
    assert finding.says == (
        "2 of 5 relevant judgements are of items that are not among the given items or in any "
        "run. No run can return them."
    )
    assert finding.about == (
        {"query": "q3", "item": "x", "grade": 1.0},
        {"query": "q4", "item": "y", "grade": 1.0},
    )
    # Nothing is left for q4 to find.
    after = {**without(judgements, "q4"), "q3": {"d": 1, "a": 0, "e": 0}}
    assert_effect(finding, judgements, after)


def test_relevant_items_that_no_run_has() -> None:
    judgements = {**JUDGEMENTS, "q3": {**JUDGEMENTS["q3"], "x": 2}}
    finding = only(check(judgements), "unreachable")
    assert finding.says == (
        "1 of 7 relevant judgements is of an item that is not in any run. Either all runs missed "
        "them or they do not exist; give items to know."
    )
    assert_effect(finding, judgements, JUDGEMENTS)
    assert check(judgements, items={**ITEMS, "x": "storm"}).sound


def test_judged_queries_that_are_not_there() -> None:
    judgements = {**JUDGEMENTS, "q5": {"a": 1, "b": 0}}
    found = check(judgements, **ALL)
    assert [each.name for each in found.findings] == ["unknown-queries", "missing-queries"]
    unknown, missing = found.findings
    assert unknown.says == "1 of 5 judged queries is not among the given queries."
    assert missing.says == "1 of 5 judged queries is not in any of 2 runs."
    for each in found.findings:
        assert_effect(each, judgements, JUDGEMENTS)


def test_queries_that_nobody_judged() -> None:
    runs = {**RUNS, "one": {**RUNS["one"], "q9": {"a": 1}}}
    finding = only(check(JUDGEMENTS, runs, **ALL), "unjudged-queries")
    assert (finding.count, finding.examples) == (1, ("'q9'",))
    assert finding.effect.reason == "Queries without judgements do not count in any value."
    assert finding.effect.changes == ()


def test_queries_with_everything_relevant() -> None:
    judgements = {**JUDGEMENTS, "q1": {"a": 2, "b": 1}}
    finding = only(check(judgements, **ALL), "all-relevant")
    assert finding.examples == ("'q1'",)
    assert_effect(finding, judgements, without(judgements, "q1"))


def test_judgements_that_list_relevant_items_alone() -> None:
    """Then no query stands out, unless the whole collection is relevant to it."""
    judgements = {q: [i for i, g in own.items() if g] for q, own in JUDGEMENTS.items()}
    found = check(judgements, **ALL)
    assert found.sound
    assert found.unchecked[-1] == (
        "queries with only relevant judgements: all judgements are relevant, as in lists of "
        "relevant items."
    )
    assert only(check({**judgements, "q1": list(ITEMS)}, **ALL), "all-relevant").count == 1


def test_rel_says_what_is_relevant() -> None:
    finding = only(check(rel=2, queries=QUERIES, items=ITEMS), "nothing-relevant")
    assert finding.about == ({"query": "q2"}, {"query": "q3"})
    fractions = {q: {i: g / 10 for i, g in own.items()} for q, own in JUDGEMENTS.items()}
    assert check(fractions, **ALL).sound


def test_ids_of_queries_that_differ_only_in_their_spelling() -> None:
    judgements = {{"q3": "Q03"}.get(q, q): own for q, own in JUDGEMENTS.items()}
    found = check(judgements)
    assert [each.name for each in found.findings] == [
        *("missing-queries", "unjudged-queries", "query-ids")
    ]
    finding = found.findings[-1]
    assert finding.examples == ("'Q03' (judged) and 'q3' (elsewhere): case and zero padding",)
    assert_effect(finding, judgements, JUDGEMENTS)


def test_runs_without_any_query_of_the_judgements() -> None:
    runs = {name: {q.upper(): own for q, own in run.items()} for name, run in RUNS.items()}
    found = check(JUDGEMENTS, runs)
    assert found.warnings() == [
        "The runs cannot be evaluated as they are: a dict and the judgements have no query in "
        "common. The run has 'Q1', 'Q2', 'Q3', …; the judgements have 'q1', 'q2', 'q3', …. They "
        "would agree with the run's ids in lower case: ids are compared as exact texts."
    ]
    finding = found.finding("query-ids")
    assert finding is not None
    right = judged.evaluate(JUDGEMENTS, RUNS, MEASURES)
    for each in finding.effect.changes:
        assert np.isnan(each.as_is)
        assert each.otherwise == right.value(each.measure, run=each.run)


@pytest.mark.parametrize("other", ["A", "ａ"])
def test_ids_of_items_that_differ_only_in_their_spelling(other: str) -> None:
    runs = {
        "one": {
            q: {{"a": other}.get(i, i): s for i, s in own.items()} for q, own in RUNS["one"].items()
        }
    }
    found = check(JUDGEMENTS, runs, ignore=["unreachable"])
    finding = only(found, "item-ids")
    assert finding.count == 1
    assert_effect(finding, JUDGEMENTS, JUDGEMENTS, runs, {"one": RUNS["one"]})


def test_two_spellings_in_the_judgements() -> None:
    judgements = {**JUDGEMENTS, "q2": {**JUDGEMENTS["q2"], "A": 1}}
    finding = only(check(judgements, ignore="unreachable"), "item-ids")
    assert finding.examples == ("'a' (judged, and elsewhere) and 'A' (judged): case",)
    # The first grade of the item counts.
    assert_effect(finding, judgements, JUDGEMENTS)
    assert check(judgements, items={**ITEMS, "A": "gold"}).sound  # they are two items


def test_queries_of_a_training_set() -> None:
    training = {"q1": {"z": 1}, "t": {"a": 1}}
    finding = only(check(**{**ALL, "training": training}), "training-queries")
    assert finding.says == "1 of 4 judged queries is in the training set (same id)."
    assert_effect(finding, JUDGEMENTS, without(JUDGEMENTS, "q1"))


def test_users_of_a_recommender_are_in_its_training_set_by_design() -> None:
    users = [f"u{n}" for n in range(20)]
    bought = {user: {f"i{n}": 1, f"i{n + 1}": 1} for n, user in enumerate(users)}
    trained = {user: {f"i{n + 30}": 1} for n, user in enumerate(users[:18])} | {"u99": {"i1": 1}}
    found = judged.check(bought, training=trained)
    assert found.sound
    assert (
        "queries that are in the training set: 18 of 20 are, like users of a recommender. Shared "
        "relevant items were checked." in found.unchecked
    )
    # What was bought before is in the training set too: that is a fault.
    leaking = judged.check(bought, training={**trained, "u0": {"i0": 1}, "u1": {"i40": 1}})
    assert [each.name for each in leaking.findings] == ["training-pairs"]
    # Queries with texts are no users, and a few queries of many are no recommender.
    said = judged.check(bought, queries=dict.fromkeys(users, "shoes"), training=trained)
    assert "training-queries" in [each.name for each in said.findings]
    few = judged.check(bought, training={"u3": {"i99": 1}})
    assert [each.name for each in few.findings] == ["training-queries"]


def test_texts_of_a_training_set() -> None:
    training = {"q2": "something", "t1": "COLD, war", "t2": ""}
    found = check(**{**ALL, "training": training})
    finding = only(found, "training-queries")
    assert finding.says == "2 of 4 judged queries are in the training set (same id or text)."
    assert finding.about == ({"query": "q1"}, {"query": "q2"})
    assert_effect(finding, JUDGEMENTS, without(JUDGEMENTS, "q1", "q2"))
    assert found.unchecked == ("relevant items that are in the training set: it has only queries.",)


def test_pairs_of_a_training_set() -> None:
    training = {"q3": {"e": 1, "a": 1}, "q4": {"b": 1, "e": 0}}
    found = check(**{**ALL, "training": training})
    assert [each.name for each in found.findings] == ["training-queries", "training-pairs"]
    finding = found.findings[1]
    assert finding.about == ({"query": "q3", "item": "e", "grade": 1.0},)
    assert_effect(finding, JUDGEMENTS, without(JUDGEMENTS, "q3"))


def test_every_kind_of_finding_is_tried_here() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert [name for name in FINDING_KINDS if f'"{name}"' not in text] == []


@pytest.mark.parametrize(
    "given",
    [
        {"policy": {"missing": "skip", "empty": "skip"}},
        {"policy": {"ties": "expected", "unjudged": "removed"}},
        {"policy": {"depth": 2}},
        {"weights": {"q1": 3, "q2": 1, "q3": 0.5, "q4": 2, "q5": 1}},
        {"convention": "ranx"},
    ],
)
def test_numbers_are_those_of_evaluate_under_every_policy(given: dict[str, Any]) -> None:
    judgements = {**JUDGEMENTS, "q5": {"a": 0, "b": 0}}
    runs = {name: {**run, "q5": run["q1"]} for name, run in RUNS.items()}
    measures = "ndcg@10" if "convention" in given else "AP"
    found = judged.check(judgements, runs, measures, items=ITEMS, **given)
    finding = only(found, "nothing-relevant")
    one, other = (
        judged.evaluate(each, runs, measures, **given)
        for each in (judgements, without(judgements, "q5"))
    )
    for each in finding.effect.changes:
        assert each.as_is == one.value(run=each.run)
        assert each.otherwise == other.value(run=each.run)


def test_documents_in_place_of_items() -> None:
    judgements = {"q1": {"a": 1, "b": 0, "x": 1}, "q2": {"c": 1, "b": 0}}
    run = {"q1": ["b#1", "a#2", "a#1"], "q2": ["c#3"]}
    found = judged.check(judgements, {"one": run}, "AP", item_to="doc:#")
    finding = only(found, "unreachable")
    assert finding.about == ({"query": "q1", "item": "x", "grade": 1.0},)
    change = finding.effect.changes[0]
    assert change.as_is == judged.evaluate(judgements, run, "AP", item_to="doc:#").value()
    after = {**judgements, "q1": {"a": 1, "b": 0}}
    assert change.otherwise == judged.evaluate(after, run, "AP", item_to="doc:#").value()
