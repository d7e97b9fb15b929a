"""A comparison as a table for a paper: letters say which runs each is shown better than."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from textwrap import wrap
from typing import TYPE_CHECKING, cast

from judged.comparison import methods as definition
from judged.comparison.settings import CORRECTIONS, SIMULTANEOUS
from judged.comparison.verdicts import by_importance, leaderboard
from judged.comparison.wording import shown_level, shown_p, with_sign
from judged.evaluation.export import Look
from judged.results import Table
from judged.statistics.aggregates import CLOSE
from judged.statistics.intervals import Interval
from judged.statistics.tested import fewest_units
from judged.text import Best, Latex, Left, latex, latex_table, listed, shown, visible

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison, Records
    from judged.comparison.numbers import Compared
    from judged.comparison.slices import Slice
    from judged.comparison.verdicts import Pair, Place
    from judged.evaluation.export import Look
    from judged.measures import Measure

NOTHING = ""
"""What stands where there is nothing to say: a baseline is not compared with itself."""
DECIDED = ("better", "worse")
"""Verdicts that show a difference."""
BETWEEN = 3
"""How far columns are apart on a terminal."""


@dataclass(frozen=True)
class Form:
    """How the numbers of one measure are shown."""

    measure: Compared
    look: Look
    best: frozenset[str] = frozenset()
    """The runs whose values stand out."""

    @property
    def share(self) -> bool:
        """Whether values may be percentages."""
        return tuple(self.measure.range) == (0, 1)

    @property
    def name(self) -> Left:
        """What the measure is called at the head of its table."""
        percent = self.look.percent and self.share
        return Left(f"{self.measure.name} %" if percent else self.measure.name)

    def value(self, value: float | None) -> str:
        """A value, with a minus sign where it is below 0."""
        if value is not None and 1e15 <= abs(value) < math.inf:
            return f"{value:.4g}".replace("-", "−")
        return self.look.digits(value, self.share).replace("-", "−")

    def signed(self, value: float | None) -> str:
        """A difference, which says its sign."""
        value = _no_rounding(value)
        return with_sign(self.value(value), value)

    def interval(self, of: Interval) -> str:
        """The ends of a value's interval."""
        return _ends(self.value(of.low), self.value(of.high), of)

    def difference(self, of: Interval) -> str:
        """The ends of a difference's interval, with their signs."""
        return _ends(self.signed(of.low), self.signed(of.high), of)


def _ends(low: str, high: str, of: Interval) -> str:
    return "–" if math.isnan(of.low) or math.isnan(of.high) else f"{low} … {high}"


def _no_rounding(value: float | None) -> float | None:
    """A number, 0 where it is nothing but rounding, which has a sign by chance."""
    return 0.0 if value is not None and abs(value) <= CLOSE else value


def main_tables(comparison: Comparison, form: Form, width: int | None) -> list[Table]:
    """The tables of one measure; what is wider than `width` comes below."""
    block = _block if comparison.reference else _places_and_pairs
    return block(comparison, form, width)


Column = tuple[str, list[str]]
"""A head and its cells."""


def _block(comparison: Comparison, form: Form, width: int | None) -> list[Table]:
    """All runs with their values, and beside them how they differ from the baseline."""
    baseline = comparison.reference
    rows = {row.run: row for row in _rows(comparison, form.measure)}
    beside = [rows.get(run) for run in comparison.runs]
    names: list[Column] = [(form.name, list(comparison.runs))]
    values = _values(comparison, form, comparison.runs)
    columns = differences(comparison, form, beside, f"against {baseline}")
    return laid_out(names, [values, *columns], width)


def _places_and_pairs(comparison: Comparison, form: Form, width: int | None) -> list[Table]:
    """The runs by a measure, best first; then every pair."""
    places = comparison.leaderboard(form.measure.name)
    rows = _rows(comparison, form.measure)
    runs = [place.run for place in places]
    first = [
        ("rank", [ranks(place) for place in places]),
        *_values(comparison, form, runs),
        (Left("behind the first"), [_behind(place, places[0], rows) for place in places]),
    ]
    names: list[Column] = [
        (form.name, [row.run for row in rows]),
        (Left("against"), [row.against for row in rows]),
    ]
    return [
        *laid_out([(form.name, runs)], [first], None),
        *laid_out(names, differences(comparison, form, rows, "difference"), width),
    ]


def ranks(place: Place) -> str:
    """The ranks that the comparisons leave open to a run."""
    low, high = place.rank_low, place.rank_high
    return f"{low:,}" if low == high else f"{low:,} … {high:,}"


def _behind(place: Place, first: Place, rows: Sequence[Pair]) -> str:
    """Whether a run is shown to be behind the first."""
    if place is first:
        return NOTHING
    if place.rank_low == 1:
        return "not shown"
    decided = {
        (row.run, row.against) if row.verdict == "worse" else (row.against, row.run)
        for row in rows
        if row.verdict in ("better", "worse")
    }
    return "shown" if (place.run, first.run) in decided else "behind another"


def _rows(comparison: Comparison, measure: Compared) -> list[Pair]:
    return [row for row in comparison.rows if row.measure == measure.name]


def _values(comparison: Comparison, form: Form, runs: Sequence[str]) -> list[Column]:
    """The numbers of runs, each with its own interval."""
    name = form.measure.name
    head = Left(f"{shown_level(comparison.settings.level)} interval")
    corrected = any(row.trusted is not None for row in comparison.rows)
    number = "corrected value" if corrected else "value"

    def value(run: str) -> str:
        text = form.value(comparison.value(name, run))
        return Best(text) if run in form.best else text

    return [
        (number, [value(run) for run in runs]),
        (head, [form.interval(comparison.interval(name, run)) for run in runs]),
    ]


def differences(
    comparison: Comparison,
    form: Form,
    rows: Sequence[Pair | None],
    head: str,
    *,
    others: bool | None = None,
) -> list[list[Column]]:
    """What is known of pairs, sizes first; columns that belong together stand together. None stands
    for the baseline itself; `others` is whether it must be said on how many queries pairs are."""
    known = [row for row in rows if row is not None]

    def cells(of: object) -> list[str]:
        return [NOTHING if row is None else of(row) for row in rows]  # type: ignore[operator]

    groups = any(row.groups is not None for row in known)
    if others is None:
        others = groups or on_other_queries(comparison, known)
    counts: list[Column] = []
    if others:
        counts.append(("queries", cells(lambda row: f"{row.queries:,}")))
    if groups:
        counts.append(("groups", cells(lambda row: shown_count(row.groups))))
    depends: list[Column] = []
    if any(row.depends_on for row in known):
        depends.append((Left("depends on"), cells(lambda row: ", ".join(row.depends_on) or "–")))
    return [
        [
            *counts,
            (head, cells(lambda row: form.signed(row.difference))),
            (
                Left(_interval_head(comparison, known)),
                cells(lambda row: form.difference(row.interval)),
            ),
        ],
        [("d_z", cells(lambda row: effect(row.effect)))],
        [("wins/ties/losses", cells(lambda row: f"{row.wins:,}/{row.ties:,}/{row.losses:,}"))],
        [
            ("p", cells(lambda row: shown_p(row.p))),
            ("corrected", cells(lambda row: shown_p(row.corrected_p))),
        ],
        [("detectable", cells(lambda row: form.value(row.detectable)))],
        [(Left("verdict"), cells(word)), *depends],
    ]


def shown_count(number: int | None) -> str:
    """A count, where there is one."""
    return "–" if number is None else f"{number:,}"


def effect(size: float | None) -> str:
    """d_z with two decimals and its sign."""
    size = _no_rounding(size)
    return with_sign(shown(size, 2).replace("-", "−"), size)


def word(row: Pair) -> str:
    """The verdict, which stands out where a difference is shown."""
    said = f"{row.verdict}, negligible" if row.negligible else row.verdict
    return Best(said) if row.verdict in DECIDED else said


def shown_better(comparison: Comparison) -> set[tuple[str, str, str]]:
    """Measure, the run that is shown better, and the other one."""
    return {
        (row.measure, row.run, row.against)
        if row.verdict == "better"
        else (row.measure, row.against, row.run)
        for row in comparison.rows
        if row.verdict in DECIDED
    }


def near_best(comparison: Comparison, measure: str) -> frozenset[str]:
    """Return the best run and those that a test finds not significantly worse than it.

    A pair on so few queries, or queries of so uneven weight, that no data could show a difference
    is not tested. Where that leaves no test at all, no run is returned.
    """
    known = comparison.measure(measure)
    best = leaderboard(known, comparison._values(known), comparison._every_pair)[0]
    if math.isnan(best.value):
        return frozenset()
    others = [
        row
        for row in comparison._every_pair
        if row.measure == measure and best.run in (row.run, row.against)
    ]
    tested = [row for row in others if row.verdict == "identical" or _testable(row, comparison)]
    if not any(_testable(row, comparison) for row in others) and len(tested) < len(others):
        return frozenset()
    near = [{row.run, row.against} for row in tested if row.verdict not in DECIDED]
    return frozenset({best.run}.union(*near))


def _testable(row: Pair, comparison: Comparison) -> bool:
    """Return whether so many queries, or groups, could show any difference."""
    units = row.queries if row.groups is None else row.groups
    level = comparison.settings.level
    uneven = row.effective_units is not None and row.effective_units < fewest_units(level)
    return units >= fewest_units(level) and not uneven


def bold_rule(comparison: Comparison) -> str:
    """Say what bold values are, and how that was tested if it was not by the rows shown."""
    said = "the best run, and those not significantly worse than it"
    without = [name for name in comparison.measures if not near_best(comparison, name)]
    if without == list(comparison.measures):
        return "none, as there are too few queries to test"
    if without:
        said += f" (none for {listed(without)}, with too few queries to test)"
    if comparison._every_pair is comparison.rows:
        return said
    correction = comparison.settings.correction
    pairs = math.comb(len(comparison.runs), 2)
    how = "uncorrected" if correction == "none" else f"{CORRECTIONS[correction]} over {pairs:,}"
    return f"{said} (all {pairs:,} pairs tested, {how})"


def on_other_queries(comparison: Comparison, rows: Sequence[Pair]) -> bool:
    """Whether a pair is compared on other queries than its runs' values are about."""
    return any(
        len(comparison.numbers.entries[row.measure, run].place) != row.queries
        for row in rows
        for run in (row.run, row.against)
    )


def _interval_head(comparison: Comparison, rows: Sequence[Pair]) -> str:
    """What the intervals of differences are; named where they are not those of the test."""
    head = f"{shown_level(comparison.settings.level)} interval"
    if comparison.settings.correction in SIMULTANEOUS:
        return f"simultaneous {head}"
    return f"{head} (t)" if any(row.test in ("wilcoxon", "sign") for row in rows) else head


def laid_out(
    names: list[Column], columns: Sequence[list[Column]], width: int | None
) -> list[Table]:
    """One table, or where that is too wide several: values, sizes with the verdict, and tests."""
    every = [*names, *(each for group in columns for each in group)]
    if width is None or _need(every) <= width or len(columns) == 1:
        return [_table(every)]
    *values, difference, size, tested, p, least, verdict = columns
    parts = [values, [difference, size, verdict], [tested, p, least]]
    found: list[list[Column]] = []
    for groups in filter(None, parts):
        found.append(list(names))
        for group in groups:
            if len(found[-1]) > len(names) and _need([*found[-1], *group]) > width:
                found.append(list(names))
            found[-1] += group
    return [_table(each, names=len(names)) for each in found]


def _need(columns: Sequence[Column]) -> int:
    """How wide a table is on a terminal, where heads are broken between words."""
    widths = (max(map(len, (*head.split(), *cells)), default=0) for head, cells in columns)
    return sum(widths) + BETWEEN * (len(columns) - 1) + 2


def _table(columns: Sequence[Column], names: int = 0) -> Table:
    """A table, without the rows that have nothing behind the names."""
    rows = [list(row) for row in zip(*(cells for _, cells in columns), strict=True)]
    return [head for head, _ in columns], [row for row in rows if any(row[names:])]


def in_order(comparison: Records, sort: str | Measure | None) -> Comparison:
    """The comparison with its runs by a measure, the best first, and its pairs in their order; what
    is equal keeps its order."""
    given = cast("Comparison", comparison)
    if sort is None:
        return given
    order = {place.run: at for at, place in enumerate(given.leaderboard(sort))}
    measures = {name: at for at, name in enumerate(given.measures)}
    rows = sorted(
        given.rows, key=lambda row: (measures[row.measure], order[row.against], order[row.run])
    )
    runs = tuple(sorted(given.runs, key=order.__getitem__))
    return replace(given, numbers=replace(given.numbers, runs=runs), rows=tuple(rows))


def tables(
    comparison: Comparison, look: Look, width: int | None = None, *, marked: bool = False
) -> list[Table]:
    """The tables of all measures, then those of slices; what is wider than `width` comes below."""
    forms = [
        Form(measure, look, _outstanding(comparison, measure.name) if marked else frozenset())
        for measure in comparison.numbers.measures
    ]
    makers = [main_tables, *([slice_tables] if len(comparison.slices) else [])]
    if any(row.trusted is not None for row in comparison.rows):
        makers.append(correction_tables)
    return [table for make in makers for form in forms for table in make(comparison, form, width)]


def _outstanding(comparison: Comparison, measure: str) -> frozenset[str]:
    """Return the runs whose values are bold; none if no run is significantly worse than another."""
    rows = (row for row in comparison._every_pair if row.measure == measure)
    if not any(row.verdict in DECIDED for row in rows):
        return frozenset()
    return near_best(comparison, measure)


def correction_tables(comparison: Comparison, form: Form, width: int | None) -> list[Table]:
    """The differences that trusted judgements correct, beside what either judgements say alone."""
    rows = [row for row in comparison.rows if row.measure == form.measure.name]
    known = [(row, row.trusted) for row in rows if row.trusted is not None]
    ends = Left(f"{shown_level(comparison.settings.level)} interval")
    return [
        (
            [form.name, Left("against"), "corrected", ends, "trusted", ends, "cheap", "λ"],
            [
                [
                    *(row.run, row.against),
                    *(form.signed(each.corrected.estimate), form.difference(each.corrected)),
                    *(form.signed(each.trusted.estimate), form.difference(each.trusted)),
                    *(form.signed(each.cheap), f"{each.weight:.2f}"),
                ]
                for row, each in known
            ],
        )
    ]


def slice_tables(comparison: Comparison, form: Form, width: int | None) -> list[Table]:
    """The tables of a measure, attribute by attribute; slices where a run is shown worse come
    first."""
    found = []
    for attribute in dict.fromkeys(each.attribute for each in comparison.slices):
        own = [each for each in comparison.slices if each.attribute == attribute]
        own.sort(
            key=lambda each: not any(row.verdict == "worse" for row in _slice_rows(each, form))
        )
        block = _slice_block if comparison.reference else _values_and_pairs
        found += block(comparison, form, own, width)
    return found


def _slice_rows(part: Slice, form: Form) -> list[Pair]:
    return [row for row in part.rows if row.measure == form.measure.name]


def _name(form: Form, slices: Sequence[Slice]) -> Left:
    return Left(f"{form.name}, {slices[0].attribute}")


def _slice_block(
    comparison: Comparison, form: Form, slices: Sequence[Slice], width: int | None
) -> list[Table]:
    """All runs in each slice, and beside them how they differ from the baseline."""
    lines = [(part, run) for part in slices for run in comparison.runs]
    rows = [{row.run: row for row in _slice_rows(part, form)}.get(run) for part, run in lines]
    others = _on_others(slices, form)
    head = f"against {comparison.reference}"
    beside = differences(comparison, form, rows, head, others=others)
    return laid_out(
        _names(form, slices, lines), [_slice_values(comparison, form, lines), *beside], width
    )


def _values_and_pairs(
    comparison: Comparison, form: Form, slices: Sequence[Slice], width: int | None
) -> list[Table]:
    """All runs in each slice; then every pair in each."""
    lines = [(part, run) for part in slices for run in comparison.runs]
    pairs = [(part, row) for part in slices for row in _slice_rows(part, form)]
    names: list[Column] = [
        (_name(form, slices), [part.name for part, _ in pairs]),
        (Left("run"), [row.run for _, row in pairs]),
        (Left("against"), [row.against for _, row in pairs]),
    ]
    others = _on_others(slices, form)
    beside = differences(comparison, form, [row for _, row in pairs], "difference", others=others)
    return [
        *laid_out(_names(form, slices, lines), [_slice_values(comparison, form, lines)], None),
        *laid_out(names, beside, width),
    ]


def _names(form: Form, slices: Sequence[Slice], lines: Sequence[tuple[Slice, str]]) -> list[Column]:
    return [
        (_name(form, slices), [part.name for part, _ in lines]),
        (Left("run"), [run for _, run in lines]),
    ]


def _slice_values(
    comparison: Comparison, form: Form, lines: Sequence[tuple[Slice, str]]
) -> list[Column]:
    """How many queries a slice has, and the numbers of runs in it with their intervals."""
    known = [part.intervals[form.measure.name, run] for part, run in lines]
    return [
        ("queries", [f"{part.queries:,}" for part, _ in lines]),
        ("value", [form.value(each.estimate) for each in known]),
        (f"{shown_level(comparison.settings.level)} interval", list(map(form.interval, known))),
    ]


def _on_others(slices: Sequence[Slice], form: Form) -> bool:
    """Whether a pair is on other queries than those of its slice."""
    return any(row.queries != part.queries for part in slices for row in _slice_rows(part, form))


def latex_of(
    comparison: Comparison,
    look: Look,
    *,
    quiet: bool = False,
    caption: str | None = None,
    label: str | None = None,
) -> str:
    """Runs and measures as a tabular; above it in comments what was done, below it what letters
    and bold mean, and the warnings."""
    forms = [Form(measure, look) for measure in comparison.numbers.measures]
    letters = {run: letter(at) for at, run in enumerate(comparison.runs)}
    shown = shown_better(comparison)
    best = {form.measure.name: near_best(comparison, form.measure.name) for form in forms}
    rows = []
    for run in comparison.runs:
        row = [letters[run], run]
        for form in forms:
            name = form.measure.name
            beaten = [letters[other] for other in letters if (name, run, other) in shown]
            value = form.value(comparison.value(name, run))
            row.append(_cell(value, beaten, run in best[name]))
        rows.append(row)
    above: list[str] = []
    below: list[str] = []
    if not quiet:
        warned = [f"warning: {text}" for text in comparison.warnings()]
        said = [*by_importance(comparison.rows), definition.done(comparison)]
        methods = wrap(comparison.methods(), 118, break_long_words=False, break_on_hyphens=False)
        above = [f"% {visible(text)}" for text in (*warned, *said, *methods)]
        below = [_legend(comparison), *(f"Warning: {text}" for text in comparison._grave())]
    tabular = latex_table(
        ["", "run", *(form.name for form in forms)],
        rows,
        right=range(2, 2 + len(forms)),
        notes=below,
        caption=caption,
        label=label,
    )
    return "\n".join([*above, tabular]) + "\n"


def letter(at: int) -> str:
    """The letters of runs: a to z, then aa, ab, …

    >>> letter(0), letter(25), letter(26), letter(52)
    ('a', 'z', 'aa', 'ba')
    """
    more, last = divmod(at, 26)
    return (letter(more - 1) if more else "") + ascii_lowercase[last]


def _cell(value: str, beaten: list[str], best: bool) -> str:
    """A value with the letters of the runs that it is shown better than."""
    text = Best(value) if best else value
    if not beaten:
        return text
    between = "," if any(len(each) > 1 for each in beaten) else ""
    return Latex(rf"{latex(text)}$^{{\mathrm{{{between.join(beaten)}}}}}$")


def _legend(comparison: Comparison) -> str:
    """What letters and bold mean."""
    against = comparison.reference
    only = f", compared with {against} only" if against else ""
    return (
        "Raised letters: the runs that this one is significantly better than"
        f"{only} ({definition.done(comparison).rstrip('.')}). Bold: {bold_rule(comparison)}."
    )
