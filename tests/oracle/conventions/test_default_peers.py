"""trec_eval, pytrec_eval and scikit-learn beside their conventions, query by query."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from sklearn import metrics

from judged import evaluate
from judged.conventions import find
from judged.errors import ConventionError, PolicyError
from judged.measures import parse_measure
from support.errors import error_of
from support.generated import Collection
from support.loops import for_each
from support.peers import (
    COLLECTIONS,
    TIED,
    Case,
    by_query,
    cases,
    closed,
    compare,
    every_name,
    ours,
)

# -- trec_eval 10.0: what it printed

PRINTED = sorted((Path(__file__).parents[2] / "golden" / "trec_eval").glob("*/all_q_complete.out"))


@for_each("path", PRINTED, ids=lambda path: path.parent.name)
def test_trec_eval(path: Path) -> None:
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    printed = {
        (name.strip(), query): value
        for name, query, value in rows
        if name.strip() not in ("runid", "relstring")
    }
    data = path.parent / "qrels", path.parent / "run", list(dict.fromkeys(n for n, _ in printed))
    found = evaluate(*data, convention="trec_eval", policy={"missing": "zero"})
    ours = {(name, "all"): found.value(name) for name in data[2]}
    for name in data[2]:
        values = found.scored().values[found.measure(name)].tolist()
        pairs = zip(found.scored().rankings.queries, values, strict=True)
        ours |= {(name, query): value for query, value in pairs}
    half_a_digit = find("trec_eval").tolerance + 1e-15
    wanted = {key: float(value) for key, value in printed.items()}
    assert {key: ours[key] for key in wanted} == pytest.approx(wanted, abs=half_a_digit, rel=0)


def test_every_name_of_trec_eval_is_printed_somewhere() -> None:
    texts = {
        line.split("\t")[0].strip() for path in PRINTED for line in path.read_text().splitlines()
    }
    seen = {
        meant.theirs
        for name in texts - {"runid", "relstring"}
        for _, ours, meant in find("trec_eval").read(name)
        if ours
    }
    # Version 10.0 has the first three, but not among all_trec; its rbp reads memory that was never
    # set, and was not stored.
    unseen = {name.theirs for name in find("trec_eval").names if name.ours} - seen
    assert unseen == {"dcg", "ideal_dcg", "yaap", "rbp", "rbp_resid"}


def test_a_missing_query_is_an_error_unless_it_is_told_to_count() -> None:
    folder = PRINTED[0].parents[1] / "missing"
    with pytest.raises(PolicyError, match="missing=error"):
        evaluate(folder / "qrels", folder / "run", "map", convention="trec_eval")


# -- pytrec_eval (trec_eval 9), ties and gaps included

GEOMETRIC = ("gm_map", "gm_bpref")
"""Logarithms until they are aggregated."""


def asked(case: Case) -> str:
    """As pytrec_eval is asked: a number stands behind a point."""
    root, _, number = case.theirs.rpartition("_")
    return f"{root}.{number}" if case.places else case.theirs


def values(given: Collection, text: str, **options: int) -> dict[str, float]:
    found = pytrec_eval.RelevanceEvaluator(given.judgements, {text}, **options).evaluate(given.run)
    return {query: next(iter(by_name.values())) for query, by_name in found.items()}


@every_name("pytrec_eval", COLLECTIONS, at_first=2)
def test_pytrec_eval(case: Case, given: Collection) -> None:
    theirs = values(given, asked(case))
    assert set(theirs) == set(given.common)
    if case.theirs in GEOMETRIC or case.theirs in ("map", "ndcg", "recip_rank"):
        mean = pytrec_eval.compute_aggregated_measure(case.theirs, list(theirs.values()))
        compare("pytrec_eval", case, given, mean)
    if case.theirs not in GEOMETRIC:
        compare("pytrec_eval", case, given, theirs)


def has_level(case: Case) -> bool:
    measure = parse_measure(case.name.filled(case.places)[1])
    return case.theirs not in GEOMETRIC and "rel" in measure.params


@every_name("pytrec_eval", COLLECTIONS, only=has_level, at_first=2)
def test_relevant_from_grade_2_on(case: Case, given: Collection) -> None:
    """By our own names; a query that the run lacks is an empty list here, and left out there."""
    measure = parse_measure(case.name.filled(case.places)[1])(rel=2)
    theirs = values(given, asked(case), relevance_level=2)
    found = by_query(evaluate(given.judgements, given.run, measure))
    assert {query: found[query] for query in theirs} == pytest.approx(theirs, abs=1e-9, rel=0)
    lacking = set(found) - set(theirs)
    assert lacking == set(given.judgements) - set(given.run)
    assert case.theirs != "map" or {found[query] for query in lacking} <= {0.0}


@for_each(
    ("measure", "option"),
    [
        ("P@5", "P_5"),
        ("AP", "map"),
        ("nDCG@10", "ndcg_cut_10"),
        ("IPrec@0.3", "iprec_at_recall_0.3"),
    ],
)
def test_our_names_mean_its_variants(measure: str, option: str) -> None:
    assert ours("pytrec_eval", TIED, measure).value() == ours("pytrec_eval", TIED, option).value()


def test_known_disagreement_recall_points() -> None:
    """Recall 0.35 of 3 items needs 1.05 of them: 2, with precision 2/3; floor(1.05 + 0.9) = 1 item
    has precision 1."""
    given = Collection(
        {"q": {"a": 1, "b": 1, "c": 1}}, [("q", "a", 3.0), ("q", "x", 2.0), ("q", "b", 1.0)]
    )
    assert values(given, "iprec_at_recall.0.35") == {"q": 1.0}
    found = evaluate(given.judgements, given.run, "IPrec(rounding=trec_eval9)@0.35, IPrec@0.35")
    assert found.value("IPrec(rounding=trec_eval9)@0.35") == 1.0
    assert found.value("IPrec@0.35") == 2 / 3


def test_scores_that_differ_beyond_single_precision_are_tied_there() -> None:
    given = Collection({"q": {"a": 1, "b": 0}}, [("q", "a", 1.00000001), ("q", "b", 1.0)])
    assert values(given, "recip_rank") == {"q": 0.5}
    found = ours("pytrec_eval", given, "recip_rank")
    assert found.value() == 1.0
    assert found.warnings() == [
        "pytrec_eval holds scores in single precision: scores that differ only beyond it are tied "
        "there, and the item's id decides."
    ]


# -- scikit-learn, row by row, which takes a while

SKLEARN = {
    name: closed(COLLECTIONS[name]) for name in ("ties and gaps", "gaps", "nothing relevant")
}
GRADED = ("dcg_score", "ndcg_score")


def by_row(case: Case, given: Collection) -> dict[str, float]:
    name, options = case.call()
    function, found = getattr(metrics, name), {}
    for query, scored in given.run.items():
        grades = [max(given.judgements[query][item], 0) for item in scored]
        relevant, scores = np.array(grades) > 0, list(scored.values())
        if name in GRADED:
            found[query] = function([grades], [scores], **options)
        elif name == "label_ranking_average_precision_score":
            found[query] = function([relevant], [scores])
        elif not relevant.any() or (name == "roc_auc_score" and relevant.all()):
            found[query] = 0.0  # there, with a warning
        else:
            found[query] = function(relevant, scores)
    return found


@every_name(
    "scikit-learn",
    SKLEARN,
    only=lambda case: not case.theirs.startswith("top_k_accuracy"),  # see below
    places={"b": (2, 10, 3.5)},
    at_first=2,
)
def test_scikit_learn(case: Case, given: Collection) -> None:
    if not case.theirs.startswith(GRADED) and given is SKLEARN["ties and gaps"]:
        pytest.skip("tied scores are one step of a curve")
    kept = {query for query, scores in given.run.items() if len(scores) > 1}  # others are refused
    given = Collection(
        {query: given.judgements[query] for query in kept},
        [row for row in given.rows if row[0] in kept],
    )
    sizes = {query: len(scores) for query, scores in given.run.items()}
    compare("scikit-learn", case, given, by_row(case, given), collection=sizes)


@for_each("case", [each for each in cases("scikit-learn") if "top_k" in each.theirs], ids=str)
def test_top_k_accuracy(case: Case) -> None:
    draw = np.random.default_rng(7)
    scores = draw.permuted(np.tile(np.arange(25.0), (40, 1)), axis=1)
    label = draw.integers(0, 25, 40)
    k = int(case.call()[1]["k"])
    if k >= 25:
        pytest.skip("every label is among all labels")
    expected = metrics.top_k_accuracy_score(label, scores, k=k, labels=np.arange(25))
    run = [
        (f"q{query}", f"d{item}", scores[query, item]) for query in range(40) for item in range(25)
    ]
    given = Collection({f"q{query}": {f"d{item}": 1} for query, item in enumerate(label)}, run)
    compare("scikit-learn", case, given, expected)


def test_names_of_different_policies_are_not_mixed() -> None:
    names = "ndcg_score label_ranking_average_precision_score"
    assert error_of(ours, "scikit-learn", SKLEARN["gaps"], names, error=ConventionError) == (
        "scikit-learn has empty=zero for ndcg_score and empty=one for "
        "label_ranking_average_precision_score; "
        "evaluate them one at a time, or choose empty for both."
    )
