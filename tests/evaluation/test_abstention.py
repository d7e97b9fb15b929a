"""Thresholds below which a run should not answer."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.metrics import roc_auc_score

from judged import evaluate
from judged.errors import InputError, MeasureError
from support.loops import for_each


def evaluated(scores, right, *, empty=0):
    """Evaluate a run whose first result is relevant where `right`, and `empty` lists."""
    judgements = {str(q): {"a": 1} for q in range(len(scores) + empty)}
    run = {
        str(q): {"a" if ok else "b": s} for q, (s, ok) in enumerate(zip(scores, right, strict=True))
    }
    return evaluate(judgements, run, "RR")


def test_worked_by_hand():
    # Best scores 5 4 3 2 1, answers right right wrong right wrong, and one query without results.
    found = evaluated([5, 4, 3, 2, 1], [True, True, False, True, False], empty=1).abstention(
        threshold=2
    )
    [(threshold, answered, coverage, wrong, risk, upper)] = found.rows
    assert (threshold, answered, coverage, wrong, risk) == (2, 4, 4 / 6, 1, 1 / 4)
    # One wrong of four: the 95 % quantile of Beta(2, 3).
    assert upper == pytest.approx(beta.ppf(0.95, 2, 3))
    # Right 5 4 2 against wrong 3 1: 3 + 2 of 6 pairs are in order, as 2 is below 3.
    assert found.auroc.estimate == pytest.approx(5 / 6)
    assert not found.passed
    assert found.says().startswith("FAILED: from a best score of 2.0 on, run answers 66.7 %")


def test_bounds_are_corrected_for_the_thresholds_to_choose_from():
    rng = np.random.default_rng(1)
    scores, right = rng.normal(size=500), rng.random(500) < 0.9
    found = evaluated(scores, right).abstention(risk=0.2)
    assert len(found.rows) == 10
    order = np.argsort(-scores)
    for threshold, answered, _, wrong, _, upper in found.rows:
        assert answered == (scores >= threshold).sum()
        assert wrong == (~right[order][: int(answered)]).sum()
        assert upper == pytest.approx(beta.ppf(1 - 0.05 / 10, wrong + 1, answered - wrong))
    assert found.coverage == max(row[2] for row in found.rows if row[5] <= 0.2)
    assert found.auroc.estimate == pytest.approx(roc_auc_score(right, scores))


def test_the_guarantee_holds_in_at_least_95_of_100_samples():
    """The true risk of the chosen threshold is above 25 % in at most 5 % of 400 samples."""
    rng = np.random.default_rng(7)

    def chance(score):
        return 1 / (1 + np.exp(-2 * score))

    population = np.sort(rng.normal(size=200_000))[::-1]
    mean_risk = np.cumsum(1 - chance(population)) / np.arange(1, len(population) + 1)
    broken = chosen = 0
    for _ in range(400):
        scores = rng.normal(size=400)
        found = evaluated(scores, rng.random(400) < chance(scores)).abstention(risk=0.25)
        if found.threshold is not None:
            chosen += 1
            place = np.searchsorted(-population, -found.threshold, "right") - 1
            broken += mean_risk[place] > 0.25
    assert chosen > 200
    assert broken <= 20


def test_queries_without_relevant_items_are_answered_wrongly():
    judgements = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"a": 1}}
    run = {"q1": {"a": 3.0}, "q2": {"a": 2.0}, "q3": {}}
    for policy in ({}, {"empty": "skip"}, {"empty": "one"}, {"missing": "skip"}):
        found = evaluate(judgements, run, "RR", policy=policy).abstention(threshold=0)
        assert found.rows[0][1:5] == (2, 2 / 3, 1, 1 / 2)


@for_each(
    "change, options, message",
    [
        ({"measure": "nDCG@10"}, {}, "nDCG@10 is not 0 or 1 for each query"),
        ({}, {"weights": {"0": 1, "1": 2}}, "leave out weights"),
        ({"risk": 1.5}, {}, "risk is a share of answers between 0 and 1, such as 0.1; got 1.5."),
        ({"threshold": float("nan")}, {}, "a finite number; got nan."),
    ],
)
def test_errors(change, options, message):
    judgements = {"0": {"a": 1, "b": 1}, "1": {"a": 1}}
    evaluation = evaluate(judgements, {"0": {"a": 1}, "1": {"b": 2}}, "RR", **options)
    with pytest.raises((InputError, MeasureError)) as error:
        evaluation.abstention(**change)
    assert message in str(error.value)


def test_a_run_without_scores_is_an_error():
    with pytest.raises(InputError, match="this run has no scores"):
        evaluate({"q": {"a": 1}}, {"q": ["a", "b"]}, "RR").abstention()


def test_infinite_scores_are_thresholds():
    scores = [np.inf] * 40 + [1.0] * 10 + [-np.inf] * 10
    found = evaluated(scores, [True] * 45 + [False] * 15).abstention(risk=0.3)
    assert (found.threshold, found.coverage) == (1.0, 50 / 60)
    assert json.loads(found.to_json())["thresholds"][0]["threshold"] == "Infinity"
    found = evaluated(scores, [True] * 40 + [False] * 20).abstention(risk=0.2)
    assert json.loads(found.to_json())["threshold"] == "Infinity"
