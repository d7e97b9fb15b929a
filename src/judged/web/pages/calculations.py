"""The sum behind a number: what each rank adds, the arithmetic with its meaning, what would help
most, and what other definitions say.

Everything is taken from `Explanation.to_dict()`; here it is only put in the shape of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from judged.rankings.strips import Cell

if TYPE_CHECKING:
    from judged.explanation.explanation import Explanation


MAX_OTHERS = 8
"""So many other definitions are shown."""
MAX_USERS = 3
"""So many libraries are named with each."""
_DRAWN_COLUMNS = ("rank", "item", "grade", "adds")
"""Columns of the table that pages draw themselves."""


@dataclass(frozen=True)
class CalculationRow:
    """One rank."""

    rank: int
    item: str | None
    cell: Cell
    cells: tuple[str, ...]
    """What the measure looks at, by the columns of the sum."""
    adds: float | None
    """What it adds to the value; None where nothing."""
    counts: bool
    """Whether it is above the cutoff."""
    skipped: int
    """How many ranks are left out before it."""


@dataclass(frozen=True)
class CalculationLine:
    """A line of the arithmetic."""

    before: str
    """The line down to its last equals sign."""
    value: str
    """What comes out."""
    says: str
    """Why it is so; empty for the last line."""


@dataclass(frozen=True)
class OtherDefinition:
    """Another definition."""

    measure: str
    value: float
    says: str
    """What differs, and who has it."""


@dataclass(frozen=True)
class WalkStep:
    """What is said at one step of the walk down the list."""

    rank: int
    caption: str
    score: str
    """The value so far; empty where it is no sum."""
    readings: tuple[str, ...]
    finished: bool


@dataclass(frozen=True)
class Calculation:
    """How one number of one query comes about."""

    measure: str
    title: str
    system: str
    query: str
    value: float | None
    """What stands in tables: the value under the policy; None where the query does not count."""
    columns: tuple[str, ...]
    rows: tuple[CalculationRow, ...]
    adds: bool
    """Whether the value is a sum over ranks."""
    most: float
    """The most that any rank adds."""
    lines: tuple[CalculationLine, ...]
    sentences: tuple[str, ...]
    """What else there is to say, but for what would help most."""
    helps: str
    """What would help most; empty where nothing does."""
    others: tuple[OtherDefinition, ...]
    readings: tuple[str, ...]
    """The names of what is read at each step."""
    steps: tuple[WalkStep, ...]
    latex: str
    below: int
    """How many ranks are left out after the last row."""

    @property
    def frames(self) -> list[dict[str, Any]]:
        """The steps as plain values, for a script."""
        return [
            {
                "rank": step.rank,
                "caption": step.caption,
                "score": step.score,
                "readings": list(step.readings),
                "finished": step.finished,
            }
            for step in self.steps
        ]


def calculation_of(explanation: Explanation, *, top: float | None = None) -> Calculation:
    """The sum behind a number, as a page shows it.

    Parameters
    ----------
    explanation : Explanation
        What `judged.explain` returned.
    top : float, optional
        The best grade of all queries, for colours that mean the same on all pages; by default that
        of this query.

    Returns
    -------
    Sum

    >>> from judged import explain
    >>> found = calculation_of(explain("0 1 0 1", measure="AP"))
    >>> [row.adds for row in found.rows], found.lines[-1].value
    ([0.0, 0.25, 0.0, 0.25], '0.5')
    """
    told = explanation.to_dict()
    best = float(explanation.rankings.pool_grade.max(initial=0.0)) if top is None else top
    best = best if best > 0 else 1.0
    header: Sequence[str] = told["table"]["header"]
    chosen = [at for at, name in enumerate(header) if name not in _DRAWN_COLUMNS]
    rows = tuple(
        CalculationRow(
            row["rank"],
            row.get("item"),
            _cell(row, best),
            tuple(texts[at] for at in chosen),
            row["adds"] if "adds" in row and row["counts"] else None,
            row["counts"],
            skipped,
        )
        for row, texts, skipped in zip(
            told["ranks"], told["table"]["rows"], told["table"]["skipped"], strict=True
        )
    )
    change = told["best_change"]
    helps = change["says"] if change else ""
    walk = told["walk"]
    return Calculation(
        measure=str(explanation.measure),
        title=explanation.measure.spec.title,
        system=told["run"],
        query=told["query"],
        value=_number(told["settled"]),
        columns=tuple(header[at] for at in chosen),
        rows=rows,
        adds="adds" in header,
        most=max((abs(row.adds) for row in rows if row.adds is not None), default=0.0),
        lines=tuple(map(_line, told["lines"])),
        sentences=tuple(text for text in told["sentences"] if text != helps),
        helps=helps,
        others=tuple(map(_other, told["variants"][:MAX_OTHERS])),
        readings=tuple(walk["readings"]),
        steps=tuple(
            WalkStep(
                frame["rank"],
                frame["caption"],
                frame["score"],
                tuple(frame["readings"]),
                frame["finished"],
            )
            for frame in walk["frames"]
        ),
        latex=told["align"],
        below=told["retrieved"] - (rows[-1].rank if rows else 0),
    )


def _number(value: float | str | None) -> float | None:
    """A number that JSON would not hold, back from its word."""
    return value if value is None else float(value)


def _cell(row: Mapping[str, Any], top: float) -> Cell:
    grade = row["grade"]
    if not row["judged"]:
        return Cell("unjudged", None, top)
    return Cell("relevant" if grade > 0 else "irrelevant", grade, top)


def _line(line: Mapping[str, Any]) -> CalculationLine:
    stages: list[str] = line["stages"]
    # On the way to the value, the numbers and what comes out are enough.
    between = stages[:-1] if not line["says"] else stages[: min(1, len(stages) - 1)]
    return CalculationLine(" = ".join([line["symbol"], *between]), stages[-1], line["says"])


def _other(variant: Mapping[str, Any]) -> OtherDefinition:
    users = [f"{title} ({theirs})" for title, theirs in variant["libraries"].items()]
    more = len(users) - MAX_USERS
    named = ", ".join(users[:MAX_USERS]) + (f" and {more} more" if more > 0 else "")
    value = _number(variant["value"])
    assert value is not None  # a variant without a value is none
    return OtherDefinition(
        variant["measure"], value, ": ".join(filter(None, [variant["says"], named]))
    )


WIDTH, HEIGHT = 460, 320
LEFT, TOP, RIGHT, BOTTOM = 52, 14, 12, 44
"""The chart and the room around its axes."""
_KINDS = {"relevant": "relevant", "not relevant": "irrelevant", "not judged": "unjudged"}


@dataclass(frozen=True)
class WalkTile:
    """One result."""

    rank: int
    title: str
    """Its id and what it is, in words."""
    cell: Cell
    mark: str
    label: str
    skipped: int
    """How many results before it are left out."""


@dataclass(frozen=True)
class Walk:
    """A walk, as a page shows it; it stands at its end where no script runs."""

    tiles: tuple[WalkTile, ...]
    rest: str
    """What follows the last tile, in words; empty where nothing does."""
    rest_rank: int
    """The step that it belongs to."""
    readings: tuple[tuple[str, str], ...]
    """Names and texts."""
    caption: str
    score: str
    rank: int
    drawing: Markup
    """The chart; empty where there is none."""
    says: str
    """What the chart shows."""
    legend: tuple[tuple[str, str], ...]
    last: int
    """The number of the last step."""
    frames: tuple[Mapping[str, Any], ...]
    """What is seen at each step, for the script."""


def walk_of(told: Mapping[str, Any], *, top: float = 1.0) -> Walk:
    """A walk for a page.

    Parameters
    ----------
    told : dict
        The `walk` of `Explanation.to_dict()`.
    top : float, optional
        The best grade there is, for the strength of colours.

    Returns
    -------
    Walk

    >>> from judged import explain
    >>> walk = walk_of(explain("0 1 0 1", measure="AP").to_dict()["walk"])
    >>> [tile.label for tile in walk.tiles], walk.score
    (['', '1/2', '', '2/4'], '0.5')
    """
    frames: Sequence[Mapping[str, Any]] = told["frames"]
    end, rest, chart = frames[-1], told["rest"], told["chart"]
    return Walk(
        tiles=tuple(_tile(tile, top) for tile in told["tiles"]),
        rest=f"{rest['results']:,} more" if rest and rest["results"] else "",
        rest_rank=rest["last"] if rest else 0,
        readings=tuple(zip(told["readings"], end["readings"], strict=True)),
        caption=end["caption"],
        score=end["score"],
        rank=end["rank"],
        drawing=Markup() if chart is None else draw_walk(chart),
        says="" if chart is None else chart["says"],
        legend=() if chart is None else tuple(map(tuple, chart.get("legend", ()))),
        last=len(frames) - 1,
        frames=tuple(frames),
    )


def _tile(tile: Mapping[str, Any], top: float) -> WalkTile:
    name = f"{tile['item']}, " if tile["item"] else ""
    grade = tile["grade"]
    # What a measure counts from a grade of 0 or below has no strength of its own.
    shown = grade if grade is not None and grade > 0 else top
    kind = _KINDS[tile["kind"]]
    cell = Cell(kind, shown if kind == "relevant" else grade, top)  # type: ignore[arg-type]
    mark = "?" if kind == "unjudged" else tile["mark"]
    return WalkTile(
        tile["rank"], f"{name}{tile['kind']}", cell, mark, tile["label"], tile["skipped"]
    )


# -- drawings: attributes and classes only; what is seen from some rank on says so by data-rank


def draw_walk(chart: Mapping[str, Any]) -> Markup:
    """The chart of a walk as SVG, at its end.

    Parameters
    ----------
    chart : dict
        The `chart` of a walk, of the kind "area" or "growth".

    Returns
    -------
    markupsafe.Markup

    >>> from judged import explain
    >>> "<svg" in draw_walk(explain("0 1", measure="nDCG").to_dict()["walk"]["chart"])
    True
    """
    return _area(chart) if chart["kind"] == "area" else _growth(chart)


def _x(share: float) -> str:
    return f"{LEFT + share * (WIDTH - LEFT - RIGHT):.2f}"


def _y(share: float) -> str:
    return f"{TOP + (1 - share) * (HEIGHT - TOP - BOTTOM):.2f}"


def _framed(label: str, across: str, up: str, inside: Sequence[str]) -> Markup:
    """A drawing with its axes and their names."""
    return Markup(
        f'<svg class="walk-drawing" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(label)}">{"".join(inside)}'
        f'<line class="axis" x1="{_x(0)}" x2="{_x(1)}" y1="{_y(0)}" y2="{_y(0)}"/>'
        f'<line class="axis" x1="{_x(0)}" x2="{_x(0)}" y1="{_y(0)}" y2="{_y(1)}"/>'
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" '
        f'text-anchor="middle">{escape(across)}</text>'
        f'<text transform="translate(13 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" '
        f'text-anchor="middle">{escape(up)}</text></svg>'
    )


def _rule(share: float, text: str) -> str:
    """A line across, with its number."""
    return (
        f'<line class="rule" x1="{_x(0)}" x2="{_x(1)}" y1="{_y(share)}" y2="{_y(share)}"/>'
        f'<text x="{LEFT - 8}" y="{float(_y(share)) + 4:.2f}" text-anchor="end">{text}</text>'
    )


def _below(share: float, text: str) -> str:
    """A number under the horizontal axis."""
    return f'<text x="{_x(share)}" y="{HEIGHT - BOTTOM + 17}" text-anchor="middle">{text}</text>'


def _box(kind: str, rank: int, left: float, right: float, height: float, says: str) -> str:
    return (
        f'<rect class="{kind}" data-rank="{rank}" x="{_x(left)}" y="{_y(height)}" '
        f'width="{float(_x(right)) - float(_x(left)):.2f}" '
        f'height="{float(_y(0)) - float(_y(height)):.2f}"><title>{escape(says)}</title></rect>'
    )


def _path(kind: str, rank: int, *points: tuple[float, float]) -> str:
    way = " ".join(f"{_x(x)},{_y(y)}" for x, y in points)
    return f'<polyline class="{kind}" data-rank="{rank}" points="{way}"/>'


def _area(chart: Mapping[str, Any]) -> Markup:
    """The precision-recall curve and the area under it."""
    drawn = [_rule(at, f"{at:g}") + _below(at, f"{at:g}") for at in (0, 0.25, 0.5, 0.75, 1)]
    for bar in chart["bars"]:
        one = bar["items"] == 1
        says = f"rank {bar['rank']}" if one else f"{bar['items']:,} relevant results as one"
        kind = "piece" if one else "piece rest"
        drawn.append(_box(kind, bar["rank"], bar["left"], bar["right"], bar["height"], says))
    last = None
    for point in chart["points"]:
        here = (point["recall"], point["precision"])
        drawn += [] if last is None else [_path("way", point["rank"], last, here)]
        last = here
    drawn += [
        f'<circle class="found" data-rank="{point["rank"]}" cx="{_x(point["recall"])}" '
        f'cy="{_y(point["precision"])}" r="4"/>'
        for point in chart["points"]
        if point["relevant"]
    ]
    return _framed(f"Precision-recall curve; {chart['says']}", chart["axis"], "precision", drawn)


def _growth(chart: Mapping[str, Any]) -> Markup:
    """What adds up down the list, beside what adds up down the ideal one."""
    stages, top = chart["stages"], chart["ticks"][-1]
    many = len(stages)
    every = -(-many // 12)
    drawn = [_rule(tick / top, f"{tick:g}") for tick in chart["ticks"]]
    ways = []
    reached = ideal = 0.0
    for at, stage in enumerate(stages):
        left, right, rank = at / many, (at + 1) / many, stage["rank"]
        inside = (left + 0.15 / many, right - 0.15 / many)
        name = f"{rank:,}" if stage["first"] == rank else f"to {rank:,}"
        if stage["gain"]:
            says = f"gain at rank {rank}"
            drawn.append(_box("whole", rank, *inside, stage["gain"] / top, says))
        if stage["added"]:
            says = f"rank {name}: adds {stage['added']:.4f}"
            drawn.append(_box("piece", rank, *inside, stage["added"] / top, says))
        if at % every == 0 or at == many - 1:
            drawn.append(_below((left + right) / 2, name))
        before, reached = reached, stage["reached"]
        ways.append(_path("way", rank, *_stair(left, right, before / top, reached / top)))
        if stage["ideal"] is not None:
            before, ideal = ideal, stage["ideal"]
            ways.append(_path("ideal", rank, *_stair(left, right, before / top, ideal / top)))
    against = f" against {ideal:.4f}" if chart["ideal_name"] else ""
    label = f"{chart['says'][:1].upper()}{chart['says'][1:]}: {reached:.4f}{against}"
    return _framed(label, "rank", chart["name"], [*drawn, *ways])


def _stair(
    left: float, right: float, before: float, after: float
) -> tuple[tuple[float, float], ...]:
    """Up to the new sum, and across."""
    return (left, before), (left, after), (right, after)
