"""One number of a leaderboard, with what is known beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    from judged.statistics.intervals import Interval


@dataclass(frozen=True)
class ValueRange:
    """How far a number could go under other assumptions."""

    about: str
    """Ties or unjudged."""
    low: float
    high: float
    expected: float | None = None
    """Of ties: the mean over all orders."""
    sure: bool = True
    """Whether nothing goes further."""


@dataclass(frozen=True)
class BoardCell:
    """One number of a leaderboard."""

    measure: str
    """What the measure is called."""
    value: float
    low: float = math.nan
    high: float = math.nan
    note: str = ""
    """Why there is no interval."""
    before: float | None = None
    """What it was before the last change of terms, where it is another number now."""
    against: Pair | None = None
    """How it differs from the baseline's, where there is one."""
    ranges: tuple[ValueRange, ...] = ()
    """How far it could go, where that was asked for."""

    @property
    def half_width(self) -> float | None:
        """Digits below this are not sure; None where there is no interval."""
        width = (self.high - self.low) / 2
        return None if math.isnan(width) else width

    @property
    def move(self) -> float | None:
        """By how much the last change moved it."""
        return None if self.before is None else self.value - self.before


def before_of(before: Evaluation | None, run: str, name: str, value: float) -> float | None:
    """What a number was, where it was another one."""
    if before is None or name not in before.labels:
        return None
    was = {each.name: each for each in before.runs}.get(run)
    if was is None:
        return None
    number = was.summary[before.labels[name]]
    same = number == value or (math.isnan(number) and math.isnan(value))
    return None if same else number


def against_of(against: Comparison | None, run: str, name: str) -> Pair | None:
    """Return how a number differs from the baseline's; None for the baseline, or without one."""
    if against is None or against.baseline in (None, run) or name not in against.measures:
        return None
    return against.pair(run, against.baseline, name)


def ranges_of(ranges: Evaluation | None, run: str, name: str) -> tuple[ValueRange, ...]:
    """How far a number could go, by ties and by unjudged results."""
    if ranges is None or name not in ranges.labels:
        return ()
    scored, measure = ranges.scored(run), ranges.labels[name]
    found = []
    if set(TIE_ORDERS) <= set(scored.others):
        ties = ranges.tie_range(measure, run)
        low, high = sorted((ties.worst, ties.best))
        sure = not any(measure in scored.others[each].unsure for each in TIE_ORDERS)
        found.append(ValueRange("ties", low, high, ties.expected, sure))
    if set(UNJUDGED_ENDS) <= set(scored.others):
        low, high = sorted(ranges.unjudged_range(measure, run))
        sure = is_bounded(scored, measure, ranges.policy)
        found.append(ValueRange("unjudged", low, high, sure=sure))
    return tuple(found)


FEW_JUDGED = 0.75
"""Below this share of judged results a system is marked: its numbers are low by what nobody judged.
"""
Shares = Sequence[tuple[float, float, float, float]]
"""At each rank the shares of queries with a relevant, an irrelevant, an unjudged and no result."""
STRIP_RANKS = 10
"""How many ranks the strip of a leaderboard has, which is where judged@10 looks too."""
SYSTEM, JUDGED = "system", f"judged@{STRIP_RANKS}"
"""Columns that a leaderboard may be sorted by beside its measures."""


@dataclass(frozen=True)
class BoardColumn:
    """A measure of a leaderboard."""

    name: str
    """What it is called."""
    measure: Measure
    scale: tuple[float, float]
    """From where to where its intervals are drawn."""
    spread: float
    """The largest difference to the baseline, or end of its interval; 0 without a baseline."""
    sorted: bool = False

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher value is the better one."""
        return self.measure.spec.higher_is_better

    @property
    def title(self) -> str:
        """What the measure is, in a few words."""
        return self.measure.spec.title


@dataclass(frozen=True)
class BoardRow:
    """A system of a leaderboard."""

    name: str
    place: int
    """Its place in the files, from 0, which gives it its colour."""
    rank: tuple[int, int] | None
    """The best and the worst rank that comparisons leave open; None where nothing was compared."""
    cells: tuple[BoardCell, ...]
    strip: Shares
    """Its mean strip."""
    judged: float
    """judged@10."""
    told_from_first: bool = False
    """Whether it is shown to be worse than the first."""
    is_baseline: bool = False

    @property
    def ranks(self) -> str:
        """Its rank, or the ranks that it may have."""
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
    """A leaderboard: what came out, and the table under it."""

    heading: Heading
    columns: tuple[BoardColumn, ...]
    rows: tuple[BoardRow, ...]
    by: str
    """The measure that ranks are by."""
    order: str
    """The column that rows are sorted by: a measure, "system" or "judged@10"."""
    descending: bool
    """Whether the highest stand first there."""
    queries: int
    level: float | None
    baseline: str | None = None
    notes: tuple[str, ...] = ()
    """What keeps parts of it away, such as why systems could not be compared."""
    unordered: bool = False
    """Whether ties are not broken, so that strips show one of several orders."""

    @property
    def moved(self) -> bool:
        """Whether a number is another one than before the last change."""
        return any(cell.before is not None for row in self.rows for cell in row.cells)

    @property
    def ranged(self) -> bool:
        """Whether it is said how far numbers could go."""
        return any(cell.ranges for row in self.rows for cell in row.cells)


@dataclass(frozen=True)
class BoardContext:
    """What a leaderboard shows beside an evaluation's own numbers."""

    comparison: Comparison | None = None
    """Of all pairs of systems, or of all with a baseline, which has differences to it: one source
    of ranks, lead and verdicts, so that these never contradict each other."""
    before: Evaluation | None = None
    """The numbers before the last change of terms."""
    ranges: Evaluation | None = None
    """The numbers under other orders of ties, and with unjudged results judged."""
    refused: tuple[str, ...] = field(default=())
    """Why one of these is not there, as the library says it."""


def board(
    evaluation: Evaluation,
    beside: BoardContext | None = None,
    *,
    by: str | None = None,
    ascending: bool | None = None,
    places: Mapping[str, int] | None = None,
    strips: Sequence[Shares] | None = None,
) -> Board:
    """The leaderboard of an evaluation.

    Parameters
    ----------
    evaluation : Evaluation
        With its intervals, where these are to be shown.
    beside : Beside, optional
        What is known besides: comparisons, the numbers before a change, ranges.
    by : str, optional
        The column that rows are sorted by: a measure, "system" or "judged@10"; by default the
        first measure, the best value first.
    ascending : bool, optional
        Whether the lowest stand first; by default the best do, and names from a to z.
    places : mapping of str to int, optional
        The place of each system in the files, from 0, which gives it its colour; by default that
        in the evaluation.
    strips : sequence, optional
        The mean strip of each run, where it is known already.

    Returns
    -------
    Board

    >>> from judged import evaluate
    >>> found = evaluate({"q": {"a": 1}}, {"one": {"q": ["b", "a"]}, "two": {"q": ["a"]}}, "RR")
    >>> [row.name for row in board(found).rows]
    ['two', 'one']
    """
    beside = beside or BoardContext()
    order = _order(evaluation, by)
    ranked_by = order if order in evaluation.labels else next(iter(evaluation.labels))
    known = {} if beside.comparison is None else _ranks(beside.comparison, ranked_by)
    worse = _worse_than_first(beside.comparison, ranked_by)
    rows = [
        _row(
            evaluation,
            run,
            beside,
            known,
            worse,
            at if places is None else places[run.name],
            mean_strip(evaluation.scored(run.name).rankings, STRIP_RANKS)
            if strips is None
            else strips[at],
        )
        for at, run in enumerate(evaluation.runs)
    ]
    if ascending is None:
        ascending = order == SYSTEM or not _higher_first(evaluation, order)
    rows = _sorted(rows, evaluation, order, ascending)
    if order == ranked_by and ascending != _higher_first(evaluation, order):
        # As the leaderboard of the comparison has them: where values are of other queries than the
        # ranks, these decide.
        ranked = {run: place for place, run in enumerate(known)}
        rows.sort(key=lambda row: ranked.get(row.name, len(ranked)))
    columns = tuple(
        _column(evaluation, at, name, rows, name == order)
        for at, name in enumerate(evaluation.labels)
    )
    return Board(
        heading=leading(evaluation, beside.comparison, ranked_by),
        columns=columns,
        rows=tuple(rows),
        by=ranked_by,
        order=order,
        descending=not ascending,
        queries=len(evaluation.runs[0].rankings),
        level=evaluation.level,
        baseline=None if beside.comparison is None else beside.comparison.baseline,
        notes=(*beside.refused, *_on_other_queries(beside.comparison)),
        unordered=evaluation.policy.ties == "expected",
    )


def _on_other_queries(against: Comparison | None) -> list[str]:
    """That differences to the baseline are not those of the values beside them."""
    if against is None or against.baseline is None:
        return []
    counts = {key: len(entry.place) for key, entry in against.numbers.entries.items()}
    runs = dict.fromkeys(
        row.run
        for row in against.rows
        if any(counts[row.measure, run] != row.queries for run in (row.run, row.against))
    )
    if not runs:
        return []
    return [
        f"{listed(list(runs))} {'has' if len(runs) == 1 else 'have'} other queries than "
        f"{against.baseline}: values are of each system's own, differences of those that count in "
        "both."
    ]


def _order(evaluation: Evaluation, by: str | None) -> str:
    """The column to sort by; refused where there is none of that name."""
    if by is None:
        return next(iter(evaluation.labels))
    columns = [*evaluation.labels, SYSTEM, JUDGED]
    if by in columns:
        return by
    raise InputError(
        f"there is no column {quoted(by)} to sort by{did_you_mean(by, columns)} "
        f"There is {', '.join(columns)}."
    )


def _higher_first(evaluation: Evaluation, order: str) -> bool:
    known = evaluation.labels.get(order)
    return known is None or known.spec.higher_is_better


def _ranks(comparison: Comparison, measure: str) -> dict[str, Place]:
    return {place.run: place for place in comparison.leaderboard(measure)}


def _worse_than_first(comparison: Comparison | None, measure: str) -> set[str]:
    """The systems that are shown to be worse than the first."""
    if comparison is None:
        return set()
    first = comparison.leaderboard(measure)[0].run
    worse = set()
    for row in comparison.rows:
        if row.measure == measure and first in (row.run, row.against):
            if row.verdict == "worse" and row.against == first:
                worse.add(row.run)
            if row.verdict == "better" and row.run == first:
                worse.add(row.against)
    return worse


def _row(
    evaluation: Evaluation,
    run: Scored,
    beside: BoardContext,
    known: Mapping[str, Place],
    worse: set[str],
    at: int,
    strip: Shares,
) -> BoardRow:
    place = known.get(run.name)
    return BoardRow(
        name=run.name,
        place=at,
        rank=None if place is None else (place.rank_low, place.rank_high),
        cells=tuple(
            _cell(evaluation, run, name, measure, beside)
            for name, measure in evaluation.labels.items()
        ),
        strip=strip,
        judged=run.audit.judged_at_10,
        told_from_first=run.name in worse,
        is_baseline=beside.comparison is not None and beside.comparison.baseline == run.name,
    )


def _cell(
    evaluation: Evaluation, run: Scored, name: str, measure: Measure, beside: BoardContext
) -> BoardCell:
    value = run.summary[measure]
    interval = run.intervals.get(measure)
    return BoardCell(
        measure=name,
        value=value,
        low=math.nan if interval is None else interval.low,
        high=math.nan if interval is None else interval.high,
        note="" if interval is None else interval.note,
        before=before_of(beside.before, run.name, name, value),
        against=against_of(beside.comparison, run.name, name),
        ranges=ranges_of(beside.ranges, run.name, name),
    )


def _sorted(
    rows: Sequence[BoardRow], evaluation: Evaluation, order: str, ascending: bool
) -> list[BoardRow]:
    """Rows by a column, those without a value last."""
    if order == SYSTEM:
        return sorted(rows, key=lambda row: row.name, reverse=not ascending)
    at = list(evaluation.labels).index(order) if order != JUDGED else None

    def place(row: BoardRow) -> tuple[bool, float]:
        value = row.judged if at is None else row.cells[at].value
        missing = math.isnan(value)
        return missing, 0.0 if missing else value if ascending else -value

    return sorted(rows, key=place)


def _column(
    evaluation: Evaluation, at: int, name: str, rows: Sequence[BoardRow], is_sorted: bool
) -> BoardColumn:
    cells = [row.cells[at] for row in rows]
    ends = [
        end
        for cell in cells
        for end in (
            *(cell.value, cell.low, cell.high, cell.before),
            *(end for each in cell.ranges for end in (each.low, each.high)),
        )
        if end is not None and math.isfinite(end)
    ]
    differences = [end for cell in cells for end in _ends(cell.against) if math.isfinite(end)]
    return BoardColumn(
        name=name,
        measure=evaluation.labels[name],
        scale=_padded(ends),
        spread=max(map(abs, differences), default=0.0),
        sorted=is_sorted,
    )


def _ends(pair: Pair | None) -> tuple[float, ...]:
    if pair is None:
        return ()
    interval: Interval = pair.interval
    return pair.difference, interval.low, interval.high


def _padded(ends: Sequence[float]) -> tuple[float, float]:
    """From where to where a scale goes so that nothing on it touches its ends."""
    if not ends:
        return 0.0, 1.0
    low, high = min(ends), max(ends)
    room = (high - low) * 0.06 or max(abs(high), 1.0) * 0.5
    return low - room, high + room
