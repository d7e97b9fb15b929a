"""A comparison as people read it: tables, LaTeX, notes, and a methods paragraph."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from string import ascii_lowercase
from typing import TYPE_CHECKING

from judged import __version__
from judged.comparison.settings import CORRECTIONS, POWERED, SIMULTANEOUS, TEST_NAMES
from judged.comparison.verdicts import SIGNIFICANT, better_and_worse, leaderboard
from judged.comparison.wording import amount, percent_of, shown_margin, shown_p, with_sign
from judged.evaluation.export import Look
from judged.evaluation.wording import about_trusted
from judged.results import Table
from judged.statistics.intervals import Interval
from judged.statistics.samples import CLOSE
from judged.statistics.t import below
from judged.text import Bold, Latex, Left, Warned, counted, latex, listed, percent, shown

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.comparison.numbers import Compared
    from judged.comparison.slices import Slice
    from judged.comparison.verdicts import Pair, Place
    from judged.evaluation.trusted import Correction

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
Column = tuple[str, list[str]]
"""A header and its cells."""
CORRECTED_P = "corrected p"
DETAILS = ("d_z", "wins/ties/losses", "detectable")
"""Columns of pairs that text shows only with `verbose`."""


@dataclass(frozen=True)
class NumberFormat:
    """Format of the numbers of one measure."""

    measure: Compared
    look: Look = field(default_factory=Look)

    @cached_property
    def _digits(self) -> Callable[[float | None], str]:
        is_share = tuple(self.measure.range) == (0, 1)
        form = percent if is_share and self.look.percent else shown
        return partial(form, decimals=self.look.decimals_of(is_share))

    @cached_property
    def name(self) -> Left:
        in_percent = self.look.percent and tuple(self.measure.range) == (0, 1)
        return Left(f"{self.measure.name} %" if in_percent else self.measure.name)

    def values(self, values: Sequence[float | None], *, signed: bool = False) -> list[str]:
        """Return values as text, those of differences with their signs."""
        if signed:
            values = _without_rounding(values)
        texts = [
            f"{value:.4g}" if value is not None and 1e15 <= abs(value) < math.inf else text
            for value, text in zip(values, list(map(self._digits, values)), strict=True)
        ]
        texts = [text.replace("-", "−") for text in texts]
        return list(map(with_sign, texts, values)) if signed else texts

    def with_intervals(
        self, values: Sequence[float | None], intervals: Sequence[Interval], *, signed: bool = False
    ) -> tuple[list[str], list[str]]:
        ends = [(value, of.low, of.high) for value, of in zip(values, intervals, strict=True)]
        texts = self.values([end for three in ends for end in three], signed=signed)
        within = [
            "–" if "–" in (low, high) else f"{low} … {high}"
            for low, high in zip(texts[1::3], texts[2::3], strict=True)
        ]
        return texts[::3], within


def _without_rounding(values: Sequence[float | None]) -> list[float | None]:
    """Return numbers, with 0 for those that are nothing but rounding, whose sign is random."""
    return [0.0 if value is not None and abs(value) <= CLOSE else value for value in values]


def tables(comparison: Comparison, look: Look) -> list[Table]:
    """Return the tables of all measures, then those of slices and of trusted judgements."""
    formats = [NumberFormat(measure, look) for measure in comparison.numbers.measures]
    made = [table for format in formats for table in _measure_tables(comparison, format)]
    made += [table for format in formats for table in slice_tables(comparison, format)]
    if any(row.trusted is not None for row in comparison.rows):
        made += [_trusted_table(comparison, format) for format in formats]
    return made


def _measure_tables(comparison: Comparison, format: NumberFormat) -> list[Table]:
    """Return values beside differences from the baseline; or the leaderboard, then all pairs."""
    rows = _rows(comparison.rows, format)
    if comparison.reference:
        by_run = {row.run: row for row in rows}
        beside = [by_run.get(run) for run in comparison.runs]
        head = f"against {comparison.reference}"
        columns = [
            (format.name, list(comparison.runs)),
            *_values(comparison, format, comparison.runs),
            *_differences(comparison, format, beside, head),
        ]
        return [_table(columns, details=[2])]  # the interval of the value
    places = comparison.leaderboard(format.measure.name)
    runs = [place.run for place in places]
    board: list[Column] = [
        (format.name, runs),
        ("rank", [rank_range(place.rank_low, place.rank_high) for place in places]),
        *_values(comparison, format, runs),
        (Left("behind the first"), [_behind(place, places[0], rows) for place in places]),
    ]
    pairs: list[Column] = [
        (format.name, [row.run for row in rows]),
        (Left("against"), [row.against for row in rows]),
        *_differences(comparison, format, rows, "difference"),
    ]
    return [_table(board), _table(pairs)]


def rank_range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} … {high:,}"


def _behind(place: Place, first: Place, rows: Sequence[Pair]) -> str:
    if place is first:
        return ""
    if place.rank_low == 1:
        return "not significant"
    behind_first = (first.run, place.run) in map(better_and_worse, rows)
    return "significant" if behind_first else "behind another"


def _rows(rows: Sequence[Pair], format: NumberFormat) -> list[Pair]:
    return [row for row in rows if row.measure == format.measure.name]


def _interval_head(comparison: Comparison) -> Left:
    return Left(f"{percent_of(comparison.settings.level)} CI")


def _values(comparison: Comparison, format: NumberFormat, runs: Sequence[str]) -> list[Column]:
    name = format.measure.name
    values, intervals = format.with_intervals(
        [comparison.values[name][run] for run in runs],
        [comparison.intervals[name, run] for run in runs],
    )
    corrected = any(row.trusted is not None for row in comparison.rows)
    head = "corrected value" if corrected else "value"
    return [(head, values), (_interval_head(comparison), intervals)]


def _differences(
    comparison: Comparison,
    format: NumberFormat,
    rows: Sequence[Pair | None],
    head: str,
    *,
    show_queries: bool | None = None,
) -> list[Column]:
    """Return the columns of pairs; None is the row of the baseline itself."""
    pairs = [row for row in rows if row is not None]
    grouped = comparison.numbers.groups is not None
    if show_queries is None:
        show_queries = grouped or any(_on_other_queries(comparison, row) for row in pairs)
    columns: list[Column] = []
    if show_queries:
        columns.append(("queries", [f"{row.queries:,}" for row in pairs]))
    if grouped:
        columns.append(("groups", [f"{row.groups:,}" for row in pairs]))
    interval = str(_interval_head(comparison))
    if comparison.settings.correction in SIMULTANEOUS:
        interval = f"simultaneous {interval}"
    elif any(row.test in ("wilcoxon", "sign") for row in pairs):
        interval = f"{interval} (t)"
    effects = _without_rounding([row.effect for row in pairs])
    effect_texts = ["–" if x is None else f"{x:.2f}".replace("-", "−") for x in effects]
    differences, intervals = format.with_intervals(
        [row.difference for row in pairs], [row.interval for row in pairs], signed=True
    )
    columns += [
        (head, differences),
        (Left(interval), intervals),
        ("d_z", list(map(with_sign, effect_texts, effects))),
        ("wins/ties/losses", [f"{row.wins:,}/{row.ties:,}/{row.losses:,}" for row in pairs]),
        ("p", [shown_p(row.p) for row in pairs]),
        (CORRECTED_P, [shown_p(row.corrected_p) for row in pairs]),
        ("detectable", format.values([row.detectable for row in pairs])),
        (Left("verdict"), list(map(_verdict_cell, pairs))),
    ]
    if any(row.depends_on for row in pairs):
        columns.append((Left("depends on"), [", ".join(r.depends_on) or "–" for r in pairs]))
    empty = [at for at, row in enumerate(rows) if row is None]
    for _, cells in columns:
        for at in empty:
            cells.insert(at, "")
    return columns


def _verdict_cell(row: Pair) -> str:
    word = f"{row.verdict}, negligible" if row.negligible else row.verdict
    return Bold(word) if row.verdict in SIGNIFICANT else word


def _table(columns: Sequence[Column], *, details: Sequence[int] = ()) -> Table:
    """Return the table of columns; those of DETAILS are details too, and one of the two p."""
    heads = [head for head, _ in columns]
    rows = [list(row) for row in zip(*(cells for _, cells in columns), strict=True)]
    cells = dict(columns)
    repeated = CORRECTED_P if cells.get("p") == cells.get(CORRECTED_P) else "p"
    hidden = [at for at, head in enumerate(heads) if head in (*DETAILS, repeated)]
    return Table(heads, rows, details=[*details, *hidden])


# -- slices and trusted judgements


def slice_tables(comparison: Comparison, format: NumberFormat) -> list[Table]:
    """Return the tables of a measure for each attribute, slices with a worse run first."""
    made = []
    for attribute in dict.fromkeys(part.attribute for part in comparison.slices):
        parts = [part for part in comparison.slices if part.attribute == attribute]
        parts.sort(key=lambda part: all(row.verdict != "worse" for row in _rows(part.rows, format)))
        made += _attribute_tables(comparison, format, parts)
    return made


def _attribute_tables(
    comparison: Comparison, format: NumberFormat, parts: Sequence[Slice]
) -> list[Table]:
    head = Left(f"{format.name}, {parts[0].attribute}")
    lines = [(part, run) for part in parts for run in comparison.runs]
    bounds = [part.intervals[format.measure.name, run] for part, run in lines]
    texts, intervals = format.with_intervals([interval.estimate for interval in bounds], bounds)
    values: list[Column] = [
        (head, [part.name for part, _ in lines]),
        (Left("run"), [run for _, run in lines]),
        ("queries", [f"{part.queries:,}" for part, _ in lines]),
        ("value", texts),
        (_interval_head(comparison), intervals),
    ]
    pairs = [(part, row) for part in parts for row in _rows(part.rows, format)]
    show_queries = any(row.queries != part.queries for part, row in pairs)
    if comparison.reference:
        by_slice = {(part.name, row.run): row for part, row in pairs}
        beside = [by_slice.get((part.name, run)) for part, run in lines]
        name = f"against {comparison.reference}"
        differences = _differences(comparison, format, beside, name, show_queries=show_queries)
        return [_table([*values, *differences], details=[4])]  # the interval of the value
    rows = [row for _, row in pairs]
    names: list[Column] = [
        (head, [part.name for part, _ in pairs]),
        (Left("run"), [row.run for row in rows]),
        (Left("against"), [row.against for row in rows]),
    ]
    differences = _differences(comparison, format, rows, "difference", show_queries=show_queries)
    return [_table(values), _table([*names, *differences])]


def _trusted_table(comparison: Comparison, format: NumberFormat) -> Table:
    rows = [row for row in _rows(comparison.rows, format) if row.trusted is not None]
    fixes = [row.trusted for row in rows if row.trusted is not None]
    return _table(
        [
            (format.name, [row.run for row in rows]),
            (Left("against"), [row.against for row in rows]),
            *trusted_columns(format, fixes, comparison.settings.level),
        ]
    )


def trusted_columns(
    format: NumberFormat, fixes: Sequence[Correction], level: float
) -> list[Column]:
    """Return differences corrected by trusted judgements, by these alone, and by cheap ones."""
    columns: list[Column] = []
    for head in ("corrected", "trusted"):
        bounds: list[Interval] = [getattr(fix, head) for fix in fixes]
        estimates = [interval.estimate for interval in bounds]
        texts, intervals = format.with_intervals(estimates, bounds, signed=True)
        columns += [(head, texts), (Left(f"{percent_of(level)} CI"), intervals)]
    columns.append(("cheap", format.values([fix.cheap for fix in fixes], signed=True)))
    return [*columns, ("λ", [f"{fix.weight:.2f}" for fix in fixes])]


# -- bold values and LaTeX


def near_best(comparison: Comparison, measure: str) -> frozenset[str]:
    """Return the best run and those not significantly worse; no run if no pair can be tested."""
    every = comparison.every_pair
    best = leaderboard(comparison.measure(measure), comparison.values[measure], every)[0]
    if math.isnan(best.value):
        return frozenset()
    others = [row for row in every if row.measure == measure and best.run in (row.run, row.against)]
    testable = [row for row in others if row.units >= comparison.settings.fewest_units]
    tested = [*testable, *(row for row in others if row.verdict == "identical")]
    if not testable and any(row.verdict != "identical" for row in others):
        return frozenset()
    near = [{row.run, row.against} for row in tested if row.verdict not in SIGNIFICANT]
    return frozenset({best.run}.union(*near))


def bold_rule(comparison: Comparison) -> str:
    """Return what bold values mean, and how that was tested if not by the rows shown."""
    rule = "the best run, and those not significantly worse than it"
    without = [name for name in comparison.measures if not near_best(comparison, name)]
    if without == list(comparison.measures):
        return "none, because there are too few queries to test"
    if without:
        rule += f" (none for {listed(without)}, with too few queries to test)"
    if comparison.every_pair is comparison.rows:
        return rule
    correction = comparison.settings.correction
    pairs = math.comb(len(comparison.runs), 2)
    over = "uncorrected" if correction == "none" else f"{CORRECTIONS[correction]} over {pairs:,}"
    return f"{rule} (all {pairs:,} pairs tested, {over})"


def latex_summary(comparison: Comparison, look: Look) -> Table:
    """Return runs and measures in one table, with letters of the runs that each beats."""
    formats = [NumberFormat(measure, look) for measure in comparison.numbers.measures]
    letters = {run: letter(i) for i, run in enumerate(comparison.runs)}
    better = {(row.measure, better_and_worse(row)) for row in comparison.rows}
    bold = {name: near_best(comparison, name) for name in comparison.measures}
    columns: list[Column] = [(Left(""), list(letters.values())), (Left("run"), list(letters))]
    for format in formats:
        name, cells = format.measure.name, []
        texts = format.values([comparison.values[name][run] for run in comparison.runs])
        for run, text in zip(comparison.runs, texts, strict=True):
            beaten = [letters[other] for other in letters if (name, (run, other)) in better]
            cells.append(_with_letters(Bold(text) if run in bold[name] else text, beaten))
        columns.append((str(format.name), cells))
    return _table(columns)


def letter(i: int) -> str:
    """Return the letter of a run: a to z, then aa, ab, …"""
    more, last = divmod(i, 26)
    return (letter(more - 1) if more else "") + ascii_lowercase[last]


def _with_letters(text: str, beaten: list[str]) -> str:
    if not beaten:
        return text
    between = "," if any(len(name) > 1 for name in beaten) else ""
    return Latex(rf"{latex(text)}$^{{\mathrm{{{between.join(beaten)}}}}}$")


# -- methods in words


def method_line(comparison: Comparison) -> str:
    """Return the test, the correction and the confidence level in one line."""
    settings = comparison.settings
    level = percent_of(settings.level)
    tests = []
    for test, names in _measures_by_test(comparison).items():
        only = "" if settings.test != "auto" or test in TESTS_OF_MEANS else listed(names)
        tests.append(TEST_NAMES[test] + (f" for {only} (not a mean)" if only else ""))
    sliced = ""
    if len(comparison.slices) and settings.correction != "none":
        sliced = f"; in slices: {CORRECTIONS[settings.correction]} over all of an attribute"
    draws = ""
    methods = {row.test for row in comparison.rows} | {settings.correction}
    methods |= {str(interval.method) for interval in comparison.intervals.values()}
    if methods & RANDOM_METHODS:
        draws = f"; {settings.resamples:,} resamples, seed {settings.seed}"
    return (
        f"Test: {', '.join(tests)}; correction: {_correction(comparison)}{sliced}; confidence "
        f"level: {level}{draws}."
    )


def _measures_by_test(comparison: Comparison) -> dict[str, list[str]]:
    measures: dict[str, list[str]] = {}
    for measure, test in dict.fromkeys((row.measure, row.test) for row in comparison.rows):
        measures.setdefault(test, []).append(measure)
    return dict(sorted(measures.items(), key=lambda item: item[0] not in TESTS_OF_MEANS))


def _correction(comparison: Comparison) -> str:
    chosen = comparison.settings.correction
    if chosen in SIMULTANEOUS:  # these count all pairs, even with a baseline
        pairs = math.comb(len(comparison.corrected_among or comparison.runs), 2)
        which = f"all {counted(pairs, 'pair')} of runs" if pairs > 1 else "the pair of runs"
        return f"{CORRECTIONS[chosen]} over {which} of each measure"
    number, over = family_of(comparison)
    if chosen == "none":
        return f"none for {over}" if number > 1 else "none"
    return f"{CORRECTIONS[chosen]} over {over}" if number > 1 else f"none needed for {over}"


def family_of(comparison: Comparison) -> tuple[int, str]:
    """Return how many comparisons are corrected together, and which."""
    runs = len(comparison.corrected_among or comparison.runs)
    number = math.comb(runs, 2) if comparison.baseline is None else runs - 1
    among = f" among all {runs:,} runs" if runs > len(comparison.runs) else ""
    which = "of each measure" if len(comparison.measures) > 1 else f"of {comparison.measures[0]}"
    return number, f"{counted(number, 'comparison')} {which}{among}"


def has_repeats(comparison: Comparison) -> bool:
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
        *_unreachable(comparison),
        *(
            f"{measure}: the standard deviation of {counted(len(noise['values']), 'repeat')} of "
            f"{run} is {amount(noise['deviation'])} (values from {amount(noise['low'])} to "
            f"{amount(noise['high'])})."
            for (measure, run), noise in comparison.noise.items()
        ),
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
    times = family_of(comparison)[0] if settings.correction in ("holm", "bonferroni") else 1
    stuck = [
        row
        for row in comparison.rows
        if row.verdict == "not significant"
        and row.test not in TESTS_OF_MEANS
        and not below(row.smallest_p * times, settings.level)
    ]
    if not stuck:
        return []
    return [
        f"{counted(len(stuck), 'pair')} could not become significant: the smallest possible p, "
        f"{min(row.smallest_p for row in stuck):.2g}, times {times:,} is not below "
        f"{1 - settings.level:.10g}. Compare with a baseline, or use the test t."
    ]


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


# -- the methods paragraph


def methods(comparison: Comparison) -> str:
    """Return what was compared, tested and corrected, as a paragraph for a paper."""
    settings, runs, reference = comparison.settings, comparison.runs, comparison.reference
    pairs = f"{listed([run for run in runs if run != reference])} with {reference}"
    if reference is None:
        number = counted(math.comb(len(runs), 2), "pair")
        pairs = f"all {number} of {len(runs):,} runs ({', '.join(runs)})"
    corrected = "" if settings.correction == "none" else "corrected "
    return " ".join(
        [
            f"Runs were compared with judged {__version__}: {pairs}, query by query on the queries "
            f"that count in both ({_queries(comparison.rows)}).",
            method_line(comparison),
            f"A difference is significant if its {corrected}two-sided p is below "
            f"{1 - settings.level:.10g}.",
            *_margins(comparison),
            *_designed(comparison),
            "The detectable difference is the true difference that would be detected with "
            f"{percent_of(settings.power)} power (noncentral t{_at_first_step(comparison)}).",
            *_measured(comparison),
        ]
    )


def _queries(rows: Sequence[Pair]) -> str:
    numbers = [row.queries for row in rows]
    number = counted(max(numbers), "query", "queries")
    if min(numbers) < max(numbers):
        number = f"{min(numbers):,} to {number}"
    groups = [row.groups for row in rows if row.groups is not None]
    return f"{number} in {counted(max(groups), 'group')}" if groups else number


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
    samples = {name: entry.sample for (name, _), entry in comparison.numbers.entries.items()}
    for name, sample in samples.items():
        if sample.aggregate not in ("", "mean"):
            mean = " mean" if sample.aggregate == "geometric" else ""
            sentences.append(f"{name} is the {sample.aggregate}{mean} of its values.")
    if any(sample.weights is not None for sample in samples.values()):
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
        units = "" if comparison.numbers.groups is None else " with groups as units"
        sentences.append(
            f"Runs were also compared in slices of the queries by {listed(attributes)}. Whether "
            f"differences differ between slices was tested by Welch's F{units}."
        )
    return sentences
