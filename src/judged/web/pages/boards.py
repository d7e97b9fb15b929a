"""The leaderboard of report and explorer: systems by measures, with confidence intervals, possible
ranks and a heading."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judged.errors import InputError, did_you_mean, quoted
from judged.evaluation.scores import TIE_ORDERS, UNJUDGED_ENDS, is_bounded
from judged.rankings.strips import mean_strip
from judged.text import listed
from judged.web.pages.pairs import Heading, leading

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.comparison.verdicts import Pair, Place
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.scores import Scored
    from judged.measures import Measure

FEW_JUDGED = 0.75
"""A system with a smaller share of judged results is marked."""
Shares = Sequence[tuple[float, float, float, float]]
"""For each rank, the shares of queries with a relevant, irrelevant, unjudged and no result."""
STRIP_RANKS = 10
SYSTEM, JUDGED = "system", f"judged@{STRIP_RANKS}"
"""Columns besides the measures that a leaderboard can be sorted by."""


@dataclass(frozen=True)
class ValueRange:
    """The values that a number takes under other assumptions."""

    about: str
    """Ties or unjudged."""
    low: float
    high: float
    sure: bool = True
    """Whether the ends are bounds."""


@dataclass(frozen=True)
class BoardCell:
    """One number of a leaderboard."""

    measure: str
    value: float
    low: float = math.nan
    high: float = math.nan
    note: str = ""
    """Why there is no confidence interval."""
    before: float | None = None
    """The value before the last change of settings, if it differs."""
    against: Pair | None = None
    """The comparison with the baseline."""
    ranges: tuple[ValueRange, ...] = ()

    @property
    def half_width(self) -> float | None:
        """Half the width of the confidence interval; smaller digits are faint."""
        width = (self.high - self.low) / 2
        return None if math.isnan(width) else width

    @property
    def move(self) -> float | None:
        """How much the last change of settings moved it."""
        return None if self.before is None else self.value - self.before


@dataclass(frozen=True)
class BoardColumn:
    """A measure of a leaderboard."""

    name: str
    measure: Measure
    scale: tuple[float, float]
    """The scale of its confidence intervals."""

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher value is better."""
        return self.measure.spec.higher_is_better

    @property
    def title(self) -> str:
        """The title of the measure."""
        return self.measure.spec.title


@dataclass(frozen=True)
class BoardRow:
    """A system of a leaderboard."""

    name: str
    place: int
    """Its place among the files, which gives its colour."""
    rank: tuple[int, int] | None
    """The best and the worst possible rank; None if nothing was compared."""
    cells: tuple[BoardCell, ...]
    strip: Shares
    judged: float
    is_baseline: bool = False

    @property
    def ranks(self) -> str:
        """Its possible ranks."""
        if self.rank is None:
            return ""
        low, high = self.rank
        return f"{low}" if low == high else f"{low}–{high}"

    @property
    def few(self) -> bool:
        """Whether few of its first results are judged."""
        return self.judged < FEW_JUDGED


@dataclass(frozen=True)
class Board:
    """A leaderboard: the heading and the table."""

    heading: Heading
    columns: tuple[BoardColumn, ...]
    rows: tuple[BoardRow, ...]
    by: str
    """The measure that ranks are by."""
    order: str
    """The column that rows are sorted by: a measure, "system" or "judged@10"."""
    descending: bool
    level: float | None
    notes: tuple[str, ...] = ()
    """Why parts of it are missing, such as why systems could not be compared."""
    unordered: bool = False
    """Whether ties are not broken, so that strips show one of several orders."""

    @property
    def moved(self) -> bool:
        """Whether the last change of settings moved a number."""
        return any(cell.before is not None for row in self.rows for cell in row.cells)

    @property
    def ranged(self) -> bool:
        """Whether ranges are shown."""
        return any(cell.ranges for row in self.rows for cell in row.cells)


@dataclass(frozen=True)
class BoardContext:
    """Further results that a leaderboard shows beside an evaluation."""

    comparison: Comparison | None = None
    """All pairs, or all systems with a baseline: the one source of ranks, lead and verdicts."""
    before: Evaluation | None = None
    """The evaluation before the last change of settings."""
    ranges: Evaluation | None = None
    """With ranges of ties and unjudged results."""
    refused: tuple[str, ...] = ()
    """Error messages of those that are missing."""


def board(
    evaluation: Evaluation,
    beside: BoardContext | None = None,
    *,
    by: str | None = None,
    ascending: bool | None = None,
    places: Mapping[str, int] | None = None,
    strips: Sequence[Shares] | None = None,
) -> Board:
    """Return the leaderboard of an evaluation.

    `by` is the column to sort by; by default the first measure, best value first. `places` are
    those of the systems among the files. `strips` are mean strips that are already computed.

    >>> from judged import evaluate
    >>> runs = {"one": {"q": ["b", "a"]}, "two": {"q": ["a"]}}
    >>> [row.name for row in board(evaluate({"q": {"a": 1}}, runs, "RR")).rows]
    ['two', 'one']
    """
    beside = beside or BoardContext()
    comparison = beside.comparison
    order = _order(evaluation, by)
    ranked_by = order if order in evaluation.labels else next(iter(evaluation.labels))
    leaderboard = [] if comparison is None else comparison.leaderboard(ranked_by)
    ranks = {place.run: place for place in leaderboard}
    rows = []
    for at, run in enumerate(evaluation.runs):
        strip = mean_strip(run.rankings, STRIP_RANKS) if strips is None else strips[at]
        place: Place | None = ranks.get(run.name)
        rows.append(
            BoardRow(
                name=run.name,
                place=at if places is None else places[run.name],
                rank=None if place is None else (place.rank_low, place.rank_high),
                cells=tuple(_cell(run, name, evaluation, beside) for name in evaluation.labels),
                strip=strip,
                judged=run.audit.judged_at_10,
                is_baseline=comparison is not None and comparison.baseline == run.name,
            )
        )
    if ascending is None:
        ascending = order == SYSTEM or not _higher_first(evaluation, order)
    rows = _sorted(rows, evaluation, order, ascending)
    if order == ranked_by and ascending != _higher_first(evaluation, order):
        # If values and ranks are of different queries, the ranks decide.
        position = {run: at for at, run in enumerate(ranks)}
        rows.sort(key=lambda row: position.get(row.name, len(position)))
    return Board(
        heading=leading(evaluation, comparison, ranked_by),
        columns=tuple(
            _column(name, measure, [row.cells[at] for row in rows])
            for at, (name, measure) in enumerate(evaluation.labels.items())
        ),
        rows=tuple(rows),
        by=ranked_by,
        order=order,
        descending=not ascending,
        level=evaluation.level,
        notes=(*beside.refused, *_on_other_queries(comparison)),
        unordered=evaluation.policy.ties == "expected",
    )


def _order(evaluation: Evaluation, by: str | None) -> str:
    columns = [*evaluation.labels, SYSTEM, JUDGED]
    if by is None:
        return columns[0]
    if by in columns:
        return by
    raise InputError(
        f"there is no column {quoted(by)} to sort by{did_you_mean(by, columns)} "
        f"There is {', '.join(columns)}."
    )


def _higher_first(evaluation: Evaluation, order: str) -> bool:
    known = evaluation.labels.get(order)
    return known is None or known.spec.higher_is_better


def _on_other_queries(comparison: Comparison | None) -> list[str]:
    """Warn if differences to the baseline are of other queries than the values beside them."""
    if comparison is None or comparison.baseline is None:
        return []
    counts = {key: len(entry.place) for key, entry in comparison.numbers.entries.items()}
    runs = dict.fromkeys(
        row.run
        for row in comparison.rows
        if any(counts[row.measure, run] != row.queries for run in (row.run, row.against))
    )
    if not runs:
        return []
    return [
        f"{listed(list(runs))} {'has' if len(runs) == 1 else 'have'} other queries than "
        f"{comparison.baseline}. Values are of each system's queries, differences of the queries "
        "that count in both."
    ]


def _cell(run: Scored, name: str, evaluation: Evaluation, beside: BoardContext) -> BoardCell:
    measure = evaluation.labels[name]
    value = run.summary[measure]
    interval = run.intervals.get(measure)
    return BoardCell(
        measure=name,
        value=value,
        low=math.nan if interval is None else interval.low,
        high=math.nan if interval is None else interval.high,
        note="" if interval is None else interval.note,
        before=_value_before(beside.before, run.name, name, value),
        against=_against_baseline(beside.comparison, run.name, name),
        ranges=_ranges(beside.ranges, run.name, name),
    )


def _value_before(before: Evaluation | None, run: str, name: str, value: float) -> float | None:
    if before is None or name not in before.labels:
        return None
    scored = {old.name: old for old in before.runs}.get(run)
    if scored is None:
        return None
    old = scored.summary[before.labels[name]]
    same = old == value or (math.isnan(old) and math.isnan(value))
    return None if same else old


def _against_baseline(comparison: Comparison | None, run: str, name: str) -> Pair | None:
    if comparison is None or comparison.baseline in (None, run) or name not in comparison.measures:
        return None
    return comparison.pair(run, comparison.baseline, name)


def _ranges(ranges: Evaluation | None, run: str, name: str) -> tuple[ValueRange, ...]:
    if ranges is None or name not in ranges.labels:
        return ()
    scored, measure = ranges.scored(run), ranges.labels[name]
    spans = []
    if set(TIE_ORDERS) <= set(scored.others):
        ties = ranges.tie_range(measure, run)
        low, high = sorted((ties.worst, ties.best))
        sure = not any(measure in scored.others[order].unsure for order in TIE_ORDERS)
        spans.append(ValueRange("ties", low, high, sure))
    if set(UNJUDGED_ENDS) <= set(scored.others):
        low, high = sorted(ranges.unjudged_range(measure, run))
        sure = is_bounded(scored, measure, ranges.policy)
        spans.append(ValueRange("unjudged", low, high, sure))
    return tuple(spans)


def _sorted(
    rows: Sequence[BoardRow], evaluation: Evaluation, order: str, ascending: bool
) -> list[BoardRow]:
    """Sort rows by a column, those without a value last."""
    if order == SYSTEM:
        return sorted(rows, key=lambda row: row.name, reverse=not ascending)
    at = list(evaluation.labels).index(order) if order != JUDGED else None

    def key(row: BoardRow) -> tuple[bool, float]:
        value = row.judged if at is None else row.cells[at].value
        missing = math.isnan(value)
        return missing, 0.0 if missing else value if ascending else -value

    return sorted(rows, key=key)


def _column(name: str, measure: Measure, cells: Sequence[BoardCell]) -> BoardColumn:
    """Return a column whose scale has some space at both ends."""
    ends: list[float | None] = []
    for cell in cells:
        ends += [cell.value, cell.low, cell.high, cell.before]
        ends += [end for span in cell.ranges for end in (span.low, span.high)]
    finite = [end for end in ends if end is not None and math.isfinite(end)]
    if not finite:
        return BoardColumn(name, measure, (0.0, 1.0))
    low, high = min(finite), max(finite)
    space = (high - low) * 0.06 or max(abs(high), 1.0) * 0.5
    return BoardColumn(name, measure, (low - space, high + space))
