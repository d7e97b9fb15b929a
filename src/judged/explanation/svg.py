"""The chart of a walk as SVG: attributes and classes only, colours come from the page's stylesheet.

Without scripts it shows the end of the walk; what is seen from some rank on says so by `data-rank`.
"""

from __future__ import annotations

from judged.explanation.arithmetic import figure
from judged.explanation.curves import Area, Growth
from judged.text import html

WIDTH, HEIGHT = 460, 330
LEFT, TOP, RIGHT, BOTTOM = 56, 16, 12, 48
"""The chart and the room around its axes."""


def to_svg(chart: Area | Growth) -> str:
    """The drawing, with its words as the label."""
    return _area(chart) if isinstance(chart, Area) else _growth(chart)


def _x(share: float) -> str:
    return f"{LEFT + share * (WIDTH - LEFT - RIGHT):.2f}"


def _y(share: float) -> str:
    return f"{TOP + (1 - share) * (HEIGHT - TOP - BOTTOM):.2f}"


def _framed(label: str, across: str, up: str, inside: str) -> str:
    """A drawing with its axes and their names."""
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html(label)}">{inside}'
        f'<line class="axis" x1="{_x(0)}" x2="{_x(1)}" y1="{_y(0)}" y2="{_y(0)}"/>'
        f'<line class="axis" x1="{_x(0)}" x2="{_x(0)}" y1="{_y(0)}" y2="{_y(1)}"/>'
        f'<text class="name" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" '
        f'text-anchor="middle">{html(across)}</text>'
        f'<text class="name" transform="translate(14 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" '
        f'text-anchor="middle">{html(up)}</text></svg>'
    )


def _rule(share: float, text: str) -> str:
    """A line across, with its number."""
    return (
        f'<line class="grid" x1="{_x(0)}" x2="{_x(1)}" y1="{_y(share)}" y2="{_y(share)}"/>'
        f'<text class="tick" x="{LEFT - 8}" y="{float(_y(share)) + 4:.2f}" '
        f'text-anchor="end">{text}</text>'
    )


def _below(share: float, text: str) -> str:
    """A number under the horizontal axis."""
    return (
        f'<text class="tick" x="{_x(share)}" y="{HEIGHT - BOTTOM + 18}" '
        f'text-anchor="middle">{text}</text>'
    )


def _box(kind: str, rank: int, left: float, right: float, height: float, says: str = "") -> str:
    title = f"><title>{html(says)}</title></rect>" if says else "/>"
    return (
        f'<rect class="{kind}" data-rank="{rank}" x="{_x(left)}" y="{_y(height)}" '
        f'width="{float(_x(right)) - float(_x(left)):.2f}" '
        f'height="{float(_y(0)) - float(_y(height)):.2f}"{title}'
    )


def _line(kind: str, rank: int, begin: tuple[float, float], end: tuple[float, float]) -> str:
    return (
        f'<line class="{kind}" data-rank="{rank}" x1="{_x(begin[0])}" y1="{_y(begin[1])}" '
        f'x2="{_x(end[0])}" y2="{_y(end[1])}"/>'
    )


def _area(chart: Area) -> str:
    drawn = [_rule(at, f"{at:g}") + _below(at, f"{at:g}") for at in (0, 0.25, 0.5, 0.75, 1)]
    for bar in chart.bars:
        many = f"{bar.items:,} relevant results as one" if bar.items > 1 else ""
        kind = "bar rest" if bar.items > 1 else "bar"
        drawn.append(_box(kind, bar.rank, bar.left, bar.right, bar.height, many))
    last = None
    for point in chart.points:
        here = (point.recall, point.precision)
        drawn += [] if last is None else [_line("curve", point.rank, last, here)]
        last = here
    drawn += [
        f'<circle class="dot" data-rank="{point.rank}" cx="{_x(point.recall)}" '
        f'cy="{_y(point.precision)}" r="4.5"/>'
        for point in chart.points
        if point.relevant
    ]
    label = f"Precision-recall curve; {chart.says}"
    return _framed(label, chart.axis, "precision", "".join(drawn))


def _growth(chart: Growth) -> str:
    top, many = chart.ticks[-1], len(chart.stages)
    drawn = [_rule(tick / top, figure(tick)) for tick in chart.ticks]
    every = -(-many // 12)
    reached = ideal = 0.0
    lines = []
    for at, stage in enumerate(chart.stages):
        left, right = at / many, (at + 1) / many
        inner = (left + 0.15 / many, right - 0.15 / many)
        if stage.gain:
            drawn.append(_box("whole", stage.rank, *inner, stage.gain / top))
        if stage.added:
            drawn.append(_box("bar", stage.rank, *inner, stage.added / top))
        name = f"{stage.rank:,}" if stage.first == stage.rank else f"to {stage.rank:,}"
        if at % every == 0 or at == many - 1:
            drawn.append(_below((left + right) / 2, name))
        lines += _stair("curve", stage.rank, left, right, reached / top, stage.reached / top)
        reached = stage.reached
        if stage.ideal is not None:
            lines += _stair("ideal", stage.rank, left, right, ideal / top, stage.ideal / top)
            ideal = stage.ideal
    label = f"{chart.says[:1].upper()}{chart.says[1:]}: {figure(reached)}" + (
        f" against {figure(ideal)}" if chart.ideal_name else ""
    )
    return _framed(label, "rank", chart.name, "".join([*drawn, *lines]))


def _stair(
    kind: str, rank: int, left: float, right: float, before: float, after: float
) -> list[str]:
    """Up to the new sum, and across."""
    return [
        _line(kind, rank, (left, before), (left, after)),
        _line(kind, rank, (left, after), (right, after)),
    ]
