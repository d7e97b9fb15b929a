"""Queries with nothing relevant, looked at apart."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import judged
from judged.errors import PolicyError
from judged.statistics.intervals import auroc
from support.errors import error_of

pytestmark = pytest.mark.filterwarnings("ignore::judged.JudgedWarning")

JUDGEMENTS: dict[str, dict[str, float]] = {
    "q1": {"a": 1},
    "q2": {"b": 1, "c": 0},
    "n1": {},
    "n2": {"a": 0},
    "n3": {"a": 0, "b": -1},
    "q3": {"c": 2},
}
RUN: dict[str, dict[str, float]] = {
    "q1": {"a": 0.9, "b": 0.1},
    "q2": {"c": 0.8, "b": 0.7},
    "n1": {"a": 0.7, "b": 0.8},
    "n2": {"a": 0.2},
    "n3": {},
    "q3": {},
}


def test_worked_by_hand() -> None:
    found = judged.evaluate(JUDGEMENTS, RUN, ["RR", "nDCG@10", "NumQ"]).showing(unanswerable=True)
    apart = found.unanswerable()
    assert apart.queries == ("n1", "n2", "n3")
    assert apart.answered_queries == ("n1", "n2")
    assert apart.answered == pytest.approx(2 / 3)
    assert (apart.answerable, apart.left_empty) == (3, pytest.approx(1 / 3))
    assert apart.auroc is not None
    # 0.9 is above all three; 0.8 above two, and ties with one; no result ties with no result.
    assert apart.auroc.estimate == pytest.approx((3 + 2.5 + 0.5) / 9)
    assert apart.note == ""
    assert found.value("RR") == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert found.value("NumQ") == 3
    assert found.to_frame(per_query=True)["query"].to_list() == ["q1", "q2", "q3"]
    assert found.policy.empty == "skip"


def test_a_threshold() -> None:
    found = judged.evaluate(JUDGEMENTS, RUN, "RR").showing(unanswerable=True, threshold=0.8)
    apart = found.unanswerable()
    assert apart.answered_queries == ("n1",)  # a score of at least the threshold
    assert apart.left_empty == pytest.approx(1 / 3)
    assert judged.evaluate(JUDGEMENTS, RUN, "RR").showing(
        unanswerable=True, threshold=0.81
    ).unanswerable().left_empty == pytest.approx(2 / 3)
    assert any("where there is a score of at least 0.8," in line for line in found.sentences())


def test_the_block_is_a_table_of_its_own() -> None:
    runs = {"one": RUN, "two": dict.fromkeys(RUN, RUN["q1"])}
    found = judged.evaluate(JUDGEMENTS, runs, ["RR"]).showing(unanswerable=True)
    _, (header, rows) = found.tables()
    assert header == [
        *("run", "unanswerable", "wrongly answered", "answerable", "left empty", "AUROC")
    ]
    assert rows[0] == ["one", "3", "0.6667", "3", "0.3333", "0.6667 [0.2449, 0.9215]"]
    assert rows[1][:5] == ["two", "3", "1.0000", "3", "0.0000"]
    lines = found.to_text().splitlines()
    assert lines[3:5] == [
        "",
        f"run  unanswerable  wrongly answered  answerable  left empty {'AUROC':>24}",
    ]
    assert lines[-1] == (
        "3 queries; empty=skip; two: all best scores are the same, so they tell nothing apart; "
        "definitions and notes: to_text(verbose=True)"
    )
    assert (
        "unanswerable: two: all best scores are the same, so they tell nothing apart"
        in found.sentences()
    )
    assert "Summaries are over all 3 judged queries with relevant items." in found.methods()
    assert found.unanswerable(run="two").answered == 1
    per_query = found.to_text(per_query=True)
    assert "wrongly answered" in per_query
    assert "n1" not in per_query


def test_json() -> None:
    found = judged.evaluate(JUDGEMENTS, RUN, "RR").showing(unanswerable=True)
    entry = found.to_dict(per_query=True)["runs"][0]
    assert entry["unanswerable"] == {
        "queries": 3,
        "answered": pytest.approx(2 / 3),
        "answerable": 3,
        "left_empty": pytest.approx(1 / 3),
        "threshold": None,
        "auroc": {
            **auroc([0.9, 0.8, -math.inf], [0.8, 0.2, -math.inf]).to_dict(),
            "level": 0.95,
            "method": "Newcombe's score interval (2006, method 5)",
        },
        "note": None,
        "per_query": {"n1": True, "n2": True, "n3": False},
    }
    assert "per_query" not in found.to_dict()["runs"][0]["unanswerable"]
    assert "unanswerable" not in judged.evaluate(JUDGEMENTS, RUN, "RR").to_dict()["runs"][0]


def made(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    rng = np.random.default_rng(seed)
    items = [f"d{number}" for number in range(9)]
    judgements, run = {}, {}
    for number in range(14):
        grades = rng.integers(0, 3, 4) * (number % 3 > 0)
        judgements[f"q{number}"] = dict(
            zip(rng.choice(items, 4, False), map(int, grades), strict=True)
        )
        size = int(rng.integers(0, 6))
        scores = map(float, rng.integers(-3, 4, size))
        run[f"q{number}"] = dict(zip(rng.choice(items, size, False), scores, strict=True))
    run.pop("q5")
    return judgements, run


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_against_a_loop(seed: int, missing: str) -> None:
    judgements, run = made(seed)
    policy = {"missing": missing}
    found = judged.evaluate(judgements, run, ["AP", "P@3"], policy=policy).showing(
        unanswerable=True
    )
    best: dict[bool, list[float]] = {True: [], False: []}
    for query, grades in judgements.items():
        if missing == "skip" and query not in run:
            continue
        listed = run.get(query, {})
        best[max(grades.values()) > 0].append(max(listed.values(), default=-math.inf))
    apart = found.unanswerable()
    assert (apart.answerable, len(apart.queries)) == (len(best[True]), len(best[False]))
    expected = auroc(best[True], best[False])
    assert apart.auroc is not None
    assert apart.auroc.to_dict() == pytest.approx(expected.to_dict())
    kept = {query: items for query, items in judgements.items() if max(items.values()) > 0}
    alone = judged.evaluate(kept, run, ["AP", "P@3"], policy=policy)
    assert found.to_frame().equals(alone.to_frame())
    assert found.to_frame(per_query=True).equals(alone.to_frame(per_query=True))
    ours, theirs = found.audit["run"].to_dict(), alone.audit["run"].to_dict()
    for name in ("run_queries", "ignored_queries", "notes", "sentences"):
        ours.pop(name), theirs.pop(name)  # the other queries are unknown there, not judged
    assert ours == theirs
    assert found.audit["run"].ignored_queries == 0


@pytest.mark.parametrize(
    "run",
    [
        {query: list(items) for query, items in RUN.items()},
        pl.DataFrame({"query": ["q1", "n1"], "item": ["a", "b"], "rank": [1, 1]}),
    ],
)
def test_an_order_has_no_scores(run: Any, tmp_path: Path) -> None:
    found = judged.evaluate(JUDGEMENTS, run, "RR").showing(unanswerable=True).unanswerable()
    assert found.auroc is None
    assert found.note == "no AUROC: the run is an order without scores"
    assert found.answered > 0
    assert error_of(
        judged.evaluate(JUDGEMENTS, run, "RR").showing, unanswerable=True, threshold=1
    ) == (
        "run: the threshold is compared with scores, and there are none: the run is an order "
        "without scores. Leave it out."
    )


def test_rankings_hold_the_best_scores() -> None:
    ranked = judged.Rankings.from_run(JUDGEMENTS, RUN)
    apart = ranked.evaluate("RR").unanswerable()
    assert apart == judged.evaluate(JUDGEMENTS, RUN, "RR").unanswerable()
    assert apart.auroc is not None
    unscored = judged.Rankings.from_relevance([[1], [0]]).evaluate("RR").unanswerable()
    assert unscored.note == "no AUROC: the rankings were made without scores"


def test_few_queries() -> None:
    found = judged.evaluate({"q": {"a": 1}, "n": {}}, RUN | {"q": {"a": 1}}, "RR").showing(
        unanswerable=True
    )
    assert found.unanswerable().note == (
        "no interval of the AUROC: there is only one query with something relevant"
    )
    some = {"q": {"a": 1}, "p": {"a": 1}, "n": {}}
    found = judged.evaluate(some, {"q": {"a": 2.0}, "p": {"a": 1.0}}, "RR").showing(
        unanswerable=True
    )
    assert found.unanswerable().note == (
        "no interval of the AUROC: there is only one query without something relevant"
    )
    none = judged.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR").showing(unanswerable=True)
    assert none.unanswerable().note == "no AUROC: there is no query without something relevant"
    assert math.isnan(none.unanswerable().answered)
    assert none.tables()[1].rows == [["run", "0", "–", "1", "0.0000", "–"]]


def test_relevance_is_that_of_the_measures() -> None:
    judgements = {"q": {"a": 2}, "p": {"a": 1}, "n": {"a": 0}}
    run = {"q": {"a": 1.0}, "p": {"a": 1.0}, "n": {"a": 1.0}}
    strict = judged.evaluate(judgements, run, "P(rel=2)@1").showing(unanswerable=True)
    assert strict.unanswerable().queries == ("p", "n")
    # p has something relevant to P@1, so it is answerable; P(rel=2)@1 leaves it out all the same.
    both = judged.evaluate(judgements, run, ["P@1", "P(rel=2)@1"]).showing(unanswerable=True)
    assert both.unanswerable().queries == ("n",)
    assert both.to_frame(per_query=True).rows() == [("run", "q", 1.0, 1.0), ("run", "p", 1.0, None)]


def test_weights_count_in_the_block_too() -> None:
    weights = {"q1": 1, "q2": 2, "q3": 1, "n1": 3, "n2": 0, "n3": 1}
    found = judged.evaluate(JUDGEMENTS, RUN, "RR", weights=weights).showing(unanswerable=True)
    apart = found.unanswerable()
    assert apart.queries == ("n1", "n3")
    assert apart.answered == pytest.approx(3 / 4)
    assert apart.left_empty == pytest.approx(1 / 4)
    assert apart.auroc is not None
    # q1 (1) is above both; q2 (2) ties with n1 (3) and is above n3 (1); q3 ties with n3.
    assert apart.auroc.estimate == pytest.approx((1 * 4 + 2 * (1.5 + 1) + 1 * 0.5) / 16)
    assert found.value("RR") == pytest.approx((1 + 2 / 2) / 4)
    assert any("shares and AUROC count queries by their weights" in x for x in found.sentences())


def test_what_is_refused() -> None:
    found = judged.evaluate(JUDGEMENTS, RUN, "RR")
    assert error_of(found.showing, threshold=1) == (
        "threshold is about queries without relevant items; it needs unanswerable=True."
    )
    perfect = judged.evaluate(JUDGEMENTS, RUN, "RR", policy={"empty": "one"})
    assert error_of(perfect.showing, unanswerable=True, error=PolicyError) == (
        "empty=one says what queries with nothing relevant count, and unanswerable takes them out; "
        "choose empty=skip, or leave out unanswerable."
    )
    nothing = judged.evaluate({"q": {"a": 0}, "p": {}}, {"q": ["a"]}, "RR")
    assert error_of(nothing.showing, unanswerable=True, error=PolicyError) == (
        "nothing is relevant for any of the 2 judged queries, so all would be left out of the "
        "means; leave out unanswerable."
    )
    assert error_of(found.showing(unanswerable=True).unanswerable, 0.5) == (
        "queries without relevant items are left out of this evaluation already; give the "
        "threshold to showing()."
    )


def test_the_warning_that_points_here() -> None:
    said = (
        "No items are relevant for 3 of 6 judged queries (n1, n2, n3), which get the worst value "
        "(see unanswerable)."
    )
    assert judged.evaluate(JUDGEMENTS, RUN, "RR").warnings() == [said]
    assert judged.evaluate(JUDGEMENTS, RUN, "RR").showing(unanswerable=True).warnings() == []
    assert judged.evaluate(JUDGEMENTS, RUN, "RR", policy={"empty": "skip"}).warnings() == []
    weights = {query: int(query != "n2") for query in JUDGEMENTS}
    [heavy] = judged.evaluate(JUDGEMENTS, RUN, "RR", weights=weights).warnings()
    assert heavy.startswith("No items are relevant for 2 of 6 judged queries (n1, n3),")
