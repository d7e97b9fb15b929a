"""Tables of a comparison: values and differences of each measure, slices, and LaTeX."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from string import ascii_lowercase
from typing import TYPE_CHECKING

from judged.comparison.settings import CORRECTIONS, SIMULTANEOUS
from judged.comparison.verdicts import SIGNIFICANT, leaderboard
from judged.comparison.wording import percent_of, shown_p, with_sign
from judged.evaluation.export import Look
from judged.results import Table
from judged.statistics.intervals import Interval
from judged.statistics.samples import CLOSE
from judged.text import Best, Latex, Left, latex, listed, percent, shown

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.comparison.numbers import Compared
    from judged.comparison.slices import Slice
    from judged.comparison.verdicts import Pair, Place

Column = tuple[str, list[str]]
"""A header and its cells."""


@dataclass(frozen=True)
class NumberFormat:
    """Format of the numbers of one measure."""

    measure: Compared
    look: Look = field(default_factory=Look)
    best: frozenset[str] = frozenset()
    """Runs whose values are bold."""

    @cached_property
    def _digits(self) -> Callable[[float | None], str]:
        is_share = tuple(self.measure.range) == (0, 1)
        form = percent if is_share and self.look.percent else shown
        return partial(form, decimals=self.look.decimals_of(is_share))

    @cached_property
    def name(self) -> Left:
        """Name of the measure in the header."""
        in_percent = self.look.percent and tuple(self.measure.range) == (0, 1)
        return Left(f"{self.measure.name} %" if in_percent else self.measure.name)

    def value(self, value: float | None) -> str:
        """Return a value."""
        if value is not None and 1e15 <= abs(value) < math.inf:
            return f"{value:.4g}".replace("-", "−")
        return self._digits(value).replace("-", "−")

    def signed(self, value: float | None) -> str:
        """Return a difference with its sign."""
        value = _without_rounding(value)
        return with_sign(self.value(value), value)

    def interval(self, interval: Interval, *, signed: bool = False) -> str:
        """Return a confidence interval, that of a difference with signs."""
        if math.isnan(interval.low) or math.isnan(interval.high):
            return "–"
        form = self.signed if signed else self.value
        return f"{form(interval.low)} … {form(interval.high)}"


def _without_rounding(value: float | None) -> float | None:
    """Return a number, or 0 if it is nothing but rounding, whose sign is random."""
    return 0.0 if value is not None and abs(value) <= CLOSE else value


def tables(comparison: Comparison, look: Look, *, bold: bool = False) -> list[Table]:
    """Return the tables of all measures, then those of slices and of trusted judgements."""
    formats = [
        NumberFormat(measure, look, _bold_runs(comparison, measure.name) if bold else frozenset())
        for measure in comparison.numbers.measures
    ]
    made = [table for format in formats for table in _measure_tables(comparison, format)]
    made += [table for format in formats for table in slice_tables(comparison, format)]
    if any(row.trusted is not None for row in comparison.rows):
        made += [_trusted_table(comparison, format) for format in formats]
    return made


def _bold_runs(comparison: Comparison, measure: str) -> frozenset[str]:
    """Return the runs with bold values; none if no run is significantly worse than another."""
    rows = (row for row in comparison.every_pair if row.measure == measure)
    significant = any(row.verdict in SIGNIFICANT for row in rows)
    return near_best(comparison, measure) if significant else frozenset()


def _measure_tables(comparison: Comparison, format: NumberFormat) -> list[Table]:
    """Return values beside differences from the baseline; or the leaderboard, then all pairs."""
    rows = _rows(comparison.rows, format)
    if comparison.reference:
        by_run = {row.run: row for row in rows}
        beside = [by_run.get(run) for run in comparison.runs]
        head = f"against {comparison.reference}"
        return [
            _table(
                [
                    (format.name, list(comparison.runs)),
                    *_values(comparison, format, comparison.runs),
                    *_differences(comparison, format, beside, head),
                ]
            )
        ]
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
    """Return the ranks that a run may have."""
    return f"{low:,}" if low == high else f"{low:,} … {high:,}"


def _behind(place: Place, first: Place, rows: Sequence[Pair]) -> str:
    if place is first:
        return ""
    if place.rank_low == 1:
        return "not significant"
    worse = {
        (row.run, row.against) if row.verdict == "worse" else (row.against, row.run)
        for row in rows
        if row.verdict in SIGNIFICANT
    }
    return "significant" if (place.run, first.run) in worse else "behind another"


def _rows(rows: Sequence[Pair], format: NumberFormat) -> list[Pair]:
    return [row for row in rows if row.measure == format.measure.name]


def _interval_head(comparison: Comparison) -> Left:
    return Left(f"{percent_of(comparison.settings.level)} CI")


def _values(comparison: Comparison, format: NumberFormat, runs: Sequence[str]) -> list[Column]:
    name = format.measure.name
    values = {run: format.value(comparison.values[name][run]) for run in runs}
    corrected = any(row.trusted is not None for row in comparison.rows)
    intervals = [format.interval(comparison.intervals[name, run]) for run in runs]
    return [
        (
            "corrected value" if corrected else "value",
            [Best(text) if run in format.best else text for run, text in values.items()],
        ),
        (_interval_head(comparison), intervals),
    ]


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

    def cells(text: Callable[[Pair], str]) -> list[str]:
        return ["" if row is None else text(row) for row in rows]

    grouped = any(row.groups is not None for row in pairs)
    if show_queries is None:
        show_queries = grouped or _on_other_queries(comparison, pairs)
    columns: list[Column] = []
    if show_queries:
        columns.append(("queries", cells(lambda row: f"{row.queries:,}")))
    if grouped:
        groups = cells(lambda row: "–" if row.groups is None else f"{row.groups:,}")
        columns.append(("groups", groups))
    interval = str(_interval_head(comparison))
    if comparison.settings.correction in SIMULTANEOUS:
        interval = f"simultaneous {interval}"
    elif any(row.test in ("wilcoxon", "sign") for row in pairs):
        interval = f"{interval} (t)"
    columns += [
        (head, cells(lambda row: format.signed(row.difference))),
        (Left(interval), cells(lambda row: format.interval(row.interval, signed=True))),
        ("d_z", cells(lambda row: _effect(row.effect))),
        ("wins/ties/losses", cells(lambda row: f"{row.wins:,}/{row.ties:,}/{row.losses:,}")),
        ("p", cells(lambda row: shown_p(row.p))),
        ("corrected", cells(lambda row: shown_p(row.corrected_p))),
        ("detectable", cells(lambda row: format.value(row.detectable))),
        (Left("verdict"), cells(_verdict_cell)),
    ]
    if any(row.depends_on for row in pairs):
        columns.append((Left("depends on"), cells(lambda row: ", ".join(row.depends_on) or "–")))
    return columns


def _effect(size: float | None) -> str:
    size = _without_rounding(size)
    return with_sign(shown(size, 2).replace("-", "−"), size)


def _verdict_cell(row: Pair) -> str:
    word = f"{row.verdict}, negligible" if row.negligible else row.verdict
    return Best(word) if row.verdict in SIGNIFICANT else word


def _on_other_queries(comparison: Comparison, rows: Sequence[Pair]) -> bool:
    """Return whether a pair is compared on other queries than its runs' values."""
    return any(
        len(comparison.numbers.entries[row.measure, run].place) != row.queries
        for row in rows
        for run in (row.run, row.against)
    )


def _table(columns: Sequence[Column]) -> Table:
    rows = [list(row) for row in zip(*(cells for _, cells in columns), strict=True)]
    return Table([head for head, _ in columns], rows)


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
    intervals = [part.intervals[format.measure.name, run] for part, run in lines]
    values: list[Column] = [
        (head, [part.name for part, _ in lines]),
        (Left("run"), [run for _, run in lines]),
        ("queries", [f"{part.queries:,}" for part, _ in lines]),
        ("value", [format.value(interval.estimate) for interval in intervals]),
        (_interval_head(comparison), [format.interval(interval) for interval in intervals]),
    ]
    pairs = [(part, row) for part in parts for row in _rows(part.rows, format)]
    show_queries = any(row.queries != part.queries for part, row in pairs)
    if comparison.reference:
        by_slice = {(part.name, row.run): row for part, row in pairs}
        beside = [by_slice.get((part.name, run)) for part, run in lines]
        name = f"against {comparison.reference}"
        differences = _differences(comparison, format, beside, name, show_queries=show_queries)
        return [_table([*values, *differences])]
    rows = [row for _, row in pairs]
    names: list[Column] = [
        (head, [part.name for part, _ in pairs]),
        (Left("run"), [row.run for row in rows]),
        (Left("against"), [row.against for row in rows]),
    ]
    differences = _differences(comparison, format, rows, "difference", show_queries=show_queries)
    return [_table(values), _table([*names, *differences])]


def _trusted_table(comparison: Comparison, format: NumberFormat) -> Table:
    ends = _interval_head(comparison)
    rows = []
    for row in _rows(comparison.rows, format):
        if (fix := row.trusted) is not None:
            cells = [row.run, row.against]
            for interval in (fix.corrected, fix.trusted):
                cells.append(format.signed(interval.estimate))
                cells.append(format.interval(interval, signed=True))
            rows.append([*cells, format.signed(fix.cheap), f"{fix.weight:.2f}"])
    header = [format.name, Left("against"), "corrected", ends, "trusted", ends, "cheap", "λ"]
    return Table(header, rows)


# -- bold values and LaTeX


def near_best(comparison: Comparison, measure: str) -> frozenset[str]:
    """Return the best run and those that are not significantly worse.

    A pair with too few queries to reach significance is not tested. If that leaves no test, no run
    is returned.
    """
    every = comparison.every_pair
    best = leaderboard(comparison.measure(measure), comparison.values[measure], every)[0]
    if math.isnan(best.value):
        return frozenset()
    others = [row for row in every if row.measure == measure and best.run in (row.run, row.against)]
    needed = comparison.settings.fewest_units
    testable = [_testable(row, needed) for row in others]
    tested = [
        row
        for row, can_be_significant in zip(others, testable, strict=True)
        if can_be_significant or row.verdict == "identical"
    ]
    if not any(testable) and len(tested) < len(others):
        return frozenset()
    near = [{row.run, row.against} for row in tested if row.verdict not in SIGNIFICANT]
    return frozenset({best.run}.union(*near))


def _testable(row: Pair, needed: int) -> bool:
    """Return whether there are enough queries, or groups, for a significant difference."""
    units = row.queries if row.groups is None else row.groups
    effective = units if row.effective_units is None else row.effective_units
    return min(units, effective) >= needed


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
    how = "uncorrected" if correction == "none" else f"{CORRECTIONS[correction]} over {pairs:,}"
    return f"{rule} (all {pairs:,} pairs tested, {how})"


def latex_summary(comparison: Comparison, look: Look) -> Table:
    """Return runs and measures in one table.

    Letters name the runs that each is significantly better than.
    """
    formats = [NumberFormat(measure, look) for measure in comparison.numbers.measures]
    letters = {run: letter(at) for at, run in enumerate(comparison.runs)}
    better = {
        (row.measure, row.run, row.against)
        if row.verdict == "better"
        else (row.measure, row.against, row.run)
        for row in comparison.rows
        if row.verdict in SIGNIFICANT
    }
    bold = {name: near_best(comparison, name) for name in comparison.measures}
    rows = []
    for run in comparison.runs:
        cells = [letters[run], run]
        for format in formats:
            name = format.measure.name
            beaten = [letters[other] for other in letters if (name, run, other) in better]
            text = format.value(comparison.values[name][run])
            text = Best(text) if run in bold[name] else text
            cells.append(_with_letters(text, beaten))
        rows.append(cells)
    return Table([Left(""), Left("run"), *(str(format.name) for format in formats)], rows)


def letter(at: int) -> str:
    """Return the letter of a run: a to z, then aa, ab, …

    >>> letter(0), letter(25), letter(26), letter(52)
    ('a', 'z', 'aa', 'ba')
    """
    more, last = divmod(at, 26)
    return (letter(more - 1) if more else "") + ascii_lowercase[last]


def _with_letters(text: str, beaten: list[str]) -> str:
    if not beaten:
        return text
    between = "," if any(len(name) > 1 for name in beaten) else ""
    return Latex(rf"{latex(text)}$^{{\mathrm{{{between.join(beaten)}}}}}$")
