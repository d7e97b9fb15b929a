"""The walk down a ranking, frame by frame, as plain data that the page and the GIF draw."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import accumulate
from math import floor, fsum, isfinite, isnan, log10
from typing import TYPE_CHECKING, Any, ClassVar

from judged.explanation.arithmetic import Expression, figure
from judged.explanation.listing import Cumulated, Row, cell_text, threshold
from judged.text import counted

if TYPE_CHECKING:
    from judged.explanation.explanation import Explanation

MOST_ROWS = 45  # a walk past more results than this is too long to watch

NOTHING = "–"


# -- charts


@dataclass(frozen=True)
class Bar:
    """A piece of the area under the precision-recall curve, in shares of the axes."""

    rank: int
    left: float
    right: float
    height: float
    items: int = 1  # relevant items it represents; of several, the height is the mean


@dataclass(frozen=True)
class Point:
    """A point of the curve, visible from its rank on."""

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
    axis: str  # label of the horizontal axis
    says: str  # what the area is, in words


@dataclass(frozen=True)
class Stage:
    """One result, or several as one step, in the chart of what adds up."""

    rank: int  # visible from this rank on; of several, the last
    first: int  # the first of several; otherwise the rank
    gain: float  # before its discount; of several, 0
    added: float
    reached: float  # the sum with it
    ideal: float | None  # the sum of the ideal list down to here; None without an ideal list


@dataclass(frozen=True)
class Growth:
    """A sum down the list, beside that of the ideal list."""

    kind: ClassVar[str] = "growth"

    stages: tuple[Stage, ...]
    name: str  # of the sum
    ideal_name: str  # of the sum of the ideal list; empty without one
    ticks: tuple[float, ...]  # grid lines of the vertical axis; the last is its top
    says: str  # what the chart shows, in words
    legend: tuple[tuple[str, str], ...]  # (line, dashed, filled or outlined; its meaning)


def listed(values: Any) -> Any:
    """Return plain values as JSON would: lists instead of tuples, at every level."""
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
    """Return the ranks of all relevant results down to some rank, shown or not."""
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
    """Return three to six round numbers from 0 to some number or just above it.

    >>> ticks(3.7), ticks(0.3)
    ((0.0, 1.0, 2.0, 3.0, 4.0), (0.0, 0.1, 0.2, 0.3))
    """
    size = 10.0 ** floor(log10(top))
    step = next(
        (size * part for part in (0.2, 0.25, 0.5, 1.0, 2.0) if top / (size * part) <= 5), size * 2
    )
    many = int(-(-top // step)) if isfinite(top / step) else 1
    return tuple(float(f"{number * step:.12g}") for number in range(many + 1))


# -- the walk


@dataclass(frozen=True)
class Tile:
    """One result of the walk."""

    rank: int
    item: str | None  # its id; None if the input has no ids
    grade: float | None  # None if unjudged
    kind: str  # "relevant", "not relevant" or "not judged"
    mark: str  # its grade for measures of grades; otherwise ✓ if relevant, or ·
    label: str  # precision at a relevant item, or what it adds; empty if nothing
    skipped: int  # results left out before it


@dataclass(frozen=True)
class Rest:
    """The ranks after the last tile, as one step."""

    first: int
    last: int
    results: int  # 0 if the list has ended and only the ideal list goes on
    relevant: int  # of these results


@dataclass(frozen=True)
class Frame:
    """The state after some rank; rank 0 is the start."""

    rank: int
    caption: str
    readings: tuple[str, ...]  # the texts of the animation's readings, in their order
    score: str  # the value so far; empty if it is no sum over ranks
    finished: bool = False


@dataclass(frozen=True)
class Animation:
    """The tiles, the chart and the frames."""

    title: str
    tiles: tuple[Tile, ...]  # one for each result that is shown
    rest: Rest | None  # the results after the tiles, if any
    readings: tuple[str, ...]  # names of the numbers shown at each rank
    chart: Area | Growth | None  # precision-recall curve, or sum of gains
    frames: tuple[Frame, ...]  # the start, each tile, the rest, and the end

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values that JSON can hold.

        Returns
        -------
        dict
            `title`; `tiles` (rank, item, grade, kind, mark, label, skipped); `rest` (first, last,
            results, relevant) or None; `readings`, names; `chart`, None or with `kind` "area"
            (bars, points, axis, says) or "growth" (stages, name, ideal_name, ticks, says, legend);
            `frames` (rank, caption, readings, score, finished).

        >>> from judged import explain
        >>> walk = explain("0 1", measure="RR").animation.to_dict()
        >>> walk["frames"][2]["caption"]
        'Rank 2 is relevant and adds 0.5.'
        """
        chart = self.chart and {"kind": self.chart.kind, **asdict(self.chart)}
        plain: dict[str, Any] = listed({**asdict(self), "chart": chart})
        return plain


@dataclass(frozen=True)
class _Walk:
    """An explanation, and what its animation goes through."""

    e: Explanation
    rows: tuple[Row, ...]  # the results that are walked past
    end: int  # the last rank of the walk
    listed: int  # how many results count
    by_precision: bool  # whether the measure looks at precision or recall

    @cached_property
    def relevant(self) -> list[int]:
        """The ranks of the relevant results that count."""
        return relevant_ranks(self.e, self.listed)

    def found(self, last: int) -> int:
        """Count the relevant results at or above a rank."""
        return bisect_right(self.relevant, last)

    @property
    def cumulated(self) -> Cumulated | None:
        return self.e.steps.cumulated if self.e.steps is not None else None

    @property
    def adds(self) -> dict[int, Expression] | None:
        return self.e.steps.adds if self.e.steps is not None else None

    def added(self, first: int, last: int) -> float:
        """Return what some ranks add to the value."""
        found = (self.adds or {}).items()
        return fsum(term.value for rank, term in found if first <= rank <= last)

    def cell(self, name: str, rank: int) -> str:
        """Return the text of a column of the steps at a rank."""
        at = next((at for at, row in enumerate(self.e.rows) if row.rank == rank), None)
        if at is None or self.e.steps is None:
            return ""
        column = next(each for each in self.e.steps.columns if each.name == name)
        return cell_text(column.cells[at])


def animation(e: Explanation) -> Animation:
    """Return the walk of an explanation."""
    walk = _walk(e)
    last = walk.rows[-1].rank if walk.rows else 0
    rest = None
    if walk.end > last:
        later = len(walk.relevant) - walk.found(last)
        rest = Rest(last + 1, walk.end, max(walk.listed - last, 0), later)
    draw: Callable[[Explanation, Sequence[Row], int], Area | Growth | None]
    draw = area if walk.by_precision else growth
    readings = _readings(walk)
    return Animation(
        title=f"{e.measure} = {_settled(e)}",
        tiles=tuple(_tiles(walk)),
        rest=rest,
        readings=tuple(readings),
        chart=draw(e, walk.rows, walk.end),
        frames=tuple(_frames(walk, rest, [*readings.values()])),
    )


def _walk(e: Explanation) -> _Walk:
    rows = _walked(tuple(row for row in e.rows if row.counts))
    until = e.steps.end if e.steps is not None else float(e.rankings.retrieved[0])
    listed = int(min(float(e.rankings.retrieved[0]), until))
    cumulated = e.steps.cumulated if e.steps is not None else None
    ideal = len(cumulated.ideal) if cumulated else 0
    names = {column.name for column in e.steps.columns} if e.steps is not None else {"precision"}
    return _Walk(e, rows, max(listed, ideal), listed, bool(names & {"precision", "recall"}))


def _walked(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Return the results to look at one by one: relevant ones, then others from the top."""
    by_worth = sorted(rows, key=lambda row: (not row.relevant, row.rank))
    return tuple(sorted(by_worth[:MOST_ROWS], key=lambda row: row.rank))


def _settled(e: Explanation) -> str:
    return NOTHING if isnan(e.settled) else figure(round(e.settled, 4))


# -- tiles


def _tiles(walk: _Walk) -> list[Tile]:
    tiles, before = [], 0
    place = {rank: number for number, rank in enumerate(walk.relevant, 1)}
    for row in walk.rows:
        label = ""
        if walk.by_precision:
            label = f"{place[row.rank]}/{row.rank}" if row.rank in place else ""
        elif walk.adds and row.rank in walk.adds:
            of = walk.cumulated
            term = of.terms[row.rank] if of else walk.adds[row.rank]
            label = f"+{term.value:.3g}"
        kind = "relevant" if row.relevant else "not judged" if _unjudged(row) else "not relevant"
        tiles.append(
            Tile(
                row.rank, row.item, row.grade, kind, _mark(walk, row), label, row.rank - before - 1
            )
        )
        before = row.rank
    return tiles


def _unjudged(row: Row) -> bool:
    return row.grade is None or row.grade < 0


def _mark(walk: _Walk, row: Row) -> str:
    if walk.cumulated is not None and row.grade is not None and len(f"{row.grade:g}") <= 4:
        return f"{row.grade:g}"
    return "✓" if row.relevant else "·"


# -- readings: a name, and what it says after some ranks

Reading = Callable[[int, int], str]  # (first, last) -> text: one rank, or several told as one


def _readings(walk: _Walk) -> dict[str, Reading]:
    columns = _column_readings(walk)
    if not walk.by_precision:
        return {**columns, **_sum_readings(walk)}

    def share(of: int, last: int) -> str:
        found = walk.found(last)
        return f"{found}/{of} = {figure(found / of)}" if of else NOTHING

    return {
        "relevant so far": lambda _, last: str(walk.found(last)),
        **columns,
        "precision": lambda _, last: share(last, last),
        "recall": lambda _, last: share(walk.e.relevant, last),
    }


def _column_readings(walk: _Walk) -> dict[str, Reading]:
    steps = walk.e.steps
    names = [column.name for column in steps.columns if column.name] if steps is not None else []

    def of(name: str) -> Reading:
        return lambda first, last: (walk.cell(name, last) if first == last else "") or NOTHING

    return {name: of(name) for name in names}


def _sum_readings(walk: _Walk) -> dict[str, Reading]:
    if walk.adds is None:
        return {}
    of = walk.cumulated
    if of is None:
        return {"adds": lambda first, last: figure(walk.added(first, last)) if last else NOTHING}
    terms = {rank: each.value for rank, each in of.terms.items()}

    def summed(first: int, last: int) -> float:
        return fsum(term for rank, term in terms.items() if first <= rank <= last)

    read: dict[str, Reading] = {
        f"adds to {of.name}": lambda first, last: figure(summed(first, last)) if last else NOTHING
    }
    if of.ideal:
        read[f"{of.name} so far"] = lambda _, last: figure(summed(1, last))
        read[f"{of.ideal_name} so far"] = lambda _, last: figure(fsum(of.ideal[:last]))
    return read


# -- frames


def _frames(walk: _Walk, rest: Rest | None, readings: list[Reading]) -> list[Frame]:
    e = walk.e

    def frame(first: int, last: int, caption: str) -> Frame:
        texts = tuple(read(first, last) for read in readings)
        return Frame(last, caption, texts, "" if walk.adds is None else figure(walk.added(1, last)))

    listed = sum(row.relevant for row in walk.rows) + (rest.relevant if rest else 0)
    start = (
        f"{listed} of {counted(walk.listed, 'result')} "
        f"{'is' if listed == 1 else 'are'} relevant, of {counted(e.relevant, 'relevant item')} "
        "in all."
    )
    frames, before = [frame(0, 0, start)], 0
    for row in walk.rows:
        skipped = row.rank - before - 1
        over = f"{counted(skipped, 'result is', 'results are')} skipped. " if skipped else ""
        frames.append(frame(row.rank, row.rank, over + _caption(walk, row)))
        before = row.rank
    if rest:
        frames.append(frame(rest.first, rest.last, _rest_caption(walk, rest)))
    stages = e.steps.value.stages() if e.steps is not None else []
    end = (
        f"{e.measure} = {' = '.join(dict.fromkeys([stages[0], stages[-1]]))}"
        if stages
        else e.arithmetic
    )
    last = frames[-1]
    return [*frames, Frame(last.rank, end, last.readings, _settled(e), finished=True)]


def _caption(walk: _Walk, row: Row) -> str:
    of = walk.cumulated
    term = (walk.adds or {}).get(row.rank)
    if walk.by_precision:
        if row.relevant:
            found = walk.found(row.rank)
            adds = f", which adds {figure(term.value)}" if term is not None else ""
            return (
                f"Rank {row.rank} is relevant: {found} of the first {row.rank} "
                f"{'is' if found == 1 else 'are'}, precision {figure(found / row.rank)}{adds}."
            )
    elif of is not None and row.rank in of.terms:
        grade = f" (grade {row.grade:g})" if row.grade is not None else ""
        worked_out = " = ".join(of.terms[row.rank].stages()[-2:])
        return f"Rank {row.rank}{grade} adds {worked_out} to {of.name}."
    elif term is not None and term.value:
        what = "is relevant and" if row.relevant else "is not relevant, but"
        return f"Rank {row.rank} {what} adds {figure(term.value)}."
    elif row.relevant:
        nothing = " and adds nothing" if walk.adds is not None else ""
        return f"Rank {row.rank} is relevant{nothing}."
    if row.grade is None:
        return f"Nobody judged the item at rank {row.rank}: it counts as not relevant."
    return f"Rank {row.rank} is not relevant{' and gains nothing' if of is not None else ''}."


def _rest_caption(walk: _Walk, rest: Rest) -> str:
    of = walk.cumulated
    said = []
    if rest.results:
        last = rest.first + rest.results - 1
        where = f"Rank {last}" if rest.first == last else f"Ranks {rest.first:,} to {last:,}"
        found = (
            f"{rest.relevant:,} of {rest.results:,} relevant"
            if rest.relevant
            else "nothing relevant"
        )
        adds = (
            f", which adds {figure(walk.added(rest.first, rest.last))}"
            if walk.adds is not None and rest.relevant
            else ""
        )
        said.append(f"{where} as one step: {found}{adds}.")
    if of is not None and len(of.ideal) > walk.listed:
        said.append(
            f"The list has ended; the ideal one goes on to rank {len(of.ideal):,}, where "
            f"{of.ideal_name} is {figure(fsum(of.ideal))}."
        )
    return " ".join(said)
