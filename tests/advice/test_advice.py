"""Advice on small data worked by hand: shares, ceilings, findings, and what is chosen."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import judged
from judged.results import Display
from support.errors import error_of

TWENTY = [f"q{n:02}" for n in range(20)]


def run_of(rank: dict[str, int], length: int = 5) -> dict[str, list[str]]:
    """Lists with the relevant item `a` at the given rank; 0 where it was not found."""
    found = {}
    for query, at in rank.items():
        items = [f"x{place}" for place in range(length)]
        if at:
            items[at - 1] = "a"
        found[query] = items
    return found


JUDGEMENTS = {query: {"a": 1, **{f"x{n}": 0 for n in range(5)}} for query in TWENTY}


def row(found: judged.results.Advice, measure: str):
    return next(each for each in found.rows if each.measure == measure)


def test_shares_worked_by_hand() -> None:
    # One run: rank 1 in 15 queries, 2 in 3, not found in 2.
    ranks = dict.fromkeys(TWENTY, 1) | dict.fromkeys(TWENTY[:3], 2) | dict.fromkeys(TWENTY[3:5], 0)
    found = judged.advise(JUDGEMENTS, run_of(ranks), "RR, Success@5, P@5")
    assert (row(found, "RR").at_best, row(found, "RR").at_worst) == (15 / 20, 2 / 20)
    assert row(found, "Success@5").at_best == 18 / 20
    assert row(found, "Success@5").findings == ("saturated",)
    # One relevant item of five: precision at 5 is at most 0.2, which 18 queries reach.
    assert row(found, "P@5").ceiling == pytest.approx(0.2)
    assert row(found, "P@5").at_best == 18 / 20
    assert "capped" in row(found, "P@5").findings
    assert row(found, "RR").judged is None
    assert row(found, "P@5").judged == 1.0


def test_all_runs_have_to_be_at_the_best() -> None:
    one = dict.fromkeys(TWENTY, 1)
    other = one | dict.fromkeys(TWENTY[:8], 3)
    found = judged.advise(JUDGEMENTS, {"one": run_of(one), "other": run_of(other)}, "RR")
    [only] = found.rows
    assert (only.at_best, only.at_worst, only.differ) == (12 / 20, 0.0, 8 / 20)
    assert (only.pairs, only.separated) == (1, 1)
    compared = judged.compare(JUDGEMENTS, {"one": run_of(one), "other": run_of(other)}, "RR")
    assert only.effect == abs(compared.pair().effect)
    assert only.detectable == compared.pair().detectable


def test_queries_with_nothing_relevant_are_left_out_of_shares() -> None:
    judgements = JUDGEMENTS | {f"none{n}": {"a": 0} for n in range(20)}
    lists = run_of(dict.fromkeys(TWENTY, 1)) | {f"none{n}": ["a"] for n in range(20)}
    [only] = judged.advise(judgements, lists, "RR").rows
    assert (only.queries, only.at_best, only.at_worst) == (20, 1.0, 0.0)


def test_hard_unjudged_and_beyond() -> None:
    judgements = {query: {"a": 1, "z": 0} for query in TWENTY}
    found = judged.advise(judgements, run_of(dict.fromkeys(TWENTY, 0)), "RR, nDCG@5, R@10")
    assert row(found, "RR").findings == ("hard",)
    assert row(found, "nDCG@5").findings == ("hard", "unjudged")
    assert row(found, "R@10").findings == ("hard", "unjudged", "beyond")
    assert found.report() == ()
    assert found.document(Display()).answer[0] == (
        "Report none of these measures: each has findings against it."
    )


@pytest.mark.parametrize("policy", [{}, {"empty": "one"}, {"empty": "skip"}, {"missing": "skip"}])
def test_a_ceiling_is_the_number_of_a_perfect_system(policy: dict[str, str]) -> None:
    # Of 5 queries 3 have nothing to find: they count 0 for a perfect system too, so it has 0.4.
    judgements = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2, "b": 1, "c": 1, "d": 1}}
    judgements |= {f"none{n}": {"a": 0} for n in range(3)}
    perfect = {query: sorted(items) for query, items in judgements.items()}
    asked = ["P@1", "P@2", "AP", "nDCG@2", "RR", "R@2", "R@5", "AP(aggregate=geometric)"]
    asked += ["Rprec", "Success@1", "RBP", "F@3"]
    found = judged.advise(judgements, perfect, asked, policy=policy)
    numbers = judged.evaluate(judgements, perfect, asked, policy=policy)
    for each in found.rows:
        assert each.ceiling == pytest.approx(numbers.value(each.measure)), each.measure
        assert each.at_best == 1.0
    assert row(found, "AP").ceiling == pytest.approx(
        {"one": 1.0, "skip": 1.0}.get(policy.get("empty", ""), 0.4)
    )
    capped = "capped" in row(found, "AP").findings
    assert capped == (row(found, "AP").ceiling < 0.5)
    reason = "AP cannot exceed 0.40 for any system, because 3 of 5 queries have no relevant items"
    assert (
        any(
            reason in text
            for text in judged.advise(judgements, perfect, "AP", policy=policy).sentences()
        )
        == capped
    )


def test_unlisted_items_are_no_unjudged_ones_where_only_relevant_items_are_listed() -> None:
    judgements = {query: {"a": 1} for query in TWENTY}
    ranks = {query: n % 4 + 1 for n, query in enumerate(TWENTY)}
    found = judged.advise(judgements, run_of(ranks), "nDCG@5, R@5, R@3, RR")
    assert [each.judged for each in found.rows] == [None] * 4
    assert all("unjudged" not in each.findings for each in found.rows)
    assert found.report()
    assert found.sentences()[-1] == (
        "Lists have 5 results and queries 1 relevant items (medians): choose K up to 5. The "
        "judgements list relevant items only, so all other results count as irrelevant."
    )


def test_what_is_chosen_follows_the_grades() -> None:
    ranks = {query: n % 4 + 1 for n, query in enumerate(TWENTY)}
    asked = "nDCG@5, AP@5, R@5, RR"
    assert [each.measure for each in judged.advise(JUDGEMENTS, run_of(ranks), asked).report()] == [
        "RR",
        "AP@5",
    ]
    graded = {query: {"a": 2, "x1": 1, "x4": 1, "x2": 0, "x0": 0, "x3": 0} for query in TWENTY}
    chosen = judged.advise(graded, run_of(ranks), "nDCG@5, AP@5, R@3, RR").report()
    assert [each.measure for each in chosen] == ["nDCG@5", "R@3"]


def test_measures_without_a_best_value_are_refused() -> None:
    assert error_of(judged.advise, JUDGEMENTS, run_of(dict.fromkeys(TWENTY, 1)), "NumRet") == (
        "NumRet has no best value that a query could reach, so there is nothing to advise on; "
        "leave it out."
    )


def test_one_query_and_an_empty_list_give_no_nonsense() -> None:
    found = judged.advise({"q": {"a": 1}}, {"q": ["b"]}, "RR, P@1")
    assert all(math.isfinite(each.ceiling) for each in found.rows)
    assert all(each.half_width is None for each in found.rows)
    json.loads(found.to_json())
    assert found.to_frame().height == 2
    missing = judged.advise({"q": {"a": 1}, "r": {"a": 1}}, {"q": ["a"]}, "RR")
    assert missing.rows[0].highest == 0.5


def test_vectors_weights_and_conventions_have_advice(tmp_path) -> None:
    """The counts that advice needs are measures that vectors, weights or a library may lack."""
    labels, points = np.repeat(np.arange(5), 4), np.random.default_rng(1).normal(size=(20, 3))
    searched = judged.evaluate_embeddings(points, points, labels, "AP@5, P@5")
    searched.rankings["embeddings"].save(tmp_path / "x.rankings")
    for found in (searched.advise(), judged.advise(tmp_path / "x.rankings", None, "AP@5, P@5")):
        assert row(found, "P@5").highest == searched.value("P@5")
        assert row(found, "P@5").judged is None
    run = run_of(dict.fromkeys(TWENTY, 1) | dict.fromkeys(TWENTY[:5], 2))
    weights = dict.fromkeys(TWENTY, 1) | dict.fromkeys(TWENTY[:5], 3)
    weighted = judged.advise(JUDGEMENTS, run, "P@1, P@5", weights=weights)
    assert row(weighted, "P@1").highest == pytest.approx(15 / 30)
    assert row(weighted, "P@5").judged == 1
    named = judged.advise(JUDGEMENTS, run, "P_5", convention="trec_eval")
    assert named.rows[0].highest == pytest.approx(0.2)
