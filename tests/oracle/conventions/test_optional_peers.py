"""Libraries that take long to load, or are optional, beside their conventions, query by query."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest

from judged import evaluate
from judged.conventions import find
from judged.errors import MeasureError, PolicyError
from judged.measures.conventions import named_all
from measures.diversity.generated import generate as subtopics
from support.errors import error_of
from support.generated import Collection, generate
from support.loops import for_each
from support.parts import Later, Needs
from support.peers import (
    COLLECTIONS,
    TIED,
    WITHOUT_TIES,
    Case,
    by_query,
    cases,
    closed,
    compare,
    every_name,
    in_order,
    judged_only,
    only_relevant,
    ours,
    ranked,
    regraded,
    with_relevant,
    without_negative,
)

pytestmark = pytest.mark.full

# -- ir_measures

GDEVAL = ("ERR@{k}", "nDCG(dcg='exp-log2')@{k}")
"""By a Perl script, which prints five decimals, and knows plain ids and grades from 0 to 4; every
query has to be there."""
OTHER_TIES = {
    name.theirs
    for name in find("ir_measures").names
    if any(caution.when == "tied" for caution in name.cautions)
}
"""Providers that order tied results by ascending id or by no rule; compared without ties."""
OF_SUBTOPICS = {name.theirs for name in find("ir_measures").names if "ndeval" in name.note}
PLAIN = generate(111, ties=False, grades=(0, 0, 1, 2, 3, 4), letters=("D",), gaps=False)


def by_ir_measures(text: str, given: Collection) -> dict[str, float]:
    measure = ir_measures.parse_measure(text)
    return {
        each.query_id: each.value
        for each in ir_measures.iter_calc([measure], given.judgements, given.run)
    }


@every_name(
    "ir_measures",
    COLLECTIONS,
    only=lambda case: case.name.theirs not in {*GDEVAL, *OF_SUBTOPICS},
)
def test_ir_measures(case: Case, given: Collection) -> None:
    if case.name.theirs in OTHER_TIES and given is TIED:
        pytest.skip("its ties are ordered otherwise")
    if case.theirs in ("NumQ", "NumRel"):  # a query that the run lacks counts 0 there
        listed = {query: own for query, own in given.judgements.items() if query in given.run}
        given = Collection(listed, given.rows)
    if case.theirs.startswith("Judged"):
        given = regraded(given, lambda grades: {item: abs(g) for item, g in grades.items()})
    compare("ir_measures", case, given, by_ir_measures(case.theirs, given))


@every_name(
    "ir_measures",
    {"plain": PLAIN},
    only=lambda case: case.name.theirs in GDEVAL,
    parts=["perl"],
)
def test_gdeval(case: Case, given: Collection) -> None:
    theirs = by_ir_measures(case.theirs, given)
    compare("ir_measures", case, given, theirs, tolerance=0.5000001e-5)


@pytest.mark.parametrize("seed", [0, 1])
def test_ir_measures_of_subtopics(seed: int) -> None:
    """With judgements by subtopic; ERR_IA@1 and alpha_DCG@1 are not normalised there."""
    given = subtopics(seed)
    every = cases("ir_measures", places={"k": (1, 3, 10, 20)})
    texts = [case.theirs for case in every if case.name.theirs in OF_SUBTOPICS]
    texts += ["alpha_nDCG(alpha=0.25)@5", "alpha_DCG(rel=2,alpha=0.75)@3", "NRBP(beta=0.75)"]
    texts += ["nNRBP(alpha=0.25,beta=0.5)", "StRecall(rel=2)@5", "AP_IA(rel=2)", "α_nDCG@10"]
    for text in (each for each in texts if each not in ("ERR_IA@1", "alpha_DCG@1")):
        measure = ir_measures.parse_measure(text)
        qrels = [ir_measures.GenericQrel(q, item, grade, sub) for q, sub, item, grade in given.rows]
        theirs = {each.query_id: each.value for each in measure.iter_calc(qrels, given.run)}
        assert theirs
        # nNRBP divides 0 by 0 where nothing is relevant.
        expected = {q: 0.0 if value != value else value for q, value in theirs.items()}
        found = by_query(evaluate(given.judgements, given.run, text, convention="ir_measures"))
        assert found == pytest.approx({**dict.fromkeys(found, 0.0), **expected}, abs=1e-9), text


ANY_ORDER = """
    SetF(beta=2.0) SetF(rel=2,beta=0.5) SetP(relative=True) SetP(rel=2) AP(judged_only=True)
    AP(judged_only=True,rel=2)@10 P(rel=2,judged_only=True)@5 nDCG(judged_only=True)@10
    RR(judged_only=True) IPrec(judged_only=True)@0.5 SetF(judged_only=True) SetAP(rel=2)
    Success(judged_only=True,rel=2)@3 R(judged_only=True)@5 Rprec(rel=2,judged_only=True)
    RBP(rel=1) RBP(rel=2,p=0.5) INSQ(T=2.0,max_rel=4) INST(max_rel=5,min_rel=1)
    NERR10(p=0.5,max_rel=3) BPM(max_rel=4,T=2.0)@10 SDCG(min_rel=1,max_rel=5)@10
    NERR11(max_rel=4,T=0.5) MAP(rel=2) MRR(rel=2) Precision(rel=2)@5 Recall(rel=2)@5 NumRet(rel=2)
"""


@for_each("text", ANY_ORDER.split())
def test_parameters_in_any_order_are_those_of_ir_measures(text: str) -> None:
    given = COLLECTIONS["complete"]
    found = by_query(ours("ir_measures", given, text))
    assert found == pytest.approx(by_ir_measures(text, given), abs=1e-9)


def test_no_name_of_ir_measures_is_denied() -> None:
    """Every measure that ir_measures knows is computed, or is an error that says why not."""
    denied = {}
    for name, measure in ir_measures.measures.registry.items():
        params = measure.SUPPORTED_PARAMS
        needed = [key for key, each in params.items() if each.required and key == "max_rel"]
        text = name + (f"({needed[0]}=4)" if needed else "")
        cutoff = params.get("cutoff")
        texts = [f"{text}@0.5"] if "recall" in params else []
        texts += [text] if not texts and not (cutoff and cutoff.required) else []
        texts += [f"{text}@10"] if cutoff else []
        for each in texts:
            try:
                named_all(find("ir_measures"), [each])
            except MeasureError as error:
                if "cannot score it that way" not in str(error):
                    denied[each] = str(error)
    assert denied == {}


@for_each(
    ("text", "message"),
    [
        ("alpha_nDCG", "ir_measures cannot compute it without a cutoff: name one."),
        ("Compat(p=0.8)", "It compares the lists down to the longer of the two"),
        ("RBP(p=0.9)", "ir_measures computes it with rel only, as RBP(p=0.8,rel=1)."),
        ("Accuracy(rel=2)@10", "It is Accuracy of the first k results."),
        ("alpha_nDCG(judged_only=True)@10", "None of the providers of ir_measures computes it."),
        ("RR(judged_only=True)@10", "None of the providers of ir_measures computes it."),
        ("BPM", "BPM(max_rel=4)@10"),
        ("INST(T=2)", "INST(max_rel=4)"),
        ("SetF@10", "SetF"),
        ("Compat@10", "Compat"),
        ("NumRelRet@10", "NumRet(rel=1)"),
        ("Success", "Success@10"),
    ],
)
def test_what_cannot_be_computed_says_why_or_how_it_is_written(text: str, message: str) -> None:
    found = error_of(named_all, find("ir_measures"), [text], error=MeasureError)
    word = re.split("[(@]", text)[0]
    reason = f"ir_measures has {text}, but judged cannot score it that way. {message}"
    spelling = f"ir_measures has {word}, but not as {text!r}; write it as in {message}."
    assert reason in found or found == spelling


def test_the_order_of_ties_depends_on_the_provider() -> None:
    given = Collection({"q": {"a": 1}}, [("q", "a", 1.0), ("q", "b", 1.0)])
    assert by_ir_measures("RR", given) == {"q": 0.5}
    assert by_ir_measures("RR@10", given) == {"q": 1.0}
    assert ours("ir_measures", given, "RR@10").value() == 0.5


def test_known_disagreement_negative_grades() -> None:
    """ir_measures takes a negative grade for a judgement; for trec_eval and judged it is none."""
    given = Collection({"q": {"a": 1, "b": -1}}, [("q", "a", 2.0), ("q", "b", 1.0)])
    assert by_ir_measures("Judged@2", given) == {"q": 1.0}
    assert evaluate(given.judgements, given.run, "Judged@2").value() == 0.5


def test_known_disagreement_counts_of_missing_queries() -> None:
    """Missing queries count as 0 in ir_measures even in properties of the judgements."""
    given = Collection({"q": {"a": 1}, "r": {"a": 1}}, [("q", "a", 2.0)])
    for measure in ("NumRel", "NumQ"):
        assert by_ir_measures(measure, given) == {"q": 1, "r": 0}
        assert by_query(evaluate(given.judgements, given.run, measure)) == {"q": 1, "r": 1}


# -- ranx, without ties

ranx = Later("ranx")  # which loads numba and matplotlib


def by_ranx(text: str, given: Collection) -> dict[str, float]:
    qrels, run = ranx.Qrels(given.judgements), ranx.Run(given.run)
    found = ranx.evaluate(qrels, run, text, return_mean=False, make_comparable=True)
    return dict(zip(sorted(given.judgements), found.tolist(), strict=True))


@every_name("ranx", WITHOUT_TIES, places={"p": (50, 8, 95)})
def test_ranx(case: Case, given: Collection) -> None:
    if case.theirs.startswith("rbp") and given is not WITHOUT_TIES["binary"]:
        pytest.skip("its rbp gains the bare grade; see below")
    if case.theirs == "bpref":
        # It needs judgements of both kinds, and knows no negative grades; see below.
        known = without_negative(with_relevant(given))
        given = regraded(known, lambda grades: grades if 0 in grades.values() else {})
    compare("ranx", case, given, by_ranx(case.theirs, given), policy={"missing": "zero"})


def test_a_missing_query_is_refused_by_ranx_and_its_convention() -> None:
    given = WITHOUT_TIES["gaps"]
    with pytest.raises(AssertionError, match="do not match"):
        ranx.evaluate(ranx.Qrels(given.judgements), ranx.Run(given.run), "mrr")
    with pytest.raises(PolicyError, match="missing=error"):
        ours("ranx", given, "mrr")


def test_it_gains_the_bare_grade_in_rank_biased_precision() -> None:
    given = Collection({"q": {"a": 3, "b": 2}}, [("q", "a", 2.0), ("q", "b", 1.0)])
    assert by_ranx("rbp.50", given) == pytest.approx({"q": 0.5 * (3 + 2 * 0.5)})
    assert ours("ranx", given, "rbp.50").value() == 0.5 * (1 + 0.5)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_its_bpref_needs_both_kinds_of_judgements() -> None:
    given = Collection({"q": {"a": 1}, "r": {"a": 1, "b": 0}}, [("q", "a", 1.0), ("r", "a", 1.0)])
    assert str(by_ranx("bpref", given)) == "{'q': nan, 'r': 1.0}"
    assert ours("ranx", given, "bpref").value() == 1.0


def test_its_bpref_takes_negative_grades_for_irrelevant_ones() -> None:
    """b, of a negative grade, stands above a: 1 - min(1, 1) / min(1, 2) = 0."""
    given = Collection({"q": {"a": 1, "b": -1, "c": 0}}, [("q", "b", 2.0), ("q", "a", 1.0)])
    assert by_ranx("bpref", given) == {"q": 0.0}
    assert ours("ranx", given, "bpref").value() == 1.0


LEVELS = {
    **{"hits": "NumRelRet", "hit_rate": "Success", "precision": "P", "recall": "R", "f1": "F"},
    **{"mrr": "RR", "map": "AP"},
}


@for_each(("theirs", "measure"), LEVELS.items())
def test_levels_of_relevance_in_ranx(theirs: str, measure: str) -> None:
    for given in (WITHOUT_TIES["complete"], without_negative(WITHOUT_TIES["gaps"])):
        for at in ("", "@1", "@3", "@10"):
            expected = by_ranx(f"{theirs}{at}-l2", given)
            found = by_query(evaluate(given.judgements, given.run, f"{measure}(rel=2){at}"))
            assert found == pytest.approx(expected, abs=1e-9, rel=0)


def test_known_disagreement_level_of_ndcg() -> None:
    """With -l2 ranx zeroes grade 1 in nDCG; trec_eval and judged keep it, without a table."""
    given = Collection({"q": {"a": 1, "b": 2}}, [("q", "a", 2.0), ("q", "b", 1.0)])
    theirs = by_ranx("ndcg-l2", given)["q"]
    found = evaluate(given.judgements, given.run, "nDCG(gains={1:0}), nDCG")
    assert found.value("nDCG(gains={1:0})") == pytest.approx(theirs)
    assert found.value("nDCG") != pytest.approx(theirs)


# -- trectools; it counts queries that nobody judged, and stops at them in R-precision, see below

trectools = Later("trectools")
OF_TRECTOOLS = {name: judged_only(given) for name, given in COLLECTIONS.items()}


def trec_eval_of(given: Collection) -> Any:
    run, qrels = trectools.TrecRun(), trectools.TrecQrel()
    frame = pd.DataFrame(in_order(given).rows, columns=["query", "docid", "score"])
    frame["q0"], frame["system"], frame["rank"] = "Q0", "run", frame.groupby("query").cumcount() + 1
    run.load_run_from_dataframe(frame)
    pairs = [
        (query, "0", item, grade)
        for query, grades in given.judgements.items()
        for item, grade in grades.items()
    ]
    qrels.qrels_data = pd.DataFrame(pairs, columns=["query", "q0", "docid", "rel"])
    return trectools.TrecEval(run, qrels)


def by_trectools(given: Collection, method: str, **options: Any) -> dict[str, float]:
    """Its values by query; those without a relevant result are missing there, or not a number, and
    are 0 in its means."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = getattr(trec_eval_of(given), method)(per_query=True, **options)
    frame = found[0] if isinstance(found, tuple) else found
    known = frame.iloc[:, 0].dropna().to_dict()
    return {query: float(known.get(query, 0.0)) for query in given.common}


@every_name("trectools", OF_TRECTOOLS, parts=["trectools"])
def test_trectools(case: Case, given: Collection) -> None:
    if case.theirs.startswith(("get_ndcg", "get_rbp")) and given is OF_TRECTOOLS["ties and gaps"]:
        pytest.skip("its ties are ordered otherwise")
    if "bpref" in case.theirs:
        # It errs where nothing was judged irrelevant, and about negative grades; see below.
        known = without_negative(given)
        given = judged_only(regraded(known, lambda grades: grades if 0 in grades.values() else {}))
    method, options = case.call()
    compare("trectools", case, given, by_trectools(given, method, **options))


def test_known_disagreement_preferences(needs: Needs) -> None:
    """Where nothing was judged irrelevant, and with negative grades."""
    needs("trectools")
    for value, grades, items in ((0.0, {"a": 1}, "a"), (2.0, {"a": 1, "b": -1, "c": 0}, "ba")):
        rows = [("q", item, -float(place)) for place, item in enumerate(items)]
        given = Collection({"q": grades}, rows)
        assert by_trectools(given, "get_bpref") == {"q": value}
        assert ours("trectools", given, "bpref").value() == 1.0


def test_a_query_that_nobody_judged_lowers_its_means_and_stops_r_precision(needs: Needs) -> None:
    needs("trectools")
    given = Collection({"q": {"a": 1}}, [("q", "a", 1.0), ("r", "a", 1.0)])
    assert trec_eval_of(given).get_map(depth=10) == 0.5
    assert ours("trectools", given, "MAP@10").value() == 1.0
    with pytest.raises(KeyError, match="r"):
        by_trectools(given, "get_rprec")


# -- cwl-eval: the order of the file counts; it walks down a thousand ranks, which takes a while

ruler = Later("cwl.ruler.cwl_ruler")
METRICS: dict[str, Callable[..., Any]] = {
    "P@{k}": lambda k: ruler.PrecisionCWLMetric(k),
    "RR": lambda: ruler.RRCWLMetric(),
    "AP": lambda: ruler.APCWLMetric(),
    "NDCG-k@{k}": lambda k: ruler.NDCGCWLMetric(k),
    "INST-T={T}": lambda T: ruler.INSTCWLMetric(T),  # noqa: N803
    "INSQ-T={T}": lambda T: ruler.INSQCWLMetric(T),  # noqa: N803
    "BPM-Static-T={T}-K={k}": lambda T, k: ruler.BPMCWLMetric(T, k),  # noqa: N803
    "NERR-EQ8@k={k}": lambda k: ruler.NERReq8CWLMetric(k),
    "NERR-EQ9@k={k}": lambda k: ruler.NERReq9CWLMetric(k),
    "NERR-EQ10@phi={p}": lambda p: ruler.NERReq10CWLMetric(p),
    "NERR-EQ11@T={T}": lambda T: ruler.NERReq11CWLMetric(T),  # noqa: N803
    "RBP@{p}": lambda p: ruler.RBPCWLMetric(p),
}
OF_CWL = {
    name: in_order(without_negative(COLLECTIONS[name]))
    for name in ("ties and gaps", "nothing relevant", "short lists")
}


@every_name("cwl-eval", OF_CWL, calls=METRICS, parts=["cwl_eval"])
@pytest.mark.filterwarnings("ignore")
def test_cwl_eval(case: Case, given: Collection) -> None:
    theirs, metric = {}, METRICS[case.name.theirs](**case.places)
    for query in given.common:
        grades = [given.judgements[query].get(item, 0) for item in given.run[query]]
        binary = case.name.theirs in ("P@{k}", "RR", "AP")
        gains = np.array([float(grade > 0) if binary else grade / 4 for grade in grades])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs[query] = float(metric.measure(ruler.Ranking(query, gains, np.ones(len(gains)))))
    compare("cwl-eval", case, given, theirs)


# -- torchmetrics, with scores above 0

torch, retrieval = Later("torch"), Later("torchmetrics.retrieval")
functional = Later("torchmetrics.functional.retrieval")
OF_TORCH = {name: closed(given, between_0_and_1=True) for name, given in COLLECTIONS.items()}
FUNCTIONS = {
    "RetrievalMAP": "retrieval_average_precision",
    "RetrievalMRR": "retrieval_reciprocal_rank",
    "RetrievalPrecision": "retrieval_precision",
    "RetrievalRecall": "retrieval_recall",
    "RetrievalHitRate": "retrieval_hit_rate",
    "RetrievalRPrecision": "retrieval_r_precision",
    "RetrievalNormalizedDCG": "retrieval_normalized_dcg",
    "RetrievalAUROC": "retrieval_auroc",
}


def tensors(given: Collection, query: str, *, graded: bool) -> tuple[Any, Any]:
    grades = [max(given.judgements[query][item], 0) for item in given.run[query]]
    return torch.tensor(list(given.run[query].values())), torch.tensor(
        grades if graded else [int(grade > 0) for grade in grades]
    )


def by_torchmetrics(given: Collection, name: str, **options: Any) -> dict[str, float]:
    """The functional metric of each list; 0 where the modular metric never calls it.

    The fall-out looks for queries without irrelevant items rather than without relevant ones: the
    class gives them 1, the function 0.
    """
    found = {}
    for query in given.run:
        scores, target = tensors(given, query, graded="NormalizedDCG" in name)
        if name == "RetrievalFallOut":
            metric = retrieval.RetrievalFallOut(**options)
            value = metric(scores, target, indexes=torch.zeros_like(target))
        elif name == "retrieval_fall_out" or target.sum():
            value = getattr(functional, FUNCTIONS.get(name, name))(scores, target, **options)
        else:
            value = 0.0
        found[query] = float(value)
    return found


@every_name("torchmetrics", OF_TORCH, parts=["torch", "torchmetrics"])
def test_torchmetrics(case: Case, given: Collection) -> None:
    if "NormalizedDCG" not in case.theirs and given is OF_TORCH["ties and gaps"]:
        pytest.skip("only its nDCG averages tied scores")
    name, options = case.call()
    sizes = {query: len(scores) for query, scores in given.run.items()}
    theirs = by_torchmetrics(given, name, **options)
    compare("torchmetrics", case, given, theirs, collection=sizes)


@pytest.mark.parametrize("k", [None, 1, 3])
def test_fall_out_of_a_query_with_nothing_irrelevant(k: int | None, needs: Needs) -> None:
    """a: everything is relevant, and the class says 1. b: one irrelevant result, the first."""
    needs("torchmetrics")
    given = Collection(
        {"a": {"x": 1, "y": 1}, "b": {"x": 1, "y": 0}},
        [("a", "x", 0.9), ("a", "y", 0.5), ("b", "x", 0.5), ("b", "y", 0.9)],
    )
    name = "RetrievalFallOut" if k is None else f"RetrievalFallOut(top_k={k})"
    theirs = by_torchmetrics(given, "RetrievalFallOut", top_k=k)
    assert theirs == {"a": 1.0, "b": 1.0}
    assert by_query(ours("torchmetrics", given, name, collection={"a": 2, "b": 2})) == theirs


@pytest.mark.parametrize(("action", "empty"), [("neg", "zero"), ("pos", "one"), ("skip", "skip")])
@pytest.mark.parametrize("metric", ["RetrievalMAP", "RetrievalMRR", "RetrievalNormalizedDCG"])
def test_means_of_torchmetrics_and_its_empty_queries(
    metric: str, action: str, empty: str, needs: Needs
) -> None:
    needs("torchmetrics")
    given = OF_TORCH["nothing relevant"]
    calculated = getattr(retrieval, metric)(empty_target_action=action)
    for number, query in enumerate(given.run):
        scores, target = tensors(given, query, graded=metric == "RetrievalNormalizedDCG")
        calculated.update(scores, target, indexes=torch.full_like(target, number))
    (case,) = [case for case in cases("torchmetrics") if case.theirs == metric]
    mean = float(calculated.compute())
    compare("torchmetrics", case, given, mean, policy={"empty": empty}, tolerance=1e-5)


def test_items_without_a_positive_score_are_not_relevant_in_half_of_its_metrics(
    needs: Needs,
) -> None:
    needs("torchmetrics")
    scores, target = torch.tensor([2.0, -1.0]), torch.tensor([0, 1])
    assert float(functional.retrieval_average_precision(scores, target)) == 0.0
    assert float(functional.retrieval_recall(scores, target)) == 0.0
    assert float(functional.retrieval_hit_rate(scores, target)) == 1.0
    given = Collection({"q": {"a": 1, "b": 0}}, [("q", "b", 2.0), ("q", "a", -1.0)])
    assert ours("torchmetrics", given, "RetrievalMAP").value() == 0.5


# -- sentence-transformers: means over queries, without ties

evaluation = Later("sentence_transformers.evaluation")


def complete(given: Collection) -> Collection:
    """Every query is searched for there, so none is missing from the run; what is not relevant was
    never listed."""
    kept = only_relevant(given)
    found = {query: grades for query, grades in kept.judgements.items() if query in given.run}
    return Collection(found, [row for row in given.rows if row[0] in found])


def by_sentence_transformers(name: str, given: Collection, k: int) -> float:
    evaluator = evaluation.InformationRetrievalEvaluator(
        queries=dict.fromkeys(given.judgements, "text"),
        corpus={item: "text" for scores in given.run.values() for item in scores},
        relevant_docs={query: set(grades) for query, grades in given.judgements.items()},
        **{f"{name}_at_k": [k] for name in ("accuracy", "precision_recall", "mrr", "ndcg", "map")},
    )
    hits = [
        [{"corpus_id": item, "score": score} for item, score in given.run[query].items()]
        for query in evaluator.queries_ids
    ]
    return float(evaluator.compute_metrics(hits)[f"{name.partition('@')[0]}@k"][k])


@every_name(
    "sentence-transformers",
    {name: complete(given) for name, given in WITHOUT_TIES.items()},
    parts=["torch", "sentence_transformers"],
)
@pytest.mark.filterwarnings("ignore")
def test_sentence_transformers(case: Case, given: Collection) -> None:
    theirs = by_sentence_transformers(case.theirs, given, int(case.places["k"]))
    compare("sentence-transformers", case, given, theirs)


@pytest.mark.filterwarnings("ignore")
def test_its_order_of_ties_is_ascending(needs: Needs) -> None:
    needs("sentence_transformers")
    given = Collection({"q": {"a": 1}}, [("q", "b", 1.0), ("q", "a", 1.0)])
    assert by_sentence_transformers("mrr@10", given, 10) == 1.0
    assert ours("sentence-transformers", given, "mrr@10").value() == 0.5


# -- pytorch-metric-learning: every query ranks the whole reference; an item is right where it has
# the query's label, which is 1

accuracy = Later("pytorch_metric_learning.utils.accuracy_calculator")
WHOLE: dict[str, Any] = {"ties": False, "gaps": False, "items": 40, "longest": 40, "shortest": 40}
OF_LABELS = {
    "many right": generate(121, grades=(0, 1), queries=12, **WHOLE),
    "few right": generate(122, grades=(0,) * 9 + (1,), queries=25, **WHOLE),
}


def by_label(name: str, given: Collection, cut: int | None, **options: Any) -> dict[str, float]:
    """One query at a time; the calculator itself leaves out those without a right reference."""
    found = {}
    for query, grades in given.judgements.items():
        labels = [grades.get(item, 0) for item in ranked(given, query)]
        if not any(labels):
            continue
        if name not in ("precision_at_k", "mean_reciprocal_rank"):
            options["label_counts"] = [torch.tensor([1])], [sum(labels)]
            options["ref_includes_query"] = False
        found[query] = getattr(accuracy, name)(
            torch.tensor([labels[:cut]]),
            torch.tensor([[1]]),
            avg_of_avgs=False,
            return_per_class=False,
            label_comparison_fn=torch.eq,
            **options,
        )
    return found


@every_name("pytorch-metric-learning", OF_LABELS, parts=["torch", "metric_learning"])
def test_pytorch_metric_learning(case: Case, given: Collection) -> None:
    name, options = case.name.theirs.partition("(")[0], {}
    if name == "precision_at_1":
        name, options = "precision_at_k", {"k": 1}
    elif name.endswith("_at_r"):
        name, options = "mean_average_precision", {"at_r": True}
    theirs = {q: float(v) for q, v in by_label(name, given, case.k, **options).items()}
    # mean_reciprocal_rank alone is computed in single precision.
    tolerance = 1e-7 if "reciprocal" in name else None
    compare("pytorch-metric-learning", case, given, theirs, tolerance=tolerance)
