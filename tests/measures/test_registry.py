"""Every measure is declared in full, and what is declared is true."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest

import judged
from judged.errors import MeasureError
from judged.evaluation.wording import TIES_REFERENCE
from judged.measures import (
    REGISTRY,
    Measure,
    Spec,
    parse_measure,
)
from judged.measures.reference import BIBLIOGRAPHY, readable
from judged.measures.registry import AGGREGATIONS, Choice
from support.errors import error_of
from support.loops import for_each

every_measure = for_each("spec", REGISTRY.values(), ids=lambda spec: spec.name)


@every_measure
def test_a_measure_says_what_it_is(spec: Spec) -> None:
    assert spec.title
    assert spec.title[0].isupper()
    assert re.fullmatch(r"[A-Z0-9].+[.]", spec.says)
    assert spec.undefined.text
    assert not spec.undefined.text.endswith(".")
    assert spec.reference in BIBLIOGRAPHY
    assert spec.range[0] < spec.range[1]
    assert spec.params[-1].name == "aggregate"
    assert spec.at is None or spec.at in {param.name for param in spec.params}
    assert len({param.name for param in spec.params}) == len(spec.params)
    for param in spec.params:
        assert param.says
        assert param.allowed.strip() == param.allowed != ""
        assert param.check(param.default) == param.default
        assert param.describe(param.default)
        if isinstance(param, Choice):
            assert param.default in param.options
            assert all(param.options.values())
    for written in (spec.formula, *spec.formulas.values()):
        reads_in_a_terminal(written)


@every_measure
def test_the_worked_example(spec: Spec) -> None:
    measure = parse_measure(spec.example.measure)
    assert measure.spec is spec
    assert measure.compute(spec.example.rankings()).tolist() == pytest.approx(
        [spec.example.value], abs=1e-15
    )
    assert not measure.undefined(spec.example.rankings()).any()


def reads_in_a_terminal(formula: str) -> None:
    text = readable(formula)
    assert text
    assert "\\" not in text
    assert "  " not in text
    assert text == text.strip()
    # Braces are those of a set: {i : …}; LaTeX's own are gone, and nothing is left open.
    assert text.count("{") == text.count("}") == formula.count(r"\{")
    for opening, closing in ("()", "[]"):
        assert text.count(opening) == text.count(closing)
    assert not re.search(r"[_^]\s|[_^]$|\(\)|⦃|⦄", text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("P", "1/k Σ_(i≤k) [g_i ≥ rel]"),
        ("F", "((1+β^2) P R)/(β^2 P + R)"),
        ("RR", "1/(min{i ≤ k : g_i ≥ rel})"),
        ("DCG", "Σ_(i≤k) (gain(g_i))/(log_2(i+1))"),
        ("NumRel", "N = |{g ≥ rel}|"),
    ],
)
def test_formulas_in_a_terminal(name: str, text: str) -> None:
    assert readable(REGISTRY[name].formula) == text


def test_every_reference_is_used() -> None:
    used = {spec.reference for spec in REGISTRY.values()} | {TIES_REFERENCE, "own"}
    assert used == set(BIBLIOGRAPHY)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "P(rel=2)@10",
            "Share of the first k results that are relevant; a missing result counts as not "
            "relevant. Here, only the first 10 results count; an item is relevant from grade 2 on; "
            "a list shorter than k is still divided by k, as if filled up with irrelevant items; "
            "the summary is the mean over the queries.",
        ),
        (
            "DCG(gains={1:3,2:9}, log=10)@R",
            "The gains of the first k results, each divided by the logarithm of its rank plus one, "
            "summed. Here, only as many results count as the query has relevant items; an item "
            "gains its grade; a negative grade gains nothing; grade 1 gains 3; grade 2 gains 9; "
            "the item at rank i is divided by the logarithm of i + 1 to base 10; the summary is "
            "the mean over the queries.",
        ),
    ],
)
def test_definitions_in_force(text: str, words: str) -> None:
    assert parse_measure(text).describe() == words


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("mean", [0.0, 0.5, 1.0], 0.5),
        ("median", [0.0, 0.2, 1.0], 0.2),
        ("median", [0.0, 0.2, 0.4, 1.0], 0.3),
        ("sum", [1.0, 2.0, 4.0], 7.0),
        # The floor is 0.00001: (0.00001 · 0.1 · 1)^(1/3) = (10^-6)^(1/3) = 0.01
        ("geometric", [0.0, 0.1, 1.0], 0.01),
    ],
)
def test_aggregations(name: str, values: list[float], expected: float) -> None:
    assert AGGREGATIONS[name](np.array(values)) == pytest.approx(expected)


UNKNOWN = (
    "{0} counts the items that were not retrieved and needs the size of the collection; give it as "
    "collection."
)
# Two retrieved, one more relevant one not retrieved: three items at least.
TOO_SMALL = (
    "the collection of query 1 holds 2 items, but 3 were retrieved or judged; {0} needs the number "
    "of all items there are."
)
TOO_HIGH = (
    "max_grade of {0} is 4, but the judgements hold a grade of 5; write {0}(max_grade=5), the "
    "highest grade that could have been given."
)
COLLECTION = ("TN@1", "Accuracy@1", "Specificity@1")


@for_each(
    ("measure", "grades", "options", "message"),
    [
        *((name, [0, 1], {}, UNKNOWN) for name in COLLECTION),
        *((name, [0, 1], {"relevant": 2, "collection": 2}, TOO_SMALL) for name in COLLECTION),
        *((name, [0, 5, 1], {}, TOO_HIGH) for name in ("ERR", "RBP(gain=graded)")),
        (
            *("AP(norm=cutoff)", [0, 1], {}),
            "AP(norm=cutoff) divides by k and needs one, as in AP(norm=cutoff)@10.",
        ),
    ],
)
def test_what_a_measure_cannot_be_computed_of(
    measure: str, grades: list[int], options: dict[str, int], message: str
) -> None:
    rankings = judged.Rankings.from_relevance([grades], **options)
    name = parse_measure(measure).spec.name
    assert error_of(rankings.evaluate, [measure], error=MeasureError) == message.format(name)


@for_each("measure", COLLECTION)
def test_the_collection_holds_what_is_known_to_exist(measure: str) -> None:
    judged.Rankings.from_relevance([[0, 1]], relevant=2, collection=3).evaluate([measure])


def test_a_definition_is_one_object() -> None:
    ndcg = judged.nDCG(gains={1: 3, 2: 9}) @ 10
    assert ndcg is parse_measure("nDCG(gains={2:9,1:3.0})@10")
    assert ndcg is pickle.loads(pickle.dumps(ndcg))
    assert ndcg is copy.copy(ndcg) is copy.deepcopy(ndcg)
    assert ndcg.label == str(ndcg)
    assert Measure.__hash__ is object.__hash__
