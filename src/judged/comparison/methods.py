"""How a comparison was made, in words: a line under the table, notes, and a paragraph for a methods
section."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from judged import __version__
from judged.comparison.settings import CORRECTIONS, POWERED, SIMULTANEOUS, TESTS, WORDS
from judged.comparison.wording import amount, shown_level, shown_margin
from judged.evaluation.wording import about_trusted
from judged.statistics.tested import below
from judged.text import Warned, counted, listed

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.comparison.verdicts import Pair

DRAWN = frozenset({"randomisation", "bootstrap", "bca", "percentile", "randomised-tukey"})
"""Tests, corrections and intervals for which random numbers are drawn."""
TESTED = {
    "wilcoxon": "Wilcoxon's test asks whether the differences lie evenly around 0, by their ranks; "
    "it says nothing of the mean, and the interval is that of t, of the mean difference",
    "sign": "the sign test counts on how many queries each run is better, whatever by how much; "
    "the interval is that of t, of the mean difference",
}
"""What tests are about that are not about the difference of the numbers."""
ONE_RUN = (
    "each system is here by one run, which cannot tell the system from its run: where results "
    "change from run to run (sampling, seeds, approximate indexes), compare repeats"
)
IN_A_PAPER = {
    "t": "Student's paired t test",
    "randomisation": "the paired randomisation test (signs of differences flipped at random, the "
    "interval by inversion)",
    "bootstrap": "the paired bootstrap over queries (percentile interval, p by inversion)",
    "bca": "the paired bootstrap over queries (BCa interval, p by inversion)",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "the exact sign test",
    POWERED: "prediction-powered inference (PPI++) on the differences of the queries, with a λ "
    "tuned for each difference, and Student's t",
    "holm": "by Holm's method",
    "bonferroni": "by Bonferroni's method",
    "bh": "by the method of Benjamini and Hochberg, which bounds the share of false discoveries,",
    "tukey": "by Tukey's test in its two-way form for paired values",
    "randomised-tukey": "by the randomised Tukey test",
}
"""Tests and corrections, as a paper calls them."""


BY_DEFAULT = ("t", POWERED)
"""Tests of means that nobody has to ask for."""


def done(comparison: Comparison) -> str:
    """One line: the test, the correction, the level."""
    settings = comparison.settings
    sliced = ""
    if len(comparison.slices) and settings.correction != "none":
        sliced = f"; in slices: {CORRECTIONS[settings.correction]} over all of an attribute"
    draws = f"; {settings.resamples:,} resamples, seed {settings.seed}" if drawn(comparison) else ""
    return (
        f"test: {_tests(comparison)}; correction: {_correction(comparison)}{sliced}; level "
        f"{shown_level(settings.level)}{draws}."
    )


def _tests(comparison: Comparison) -> str:
    """The tests, and why measures have another one than t where nobody chose it."""
    by = _measures_by_test(comparison)
    if comparison.settings.test != "auto":
        return ", ".join(TESTS[each] for each in by)
    said = [WORDS[each] for each in BY_DEFAULT if each in by]
    others = {each: listed(names) for each, names in by.items() if each not in BY_DEFAULT}
    said += [f"{TESTS[each]} for {names}, no mean over queries" for each, names in others.items()]
    return ", ".join(said)


def _measures_by_test(comparison: Comparison) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for measure, test in dict.fromkeys((row.measure, row.test) for row in comparison.rows):
        found.setdefault(test, []).append(measure)
    return found


def _correction(comparison: Comparison) -> str:
    chosen = comparison.settings.correction
    if chosen in SIMULTANEOUS:
        return f"{CORRECTIONS[chosen]} over {_all_pairs(comparison)} of each measure"
    number, over = family_of(comparison)
    if chosen == "none":
        return f"none, each of {over} stands alone" if number > 1 else "none"
    return f"{CORRECTIONS[chosen]} over {over}" if number > 1 else f"none needed for {over}"


def _all_pairs(comparison: Comparison) -> str:
    number = math.comb(len(comparison.corrected_among or comparison.runs), 2)
    return f"all {counted(number, 'pair')} of runs" if number > 1 else "the pair of runs"


def family_of(comparison: Comparison) -> tuple[int, str]:
    """How many comparisons are corrected together, and which."""
    runs = len(comparison.corrected_among or comparison.runs)
    number = math.comb(runs, 2) if comparison.baseline is None else runs - 1
    among = f" among all {runs:,} runs" if runs > len(comparison.runs) else ""
    if comparison.settings.family == "all":
        number *= len(comparison.measures)
        return number, f"{counted(number, 'comparison')} of all measures{among}"
    each = "of each measure" if len(comparison.measures) > 1 else f"of {comparison.measures[0]}"
    return number, f"{counted(number, 'comparison')} {each}{among}"


def drawn(comparison: Comparison) -> bool:
    """Whether anything was drawn at random."""
    used: Iterable[str | None] = (
        comparison.settings.correction,
        *(row.test for row in comparison.rows),
        *(
            comparison.interval(measure, run).method
            for measure in comparison.measures
            for run in comparison.runs
        ),
    )
    return any(each in DRAWN for each in used)


def notes(comparison: Comparison) -> list[str]:
    """What was noticed: on the way in, on which queries pairs are, what a test is about."""
    own = (*comparison.numbers.notes, *comparison.notes)
    return [
        *dict.fromkeys(str(text) for text in own if not isinstance(text, Warned)),
        *(text for row in comparison.rows for text in _on_other_queries(comparison, row)),
        *(f"{TESTED[test]}." for test in _measures_by_test(comparison) if test in TESTED),
        *_corrected_by_trusted(comparison),
        *_disagreeing(comparison),
        *_unreachable(comparison),
        *_grouped(comparison),
        *(each.says for each in comparison.noise),
    ]


def _corrected_by_trusted(comparison: Comparison) -> list[str]:
    """Whose judgements correct the differences, which interval is narrower, and what stays as it
    is."""
    known = [(row, row.trusted) for row in comparison.rows if row.trusted is not None]
    if not known or comparison.evaluation is None or comparison.evaluation.trusted is None:
        return []
    narrower = sum(each.narrower == "corrected" for _, each in known)
    queries = len(comparison.numbers.queries)
    return [
        f"{about_trusted(comparison.evaluation.trusted, queries)}: values and differences are "
        "corrected by "
        "them, each with a λ of its own, so a difference need not be that of two values; wins, "
        "ties and losses are those by the cheap judgements, and what ties and missing queries "
        "could change was not looked into.",
        f"the corrected interval is narrower than that by the trusted judgements alone for "
        f"{narrower:,} of {counted(len(known), 'difference')}.",
    ]


def _unreachable(comparison: Comparison) -> list[str]:
    """Pairs that no data could have shown: the smallest p there is, corrected, is not below."""
    settings = comparison.settings
    number, over = family_of(comparison)
    if settings.correction not in ("holm", "bonferroni", "none"):
        return []
    times = 1 if settings.correction == "none" else number
    found = [
        row.smallest_p
        for row in comparison.rows
        if row.test not in BY_DEFAULT
        and row.verdict == "no evidence"
        and not below(row.smallest_p * times, settings.level)
    ]
    if not found:
        return []
    pairs = counted(len(found), "pair")
    among = f", times {times:,} for the {over}," if times > 1 else ""
    return [
        f"of {pairs} nothing could be shown: the smallest p that their queries or resamples allow, "
        f"{min(found):.2g}{' or more' if min(found) < max(found) else ''}{among} is not below "
        f"{1 - settings.level:.10g}. Take more resamples, compare with a baseline, or the test t."
    ]


def _grouped(comparison: Comparison) -> list[str]:
    """How many groups there are, and how much wider they make intervals."""
    found = []
    for name in comparison.measures:
        rows = [row for row in comparison.rows if row.measure == name and row.groups is not None]
        wider = sorted(row.wider for row in rows if row.wider is not None)
        if wider:
            ends = list(dict.fromkeys(f"{each:.2f}" for each in (wider[0], wider[-1])))
            found.append(
                f"{name}: {_queries(rows)}; intervals of differences are {' to '.join(ends)} "
                "times as wide as if queries were independent."
            )
    return found


def _on_other_queries(comparison: Comparison, row: Pair) -> list[str]:
    """That a pair is on other queries than the values of its runs, and what that does to them."""
    said = []
    for run, there in ((row.run, row.value), (row.against, row.against_value)):
        queries = len(comparison.numbers.entries[row.measure, run].place)
        if queries != row.queries:
            here = amount(comparison.value(row.measure, run))
            said.append(f"{run} has {amount(there)} there, and {here} on its {queries:,}")
    if not said:
        return []
    return [
        f"{row.measure}: {row.run} and {row.against} are compared on the "
        f"{counted(row.queries, 'query that counts', 'queries that count')} in both; "
        f"{'; '.join(said)}."
    ]


def _disagreeing(comparison: Comparison) -> list[str]:
    """Pairs whose p is not about the mean, where it and the interval of the mean say different
    things."""
    found = [
        f"{row.run} against {row.against} on {row.measure}"
        for row in comparison.rows
        if row.test in TESTED and not math.isnan(row.interval.low) and _differ(row, comparison)
    ]
    if not found:
        return []
    some = f"{', '.join(found[:3])}{f' and {len(found) - 3:,} more' if len(found) > 3 else ''}"
    return [f"p and interval say different things of {some}: they are about different questions."]


def _differ(row: Pair, comparison: Comparison) -> bool:
    outside = row.interval.low > 0 or row.interval.high < 0
    return bool(below(row.p, comparison.settings.level)) != outside


def one_run_each(comparison: Comparison) -> bool:
    """Whether no system is here by several runs."""
    return all(entry.repeats is None for entry in comparison.numbers.entries.values())


def methods(comparison: Comparison) -> str:
    """What was compared, how it was tested and corrected; then what was evaluated."""
    settings = comparison.settings
    level = shown_level(settings.level)
    told = [
        f"Runs were compared with judged {__version__}: {_compared(comparison)}, query by query on "
        f"the queries that count in both ({_queries(comparison.rows)}).",
        f"Differences were tested two-sided by {_tested(comparison)}.",
        f"{_corrected(comparison)} A difference counts as shown where "
        f"{'p' if 'No p' in _corrected(comparison) else 'the corrected p'} is below "
        f"{1 - settings.level:.10g}; intervals are {level} intervals.",
        *_margins(comparison),
        *_designed(comparison),
        f"Detectable is the difference that would have been found with a probability of "
        f"{settings.power:g} (noncentral t{_at_first_step(comparison)}).",
        *(
            [f"{settings.resamples:,} resamples were drawn with seed {settings.seed}."]
            if drawn(comparison)
            else []
        ),
        *_measured(comparison),
    ]
    return " ".join(told)


def _compared(comparison: Comparison) -> str:
    against = comparison.reference
    if against is None:
        return f"all {counted(math.comb(len(comparison.runs), 2), 'pair')} of {_runs(comparison)}"
    others = [run for run in comparison.runs if run != against]
    return f"{listed(others)} with {against}"


def _runs(comparison: Comparison) -> str:
    return f"{len(comparison.runs):,} runs ({', '.join(comparison.runs)})"


def _queries(rows: Sequence[Pair]) -> str:
    numbers = [row.queries for row in rows]
    least, most = min(numbers), max(numbers)
    said = counted(most, "query", "queries") if least == most else f"{least:,} to {most:,} queries"
    groups = [row.groups for row in rows if row.groups is not None]
    return f"{said} in {counted(max(groups), 'group')}" if groups else said


def _tested(comparison: Comparison) -> str:
    by = _measures_by_test(comparison)
    if comparison.settings.correction in SIMULTANEOUS:
        return f"{listed([IN_A_PAPER[test] for test in by])} where nothing else is said"
    if len(by) == 1:
        return IN_A_PAPER[next(iter(by))]
    return listed([f"{IN_A_PAPER[test]} ({', '.join(names)})" for test, names in by.items()])


def _corrected(comparison: Comparison) -> str:
    chosen = comparison.settings.correction
    if chosen in SIMULTANEOUS:
        return (
            f"Corrected p-values and simultaneous intervals of {_all_pairs(comparison)} are "
            f"{IN_A_PAPER[chosen]}."
        )
    number, over = family_of(comparison)
    if chosen == "none" or number == 1:
        return "No p-value was corrected."
    return f"p-values were corrected {IN_A_PAPER[chosen]} over the {over}."


def _margins(comparison: Comparison) -> list[str]:
    margins = {name: comparison.settings.margin_of(name) for name in comparison.measures}
    known = [f"{shown_margin(by)} ({name})" for name, by in margins.items() if by is not None]
    if not known:
        return []
    return [
        f"Runs count as equivalent where two one-sided tests put the difference inside a margin of "
        f"{listed(known)}{_at_first_step(comparison)}."
    ]


def _at_first_step(comparison: Comparison) -> str:
    """What p one of several comparisons has to be below, whatever the others are."""
    own = comparison.settings.among(family_of(comparison)[0])
    return "" if own.comparisons == 1 else f", at {1 - own.tested_level:.2g} by Bonferroni"


def _measured(comparison: Comparison) -> list[str]:
    """Where the numbers come from."""
    if comparison.evaluation is not None:
        return [comparison.evaluation.methods()]
    lower = [each.name for each in comparison.numbers.measures if not each.higher_is_better]
    return [
        f"The values of {listed(list(comparison.measures))} were computed elsewhere.",
        *([f"Of {listed(lower)}, lower is better."] if lower else []),
        *_summed_up(comparison),
    ]


def _summed_up(comparison: Comparison) -> list[str]:
    """How values that were computed elsewhere become one number, where that is not their mean."""
    entries = comparison.numbers.entries
    by: dict[str, list[str]] = {}
    for (measure, _), entry in entries.items():
        names = by.setdefault(AGGREGATED[entry.sample.aggregate], [])
        names += [] if measure in names else [measure]
    found = [f"Runs have the {how} of {listed(names)}." for how, names in by.items() if how]
    if any(entry.sample.weights is not None for entry in entries.values()):
        found.append("Each query counts by its weight.")
    return found


AGGREGATED = {"mean": "", "": "", "sum": "sum", "geometric": "geometric mean", "median": "median"}
"""What becomes of values, in words."""


def _designed(comparison: Comparison) -> list[str]:
    """What groups, repeats and slices do to the numbers."""
    found = []
    if comparison.numbers.groups is not None:
        found.append(
            "Queries of a group are not taken for independent: spreads are those of sums by group."
        )
    if comparison.numbers.repeated:
        many = [f"{len(own):,} of {run}" for run, own in comparison.numbers.repeated.items()]
        found.append(
            f"Systems were run repeatedly ({listed(many)}): a query's value is the mean over "
            "repeats, and standard errors include the variance of the repeats' means that queries "
            "do not explain, with Satterthwaite's degrees of freedom."
        )
    if attributes := list(dict.fromkeys(each.attribute for each in comparison.slices)):
        corrected = (
            ""
            if comparison.settings.correction == "none"
            else ("; p was corrected over all slices of an attribute as one family")
        )
        found.append(
            f"Runs were also compared in slices of the queries by {listed(attributes)}{corrected}. "
            "Whether differences differ between slices was tested by Welch's F"
            f"{'' if comparison.numbers.groups is None else ' with groups as units'}."
        )
    return found
