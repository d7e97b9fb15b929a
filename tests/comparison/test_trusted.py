"""Differences by cheap judgements of all queries, corrected by trusted ones of some."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import judged
from judged.errors import InputError
from judged.evaluation.trusted import WITHOUT
from judged.statistics.prediction_powered import powered
from judged.statistics.t import against_zero
from support.cheap_judges import judged_twice
from support.errors import error_of

pytestmark = pytest.mark.filterwarnings("ignore:.*errors that rare")
DATA = judged_twice()


def compared(measures: str = "nDCG@10", **options: Any) -> judged.Comparison:
    given = {"trusted": DATA.people, **options}
    return judged.compare(DATA.cheap, given.pop("runs", DATA.runs), measures, **given)


def differences(judgements: dict[str, Any], measure: str) -> dict[str, float]:
    found = judged.evaluate(judgements, DATA.runs, measure).to_frame(per_query=True)
    one, two = (found.filter(found["run"] == run)[measure].to_numpy() for run in ("one", "two"))
    return dict(zip(judgements, (two - one).tolist(), strict=True))


@pytest.mark.parametrize("measure", ["nDCG@10", "P@5"])
def test_a_pair_is_about_the_corrected_difference(measure: str) -> None:
    people, cheap = differences(DATA.people, measure), differences(DATA.cheap, measure)
    columns = [np.array(list(each.values()))[:, None] for each in (people, cheap)]
    expected = powered(*columns, np.array([query in people for query in cheap]))
    tested = against_zero(expected.spread, (0.95,))
    pair = compared(measure).pair()
    assert pair.test == pair.interval.method == "prediction-powered"
    assert pair.difference == pytest.approx(expected.spread.mean[0])
    assert pair.value - pair.against_value == pytest.approx(pair.difference)
    assert pair.p == pytest.approx(tested.p[0])
    assert (pair.interval.low, pair.interval.high) == pytest.approx(
        (tested.low[0, 0], tested.high[0, 0])
    )
    assert (pair.verdict == "better") == (tested.p[0] < 0.05)
    assert pair.trusted is not None
    assert pair.trusted.weight == pytest.approx(expected.weight[0])
    assert pair.trusted.corrected == pair.interval
    assert pair.trusted.cheap == pytest.approx(np.mean(list(cheap.values())))


@pytest.mark.parametrize("measure", ["nDCG@10", "GMAP"])
def test_beside_it_stands_what_people_alone_have(measure: str) -> None:
    alone = judged.compare(DATA.people, DATA.runs, measure).pair()
    pair = compared(measure).pair()
    own = pair.trusted
    assert own is not None
    assert pair.value - pair.against_value == pytest.approx(pair.difference)
    assert pair.interval.low < pair.difference < pair.interval.high
    assert own.trusted == alone.interval
    assert own.trusted_queries == alone.queries


def test_runs_have_the_numbers_of_evaluate() -> None:
    found = compared("RR")
    evaluated = judged.evaluate(DATA.cheap, DATA.runs, "RR", trusted=DATA.people)
    for run in DATA.runs:
        assert found.value("RR", run) == evaluated.value("RR", run)
        assert found.interval("RR", run).low == pytest.approx(evaluated.interval("RR", run).low)
    assert found.leaderboard()[0].run == "two"
    assert evaluated.compare().pair() == found.pair()
    assert evaluated.compare(level=0.8).interval("RR", "one").low > found.interval("RR", "one").low


def test_a_margin_goes_by_the_corrected_interval() -> None:
    pair = compared("P@5").pair()
    assert compared("P@5", margin=0.9).pair().negligible
    assert not compared("P@5", margin=pair.difference / 2).pair().negligible


def test_too_few_trusted_queries_that_differ_say_nothing() -> None:
    cheap = {str(at): {"a": at % 2, "b": 1 - at % 2} for at in range(60)}
    people = {str(at): {"a": 1, "b": 1 if at > 2 else 0} for at in range(25)}
    runs = {
        "up": {str(at): ["a", "b"] if at > 2 else ["b", "a"] for at in range(60)},
        "down": {str(at): ["a", "b"] for at in range(60)},
    }
    pair = judged.compare(cheap, runs, "P@1", trusted=people).pair()
    assert pair.verdict == "too few"
    assert pair.says.startswith(
        "P@1: only 3 of 25 trusted queries differ between down and up: too few to test"
    )


def test_it_is_in_everything_that_is_shown() -> None:
    found = compared("RR, P@5")
    row = found.to_frame().row(1, named=True)
    own = found.pair(measure="P@5").trusted
    assert own is not None
    assert [
        row[name] for name in ("trusted_queries", "trusted_difference", "cheap_difference")
    ] == [
        30,
        own.trusted.estimate,
        own.cheap,
    ]
    assert (row["weight"], row["narrower"]) == (own.weight, own.narrower)
    record = json.loads(found.to_json())
    assert record["trusted"]["queries"] == 30
    assert record["pairs"][1]["trusted"] == own.to_dict()
    assert record["runs"][0]["trusted"]["RR"]["trusted_queries"] == 30
    text = found.to_text()
    assert "Test: prediction-powered t (PPI++)" in text
    assert "P@5  against  corrected  95 % CI" in text
    assert "Wins, ties and losses are not corrected" in text
    assert "By the trusted judgements alone" in found.pair(measure="P@5").says
    for shown in (found.to_markdown(), found.to_html()):
        assert "trusted" in shown
    with pytest.raises(InputError, match=r"^reports show the values of queries"):
        found.report()
    with pytest.raises(InputError, match=r"^charts show the values of queries"):
        judged.charts.systems(found)
    plain = judged.compare(DATA.cheap, DATA.runs, "RR")
    assert "trusted_queries" not in plain.to_frame().columns
    assert "trusted" not in plain.to_dict()


RUNS = {"a": judged.repeats(*DATA.runs.values()), "b": DATA.runs["one"]}
BESIDE: dict[str, dict[str, Any]] = {
    "groups": {"groups": dict.fromkeys(DATA.cheap, "a")},
    "slices": {"slices": True},
    "unjudged_range": {"unjudged_range": True},
    "repeats": {"runs": RUNS},
}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    **{
        name: (
            options,
            f"trusted does not go with {name}: {WITHOUT[name]}. Leave one of both out.",
        )
        for name, options in BESIDE.items()
    },
    "test": (
        {"test": "sign"},
        "differences that trusted judgements correct are tested by "
        "prediction-powered t (PPI++); sign test would test the uncorrected ones. "
        "Leave out test, or trusted.",
    ),
    "tukey": (
        {"correction": "tukey"},
        "Tukey (two-way) does not support trusted judgements; use correction holm.",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_it_does_not_go_with(name: str) -> None:
    options, message = WRONG[name]
    assert error_of(compared, **options) == (message)


def test_both_runs_need_enough_trusted_queries() -> None:
    lost = list(DATA.people)[:12]
    runs = {
        "one": {query: items for query, items in DATA.runs["one"].items() if query not in lost[:6]},
        "two": {query: items for query, items in DATA.runs["two"].items() if query not in lost[6:]},
    }
    with pytest.warns(judged.errors.JudgedWarning), pytest.raises(InputError) as error:
        compared("RR", runs=runs, policy={"missing": "skip"})
    assert str(error.value) == (
        "RR, two and one: 18 queries have trusted judgements, and a correction takes at least 20; "
        "judge more of them, drawn at random, or leave trusted out."
    )


def test_what_only_cheap_judgements_tell_apart_is_not_shown() -> None:
    alike = {query: dict.fromkeys(DATA.cheap[query], 1) for query in DATA.people}
    pair = compared("P@5", trusted=alike).pair()
    assert pair.wins + pair.losses > 30
    assert (pair.verdict, pair.p, pair.difference) == ("too few", 1.0, 0.0)
    assert pair.says == (
        "P@5: at most 1 of 30 trusted queries differs between two and one: too few "
        "to test. By the trusted judgements alone, the difference is 0.000 (no "
        "confidence interval)."
    )


def test_few_queries_that_differ_are_no_more_with_cheap_values_than_without() -> None:
    """Though the cheap values differ in most of the queries."""
    some = list(DATA.people)[:4]
    alike = {query: dict.fromkeys(DATA.cheap[query], 1) for query in DATA.people}
    people = {**alike, **{query: {"d1": 1} for query in some}}
    runs = {
        "up": {query: ["d1", "d2"] for query in DATA.cheap},
        "down": {query: ["d2", "d1"] for query in DATA.cheap},
    }
    pair = compared("P@1", trusted=people, runs=runs).pair()
    alone = judged.compare(people, runs, "P@1").pair()
    assert pair.trusted is not None
    assert pair.trusted.weight > 0
    assert (pair.verdict, pair.p) == (alone.verdict, alone.p) == ("too few", 0.125)


def test_orders_say_that_they_are_of_corrected_numbers() -> None:
    runs = {**DATA.runs, "three": DATA.runs["one"]}
    found = compared("RR, P@5", runs=runs)
    says = (
        "30 of 80 queries have trusted judgements too (the trusted judgements): they correct "
        "values and verdicts."
    )
    orders = found.orders()
    assert orders.values["RR"]["two"] == found.value("RR", "two")
    assert says in orders.sentences()
    assert orders.to_dict()["notes"] == [says]
    cheap = judged.compare(DATA.cheap, runs, ["RR", "P@5"])
    assert says not in cheap.orders().sentences()


def test_many_runs_are_corrected_for_their_number() -> None:
    runs = {**DATA.runs, "copy": DATA.runs["one"]}
    found = compared("RR, P@5", runs=runs)
    rows = [row for row in found.rows if row.measure == "P@5"]
    assert found.pair("copy", "one", "P@5").verdict == "identical"
    ps = sorted(row.p for row in rows)
    assert min(row.corrected_p for row in rows) == pytest.approx(3 * ps[0])
    found = compared("P@5", runs=runs, baseline="two")
    assert [row.against for row in found.rows] == ["two", "two"]
