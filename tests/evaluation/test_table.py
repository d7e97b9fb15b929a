"""What the table looks like: its digits, its order, what is bold, and what moves a digit."""

from __future__ import annotations

import math
import random

import pytest

import judged
from judged import evaluate
from judged.evaluation.evaluation import Evaluation
from judged.text import Bold

JUDGEMENTS = {"q1": {"a": 1}, "q2": {"b": 1}}
RUNS = {
    "late": {"q1": ["x", "y", "a"], "q2": ["x", "y", "b"]},
    "first": {"q1": ["a"], "q2": ["b"]},
    "none": {"q1": ["x"], "q2": ["x"]},
    "also": {"q1": ["a"], "q2": ["b", "x"]},
}


@pytest.fixture
def several() -> Evaluation:
    return evaluate(JUDGEMENTS, RUNS, ["RR", "Rank", "NumRet"])


def names(found: Evaluation, measure: str) -> list[str]:
    [(_, rows)] = found.tables(sort=measure)
    return [row[0] for row in rows]


def test_runs_in_order_of_a_measure(several: Evaluation) -> None:
    # RR: 1/3, 1, 0, 1. Rank: 3, 1, infinite, 1: the lower the better. NumRet: 6, 2, 2, 3.
    assert names(several, "RR") == ["first", "also", "late", "none"]
    assert names(several, "MeanRank") == ["first", "also", "late", "none"]
    assert names(several, "NumRet") == ["late", "also", "first", "none"]
    rows = several.to_frame(sort="RR")["run"].to_list()
    assert rows == ["first", "also", "late", "none"]
    assert [
        line.split(",")[0] for line in several.to_csv(sort="RR", quiet=True).split()[1:]
    ] == rows
    assert [run["name"] for run in several.to_dict(sort="RR")["runs"]] == rows
    assert (
        several.to_frame(per_query=True, sort="RR")["run"].unique(maintain_order=True).to_list()
        == rows
    )
    with pytest.raises(
        judged.errors.MeasureError, match=r"^AP was not evaluated; there is RR, Rank, NumRet\.$"
    ):
        several.to_text(sort="AP")


def test_a_run_without_a_value_comes_last() -> None:
    runs = {"empty": {"q9": ["a"], "q1": ["a"]}, "full": {"q1": ["x", "a"], "q2": ["b"]}}
    judgements = {"q1": {"a": 0}, "q2": {"b": 1}}
    found = evaluate(judgements, runs, "RR", policy={"missing": "skip", "empty": "skip"})
    assert math.isnan(found.value("RR", "empty"))
    assert names(found, "RR") == ["full", "empty"]
    assert not any(isinstance(cell, Bold) for row in found.tables()[0].rows for cell in row)


def bold(found: Evaluation, **look: object) -> list[list[str]]:
    [(_, rows)] = found.tables(**look)
    return [[row[0] for row in rows if isinstance(row[at], Bold)] for at in range(1, len(rows[0]))]


def test_the_best_is_bold_and_counts_never_are(several: Evaluation) -> None:
    assert bold(several) == [["first", "also"], ["first", "also"], []]
    assert bold(evaluate(JUDGEMENTS, RUNS["first"], "RR")) == [[]]
    assert bold(evaluate(JUDGEMENTS, {"one": RUNS["first"], "two": RUNS["also"]}, "RR")) == [[]]
    assert "| first | **1.0000** | **1.0000** | 2.0000 |" in several.to_markdown()
    assert r"first & \textbf{1.0000} & \textbf{1.0000} & 2.0000 \\" in several.to_latex()
    assert "<td><b>1.0000</b></td>" in several.to_html()
    assert "**" not in several.to_text() + several.to_csv()


def test_exact_values_decide_and_what_is_shown_alike_is_bold_alike() -> None:
    judgements = {"q": {str(at): 1 for at in range(1000)}}
    runs = {
        "499": {"q": [str(at) for at in range(499)]},
        "500": {"q": [str(at) for at in range(500)]},
        "400": {"q": [str(at) for at in range(400)]},
    }
    found = evaluate(judgements, runs, "R")
    assert bold(found) == [["500"]]
    assert bold(found, decimals=1) == [["499", "500"]]
    assert bold(found, decimals=0) == [[]]


def test_digits_and_percent(several: Evaluation) -> None:
    def row(**look: object) -> tuple[list[str], list[str]]:
        [(header, rows)] = several.tables(**look)
        return header[1:], rows[0][1:]

    assert row() == (["RR", "Rank", "NumRet"], ["0.3333", "3.0000", "6.0000"])
    assert row(decimals=0)[1] == ["0", "3", "6"]
    assert row(percent=True) == (["RR %", "Rank", "NumRet"], ["33.33", "3.0000", "6.0000"])
    assert row(percent=True, decimals=1)[1] == ["33.3", "3.0", "6.0"]
    assert several.to_csv(quiet=True).splitlines()[1].split(",")[1] == repr(1 / 3)


def said(found: Evaluation, word: str, **look: object) -> list[str]:
    return [line for line in found.to_text(**look).splitlines() if word in line]


def test_ties_are_said_only_where_they_move_a_digit() -> None:
    judgements = {"q": {"a": 1}}
    tied = {"q": {"a": 1.0, "b": 1.0, "c": 0.5}}
    # a stands second by id, and may stand first.
    found = evaluate(judgements, tied, ["RR", "R@10"])
    assert said(found, "tied results") == [
        "warning: Another order of tied results changes RR by up to 0.5000 (see tie_range)."
    ]
    assert said(found, "tied results", percent=True) == [
        "warning: Another order of tied results changes RR % by up to 50.00 (see tie_range)."
    ]
    assert said(evaluate(judgements, tied, "R@10"), "tied results") == []
    assert said(evaluate(judgements, tied, "RR").showing(tie_range=True), "tied results") == []
    assert said(evaluate(judgements, tied, "RR", policy={"ties": "expected"}), "tied results") == []
    many = {f"q{at}": {"a": 1} for at in range(3000)}
    runs = {query: {"a": 1.0} for query in many} | {"q0": {"a": 1.0, "b": 1.0}}
    far = evaluate(many, runs, "RR")  # 1/2 of 3000: 0.00017
    assert said(far, "changes RR by up to 0.0002 (see tie_range).")
    assert said(far, "tied results", decimals=2) == []


MEASURES = "AP, RR, nDCG@5, P@3, R@5, Rank, F@3, ERR@5, Success@1, F(average=means)@3"


@pytest.mark.parametrize("empty", ["zero", "one", "skip"])
def test_ties_move_numbers_as_far_as_the_tie_range_says(empty: str) -> None:
    from judged.evaluation.export import Look
    from judged.evaluation.warnings import _shifts

    draw = random.Random(f"{empty} ties")
    for _ in range(15):
        judgements = {
            f"q{q}": {f"d{d}": draw.choice([0, 0, 1, 2]) for d in range(6)} for q in range(4)
        }
        run = {
            f"q{q}": {f"d{d}": float(draw.randrange(3)) for d in range(8)}
            for q in range(4)
            if draw.random() < 0.8 or q == 0
        }
        found = evaluate(judgements, run, MEASURES, policy={"empty": empty}).showing(tie_range=True)
        moved = {measure: far for measure, far, _ in _shifts(found, Look(decimals=12))}
        for measure in found.measures:
            value, ends = found.value(measure), found.tie_range(measure)
            if not math.isfinite(value) or math.isinf(ends.worst):
                continue
            far = max(abs(ends.worst - value), abs(ends.best - value))
            assert moved.get(measure, 0.0) == pytest.approx(far), measure


def test_judged_at_the_cutoffs_and_not_where_only_relevant_items_are_listed() -> None:
    run = {"q": ["x", "a", "b"]}
    assert said(evaluate({"q": {"a": 1, "b": 0}}, run, ["P@1", "AP", "P@3"]), "are judged") == [
        "warning: Only 0.0 % of the top-1 results and 66.6 % of the top-3 results are judged. "
        "Unjudged results count as not relevant (see unjudged_range)."
    ]
    assert said(evaluate({"q": {"a": 1, "b": 0}}, run, "AP"), "are judged") == []
    assert said(evaluate({"q": {"a": 1, "b": 2}}, run, "P@3"), "are judged") == []
    removed = evaluate({"q": {"a": 1, "b": 0}}, run, "P@3", policy={"unjudged": "removed"})
    assert said(removed, "are judged") == []
    assert said(removed, "verbose") == [
        "1 query; unjudged=removed; definitions and notes: to_text(verbose=True)"
    ]


def test_short_lists_only_where_more_results_could_matter() -> None:
    judgements = {"q": {"a": 1, "b": 1}}
    assert said(evaluate(judgements, {"q": ["a"]}, ["P@1", "R@5"]), "fewer") == [
        "warning: 1 query has fewer than 5 results although relevant items are left. Longer lists "
        "could raise R@5."
    ]
    assert said(evaluate(judgements, {"q": ["a", "b"]}, "R@5"), "fewer") == []
    assert said(evaluate(judgements, {"q": ["a"]}, "AP"), "fewer") == []


def test_worst_first() -> None:
    found = evaluate(
        {"q1": {"a": 1, "b": 0, "z": 1}, "q2": {"c": 1}, "q3": {"d": 0}},
        {"q1": {"b": 1.0, "a": 1.0, "n": 0.5, "m": 0.4}, "q3": {"d": 1.0}},
        ["P@1", "P@3", "R@5"],
    )
    assert found.warnings() == [
        "The run has no results for 1 of 3 judged queries (q2), which count as empty lists. Use "
        "missing=skip to leave them out.",
        "No items are relevant for 1 of 3 judged queries (q3), which get the worst value (see "
        "unanswerable).",
        "1 query has fewer than 5 results although relevant items are left. Longer lists could "
        "raise R@5.",
        "Only 83.3 % of the top-3 results and 75.0 % of the top-5 results are judged. Unjudged "
        "results count as not relevant (see unjudged_range).",
        "Another order of tied results changes P@1 by up to 0.3333 (see tie_range).",
    ]


def test_an_infinite_rank_is_explained():
    """A list that ends before the first relevant item makes the mean infinite, not the median."""
    judgements = {"q1": ["a"], "q2": ["a"], "q3": ["a"]}
    run = {"q1": ["a"], "q2": ["b", "a"], "q3": ["b"]}
    found = judged.evaluate(judgements, run, ["MedR", "MeanR"])
    assert [found.value("MedR"), found.value("MeanR")] == [2, math.inf]
    said = "MeanR is infinite: 1 of 3 queries did not retrieve the item whose rank it is."
    assert f"{said} Use RR, which is finite." in found.warnings()
    assert not judged.evaluate(judgements, {**run, "q3": ["a"]}, "MeanR").warnings()
