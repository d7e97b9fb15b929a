"""The rules of a gate, held against scipy, statsmodels and the comparison."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import judged
from judged.comparison import compare
from judged.errors import InputError, MeasureError, PolicyError
from support.errors import error_of
from support.loops import for_each, told

RULES = ("loss", "safe", "point")
RNG = np.random.default_rng(11)


def ranked_at(ranks: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judgements and a run whose only relevant item stands at the given ranks."""
    judgements = {f"q{at:03}": {"r": 1} for at in range(len(ranks))}
    run = {
        f"q{at:03}": [f"x{n}" for n in range(int(rank) - 1)] + ["r"]
        for at, rank in enumerate(ranks)
    }
    return judgements, run


def graded(size: int, noise: float, seed: int, items: int = 8) -> tuple[Any, Any]:
    """Judgements, and a run that scores items by their grades and some noise."""
    grades = np.random.default_rng(5).integers(0, 3, (size, items))
    scores = grades + np.random.default_rng(seed).normal(0, noise, grades.shape)
    judgements = {
        f"q{at:03}": {f"d{n}": int(g) for n, g in enumerate(own)} for at, own in enumerate(grades)
    }
    run = {
        f"q{at:03}": {f"d{n}": float(s) for n, s in enumerate(own)} for at, own in enumerate(scores)
    }
    return judgements, run


MEASURES = ["nDCG@5", "AP", "P@3"]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("size", [1, 2, 7, 40])
def test_a_run_passes_against_itself(rule: str, size: int) -> None:
    judgements, run = graded(size, 1.0, 1)
    measures = [
        *MEASURES,
        "Rank(aggregate=median)",
        "F(average=means)@3",
        "AP(aggregate=geometric)",
    ]
    found = judged.gate(judgements, run, measures, baseline=run, rule=rule, max_drop=0.01)
    assert found.passed
    assert {row.word for row in found.rows} == {"identical"}


def test_p_is_one_sided_and_corrected_as_by_scipy_and_statsmodels() -> None:
    for seed in range(6):
        judgements, old = graded(30, 0.8, seed)
        _, new = graded(30, 1.0, seed + 100)
        found = judged.gate(judgements, new, MEASURES, baseline=old)
        both = judged.evaluate(judgements, {"new": new, "old": old}, MEASURES)
        p = [
            stats.ttest_rel(*(run.values[m] for run in both.runs), alternative="less").pvalue
            for m in both.measures
        ]
        assert [row.p for row in found.rows] == pytest.approx(p, rel=1e-9)
        holm = multipletests(p, method="holm")[1]
        assert [row.corrected_p for row in found.rows] == pytest.approx(holm, rel=1e-9)
        assert [row.holds for row in found.rows] == [bool(each >= 0.05) for each in holm]


def test_safe_is_the_one_sided_test_against_the_allowed_drop() -> None:
    seen = set()
    for seed in range(3):
        judgements, old = graded(40, 0.8, seed)
        _, new = graded(40, 0.85, seed + 100)
        both = judged.evaluate(judgements, {"new": new, "old": old}, MEASURES)
        for allowed in (0.005, 0.03, 0.08, 0.3):
            found = judged.gate(
                judgements, new, MEASURES, baseline=old, rule="safe", max_drop=allowed
            )
            for row, m in zip(found.rows, both.measures, strict=True):
                d = both.runs[0].values[m] - both.runs[1].values[m]
                p = stats.ttest_1samp(d, -allowed, alternative="greater").pvalue
                assert row.holds == (p < 0.05)
                seen.add(row.word)
    assert seen == {"safe", "inconclusive"}


def test_an_allowed_drop_is_compared_with_what_was_seen() -> None:
    judgements, old = ranked_at([1] * 10)
    _, new = ranked_at([2] * 9 + [1])  # RR falls by 0.45
    drop = judged.gate(judgements, new, "RR", baseline=old)
    assert drop.rows[0].drop == pytest.approx(0.45)
    assert drop.rows[0].word == "regression"
    assert drop.says() == "FAILED: RR fell from 1.000 to 0.550 (significant); allowed drop: 0."
    assert drop.rows[0].says == (
        "RR: fell from 1.000 to 0.550, a significant drop of 0.450; allowed drop: 0."
    )
    for rule in ("loss", "point"):
        at = judged.gate(judgements, new, "RR", baseline=old, rule=rule, max_drop=0.45)
        assert at.rows[0].word == "allowed"
        less = judged.gate(judgements, new, "RR", baseline=old, rule=rule, max_drop={"MRR": 0.449})
        assert not less.passed
    gain = judged.gate(judgements, old, "RR", baseline=new)
    assert gain.rows[0].word == "no drop"
    assert gain.rows[0].says == "RR: rose from 0.550 to 1.000, a gain of 0.450."


def test_where_lower_is_better_a_rise_is_the_drop() -> None:
    judgements, old = ranked_at([1, 2, 1, 3, 1, 2, 4, 1])
    _, new = ranked_at([3, 4, 3, 6, 2, 4, 7, 3])
    row = judged.gate(judgements, new, "Rank", baseline=old).rows[0]
    assert (row.word, row.difference > 0, row.drop) == ("regression", True, row.difference)
    assert judged.gate(judgements, old, "Rank", baseline=new).rows[0].word == "no drop"
    safe = judged.gate(judgements, old, "Rank", baseline=new, rule="safe", max_drop=0.1)
    assert safe.rows[0].word == "safe"
    kept = judged.gate(judgements, old, "Rank", baseline=old, minimum={"Rank": 2})
    assert kept.passed
    over = judged.gate(judgements, new, "Rank", baseline=new, minimum={"Rank": 2})
    assert over.minima[0].says == "Rank: 4.000 is above the maximum 2."
    assert over.says() == "FAILED: Rank: 4.000 is above the maximum 2."


def test_too_few_queries_show_no_loss() -> None:
    judgements, old = ranked_at([1] * 50)
    _, new = ranked_at([9] * 4 + [1] * 46)
    found = judged.gate(judgements, new, "RR", baseline=old)
    assert found.passed
    row = found.rows[0]
    assert row.word == "too few differ"
    assert math.isnan(row.p)
    assert row.says == (
        "RR: fell from 1.000 to 0.929, a drop of 0.071. Only 4 queries differ, too "
        "few for a significant drop."
    )
    assert row.sees == (
        "RR: the drop that 50 queries would detect is unknown: only 4 queries differ."
    )
    assert not judged.gate(judgements, new, "RR", baseline=old, rule="point").passed


def test_five_losses_show_a_loss() -> None:
    """One-sided, five signs that are all alike have a p of 2⁻⁵."""
    for others in (0, 45):
        judgements, old = ranked_at([1] * (5 + others))
        _, new = ranked_at([9, 8, 7, 6, 5] + [1] * others)
        row = judged.gate(judgements, new, "RR", baseline=old).rows[0]
        assert (row.word, row.p) == ("regression", 2.0**-5)
        # A gain of one query among them is no longer significant.
        _, mixed = ranked_at([9, 8, 7, 6, 1] + [1] * others)
        judgements, before = ranked_at([1, 1, 1, 1, 2] + [1] * others)
        assert judged.gate(judgements, mixed, "RR", baseline=before).rows[0].word == (
            "not significant"
        )
    empty = {query: ["x"] for query in judgements}
    assert not judged.gate(judgements, empty, "MedR", baseline=old).passed


def test_a_set_too_small_to_show_any_loss_decides_nothing() -> None:
    judgements, old = ranked_at([1] * 4)
    _, new = ranked_at([9, 8, 7, 6])
    for run, then in ((new, old), (old, new)):
        found = judged.gate(judgements, run, "RR", baseline=then)
        assert (found.passed, found.decided) == (False, False)
        assert found.rows[0].word == "too few queries"
        assert found.says() == "UNDECIDED: too few queries for a significant drop in RR."
        assert found.to_dict()["decided"] is False
        assert 'failures="0" errors="1"' in found.to_junit()
    assert found.rows[0].says.endswith(
        "4 queries are too few for a significant drop at the 95 % level. Use at least 5."
    )
    # What is the same cannot be worse; a rule without statistics and a value to reach decide.
    assert judged.gate(judgements, old, "RR", baseline=old).passed
    assert judged.gate(judgements, new, "RR", baseline=old, rule="point").decided
    short = judged.gate(judgements, new, "RR", baseline=old, minimum={"RR": 0.5})
    assert (short.passed, short.decided) == (False, True)


@pytest.mark.parametrize(("size", "measures", "needed"), [(5, 2, 6), (6, 5, 7), (4, 1, 5)])
def test_what_is_too_small_depends_on_the_number_of_measures(
    size: int, measures: int, needed: int
) -> None:
    """All queries lose the same: 2⁻ⁿ times the number of measures has to be below 0.05."""
    names = ["RR", "AP", "nDCG@10", "nDCG@5", "Rprec"][:measures]
    for number in (size, needed):
        judgements, old = ranked_at([1] * number)
        _, new = ranked_at([2] * number)
        found = judged.gate(judgements, new, names, baseline=old)
        assert not found.passed
        assert found.decided == (number == needed)
        assert (f"Use at least {needed}." in found.rows[0].says) == (number == size)


def test_a_value_to_reach_needs_no_baseline() -> None:
    judgements, run = ranked_at([1, 2, 1])
    found = judged.gate(judgements, run, minimum={"RR": 0.8, "P@1": 0.5})
    assert (found.passed, found.says()) == (True, "PASSED: 2 minimum values reached.")
    assert [row.measure for row in found.minima] == ["RR", "P@1"]
    failed = judged.gate(judgements, run, "RR", minimum=0.9)
    assert (failed.passed, failed.decided) == (False, True)
    assert failed.says() == "FAILED: RR: 0.833 is below the minimum 0.9."
    assert failed.to_dict()["baseline"] == {"source": "no baseline", "kind": "none", "run": None}
    golden = judged.gate(judgements, run, "RR", golden={"q000": 1.0, "q001": 1.0})
    assert [each.holds for each in golden.golden] == [True, False]
    refused = {
        "update needs": {"update": True, "minimum": 0.5},
        "max_drop needs": {"max_drop": 0.1, "minimum": 0.5},
        "has no minimum, and there is no baseline": {"golden": ["q000"]},
    }
    for message, options in refused.items():
        with pytest.raises(InputError) as error:
            judged.gate(judgements, run, "RR", **options)
        assert message in str(error.value)


def test_guarantees_of_abstention_by_hand() -> None:
    """100 answers with best scores 1 to 100; those below 41 are wrong."""
    judgements = {f"q{at}": {"r": 1} for at in range(1, 101)}
    run = {f"q{at}": {"r" if at > 40 else "x": at} for at in range(1, 101)}
    # Coverages of 10 %, 20 %, …: of 70 answers 10 are wrong, of 80 answers 20 are.
    bounds = [stats.beta.ppf(1 - 0.05 / 10, wrong + 1, 60) for wrong in (10, 20)]
    for risk, coverage in ((bounds[0] + 1e-6, 0.7), (bounds[0] - 1e-6, 0.6)):
        for needed, holds in ((coverage, True), (coverage + 0.001, False)):
            name = f"coverage(risk={risk})"
            found = judged.gate(judgements, run, minimum={name: needed})
            assert (found.passed, found.minima[0].value) == (holds, coverage)
    assert found.says() == f"FAILED: {name}: 0.600 is below the minimum 0.601."
    # A threshold that was chosen before: no correction for several.
    bound = stats.beta.ppf(0.95, 11, 60)
    for needed, holds in ((bound + 1e-6, True), (bound - 1e-6, False)):
        found = judged.gate(judgements, run, minimum={"risk(threshold=31, measure=P@1)": needed})
        assert (found.passed, found.minima[0].value) == (holds, 10 / 70)
        assert found.minima[0].bound == pytest.approx(bound)
    never = judged.gate(judgements, run, minimum={"risk(threshold=1e3)": 0.9}).minima[0]
    assert (never.holds, never.bound) == (False, 1.0)


def test_a_stage_may_lose_only_so_many_relevant_items(tmp_path: Path) -> None:
    """Of 4 relevant items, the reranker drops b and demotes c from the top 2."""
    judgements = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1, "d": 1}}
    first = {"q1": ["a", "b"], "q2": ["c", "d"]}
    reranked = {"q1": ["a"], "q2": ["x", "d", "c"]}
    path = tmp_path / "first stage.json"
    path.write_text(json.dumps(first))
    for needed, holds in ((0.5, True), (0.49, False)):
        for after, baseline in ((str(path), None), ("baseline", first)):
            minimum = {f"lost(after={after})@2": needed}
            found = judged.gate(judgements, reranked, "RR", baseline=baseline, minimum=minimum)
            assert (found.minima[0].holds, found.minima[0].value) == (holds, 0.5)
    repeats = [reranked, first]
    found = judged.gate(judgements, judged.repeats(*repeats), minimum={f"lost(after={path})@2": 0})
    assert [(row.measure[-8:], row.value) for row in found.minima] == [
        ("repeat 1", 0.5),
        ("repeat 2", 0.0),
    ]
    rankings = judged.evaluate(judgements, reranked, "RR").runs[0].rankings.evaluate("RR")
    with pytest.raises(InputError, match="rankings do not hold them"):
        rankings.gate(minimum={f"lost(after={path})": 0})


def test_few_differing_queries_are_safe_by_their_share() -> None:
    """1 of 200 differs: by Clopper-Pearson at most 2.35 % do, one-sided at 95 %."""
    most = stats.beta.ppf(0.95, 2, 199)
    judgements, old = ranked_at([1] * 200)
    _, new = ranked_at([2] + [1] * 199)
    for allowed, word in ((most + 1e-6, "safe"), (most - 1e-6, "inconclusive")):
        found = judged.gate(judgements, new, "RR", baseline=old, rule="safe", max_drop=allowed)
        assert found.rows[0].word == word


@pytest.mark.parametrize(("size", "shown"), [(4, False), (6, True), (30, True)])
def test_a_constant_drop_is_shown_by_its_signs_alone(size: int, shown: bool) -> None:
    judgements, old = ranked_at([1] * size)
    _, new = ranked_at([2] * size)
    row = judged.gate(judgements, new, "RR", baseline=old).rows[0]
    assert (row.word == "regression") == shown
    if shown:
        assert row.low == row.high == row.difference
        assert row.p == pytest.approx(2.0**-size)
    else:
        assert math.isnan(row.low)
    safe = judged.gate(judgements, new, "RR", baseline=old, rule="safe", max_drop=0.6).rows[0]
    assert (safe.word == "safe") == shown
    never = judged.gate(judgements, new, "RR", baseline=old, rule="safe", max_drop=0.5).rows[0]
    assert never.word == ("inconclusive" if shown else "too few queries")


def test_what_it_can_see_is_the_one_sided_noncentral_t() -> None:
    judgements, old = graded(50, 0.8, 1)
    _, new = graded(50, 0.8, 2)
    both = judged.evaluate(judgements, {"new": new, "old": old}, "nDCG@5")
    m = both.measures[0]
    d = both.runs[0].values[m] - both.runs[1].values[m]
    row = judged.gate(judgements, new, "nDCG@5", baseline=old, max_drop=0.001).rows[0]
    se = d.std(ddof=1) / math.sqrt(len(d))
    crit = stats.t.ppf(0.95, len(d) - 1)
    assert row.sight.drop is not None
    assert 1 - stats.nct.cdf(crit, len(d) - 1, row.sight.drop / se) == pytest.approx(0.8, abs=1e-7)
    assert row.sight.enough is False
    units = row.sight.units
    assert units is not None

    def power(n: int) -> float:
        ratio = 0.001 / d.std(ddof=1) * math.sqrt(n)
        return float(1 - stats.nct.cdf(stats.t.ppf(0.95, n - 1), n - 1, ratio))

    assert power(units) >= 0.8 > power(units - 1)
    assert f"{units:,} queries would be enough." in row.sees
    wide = judged.gate(judgements, new, "nDCG@5", baseline=old, max_drop=0.5).rows[0]
    assert wide.sight.enough is True
    # Among three measures a loss on one alone has to reach Holm's first step.
    three = judged.gate(judgements, new, MEASURES, baseline=old).rows[0].sight.drop
    crit = stats.t.ppf(1 - 0.05 / 3, len(d) - 1)
    assert three is not None
    assert 1 - stats.nct.cdf(crit, len(d) - 1, three / se) == pytest.approx(0.8, abs=1e-7)


def test_the_worst_ten_come_with_both_values() -> None:
    judgements, old = ranked_at([1] * 20)
    _, new = ranked_at([*range(1, 16), 1, 1, 1, 1, 1])
    found = judged.gate(judgements, new, "RR", baseline=old)
    worst = found.worst["RR"]
    assert [loss["query"] for loss in worst] == [f"q{at:03}" for at in range(14, 4, -1)]
    assert (worst[0]["baseline"], worst[0]["value"]) == (1.0, pytest.approx(1 / 15))


def test_minimum_under_safe_is_about_the_bound() -> None:
    judgements, run = graded(30, 0.9, 4)
    values = judged.evaluate(judgements, run, "AP").scored()
    own = next(iter(values.values.values()))
    low = float(own.mean() - stats.t.ppf(0.95, 29) * own.std(ddof=1) / math.sqrt(30))
    for needed, holds in ((low - 1e-6, True), (low + 1e-6, False)):
        found = judged.gate(
            judgements, run, "AP", baseline=run, rule="safe", max_drop=0.01, minimum=needed
        )
        assert found.passed == holds
        assert judged.gate(judgements, run, "AP", baseline=run, minimum=needed).passed


def test_golden_queries() -> None:
    judgements, old = ranked_at([1, 2, 4])
    _, new = ranked_at([1, 3, 2])
    lost = judged.gate(judgements, new, "RR", baseline=old, golden=["q000", "q001", "q002"])
    assert [each.holds for each in lost.golden] == [True, False, True]
    assert lost.golden[1].says == (
        "RR: golden query q001 has 0.333 and does not reach its value in the baseline, 0.500."
    )
    assert lost.says() == (
        "FAILED: RR: golden query q001 has 0.333 and does not "
        "reach its value in the baseline, 0.500."
    )
    for golden in ({"q001": 0.3}, {"q001": {"MRR": 1 / 3}}):
        assert judged.gate(judgements, new, "RR", golden=golden).passed
    assert error_of(judged.gate, judgements, new, "RR", baseline=old, golden=["q01"]) == (
        "the golden queries given: query 'q01' is not judged; did you mean 'q001'?"
    )
    assert error_of(
        judged.gate, judgements, new, ["RR", "AP"], baseline=old, golden={"q001": 0.3}
    ) == ("the golden queries given: the minimum of query 'q001' must name its measure: RR, AP.")


def test_golden_files(tmp_path: Path) -> None:
    judgements, run = ranked_at([1, 2, 4])
    golden = tmp_path / "golden"
    for content, holds in (
        ("q001 RR 0.5\n", True),
        ("# ours\n\nq001 RR 0.6\n", False),
        ("query,measure,minimum\nq001,RR,0.5\nq002,P@1,0\n", True),
        ("q001\tRR\t0.5\n", True),
        ('{"q001": {"RR": 0.5}}', True),
    ):
        golden.write_text(content)
        found = judged.gate(judgements, run, "RR, P@1", golden=golden)
        assert found.passed == found.golden[0].holds == holds, content
    for content, message in (
        ("q001 RR 0.5\nq001 RR 0.6\n", f"{golden}, line 2: query 'q001' occurs twice."),
        ("q001 0.5\n", "the minimum of query 'q001' must name its measure: RR, P@1."),
        ("q77 RR 0.5\n", f"{golden}, line 1: query 'q77' is not judged"),
        ("q001 AP 0.5\n", "AP was not evaluated; there is RR, P@1."),
        (
            "q001 RR nan\n",
            f"{golden}, line 1: the minimum of query 'q001' must be a finite number; got nan.",
        ),
        ("query,minimum\nq001,x\n", "line 2: query 'q001' has no minimum, and there is no"),
        ("\n# nothing\n", f"{golden}: no golden queries found."),
    ):
        golden.write_text(content)
        with pytest.raises(judged.JudgedError) as refused:
            judged.gate(judgements, run, "RR, P@1", golden=golden)
        assert message in str(refused.value), content


def test_the_rule_holds_in_each_slice_too() -> None:
    """p of the slices are corrected as one family; a slice that is too small does not fail."""
    judgements, old = ranked_at([1] * 40)
    _, new = ranked_at([2, 3] * 4 + [1] * 29 + [9] * 3)
    languages = ["de"] * 8 + ["en"] * 29 + ["fr"] * 3
    slices = {query: {"lang": of} for query, of in zip(judgements, languages, strict=True)}
    found = judged.gate(judgements, new, "RR", baseline=old, slices=slices)
    by_slice = {row.slice: row for row in found.slices}
    assert {name: (row.word, row.holds, row.queries) for name, row in by_slice.items()} == {
        "lang de": ("regression", False, 8),
        "lang en": ("identical", True, 29),
        "lang fr": ("too few queries", True, 3),
    }
    d = np.array([1 / 2, 2 / 3] * 4)  # losses
    p = float(stats.ttest_1samp(d, 0, alternative="greater").pvalue)
    assert by_slice["lang de"].p == pytest.approx(p)
    # Of the other slices, one cannot be worse and one has too few: three in the family.
    assert by_slice["lang de"].corrected_p == pytest.approx(3 * p)
    assert by_slice["lang de"].says == (
        "RR, lang de: fell from 1.000 to 0.417, a significant drop of 0.583; allowed drop: 0."
    )
    assert found.says() == (
        "FAILED: RR fell from 1.000 to 0.817 (significant); allowed drop: 0. RR (lang de) fell "
        "from 1.000 to 0.417 (significant); allowed drop: 0."
    )
    assert found.to_dict()["slices"][0]["slice"] == "lang de"
    assert 'name="RR, lang de"' in found.to_junit()
    assert 'tests="4" failures="2" errors="0"' in found.to_junit()
    within = judged.evaluate(judgements, {"old": old, "new": new}, "RR").gate(
        "old", max_drop=0.6, slices=slices
    )
    assert (within.passed, within.slices[0].word) == (True, "allowed")
    small = {query: {"part": "a" if query < "q037" else "b"} for query in judgements}
    passed = judged.gate(judgements, old, "RR", baseline=new, slices=small)
    assert (passed.passed, passed.decided) == (True, True)
    assert passed.says() == (
        "PASSED: no significant drop in RR; none of 2 values in slices fails (1 undecided: too few "
        "queries)."
    )
    table = pl.DataFrame({"query": [*judgements], "lang": languages})
    by_table = judged.gate(judgements, new, "RR", baseline=old, slices=table)
    assert by_table.to_dict()["slices"] == found.to_dict()["slices"]
    relevant = judged.gate(judgements, old, "RR", baseline=new, slices="relevant")
    assert [row.slice for row in relevant.slices] == ["relevant 1"]


def test_repeats_are_one_system() -> None:
    judgements, old = graded(40, 0.8, 1)
    repeats = {f"r{n}": graded(40, 0.8, 50 + n)[1] for n in range(3)}
    found = judged.gate(judgements, repeats, "AP", baseline=old)
    assert found.repeats == 3
    each = judged.evaluate(judgements, repeats, "AP")
    mean = np.mean([run.summary[each.measures[0]] for run in each.runs])
    assert found.rows[0].value == pytest.approx(mean, rel=1e-12)
    assert error_of(
        judged.gate, judgements, repeats, "Rank(aggregate=median)", error=MeasureError, baseline=old
    ) == (
        "Rank(aggregate=median) is not a mean over queries, so repeats of the run "
        "cannot be averaged; compare single runs, or use another measure."
    )
    several = judged.repeats(*repeats.values())
    assert judged.gate(judgements, several, "AP", baseline=old).rows == found.rows
    same = judged.gate(judgements, several, "AP", baseline=several)
    assert same.rows[0].word == "identical"
    compared = compare(judgements, {"old": old, "new": several}, "AP", level=0.90).pair()
    assert compared.p / 2 == pytest.approx(min(found.rows[0].p, 1 - found.rows[0].p), rel=1e-9)


def test_a_run_that_lacks_queries_is_refused() -> None:
    judgements, old = ranked_at([1] * 10)
    partial = {query: own for query, own in old.items() if query > "q001"}
    for new, then, who in ((partial, old, "run"), (old, partial, "baseline")):
        other = "baseline" if who == "run" else "run"
        assert error_of(judged.gate, judgements, new, "RR", error=PolicyError, baseline=then) == (
            f"{who} has no results for 2 (q000, q001) of the 10 judged queries that "
            f"{other} has. Did it run on all of them? To compare anyway, use "
            "policy={'missing': 'zero'} to score these queries 0, or missing=skip "
            "to leave them out."
        )
    assert judged.gate(judgements, partial, "RR", baseline=old, policy={"missing": "skip"}).passed


def test_infinite_values_are_refused_with_what_to_do() -> None:
    judgements, old = ranked_at([1] * 8)
    new = {**old, "q003": ["x"]}
    assert error_of(judged.gate, judgements, new, "Rank", error=MeasureError, baseline=old) == (
        "Rank is infinite for 1 query (q003), so its mean is infinite too; use its "
        "median (Rank(aggregate=median)) or RR."
    )
    assert judged.gate(judgements, new, "Rank(aggregate=median)", baseline=old).passed


@for_each(
    "options, says",
    told(
        """
        rule='los'
            rule must be one of loss, safe, point; got 'los'; did you mean 'loss'?
        rule='safe'
            the rule safe needs an allowed drop above 0 for RR: max_drop={'RR': 0.01}.
        max_drop=-0.1
            max_drop must be a finite number from 0; got -0.1.
        max_drop={'RR': nan}
            max_drop of RR must be a finite number from 0; got nan.
        max_drop={'AP': 0.1}
            AP was not evaluated; there is RR.
        minimum='x'
            minimum must be a finite number; got 'x'.
        minimum={'coverage(risc=0.1)': 0.5}
            minimum cannot read 'coverage(risc=0.1)'; write coverage(risk=0.1),
              risk(threshold=8) or lost(after=RUN)@10.
        minimum={'lost(after=baseline)@1': 0.5}, policy={'depth': 1}
            depth in policy has no meaning for funnel; it takes ties and duplicates.
        baseline=None, minimum=0.1, slices=True
            slices needs baseline.
        level=0.5
            the level of a gate must be above 0.5, such as 0.95; got 0.5.
        update='yes'
            update must be True, False or "force"; got 'yes'.
        golden=[]
            the golden queries given: no golden queries found.
        measures=['RR', 'AP'], minimum=0.3
            minimum must name its measure (RR, AP), such as minimum={'RR':
              0.3}.
        baseline=None
            a gate needs baseline, which is a file that a gate wrote or a run, or minimum.
        golden=3
            golden must be a file, {query: minimum}, {query: {measure: minimum}} or a list of
              queries; got 3.
        update=True
            the baseline: is not a baseline file, so it is not replaced by one; name another
              file to write the baseline to.
        """,
        {"nan": math.nan},
    ),
)
def test_wrong_options_are_refused(options: dict[str, Any], says: str) -> None:
    judgements, run = ranked_at([1, 2])
    assert error_of(
        judged.gate,
        judgements,
        run,
        error=judged.JudgedError,
        **{"measures": "RR", "baseline": run, **options},
    ) == (says)


def test_an_assertion_shows_the_text_of_the_gate() -> None:
    judgements, old = ranked_at([1] * 10)
    _, new = ranked_at([2] * 10)
    assert judged.gate(judgements, old, "RR", baseline=new).passed
    result = judged.gate(judgements, new, "RR", baseline=old)
    assert not result.passed
    assert str(result).startswith("FAILED: RR fell from 1.000 to 0.500 (significant)")
    with pytest.raises(InputError, match="'max_drops'; did you mean 'max_drop'"):
        judged.gate(judgements, new, "RR", baseline=old, max_drops=1)


def test_weights_and_groups_count() -> None:
    judgements, old = ranked_at([1] * 12)
    _, new = ranked_at([2] * 5 + [3, 4] + [1] * 5)
    plain = judged.gate(judgements, new, "RR", baseline=old)
    assert plain.rows[0].word == "regression"
    groups = {query: str(at % 2) for at, query in enumerate(judgements)}
    grouped = judged.gate(judgements, new, "RR", baseline=old, groups=groups)
    assert (grouped.rows[0].word, grouped.rows[0].groups) == ("too few queries", 2)
    weights = {query: 10.0 if query > "q006" else 1.0 for query in judgements}
    weighed = judged.gate(judgements, new, "RR", baseline=old, weights=weights).rows[0]
    each = np.array([0.5] * 5 + [1 / 3, 0.25] + [1] * 5)
    assert weighed.value == pytest.approx(np.average(each, weights=[1] * 7 + [10] * 5))


def test_a_minimum_of_repeats_is_by_the_interval_of_a_comparison() -> None:
    """Repeats that move as a whole widen it: that of a mean, a sum and a geometric mean."""
    judgements, one = graded(30, 0.8, 1)
    runs = judged.repeats(one, *(graded(30, noise, 2)[1] for noise in (2.0, 4.0)))
    bounds = []
    for aggregate in ("mean", "sum", "geometric"):
        measure = judged.AP(aggregate=aggregate)
        limits = {"max_drop": 30.0, "minimum": 0.1}
        found = judged.gate(judgements, runs, measure, baseline=one, rule="safe", **limits)
        both = judged.compare(judgements, {"a": runs, "b": one}, measure, level=0.9)
        bounds.append(found.minima[0].bound)
        assert bounds[-1] == both.interval(run="a").low
    assert bounds[1] == pytest.approx(30 * bounds[0])


def test_a_set_too_small_for_safe_is_undecided() -> None:
    """Fewer than six queries, groups or effective queries; unless the drop is safe all the same."""
    for size in (2, 5, 6):
        judgements, old = ranked_at([1] * size)
        _, new = ranked_at([2, 1] + [3] * (size - 2))
        found = judged.gate(judgements, new, "RR", baseline=old, rule="safe", max_drop=0.1)
        assert not found.passed
        assert found.decided == (size == 6)
    judgements, old = ranked_at([1] * 40)
    _, new = ranked_at([1 + at % 3 for at in range(40)])
    query = next(iter(judgements))
    weights = {each: 1000.0 if each == query else 1.0 for each in judgements}
    found = judged.gate(
        judgements, new, "RR", baseline=old, rule="safe", max_drop=0.1, weights=weights
    )
    assert found.says() == (
        "UNDECIDED: too few queries for a drop that is significantly smaller than allowed in RR."
    )
    assert found.rows[0].sees == (
        "RR: the drop that 40 queries would detect is unknown: 40 queries count as "
        "1.1 queries of equal weight (Kish), too few."
    )


def test_a_constant_median_reaches_its_minimum_under_safe() -> None:
    judgements, run = ranked_at([1] * 10)
    assert judged.gate(judgements, run, "MedR", minimum={"MedR": 2}, rule="safe").passed


def test_a_loss_fails_only_where_the_comparison_shows_it() -> None:
    words = set()
    for seed in range(25):
        size = int(RNG.integers(2, 40))
        judgements, old = ranked_at(RNG.integers(1, 5, size))
        _, new = ranked_at(RNG.integers(1, 6, size))
        row = judged.gate(judgements, new, "RR", baseline=old).rows[0]
        # One-sided at 95 % is two-sided at 90 %, in the direction of the loss.
        pair = compare(
            judgements, {"old": old, "new": new}, "RR", baseline="old", level=0.90
        ).pair()
        few = compare(judgements, {"old": old, "new": new}, "RR", baseline="old").pair()
        worse = pair.verdict == "worse" and few.verdict != "too few differ"
        assert (row.word == "regression") == worse, seed
        words.add(row.word)
    assert {"regression", "no drop", "not significant"} <= words


def test_a_few_heavy_queries_decide_nothing() -> None:
    judgements, old = ranked_at([1] * 50)
    _, new = ranked_at([2] * 50)
    weights = {query: 49.0 if query == "q000" else 1.0 for query in judgements}
    found = judged.gate(judgements, new, "RR", baseline=old, weights=weights)
    assert (found.passed, found.decided) == (False, False)
    assert "50 queries count as 3.9 of equal weight (Kish)" in found.rows[0].says
    unsafe = judged.gate(
        judgements, new, "RR", baseline=old, weights=weights, rule="safe", max_drop=0.6
    )
    assert (unsafe.passed, unsafe.decided) == (False, False)


def test_one_query_is_never_certain() -> None:
    judgements, old = ranked_at([1])
    _, new = ranked_at([9])
    assert judged.gate(judgements, new, "RR", baseline=old).rows[0].word == "too few queries"
    safe = judged.gate(judgements, old, "RR", baseline=new, rule="safe", max_drop=0.5)
    assert safe.rows[0].word == "too few queries"
