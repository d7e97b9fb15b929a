"""The walk down a ranking, frame by frame, as plain data that the page and the GIF draw."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import accumulate
from math import floor, fsum, isfinite, isnan, log10
from typing import TYPE_CHECKING, Any

from judged.explanation.arithmetic import Expression, figure
from judged.explanation.listing import Cumulated, RankRow, cell_text, threshold
from judged.results import plain_value
from judged.text import counted

if TYPE_CHECKING:
    from judged.explanation.explanation import Explanation

MOST_ROWS = 45  # a walk past more results than this is too long to watch

NOTHING = "–"
TABLE_ONLY = {"predicted", "actual", "sum", "DCG", "IDCG", "nDCG"}
"""Columns of the table that repeat other readings of the walk."""


# -- charts


WalkChart = dict[str, Any]
"""The curve of precision and recall, or a sum that grows down the list; see `Animation.to_dict`."""


def area(e: Explanation, rows: Sequence[RankRow], end: int) -> WalkChart | None:
    """Return the curve past some results, the rest as one bar; None without relevant results."""
    an_area = e.steps is not None and e.steps.bars is not None
    whole = float(e.relevant)
    if e.steps is not None and an_area and e.steps.divisor is not None:
        whole = e.steps.divisor.value.value
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
        _bar(rank, (place[rank] - 1) / whole, place[rank] / whole, heights[rank]) for rank in walked
    ]
    rest = [rank for rank in heights if rank not in set(walked)]
    if rest:
        mean = fsum(heights[rank] for rank in rest) / len(rest)
        left = (place[rest[0]] - 1) / whole
        bars.append(_bar(end, left, place[rest[-1]] / whole, mean, len(rest)))
    axis = "recall" if whole == e.relevant else f"relevant items found, of {figure(whole)}"
    says = f"{e.measure} is the shaded area" if an_area else "the shaded area is average precision"
    points = list(_points(rows, relevant, whole))
    return {"kind": "area", "bars": bars, "points": points, "axis": axis, "says": says}


def _bar(rank: int, left: float, right: float, height: float, items: int = 1) -> dict[str, float]:
    return {"rank": rank, "left": left, "right": right, "height": height, "items": items}


def relevant_ranks(e: Explanation, end: float) -> list[int]:
    """Return the ranks of all relevant results down to some rank, shown or not."""
    r = e.rankings
    return sorted(r.hit_rank[(r.hit_grade >= threshold(e.measure)) & (r.hit_rank <= end)].tolist())


def _points(rows: Sequence[RankRow], relevant: list[int], whole: float) -> Iterator[dict[str, Any]]:
    """Yield a point after each result, and one before it if results were skipped."""
    before = found = 0
    for row in rows:
        ends = [(row.rank - 1, False)] if row.rank - before > 1 and before else []
        for depth, at_result in (*ends, (row.rank, True)):
            found += at_result and row.rank in relevant
            yield {
                "rank": row.rank,
                "recall": found / whole,
                "precision": found / depth,
                "relevant": at_result and row.relevant,
            }
        before = row.rank


def growth(e: Explanation, rows: Sequence[RankRow], end: int) -> WalkChart | None:
    """Return the sum past some results, and the rest as one; None if nothing adds anything."""
    steps = e.steps
    if steps is None or steps.adds is None:
        return None
    of = steps.cumulated
    terms = {rank: each.value for rank, each in (of.terms if of else steps.adds).items()}
    gains = {rank: each.value for rank, each in of.gains.items()} if of else {}
    perfect = list(accumulate(of.ideal)) if of else []
    stages: list[dict[str, Any]] = []
    reached, before = 0.0, 0
    for last in [*(row.rank for row in rows), *([end] if end > _last(rows) else [])]:
        one = last - before == 1 or last != end or last == _last(rows)
        added = fsum(term for rank, term in terms.items() if before < rank <= last)
        reached += added
        ideal = perfect[min(last, len(perfect)) - 1] if perfect else None
        first = last if one else before + 1
        gain = gains.get(last, 0.0) if one else 0.0
        stage = {"rank": last, "first": first, "gain": gain, "added": added}
        stages.append({**stage, "reached": reached, "ideal": ideal})
        before = last
    top = max(
        (
            value or 0.0
            for stage in stages
            for value in map(stage.get, ("reached", "gain", "ideal"))
        ),
        default=0.0,
    )
    if not 0 < top < float("inf"):
        return None
    name = of.name if of else str(e.measure)
    against = f", against {of.ideal_name}" if of and perfect else ""
    legend = [("line", name)]
    if of and perfect:
        legend.append(("dashed", of.ideal_name))
    legend.append(("filled", "what each result adds"))
    if any(stage["gain"] for stage in stages):
        legend.append(("outlined", "its gain"))
    return {
        "kind": "growth",
        "stages": stages,
        "name": name,
        "ideal_name": of.ideal_name if of and perfect else "",
        "ticks": ticks(top),
        "says": f"how {name} adds up down the list{against}",
        "legend": legend,
    }


def _last(rows: Sequence[RankRow]) -> int:
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
class WalkFrame:
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
    tiles: tuple[dict[str, Any], ...]  # one for each result that is shown
    rest: dict[str, int] | None
    """Ranks after the last tile as one step: first, last, results (0 if only the ideal list goes
    on), relevant."""
    readings: tuple[str, ...]  # names of the numbers shown at each rank
    chart: WalkChart | None
    frames: tuple[WalkFrame, ...]  # the start, each tile, the rest, and the end

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values that JSON can hold.

        Returns
        -------
        dict
            - `title`; `readings`, names of the numbers shown at each rank;
            - `tiles`: rank, item (None without ids), grade (None if unjudged), kind ("relevant",
              "not relevant" or "not judged"), mark (its grade, ✓ or ·), label (precision at a
              relevant item, or what it adds), skipped (results left out before it);
            - `rest`: first, last, results, relevant; or None;
            - `chart`: None; or `kind` "area" with the label of its `axis`, what it `says`, `bars`
              (rank, left, right, height, items; several items have their mean height), and
              `points` (visible from their rank on: rank, recall, precision, relevant); or `kind`
              "growth" with name, ideal_name, ticks, says, legend, and `stages` (rank, first, gain
              before its discount, added, reached, and ideal, the sum of the ideal list so far);
            - `frames`: rank, caption, readings, score, finished.

        >>> from judged import explain
        >>> walk = explain("0 1", measure="RR").animation.to_dict()
        >>> walk["frames"][2]["caption"]
        'Rank 2 is relevant and adds 0.5.'
        """
        plain: dict[str, Any] = plain_value(asdict(self))
        return plain


@dataclass(frozen=True)
class _Walk:
    """An explanation, and what its animation goes through."""

    e: Explanation
    rows: tuple[RankRow, ...]  # the results that are walked past
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
        return cell_text(dict(self.e.steps.columns)[name][at])


def animation(e: Explanation) -> Animation:
    """Return the walk of an explanation."""
    walk = _walk(e)
    last = walk.rows[-1].rank if walk.rows else 0
    rest = None
    if walk.end > last:
        later = len(walk.relevant) - walk.found(last)
        rest = {"first": last + 1, "last": walk.end}
        rest |= {"results": max(walk.listed - last, 0), "relevant": later}
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
    counting = [row for row in e.rows if row.counts]
    # Relevant results first, then others from the top, as far as they can be watched.
    by_worth = sorted(counting, key=lambda row: (not row.relevant, row.rank))[:MOST_ROWS]
    rows = tuple(sorted(by_worth, key=lambda row: row.rank))
    until = e.steps.end if e.steps is not None else float(e.rankings.retrieved[0])
    listed = int(min(float(e.rankings.retrieved[0]), until))
    cumulated = e.steps.cumulated if e.steps is not None else None
    ideal = len(cumulated.ideal) if cumulated else 0
    names = {name for name, _ in e.steps.columns} if e.steps is not None else {"precision"}
    return _Walk(e, rows, max(listed, ideal), listed, bool(names & {"precision", "recall"}))


def _settled(e: Explanation) -> str:
    return NOTHING if isnan(e.settled) else figure(round(e.settled, 4))


# -- tiles


def _tiles(walk: _Walk) -> list[dict[str, Any]]:
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
        unjudged = row.grade is None or row.grade < 0
        kind = "relevant" if row.relevant else "not judged" if unjudged else "not relevant"
        skipped = row.rank - before - 1
        tile = {"rank": row.rank, "item": row.item, "grade": row.grade, "kind": kind}
        tiles.append({**tile, "mark": _mark(walk, row), "label": label, "skipped": skipped})
        before = row.rank
    return tiles


def _mark(walk: _Walk, row: RankRow) -> str:
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
    names = [name for name, _ in steps.columns if name] if steps is not None else []
    names = [name for name in names if name not in TABLE_ONLY]

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


def _frames(walk: _Walk, rest: dict[str, int] | None, readings: list[Reading]) -> list[WalkFrame]:
    e = walk.e

    def frame(first: int, last: int, caption: str) -> WalkFrame:
        texts = tuple(read(first, last) for read in readings)
        return WalkFrame(
            last, caption, texts, "" if walk.adds is None else figure(walk.added(1, last))
        )

    listed = sum(row.relevant for row in walk.rows) + (rest["relevant"] if rest else 0)
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
        frames.append(frame(rest["first"], rest["last"], _rest_caption(walk, rest)))
    end = e.arithmetic
    if e.steps is not None:
        stages = e.steps.value.stages()
        end = f"{e.measure} = {' = '.join(dict.fromkeys([stages[0], stages[-1]]))}"
    last = frames[-1]
    return [*frames, WalkFrame(last.rank, end, last.readings, _settled(e), finished=True)]


def _caption(walk: _Walk, row: RankRow) -> str:
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
        return f"The item at rank {row.rank} is unjudged and counts as not relevant."
    return f"Rank {row.rank} is not relevant{' and gains nothing' if of is not None else ''}."


def _rest_caption(walk: _Walk, rest: dict[str, int]) -> str:
    of = walk.cumulated
    said = []
    if results := rest["results"]:
        first, relevant = rest["first"], rest["relevant"]
        last = first + results - 1
        where = f"Rank {last}" if first == last else f"Ranks {first:,} to {last:,}"
        found, adds = "nothing relevant", ""
        if relevant:
            found = f"{relevant:,} of {results:,} relevant"
            if walk.adds is not None:
                adds = f", which adds {figure(walk.added(first, rest['last']))}"
        said.append(f"{where} as one step: {found}{adds}.")
    if of is not None and len(of.ideal) > walk.listed:
        said.append(
            f"The list has ended; the ideal one goes on to rank {len(of.ideal):,}, where "
            f"{of.ideal_name} is {figure(fsum(of.ideal))}."
        )
    return " ".join(said)
