"""The walk down a ranking, frame by frame, as plain data: what the page and the GIF both draw, and
what any other page can."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from math import fsum, isnan
from typing import TYPE_CHECKING, Any

from judged.explanation.arithmetic import Expression, figure
from judged.explanation.curves import Area, Growth, area, growth, listed, relevant_ranks
from judged.explanation.listing import Cumulated, Row
from judged.text import counted

if TYPE_CHECKING:
    from judged.explanation.explanation import Explanation

MOST_ROWS = 45  # a walk past more results than this is too long to watch

NOTHING = "–"


@dataclass(frozen=True)
class Tile:
    """One result of the walk."""

    rank: int
    item: str | None
    """Its id; None where the input has none."""
    grade: float | None
    """None where nobody judged it."""
    kind: str
    """"relevant", "not relevant" or "not judged"."""
    mark: str
    """Its grade where the measure looks at grades; otherwise ✓ where it is relevant, and ·."""
    label: str
    """What it brings: precision at a relevant item, or what it adds; empty where nothing."""
    skipped: int
    """How many results before it are skipped."""


@dataclass(frozen=True)
class Rest:
    """The ranks after the last tile, told as one."""

    first: int
    last: int
    results: int
    """How many results stand there; 0 where the list has ended and only the ideal one goes on."""
    relevant: int
    """How many of them are relevant."""


@dataclass(frozen=True)
class Frame:
    """What is seen after some rank: 0 before the first."""

    rank: int
    caption: str
    readings: tuple[str, ...]  # the texts of the animation's readings, in their order
    score: str
    """The measure's value, as far as the results down to here make it up; empty where it is no sum.
    """
    finished: bool = False


@dataclass(frozen=True)
class Animation:
    """The tiles, the chart and the frames."""

    title: str
    tiles: tuple[Tile, ...]
    """The results that are walked past."""
    rest: Rest | None
    """What follows them, told as one; None where nothing does."""
    readings: tuple[str, ...]
    """What is read at each rank: the names."""
    chart: Area | Growth | None
    """The precision-recall curve of measures that look at precision or recall, what adds up for
    others, None where neither is."""
    frames: tuple[Frame, ...]
    """The start, each tile, the rest, and the end."""

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

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
    """An explanation on its way to an animation."""

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
        """How many of them stand at or above a rank."""
        return bisect_right(self.relevant, last)

    @property
    def cumulated(self) -> Cumulated | None:
        return self.e.steps.cumulated if self.e.steps is not None else None

    @property
    def adds(self) -> dict[int, Expression] | None:
        return self.e.steps.adds if self.e.steps is not None else None

    def added(self, first: int, last: int) -> float:
        """What some ranks add to the value."""
        found = (self.adds or {}).items()
        return fsum(term.value for rank, term in found if first <= rank <= last)

    def cell(self, name: str, rank: int) -> str:
        """What a column of the steps says at a rank."""
        from judged.explanation.text import cell_text

        at = next((at for at, row in enumerate(self.e.rows) if row.rank == rank), None)
        if at is None or self.e.steps is None:
            return ""
        column = next(each for each in self.e.steps.columns if each.name == name)
        return cell_text(column.cells[at])


def animation(e: Explanation) -> Animation:
    """The walk of an explanation."""
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
