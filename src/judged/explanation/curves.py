"""What a walk down a ranking draws: an area under the precision-recall curve, or gains that add up;
plain numbers, ready to be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import floor, fsum, isfinite, log10
from typing import TYPE_CHECKING, Any, ClassVar

from judged.explanation.arithmetic import figure
from judged.explanation.listing import Row, threshold

if TYPE_CHECKING:
    from judged.explanation.explanation import Explanation


@dataclass(frozen=True)
class Bar:
    """A piece of the area under the precision-recall curve, in shares of the axes."""

    rank: int
    left: float
    right: float
    height: float
    items: int = 1
    """How many relevant items it stands for; of several, the height is the mean."""


@dataclass(frozen=True)
class Point:
    """Where the curve stands; it is seen from some rank on."""

    rank: int
    recall: float
    precision: float
    relevant: bool


@dataclass(frozen=True)
class Area:
    """The precision-recall curve and the area under it."""

    kind: ClassVar[str] = "area"

    bars: tuple[Bar, ...]
    points: tuple[Point, ...]
    axis: str
    """What the horizontal axis says."""
    says: str
    """What the area is, in words."""


@dataclass(frozen=True)
class Stage:
    """One result, or several told as one, in the chart of what adds up."""

    rank: int
    """It is seen from this rank on; of several, the last."""
    first: int
    """The first of several; the rank itself where it is one."""
    gain: float
    """Before its discount; of several, 0."""
    added: float
    reached: float
    """The sum with it."""
    ideal: float | None
    """The sum of the ideal list down to here; None where no list is ideal."""


@dataclass(frozen=True)
class Growth:
    """What adds up down the list, beside what adds up down the ideal one."""

    kind: ClassVar[str] = "growth"

    stages: tuple[Stage, ...]
    name: str
    """What the sum is."""
    ideal_name: str
    """What the sum of the ideal list is; empty where no list is ideal."""
    ticks: tuple[float, ...]
    """Where the vertical axis has its lines; the last is its top."""
    says: str
    """What the chart shows, in words."""
    legend: tuple[tuple[str, str], ...]
    """What is drawn, "line", "dashed", "filled" and "outlined", and what each is."""


def listed(values: Any) -> Any:
    """Plain values as JSON would give them back: lists in place of tuples, all the way down."""
    if isinstance(values, dict):
        return {name: listed(value) for name, value in values.items()}
    return [*map(listed, values)] if isinstance(values, (list, tuple)) else values


def area(e: Explanation, rows: Sequence[Row], end: int) -> Area | None:
    """Return the curve past some results, the rest as one bar; None without relevant results."""
    whole = _whole(e)
    if not whole:
        return None
    relevant = relevant_ranks(e, end)
    heights = (
        dict(e.steps.bars)
        if e.steps is not None and e.steps.bars is not None
        else {rank: place / rank for place, rank in enumerate(relevant, 1)}
    )
    place = {rank: number for number, rank in enumerate(relevant, 1)}
    walked = [row.rank for row in rows if row.rank in heights]
    bars = [
        Bar(rank, (place[rank] - 1) / whole, place[rank] / whole, heights[rank]) for rank in walked
    ]
    rest = [rank for rank in heights if rank not in set(walked)]
    if rest:
        mean = fsum(heights[rank] for rank in rest) / len(rest)
        left = (place[rest[0]] - 1) / whole
        bars.append(Bar(end, left, place[rest[-1]] / whole, mean, len(rest)))
    an_area = e.steps is not None and e.steps.bars is not None
    return Area(
        tuple(bars),
        tuple(_points(rows, relevant, whole)),
        "recall" if whole == e.relevant else f"relevant items found, of {figure(whole)}",
        f"{e.measure} is the shaded area" if an_area else "the shaded area is average precision",
    )


def relevant_ranks(e: Explanation, end: float) -> list[int]:
    """The ranks of all relevant results down to some rank, those that are not shown too."""
    r = e.rankings
    return sorted(r.hit_rank[(r.hit_grade >= threshold(e.measure)) & (r.hit_rank <= end)].tolist())


def _whole(e: Explanation) -> float:
    if e.steps is not None and e.steps.bars is not None and e.steps.divisor is not None:
        return e.steps.divisor.value.value
    return float(e.relevant)


def _points(rows: Sequence[Row], relevant: list[int], whole: float) -> list[Point]:
    """Return a point after each result, and one before it if results were skipped."""
    points, before, found = [], 0, 0
    for row in rows:
        if row.rank - before > 1 and before:
            points.append(Point(row.rank, found / whole, found / (row.rank - 1), False))
        found += row.rank in relevant
        points.append(Point(row.rank, found / whole, found / row.rank, row.relevant))
        before = row.rank
    return points


def growth(e: Explanation, rows: Sequence[Row], end: int) -> Growth | None:
    """Return the sum past some results, and the rest as one; None if nothing adds anything."""
    steps = e.steps
    if steps is None or steps.adds is None:
        return None
    of = steps.cumulated
    terms = {rank: each.value for rank, each in (of.terms if of else steps.adds).items()}
    gains = {rank: each.value for rank, each in of.gains.items()} if of else {}
    perfect = list(accumulate(of.ideal)) if of else []
    stages, reached, before = [], 0.0, 0
    for last in [*(row.rank for row in rows), *([end] if end > _last(rows) else [])]:
        one = last - before == 1 or last != end or last == _last(rows)
        added = fsum(term for rank, term in terms.items() if before < rank <= last)
        reached += added
        ideal = perfect[min(last, len(perfect)) - 1] if perfect else None
        first = last if one else before + 1
        stages.append(
            Stage(last, first, gains.get(last, 0.0) if one else 0.0, added, reached, ideal)
        )
        before = last
    top = max((max(each.reached, each.gain, each.ideal or 0.0) for each in stages), default=0.0)
    if not 0 < top < float("inf"):
        return None
    name = of.name if of else str(e.measure)
    against = f", against {of.ideal_name}" if of and perfect else ""
    legend = [("line", name)]
    if of and perfect:
        legend.append(("dashed", of.ideal_name))
    legend.append(("filled", "what each result adds"))
    if any(stage.gain for stage in stages):
        legend.append(("outlined", "its gain"))
    return Growth(
        tuple(stages),
        name,
        of.ideal_name if of and perfect else "",
        ticks(top),
        f"how {name} adds up down the list{against}",
        tuple(legend),
    )


def _last(rows: Sequence[Row]) -> int:
    return rows[-1].rank if rows else 0


def ticks(top: float) -> tuple[float, ...]:
    """Round numbers from 0 to some number or just above it, three to six of them.

    >>> ticks(3.7), ticks(0.3)
    ((0.0, 1.0, 2.0, 3.0, 4.0), (0.0, 0.1, 0.2, 0.3))
    """
    size = 10.0 ** floor(log10(top))
    step = next(
        (size * part for part in (0.2, 0.25, 0.5, 1.0, 2.0) if top / (size * part) <= 5), size * 2
    )
    many = int(-(-top // step)) if isfinite(top / step) else 1
    return tuple(float(f"{number * step:.12g}") for number in range(many + 1))
