"""Methods of a comparison in words: a line under the tables, notes, and a methods paragraph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from judged import __version__
from judged.comparison.settings import CORRECTIONS, POWERED, SIMULTANEOUS, TEST_NAMES
from judged.comparison.wording import amount, percent_of, shown_margin
from judged.evaluation.wording import about_trusted
from judged.statistics.t import below
from judged.text import Warned, counted, few, listed

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.comparison.verdicts import Pair

RANDOM_METHODS = frozenset({"randomisation", "bootstrap", "bca", "percentile", "randomised-tukey"})
"""Tests, corrections and intervals that draw random numbers."""
TESTS_OF_MEANS = ("t", POWERED)
"""Tests that "auto" chooses for means."""
TEST_EXPLANATIONS = {
    "wilcoxon": "Wilcoxon's test is about the ranks of the differences, not about the mean. The "
    "confidence interval is that of t, for the mean difference.",
    "sign": "The sign test counts the queries on which each run is better. The confidence interval "
    "is that of t, for the mean difference.",
}
"""Explanations of tests that are not about the difference of the values."""
ONE_RUN = (
    "Each system has one run, so the variation between runs of a system is unknown. If results "
    "change from run to run (sampling, seeds, approximate indexes), compare repeats."
)
IN_A_PAPER = {
    "t": "Student's paired t test",
    "randomisation": "the paired randomisation test (signs of differences flipped at random, the "
    "interval by inversion)",
    "bootstrap": "the paired bootstrap over queries (percentile interval, p by inversion)",
    "bca": "the paired bootstrap over queries (BCa interval, p by inversion)",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "the exact sign test",
    POWERED: "prediction-powered inference (PPI++) on the per-query differences, with λ tuned for "
    "each difference, and Student's t",
    "holm": "by Holm's method",
    "bonferroni": "by Bonferroni's method",
    "bh": "by the method of Benjamini and Hochberg, which controls the false discovery rate,",
    "tukey": "by Tukey's test in its two-way form for paired values",
    "randomised-tukey": "by the randomised Tukey test",
}
"""Tests and corrections as papers name them."""
AGGREGATES = {"mean": "", "": "", "sum": "sum", "geometric": "geometric mean", "median": "median"}
"""Names of summaries other than the mean."""


def method_line(comparison: Comparison) -> str:
    """Return the test, the correction and the confidence level in one line."""
    settings = comparison.settings
    sliced = ""
    if len(comparison.slices) and settings.correction != "none":
        sliced = f"; in slices: {CORRECTIONS[settings.correction]} over all of an attribute"
    draws = ""
    if draws_at_random(comparison):
        draws = f"; {settings.resamples:,} resamples, seed {settings.seed}"
    return (
        f"Test: {_tests(comparison)}; correction: {_correction(comparison)}{sliced}; confidence "
        f"level: {percent_of(settings.level)}{draws}."
    )


def _tests(comparison: Comparison) -> str:
    tests = []
    for test, names in _measures_by_test(comparison).items():
        only = "" if comparison.settings.test != "auto" or test in TESTS_OF_MEANS else listed(names)
        tests.append(TEST_NAMES[test] + (f" for {only} (not a mean)" if only else ""))
    return ", ".join(tests)


def _measures_by_test(comparison: Comparison) -> dict[str, list[str]]:
    """Return the measures of each test, tests of means first."""
    measures: dict[str, list[str]] = {}
    for measure, test in dict.fromkeys((row.measure, row.test) for row in comparison.rows):
        measures.setdefault(test, []).append(measure)
    return dict(sorted(measures.items(), key=lambda item: item[0] not in TESTS_OF_MEANS))


def _correction(comparison: Comparison) -> str:
    chosen = comparison.settings.correction
    if chosen in SIMULTANEOUS:
        return f"{CORRECTIONS[chosen]} over {_all_pairs(comparison)} of each measure"
    number, over = family_of(comparison)
    if chosen == "none":
        return f"none for {over}" if number > 1 else "none"
    return f"{CORRECTIONS[chosen]} over {over}" if number > 1 else f"none needed for {over}"


def _all_pairs(comparison: Comparison) -> str:
    number = math.comb(len(comparison.corrected_among or comparison.runs), 2)
    return f"all {counted(number, 'pair')} of runs" if number > 1 else "the pair of runs"


def family_of(comparison: Comparison) -> tuple[int, str]:
    """Return how many comparisons are corrected together, and which."""
    runs = len(comparison.corrected_among or comparison.runs)
    number = math.comb(runs, 2) if comparison.baseline is None else runs - 1
    among = f" among all {runs:,} runs" if runs > len(comparison.runs) else ""
    which = "of each measure" if len(comparison.measures) > 1 else f"of {comparison.measures[0]}"
    return number, f"{counted(number, 'comparison')} {which}{among}"


def draws_at_random(comparison: Comparison) -> bool:
    """Return whether random numbers were drawn."""
    tests = {row.test for row in comparison.rows}
    intervals = {interval.method for interval in comparison.intervals.values()}
    return not RANDOM_METHODS.isdisjoint({comparison.settings.correction, *tests, *intervals})


def has_repeats(comparison: Comparison) -> bool:
    """Return whether any system has several runs."""
    return any(entry.repeats is not None for entry in comparison.numbers.entries.values())


# -- notes


def notes(comparison: Comparison) -> list[str]:
    """Return what is worth knowing but does not mislead."""
    noticed = (*comparison.numbers.notes, *comparison.notes)
    tests = _measures_by_test(comparison)
    return [
        *dict.fromkeys(str(text) for text in noticed if not isinstance(text, Warned)),
        *(text for row in comparison.rows for text in _on_other_queries(comparison, row)),
        *(TEST_EXPLANATIONS[test] for test in tests if test in TEST_EXPLANATIONS),
        *_about_trusted(comparison),
        *_disagreeing(comparison),
        *_unreachable(comparison),
        *_grouped(comparison),
        *(noise.says for noise in comparison.noise),
    ]


def _about_trusted(comparison: Comparison) -> list[str]:
    corrections = [row.trusted for row in comparison.rows if row.trusted is not None]
    evaluation = comparison.evaluation
    if not corrections or evaluation is None or evaluation.trusted is None:
        return []
    narrower = sum(correction.narrower == "corrected" for correction in corrections)
    queries = len(comparison.numbers.queries)
    return [
        f"{about_trusted(evaluation.trusted, queries)}: they correct values and differences, each "
        "with its own λ, so a difference need not equal that of the two values. Wins, ties and "
        "losses are not corrected. The effect of ties and missing queries was not checked.",
        "The corrected confidence interval is narrower than that of the trusted judgements alone "
        f"for {narrower:,} of {counted(len(corrections), 'difference')}.",
    ]


def _unreachable(comparison: Comparison) -> list[str]:
    """Explain pairs that no data could have made significant."""
    settings = comparison.settings
    rows = [row for row in comparison.rows if row.test not in TESTS_OF_MEANS]
    if not rows or settings.correction not in ("holm", "bonferroni", "none"):
        return []
    number, over = family_of(comparison)
    times = 1 if settings.correction == "none" else number
    smallest = [
        row.smallest_p
        for row in rows
        if row.verdict == "not significant" and not below(row.smallest_p * times, settings.level)
    ]
    if not smallest:
        return []
    least = f"{min(smallest):.2g}{' or more' if min(smallest) < max(smallest) else ''}"
    among = f", times {times:,} for the {over}," if times > 1 else ""
    return [
        f"{counted(len(smallest), 'pair')} could not become significant: the smallest possible p, "
        f"{least}{among} is not below {1 - settings.level:.10g}. Compare with a baseline, or use "
        "the test t."
    ]


def _grouped(comparison: Comparison) -> list[str]:
    sentences = []
    for name in comparison.measures:
        rows = [row for row in comparison.rows if row.measure == name and row.groups is not None]
        wider = sorted(row.wider for row in rows if row.wider is not None)
        if wider:
            ends = list(dict.fromkeys(f"{ratio:.2f}" for ratio in (wider[0], wider[-1])))
            sentences.append(
                f"{name}: {_queries(rows)}; confidence intervals of differences are "
                f"{' to '.join(ends)} times as wide as for independent queries."
            )
    return sentences


def _on_other_queries(comparison: Comparison, row: Pair) -> list[str]:
    """Explain that a pair is compared on other queries than the values of its runs."""
    values = []
    for run, there in ((row.run, row.value), (row.against, row.against_value)):
        queries = len(comparison.numbers.entries[row.measure, run].place)
        if queries != row.queries:
            here = amount(comparison.values[row.measure][run])
            values.append(f"{run} has {amount(there)} there, and {here} on its {queries:,} queries")
    if not values:
        return []
    return [
        f"{row.measure}: {row.run} and {row.against} are compared on "
        f"{counted(row.queries, 'common query', 'common queries')}; {'; '.join(values)}."
    ]


def _disagreeing(comparison: Comparison) -> list[str]:
    """Name pairs whose p is not about the mean and contradicts the interval of the mean."""
    pairs = [
        f"{row.run} against {row.against} on {row.measure}"
        for row in comparison.rows
        if row.test in TEST_EXPLANATIONS
        and not math.isnan(row.interval.low)
        and bool(below(row.p, comparison.settings.level))
        != (row.interval.low > 0 or row.interval.high < 0)
    ]
    if not pairs:
        return []
    return [
        f"p and confidence interval disagree for {few(pairs)}: they are about different quantities."
    ]


# -- the methods paragraph


def methods(comparison: Comparison) -> str:
    """Return what was compared, tested and corrected, as a paragraph for a paper."""
    settings = comparison.settings
    correction = _corrected(comparison)
    p = "p" if correction.startswith("No ") else "the corrected p"
    sentences = [
        f"Runs were compared with judged {__version__}: {_compared(comparison)}, query by query on "
        f"the queries that count in both ({_queries(comparison.rows)}).",
        f"Differences were tested two-sided by {_tested(comparison)}.",
        f"{correction} A difference is significant if {p} is below {1 - settings.level:.10g}; "
        f"confidence intervals have a level of {percent_of(settings.level)}.",
        *_margins(comparison),
        *_designed(comparison),
        f"The detectable difference is the true difference that would be detected with "
        f"{percent_of(settings.power)} power (noncentral t{_at_first_step(comparison)}).",
    ]
    if draws_at_random(comparison):
        sentences.append(f"{settings.resamples:,} resamples were drawn with seed {settings.seed}.")
    return " ".join([*sentences, *_measured(comparison)])


def _compared(comparison: Comparison) -> str:
    if comparison.reference is None:
        runs = f"{len(comparison.runs):,} runs ({', '.join(comparison.runs)})"
        return f"all {counted(math.comb(len(comparison.runs), 2), 'pair')} of {runs}"
    others = [run for run in comparison.runs if run != comparison.reference]
    return f"{listed(others)} with {comparison.reference}"


def _queries(rows: Sequence[Pair]) -> str:
    numbers = [row.queries for row in rows]
    least, most = min(numbers), max(numbers)
    number = (
        counted(most, "query", "queries") if least == most else f"{least:,} to {most:,} queries"
    )
    groups = [row.groups for row in rows if row.groups is not None]
    return f"{number} in {counted(max(groups), 'group')}" if groups else number


def _tested(comparison: Comparison) -> str:
    by_test = _measures_by_test(comparison)
    if comparison.settings.correction in SIMULTANEOUS:
        return f"{listed([IN_A_PAPER[test] for test in by_test])} unless stated otherwise"
    if len(by_test) == 1:
        return IN_A_PAPER[next(iter(by_test))]
    return listed([f"{IN_A_PAPER[test]} ({', '.join(names)})" for test, names in by_test.items()])


def _corrected(comparison: Comparison) -> str:
    chosen = comparison.settings.correction
    if chosen in SIMULTANEOUS:
        return (
            f"Corrected p-values and simultaneous confidence intervals of "
            f"{_all_pairs(comparison)} are {IN_A_PAPER[chosen]}."
        )
    number, over = family_of(comparison)
    if chosen == "none" or number == 1:
        return "No p-value was corrected."
    return f"p-values were corrected {IN_A_PAPER[chosen]} over the {over}."


def _margins(comparison: Comparison) -> list[str]:
    margins = {name: comparison.settings.margin_of(name) for name in comparison.measures}
    known = [f"{shown_margin(size)} ({name})" for name, size in margins.items() if size is not None]
    if not known:
        return []
    return [
        f"Runs are equivalent if two one-sided tests put the difference inside a margin of "
        f"{listed(known)}{_at_first_step(comparison)}."
    ]


def _at_first_step(comparison: Comparison) -> str:
    """Return the bound of p for one of several comparisons."""
    adjusted = comparison.settings.among(family_of(comparison)[0])
    if adjusted.comparisons == 1:
        return ""
    return f", at {1 - adjusted.tested_level:.2g} by Bonferroni"


def _measured(comparison: Comparison) -> list[str]:
    if comparison.evaluation is not None:
        return [comparison.evaluation.methods()]
    lower = [m.name for m in comparison.numbers.measures if not m.higher_is_better]
    sentences = [f"The values of {listed(list(comparison.measures))} were computed elsewhere."]
    if lower:
        sentences.append(f"Lower values of {listed(lower)} are better.")
    entries = comparison.numbers.entries
    by_aggregate: dict[str, list[str]] = {}
    for (measure, _), entry in entries.items():
        names = by_aggregate.setdefault(AGGREGATES[entry.sample.aggregate], [])
        names += [] if measure in names else [measure]
    for aggregate, names in by_aggregate.items():
        sentences += [f"Runs have the {aggregate} of {listed(names)}."] if aggregate else []
    if any(entry.sample.weights is not None for entry in entries.values()):
        sentences.append("Queries are weighted.")
    return sentences


def _designed(comparison: Comparison) -> list[str]:
    sentences = []
    if comparison.numbers.groups is not None:
        sentences.append(
            "Queries of a group are not independent: variances are those of group sums."
        )
    if comparison.numbers.repeated:
        counts = [f"{len(names):,} of {run}" for run, names in comparison.numbers.repeated.items()]
        sentences.append(
            f"Systems were run repeatedly ({listed(counts)}): a query's value is the mean over "
            "repeats, and standard errors include the variance of the repeats' means that queries "
            "do not explain, with Satterthwaite's degrees of freedom."
        )
    attributes = list(dict.fromkeys(part.attribute for part in comparison.slices))
    if attributes:
        corrected = "; p was corrected over all slices of an attribute"
        corrected = "" if comparison.settings.correction == "none" else corrected
        units = "" if comparison.numbers.groups is None else " with groups as units"
        sentences.append(
            f"Runs were also compared in slices of the queries by {listed(attributes)}{corrected}. "
            f"Whether differences differ between slices was tested by Welch's F{units}."
        )
    return sentences
