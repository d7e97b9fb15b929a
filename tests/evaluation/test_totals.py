"""Summaries without values: exact sums of blocks are the numbers of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from judged.evaluation.parts import Asked, gathered, part_of

import judged
from judged.errors import InputError, JudgedError, MeasureError
from judged.evaluation.settings import Settings
from judged.evaluation.totals import summed, totals_of

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
    asked = Asked.of(Settings.of(MEASURES, policy), tie_range=True)
    rankings = judged.judge(*tables(), policy=policy)
    whole = gathered([part_of(rankings, asked)], asked, rankings.queries)
    cuts = np.array_split(np.arange(len(rankings)), blocks)
    parts = [totals_of(part_of(rankings.take(cut), asked), asked) for cut in cuts]
    found = summed(parts, asked)
    assert found.summary == whole.summary
    assert found.summary_errors == whole.summary_errors
    for name, each in whole.others.items():
        assert found.others[name].summary == each.summary
        assert found.others[name].unsure == each.unsure


def test_an_evaluation_without_values() -> None:
    judgements, run = tables()
    wanted = judged.evaluate(judgements, run, "AP, RR")
    found = judged.evaluate(judgements, run, "AP, RR", per_query=False)
    assert found.summary.equals(wanted.summary)
    assert found.audit == wanted.audit
    assert found.to_dict()["runs"][0]["scores"] == wanted.to_dict()["runs"][0]["scores"]
    assert "over 40 judged queries" in found.definition("AP") or "40 judged" in found.methods()
    with pytest.raises(InputError) as caught:
        _ = found.per_query
    assert str(caught.value) == (
        "run was evaluated with per_query=False: the values of its queries were not kept, only "
        "summaries."
    )


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"interval": True},
            InputError,
            "interval needs the values of queries; leave out per_query=False.",
        ),
        (
            {"measures": "Rank(aggregate=median)"},
            MeasureError,
            "Rank(aggregate=median) is a median, which takes the values of all queries; leave out "
            "per_query=False, or ask for its mean.",
        ),
        (
            {"policy": {"missing": "error"}},
            InputError,
            "missing=error names queries, and per_query=False brings none of them back; choose "
            "another policy, or leave out per_query=False.",
        ),
    ],
)
def test_what_needs_values_is_refused(
    options: dict[str, Any], error: type[JudgedError], message: str
) -> None:
    with pytest.raises(error) as caught:
        judged.evaluate(*tables(), **{"measures": "AP", **options}, per_query=False)
    assert str(caught.value) == message
