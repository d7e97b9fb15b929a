"""Grades and parameters at the ends of what a number can hold: the value is right, or an error says
why there is none."""

from __future__ import annotations

from decimal import Decimal, localcontext
from random import Random
from typing import Any

import numpy as np
import pytest

from judged import Rankings, evaluate
from judged.errors import MeasureError
from judged.measures import REGISTRY, parse_measure
from judged.measures.gain import FARTHEST
from support.errors import error_of
from support.loops import for_each
from support.rankings import PLAIN, Query, random_measure
from support.twins import TWINS, gain_of

GRADES = (0, -1, -1e300, 5e-324, 1e-300, 1e-12, 0.1, 1, 3, 52.5, 1023, 1024, 1500.25, 5000, 2**53)
GREATEST = (*GRADES, 1e15 + 1, 1e200, 1e300, 1.7e308)
MEASURES = [
    *(
        f"nDCG(gain={gain}{table}){k}"
        for gain in ("exp", "linear", "binary")
        for k in ("", "@2")
        for table in ("", ", gains={1:1e308,3:1e308}", ", gains={3:1e-320}")
    ),
    "nDCG(log=1.0000001)",
    "nDCG(log=1e300, gain=exp)",
    "DCG(gain=exp)",
    "DCG",
    "Q",
    "Q(gain=exp)",
    "Q(gain=exp, beta=1e-300)",
    "Q(beta=1e300)",
    "ERR",
    "RBP(gain=graded)",
    "RBP(gain=graded, p=0.999999999999)",
    "RBP(gain=graded, p=1e-300)",
]


def exact(value: Any) -> Any:
    """Return decimal numbers for all numbers, but for cutoffs and levels."""
    if isinstance(value, dict):
        return {exact(grade): exact(gain) for grade, gain in value.items()}
    return Decimal(value) if isinstance(value, (int, float)) else value


def are_extreme(pool: list[Decimal], value: Decimal, params: dict[str, Any]) -> bool:
    """Whether gains are so large or so small that an error is the right answer."""
    if params.get("beta") or value > Decimal("1e290"):
        return True
    greatest = max(gain_of(grade, params["gain"], params["gains"]) for grade in pool)
    return greatest > Decimal("1e300") or greatest < Decimal("1e-280")


@for_each("text", MEASURES)
def test_the_value_is_that_of_exact_arithmetic(text: str) -> None:
    draw, refused = Random(text), 0
    with localcontext() as context:
        # Of 2 to the power of the smallest grade, 324 digits are those of 1.
        context.prec, context.Emax, context.Emin = 400, 10**17, -(10**17)
        for _ in range(60):
            # 2 to the power of more than 10^17 is too much even here.
            known = GRADES if "exp" in text or "ERR" in text else GREATEST
            pool = [draw.choice(known) for _ in range(draw.randint(1, 6))]
            listed = draw.randint(0, len(pool))
            measure = parse_measure(text)
            if "max_grade" in measure.params:
                measure = measure(max_grade=max(max(pool), 4))
            grades = tuple(map(exact, pool))
            query = Query(grades[:listed], grades[listed:])
            params = {
                name: value if name in ("k", "rel") else exact(value)
                for name, value in measure.params.items()
            }
            del params["aggregate"]
            wanted = TWINS[measure.spec.name](query, **params)
            case = text, pool, listed
            try:
                r = Rankings.from_relevance([pool[:listed]], pool=[pool])
                value = float(measure.compute(r)[0])
            except MeasureError:
                refused += 1
                assert wanted != wanted or are_extreme(list(grades), wanted, params), case
                continue
            if wanted != wanted:
                assert np.isnan(value), case
            else:
                allowed = Decimal("1e-9") * wanted + Decimal("1e-100")
                assert abs(exact(value) - wanted) <= allowed, (*case, value, wanted)
    assert refused == 0 or not text.startswith(("ERR", "RBP", "nDCG(gain=binary)"))


@for_each("name", PLAIN)
def test_no_number_is_lost(name: str) -> None:
    """Every measure on any grades: a value in its range, NaN only where it is undefined, or an
    error."""
    draw = Random(name)
    for _ in range(60):
        measure = random_measure(REGISTRY[name], draw)
        pool = [draw.choice(GREATEST) for _ in range(draw.randint(1, 7))]
        listed = [draw.choice((grade, None)) for grade in pool]
        judged = [grade for grade in listed if grade is not None]
        left = [grade for grade, own in zip(pool, listed, strict=True) if own is None]
        r = Rankings.from_relevance([listed], pool=[judged + left], collection=50)
        try:
            value = measure.compute(r)
        except MeasureError:
            continue
        undefined = measure.undefined(r)
        assert (np.isnan(value) == undefined).all(), (measure, pool)
        low, high = measure.spec.range
        assert undefined.all() or low - 1e-9 <= value[0] <= high + 1e-9, (measure, pool, value)


@for_each(
    "name",
    [
        n
        for n in PLAIN
        if {p.name for p in REGISTRY[n].params}
        <= {
            *("k", "rel", "aggregate", "norm", "area", "short", "p", "recall", "precision", "mult"),
            *("rounding", "points", "of", "beta", "average", "a", "b", "c", "d"),
        }
    ],
)
def test_grades_that_are_only_compared(name: str) -> None:
    """Where a measure asks only which grade is the greater, any numbers in the same order do."""
    draw = Random(name)
    order = [-1e300, -1, 0, 5e-324, 1e-300, 1, 2**53, 1e300, 1.7e308]
    tame = [-2, -1, 0, 0.25, 0.5, 1, 2, 3, 4]
    for _ in range(25):
        places = [draw.randrange(len(order)) for _ in range(6)]
        measure = random_measure(REGISTRY[name], draw)
        if measure.params.get("rel", 1) != 1:
            measure = measure(rel=1)
        values = [
            measure.compute(Rankings.from_relevance([[grades[at] for at in places]], collection=30))
            for grades in (order, tame)
        ]
        np.testing.assert_array_equal(*values, err_msg=f"{measure} {places}")


@pytest.mark.parametrize("ties", ["id", "expected"])
@pytest.mark.parametrize("measure", ["DCG(gain=exp)", "nDCG(gain=exp)", "Q(gain=exp)"])
def test_gains_that_overflow_are_an_error(measure: str, ties: str) -> None:
    """2^1024 is more than a float can hold."""
    clicks = {"q": {"a": 2500, "b": 1300, "c": 0}}
    assert error_of(
        evaluate,
        clicks,
        {"q": {"a": 1.0, "b": 1.0}},
        measure,
        policy={"ties": ties},
        error=MeasureError,
    ) == (
        f"{measure}: the sums for these grades exceed the largest float (1.8e308); use smaller "
        "grades, or other parameters."
    )


def test_gains_that_lose_digits_are_an_error() -> None:
    with pytest.raises(MeasureError, match="sum up to less than 1e-290"):
        evaluate({"q": {"a": 1e-300, "b": 1e-301}}, {"q": ["b", "a"]}, "nDCG")


def test_recall_points_are_reached() -> None:
    """As many items as a share asks for, whatever its last binary digit is."""
    for items in range(1, 200):
        r = Rankings.from_relevance([[1] * items])
        for wanted in {1, items // 3 or 1, items}:
            share = wanted / items
            found = Rankings.from_relevance([[1] * wanted], relevant=items)
            for text in ("IPrec", "PrecAtRecall"):
                assert (parse_measure(text) @ share).compute(found)[0] == 1, (share, items)
        assert parse_measure("IAP").compute(r)[0] == 1
    tiny = Rankings.from_relevance([[0, 1]])
    assert parse_measure("Rprec(mult=1e-12)").compute(tiny)[0] == 0
    assert parse_measure("Rprec(mult=1e-12)").compute(Rankings.from_relevance([[1]]))[0] == 1
    assert parse_measure("Rprec(mult=1e300)").compute(tiny)[0] == pytest.approx(1e-300)


def test_a_recall_of_0_is_reached_at_rank_1() -> None:
    for listed, value in (([1, 0], 1), ([0, 1], 0), ([0, 0, 1], 0)):
        r = Rankings.from_relevance([listed])
        assert parse_measure("PrecAtRecall@0").compute(r)[0] == value
        assert parse_measure("P@1").compute(r)[0] == value


@pytest.mark.parametrize("text", ["RankAUC", "FallOut@1", "Specificity@1"])
def test_what_is_undefined_by_the_judgements_is_left_out(text: str) -> None:
    """Everything is relevant to q1: there is no area, and none of 0."""
    judgements = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}
    run = {"q1": ["a", "b"], "q2": ["a", "b"]}
    options: dict[str, Any] = {"collection": 2}
    skipped = evaluate(judgements, run, text, policy={"empty": "skip"}, **options)
    alone = evaluate({"q2": {"a": 1}}, {"q2": ["a", "b"]}, text, **options)
    assert skipped.value() == alone.value()
    assert np.isnan(skipped.scored().values[skipped.measure()][0])


@pytest.mark.parametrize("text", ["nDCG(ideal=cutoff)@{}", "SDCG@{}", "alpha_DCG@{}", "ERR_IA@{}"])
def test_a_cutoff_that_would_take_all_memory(text: str) -> None:
    r = Rankings.from_relevance([[{"s": 1}, {"s": 0}]])
    with pytest.raises(MeasureError, match=f"at most {FARTHEST:,}"):
        parse_measure(text.format(10**15)).compute(r)
