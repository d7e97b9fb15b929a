"""An explanation as one page that needs nothing else: no network, no fonts, no libraries."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from judged.explanation.animation import Animation
from judged.explanation.text import cells, gaps, header, heading, others, sentences, worked_out
from judged.measures.formula import readable
from judged.text import html, script

if TYPE_CHECKING:
    from judged.explanation.explanation import Explanation

WIDTH, HEIGHT = 460, 330
LEFT, TOP, RIGHT, BOTTOM = 56, 16, 12, 48
"""The chart and the room around its axes."""


def to_html(e: Explanation) -> str:
    """The whole page."""
    page = _asset("page.html")
    scene = e.animation
    parts = {
        "title": html(heading(e)),
        "style": _asset("page.css"),
        "script": _asset("page.js"),
        "frames": script([asdict(frame) for frame in scene.frames]),
        "heading": html(heading(e)),
        "says": html(e.measure.spec.says),
        "tiles": _tiles(scene),
        "chart": _chart(scene),
        "last": str(len(scene.frames) - 1),
        "score_name": html(str(e.measure)),
        "score_hidden": "" if scene.frames[0].score else "hidden",
        "body": body(e),
    }
    for name, text in parts.items():
        page = page.replace(f"<!--{name}-->", text)
    return page


def _asset(name: str) -> str:
    from importlib.resources import files

    return (files("judged.explanation") / "assets" / name).read_text(encoding="utf-8")


def body(e: Explanation) -> str:
    """The explanation without the animation: formula, table, arithmetic and what else there is to
    say."""
    steps = "".join(f"<li><code>{html(text)}</code>{_why(why)}</li>" for text, why in worked_out(e))
    said = "".join(f"<p>{html(text)}</p>" for text in sentences(e))
    formula = f"{e.measure.spec.name} = {readable(e.measure.formula)}"
    return (
        f'<section><h2>Formula</h2><p><code class="formula">{html(formula)}</code></p></section>'
        f"<section><h2>The ranking</h2>{_table(e)}</section>"
        f'<section><h2>The arithmetic</h2><ul class="steps">{steps}</ul>{said}</section>'
        f"{_others(e)}<footer>policy: {html(str(e.policy))}</footer>"
    )


def _why(text: str) -> str:
    return f'<br><span class="why">{html(text)}</span>' if text else ""


def _table(e: Explanation) -> str:
    if not e.rows:
        return "<p>The list is empty.</p>"
    before, head = gaps(e), header(e)
    rows = []
    for row, texts in zip(e.rows, cells(e), strict=True):
        if row.rank in before:
            rows.append(
                f'<tr class="gap"><td colspan="{len(head)}">… {before[row.rank]:,} more …</td></tr>'
            )
        kind = "out" if not row.counts else "relevant" if row.relevant else ""
        shown = "".join(f"<td>{html(text)}</td>" for text in texts)
        rows.append(f'<tr class="{kind}">{shown}</tr>')
    titles = "".join(f'<th scope="col">{html(name)}</th>' for name in head)
    return (
        f'<div class="scroll"><table><thead><tr>{titles}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _others(e: Explanation) -> str:
    told = others(e)
    if not told:
        return ""
    rows = "".join(
        f"<tr><td><code>{html(name)}</code></td><td>{html(value)}</td><td>{html(who)}</td></tr>"
        for name, value, who in told
    )
    head = (
        "<thead><tr><th>definition</th><th>value</th><th>what differs, and who has "
        "it</th></tr></thead>"
    )
    return (
        '<section><h2>Under other definitions</h2><div class="scroll"><table class="variants">'
        f"{head}<tbody>{rows}</tbody></table></div></section>"
    )


def _tiles(scene: Animation) -> str:
    tiles = []
    before = 0
    for row in scene.rows:
        if row.rank - before > 1:
            tiles.append('<li class="skip" aria-hidden="true">…</li>')
        before = row.rank
        word = "relevant" if row.relevant else "not judged" if row.grade is None else "not relevant"
        name = f"{row.item}, " if row.item else ""
        label = scene.labels.get(row.rank, "")
        tiles.append(
            f'<li class="tile {word.replace(" ", "-")}" data-rank="{row.rank}" '
            f'title="{html(name)}{word}">'
            f'<span class="rank">{row.rank}</span><span class="mark" '
            f'aria-hidden="true">{"✓" if row.relevant else "·"}</span>'
            f'<span class="hidden">{word}</span><span class="label">{label}</span></li>'
        )
    return "".join(tiles)


def _x(share: float) -> str:
    return f"{LEFT + share * (WIDTH - LEFT - RIGHT):.2f}"


def _y(share: float) -> str:
    return f"{TOP + (1 - share) * (HEIGHT - TOP - BOTTOM):.2f}"


def _chart(scene: Animation) -> str:
    """The curve and the area under it, finished: without scripts the page shows its end."""
    if not scene.area:
        return ""
    grid = "".join(
        f'<line class="grid" x1="{_x(0)}" x2="{_x(1)}" y1="{_y(at)}" y2="{_y(at)}"/>'
        f'<text class="tick" x="{LEFT - 8}" y="{float(_y(at)) + 4:.2f}" '
        f'text-anchor="end">{at:g}</text>'
        f'<text class="tick" x="{_x(at)}" y="{HEIGHT - BOTTOM + 18}" '
        f'text-anchor="middle">{at:g}</text>'
        for at in (0, 0.25, 0.5, 0.75, 1)
    )
    bars = "".join(
        f'<rect class="bar" data-rank="{bar.rank}" x="{_x(bar.left)}" y="{_y(bar.height)}" '
        f'width="{float(_x(bar.right)) - float(_x(bar.left)):.2f}" '
        f'height="{float(_y(0)) - float(_y(bar.height)):.2f}"/>'
        for bar in scene.bars
    )
    lines, last = [], None
    for point in scene.points:
        if last is not None:
            lines.append(
                f'<line class="curve" data-rank="{point.rank}" x1="{_x(last.recall)}" '
                f'y1="{_y(last.precision)}" '
                f'x2="{_x(point.recall)}" y2="{_y(point.precision)}"/>'
            )
        last = point
    dots = "".join(
        f'<circle class="dot" data-rank="{point.rank}" cx="{_x(point.recall)}" '
        f'cy="{_y(point.precision)}" r="4.5"/>'
        for point in scene.points
        if point.relevant
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Precision-recall curve; '
        f'{html(scene.area)}">'
        f"{grid}{bars}{''.join(lines)}{dots}"
        f'<line class="axis" x1="{_x(0)}" x2="{_x(1)}" y1="{_y(0)}" y2="{_y(0)}"/>'
        f'<line class="axis" x1="{_x(0)}" x2="{_x(0)}" y1="{_y(0)}" y2="{_y(1)}"/>'
        f'<text class="name" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" '
        f'text-anchor="middle">{html(scene.axis)}</text>'
        f'<text class="name" transform="translate(14 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" '
        'text-anchor="middle">precision</text></svg>'
        f'<p class="area">{html(scene.area)}</p>'
    )
