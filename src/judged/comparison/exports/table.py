"""What the tables of a comparison look like: a block per measure, or a leaderboard and pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from judged.comparison.leaderboard import leaderboard
from judged.comparison.sentences import shown_level, shown_p
from judged.comparison.settings import CORRECTIONS, SIMULTANEOUS
from judged.evaluation.table import Look
from judged.results import Table
from judged.statistics.aggregates import CLOSE
from judged.statistics.intervals import Interval
from judged.statistics.tested import fewest_units
from judged.text import Best, Left, listed, shown

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.comparison.exports.records import Records
    from judged.comparison.leaderboard import Place
    from judged.comparison.numbers import Compared
    from judged.comparison.pair import Pair
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


def with_sign(text: str, value: float | None) -> str:
    """A number as text, with a plus where it is above 0.

    >>> with_sign("0.5", 0.5), with_sign("−0.5", -0.5), with_sign("0.0", 0.0), with_sign("–", None)
    ('+0.5', '−0.5', '0.0', '–')
    """
    return f"+{text}" if value is not None and value > 0 else text


def main_tables(comparison: Comparison, form: Form, width: int | None) -> list[Table]:
    """The tables of one measure; what is wider than `width` comes below."""
    block = _block if one_against_all(comparison) else _places_and_pairs
    return block(comparison, form, width)


def one_against_all(comparison: Comparison) -> str | None:
    """The run that all others are compared with, where there is one."""
    if comparison.baseline is not None:
        return comparison.baseline
    return comparison.rows[0].against if len(comparison.runs) == 2 else None


Column = tuple[str, list[str]]
"""A head and its cells."""


def _block(comparison: Comparison, form: Form, width: int | None) -> list[Table]:
    """All runs with their values, and beside them how they differ from the baseline."""
    baseline = one_against_all(comparison)
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
