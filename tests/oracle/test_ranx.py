"""Side by side with ranx, query by query, without ties (it keeps whatever order its own sort leaves
them in)."""

from __future__ import annotations

from typing import Any

import pytest

from judged import evaluate, parse_measure
from support.generated import Collection, generate
from support.parts import Later

ranx = Later("ranx")  # which loads numba and matplotlib

CUTOFFS = (1, 3, 5, 10, 100)
PAIRS = {
    "hits": "NumRelRet",
    "hit_rate": "Success",
    "precision": "P",
    "recall": "R",
    "f1": "F",
    "mrr": "RR",
    "map": "AP",
    "ndcg": "nDCG",
    "ndcg_burges": "nDCG(gain=exp)",
    "r-precision": "Rprec",
    **{
        f"{theirs}@{k}": f"{ours}@{k}"
        for k in CUTOFFS
        for theirs, ours in {
            "hits": "NumRelRet",
            "hit_rate": "Success",
            "precision": "P",
            "recall": "R",
            "f1": "F",
            "mrr": "RR",
            "map": "AP",
            "ndcg": "nDCG",
            "ndcg_burges": "nDCG(gain=exp)",
        }.items()
    },
}


def at_level(text: str, rel: int) -> str:
    measure = parse_measure(text)
    return str(measure(rel=rel)) if "rel" in measure.params else text


def compare(given: Collection, pairs: dict[str, str], rel: int = 1) -> None:
    suffix = "" if rel == 1 else f"-l{rel}"
    qrels, run = ranx.Qrels(given.judgements), ranx.Run(given.run)
    names = [f"{name}{suffix}" for name in pairs]
    theirs: Any = ranx.evaluate(qrels, run, names, return_mean=False, make_comparable=True)
    if len(names) == 1:  # then it is the array itself
        theirs = {names[0]: theirs}
    scored = evaluate(
        given.judgements, given.run, [at_level(text, rel) for text in pairs.values()]
    ).scored()
    order = sorted(range(len(scored.rankings)), key=scored.rankings.queries.__getitem__)
    assert sorted(qrels.keys()) == [scored.rankings.queries[at] for at in order]
    for name, text in zip(names, pairs.values(), strict=True):
        ours = scored.values[parse_measure(at_level(text, rel))][order]
        assert ours.tolist() == pytest.approx(theirs[name].tolist(), abs=1e-9, rel=0), name


COLLECTIONS = {
    "complete": generate(21, ties=False, gaps=False, grades=(0, 1, 1, 2, 3)),
    "gaps": generate(22, ties=False, grades=(0, 0, 1, 2)),
    "binary": generate(23, ties=False, grades=(0, 1), items=30, longest=30),
}


@pytest.mark.parametrize("name", COLLECTIONS)
def test_values(name: str) -> None:
    compare(COLLECTIONS[name], PAIRS)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_values_at_a_higher_level(name: str) -> None:
    # ranx takes the level for nDCG too and zeroes lower grades; see below.
    compare(
        COLLECTIONS[name],
        {theirs: ours for theirs, ours in PAIRS.items() if "ndcg" not in theirs},
        rel=2,
    )


@pytest.mark.parametrize("p", [50, 80, 95])
def test_rank_biased_precision_of_binary_judgements(p: int) -> None:
    compare(COLLECTIONS["binary"], {f"rbp.{p}": f"RBP(p={p / 100})"})


def test_known_disagreement_rank_biased_precision_of_grades() -> None:
    """ranx gains the bare grade, so its RBP can exceed 1; divided by the top grade it is
    RBP(gain=graded)."""
    given = Collection({"q": {"a": 3, "b": 2}}, [("q", "a", 2.0), ("q", "b", 1.0)])
    theirs = ranx.evaluate(ranx.Qrels(given.judgements), ranx.Run(given.run), "rbp.50")
    assert theirs == pytest.approx(0.5 * (3 + 2 * 0.5))
    ours = evaluate(given.judgements, given.run, ["RBP(p=0.5, gain=graded, max_grade=3)"]).value()
    assert ours == pytest.approx(theirs / 3)


def test_known_disagreement_level_of_ndcg() -> None:
    """With -l2 ranx zeroes grade 1 in nDCG; trec_eval and judged keep it (here a table of gains
    says the same)."""
    given = Collection({"q": {"a": 1, "b": 2}}, [("q", "a", 2.0), ("q", "b", 1.0)])
    theirs = ranx.evaluate(ranx.Qrels(given.judgements), ranx.Run(given.run), "ndcg-l2")
    assert evaluate(given.judgements, given.run, ["nDCG(gains={1:0})"]).value() == pytest.approx(
        theirs
    )
    assert evaluate(given.judgements, given.run, ["nDCG"]).value() != pytest.approx(theirs)


def test_known_disagreement_missing_queries() -> None:
    """ranx refuses a run that lacks a judged query unless told to make it comparable; judged counts
    it as an empty list."""
    given = Collection({"q": {"a": 1}, "r": {"a": 1}}, [("q", "a", 2.0)])
    with pytest.raises(AssertionError):
        ranx.evaluate(ranx.Qrels(given.judgements), ranx.Run(given.run), "mrr")
    assert evaluate(given.judgements, given.run, ["RR"]).value() == 0.5
