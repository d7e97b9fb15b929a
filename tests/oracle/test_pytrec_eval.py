"""Side by side with pytrec_eval (trec_eval 9 in a Python coat), query by query, ties and gaps
included."""

from __future__ import annotations

import pytest
import pytrec_eval

from judged import Measure, evaluate, parse_measure
from support.generated import Collection, generate

CUTOFFS = (1, 2, 3, 5, 10, 15, 20, 30, 100)
POINTS = (0.0, 0.1, 0.2, 0.25, 0.3, 0.5, 0.6, 0.7, 0.75, 0.9, 1.0)

NAMES = {
    "map": "AP",
    "ndcg": "nDCG",
    "recip_rank": "RR",
    "Rprec": "Rprec",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "num_q": "NumQ",
    "set_P": "P",
    "set_recall": "R",
    "set_F": "F",
    "11pt_avg": "IAP(rounding=trec_eval9)",
    **{f"P_{k}": f"P@{k}" for k in CUTOFFS},
    **{f"recall_{k}": f"R@{k}" for k in CUTOFFS},
    **{f"relative_P_{k}": f"R(norm=capped)@{k}" for k in CUTOFFS},
    **{f"success_{k}": f"Success@{k}" for k in CUTOFFS},
    **{f"map_cut_{k}": f"AP@{k}" for k in CUTOFFS},
    **{f"ndcg_cut_{k}": f"nDCG@{k}" for k in CUTOFFS},
    **{f"iprec_at_recall_{point:.2f}": f"IPrec(rounding=trec_eval9)@{point}" for point in POINTS},
}
WANTED = {
    *(
        name
        for name in NAMES
        if "_" not in name
        or name.startswith(("num_", "set_"))
        or name in ("recip_rank", "11pt_avg")
    ),
    *(
        f"{family}.{','.join(map(str, CUTOFFS))}"
        for family in ("P", "recall", "relative_P", "success", "map_cut", "ndcg_cut")
    ),
    f"iprec_at_recall.{','.join(map(str, POINTS))}",
}

COLLECTIONS = {
    "ties and gaps": generate(1),
    "no ties": generate(2, ties=False),
    "complete": generate(3, gaps=False, ties=False),
    "few grades": generate(4, grades=(0, 1), letters=("D",)),
    "many grades": generate(5, grades=(-2, -1, 0, 1, 2, 3, 4, 7), items=30, longest=30),
    "nothing relevant": generate(
        6, grades=(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), items=20, longest=20
    ),
}


def measure_of(name: str, rel: int) -> Measure:
    measure = parse_measure(NAMES[name])
    return measure(rel=rel) if "rel" in measure.params else measure


@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize("name", COLLECTIONS)
def test_every_measure_and_query(name: str, rel: int) -> None:
    given: Collection = COLLECTIONS[name]
    theirs = pytrec_eval.RelevanceEvaluator(given.judgements, WANTED, relevance_level=rel).evaluate(
        given.run
    )
    assert set(theirs) == set(given.common)
    measures = {each: measure_of(each, rel) for each in NAMES}
    scored = evaluate(given.judgements, given.run, list(measures.values())).scored()
    compared = 0
    for at, query in enumerate(scored.rankings.queries):
        if query not in theirs:
            # pytrec_eval leaves out a query that the run lacks; here it is an empty list.
            assert query not in given.run
            assert scored.values[measures["map"]][at] == 0
            continue
        ours = {each: scored.values[measure][at] for each, measure in measures.items()}
        assert set(theirs[query]) == set(ours)
        assert ours == pytest.approx(theirs[query], abs=1e-9, rel=0)
        compared += len(ours)
    assert compared == len(NAMES) * len(given.common)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_means_over_the_queries_that_the_run_has(name: str) -> None:
    given = COLLECTIONS[name]
    theirs = pytrec_eval.RelevanceEvaluator(
        given.judgements, {"map", "ndcg", "recip_rank"}
    ).evaluate(given.run)
    evaluation = evaluate(
        given.judgements, given.run, ["AP", "nDCG", "RR", "GMAP"], policy={"missing": "skip"}
    )
    for their_name, our_name in (("map", "AP"), ("ndcg", "nDCG"), ("recip_rank", "RR")):
        values = [each[their_name] for each in theirs.values()]
        assert evaluation.value(our_name) == pytest.approx(
            pytrec_eval.compute_aggregated_measure(their_name, values), abs=1e-9
        )
    # gm_map is the mean of logarithms until it is aggregated.
    logs = pytrec_eval.RelevanceEvaluator(given.judgements, {"gm_map"}).evaluate(given.run)
    geometric = pytrec_eval.compute_aggregated_measure(
        "gm_map", [each["gm_map"] for each in logs.values()]
    )
    assert evaluation.value("GMAP") == pytest.approx(geometric, abs=1e-9)


def test_the_data_has_what_it_is_meant_to_have() -> None:
    """An oracle on tame data proves little."""
    given = COLLECTIONS["ties and gaps"]
    audit = evaluate(given.judgements, given.run).scored().audit
    assert audit.missing_queries
    assert audit.ignored_queries > 0
    assert audit.tied_results > 100
    assert audit.short_lists > 5
    assert audit.negative_grades > 10
    assert any(not item.isascii() for item in given.run[given.common[0]])
    assert [query for query, _, _ in given.rows] != sorted(query for query, _, _ in given.rows)
    assert (
        evaluate(COLLECTIONS["nothing relevant"].judgements, COLLECTIONS["nothing relevant"].run)
        .scored()
        .audit.nothing_relevant
    )


def test_known_disagreement_single_precision() -> None:
    """pytrec_eval holds scores in single precision: what differs only beyond it is tied there, and
    the id decides."""
    judgements, run = {"q": {"a": 1}}, {"q": {"a": 1.0 + 1e-9, "b": 1.0}}
    assert (
        pytrec_eval.RelevanceEvaluator(judgements, {"recip_rank"}).evaluate(run)["q"]["recip_rank"]
        == 0.5
    )
    assert evaluate(judgements, run, ["RR"]).value() == 1.0


def test_known_disagreement_recall_points() -> None:
    """trec_eval 9 asks for floor(0.9 + 0.1 · 3) = 1 item where recall 0.1 of 3 needs one, and for 2
    where 0.4 needs 1.2."""
    judgements, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(judgements, {"iprec_at_recall.0.35"}).evaluate(run)[
        "q"
    ]["iprec_at_recall_0.35"]
    # 0.35 · 3 = 1.05 relevant items are 2, with precision 2/3; floor(1.05 + 0.9) = 1 item has
    # precision 1.
    assert theirs == 1.0
    evaluation = evaluate(judgements, run, ["IPrec(rounding=trec_eval9)@0.35", "IPrec@0.35"])
    assert evaluation.value("IPrec(rounding=trec_eval9)@0.35") == 1.0
    assert evaluation.value("IPrec@0.35") == 2 / 3


def test_scores_that_differ_beyond_single_precision_are_tied_there() -> None:
    judgements, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.00000001, "b": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(judgements, {"recip_rank"}).evaluate(run)
    assert theirs["q"]["recip_rank"] == 0.5
    ours = evaluate(judgements, run, "recip_rank", convention="pytrec_eval")
    assert ours.value() == 1.0
    assert ours.warnings() == [
        "pytrec_eval holds scores in single precision: scores that differ only beyond it are tied "
        "there, and the item's id decides."
    ]
