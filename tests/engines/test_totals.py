"""Summaries without values: exact sums of blocks are the numbers of the whole."""

from __future__ import annotations

import numpy as np
import pytest

import judged
from judged.engines.spark._summary import add_totals, refuse_needing_values, totals_of
from judged.errors import InputError, JudgedError, MeasureError
from judged.evaluation.scores import score_run
from judged.evaluation.settings import EvaluationSettings

MEASURES = (
    "AP, nDCG@10, RR, P@5, R@10, Bpref, RBP(p=0.8), GMAP, F(average=means)@10, Rank(of=all), "
    "NumRet, AP(aggregate=sum)"
)


def tables() -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    rng = np.random.default_rng(0)
    judgements = {
        f"q{query}": {f"d{item}": float(rng.integers(-1, 4)) for item in rng.choice(40, 8, False)}
        for query in range(40)
    }
    run = {
        f"q{query}": {f"d{item}": float(rng.integers(0, 6)) for item in rng.choice(40, 30, False)}
        for query in range(3, 40)
    }
    return judgements, run


@pytest.mark.parametrize(
    "policy", [{}, {"ties": "expected"}, {"missing": "skip", "empty": "skip"}], ids=str
)
@pytest.mark.parametrize("blocks", [1, 7, 40])
def test_sums_of_blocks_are_those_of_the_whole(policy: dict[str, str], blocks: int) -> None:
    settings = EvaluationSettings.of(MEASURES, policy)
    rankings = judged.Rankings.from_run(*tables(), policy=policy)
    whole = score_run(rankings, settings)
    cuts = np.array_split(np.arange(len(rankings)), blocks)
    summed = add_totals([totals_of(rankings.take(cut), settings) for cut in cuts], settings)
    assert summed.summary == whole.summary
    assert summed.summary_errors == whole.summary_errors


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (
            EvaluationSettings.of("Rank(aggregate=median)", None),
            MeasureError,
            "Rank(aggregate=median) is a median, which needs the values of all queries; ask for "
            "its mean, or use judged.evaluate.",
        ),
        (
            EvaluationSettings.of("AP", {"missing": "error"}),
            InputError,
            "missing=error names queries, and a summary has none of them; choose another policy, "
            "or use judged.evaluate.",
        ),
    ],
)
def test_values_of_queries_are_needed(
    settings: EvaluationSettings, error: type[JudgedError], message: str
) -> None:
    with pytest.raises(error) as caught:
        refuse_needing_values(settings)
    assert str(caught.value) == message
