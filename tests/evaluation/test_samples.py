"""What the summary of a measure is made of: for every measure, the summary itself."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from judged import Rankings, evaluate
from judged.evaluation.evaluation import Evaluation

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


def test_the_mean_of_pooled_ranks_is_not_rounded_twice() -> None:
    lists = [[1, 0, 0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1]]
    assert Rankings.from_relevance(lists).evaluate("Rank(of=all)").value() == 3.0
