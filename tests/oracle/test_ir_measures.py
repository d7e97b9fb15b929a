"""Side by side with ir_measures, query by query: the same notation, and the same numbers where it
asks pytrec_eval."""

from __future__ import annotations

from typing import Any

import ir_measures
import pytest
from ir_measures import ERR, RBP, RR, Judged, NumQ, NumRel, nDCG

from judged import evaluate, parse_measure
from support.generated import Collection, generate
from support.loops import for_each
from support.parts import Needs
from support.peers import two_by_default

PLAIN = {"letters": ("D",), "grades": (0, 0, 1, 1, 2, 3, 4)}

COLLECTIONS = {
    "ties and gaps": generate(11),
    "no ties": generate(12, ties=False),
    "complete": generate(13, ties=False, gaps=False, **PLAIN),
}

NOTATION = (
    "P@5",
    "P(rel=2)@10",
    "R@10",
    "R(rel=3)@100",
    "AP",
    "AP(rel=2)",
    "AP@10",
    "AP(rel=2)@20",
    "RR",
    "RR(rel=2)",
    "nDCG",
    "nDCG@10",
    "nDCG@1000",
    "Rprec",
    "Rprec(rel=2)",
    "Success@1",
    "Success(rel=2)@5",
    "NumRet",
)
"""Understood by both."""

OTHER_NAMES = {
    "SetP": "P",
    "SetP(rel=2)": "P(rel=2)",
    "SetR": "R",
    "SetF": "F",
    "NumRet(rel=1)": "NumRelRet",
    "NumRet(rel=2)": "NumRelRet(rel=2)",
    "IPrec@0.0": "IPrec(rounding=trec_eval9)@0",
    "IPrec@0.35": "IPrec(rounding=trec_eval9)@0.35",
    "IPrec(rel=2)@0.5": "IPrec(rel=2, rounding=trec_eval9)@0.5",
}
PAIRS = {**{text: text for text in NOTATION}, **OTHER_NAMES}


def theirs(measure: Any, given: Collection) -> dict[str, float]:
    return {
        each.query_id: each.value
        for each in ir_measures.iter_calc([measure], given.judgements, given.run)
    }


def ours(measure: str, given: Collection) -> dict[str, float]:
    scored = evaluate(given.judgements, given.run, [measure]).scored()
    return dict(
        zip(scored.rankings.queries, scored.values[parse_measure(measure)].tolist(), strict=True)
    )


@pytest.mark.parametrize("collection", two_by_default(COLLECTIONS))
@for_each(("their_text", "our_text"), PAIRS.items())
def test_values(collection: str, their_text: str, our_text: str) -> None:
    given = COLLECTIONS[collection]
    expected = theirs(ir_measures.parse_measure(their_text), given)
    assert len(expected) == len(
        given.judgements
    )  # a judged query that the run lacks counts as 0 in both
    assert ours(our_text, given) == pytest.approx(expected, abs=1e-9, rel=0)


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_means(collection: str) -> None:
    given = COLLECTIONS[collection]
    expected = ir_measures.calc_aggregate(
        [ir_measures.parse_measure(text) for text in NOTATION], given.judgements, given.run
    )
    evaluation = evaluate(given.judgements, given.run, list(NOTATION))
    for measure, value in expected.items():
        assert evaluation.value(str(measure)) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("text", NOTATION)
def test_the_same_text(text: str) -> None:
    """What they print, we read, and it means the same measure."""
    assert parse_measure(str(ir_measures.parse_measure(text))) == parse_measure(text)


@pytest.mark.parametrize(
    "collection", ["no ties", "complete"]
)  # the other provider breaks ties by ascending id
def test_reciprocal_rank_with_a_cutoff(collection: str) -> None:
    given = COLLECTIONS[collection]
    assert ours("RR@10", given) == pytest.approx(theirs(RR @ 10, given), abs=1e-9, rel=0)


@pytest.mark.parametrize(
    ("measure", "our_text"), [(nDCG(dcg="exp-log2"), "nDCG(gain=exp)"), (ERR, "ERR")]
)
@pytest.mark.parametrize("k", [1, 5, 20])
def test_gdeval(measure: Any, our_text: str, k: int, needs: Needs) -> None:
    """The Perl script of the TREC web track: numeric ids, top grade 4, five decimals."""
    needs("perl")
    given = COLLECTIONS["complete"]
    expected = theirs(measure @ k, given)
    assert len(expected) == len(given.judgements)
    assert ours(f"{our_text}@{k}", given) == pytest.approx(expected, abs=0.5000001e-5, rel=0)


@pytest.mark.parametrize("p", [0.5, 0.8, 0.95])
def test_rank_biased_precision_of_cwl_eval(p: float, needs: Needs) -> None:
    needs("cwl_eval")
    given = COLLECTIONS["complete"]
    expected = theirs(RBP(p=p, rel=1), given)
    assert ours(f"RBP(p={p})", given) == pytest.approx(expected, abs=1e-9, rel=0)


def test_the_share_of_judged_results() -> None:
    given = COLLECTIONS["complete"]
    for k in (1, 5, 10, 100):
        assert ours(f"Judged@{k}", given) == pytest.approx(theirs(Judged @ k, given), abs=1e-12)


def test_known_disagreement_negative_grades() -> None:
    """ir_measures takes a negative grade for a judgement; for trec_eval and judged it is none."""
    given = Collection({"q": {"a": 1, "b": -1}}, [("q", "a", 2.0), ("q", "b", 1.0)])
    assert theirs(Judged @ 2, given) == {"q": 1.0}
    assert ours("Judged@2", given) == {"q": 0.5}


def test_known_disagreement_counts_of_missing_queries() -> None:
    """What is missing from the run counts as 0 in ir_measures even where it is a property of the
    judgements."""
    given = Collection({"q": {"a": 1}, "r": {"a": 1}}, [("q", "a", 2.0)])
    assert theirs(NumRel, given) == {"q": 1, "r": 0}
    assert ours("NumRel", given) == {"q": 1, "r": 1}
    assert theirs(NumQ, given) == {"q": 1, "r": 0}
    assert ours("NumQ", given) == {"q": 1, "r": 1}


def test_known_disagreement_ties_by_provider() -> None:
    """RR is trec_eval's and breaks a tie by descending id; RR@10 is MS MARCO's and breaks it by
    ascending id."""
    given = Collection({"q": {"a": 1}}, [("q", "a", 1.0), ("q", "b", 1.0)])
    assert theirs(RR, given) == {"q": 0.5} == ours("RR", given)
    assert theirs(RR @ 10, given) == {"q": 1.0}
    assert ours("RR@10", given) == {"q": 0.5}
