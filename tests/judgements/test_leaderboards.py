"""Runs under each judge: values, verdicts and orders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import judged
from judged.errors import PolicyError
from judged.statistics import order_agreement
from support.errors import error_of

Given = dict[str, dict[str, float]]
QUERIES = 14


def judgements(seed: int) -> Given:
    generator = np.random.default_rng(seed)
    return {
        f"q{query}": {f"d{item}": int(generator.integers(0, 3)) for item in range(12)}
        for query in range(QUERIES)
    }


def run(seed: int, queries: int = QUERIES) -> Given:
    generator = np.random.default_rng(seed)
    return {
        f"q{query}": {f"d{item}": float(generator.random()) for item in range(12)}
        for query in range(queries)
    }


ANN, BOB = judgements(1), judgements(2)
del ANN["q0"], BOB["q1"]
RUNS = {name: run(seed) for seed, name in enumerate(("x", "y", "z"), 3)}


def on_both(given: Given) -> Given:
    return {query: own for query, own in given.items() if query in ANN and query in BOB}


def test_values_are_those_of_evaluate_on_the_queries_that_both_judged() -> None:
    found = judged.agreement({"ann": ANN, "bob": BOB}, runs=RUNS, measures="AP, P@3", resamples=999)
    for judge, own in (("ann", ANN), ("bob", BOB)):
        wanted = judged.evaluate(on_both(own), RUNS, "AP, P@3")
        for measure in ("AP", "P@3"):
            assert found.boards.values[measure][judge] == {
                name: wanted.value(measure, run=name) for name in RUNS
            }
    assert found.boards is not None
    assert found.boards.queries == QUERIES - 2
    assert (
        "Values under an assessor use that assessor's judgements, on the 12 queries that all "
        "judged."
    ) in found.sentences()


def test_verdicts_are_those_of_compare() -> None:
    """Under ann x is right and y is wrong, under bob the other way round; z is nowhere."""
    ann = {f"q{at}": {"a": 1, "b": 0, "c": 0} for at in range(12)}
    bob = {f"q{at}": {"a": 0, "b": 1, "c": 0} for at in range(12)}
    runs = {
        "x": {f"q{at}": ["a", "b"] if at else ["a", "c", "b"] for at in range(12)},
        "y": {f"q{at}": ["b", "a"] if at else ["b", "c", "a"] for at in range(12)},
    }
    found = judged.agreement({"ann": ann, "bob": bob}, runs=runs, measures="RR", resamples=999)
    [row] = found.boards.verdicts
    wanted = {
        judge: judged.compare(own, runs, "RR").pair() for judge, own in (("ann", ann), ("bob", bob))
    }
    assert row["verdicts"] == {judge: pair.verdict for judge, pair in wanted.items()}
    assert row["verdicts"] == {"ann": "worse", "bob": "better"}
    assert row["differences"] == {judge: pair.difference for judge, pair in wanted.items()}
    assert row["changes"]
    said = found.sentences()
    assert "RR: the verdict on y vs x is worse under ann and better under bob." in said
    assert "Kendall's tau of the orders needs at least three runs." in said
    assert found.boards.orders == {}


def test_orders_are_those_of_order_agreement() -> None:
    same = judged.agreement({"ann": ANN, "again": ANN}, runs=RUNS, resamples=999).sentences()
    assert "nDCG@10: all assessors lead to the same verdict on 3 pairs of runs." in same
    found = judged.agreement({"ann": ANN, "bob": BOB}, runs=RUNS, resamples=999)
    values = found.boards.values["nDCG@10"]
    wanted = order_agreement(values["ann"], values["bob"])
    assert found.boards.orders["nDCG@10"]["ann", "bob"] == wanted
    said = f"nDCG@10: Kendall's tau of the orders under ann and bob is {wanted.tau:.3f}."
    assert said in found.sentences()
    assert found.to_dict()["runs"]["orders"][0]["first"] == "ann"


def test_one_run_has_values_alone() -> None:
    found = judged.agreement({"ann": ANN, "bob": BOB}, runs={"x": RUNS["x"]}, resamples=999)
    assert (found.boards.verdicts, found.boards.orders) == ((), {})
    ann, bob = (found.boards.values["nDCG@10"][judge]["x"] for judge in ("ann", "bob"))
    assert f"nDCG@10 of x is {ann:.4f} under ann and {bob:.4f} under bob." in found.sentences()


def test_policies_and_conventions_reach_the_runs() -> None:
    options: dict[str, Any] = {"policy": {"unjudged": "removed", "depth": 5}}
    found = judged.agreement(ANN, BOB, RUNS, "AP", resamples=999, **options)
    wanted = judged.evaluate(on_both(ANN), RUNS, "AP", **options)
    assert found.boards.values["AP"]["first"]["x"] == wanted.value(run="x")
    found = judged.agreement(ANN, BOB, RUNS, "mrr", convention="ranx", resamples=999)
    wanted = judged.evaluate(on_both(BOB), RUNS, "mrr", convention="ranx")
    assert found.boards.values["mrr"]["second"]["x"] == wanted.value(run="x")


def test_much_that_one_alone_judged_is_warned_of() -> None:
    less = {q: {i: g for i, g in own.items() if i < "d3"} for q, own in BOB.items()}
    found = judged.agreement(ANN, less, RUNS, resamples=999)
    share = found.grades.times.tolist().count(1) / len(found.grades.times)
    assert (
        f"{100 * share:.0f} % of the items were judged by one assessor only. This adds to the "
        "differences between values under different assessors."
    ) in found.warnings()


def test_what_is_wrong_with_a_run_is_said_with_the_judge() -> None:
    judges, runs = {"ann": ANN, "bob": BOB}, {"x": RUNS["x"], "y": run(4, 5)}
    message = error_of(judged.agreement, judges, runs=runs, error=PolicyError)
    assert message.startswith("under ann: y has no results for 9 (q5, q6, q7, …) of the 12 judged")


def test_a_file_of_the_other_kind(tmp_path: Path) -> None:
    one, two = tmp_path / "one.qrels", tmp_path / "x.run"
    one.write_text("q 0 a 1\nq 0 b 0\n")
    two.write_text("q Q0 a 1 2.5 x\n")
    where = (
        "The judgements of two assessors come first, then runs; give further assessors as {name: "
        "judgements}."
    )
    assert error_of(judged.agreement, one, two) == (
        f"{two} looks like a run (6 columns: query, Q0, item, rank, score, tag), not judgements. "
        f"{where}"
    )
    assert error_of(judged.agreement, one, one, [one]) == (
        f"{one} looks like judgements (4 columns: query, iteration, item, grade), not a run. "
        f"{where}"
    )
