"""Measures that users declare, and values of typed lists."""

from __future__ import annotations

import math

import numpy as np
import pytest

import judged
from judged import compare, evaluate, explain
from judged.errors import MeasureError
from judged.measures import parse_measure
from judged.measures.registry import _NAMES, REGISTRY

JUDGEMENTS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"d": 1}, "q3": {"e": 0}}
RUNS = {
    "one": {"q1": ["x", "a", "b", "c"], "q2": ["d"], "q3": ["e"]},
    "two": {"q1": ["c", "a"], "q2": ["y", "d"]},
}


def forget(name):
    del REGISTRY[name], _NAMES[name.lower()]


@pytest.fixture
def own():
    """Declare RR again as an own measure, and forget it afterwards."""

    @judged.measure(name="MyRR")
    def plain(ranks, grades, k=None, rel=1):
        """Divide 1 by the first relevant rank."""
        return max(1 / ranks[grades >= rel], default=0.0)

    yield plain
    forget("MyRR")


def test_an_own_measure_equals_the_same_measure_of_judged(own):
    for policy in ({}, {"missing": "skip", "empty": "skip"}, {"unjudged": "removed"}):
        for k, rel in ((None, 1), (1, 1), (2, 2)):
            mine, ours = own(k=k, rel=rel), judged.RR(k=k, rel=rel)
            values = evaluate(JUDGEMENTS, RUNS, [mine, ours], policy=policy)
            assert values[str(mine)] == values[str(ours)]
    assert (
        evaluate(JUDGEMENTS, RUNS, "MyRR@2")["MyRR@2"] == evaluate(JUDGEMENTS, RUNS, "RR@2")["RR@2"]
    )


def test_it_works_in_everything_after_evaluate(own, tmp_path):
    judgements = {str(q): {"a": 1, "b": q % 2} for q in range(20)}
    runs = {"x": {str(q): ["b", "a"] for q in range(20)}, "y": {str(q): ["a"] for q in range(20)}}
    ours, mine = (compare(judgements, runs, measure).pair() for measure in ("RR", "MyRR"))
    assert (mine.p, mine.difference, mine.verdict) == (ours.p, ours.difference, ours.verdict)
    evaluation = evaluate(judgements, runs, "MyRR")
    assert evaluation.gate("x").passed
    assert "MyRR" in evaluation.compare().to_markdown()
    explanation = explain(judgements, runs["x"], query="0", measure="MyRR")
    assert explanation.value == 0.5
    assert "0.5" in explanation.to_text()
    evaluation.report(tmp_path / "r.html")
    assert "MyRR" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Divide 1 by the first relevant rank." in evaluation.definition("MyRR")


def test_pool_retrieved_and_own_parameters():
    @judged.measure(range=(0, math.inf), higher_is_better=False)
    def Effort(ranks, grades, pool, retrieved, cost=0.5):  # noqa: N802
        return retrieved * cost + (pool >= 1).sum()

    assert evaluate(JUDGEMENTS, RUNS["one"], "Effort").scored().values[Effort].tolist() == [
        4 * 0.5 + 2,
        1 * 0.5 + 1,
        1 * 0.5 + 0,
    ]
    assert str(Effort(cost=2)) == "Effort(cost=2)"
    forget("Effort")


def test_defaults_of_k_and_rel_are_those_of_the_function():
    @judged.measure(name="Early", range=(0, 9))
    def early(ranks, grades, k=2, rel=2):
        return len(ranks) + 3 * (grades >= rel).any()

    run = RUNS["one"]  # q1: ranks 2, 3, 4 with grades 2, 0, 1; q2: rank 1 with grade 1
    for text, values in (
        ("Early", [1 + 3, 1, 1]),
        ("Early@3", [2 + 3, 1, 1]),
        ("Early(rel=1)@1", [0, 1 + 3, 1]),
    ):
        assert evaluate(JUDGEMENTS, run, text).scored().values[parse_measure(text)].tolist() == (
            values
        ), text
    forget("Early")


def test_nan_is_no_value_and_a_warning():
    @judged.measure(name="SecondHit")
    def second(ranks, grades):
        return np.float32(1 / ranks[1]) if len(ranks) > 1 else np.float32("nan")

    for empty, effect, value in (
        ("zero", "get the worst value", 1 / 3 / 3),
        ("skip", "are left out of the mean", 1 / 3),
    ):
        with pytest.warns() as caught:
            found = evaluate(JUDGEMENTS, RUNS["one"], second, policy={"empty": empty})
        assert found.value() == pytest.approx(value)
        assert (
            "SecondHit has no value for 1 of 3 judged queries (q2), which "
            f"{effect}: the function returns NaN."
        ) in [str(one.message) for one in caught]
    forget("SecondHit")


def test_ties_are_averaged_over_all_orders(own):
    judgements, run = {"q": {"a": 1, "b": 1}}, {"q": dict.fromkeys("abcd", 1.0)}
    policy = {"ties": "expected"}
    values = evaluate(judgements, run, [own, judged.RR], policy=policy)
    assert values.value("MyRR") == pytest.approx(values.value("RR"))


def test_declaring_again_replaces():
    for value in (0.25, 0.75):

        @judged.measure(name="Constant")
        def constant(ranks, grades, value=value):
            return value

        assert (
            evaluate(JUDGEMENTS, RUNS["one"], "Constant", policy={"empty": "skip"}).value() == value
        )
    forget("Constant")


def test_errors(own):
    for name in ("nDCG", "myrr", "rag"):
        with pytest.raises(MeasureError, match=f"there is a measure '{name}' already"):
            judged.measure(name=name)(lambda ranks, grades: 0)
    with pytest.raises(MeasureError, match="the parameter 'aggregate' is neither one of"):
        judged.measure(name="Bad")(lambda ranks, grades, aggregate=1: 0)
    with pytest.raises(MeasureError, match="a measure needs a name such as MyGain, not '<lambda>'"):
        judged.measure(lambda ranks, grades: 0)
    with pytest.raises(MeasureError, match="the function must take ranks and grades"):
        judged.measure(name="Bad")(lambda ranks: 0)
    with pytest.raises(MeasureError, match="the parameter 'gain' is neither one of"):
        judged.measure(name="Bad")(lambda ranks, grades, gain: 0)
    wrong = judged.measure(name="Wrong")(lambda ranks, grades: "high")
    with pytest.raises(MeasureError, match="Wrong returned 'high' for query 'q1'"):
        evaluate(JUDGEMENTS, RUNS["one"], wrong)
    forget("Wrong")
    large = judged.measure(name="Large")(lambda ranks, grades: 7)
    with pytest.raises(MeasureError) as error:
        evaluate(JUDGEMENTS, RUNS["one"], large)
    assert str(error.value) == (
        "Large returned 7 for query 'q1', but its values are from 0 to 1; declare others with "
        "range=(lowest, highest)."
    )
    forget("Large")


def test_values_of_typed_lists():
    """Two searches of a text this project grew from: AP 13/15 and 47/84, by hand."""
    phone, watch = [1, 1, 0, 0, 1, 0, 0], "0 1 1 0 0 1 1"
    assert judged.AP(phone) == pytest.approx((1 + 2 / 2 + 3 / 5) / 3)
    assert judged.AP(watch) == pytest.approx((1 / 2 + 2 / 3 + 3 / 6 + 4 / 7) / 4)
    assert judged.AP([phone, watch]) == pytest.approx((judged.AP(phone) + judged.AP(watch)) / 2)
    assert (judged.P @ 2)(np.array([1, 0])) == 0.5
    assert judged.R([1, 0], relevant=4, k=2) == 0.25
    with pytest.raises(MeasureError, match="give the list"):
        judged.AP(relevant=3)
