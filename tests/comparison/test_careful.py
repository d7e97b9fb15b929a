"""Values that could mislead: huge, tiny, constant or infinite ones, and tests that do not look at
the mean."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import judged
from judged.comparison.verdicts import Pair
from judged.web.pages.pairs import verdict_heading
from support.errors import error_of
from support.resampling import resamples

pytestmark = pytest.mark.usefixtures("few_resamples")

TESTS = ("t", "randomisation", "bootstrap", "bca", "wilcoxon", "sign")


def pair_of(a: Any, b: Any, **options: Any) -> Pair:
    values = {
        name: {f"q{at:02}": float(value) for at, value in enumerate(own)}
        for name, own in (("a", a), ("b", b))
    }
    return judged.compare_values(values, **options).pair()


VALUES = np.random.default_rng(1).random(12)
QUERIES = "abcdefgh"


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("by", [0.1, 1e-6])
def test_differences_that_are_all_the_same_have_a_point_for_interval(test: str, by: float) -> None:
    pair = pair_of(VALUES, VALUES + by, test=test)
    assert pair.verdict == "better"
    # 12 of one sign: 2/2¹²; Wilcoxon's normal approximation with all ranks tied: z = 3.42.
    assert pair.p == pytest.approx(0.000627 if test == "wilcoxon" else 2.0**-11, rel=1e-3)
    assert pair.interval.low == pair.interval.high == pair.difference
    assert not pair.interval.note
    assert (pair.effect, pair.detectable) == (None, None)


@pytest.mark.parametrize("huge", [2.0**63, 1e300])
def test_one_huge_value_ties_no_other_queries(huge: float) -> None:
    ours = np.r_[VALUES[:-1] + np.linspace(0.1, 0.2, 11), huge]
    pair = pair_of(VALUES, ours, test="sign")
    assert (pair.wins, pair.ties, pair.losses) == (12, 0, 0)
    assert pair.p == 2.0**-11
    assert pair_of(VALUES, ours).verdict == "not significant"


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(
    ("a", "b"), [(VALUES * 1e308, VALUES[::-1] * 1e308), ([-1e308] * 9, [1e308] * 9)]
)
def test_values_too_large_for_a_mean_are_refused(test: str, a: Any, b: Any) -> None:
    assert error_of(pair_of, a, b, test=test) == (
        "the values of value are too large to be averaged; give them in a larger unit."
    )


def test_wilcoxon_says_what_its_ranks_say() -> None:
    # Fourteen small gains and one great loss: by ranks b is ahead (105 to 15), by the mean behind.
    differences = np.r_[np.arange(1, 15) / 100, -3]
    pair = pair_of(np.zeros(15), differences, test="wilcoxon")
    assert pair.verdict == "better"
    assert pair.difference < 0
    assert pair.says == (
        "value: b is significantly better than a by the ranks of the differences; "
        "the values differ by −0.130 (95 % CI −0.570 to 0.310)."
    )
    swapped = pair_of(differences, np.zeros(15), test="wilcoxon")
    assert swapped.verdict == "worse"


def test_the_sign_test_says_how_many_queries() -> None:
    differences = np.r_[np.arange(1, 15) / 100, -3]
    assert pair_of(np.zeros(15), differences, test="sign").says == (
        "value: b is significantly better than a by 14 queries to 1; the values "
        "differ by −0.130 (95 % CI −0.570 to 0.310)."
    )
    infinite = pair_of(np.ones(9), [2.0] * 8 + [math.inf], test="sign")
    assert infinite.says == "value: b is significantly better than a by 9 queries to 0."
    assert infinite.interval.note == "some values are infinite"
    assert (infinite.effect, infinite.detectable) == (None, None)


def test_a_level_beyond_what_can_be_counted() -> None:
    differences = np.random.default_rng(2).normal(0, 1, 30)
    for test in TESTS:
        pair = pair_of(np.zeros(30), differences, test=test, level=1 - 1e-9)
        assert pair.verdict == "too few"
        assert pair.says.startswith("value: only 30 of 30 queries differ")


def test_values_below_the_floor_of_a_geometric_mean_differ_in_nothing_that_counts() -> None:
    name = "AP(aggregate=geometric)"
    values = {
        run: {name: {f"q{at}": value for at in range(9)}}
        for run, value in (("a", 0.0), ("b", 1e-7))
    }
    pair = judged.compare_values(values).pair()
    assert (pair.verdict, pair.p, pair.wins) == ("too few", 1.0, 9)
    assert pair.says == (
        f"{name}: at most 1 of 9 queries differs between b and a: too few to test."
    )


def test_what_resamples_cannot_show_is_said() -> None:
    from judged.comparison.export import notes

    rng = np.random.default_rng(3)
    values = {
        f"run {at:02}": {f"q{query:02}": value for query, value in enumerate(rng.random(50))}
        for at in range(12)
    }
    # 66 pairs: with 999 resamples the smallest p of all is 0.001, and 66 times that 0.066.
    found = judged.compare_values(values, test="randomisation")
    assert {row.verdict for row in found.rows} == {"not significant"}
    assert notes(found)[-1] == (
        "66 pairs could not become significant: the smallest possible p, 0.001, times 66 is not "
        "below 0.05. Compare with a baseline, or use the test t."
    )
    with resamples(1999):
        enough = judged.compare_values(values, test="randomisation")
    assert not any("could not become significant" in note for note in notes(enough))
    assert not any(
        "could not become significant" in note for note in notes(judged.compare_values(values))
    )


@pytest.mark.parametrize("test", ["bootstrap", "bca"])
def test_resamples_show_no_more_than_the_signs_of_few_queries(test: str) -> None:
    # Six of six are better: of 2⁶ signs, all are alike in two.
    pair = pair_of(np.zeros(6), np.linspace(0.1, 0.6, 6), test=test)
    assert (pair.p, pair.smallest_p, pair.verdict) == (2.0**-5, 2.0**-5, "better")
    # Twelve queries in six groups have the signs of six.
    groups = {f"q{at:02}": at // 2 for at in range(12)}
    pair = pair_of(np.zeros(12), np.linspace(0.1, 0.6, 12), test=test, groups=groups)
    assert (pair.p, pair.verdict) == (2.0**-5, "better")


def median_ranks(ours: Any, theirs: Any, **options: Any) -> Pair:
    """The ranks of the only relevant item of each query, compared by their medians."""

    def listed(ranks: Any) -> dict[str, list[str]]:
        return {
            f"q{at:03}": [f"x{n}" for n in range(int(rank) - 1)] + ["a"] if rank < 99 else ["x"]
            for at, rank in enumerate(ranks)
        }

    judgements = {f"q{at:03}": {"a": 1} for at in range(len(ours))}
    runs = {"b": listed(theirs), "a": listed(ours)}
    return judged.compare(judgements, runs, "MedR", **options).pair()


@pytest.mark.filterwarnings("ignore::judged.JudgedWarning")
def test_a_median_that_changes_in_all_resamples_is_shown() -> None:
    rng = np.random.default_rng(0)
    then = rng.choice([1, 2, 5], 400, p=[0.7, 0.15, 0.15])
    now = rng.choice([1, 10, 20], 400, p=[0.1, 0.6, 0.3])
    pair = median_ranks(now, then)
    assert (pair.against_value, pair.value, pair.difference) == (1, 10, 9)
    assert (pair.p, pair.verdict) == (2 / 1000, "worse")
    assert (pair.interval.low, pair.interval.high, pair.interval.note) == (9, 9, "")
    # Eight queries have too few signs for as small a p.
    assert median_ranks([10] * 8, [1] * 8).p == 2.0**-7
    never = math.inf
    lost, won = median_ranks([never] * 20, [2] * 20), median_ranks([3] * 20, [never] * 20)
    assert (lost.verdict, lost.p, lost.difference) == ("worse", 2 / 1000, never)
    assert (won.verdict, won.p, won.difference) == ("better", 2 / 1000, -never)
    # A median that never moves, though queries do, is no difference.
    same = median_ranks([1] * 94 + [2, 3, 4, 5, 6, 7], [1] * 100)
    assert (same.verdict, same.p, math.isnan(same.interval.low)) == ("not significant", 1.0, True)


def test_equal_gains_of_a_number_that_is_no_mean_are_shown() -> None:
    judgements = {f"q{at}": {"a": 1, "b": 1} for at in range(6)}
    runs = {
        "old": {query: ["a", "x"] for query in judgements},
        "new": {query: ["a", "b"] for query in judgements},
    }
    pair = judged.compare(judgements, runs, "F(average=means)@2").pair()
    assert (pair.verdict, pair.p) == ("better", 2.0**-5)
    assert pair.interval.low == pair.interval.high == pytest.approx(0.5)
    # With five of them nothing can be significant.
    few = {run: dict(list(own.items())[:5]) for run, own in runs.items()}
    five = judged.compare(dict(list(judgements.items())[:5]), few, "F(average=means)@2").pair()
    assert (five.verdict, five.p) == ("too few", 2.0**-4)


def test_bca_gives_way_to_percentiles_where_weights_are_uneven() -> None:
    ours = np.random.default_rng(6).random(100)
    theirs = np.random.default_rng(7).random(100)
    weights = {f"q{at:02}": 1 / (at + 1) for at in range(100)}
    pair = pair_of(ours, theirs, test="bca", weights=weights)
    assert pair == pair_of(ours, theirs, test="bootstrap", weights=weights)
    assert (pair.test, pair.interval.method) == ("bootstrap", "percentile")
    assert pair_of(ours, theirs, test="bca").interval.method == "bca"


def test_a_constant_difference_inside_the_margin_is_negligible() -> None:
    for by in (0.1, -0.1):
        pair = pair_of(VALUES, VALUES + by, margin=0.2)
        assert (pair.verdict, pair.negligible) == ("better" if by > 0 else "worse", True)
    # As large as the margin, but for rounding, is not smaller than it.
    assert not pair_of([1.0] * 12, [0.8] * 12, margin=0.2).negligible
    assert not pair_of(VALUES, VALUES + 0.1, margin=0.05).negligible
    # 6 signs have a one-sided p of 1/64: enough alone, not among 10 comparisons.
    values = {str(run): {str(q): q + run / 1e4 for q in range(6)} for run in range(11)}
    for runs, negligible in ((2, True), (11, False)):
        own = {str(run): values[str(run)] for run in range(runs)}
        found = judged.compare_values(own, baseline="0", margin=0.5, correction="bonferroni")
        assert found.settings.margin_of("value") == 0.5
        assert found.rows[0].verdict == ("better" if negligible else "not significant")
        assert found.rows[0].negligible is negligible


def test_too_uneven_weights_are_named_as_the_reason() -> None:
    """In the warning, the interval's note and the heading of a report."""
    weights = {f"q{at:02}": 1000.0 if at == 0 else 1.0 for at in range(40)}
    groups = {f"q{at:02}": str(at % 4) for at in range(40)}
    values = np.random.default_rng(4).random((2, 40))
    asked = {
        name: {f"q{at:02}": x for at, x in enumerate(own)}
        for name, own in zip("ab", values.tolist(), strict=True)
    }
    worth = "40 queries count as 1.1 queries of equal weight (Kish)"
    found = judged.compare_values(asked, weights=weights)
    assert found.pair().verdict == "too few"
    assert found.pair().interval.note == f"{worth}, too few for a confidence interval"
    assert any(worth in warning for warning in found.warnings())
    heading = verdict_heading(found.pair(), found.settings)
    assert heading.title == "Too few queries of equal weight to compare b with a on value"
    found = judged.compare_values(asked, groups=groups)
    assert found.pair().interval.note == "too few groups differ"
    heading = verdict_heading(found.pair(), found.settings)
    assert heading.title == "Too few groups differ to compare b with a on value"
    assert any("40 queries in 4 groups are few" in warning for warning in found.warnings())


def test_the_line_says_which_measures_are_bootstrapped_and_why() -> None:
    judgements = {query: {"a": 1} for query in QUERIES}
    runs = {name: {query: [first, "c"] for query in QUERIES} for name, first in ("xa", "yb")}
    for measures in (["P@1", "F(average=means)@1"], ["F(average=means)@1", "P@1"]):
        found = judged.compare(judgements, runs, measures)
        [line] = [text for text in found.sentences() if text.startswith("Test: ")]
        assert line.startswith(
            "Test: paired t, paired bootstrap (percentile) for F(average=means)@1 (not a mean); "
        )


def test_infinite_values_are_refused_with_what_can_be_compared() -> None:
    judgements = {query: {"a": 1} for query in QUERIES}
    runs = {"x": {query: ["a"] for query in QUERIES}, "y": {query: ["b"] for query in "a"}}
    runs["y"] |= {query: ["b", "a"] for query in QUERIES[1:]}
    with (
        pytest.warns(judged.JudgedWarning, match="Rank is infinite"),
        pytest.raises(judged.errors.MeasureError) as refused,
    ):
        judged.compare(judgements, runs, "Rank")
    assert str(refused.value) == (
        "Rank is infinite for 1 query (a), so its mean is infinite too; use its "
        "median (Rank(aggregate=median)) or RR, or use the test sign."
    )
    one = dict.fromkeys(QUERIES, 1.0)
    assert error_of(
        judged.compare_values,
        {"x": one, "y": one | {"b": float("inf")}},
        error=judged.errors.MeasureError,
    ) == (
        "value is infinite for 1 query (b), so its mean is infinite too; leave these "
        "queries out of all runs, or use the test sign."
    )


def test_no_sentence_promises_what_its_own_row_denies() -> None:
    """A difference that would count alone is larger than what is called detectable, which is alone
    too; and tests of ranks would not have shown it."""
    queries = [f"q{number}" for number in range(10)]
    steps = {query: 0.1 * number for number, query in enumerate(queries)}
    values = {"a": steps, "b": {q: v + (0.02, 0.05)[v > 0.4] for q, v in steps.items()}}
    values["c"] = {query: 1 - value for query, value in steps.items()}
    row = judged.compare_values(values, correction="tukey").pair("b", "a")
    assert row.detectable is not None
    assert row.detectable < row.difference
    assert row.says == (
        "value: no significant difference between b and a. It is significant on its "
        "own, but not among 3 comparisons."
    )
    shuffled = {query: steps[query] + (-0.03, 0.04)[n % 2] for n, query in enumerate(queries)}
    for test in ("wilcoxon", "sign"):
        found = judged.compare_values({"a": steps, "b": shuffled}, test=test)
        assert found.pair().says == "value: no significant difference between b and a."


def test_a_margin_that_nothing_can_reach_is_refused() -> None:
    """As one in percent, by which all runs would be equivalent."""
    better = {"old": dict.fromkeys(QUERIES, 0.5), "new": dict.fromkeys(QUERIES, 0.6) | {"a": 0.55}}
    for margin in (1, {"AP": 5}):
        with pytest.raises(judged.errors.InputError) as refused:
            judged.compare_values(better, measure_name="AP", margin=margin)
        size = margin if isinstance(margin, int) else margin["AP"]
        assert str(refused.value) == (
            "the margin of AP must be smaller than 1, the largest possible difference; got "
            f"{size}. "
            "Margins are in the measure's own unit, even if numbers are shown in percent."
        )
    assert judged.compare_values(better, measure_name="AP", margin=0.99).pair().negligible
    rank = {"a": dict.fromkeys(QUERIES, 2.0), "b": dict.fromkeys(QUERIES, 3.0)}
    assert judged.compare_values(rank, measure_name="Rank", margin=5).pair().verdict == "worse"


def test_counts_are_neither_good_nor_bad() -> None:
    judgements = {f"q{n}": {"a": 1} for n in range(8)}
    runs = {
        "short": {query: ["a"] for query in judgements},
        "long": {q: ["a", *("bcd"[: 1 + n % 3])] for n, q in enumerate(judgements)},
    }
    found = judged.compare(judgements, runs, ["NumRet", "RR"])
    assert (
        "NumRet counts or describes results, which is neither good nor bad. Here, better means "
        "higher and worse means lower."
    ) in found.warnings()
    assert found.pair(measure="NumRet").verdict == "better"
    assert "NumRet" not in " ".join(judged.compare(judgements, runs, "RR").warnings())
