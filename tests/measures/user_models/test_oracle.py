"""Side by side with ir_measures: its providers cwl_eval and compat, query by query."""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from judged import evaluate
from judged.measures import parse_measure

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # old escapes in cwl_eval's strings
    ir_measures = pytest.importorskip("ir_measures")
    cwl_ruler = pytest.importorskip("cwl.ruler.cwl_ruler")

AT_MOST = 1000
"""cwl_eval looks at no more, and fills shorter lists up with results that gain nothing."""

Collection = tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]


def generate(
    seed: int,
    *,
    grades: Sequence[int],
    lengths: Sequence[int],
    queries: int = 25,
    judged: int = 40,
    gaps: bool = True,
) -> Collection:
    """Judged items are among the first 150 of a query, all with distinct scores, so that ties play
    no part."""
    draw = random.Random(seed)
    judgements, run = {}, {}
    for number in range(queries):
        names = [f"d{number}-{item}" for item in range(max(150, *lengths))]
        draw.shuffle(names)
        chosen = draw.sample(names[:150], draw.randint(1, judged))
        judgements[f"q{number}"] = {name: draw.choice(grades) for name in chosen}
        if not gaps or draw.random() < 0.85:
            shown = names[: draw.choice(lengths)]
            if draw.random() < 0.5:  # or the judged ones together at the top
                draw.shuffle(shown)
            run[f"q{number}"] = {name: 1 + score / 8 for score, name in enumerate(reversed(shown))}
    return judgements, run


GRADED = (0, 0, 0, 1, 1, 2, 3, 4)
COLLECTIONS: dict[str, Collection] = {
    "short lists": generate(1, grades=GRADED, lengths=(1, 2, 5, 30, 120)),
    "negative grades": generate(2, grades=(*GRADED, -1, -2), lengths=(3, 50, 150)),
    "longer than they look": generate(
        3, grades=GRADED, lengths=(999, 1000, 1001, 1400), queries=12, judged=150
    ),
    "nearly nothing relevant": generate(4, grades=(*[0] * 30, 1), lengths=(1, 20, 100)),
    "best grade often": generate(5, grades=(0, 4, 4, 4), lengths=(10, 150), gaps=False),
    "everything gains": generate(6, grades=(1, 2), lengths=(20, 150), judged=150),
    "nothing relevant": generate(7, grades=(0,), lengths=(5, 50), queries=6),
}


def spelled(name: str, k: int | None = None, **params: Any) -> tuple[str, Any]:
    """A measure's text, the same for both, and what ir_measures makes of it (its parser knows no
    negative numbers)."""
    measure = getattr(ir_measures, name)(**params)
    inside = ",".join(f"{key}={value}" for key, value in params.items())
    return (f"{name}({inside})", measure) if k is None else (f"{name}({inside})@{k}", measure @ k)


MEASURES = dict(
    [
        *(
            spelled(name, T=goal, max_rel=4)
            for name in ("INST", "INSQ", "NERR11")
            for goal in (0.5, 1.0, 2.25, 10.0)
        ),
        *(spelled(name, min_rel=1, max_rel=5) for name in ("INST", "INSQ", "NERR10", "NERR11")),
        *(spelled("NERR10", p=p, max_rel=4) for p in (0.2, 0.9, 0.999)),
        *(
            spelled(name, k, max_rel=4)
            for name in ("SDCG", "NERR8", "NERR9", "BPM")
            for k in (1, 3, 10, 100, 1000)
        ),
        *(spelled("BPM", k, T=goal, max_rel=8) for goal in (0.5, 2.0, 3.25) for k in (5, 50)),
        *(spelled(name, 20, min_rel=1, max_rel=5) for name in ("SDCG", "NERR8", "NERR9", "BPM")),
    ]
)


def ours_by_query(given: Collection, texts: Sequence[str]) -> dict[str, dict[str, float]]:
    judgements, run = given
    scored = evaluate(judgements, run, list(texts)).scored()
    return {
        query: {text: float(scored.values[parse_measure(text)][at]) for text in texts}
        for at, query in enumerate(scored.rankings.queries)
    }


@pytest.mark.parametrize("name", COLLECTIONS)
def test_cwl_eval(name: str) -> None:
    judgements, run = COLLECTIONS[name]
    # Where ir_measures has no cutoff, cwl_eval has one all the same.
    asked = {
        measure: text if "@" in text else f"{text}@{AT_MOST}" for text, measure in MEASURES.items()
    }
    ours = ours_by_query(COLLECTIONS[name], list(asked.values()))
    compared = 0
    for metric in ir_measures.cwl_eval.iter_calc(list(asked), judgements, run):
        mine = ours[metric.query_id][asked[metric.measure]]
        assert mine == pytest.approx(metric.value, abs=1e-9, rel=1e-9), (metric, mine)
        compared += 1
    assert compared == len(MEASURES) * len(judgements)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_compatibility(name: str) -> None:
    """ir_measures compares down to the longer of the two lists, which differs per query."""
    judgements, run = COLLECTIONS[name]
    for p, normalize in ((0.95, True), (0.8, True), (0.5, False), (0.99, False), (0.99, True)):
        text, asked = spelled("Compat", p=p, normalize=normalize)
        theirs = {
            metric.query_id: metric.value
            for metric in ir_measures.compat.iter_calc([asked], judgements, run)
        }
        assert set(theirs) == set(judgements)
        for query, value in theirs.items():
            preferred = sum(grade > 0 for grade in judgements[query].values())
            depth = max(len(run.get(query, {})), preferred, 1)
            one = {query: judgements[query]}, {query: run.get(query, {})}
            mine = evaluate(*one, [f"{text}@{depth}"]).value() if query in run else 0.0
            assert mine == pytest.approx(value, abs=1e-12, rel=1e-9)


def both(
    judgements: dict[str, dict[str, int]],
    run: dict[str, dict[str, float]],
    *args: Any,
    **params: Any,
) -> tuple[float, float]:
    """Our value and theirs, of a single query."""
    text, measure = spelled(*args, **params)
    (metric,) = ir_measures.iter_calc([measure], judgements, run)
    return evaluate(judgements, run, [text]).value(), float(metric.value)


def test_known_disagreement_where_the_reading_ends() -> None:
    """INSQ as published goes on without end; cwl_eval stops at rank 1000 and so gives all weights
    1.5 per mille more."""
    judgements, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    published = 1 / (4 * (np.pi**2 / 6 - 1))
    ours, theirs = both(judgements, run, "INSQ", max_rel=1)
    assert ours == pytest.approx(published, abs=1e-14)
    assert theirs == pytest.approx(published * 1.00155, abs=1e-5)
