"""What is in a queue, in which order, and the file for annotators."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import judged
from judged.errors import MeasureError, PolicyError
from judged.judgements.queue import blind_order
from support.errors import error_of

JUDGEMENTS = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
RUNS = {
    "old": {"q1": ["x", "a", "b", "y"], "q2": ["y", "c", "x"]},
    "new": {"q1": ["y", "b", "a", "z"], "q2": ["c", "z", "x"]},
}

IN_TURN = list(zip(["q1", "q2", "q1", "q2", "q2", "q1"], "xyyzxz", strict=True))


def pairs(queue: judged.results.Queue) -> list[tuple[str, str]]:
    return list(zip(queue.queries, queue.items, strict=True))


def ordered(queue: judged.results.Queue) -> list[tuple[str, str]]:
    """The most worthwhile first."""
    return [pairs(queue)[at] for at in queue.priority]


def test_it_holds_the_unjudged_results_within_the_depth_of_any_run():
    found = judged.queue(JUDGEMENTS, RUNS)
    assert set(pairs(found)) == set(IN_TURN)
    assert (len(found), found.candidates) == (6, 6)
    assert set(pairs(judged.queue(JUDGEMENTS, RUNS, depth=1))) == set(IN_TURN[:3])


def test_by_effect_the_greatest_effect_is_first_then_the_best_rank_and_queries_take_turns():
    found = judged.queue(JUDGEMENTS, RUNS, "P@1")
    assert ordered(found) == IN_TURN
    effects = found.effects[found.priority].tolist()
    assert effects == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    assert found.best_ranks[found.priority].tolist() == [1, 1, 1, 2, 3, 4]


def test_by_depth_queries_take_turns_at_each_rank():
    found = judged.queue(JUDGEMENTS, RUNS, by="depth")
    assert ordered(found) == IN_TURN
    assert np.isnan(found.effects).all()
    assert found.without_effect is None
    assert found.to_dict()["queue"][0]["effect"] is None


def test_a_budget_takes_the_most_worthwhile():
    whole = judged.queue(JUDGEMENTS, RUNS, by="depth")
    for budget in (1, 3, 6, 7):
        found = judged.queue(JUDGEMENTS, RUNS, by="depth", budget=budget)
        assert ordered(found) == ordered(whole)[:budget]
        assert found.candidates == 6
    assert found.sentences()[0] == "6 unjudged results in the top 10 of any run (2 queries)."
    assert judged.queue(JUDGEMENTS, RUNS, by="depth", budget=1).sentences()[0] == (
        "6 unjudged results in the top 10 of any run; the 1 most worthwhile is in the queue (1 "
        "query)."
    )


def test_the_file_has_queries_in_the_order_of_their_most_worthwhile_item():
    run = {"q1": ["b", "x"], "q2": ["x", "c", "y"]}
    found = judged.queue(JUDGEMENTS, run, "RR")
    assert found.queries == ("q2", "q2", "q1")


def test_items_of_a_query_are_shuffled_by_the_seed_alone():
    query = np.zeros(6, np.int64)
    seen = [tuple(blind_order(query, np.arange(6), seed).tolist()) for seed in range(300)]
    # How worthwhile they are plays no part in it.
    assert seen == [
        tuple(blind_order(query, np.arange(6)[::-1], seed).tolist()) for seed in range(300)
    ]
    first = Counter(each[0] for each in seen)
    assert set(first) == set(range(6))
    assert max(first.values()) < 90  # 50 are expected, with a standard deviation of 6.5
    assert len(set(seen)) > 200  # of 720 orders
    found = [judged.queue(JUDGEMENTS, RUNS, seed=seed) for seed in (1, 1, 2)]
    assert found[0].items == found[1].items != found[2].items


def test_the_order_of_runs_and_of_rows_changes_nothing():
    found = judged.queue(JUDGEMENTS, RUNS, "nDCG@2", seed=3)
    runs = {"new": RUNS["new"], "old": dict(reversed(RUNS["old"].items()))}
    turned = judged.queue(JUDGEMENTS, runs, "nDCG@2", seed=3)
    assert (found.queries, found.items) == (turned.queries, turned.items)
    assert found.effects.tolist() == turned.effects.tolist()


def test_queries_without_a_judgement_are_in_it_unless_they_are_left_out():
    runs = {name: {**run, "q9": ["u"]} for name, run in RUNS.items()}
    found = judged.queue(JUDGEMENTS, runs)
    assert found.new_queries == ("q9",)
    assert ("q9", "u") in pairs(found)
    assert (
        "1 query has no judgements yet (q9) and does not count in values and differences."
    ) in found.sentences()
    assert found.bounds == judged.queue(JUDGEMENTS, RUNS).bounds
    left = judged.queue(JUDGEMENTS, runs, only_judged_queries=True)
    assert (left.new_queries, set(left.queries)) == ((), {"q1", "q2"})


def test_what_is_judged_is_never_in_it_whatever_its_grade():
    found = judged.queue({"q": {"a": -1, "b": 0, "c": 1}}, {"q": ["a", "b", "c", "d"]})
    assert found.items == ("d",)
    assert found.negative == 1
    assert "1 result has a negative grade and is left out." in found.sentences()


def test_nothing_to_judge():
    found = judged.queue({"q": {"a": 1}}, {"one": {"q": ["a"]}, "two": {"q": ["a"]}})
    assert (found.items, found.to_csv()) == ((), "query,item,grade\n")
    assert found.sentences()[:2] == [
        "Nothing to judge: no unjudged results in the top 10 of any run.",
        "nDCG@10: two - one is 0.0000. All results that it uses are judged: both stay equal.",
    ]
    assert found.bounds[0].can_turn is False


@pytest.mark.parametrize("ties", ["id", "input", "best", "worst", "expected"])
def test_ties_at_the_depth(ties):
    # c, b and a tie at ranks 2 to 4.
    run = {"q": {"z": 2.0, "a": 1.0, "b": 1.0, "c": 1.0, "y": 0.5}}
    found = judged.queue({"q": {"w": 1}}, run, depth=2, policy={"ties": ties})
    wanted = {"id": {"z", "c"}, "input": {"z", "a"}}.get(ties, {"z", "a", "b", "c"})
    assert set(found.items) == wanted


def test_an_item_that_occurs_twice():
    run = pl.DataFrame(
        {"query": ["q"] * 4, "item": ["a", "a", "b", "c"], "score": [4.0, 3.0, 2.0, 1.0]}
    )
    with pytest.warns(match="more than once|dropped"):
        found = judged.queue({"q": {"z": 1}}, run, depth=2, policy={"duplicates": "first"})
    assert set(found.items) == {"a", "b"}


def test_the_top_grade():
    assert judged.queue(JUDGEMENTS, RUNS).top_grade == 2
    assert judged.queue({"q": {"a": 0}}, {"q": ["b"]}).top_grade == 1
    given = judged.queue(JUDGEMENTS, RUNS, "DCG@1", top_grade=4)
    assert given.effects.max() == 4
    assert error_of(judged.queue, JUDGEMENTS, RUNS, top_grade=1) == (
        "top_grade must be a number from 2, the highest grade in the judgements; got 1."
    )


def test_wrong_calls():
    assert error_of(judged.queue, JUDGEMENTS, RUNS, "P@5, RR", error=MeasureError) == (
        "a queue is ordered by one measure; got P@5 and RR."
    )
    subtopics = {"q": {"a": {"1": 1}}}
    assert error_of(judged.queue, subtopics, {"q": ["a", "b"]}, error=PolicyError) == (
        "the judgements: judged by subtopic, so one grade is not enough for a result; give "
        "judgements of whole queries."
    )
    other = {"other": {"a": 1}}, RUNS
    assert error_of(judged.queue, *other) == error_of(judged.evaluate, *other)


@pytest.mark.parametrize("given", ["a dict", "a file"])
def test_from_nothing(given, tmp_path):
    (tmp_path / "empty.qrels").touch()
    judgements = {} if given == "a dict" else tmp_path / "empty.qrels"
    found = judged.queue(judgements, RUNS, "nDCG@3", by="depth", depth=1)
    assert ordered(found) == [("q1", "x"), ("q2", "c"), ("q1", "y"), ("q2", "y")]
    assert found.warnings() == []
    assert "There are no judgements yet, so nothing counts as relevant so far." in (
        found.sentences()
    )
    # Alone at rank 1 and in one run only, an item brings the whole value.
    assert judged.queue(judgements, RUNS, "nDCG@1", depth=1).effects.tolist() == [1.0] * 4


def test_a_top_grade_that_is_not_relevant_is_warned_of():
    with pytest.warns(match="^The top grade 1 is not relevant to P"):
        found = judged.queue(
            {"q": {"a": 1}}, {"q": ["a", "b"]}, "P(rel=2)@2", policy={"empty": "skip"}
        )
    assert found.warnings() == [
        "The top grade 1 is not relevant to P(rel=2)@2, which needs 2, so no judgement has an "
        "effect. Set top_grade."
    ]
    run = {"q": ["a", "b"]}
    found = judged.queue({"q": {"a": 1}}, run, "P(rel=2)@2", policy={"empty": "skip"}, top_grade=2)
    assert (found.warnings(), found.effects.tolist()) == ([], [0.5])


IDS = [
    *("with blank", "comma,id", 'quoted "id"', "semi;colon", "tab\tid", "line\nbreak", "#1"),
    *("=1+1", "-x", "@user", "'=x", "NA", "null", "nan", "1e5", "00123", "Żółć", "日本", "a'b"),
    *(" lead", "q"),
]
ENDINGS = (".csv", ".tsv", ".ndjson", ".parquet")


def queue_of(ids: list[str], **options: object) -> judged.results.Queue:
    runs = {"secret": {"the query": ids, "r": ["x"]}, "hidden": {"the query": ids[::-1]}}
    return judged.queue({"the query": {"known": 1}}, runs, "nDCG@50", depth=100, **options)


def filled(path: Path, grades: dict[str, int | None]) -> None:
    """The file as annotators hand it back."""
    if path.suffix == ".parquet":
        frame = pl.read_parquet(path)
        column = pl.Series("grade", [grades.get(item) for item in frame["item"]], dtype=pl.Float64)
        frame.with_columns(column).write_parquet(path)
    elif path.suffix == ".ndjson":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        texts = [json.dumps({**row, "grade": grades.get(row["item"])}) for row in rows]
        path.write_text("\n".join(texts) + "\n")
    else:
        import csv

        separator = {".csv": ",", ".tsv": "\t"}[path.suffix]
        with path.open(newline="") as handle:
            header, *cells = csv.reader(handle, delimiter=separator)
        item = header.index("item")
        with path.open("w", newline="") as handle:
            writer = csv.writer(handle, delimiter=separator)
            writer.writerow(header)
            for row in cells:
                grade = grades.get(row[item])
                writer.writerow([*row[:-1], "" if grade is None else grade])


@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("ending", ENDINGS)
def test_filled_in_it_is_judgements(tmp_path: Path, ending: str, texts: bool) -> None:
    path = tmp_path / f"to_judge{ending}"
    said = {each: {"title": f"On {each}", "text": '=cmd(),\n"two lines"'} for each in (*IDS, "x")}
    given = {"texts": said, "queries": {"the query": "what?", "r": "who?"}} if texts else {}
    queue_of(IDS, **given).save(path)
    grades = {each: number % 4 for number, each in enumerate(IDS)}
    filled(path, {**grades, "NA": None})
    with pytest.warns(match="^2 rows have no grade and are left out as unjudged.$"):
        found = judged.evaluate(path, {"the query": IDS, "r": ["x"]}, "NumRel", policy={})
    known = judged.read_judgements(path).frame
    wanted = {("the query", item, float(grade)) for item, grade in grades.items() if item != "NA"}
    assert set(known.rows()) == wanted
    assert found.value() == sum(grade > 0 for item, _, grade in known.rows())


@pytest.mark.parametrize("ending", ENDINGS)
def test_it_is_blind(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"to_judge{ending}"
    found = queue_of(["a", "b"], texts={"a": "Ants.", "b": "Bees.", "x": "Else."})
    found.save(path)
    content = path.read_bytes()
    for word in (b"secret", b"hidden", b"known", b"effect", b"rank", b"score", b"0.", b"warning"):
        assert word not in content, word
    assert found.to_frame().columns == ["query", "item", "text", "grade"]


def test_what_the_columns_are() -> None:
    texts = {"a": {"title": "Ants", "text": "Small."}, "x": "Else.", "b": ""}
    found = queue_of(["a", "b"], texts=texts, queries={"the query": "what?"})
    rows = {row[2]: row for row in found.to_frame().rows()}
    assert rows == {
        "a": ("the query", "what?", "a", "Ants", "Small.", None),
        "b": ("the query", "what?", "b", "", "", None),
        "x": ("r", "", "x", "", "Else.", None),
    }
    assert found.warnings() == ["1 query has no text in the queries given (r)."]
    assert found.to_csv().splitlines()[0] == "query,query_text,item,title,text,grade"


def test_texts_are_harmless_and_ids_are_as_they_were() -> None:
    found = queue_of(["=a", "b"], texts={"=a": "=HYPERLINK(1)", "b": "-5", "x": "+1+1"})
    lines = found.to_csv().splitlines()
    assert "the query,=a,'=HYPERLINK(1)," in lines
    assert "the query,b,-5," in lines  # a number
    assert "r,x,'+1+1," in lines
    assert found.warnings() == [
        "1 id starts with = + - or @, so a spreadsheet would change it (=a). Edit the file in "
        "another program, or save it as .ndjson."
    ]


def test_of_many_runs_the_best_have_bounds():
    runs = {f"run{at:02}": {"q1": ["a", f"x{at}"] if at else ["x0", "a"]} for at in range(22)}
    found = judged.queue({"q1": {"a": 1}}, runs, "RR")
    assert {bound.against for bound in found.bounds} == {f"run{at:02}" for at in range(1, 20)}
    assert "Differences are those of the 20 best of 22 runs." in found.sentences()
    assert len(found) == 22
