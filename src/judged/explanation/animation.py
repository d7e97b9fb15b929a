"""The walk down a ranking, frame by frame: what the page and the GIF both draw."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from judged.explanation.arithmetic import figure
from judged.explanation.listing import Row, threshold

if TYPE_CHECKING:
    from judged.explanation.explanation import Explanation

MOST_ROWS = 45
"""A walk past more results than this is too long to watch."""


@dataclass(frozen=True)
class Bar:
    """A piece of the area under the precision-recall curve, which a relevant item adds; all in
    shares of the axes."""

    rank: int
    left: float
    right: float
    height: float


@dataclass(frozen=True)
class Point:
    """Where the curve stands after some rank."""

    rank: int
    recall: float
    precision: float
    relevant: bool


@dataclass(frozen=True)
class Frame:
    """What is seen after some rank: 0 before the first."""

    rank: int
    caption: str
    found: int
    precision: str
    recall: str
    score: str
    """The measure's value, as far as the results down to here make it up; empty where it is no sum.
    """
    finished: bool = False


@dataclass(frozen=True)
class Animation:
    """The ranking, the curve and the frames."""

    title: str
    rows: tuple[Row, ...]
    """The results that are walked past."""
    labels: dict[int, str]
    """Precision at each relevant item, as a fraction."""
    bars: tuple[Bar, ...]
    points: tuple[Point, ...]
    axis: str
    """What the horizontal axis says."""
    area: str
    """What the area under the curve is, in words; empty where nothing is relevant."""
    frames: tuple[Frame, ...]


def animation(e: Explanation) -> Animation:
    rows = _walked(tuple(row for row in e.rows if row.counts))
    relevant = sorted(e.rankings.hit_rank[e.rankings.hit_grade >= threshold(e.measure)].tolist())
    found = {row.rank: sum(rank <= row.rank for rank in relevant) for row in rows}
    heights = _heights(e, rows, found)
    whole = _whole(e)
    bars = tuple(
        Bar(rank, (found[rank] - 1) / whole, found[rank] / whole, heights[rank])
        for rank in heights
        if whole and rank in found
    )
    points = tuple(
        Point(row.rank, found[row.rank] / whole, found[row.rank] / row.rank, row.relevant)
        for row in rows
        if whole
    )
    an_area = e.steps is not None and e.steps.bars is not None
    axis = "recall" if whole == e.relevant else f"relevant items found, of {figure(whole)}"
    return Animation(
        title=f"{e.measure} = {_settled(e)}",
        rows=rows,
        labels={row.rank: f"{found[row.rank]}/{row.rank}" for row in rows if row.relevant},
        bars=bars,
        points=points,
        axis=axis,
        area=(
            f"{e.measure} is the shaded area"
            if an_area
            else "the shaded area is the average precision"
        )
        if whole
        else "",
        frames=tuple(_frames(e, rows, found, whole)),
    )


def _walked(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """As many results as can be looked at one by one: the relevant ones, then the others from the
    top."""
    by_worth = sorted(rows, key=lambda row: (not row.relevant, row.rank))
    return tuple(sorted(by_worth[:MOST_ROWS], key=lambda row: row.rank))


def _settled(e: Explanation) -> str:
    return "–" if isnan(e.settled) else figure(round(e.settled, 4))


def _whole(e: Explanation) -> float:
    """What a relevant item's share of the horizontal axis is one part of."""
    if e.steps is not None and e.steps.bars is not None and e.steps.divisor is not None:
        return e.steps.divisor.value.value
    return float(e.relevant)


def _heights(e: Explanation, rows: tuple[Row, ...], found: dict[int, int]) -> dict[int, float]:
    if e.steps is not None and e.steps.bars is not None:
        return dict(e.steps.bars)
    return {row.rank: found[row.rank] / row.rank for row in rows if row.relevant}


def _frames(
    e: Explanation, rows: tuple[Row, ...], found: dict[int, int], whole: float
) -> list[Frame]:
    adds = e.steps.adds if e.steps is not None else None
    nothing = "0" if adds is not None else ""
    listed = sum(row.relevant for row in rows)
    start = f"{listed} of {len(rows)} results are relevant, of {e.relevant} relevant items in all."
    frames = [Frame(0, start, 0, "–", "0" if e.relevant else "–", nothing)]
    score, before = 0.0, 0
    for row in rows:
        if adds is not None:
            score += sum(term.value for rank, term in adds.items() if before < rank <= row.rank)
        count = found[row.rank]
        frames.append(
            Frame(
                row.rank,
                _caption(
                    row,
                    count,
                    adds[row.rank].value if adds and row.rank in adds else None,
                    row.rank - before - 1,
                ),
                count,
                f"{count}/{row.rank} = {figure(count / row.rank)}",
                f"{count}/{e.relevant} = {figure(count / e.relevant)}" if e.relevant else "–",
                figure(score) if adds is not None else "",
            )
        )
        before = row.rank
    stages = e.steps.value.stages() if e.steps is not None else []
    end = (
        f"{e.measure} = {' = '.join(dict.fromkeys([stages[0], stages[-1]]))}"
        if stages
        else e.arithmetic
    )
    last = frames[-1]
    return [
        *frames,
        Frame(last.rank, end, last.found, last.precision, last.recall, _settled(e), finished=True),
    ]


def _caption(row: Row, found: int, added: float | None, skipped: int) -> str:
    over = f"{skipped} results are skipped. " if skipped else ""
    if row.relevant:
        adds = f", which adds {figure(added)}" if added is not None else ""
        share = figure(found / row.rank)
        return (
            f"{over}Rank {row.rank} is relevant: {found} of the first {row.rank} are, precision "
            f"{share}{adds}."
        )
    if row.grade is None:
        return f"{over}Nobody judged the item at rank {row.rank}: it counts as not relevant."
    return f"{over}Rank {row.rank} is not relevant."
