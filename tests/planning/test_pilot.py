"""What a pilot says of the spread, how well it is known, and what is no pilot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import judged
from judged.comparison.power import Pilot
from judged.errors import JudgedError
from judged.text import Warned
from support.errors import error_of
from support.loops import for_each

RANDOM = np.random.default_rng(11)
JUDGEMENTS = {f"q{at}": {"x": 1, "y": 2} for at in range(20)}
RUNS = {
    name: {
        q: [*(["a", "b", "c"][: RANDOM.integers(0, 4)]), *(["x", "y"][:: RANDOM.choice([1, -1])])]
        for q in JUDGEMENTS
    }
    for name in ("old", "new")
}


def test_the_interval_of_a_normal_sample_is_the_chi_square_one() -> None:
    # Evenly spread values have short tails: no correction.
    values = np.arange(30.0)
    low, high = Pilot(values, 30, 30).interval(0.9)
    ends = values.std(ddof=1) * np.sqrt(29 / stats.chi2.ppf([0.95, 0.05], 29))
    assert [low, high] == pytest.approx(ends.tolist(), rel=1e-9)
    assert Pilot(values, 30, 30).freedom == pytest.approx(29)


def test_a_small_pilot_says_how_wide() -> None:
    found = judged.plan(difference=0.05, pilot=[0.1, -0.1, 0.2, 0.0, 0.15, -0.05])
    [warning] = found.warnings()
    low, high = found.answer.low, found.answer.high
    assert warning == (
        "A pilot of 6 queries hardly determines the standard deviation: it may be 0.0739 to 0.29, "
        f"and the queries {low:.0f} to {high:.0f}. Take at least 10."
    )
    assert found.sentences()[0] == f"warning: {warning}"
    assert judged.plan(difference=0.05, pilot=np.arange(10) / 10).warnings() == []


def test_few_that_differ_are_a_warning() -> None:
    found = judged.plan(difference=0.05, pilot=[0.0] * 30 + [0.4, -0.2, 0.1])
    assert found.warnings() == [
        "Only 3 queries of the pilot's 33 differ, so the standard deviation is "
        "uncertain. Take a larger pilot."
    ]
    values = {
        "a": {str(at): 0.5 for at in range(33)},
        "b": {str(at): 0.5 + 0.1 * (at < 3) * at for at in range(33)},
    }
    weights = {str(at): 1.0 + at for at in range(33)}
    weighted = judged.plan(
        difference=0.05, pilot=judged.compare_values(values, weights=weights), queries=99
    )
    assert weighted.warnings()[0].startswith("Only 2 queries of the pilot's 33 differ,")


def test_warnings_of_the_comparison_come_along() -> None:
    compared = judged.compare(JUDGEMENTS, RUNS, "Judged@2")
    found = judged.plan(difference=0.1, pilot=compared)
    assert found.warnings() == [f"Pilot: {each}" for each in compared.warnings()]
    assert found.warnings()
    assert all(isinstance(note, Warned) for note in found.notes)


NO_VARIANCE = (
    "the pilot has no variance: {} Take other queries, or give the standard deviation (sd)."
)
NOT_FINITE = "the pilot's differences must be finite; 1 is not ({}). Leave these queries out."
NO_PILOT = (
    "pilot must be a comparison, or per-query differences: numbers, or {{query: difference}}; got "
    "{}."
)


@for_each(
    ("pilot", "message"),
    [
        ([0.1, 0.1, 0.1], NO_VARIANCE.format("all queries differ by the same amount.")),
        ([0.3 - 0.2, 0.2 - 0.1, 0.1], NO_VARIANCE.format("all queries differ by the same amount.")),
        ([0, 0], NO_VARIANCE.format("no query differs.")),
        ([0.1], "a pilot needs at least two queries; got 1 query."),
        ({}, "a pilot needs at least two queries; got 0 queries."),
        ([0.1, float("nan"), 0.2], NOT_FINITE.format("query 2")),
        ({"q1": 0.1, "q2": float("inf")}, NOT_FINITE.format("query q2")),
        ([[1], [1, 2]], NO_PILOT.format("[[1], [1, 2]]")),
        ("runs.json", NO_PILOT.format("'runs.json'")),
        (["a", "b"], NO_PILOT.format("['a', 'b']")),
    ],
)
def test_what_is_no_pilot(pilot: Any, message: str) -> None:
    assert error_of(judged.plan, difference=0.1, pilot=pilot) == (message)


REPEATED = {"old": RUNS["old"], "new": judged.repeats(RUNS["new"], RUNS["old"])}
NO_MEAN = "a plan needs a mean over queries, but {}; use a measure such as nDCG@10."


@for_each(
    ("measure", "options", "message"),
    [
        ("GMAP", {}, NO_MEAN.format("GMAP is a geometric mean")),
        ("NumRet", {}, NO_MEAN.format("NumRet is a sum, which grows with the queries")),
        ("MedR", {}, NO_MEAN.format("MedR is not a mean")),
        ("F(average=means)@2", {}, NO_MEAN.format("F(average=means)@2 is not a mean")),
        (
            "RR",
            {"run": REPEATED},
            "the pilot has repeats of new, whose variation does not shrink with more queries; use "
            "one run of each system.",
        ),
        (
            "RR",
            {"trusted": JUDGEMENTS},
            "the pilot's differences are corrected by trusted judgements, so their variance "
            "depends on the number of trusted queries; use one kind of judgements alone.",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::judged.JudgedWarning")
def test_comparisons_that_are_no_pilot(measure: str, options: Any, message: str) -> None:
    compared = judged.compare(JUDGEMENTS, **{"run": RUNS, "measures": measure, **options})
    assert error_of(judged.plan, error=JudgedError, difference=0.1, pilot=compared) == (message)


def test_several_measures_have_to_be_chosen_from() -> None:
    compared = judged.compare(JUDGEMENTS, RUNS, ["RR", "AP"])
    assert error_of(judged.plan, error=JudgedError, difference=0.1, pilot=compared) == (
        "a plan is for one measure, but the pilot has RR and AP; name one with measure (-m)."
    )
    found = judged.plan(difference=0.1, pilot=compared, measure="AP")
    assert found.pilot is not None
    assert found.pilot.measure == "AP"
    alone = judged.plan(difference=0.1, pilot=judged.compare(JUDGEMENTS, RUNS, "AP"))
    assert found.queries == alone.queries


def test_long_tails_make_the_interval_wider() -> None:
    values = np.zeros(100)
    values[:10] = np.linspace(-1, 1, 10)
    found = Pilot(values, 100, 10)
    # Degrees of freedom by Hummel, Banga and Hettmansperger: 2n/(γ + 2n/(n - 1)).
    excess = float(stats.kurtosis(values, bias=False))
    assert found.freedom == pytest.approx(200 / (excess + 200 / 99))
    assert found.freedom < 20
