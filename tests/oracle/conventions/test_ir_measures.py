"""The convention of ir_measures beside ir_measures, query by query."""

from __future__ import annotations

import re

import ir_measures
import pytest

from judged import evaluate
from judged.conventions import find
from judged.errors import MeasureError
from judged.measures import parse_measure
from judged.measures.conventions import named_all
from measures.diversity.generated import generate as subtopics
from support.generated import Collection, generate
from support.loops import for_each
from support.parts import Needs
from support.peers import COLLECTIONS, WITHOUT_TIES, Case, cases, compare, ours, two_by_default

NAME = "ir_measures"
GDEVAL = 0.5000001e-5
"""The Perl script prints five decimals."""
BY_GDEVAL = ("ERR@{k}", "nDCG(dcg='exp-log2')@{k}")
OTHER_TIES = tuple(
    name.theirs
    for name in find(NAME).names
    if any(caution.when == "tied" for caution in name.cautions)
)
"""Providers that order tied results by ascending id or by no rule; compared without ties."""
OF_SUBTOPICS = tuple(name.theirs for name in find(NAME).names if "ndeval" in name.note)
PLAIN = generate(111, ties=False, grades=(0, 0, 1, 2, 3, 4), letters=("D",), gaps=False)
"""gdeval knows plain ids and grades from 0 to 4, and every query has to be there."""


def values(text: str, given: Collection) -> dict[str, float]:
    measure = ir_measures.parse_measure(text)
    return {
        each.query_id: each.value
        for each in ir_measures.iter_calc([measure], given.judgements, given.run)
    }


OF_LISTS = [case for case in cases(NAME) if case.name.theirs not in (*BY_GDEVAL, *OF_SUBTOPICS)]


@pytest.mark.parametrize("collection", two_by_default(COLLECTIONS))
@for_each("case", OF_LISTS, ids=str)
def test_every_name(case: Case, collection: str) -> None:
    if case.name.theirs in OTHER_TIES and collection not in WITHOUT_TIES:
        pytest.skip("its ties are ordered otherwise")
    given = COLLECTIONS[collection]
    if case.theirs in ("NumQ", "NumRel"):  # a query that the run lacks counts 0 there
        given = Collection(
            {query: own for query, own in given.judgements.items() if query in given.run},
            given.rows,
        )
    if case.theirs.startswith("Judged"):
        given = Collection(
            {
                query: {item: abs(grade) for item, grade in grades.items()}
                for query, grades in given.judgements.items()
            },
            given.rows,
        )
    assert compare(NAME, case, given, values(case.theirs, given)) == len(given.judgements)


@for_each("case", [case for case in cases(NAME) if case.name.theirs in BY_GDEVAL], ids=str)
def test_every_name_of_gdeval(case: Case, needs: Needs) -> None:
    needs("perl")
    theirs = values(case.theirs, PLAIN)
    assert compare(NAME, case, PLAIN, theirs, tolerance=GDEVAL) == len(PLAIN.judgements)


@pytest.mark.parametrize("seed", [0, 1])
def test_every_name_of_subtopics(seed: int) -> None:
    """With judgements by subtopic; ERR_IA@1 and alpha_DCG@1 are not normalised there."""
    given = subtopics(seed)
    every = cases(NAME, places={"k": (1, 3, 10, 20)})
    texts = [case.theirs for case in every if case.name.theirs in OF_SUBTOPICS]
    texts += ["alpha_nDCG(alpha=0.25)@5", "alpha_DCG(rel=2,alpha=0.75)@3", "NRBP(beta=0.75)"]
    texts += ["nNRBP(alpha=0.25,beta=0.5)", "StRecall(rel=2)@5", "AP_IA(rel=2)", "α_nDCG@10"]
    compared = 0
    for text in (each for each in texts if each not in ("ERR_IA@1", "alpha_DCG@1")):
        measure = ir_measures.parse_measure(text)
        qrels = [ir_measures.GenericQrel(q, item, grade, sub) for q, sub, item, grade in given.rows]
        theirs = {each.query_id: each.value for each in measure.iter_calc(qrels, given.run)}
        # nNRBP divides 0 by 0 where nothing is relevant.
        expected = {q: 0.0 if value != value else value for q, value in theirs.items()}
        found = evaluate(given.judgements, given.run, text, convention=NAME).scored()
        (values,) = found.values.values()
        ours = dict(zip(found.rankings.queries, values.tolist(), strict=True))
        assert ours == pytest.approx({**dict.fromkeys(ours, 0.0), **expected}, abs=1e-9), text
        compared += len(expected)
    assert compared


def test_parameters_in_any_order_are_those_of_ir_measures() -> None:
    given = COLLECTIONS["complete"]
    for text in (
        *("SetF(beta=2.0)", "SetF(rel=2,beta=0.5)", "SetP(relative=True)", "SetP(rel=2)"),
        *("AP(judged_only=True)", "AP(judged_only=True,rel=2)@10", "P(rel=2,judged_only=True)@5"),
        *("nDCG(judged_only=True)@10", "RR(judged_only=True)", "IPrec(judged_only=True)@0.5"),
        *("SetF(judged_only=True)", "SetAP(rel=2)", "Success(judged_only=True,rel=2)@3"),
        *(
            "R(judged_only=True)@5",
            "Rprec(rel=2,judged_only=True)",
            "RBP(rel=1)",
            "RBP(rel=2,p=0.5)",
        ),
        *("INSQ(T=2.0,max_rel=4)", "INST(max_rel=5,min_rel=1)", "NERR10(p=0.5,max_rel=3)"),
        *("BPM(max_rel=4,T=2.0)@10", "SDCG(min_rel=1,max_rel=5)@10", "NERR11(max_rel=4,T=0.5)"),
        *("MAP(rel=2)", "MRR(rel=2)", "Precision(rel=2)@5", "Recall(rel=2)@5", "NumRet(rel=2)"),
    ):
        found = ours(NAME, given, text).scored()
        (own,) = found.values.values()
        expected = values(text, given)
        by_query = dict(zip(found.rankings.queries, own.tolist(), strict=True))
        assert by_query == pytest.approx(expected, abs=1e-9), text


def test_no_name_of_the_package_is_denied() -> None:
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
                named_all(find(NAME), [each])
            except MeasureError as error:
                if "cannot score it that way" not in str(error):
                    denied[each] = str(error)
    assert denied == {}


@for_each(
    ("text", "why"),
    [
        ("alpha_nDCG", "ir_measures cannot compute it without a cutoff: name one."),
        ("Compat(p=0.8)", "It compares the lists down to the longer of the two"),
        ("RBP(p=0.9)", "ir_measures computes it with rel only, as RBP(p=0.8,rel=1)."),
        ("Accuracy(rel=2)@10", "It is Accuracy of the first k results."),
        ("alpha_nDCG(judged_only=True)@10", "None of the providers of ir_measures computes it."),
        ("RR(judged_only=True)@10", "None of the providers of ir_measures computes it."),
    ],
)
def test_what_cannot_be_computed_says_why(text: str, why: str) -> None:
    with pytest.raises(MeasureError) as error:
        named_all(find(NAME), [text])
    assert f"ir_measures has {text}, but judged cannot score it that way. {why}" in str(error.value)


@for_each(
    ("text", "written"),
    [
        ("BPM", "BPM(max_rel=4)@10"),
        ("INST(T=2)", "INST(max_rel=4)"),
        ("SetF@10", "SetF"),
        ("Compat@10", "Compat"),
        ("NumRelRet@10", "NumRet(rel=1)"),
        ("Success", "Success@10"),
    ],
)
def test_a_name_written_in_another_way(text: str, written: str) -> None:
    with pytest.raises(MeasureError) as error:
        named_all(find(NAME), [text])
    word = re.split("[(@]", text)[0]
    assert (
        str(error.value)
        == f"ir_measures has {word}, but not as {text!r}; write it as in {written}."
    )


def test_the_order_of_ties_depends_on_the_provider() -> None:
    given = Collection({"q": {"a": 1}}, [("q", "a", 1.0), ("q", "b", 1.0)])
    assert values("RR", given) == {"q": 0.5}
    assert values("RR@10", given) == {"q": 1.0}
    assert ours(NAME, given, "RR@10").value() == 0.5


def plain(measure: str, given: Collection) -> list[float]:
    """Our values without the convention."""
    scored = evaluate(given.judgements, given.run, measure).scored()
    return scored.values[parse_measure(measure)].tolist()


def test_known_disagreement_negative_grades() -> None:
    """ir_measures takes a negative grade for a judgement; for trec_eval and judged it is none."""
    given = Collection({"q": {"a": 1, "b": -1}}, [("q", "a", 2.0), ("q", "b", 1.0)])
    assert values("Judged@2", given) == {"q": 1.0}
    assert plain("Judged@2", given) == [0.5]


def test_known_disagreement_counts_of_missing_queries() -> None:
    """Missing queries count as 0 in ir_measures even in properties of the judgements."""
    given = Collection({"q": {"a": 1}, "r": {"a": 1}}, [("q", "a", 2.0)])
    for measure in ("NumRel", "NumQ"):
        assert values(measure, given) == {"q": 1, "r": 0}
        assert plain(measure, given) == [1, 1]
