"""Cheap judgements of all queries, corrected by trusted ones of some."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import judged
from judged.errors import InputError, JudgedError, MeasureError, PolicyError
from judged.evaluation.trusted import Correction
from judged.statistics.intervals import Interval
from judged.statistics.prediction_powered import powered
from judged.statistics.t import half_widths
from support.cheap_judges import Judged, judged_twice
from support.errors import error_of
from support.evaluating import evaluate

pytestmark = pytest.mark.filterwarnings("ignore:.*errors that rare")
DATA = judged_twice()
RUN = DATA.runs["one"]


def corrected(measures: str = "nDCG@10", data: Judged = DATA, **options: Any) -> judged.Evaluation:
    return evaluate(data.cheap, data.runs["one"], measures, trusted=data.people, **options)


def of_people(measure: str, run: str = "one") -> dict[str, float]:
    return by_query(judged.evaluate(DATA.people, DATA.runs[run], measure), measure)


def of_all(measure: str, run: str = "one") -> dict[str, float]:
    return by_query(judged.evaluate(DATA.cheap, DATA.runs[run], measure), measure)


def by_query(found: judged.Evaluation, measure: str) -> dict[str, float]:
    return dict(found.to_frame(per_query=True).select("query", measure).rows())


@pytest.mark.parametrize("measure", ["nDCG@10", "RR", "P@5", "Bpref"])
def test_a_number_is_the_corrected_mean_of_its_queries(measure: str) -> None:
    people, cheap = of_people(measure), of_all(measure)
    columns = [np.array(list(each.values()))[:, None] for each in (people, cheap)]
    expected = powered(*columns, np.array([query in people for query in cheap]))
    found = corrected(measure)
    mean, half = expected.spread.mean[0], half_widths(expected.spread, 0.95)[0]
    correction = found.correction()
    assert found.value() == correction.corrected.estimate == pytest.approx(mean)
    assert correction.weight == pytest.approx(expected.weight[0])
    assert correction.corrected.low == pytest.approx(max(mean - half, 0))
    assert correction.corrected.high == pytest.approx(min(mean + half, 1))
    assert found.interval() == correction.corrected
    assert correction.cheap == pytest.approx(np.mean(list(cheap.values())))
    assert (correction.queries, correction.trusted_queries) == (80, 30)


@pytest.mark.parametrize("measure", ["nDCG@10", "GMAP", "Success@1"])
def test_beside_it_stands_what_people_alone_have(measure: str) -> None:
    alone = judged.evaluate(DATA.people, RUN, measure).showing(intervals=True).interval()
    assert corrected(measure).correction().trusted == alone


def test_a_geometric_mean_is_corrected_by_its_logarithms() -> None:
    people, cheap = of_people("AP"), of_all("AP")
    logs = [np.log(np.maximum(list(each.values()), 1e-5))[:, None] for each in (people, cheap)]
    expected = powered(*logs, np.array([query in people for query in cheap]))
    mean, half = expected.spread.mean[0], half_widths(expected.spread, 0.95)[0]
    found = corrected("GMAP").correction().corrected
    assert found.estimate == pytest.approx(math.exp(mean))
    assert found.low == pytest.approx(math.exp(mean - half))


def test_weights_count_on_both_sides() -> None:
    weights = {query: 1.0 + at % 5 for at, query in enumerate(DATA.cheap)}
    people, cheap = of_people("RR"), of_all("RR")
    columns = [np.array(list(each.values()))[:, None] for each in (people, cheap)]
    judged_too = np.array([query in people for query in cheap])
    expected = powered(*columns, judged_too, np.array([weights[query] for query in cheap]))
    found = corrected("RR", weights=weights)
    assert found.value() == pytest.approx(expected.spread.mean[0])
    alone = (
        judged.evaluate(DATA.people, RUN, "RR", weights=weights).showing(intervals=True).interval()
    )
    assert found.correction().trusted.estimate == pytest.approx(alone.estimate)
    assert found.correction().trusted.low == pytest.approx(alone.low)


def test_it_is_in_everything_that_is_shown() -> None:
    found = judged.evaluate(DATA.cheap, DATA.runs, "RR, P@5", trusted=DATA.people).showing(
        level=0.9
    )
    frame = found.to_frame()
    beside = ("", " low", " high", " trusted", " trusted low", " trusted high", " cheap")
    assert frame.columns == ["run", *(f"{m}{each}" for m in ("RR", "P@5") for each in beside)]
    own = found.correction("P@5", "two")
    row = frame.row(1, named=True)
    assert row["P@5"] == own.corrected.estimate == found.value("P@5", "two")
    assert (row["P@5 low"], row["P@5 high"]) == (own.corrected.low, own.corrected.high)
    assert (row["P@5 trusted"], row["P@5 cheap"]) == (own.trusted.estimate, own.cheap)
    header = found.to_text(quiet=True).splitlines()[0].split("  ")
    assert [each.strip() for each in header if each] == [
        *("run", "measure", "corrected", "low", "high"),
        *("trusted", "trusted low", "trusted high", "cheap"),
    ]
    record = json.loads(found.to_json(per_query=True))
    assert record["trusted"] == {"source": "the trusted judgements", "queries": 30}
    assert record["level"] == 0.9
    assert record["runs"][1]["scores"]["P@5"] == own.corrected.estimate
    assert record["runs"][1]["trusted"]["P@5"] == own.to_dict()
    values = record["runs"][1]["trusted_per_query"]
    assert [query for query, each in values.items() if each["P@5"] is not None] == list(DATA.people)
    assert "30 of 80 queries have trusted judgements too" in found.methods()
    assert "random sample of all queries" in found.definition("RR")
    assert found.to_trec().splitlines()[1] == f"RR\tall\t{found.value('RR', 'one')!r}"


def test_queries_have_what_both_judgements_say_of_them_under_their_names() -> None:
    found = corrected("RR")
    cheap, people = of_all("RR"), of_people("RR")
    frame = found.to_frame(per_query=True)
    assert frame.columns == ["run", "query", "RR cheap", "RR trusted"]
    assert dict(frame.select("query", "RR cheap").rows()) == cheap
    assert dict(frame.select("query", "RR trusted").drop_nulls().rows()) == people
    run = found.to_dict(per_query=True)["runs"][0]
    assert "per_query" not in run
    assert {query: each["RR"] for query, each in run["cheap_per_query"].items()} == cheap
    header, rows = found.tables(per_query=True)[0]
    assert header[3:] == ["corrected", *found.columns_beside]
    query = next(iter(people))
    row = next(row for row in rows if row[1] == query)
    assert row[3:] == ["–", "–", "–", f"{people[query]:.4f}", "–", "–", f"{cheap[query]:.4f}"]
    assert (rows[-1][1], rows[-1][3]) == ("all", f"{found.value():.4f}")
    assert error_of(found.to_trec, per_query=True) == (
        "TREC text has one value for each query, and there are two, by the cheap and by the "
        "trusted judgements; leave per_query out, or choose another format, such as "
        "CSV."
    )


def test_another_level_of_one_interval() -> None:
    narrow, wide = corrected("RR", level=0.5).interval(), corrected("RR").interval(level=0.5)
    assert narrow == wide
    assert error_of(corrected("RR").interval, method="bca") == (
        "the interval of a corrected number has no other method and no groups; leave them out, or "
        "trusted."
    )


def test_which_interval_is_narrower() -> None:
    good = judged.evaluate(DATA.cheap, RUN, "P@5", trusted=DATA.people).correction()
    assert good.narrower == "corrected"
    by = f"{1 - good.ratio:.0%}".replace("%", " %")
    assert good.says().endswith(f"alone; the corrected interval is {by} narrower")
    noise = judged_twice(wrong=0.66, seed=3)
    useless = judged.evaluate(noise.cheap, noise.runs["one"], "P@5", trusted=noise.people)
    assert useless.correction().weight < 0.2
    assert useless.correction().ratio == pytest.approx(1, abs=0.05)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "interval": ({"interval": True}, "corrected numbers have intervals of their own"),
    "groups": ({"groups": {"q000": "a"}}, "a correction takes queries for independent"),
    "tie_range": ({"tie_range": True}, "the range is that of the cheap numbers"),
    "unjudged_range": ({"unjudged_range": True}, "the range is that of the cheap numbers"),
    "unanswerable": ({"unanswerable": True}, "either judgements may set other queries apart"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_it_does_not_go_with(name: str) -> None:
    options, why = REFUSED[name]
    assert error_of(corrected, **options) == (
        f"trusted does not go with {name}: {why}. Leave one of both out."
    )


WRONG: dict[str, tuple[dict[str, Any], type[JudgedError], str]] = {
    "few": (
        {"trusted": dict(list(DATA.people.items())[:19])},
        InputError,
        "the trusted judgements: 19 queries have trusted judgements, and a correction takes at "
        "least 20; judge more of them, drawn at random, or leave trusted out.",
    ),
    "unknown": (
        {"trusted": {**DATA.people, "x y": {"d1": 1}}},
        InputError,
        "the trusted judgements: 1 query is not among those that the cheap judgements are of (x "
        "y), so there is nothing to correct there; leave it out, or judge it cheaply too.",
    ),
    "empty": (
        {"trusted": {}},
        InputError,
        "trusted: the judgements: the dict is empty; give {query: {item: grade}}.",
    ),
    "no file": ({"trusted": "nowhere.qrels"}, InputError, "trusted: nowhere.qrels: no such file."),
    "weights": (
        {"weights": {query: 1 + 30 * (query in list(DATA.people)[:3]) for query in DATA.cheap}},
        InputError,
        "nDCG@10: 30 queries have trusted judgements, which by their weights say no more than 4.9 "
        "of equal weight (Kish), and a correction takes at least 20; judge more of them, drawn at "
        "random, or leave the weights out.",
    ),
    "sum": (
        {"measures": "NumRelRet"},
        MeasureError,
        "NumRelRet is a sum over queries, which trusted judgements of some of them cannot correct; "
        "leave it out, or ask for its mean, NumRelRet(aggregate=mean).",
    ),
    "median": (
        {"measures": "Rank(aggregate=median)"},
        MeasureError,
        "Rank(aggregate=median) is not a mean over queries, so trusted judgements cannot correct "
        "it; leave it out.",
    ),
    "of means": (
        {"measures": "F(average=means)@10"},
        MeasureError,
        "F(average=means)@10 is not a mean over queries, so trusted judgements cannot correct it; "
        "leave it out.",
    ),
    "infinite": (
        {"measures": "Rank", "run": {query: ["none"] for query in DATA.cheap}},
        MeasureError,
        "Rank is infinite for some queries, and a mean of infinite values says nothing; leave it "
        "out, or take RR.",
    ),
    "nothing relevant": (
        {"policy": {"empty": "error"}, "trusted": {**DATA.people, "q001": {"d1": 0}}},
        PolicyError,
        "trusted: nothing is relevant for 1 of 31 judged queries (q001), and empty=error says to "
        "stop; empty=zero gives them the worst value, empty=skip leaves them out.",
    ),
    "apart": (
        {"policy": {"empty": "skip"}, "trusted": {**DATA.people, "q001": {"d1": 0}}},
        PolicyError,
        "nDCG@10: 1 query counts by one of both judgements only (q001), as empty=skip leaves out "
        "what has nothing relevant; choose empty=zero, which counts all of them.",
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_right_is_refused(name: str) -> None:
    options, kind, message = WRONG[name]
    given = {"run": RUN, "measures": "nDCG@10", "trusted": DATA.people, **options}
    assert error_of(judged.evaluate, DATA.cheap, **given, error=kind) == message


def test_queries_that_the_run_lacks_count_on_neither_side() -> None:
    lost = {query: items for query, items in RUN.items() if query not in list(DATA.people)[:4]}
    with pytest.warns(judged.errors.JudgedWarning):
        found = judged.evaluate(
            DATA.cheap, lost, "RR", trusted=DATA.people, policy={"missing": "skip"}
        )
    assert (found.correction().queries, found.correction().trusted_queries) == (76, 26)


def test_a_chosen_sample_is_warned_of() -> None:
    cheap = of_all("nDCG@10")
    best = sorted(cheap, key=cheap.__getitem__)[-25:]
    with pytest.warns(judged.errors.JudgedWarning, match="random sample"):
        found = judged.evaluate(
            DATA.cheap, RUN, "nDCG@10", trusted={query: DATA.cheap[query] for query in best}
        )
    first, second = found.warnings()
    assert first.startswith(
        "The queries of the trusted judgements do not look like a random sample of all: by the "
        "cheap judgements their values of nDCG@10 differ from the others' (Welch's test, p = "
    )
    assert second == (
        "Of the queries of the trusted judgements none has another value of nDCG@10 than by the "
        "cheap judgements: with errors that rare the corrected intervals may be too narrow."
    )
    assert corrected().warnings() == []


def test_another_scale_is_warned_of() -> None:
    double = {q: {item: 2 * g for item, g in own.items()} for q, own in DATA.people.items()}
    with pytest.warns(judged.errors.JudgedWarning, match="one scale"):
        found = judged.evaluate(DATA.cheap, RUN, "P@5", trusted=double)
    assert found.warnings()[0] == (
        "the trusted judgements: the highest grade is 2, and 1 by the cheap judgements: are both "
        "on one scale? Measures take grades as they are, and a correction would be of the scale."
    )


def test_no_trusted_spread_means_no_interval() -> None:
    cheap = {str(at): {"a": 1, "b": at % 2} for at in range(60)}
    people = {str(at): {"a": 1, "b": 0} for at in range(25)}
    found = judged.evaluate(cheap, {str(at): ["a", "b"] for at in range(60)}, "P@2", trusted=people)
    own = found.correction()
    assert (own.corrected.estimate, own.weight, own.narrower) == (0.5, 0.0, None)
    assert own.corrected.note == (
        "all queries have the same value by the trusted judgements, which says nothing of how "
        "others would spread"
    )
    assert "(no interval)" in own.says()


def test_what_would_show_other_numbers_is_refused() -> None:
    found = corrected()
    assert error_of(found.report) == (
        "reports show the values of queries, which trusted judgements do not correct; leave "
        "trusted out for them."
    )
    with pytest.raises(InputError, match=r"^charts show the values of queries"):
        judged.charts.systems(found)
    assert error_of(found.beside, found, names=["a", "b"]) == (
        "evaluations that trusted judgements correct cannot be joined; give all runs to one "
        "evaluate."
    )
    assert error_of(judged.evaluate(DATA.cheap, RUN, "RR").correction, error=PolicyError) == (
        "this evaluation was made without trusted judgements; evaluate again with trusted."
    )


def test_trusted_judgements_of_all_queries_leave_nothing_to_correct() -> None:
    cheap = {query: DATA.cheap[query] for query in DATA.people}
    run = {query: RUN[query] for query in DATA.people}
    with pytest.warns(judged.JudgedWarning) as caught:
        found = judged.evaluate(cheap, run, "RR", trusted=DATA.people)
    assert found.value() == pytest.approx(judged.evaluate(DATA.people, run, "RR").value())
    assert found.correction().narrower == "trusted"
    assert [str(each.message) for each in caught] == [
        "All queries have trusted judgements (the trusted judgements), so numbers are those by "
        "them alone. Are they the right ones? Then give them as the judgements, and leave "
        "trusted out."
    ]


def test_judgements_that_may_have_been_swapped() -> None:
    with pytest.raises(InputError) as caught:
        judged.evaluate(DATA.people, RUN, "RR", trusted=DATA.cheap)
    assert str(caught.value).endswith(
        "leave them out, or judge them cheaply too. Were the two given the wrong way round?"
    )


@pytest.mark.parametrize("off", [-1e-16, 0.0, 1e-16])
def test_intervals_of_one_width_are_told_apart_by_no_rounding(off: float) -> None:
    about = Interval(0.5, 0.4, 0.6 + off), Interval(0.5, 0.4, 0.6)
    found = Correction(60, 60, 0.5, *about, 0.0)
    assert found.narrower == "trusted"
    assert found.says().endswith("both intervals are as wide")
