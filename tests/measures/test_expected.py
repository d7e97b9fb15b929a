"""The expected value over all orders of tied results: every measure against brute force over those
orders."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import settings

from judged import Rankings, evaluate
from judged.errors import PolicyError
from judged.evaluation import wording
from judged.measures import REGISTRY, parse_measure
from judged.measures.tie_orders import DRAWS, expectations
from support.errors import error_of
from support.evaluating import add_choices
from support.loops import for_each
from support.rankings import PLAIN, random_measure
from support.tied import Tied, mean_of_twins, random_ties, rankings_of_ties

ALWAYS_EXACT = [
    *("P", "R", "F", "Success", "RR", "DCG", "RBP", "Rprec", "TP", "FP", "FN", "TN", "Accuracy"),
    *("Specificity", "FallOut", "NumRet", "NumRel", "NumRelRet", "NumNonrelRet", "NumQ"),
    *("IdealDCG", "Utility", "Judged", "Unjudged", "RBPResidual"),
]
"""In closed form whatever the parameters, even where a depth cuts through a tie."""

SAME = {"rtol": 1e-11, "atol": 1e-12}


def compare(name: str, seed: str, *, variants: int, depth: int | None) -> None:
    draw = Random(seed)
    for _ in range(variants):
        measure = random_measure(REGISTRY[name], draw)
        queries = random_ties(draw, 10)
        found = expectations([measure], rankings_of_ties(queries, depth=depth))[measure]
        wanted = np.array([mean_of_twins(measure, query, depth=depth) for query in queries])
        if found.errors is None:
            np.testing.assert_allclose(found.values, wanted, **SAME, err_msg=f"{measure} {queries}")
        else:
            assert name not in ALWAYS_EXACT
            finite = np.isfinite(wanted)
            np.testing.assert_array_equal(
                found.values[~finite], wanted[~finite], err_msg=str(measure)
            )
            off = np.abs(found.values[finite] - wanted[finite])
            assert (off <= 5 * found.errors[finite] + 1e-11).all(), (measure, off, found.errors)


@for_each("name", PLAIN)
def test_brute_force(name: str) -> None:
    many = settings.default.max_examples // 2
    compare(name, name, variants=many if REGISTRY[name].expected else 2, depth=None)


@for_each("depth", [1, 3])
@for_each("name", [name for name in PLAIN if REGISTRY[name].expected])
def test_brute_force_where_a_depth_cuts_through_ties(name: str, depth: int) -> None:
    compare(name, f"{name} {depth}", variants=4 if name in ALWAYS_EXACT else 2, depth=depth)


@for_each("area", ["step", "trapezoid"])
@for_each("norm", ["relevant", "capped", "retrieved", "cutoff"])
@for_each("k", [1, 2, 3, 5, 40, "R"])
def test_average_precision_is_exact_in_all_its_variants(area: str, norm: str, k: int | str) -> None:
    measure = parse_measure("AP")(area=area, norm=norm, k=k)
    queries = random_ties(Random(f"{area} {norm} {k}"), 40)
    found = expectations([measure], rankings_of_ties(queries))[measure]
    assert found.errors is None
    np.testing.assert_allclose(
        found.values, [mean_of_twins(measure, query) for query in queries], **SAME
    )


def test_all_of_a_long_tie() -> None:
    # Three of n = 1,000 equal results are relevant: all are among the first 500 with the chance
    # 500/1000 * 499/999 * 498/998, and the last stands at 3 * 1001/4 on average.
    run = {"q": {f"i{at}": 1.0 for at in range(1000)}}
    grades = {"q": {"i7": 1, "i70": 1, "i700": 1}}
    rankings = Rankings.from_run(grades, run, policy={"ties": "expected"})
    chance = 0.5 * 499 / 999 * 498 / 998
    found = rankings.evaluate("Success(of=all)@500, Rank(of=last), Success(of=all)@2")
    assert found.value("Success(of=all)@500") == pytest.approx(chance, rel=1e-13)
    assert found.value("Rank(of=last)") == 3 * 1001 / 4
    assert found.value("Success(of=all)@2") == 0.0


def test_long_ties_are_exact_too() -> None:
    # One relevant item among n: it is at each rank with the chance 1/n, and the mean of 1/rank is
    # H(n)/n.
    for size in (2, 10, 1000):
        run = {"q": {f"i{at}": 1.0 for at in range(size)}}
        rankings = Rankings.from_run(
            {"q": {"i7" if size > 7 else "i1": 1}}, run, policy={"ties": "expected"}
        )
        harmonic = sum(1 / rank for rank in range(1, size + 1))
        for name in ("RR", "AP"):
            assert rankings.evaluate(name).value() == pytest.approx(harmonic / size, rel=1e-13)
        assert rankings.evaluate("Success@1").value() == pytest.approx(1 / size, rel=1e-13)
        assert rankings.evaluate("Rank").value() == (size + 1) / 2


# Worked by hand: a (relevant) ties with b (unjudged) and c (not relevant) at ranks 1 to 3.
WORKED = {
    "RR": (1 + 1 / 2 + 1 / 3) / 3,
    "AP": (1 + 1 / 2 + 1 / 3) / 3,
    "P@1": 1 / 3,
    "R@2": 2 / 3,
    # P 1/2 and R 1 make F 2/3, in two of three orders.
    "F@2": 2 / 3 * 2 / 3,
    "Success@2": 2 / 3,
    "nDCG": (1 + 1 / np.log2(3) + 1 / 2) / 3,
    "RBP(p=0.5)": 0.5 * (1 + 1 / 2 + 1 / 4) / 3,
    "Rank": 2.0,
    "Judged@1": 2 / 3,
    "Bpref": 0.5,  # c above a or below it: a's one nonrelevant item
}


@pytest.mark.parametrize(("measure", "value"), WORKED.items())
def test_worked_by_hand(measure: str, value: float) -> None:
    run = {"q": {"b": 0.5, "a": 0.5, "c": 0.5}}
    found = evaluate({"q": {"a": 1, "c": 0}}, run, measure, policy={"ties": "expected"}).value()
    # An order and its reverse together are exact for Bpref here: c is above a in one of them and
    # below it in the other.
    assert found == pytest.approx(value, abs=1e-15)


# -- drawing

MANY = [
    Tied(((1.0, None, 2.0, 0.0), (None, 1.0, 3.0, None)), (1.0,)),
    Tied(((None, 1.0), (2.0, 0.0))),
    Tied(((1.0,), (0.0,))),
]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Orders are drawn, however few they are."""
    monkeypatch.setattr("judged.measures.tie_orders.LIMIT", 1)


@pytest.mark.usefixtures("drawn")
def test_estimates_have_a_standard_error_that_says_how_far_off_they_are() -> None:
    measure = parse_measure("ERR")
    found = expectations([measure], rankings_of_ties(MANY))[measure]
    off = found.values - [mean_of_twins(measure, query) for query in MANY]
    assert (np.abs(off) <= 4 * found.errors + 1e-12).all()
    assert found.errors[0] > 0
    # The last query has no ties.
    assert (found.errors[2], off[2]) == (0, pytest.approx(0, abs=1e-15))


@for_each(
    ("aggregate", "values", "errors", "wanted"),
    [
        # Errors 0.3 and 0.4 of the values 1 and 4: of a sum sqrt(0.09 + 0.16) = 0.5.
        ("sum", [1.0, 4.0], [0.3, 0.4], 0.5),
        ("mean", [1.0, 4.0], [0.3, 0.4], 0.25),
        ("median", [1.0, 4.0], [0.3, 0.4], 0.25),
        # 2 * sqrt(0.3² + 0.1²) / 2
        ("geometric", [1.0, 4.0], [0.3, 0.4], np.sqrt(0.1)),
        # That of the middle query; a value at the floor has none.
        ("median", [3.0, 1.0, 2.0], [0.5, 0.1, 0.2], 0.2),
        ("geometric", [0.0, 1.0], [0.1, 0.0], 0.0),
    ],
)
def test_errors_of_summaries(
    aggregate: str, values: list[float], errors: list[float], wanted: float
) -> None:
    measure = parse_measure("ERR")(aggregate=aggregate)
    assert measure.summarise_error(np.array(values), np.array(errors)) == pytest.approx(wanted)


@pytest.mark.usefixtures("drawn")
def test_what_is_said_of_an_estimate() -> None:
    evaluation = rankings_of_ties(MANY).evaluate(["ERR", "RR"])
    [error] = evaluation.scored().summary_errors.values()
    begins = f"note: the expected ERR is estimated from {DRAWS} random orders of the tied results"
    [note] = [line for line in evaluation.to_text(verbose=True).splitlines() if begins in line]
    assert note.endswith(f"; standard error {error:.2g}.")
    assert evaluation.to_text().splitlines()[-1] == (
        f"3 queries; ties=expected; the expected ERR is an estimate, standard error {error:.2g}; "
        "definitions and notes: to_text(verbose=True)"
    )
    line = (
        "Mean over the orders of ties: estimated from 500 random orders in queries where they are "
        f"more than {wording.LIMIT} (Monte Carlo, seed 2008; standard error {error:.2g})."
    )
    assert line in evaluation.definition("ERR").splitlines()
    assert "Mean over the orders of ties: exact." in evaluation.definition("RR").splitlines()
    [run] = evaluation.to_dict(per_query=True)["runs"]
    assert run["standard_errors"] == {"ERR": error}
    assert run["standard_errors_per_query"]["q2"] == {"ERR": 0.0}
    assert "standard_errors" not in rankings_of_ties(MANY).evaluate("RR").to_dict()["runs"][0]


# -- summaries


# -- where expected values come from


def test_what_is_left_of_a_cut_tie_cannot_be_condensed() -> None:
    run = {"q": {"b": 0.5, "a": 0.5, "c": 0.5}}
    policy = {"ties": "expected", "unjudged": "removed"}
    assert error_of(
        evaluate,
        {"q": {"a": 1, "c": 0}},
        run,
        "RR",
        policy=add_choices(policy, depth=2),
        error=PolicyError,
    ) == (
        "depth=2 cuts through a tie of query q, so the number of results that unjudged=removed "
        "leaves depends on the order of the tie, which ties=expected leaves open. Leave out one of "
        "the three."
    )
    assert (
        evaluate({"q": {"a": 1, "c": 0}}, run, "RR", policy=add_choices(policy, depth=3)).value()
        == 0.75
    )
