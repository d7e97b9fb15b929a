"""Each run's own interval in a comparison: that of an evaluation."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from judged import compare, evaluate

MEASURES = [
    *("AP", "AP(aggregate=sum)", "GMAP", "AP(aggregate=median)", "NumRelRet@3", "Success@1"),
    *("F(average=means)@3", "MedR", "ERR", "ERR(aggregate=sum)", "ERR(aggregate=geometric)"),
]


@pytest.mark.filterwarnings("ignore::judged.errors.JudgedWarning")
@pytest.mark.parametrize("ties", ["id", "expected"])
@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_are_those_of_an_evaluation(ties: str, weighted: bool) -> None:
    draw = Random(3)
    queries = [f"q{number}" for number in range(20)]
    judgements = {q: {f"d{item}": draw.choice([1, 2]) for item in range(4)} for q in queries}
    runs = {
        name: {q: {f"d{item}": draw.randint(1, 2) for item in range(12)} for q in queries}
        for name in ("a", "b")
    }
    sums = ("sum", "NumRelRet")
    asked = [each for each in MEASURES if not (weighted and any(word in each for word in sums))]
    given: dict[str, Any] = {
        "policy": {"ties": ties},
        "weights": {q: draw.uniform(1, 2) for q in queries} if weighted else None,
    }
    compared = compare(judgements, runs, asked, **given)
    evaluation = evaluate(judgements, runs, asked, **given)
    if ties == "expected":
        assert evaluation.scored("a").summary_errors
    for measure in asked:
        one, other = compared.interval(measure, "a"), evaluation.interval(measure, "a")
        assert (one.method, one.note) == (other.method, other.note)
        assert one.low <= one.estimate <= one.high
        assert (one.estimate, one.low, one.high) == pytest.approx(
            (other.estimate, other.low, other.high), rel=1e-9, nan_ok=True
        )
