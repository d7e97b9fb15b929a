"""Queries that count by their weights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import judged
from judged.errors import MeasureError
from judged.inputs.tables import Judgements, judgements_of
from judged.measures import REGISTRY, parse_measure
from judged.measures.registry import AGGREGATIONS
from support.errors import error_of
from support.evaluating import evaluate

pytestmark = pytest.mark.filterwarnings("ignore::judged.JudgedWarning")

MEASURES = [
    *("AP", "nDCG@10", "RR", "P@3", "R@5", "F@3", "F(average=means)@3", "Success@1", "ERR@5"),
    *(
        "Rank",
        "Rank(of=all)",
        "Rank(of=last)",
        "Rank(aggregate=median)",
        "Rank(of=all,aggregate=median)",
    ),
    *("AP(aggregate=geometric)", "nDCG(aggregate=median)@5", "Bpref", "NumRet(aggregate=mean)"),
]
Data = tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]


def made(seed: int, queries: int = 9, *, ties: bool = False) -> Data:
    """Judgements and a run; some queries have nothing relevant, one is missing."""
    rng = np.random.default_rng(seed)
    items = [f"d{number}" for number in range(12)]
    judgements, run = {}, {}
    for number in range(queries):
        judgements[f"q{number}"] = {
            item: int(rng.integers(0, 3) * (number != 1)) for item in rng.choice(items, 6, False)
        }
        size = 8 if seed % 2 else 12  # some relevant items are not retrieved, or all are
        scores = map(float, rng.integers(0, 4, size) if ties else rng.normal(size=size))
        run[f"q{number}"] = dict(zip(rng.choice(items, size, False), scores, strict=True))
    del run["q3"]
    return judgements, run


def values(data: Data, **options: Any) -> dict[str, float]:
    return summary(evaluate(*data, MEASURES, **options))


def summary(found: judged.Evaluation) -> dict[str, float]:
    return found.to_frame().drop("run").row(0, named=True)


def repeated(data: Data, weights: dict[str, int]) -> Data:
    """Each query as often as its weight says."""
    times = [(f"{query}.{at}", query) for query, count in weights.items() for at in range(count)]
    return tuple(  # type: ignore[return-value]
        {name: part[query] for name, query in times if query in part} for part in data
    )


@pytest.mark.parametrize("policy", [{}, {"missing": "skip", "empty": "skip"}, {"empty": "one"}])
@pytest.mark.parametrize("seed", range(4))
def test_integer_weights_repeat_queries(seed: int, policy: dict[str, str]) -> None:
    data = made(seed)
    rng = np.random.default_rng([seed, 1])
    weights = {query: int(rng.integers(0, 5)) + (query == "q0") for query in data[0]}
    found = values(data, weights=weights, policy=policy)
    assert found == pytest.approx(values(repeated(data, weights), policy=policy), rel=1e-12)


@pytest.mark.parametrize("weight", [1, 0.1, 7e-300, 1e308])
def test_equal_weights_change_no_bit(weight: float) -> None:
    data = made(5)
    assert values(data, weights=dict.fromkeys(data[0], weight)) == values(data)


@pytest.mark.parametrize("factor", [3, 0.1, 1e300, 1e-300])
def test_the_scale_of_weights_does_not_matter(factor: float) -> None:
    data = made(6)
    rng = np.random.default_rng(6)
    weights = {query: float(rng.uniform(0, 5)) for query in data[0]}
    scaled = {query: weight * factor for query, weight in weights.items()}
    assert values(data, weights=scaled) == pytest.approx(values(data, weights=weights), rel=1e-12)
    doubled = {query: weight * 2 for query, weight in weights.items()}
    assert values(data, weights=doubled) == values(data, weights=weights)


def test_a_weight_of_0_takes_a_query_out() -> None:
    judgements, run = made(7)
    weights = {query: float(query != "q2") for query in judgements}
    found = evaluate(judgements, run, MEASURES, weights=weights)
    without = {query: items for query, items in judgements.items() if query != "q2"}
    assert values((judgements, run), weights=weights) == values((without, run))
    assert "1 judged query of weight 0: not counted." in found.audit["run"].notes
    assert found.to_frame(per_query=True).filter(query="q2").row(0)[3:] == (None,) * len(MEASURES)
    assert "Summaries are over 8 of the 9 judged queries." in found.methods()


def test_worked_by_hand() -> None:
    judgements = {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1}}
    run = {"a": ["x"], "b": ["y", "x"], "c": ["y", "z", "w", "x"]}  # RR 1, 1/2 and 1/4
    weights = {"a": 1, "b": 2, "c": 5}
    asked = ["RR", "RR(aggregate=median)", "RR(aggregate=geometric)", "Rank(aggregate=median)"]
    found = evaluate(judgements, run, asked, weights=weights)
    assert found.value("RR") == pytest.approx((1 + 2 / 2 + 5 / 4) / 8)
    assert found.value("RR(aggregate=median)") == 0.25
    assert found.value("RR(aggregate=geometric)") == pytest.approx(2 ** -(12 / 8))
    assert found.value("Rank(aggregate=median)") == 4
    halves = evaluate(judgements, run, asked, weights={"a": 0.1, "b": 0.2, "c": 0.3})
    assert halves.value("RR(aggregate=median)") == 0.375  # half of the weight is c's


def test_an_infinite_rank_of_little_weight_is_infinite() -> None:
    judgements = {"a": {"x": 1}, "b": {"x": 1}}
    found = evaluate(judgements, {"a": ["x"]}, "Rank", weights={"a": 1e300, "b": 1e-300})
    assert found.value() == math.inf
    found = evaluate(judgements, {"a": ["x"]}, "Rank", weights={"a": 1, "b": 0})
    assert found.value() == 1


@pytest.mark.parametrize("name", ["mean", "geometric", "median"])
def test_standard_errors(name: str) -> None:
    """The spread of a summary when its values spread as their errors say."""
    rng = np.random.default_rng(9)
    values, errors = rng.uniform(0.2, 1, 9), rng.uniform(0.0001, 0.001, 9)
    weights = rng.uniform(0.1, 4, 9)
    aggregation = AGGREGATIONS[name]
    drawn = [aggregation(rng.normal(values, errors), weights) for _ in range(4000)]
    expected = aggregation.standard_error(values, errors, weights)
    assert np.std(drawn) == pytest.approx(expected, rel=0.08)
    equal = aggregation.standard_error(values, errors, np.full(9, 3.0))
    assert equal == aggregation.standard_error(values, errors)


def test_ranges_and_estimates_are_weighted_too() -> None:
    judgements, run = made(11, ties=True)
    weights = {query: 1 + number % 4 for number, query in enumerate(judgements)}
    options: dict[str, Any] = {"tie_range": True, "unjudged_range": True}
    asked = ["AP", "nDCG@5", "Rank(aggregate=median)", "F(average=means)@3"]
    found = evaluate(judgements, run, asked, weights=weights, **options)
    again = evaluate(*repeated((judgements, run), weights), asked, **options)
    for measure in asked:
        assert found.tie_range(measure) == pytest.approx(again.tie_range(measure), rel=1e-12)
        assert found.unjudged_range(measure) == pytest.approx(
            again.unjudged_range(measure), rel=1e-12
        )
    many = {"q": {"a": 2, "b": 1, "c": 0, "d": 1}, "p": {"a": 1}}
    tied = {"q": dict.fromkeys("abcdefghij", 0.5), "p": {"a": 1.0}}
    estimate = evaluate(
        many, tied, "ERR", weights={"q": 1, "p": 3}, policy={"ties": "expected"}
    ).scored()
    [measure] = estimate.errors
    assert estimate.summary_errors[measure] == pytest.approx(estimate.errors[measure][0] / 4)


@pytest.mark.parametrize("policy", [{"ties": "best"}, {"unjudged": "removed"}])
@pytest.mark.parametrize("depth", [None, 3])
def test_weights_stay_when_rankings_are_made_otherwise(
    policy: dict[str, str], depth: int | None
) -> None:
    judgements, run = made(12, ties=True)
    weights = {query: 1 + number % 4 for number, query in enumerate(judgements)}
    found = values((judgements, run), weights=weights, policy=policy, depth=depth)
    again = values(repeated((judgements, run), weights), policy=policy, depth=depth)
    assert found == pytest.approx(again, rel=1e-12)
    ranked = judged.Rankings.from_run(judgements, run, policy={"depth": depth})
    later = ranked.evaluate(MEASURES, policy=policy, weights=weights)
    assert summary(later) == pytest.approx(found, rel=1e-12)


def test_what_is_said() -> None:
    judgements = {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1}}
    run = {"a": ["x"], "b": ["y", "x"], "c": ["y", "z"]}
    found = evaluate(judgements, run, ["RR"], weights={"a": 1, "b": 1, "c": 2, "z": 1})
    said = "queries are weighted by the weights given; effective number of queries (Kish) 2.7 of 3"
    assert f"weights: {said}" in found.sentences()
    assert f"{said[0].upper()}{said[1:]}." in found.methods()
    assert said in found.to_markdown()
    assert found.audit["run"].notes[-1] == "1 weight of queries without judgements ignored (z)."
    assert found.to_dict(per_query=True)["runs"][0]["weights"] == {
        "source": "the weights given",
        "effective_queries": {"RR": pytest.approx(16 / 6)},
        "per_query": {"a": 1.0, "b": 1.0, "c": 2.0},
    }
    assert found.to_text(per_query=True).splitlines()[:5] == [
        "run  query  weight      RR",
        "run  a      1.0000  1.0000",
        "run  b      1.0000  0.5000",
        "run  c      2.0000  0.0000",
        "run  all         –  0.3750",
    ]
    assert found.to_csv(per_query=True).splitlines()[:2] == ["run,query,weight,RR", "run,a,1.0,1.0"]
    assert "weights" not in evaluate(judgements, run, ["RR"]).to_dict()["runs"][0]


def test_warnings() -> None:
    judgements = {"a": {"x": 1}, "b": {"x": 1}}
    run = {"a": ["x"], "b": ["y"]}
    heavy = evaluate(judgements, run, "RR", weights={"a": 3, "b": 1})
    assert heavy.warnings() == ["Query 'a' has 75% of all weight, so it dominates all means."]
    assert evaluate(judgements, run, "RR", weights={"a": 1, "b": 1}).warnings() == []
    theirs = evaluate(judgements, run, "mrr", weights={"a": 1, "b": 1}, convention="ranx")
    assert theirs.warnings() == [
        "ranx has no query weights: each query's value is as ranx computes it, and judged weights "
        "their mean."
    ]
    items = [f"d{number}" for number in range(4)]
    wide = {"a": dict.fromkeys(items, 1), "b": dict.fromkeys(items[:2], 1)}
    run = {"a": items, "b": items}

    def told(measure: str, **weights: int) -> str:
        return " ".join(evaluate(wide, run, measure, weights=weights).warnings())

    assert "R@1 cannot exceed 0.38." in told("R@1", a=1, b=1)
    assert "R@1 cannot exceed 0.44." in told("R@1", a=1, b=3)  # 1/4 · 1/4 + 3/4 · 1/2
    assert "cannot exceed 0.5. Use" in told("Success(of=all)@3", a=1, b=1)
    assert "cannot exceed 0.75. Use" in told("Success(of=all)@3", a=1, b=3)
    assert "cannot exceed" not in told("Success(of=all)@3", a=0, b=3)


def test_a_small_effective_number_has_no_interval_and_a_warning() -> None:
    # One of 50 queries has half of the weight: they count as 1/(1/4 + 49/98²) = 3.9.
    judgements = {f"q{number:02}": {"x": 1} for number in range(50)}
    run = {query: ["y"] * (at % 7) + ["x"] for at, query in enumerate(judgements)}
    run = {
        query: [f"{item}{at}" * (item == "y") or item for at, item in enumerate(items)]
        for query, items in run.items()
    }
    weights = dict.fromkeys(judgements, 1.0) | {"q00": 49.0}
    found = evaluate(judgements, run, ["RR", "MedR"], weights=weights).showing(intervals=True)
    note = (
        "50 queries count as 3.9 of equal weight (Kish), too few for a 95 % interval, which takes 6"
    )
    assert found.interval("RR").note == found.interval("MedR").note == note
    few = (
        "RR and MedR: 50 queries count as 3.9 queries of equal weight (Kish), which are few (below "
        "20), so intervals are wide and approximate. Use more queries."
    )
    assert few in found.warnings()
    plain = evaluate(judgements, run, ["RR", "MedR"], weights=weights)
    assert few not in plain.warnings()
    groups = {query: int(query[1:]) // 5 for query in judgements}
    grouped = evaluate(judgements, run, "RR").showing(groups=groups, intervals=True)
    assert "RR: 50 queries in 10 groups are few (below 20)" in " ".join(grouped.warnings())
    few = dict(list(judgements.items())[:9])
    for equal in (None, dict.fromkeys(few, 3.0)):
        assert evaluate(few, run, "RR", weights=equal).showing(intervals=True).warnings() == []


def test_how_far_ties_move_a_weighted_mean() -> None:
    judgements = {"a": {"x": 1}, "b": {"x": 1}}
    run = {"a": {"x": 1.0, "y": 1.0}, "b": {"x": 1.0}}  # RR of a is 1/2 or 1
    found = evaluate(judgements, run, "RR", weights={"a": 1, "b": 9})
    assert any("changes RR by up to 0.0500 (see" in text for text in found.warnings())


@pytest.mark.parametrize(
    "measure", [name for name, spec in REGISTRY.items() if spec.param("aggregate").default == "sum"]
)
def test_sums_are_refused(measure: str) -> None:
    collection = 10 if measure == "TN" else None
    with pytest.raises(MeasureError) as refused:
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, measure, weights={"q": 1}, collection=collection)
    asked = parse_measure(measure)
    assert str(refused.value) == (
        f"{asked} is a sum over the queries, for which weights have no one meaning; leave it out, "
        f"or ask for its mean, {asked(aggregate='mean')}."
    )


def test_missing_weights_are_refused_by_name() -> None:
    assert error_of(evaluate, {"q": {"a": 1}, "p": {"a": 1}}, {"q": ["a"]}, weights={"q": 1}) == (
        "the weights given: 1 judged query has no weight ('p'); give every judged query one, 0 for "
        "one that is not to count."
    )


def of_table(weight: list[float], items: list[str | None] | None = None) -> Judgements:
    """Judgements whose table has a column of weights; the last query has nothing in it."""
    columns = {
        "query": ["a", "a", "b", "c"],
        "item": items or ["x", "y", "x", None],
        "grade": [1.0, 0.0, 1.0, None],
        "weight": weight,
    }
    return judgements_of(Judgements(pl.DataFrame(columns, strict=False), "qrels.csv"))


def test_a_column_of_the_judgements() -> None:
    run = {"a": ["x"], "b": ["y", "x"], "c": ["x"]}
    judgements = of_table([1, 1, 2, 5])
    found = evaluate(judgements, run, "RR")
    assert found.value() == pytest.approx((1 + 2 / 2 + 0) / 8)
    assert any("weighted by a column of qrels.csv;" in line for line in found.sentences())
    assert judged.Rankings.from_run(judgements, run).evaluate("RR").value() == found.value()
    categories = {"x": "x", "y": "z"}
    assert evaluate(judgements, run, "RR", unique=categories).value() == found.value()
    compared = judged.compare_conventions(judgements, run, "RR")
    assert "The weights of queries are not used here: every query counts once." in (
        compared.warnings()
    )
    assert error_of(evaluate, judgements, run, "RR", weights={"a": 1, "b": 1, "c": 1}) == (
        "the judgements have weights of queries (a column of qrels.csv), and weights were given "
        "too; give one of them."
    )


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 2, 1, 1], ": query 'a' has the weights 1 and 2; a query has one."),
        (
            [1, 1, -1, 1],
            ", row 3: the weight of query 'b' is -1; a weight is a finite number from 0.",
        ),
        (
            [1, 1, None, 1],
            ", row 3: the weight of query 'b' is missing; a weight is a finite number from 0.",
        ),
        (
            [1, 1, math.nan, 1],
            ", row 3: the weight of query 'b' is nan; a weight is a finite number from 0.",
        ),
    ],
)
def test_columns_of_weights_that_are_refused(weight: list[float], message: str) -> None:
    assert error_of(of_table, weight) == f"qrels.csv{message}"
