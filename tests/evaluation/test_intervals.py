"""Intervals of the numbers of an evaluation: what they are of, and where they stand."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy import stats

import judged
from judged import Rankings, evaluate
from judged.errors import InputError, JudgedError
from judged.evaluation.evaluation import Evaluation
from judged.evaluation.intervals import summary_range
from judged.statistics.intervals import interval
from judged.statistics.samples import Means
from support.errors import error_of

WARNS = pytest.mark.filterwarnings("ignore::judged.errors.JudgedWarning")
ITEMS = [f"d{number}" for number in range(12)]


def made(seed: int, queries: int = 25) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judgements, and a run with ties."""
    draw = Random(seed)
    judgements = {
        f"q{number}": {item: draw.choice([0, 1, 2]) for item in draw.sample(ITEMS, 6)}
        for number in range(queries)
    }
    for items in judgements.values():
        items["d0"] = 1
    run = {query: {item: draw.randint(1, 9) for item in ITEMS} for query in judgements}
    return judgements, run


def ends(found: Any) -> tuple[float, float]:
    return found.low, found.high


def student(values: Any, level: float = 0.95) -> tuple[float, float]:
    """Student's interval, by scipy."""
    return tuple(
        stats.t.interval(level, len(values) - 1, np.mean(values), stats.sem(values))  # type: ignore[return-value]
    )


@WARNS
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_the_interval_of_a_mean_is_students(level: float) -> None:
    judgements, run = made(1)
    found = evaluate(judgements, run, "AP").showing(intervals=True, level=level)
    values = found.to_frame(per_query=True)["AP"].to_numpy()
    assert ends(found.interval()) == pytest.approx(student(values, level))
    assert found.interval().method == "t"
    assert found.interval().estimate == found.value()


@WARNS
def test_each_summary_has_the_interval_that_suits_it() -> None:
    judgements, run = made(2)
    asked = "AP, Success@1, GMAP, NumRelRet@5, F(average=means)@5, MedR, Rank(of=all)"
    found = evaluate(judgements, run, asked).showing(intervals=True)
    intervals = found.intervals()
    assert intervals["measure"].to_list() == list(found.labels)
    methods = ["t", "wilson", "log t", "t", "bca", "order", "bca"]
    assert intervals["method"].to_list() == methods
    assert intervals["note"].null_count() == len(methods)
    assert (intervals["low"] <= intervals["estimate"]).all()
    assert (intervals["high"] >= intervals["estimate"]).all()
    assert intervals["estimate"].to_list() == [found.value(name) for name in found.labels]


@WARNS
def test_the_interval_of_a_sum_is_cut_where_sums_end() -> None:
    judgements, run = made(4)
    found = evaluate(judgements, run, "AP(aggregate=sum), NumRelRet@1").showing(intervals=True)
    low, high = ends(found.interval("AP(aggregate=sum)"))
    assert 1 < low < found.value("AP(aggregate=sum)") < high
    few = Rankings.from_relevance([[0, 1], [0, 1], [1]]).evaluate("NumRelRet@1")
    assert few.interval().low == 0.0


def test_a_value_beyond_the_range_is_not_cut_off() -> None:
    values = np.array([1.0, 0.5, 0.0])
    assert summary_range(values, (0, 1), "mean") == (0, 1)
    assert summary_range(values, (0, 1), "sum") == (0, 3)
    values[0] = -1.0
    assert summary_range(values, (0, 1), "mean") == (-math.inf, 1)
    other = Rankings.from_relevance([[1], [0, 1], [0, 0, 1], [1]]).evaluate("RR")
    other.scored().values[judged.RR][0] = -1.0
    alone = other.interval()
    assert alone.low < 0
    beside = other.beside(other, names=["one", "two"])
    assert ends(beside.compare().interval(run="one")) == ends(alone)


@WARNS
@pytest.mark.parametrize("policy", [{"missing": "skip"}, {"empty": "skip"}, {}])
def test_queries_that_do_not_count_are_left_out(policy: dict[str, str]) -> None:
    judgements, run = made(5)
    del run["q3"], run["q4"]
    judgements["q5"] = {"d1": 0}
    found = evaluate(judgements, run, "AP", policy=policy).showing(intervals=True)
    values = found.to_frame(per_query=True)["AP"].drop_nulls().to_numpy()
    assert len(values) == {"missing": 23, "empty": 24}.get(next(iter(policy), ""), 25)
    assert ends(found.interval()) == pytest.approx(student(values))


@WARNS
def test_weights_count() -> None:
    judgements, run = made(7)
    draw = Random(7)
    weights = {query: draw.uniform(0.5, 3) for query in judgements}
    weights["q1"] = 0.0
    found = evaluate(judgements, run, "AP", weights=weights).showing(intervals=True)
    values = found.to_frame(per_query=True)["AP"].drop_nulls().to_numpy()
    w = np.array([weights[query] for query in judgements if weights[query]])
    sample = Means.of_values(values, "mean", w)
    assert ends(found.interval()) == pytest.approx(ends(interval(sample, range=(0, 1))))
    equal = evaluate(judgements, run, "AP", weights=dict.fromkeys(judgements, 3.0)).showing(
        intervals=True
    )
    assert equal.interval() == evaluate(judgements, run, "AP").showing(intervals=True).interval()


@WARNS
def test_groups_are_what_is_independent() -> None:
    judgements, run = made(8)
    groups = {query: int(query[1:]) % 5 for query in judgements}
    found = evaluate(judgements, run, "AP").showing(groups=groups, intervals=True)
    values = found.to_frame(per_query=True)["AP"].to_numpy()
    sums = np.bincount(np.arange(25) % 5, values - values.mean())
    half = stats.t.ppf(0.975, 4) * math.sqrt(5 / 4 * np.sum(sums**2)) / 25
    assert ends(found.interval()) == pytest.approx((values.mean() - half, values.mean() + half))
    usual = evaluate(judgements, run, "AP")
    assert usual.interval(groups=groups) == found.interval()
    assert "95 % interval: t, by 5 groups of 25 queries; " in found.to_text().splitlines()[-1]
    assert (found.to_dict()["level"], found.to_dict()["groups"]) == (0.95, 5)
    # Each query a group of its own changes nothing.
    own = evaluate(judgements, run, "AP").showing(groups={q: q for q in judgements}, intervals=True)
    assert ends(own.interval()) == pytest.approx(ends(usual.interval()))


@WARNS
def test_random_orders_of_ties_add_their_standard_error() -> None:
    judgements, run = made(10)
    for items in run.values():
        items.update(dict.fromkeys(ITEMS, 1))  # everything ties
    found = evaluate(judgements, run, "ERR", policy={"ties": "expected"}).showing(intervals=True)
    scored = found.scored()
    error = scored.summary_errors[found.measure()]
    values = found.to_frame(per_query=True)["ERR"].to_numpy()
    assert error > 0
    plain = student(values)
    assert found.interval().high - found.interval().low > plain[1] - plain[0]


@WARNS
def test_tables_and_files() -> None:
    judgements, run = made(12)
    other = made(13)[1]
    usual = evaluate(judgements, {"one": run, "two": other}, "AP, Success@1")
    found = evaluate(judgements, {"one": run, "two": other}, "AP, Success@1").showing(
        intervals=True
    )
    names = ["AP", "AP low", "AP high", "Success@1", "Success@1 low", "Success@1 high"]
    assert found.to_frame().columns == ["run", *names]
    assert found.to_frame()["AP low"].to_list() == [
        found.interval("AP", name).low for name in ("one", "two")
    ]
    header, rows = found.tables()[0]
    assert header == ["run", "measure", "value", "low", "high"]
    low, high = ends(found.interval("AP", "one"))
    assert rows[0] == ["one", "AP", *(f"{at:.4f}" for at in (found.value("AP", "one"), low, high))]
    assert [row[:2] for row in rows] == [
        [run, name] for run in ("one", "two") for name in ("AP", "Success@1")
    ]
    assert found.to_csv(quiet=True).splitlines()[0] == ",".join(["run", *names])
    # What is about queries, and TREC's lines, are as without.
    assert found.to_trec(per_query=True) == usual.to_trec(per_query=True)
    assert found.to_csv(per_query=True) == usual.to_csv(per_query=True)
    assert found.to_frame(per_query=True).equals(usual.to_frame(per_query=True))
    per_query = found.tables(per_query=True)[0]
    assert per_query.header == ["run", "query", "measure", "value", "low", "high"]
    assert per_query.rows[0][3:] == [f"{found.to_frame(per_query=True)['AP'][0]:.4f}", "–", "–"]
    assert ["one", "all", "AP", *rows[0][2:]] in per_query.rows
    assert "interval" not in usual.to_json()
    assert "interval" not in usual.methods()


@WARNS
@pytest.mark.parametrize("per_query", [False, True])
def test_beside_ranges(per_query: bool) -> None:
    judgements, run = made(15)
    found = evaluate(judgements, run, "AP, RR").showing(
        intervals=True, tie_range=True, unjudged_range=True
    )
    header, rows = found.tables(per_query=per_query)[0]
    others = ["worst", "expected", "best", "unjudged irrelevant", "unjudged relevant"]
    words = ["run", *(["query"] if per_query else []), "measure"]
    assert header == [*words, "value", "low", "high", *others]
    whole = dict(zip(header, rows[-1], strict=True))
    tied, bounds = found.tie_range("RR"), found.interval("RR")
    assert [whole[name] for name in ("value", "low", "high", "worst", "best")] == [
        f"{at:.4f}" for at in (found.value("RR"), *ends(bounds), tied.worst, tied.best)
    ]
    assert found.to_frame().columns[1:5] == ["AP", "AP low", "AP high", "AP worst"]
    weighted = evaluate(judgements, run, "AP", weights=dict.fromkeys(judgements, 2)).showing(
        intervals=True
    )
    assert weighted.tables(per_query=True)[0].header[:4] == ["run", "query", "weight", "measure"]


@WARNS
def test_what_is_said() -> None:
    judgements, run = made(18)
    found = evaluate(judgements, run, "AP, Success@1, MedR").showing(intervals=True)
    told = "Student's t (AP); Wilson's interval of a share (Success@1); order statistics, exact by "
    told += "the binomial distribution (MedR)"
    assert f"intervals: 95 %: {told}" in found.sentences()
    assert f"Intervals: 95 %: {told}." in found.methods()
    assert "Interval: 95 %: Student's t." in found.definition("AP").splitlines()
    brief = found.to_text().splitlines()[-1]
    assert brief.startswith("25 queries; 95 % interval: t (AP), wilson (Success@1), order (MedR); ")
    assert f"Intervals: 95 %: {told}." in found.to_markdown()
    alone = evaluate(judgements, run, "AP").showing(intervals=True, level=0.999).to_text()
    assert alone.splitlines()[-1].startswith("25 queries; 99.9 % interval: t; ")


def test_a_measure_whose_methods_differ_by_run_names_the_runs() -> None:
    judgements = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    first = {query: ["a"] for query in judgements}
    later = {"q1": ["a"], "q2": ["b", "a"], "q3": ["b", "c", "a"]}
    found = evaluate(judgements, {"one": first, "two": later}, "RR").showing(intervals=True)
    assert found.interval(run="one").method == "wilson"
    assert (
        found.to_text()
        .splitlines()[-1]
        .startswith("3 queries; 95 % interval: wilson (RR of one), t (RR of two); ")
    )


@pytest.mark.parametrize(
    ("lists", "measure", "why"),
    [
        ([[0, 1]], "RR", "one query alone says nothing of how others would spread"),
        (
            [[0, 1], [0, 1]],
            "RR",
            "all queries have the same value, which says nothing of how others would spread",
        ),
        (
            [[0, 1], [1], [1]],
            "MedR",
            "3 queries are too few for a 95 % interval of a median, which takes 6",
        ),
    ],
)
def test_why_there_is_no_interval(lists: list[list[int]], measure: str, why: str) -> None:
    found = Rankings.from_relevance(lists).evaluate(measure).showing(intervals=True)
    interval = found.interval()
    assert interval.note == why
    assert math.isnan(interval.low)
    assert found.to_frame().row(0)[2:] == (None, None)
    assert found.tables()[0].rows[0][-2:] == ["–", "–"]
    entry = found.to_dict()["runs"][0]["intervals"][measure]
    assert (entry["low"], entry["high"], entry["note"]) == (None, None, why)
    assert f"no interval of {measure}: {why}; " in found.to_text().splitlines()[-1]
    assert f"intervals: no interval of {measure}: {why}" in found.sentences()
    assert found.intervals()["note"].to_list() == [why]


def test_an_infinite_mean_has_none() -> None:
    judgements = {f"q{at}": {"a": 1} for at in range(8)}
    run = {query: ["a"] if query != "q3" else ["b"] for query in judgements}
    with pytest.warns(judged.errors.JudgedWarning):
        found = evaluate(judgements, run, "Rank, Rank(of=all), MedR").showing(intervals=True)
    why = "infinite for 1 of 8 queries; {} can have one"
    assert found.interval("Rank").note == why.format("Rank(aggregate=median)")
    assert found.interval("Rank(of=all)").note == why.format("Rank(of=all, aggregate=median)")
    assert found.interval("Rank").estimate == math.inf
    assert found.to_dict()["runs"][0]["intervals"]["Rank"]["low"] is None
    assert ends(found.interval("MedR")) == (1.0, math.inf)


def test_no_query_counts() -> None:
    found = (
        Rankings.from_relevance([[0, 0]])
        .evaluate("AP", policy={"empty": "skip"})
        .showing(intervals=True)
    )
    assert found.interval().note == "no query counts"
    assert found.intervals().row(0)[2:] == (None, None, None, None, "no query counts")


REFUSED: dict[str, tuple[Callable[[Evaluation], Any], str]] = {
    "t of all": (
        lambda found: found.intervals(method="t"),
        "MedR: t gives no interval of a median; percentile does.",
    ),
    "a method": (
        lambda found: found.interval("AP", method="wald"),
        "method must be one of t, bca, percentile; got 'wald'.",
    ),
    "a group is missing": (
        lambda found: found.interval("AP", groups={"q0": "a", "q1": "b"}),
        "the groups given: 2 queries have no group ('q2', 'q3'); give every query one, if need be "
        "one of its own.",
    ),
}


@WARNS
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    call, message = REFUSED[name]
    found = evaluate(*made(20, queries=4), "AP, MedR, F(average=means)@5")
    assert error_of(call, found, error=JudgedError) == message


@pytest.mark.parametrize("options", [{"level": 0.9}, {"groups": {"q": 1}}])
def test_what_is_about_intervals_alone_is_refused(options: dict[str, Any]) -> None:
    message = "level and groups are about confidence intervals; they need intervals=True."
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR").showing(**options)
