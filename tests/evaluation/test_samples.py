"""What the summary of a measure is made of: for every measure, the summary itself."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from judged import Rankings, evaluate
from judged.evaluation.evaluation import Evaluation
from judged.measures import parse_measure
from judged.statistics.samples import Means, Median

MEASURES = (
    "AP",
    "GMAP",
    "AP(aggregate=median)",
    "NumRelRet",
    "F@5",
    "F(average=means)@5",
    "F(beta=2, average=means, short=shrink)@3",
    "Rank",
    "Rank(aggregate=median)",
    "Rank(of=all)",
    "Rank(of=all, aggregate=median)",
)
POLICIES = [
    {"ties": ties, "empty": empty, "missing": missing}
    for ties in ("id", "expected")
    for empty in ("zero", "one", "skip")
    for missing in ("zero", "skip")
]


def found(draw: Random, policy: dict[str, str], *, weighted: bool = False) -> Evaluation:
    """An evaluation with ties, missing queries and queries with nothing relevant."""
    queries = [f"q{number}" for number in range(draw.randint(3, 30))]
    judgements = {
        query: {f"d{item}": draw.choice([0, 1, 2]) for item in range(draw.randint(1, 9))}
        for query in queries
    }
    judgements["q0"], judgements["q1"] = {"d0": 0}, {"d0": 1, "d1": 1}
    run = {
        query: {f"d{item}": draw.choice([1, 2, 3]) for item in range(10)}
        for query in queries
        if query in ("q0", "q1") or draw.random() < 0.8
    }
    measures = [each for each in MEASURES if not (weighted and each == "NumRelRet")]
    weights = {query: draw.uniform(0.1, 5) for query in queries} if weighted else None
    return evaluate(judgements, run, measures, policy=policy, weights=weights)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: " ".join(policy.values()))
@pytest.mark.filterwarnings("ignore::judged.errors.JudgedWarning")
def test_every_summary_is_the_value_of_its_sample(policy: dict[str, str], weighted: bool) -> None:
    for seed in range(4):
        run = found(Random(seed), policy, weighted=weighted).scored()
        for measure, values in run.values.items():
            sample = run.sample(measure)
            assert len(sample) == (~np.isnan(values)).sum()
            if weighted:
                assert sample.value() == pytest.approx(run.summary[measure], rel=1e-12)
            else:
                assert sample.value() == run.summary[measure], measure


@pytest.mark.filterwarnings("ignore::judged.errors.JudgedWarning")
def test_a_sample_of_some_queries_is_the_sample_of_an_evaluation_of_these() -> None:
    draw = Random(7)
    evaluation = found(draw, {"empty": "skip"})
    whole, rankings = evaluation.scored(), evaluation.rankings["run"]
    some = np.array(draw.sample(range(len(whole.rankings)), len(whole.rankings) // 2))
    part = rankings.take(some).evaluate(list(MEASURES), policy={"empty": "skip"}).scored()
    for measure, values in whole.values.items():
        place = np.cumsum(~np.isnan(values)) - 1
        taken = whole.sample(measure).take(place[some[~np.isnan(values[some])]])
        assert taken.value() == pytest.approx(part.summary[measure], rel=1e-12), measure


def test_what_f_of_means_and_pooled_ranks_are_made_of() -> None:
    # Precision 1/2 and 0, recall 1 and 0; ranks 2 and, of the second, infinite twice.
    rankings = Rankings.from_relevance([[0, 1], [0, 0]], relevant=[1, 2])
    run = rankings.evaluate(["F(average=means)@2", "Rank(of=all)", "MedR(of=all)"]).scored()
    f, mean, median = (run.sample(measure) for measure in run.values)
    assert isinstance(f, Means)
    assert f.columns.tolist() == [[0.5, 1.0], [0.0, 0.0]]
    assert f.value() == pytest.approx(1 / 3)  # 2 · 1/4 · 1/2 / (3/4)
    assert isinstance(mean, Means)
    assert mean.columns.tolist() == [[2.0, 1.0], [np.inf, 2.0]]
    assert isinstance(median, Median)
    assert (median.values.tolist(), median.owner.tolist()) == ([2.0, np.inf, np.inf], [0, 1, 1])
    assert (f.averaged, mean.averaged, median.pooled) == (None, None, True)


def test_the_mean_of_pooled_ranks_is_not_rounded_twice() -> None:
    lists = [[1, 0, 0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1]]
    assert Rankings.from_relevance(lists).evaluate("Rank(of=all)").value() == 3.0


def test_a_median_of_values_has_one_value_a_query() -> None:
    run = Rankings.from_relevance([[1], [0, 1], [0, 0, 1]]).evaluate("MedR").scored()
    sample = run.sample(parse_measure("MedR"))
    assert isinstance(sample, Median)
    assert not sample.pooled
    assert sample.values.tolist() == [1.0, 2.0, 3.0]


def test_a_median_of_queries_in_another_order_still_has_one_value_a_query() -> None:
    sample = Median.of_values(np.array([3.0, 1.0, 2.0])).take(np.array([2, 0, 1]))
    assert (sample.values.tolist(), sample.pooled) == ([2.0, 3.0, 1.0], False)
