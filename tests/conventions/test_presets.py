"""Presets are what a field reports; and plain recall says where it cannot reach 1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judged import evaluate
from judged.measures import parse_all
from judged.measures.reference import PRESETS as DATA

HIT_RATES = ("clip", "clap", "reid", "metric-learning")
"""Where the field calls a hit rate recall, or rank-k."""


@pytest.mark.parametrize("preset", DATA)
def test_recall_is_a_hit_rate_where_the_field_means_one(preset: str) -> None:
    kinds = {measure.spec.name for measure in parse_all(preset)}
    assert ("R" in kinds, "Success" in kinds) == (
        (False, True)
        if preset in HIT_RATES
        else (True, preset in ("rag", "recsys"))
        if preset != "trec"
        else (True, False)
    )


def captions(hits: int, of: int = 5) -> tuple[dict[str, Any], dict[str, Any]]:
    """Five recordings with some captions each; for the first few a caption of theirs comes first,
    and wrong ones follow."""
    judgements = {f"r{n}": {f"c{n}-{at}": 1 for at in range(of)} for n in range(5)}
    run = {
        f"r{n}": [f"c{n}-0" if n < hits else "wrong", *(f"x{at}" for at in range(12))]
        for n in range(5)
    }
    return judgements, run


def test_audio_to_text_of_clap_is_a_hit_rate() -> None:
    """One of five recordings has one of its five captions first: 0.2, where recall is 0.04."""
    evaluation = evaluate(*captions(1), "clap")
    assert evaluation.value("Success@1") == pytest.approx(0.2)
    assert not any("cannot exceed" in text for text in evaluation.warnings())
    assert evaluate(*captions(1), "R@1").value() == pytest.approx(0.04)


WARNING = (
    "Queries have 5 relevant items, so R@1 cannot exceed 0.2. For the hit rate that CLIP papers "
    "call Recall@1, use Success@1."
)


def test_recall_that_cannot_reach_1_says_so_once(tmp_path: Path) -> None:
    judgements, run = captions(1)
    assert evaluate(judgements, run, "R@1, R@2, R@4, R@10").warnings() == [WARNING]
    assert evaluate(judgements, {"one": run, "two": run}, "R@1").warnings() == [WARNING]
    qrels, listed = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text(
        "".join(f"{q} 0 {item} 1\n" for q, grades in judgements.items() for item in grades)
    )
    listed.write_text(
        "".join(
            f"{q} Q0 {item} {rank} {-rank} t\n"
            for q, items in run.items()
            for rank, item in enumerate(items, 1)
        )
    )
    assert evaluate(str(qrels), str(listed), "R@1").warnings() == [WARNING]


@pytest.mark.parametrize(
    ("measures", "number", "warns"),
    [
        ("R@5", 5, False),
        ("R@4", 5, True),
        ("R(norm=capped)@1", 5, False),
        ("R", 5, False),
        ("R@R", 5, False),
        ("AP@5", 5, False),
        ("AP@4", 5, True),
        ("AP(norm=capped)@4 AP(norm=retrieved)@4 AP(norm=cutoff)@4 AP@R", 5, False),
        ("Success@1", 5, False),
        ("P@1 nDCG@1", 5, False),
        ("R(rel=2)@1", 5, False),
    ],
)
def test_only_plain_recall_below_the_number_of_relevant_items(
    measures: str, number: int, warns: bool
) -> None:
    warned = evaluate(*captions(2, number), measures).warnings()
    assert any("cannot exceed" in text for text in warned) == warns


def test_the_median_query_decides_and_the_ceiling_is_the_mean() -> None:
    """Two queries with one relevant item, three with four: at most (1 + 1 + 3 x 1/4) / 5. A query
    with nothing relevant has no say."""
    sizes = {"a": 1, "b": 1, "c": 4, "d": 4, "e": 4}
    judgements = {q: {f"{q}{n}": 1 for n in range(size)} for q, size in sizes.items()}
    judgements["f"] = {"f0": 0}
    run = {q: [f"{q}0"] for q in judgements}
    _, text = evaluate(judgements, run, "R@1").warnings()
    assert text == (
        "Queries have 1–4 relevant items, so R@1 cannot exceed 0.55. For the hit rate that CLIP "
        "papers call Recall@1, use Success@1."
    )
    best = evaluate(judgements, run, "R@1", policy={"empty": "skip"}).value()
    assert best == pytest.approx((1 + 1 + 3 / 4) / 5)
    few = {q: grades for q, grades in judgements.items() if q not in ("d", "e")}
    [empty] = evaluate(few, run, "R@1").warnings()
    assert empty.startswith("No items are relevant for 1 of 4 judged queries (f)")


def test_all_of_more_than_k_says_that_it_is_out_of_reach() -> None:
    judgements = {"a": dict.fromkeys("xyz", 1), "b": {"x": 1}, "c": {"x": 0}}
    run = {query: list("xyz") for query in judgements}
    found = evaluate(judgements, run, "Success(of=all)@2, Success@2, Success(of=all)@3")
    assert [round(found.value(each), 6) for each in found.measures] == [
        0.333333,
        0.666667,
        0.666667,
    ]
    assert found.warnings()[:2] == [
        "No items are relevant for 1 of 3 judged queries (c), which get the worst value (see "
        "unanswerable).",
        "Queries have 1–3 relevant items, so Success(of=all)@2 cannot exceed 0.5. Use a larger "
        "cutoff.",
    ]
    whole = evaluate(judgements, run, "Success(of=all)@R, Success(of=all)").warnings()
    assert not any("cannot exceed" in text for text in whole)
