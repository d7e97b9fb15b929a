"""The notation: what is read, what is printed, and what is said where it cannot be read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import judged
from judged.errors import MeasureError
from judged.measures import REGISTRY, Measure, Spec, bind, parse_all, parse_measure
from judged.measures.registry import Choice, Cutoff, Gains, NumberParam, Param, Points, show
from support.errors import error_of
from support.loops import for_each
from support.rankings import any_measure


@given(any_measure())
def test_what_is_printed_can_be_read(measure: Measure) -> None:
    assert parse_measure(str(measure)) == measure
    assert hash(parse_measure(str(measure))) == hash(measure)
    assert str(parse_measure(str(measure))) == str(measure)


@given(
    st.lists(any_measure(), min_size=1, max_size=6),
    st.sampled_from([",", ", ", " ", "\n", "\t", " ,\n "]),
)
def test_several_in_one_text(measures: list[Measure], separator: str) -> None:
    assert parse_all(separator.join(map(str, measures))) == list(dict.fromkeys(measures))
    assert parse_all(measures) == list(dict.fromkeys(measures))


@given(any_measure(), st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_survives(measure: Measure, number: float) -> None:
    if "rel" in measure.params:
        measure = measure(rel=number)
        assert measure.params["rel"] == number
        assert parse_measure(str(measure)) == measure


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("P@10", "P@10"),
        (" ndcg ( gain = exp ) @ 10 ", "nDCG(gain=exp)@10"),
        ("nDCG(log=2.0)", "nDCG"),
        ("AP(rel=2)@100", "AP(rel=2)@100"),
        ("AP(norm=capped,rel=2)@100", "AP(rel=2, norm=capped)@100"),
        ("P(rel=1e-3)@5", "P(rel=0.001)@5"),
        ("P@1e1", "P@10"),
        ("P()", "P"),
        ("nDCG(gains={2:9,1:3})", "nDCG(gains={1:3,2:9})"),
        ("nDCG(gains={ 0.5 : 1.5 , -1 : 0 })@5", "nDCG(gains={-1:0,0.5:1.5})@5"),
        ('nDCG(gain="exp")', "nDCG(gain=exp)"),
        ("IPrec@.35", "IPrec@0.35"),
        ("IAP(points=[0.25, 0.5, 0.75])", "IAP(points=[0.25,0.5,0.75])"),
        ("11pt_avg", "IAP(rounding=trec_eval)"),
    ],
)
def test_what_can_be_read(text: str, printed: str) -> None:
    assert str(parse_measure(text)) == repr(parse_measure(text)) == printed


PLAIN = "write it as NAME, NAME@k or NAME(parameter=value)@k."
ALL = "'judged measures' lists them all."
GAINS = "gains of nDCG must be a table of grades and gains from 0, such as {1:3,2:9}; got"
WHOLE = "must be a whole number from 1, or R; got"


@for_each(
    ("text", "message"),
    [
        ("nDGC@10", f"There is no measure 'nDGC'; did you mean 'nDCG'? {ALL}"),
        ("recal@5", f"There is no measure 'recal'; did you mean 'Recall'? {ALL}"),
        *(
            (text, f"There is no measure {text!r}; did you mean {meant!r}? {ALL}")
            for text, meant in (
                ("nDCG10", "nDCG@10"),
                ("P5", "P@5"),
                ("recall100", "Recall@100"),
                ("map10", "MAP@10"),
                ("ndgc-10", "nDCG@10"),
                ("Bpref10", "Bpref"),  # has no cutoff
            )
        ),
        ("zzzzzz", "There is no measure 'zzzzzz'. 'judged measures' lists them all."),
        (
            "nDCG(gian=exp)",
            "nDCG takes no 'gian'; did you mean 'gain'? It takes k, gain, gains, ideal, log, "
            "aggregate.",
        ),
        ("P(gain=exp)@3", "P takes no 'gain'. It takes k, rel, short, aggregate."),
        ("P(=3)", "P takes no ''. It takes k, rel, short, aggregate."),
        ("P@0", f"k of P {WHOLE} 0."),
        ("P@inf", f"k of P {WHOLE} inf."),
        ("P@ten", f"k of P {WHOLE} ten."),
        ("P@1" + "0" * 400, f"k of P {WHOLE} 1{'0' * 79}…."),
        ("nDCG(gain=log)", "gain of nDCG must be linear, exp or binary; got log."),
        ("nDCG(gain=[1])", "gain of nDCG must be linear, exp or binary; got [1]."),
        ("F(aggregate=median)", "aggregate of F must be mean; got median."),
        ("P(rel=high)", "rel of P must be a number; got high."),
        ("RBP(p=1)", "p of RBP must be a number between 0 and 1; got 1."),
        ("F(beta=0)", "beta of F must be a number above 0; got 0."),
        ("DCG(log=1)", "log of DCG must be a number above 1; got 1."),
        ("IPrec@1.1", "recall of IPrec must be a number from 0 to 1; got 1.1."),
        ("nDCG(gains={1:-3})", f"{GAINS} {{1:-3}}."),
        ("nDCG(gains={1})", "a value is missing in 'nDCG(gains={1})'; write {key:value}."),
        ("P(rel=)", "a value is missing in 'P(rel=)'; write parameter=value."),
        ("P(2)", "cannot read '2' in 'P(2)'; write parameter=value."),
        ("P(k=5)@10", "k is given twice in 'P(k=5)@10'; write it once, as P@10."),
        (
            "GMAP(aggregate=mean, aggregate=sum)",
            "aggregate is given twice in 'GMAP(aggregate=mean, aggregate=sum)'; write it once.",
        ),
        ("Rprec@5", "Rprec takes no cutoff; got @5."),
        ("P@@3", f"cannot read the measure 'P@@3' at character 2, '@@3'; {PLAIN}"),
        ("@3", f"cannot read the measure '@3'; {PLAIN}"),
        ("P(rel=2", f"cannot read the measure 'P(rel=2' at character 2, '(rel=2'; {PLAIN}"),
        ("", f"cannot read the measure ''; {PLAIN}"),
    ],
)
def test_what_cannot_be_read(text: str, message: str) -> None:
    assert error_of(parse_measure, text, error=MeasureError) == message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "no measure was given; name at least one, such as nDCG@10."),
        ("", f"cannot read the measure ''; {PLAIN}"),
        (" , ", f"cannot read the measure ' , '; {PLAIN}"),
        ([3], "a measure is a text such as 'nDCG@10' or a judged.Measure; got int."),
        (
            [None],
            "a measure is a text such as 'nDCG@10' or a judged.Measure; got NoneType.",
        ),
        ("P@5 nDGC", f"There is no measure 'nDGC'; did you mean 'nDCG'? {ALL}"),
    ],
)
def test_what_is_no_list_of_measures(given: Any, message: str) -> None:
    assert error_of(parse_all, given, error=MeasureError) == message


def test_measures_in_python() -> None:
    assert judged.nDCG(gain="exp") @ 10 == parse_measure("nDCG(gain=exp)@10")
    assert judged.P @ 5 == parse_measure("P@5") != parse_measure("P@6")
    assert judged.AP(rel=2, k=100) == parse_measure("AP(rel=2)@100")
    assert parse_measure("AP@R") == judged.AP @ "R"
    assert (judged.P @ 5)(rel=2) == parse_measure("P(rel=2)@5")
    assert (judged.P @ 5)(k=None) == judged.P
    assert judged.nDCG(gains={2: 9, 1: 3}) == parse_measure("nDCG(gains={1:3,2:9})")
    assert judged.IAP(points=[0.25, 0.5]) == judged.IAP(points=(0.25, 0.5))
    assert judged.IPrec @ 0.5 == judged.IPrec(recall=0.5)
    same = {judged.P @ 5, parse_measure("P@5"), judged.P(k=5.0)}
    same |= {judged.nDCG(gains={1: 3}), judged.nDCG(gains={1.0: 3})}
    assert len(same) == 2
    assert judged.P != "P"


@pytest.mark.parametrize(
    "text",
    ["DCG(log=1e30)", "nDCG(log=1e300)", "F(beta=1e100)", "ERR(max_grade=1000)", "P(rel=1e300)"],
)
def test_numbers_may_be_huge(text: str) -> None:
    value = judged.Rankings.from_relevance([[0, 1, 3]]).evaluate([text]).value()
    assert np.isfinite(value)


# -- every parameter of every measure refuses what it does not allow, with the sentence its
# declaration makes ---------


def bad_values(param: Param) -> list[Any]:
    if isinstance(param, Cutoff):
        return [0, -1, 1.5, True, "r", "", [1], {}, float("nan"), float("inf")]
    if isinstance(param, Choice):
        return ["nonsense", "", None, 1, [], {}]
    if isinstance(param, Gains):
        return [3, "exp", {}, {1: -1}, {"a": 1}, {1: "b"}, [1], {1: float("nan")}]
    if isinstance(param, Points):
        return [1, 0, 2.5, [], [2], [-0.1], ["a"], "all", None, True]
    assert isinstance(param, NumberParam)
    values: list[Any] = ["much", None, [], True, float("nan"), float("inf")]
    if np.isfinite(param.low):
        values.append(param.low if param.open else param.low - 1)
    if np.isfinite(param.high):
        values.append(param.high if param.open else param.high + 1)
    return values


@for_each(
    ("spec", "param"),
    [
        pytest.param(spec, param, id=f"{spec.name}-{param.name}")
        for spec in REGISTRY.values()
        for param in spec.params
    ],
)
def test_every_parameter_refuses_what_is_not_allowed(spec: Spec, param: Param) -> None:
    for value in bad_values(param):
        assert (
            error_of(bind, spec, {param.name: value}, error=MeasureError)
            == f"{param.name} of {spec.name} must be {param.allowed}; got {show(value)}."
        )
