"""An explanation as one page that needs nothing else: no network, no fonts, no libraries."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from judged.explanation.animation import Animation
from judged.explanation.curves import Growth
from judged.explanation.svg import to_svg
from judged.explanation.text import (
    OTHERS,
    cells,
    gaps,
    header,
    heading,
    others,
    right,
    sentences,
)
from judged.measures.formula import readable
from judged.text import Best, html, html_table, script

if TYPE_CHECKING:
    from judged.explanation.explanation import Explanation


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
        "readout": _readout(scene),
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
    steps = "".join(f"<li><code>{html(line.text)}</code>{_why(line.says)}</li>" for line in e.lines)
    said = "".join(f"<p>{html(text)}</p>" for text in sentences(e))
    formula = f"{e.measure.spec.name} = {readable(e.measure.formula)}"
    return (
        f'<section><h2>Formula</h2><p><code class="formula">{html(formula)}</code></p></section>'
        f"<section><h2>The ranking</h2>{_table(e)}</section>"
        f'<section><h2>The arithmetic</h2><ul class="steps">{steps}</ul>{said}</section>'
        f"{_others(e)}<footer>policy: {html(str(e.policy))}</footer>"
    )


def notebook(e: Explanation) -> str:
    """What a notebook shows: the value and the query first, then how it comes about; it has no
    stylesheet of ours."""
    head, before = header(e), gaps(e)
    told = "".join(
        f"<br><code>{html(line.text)}</code>" + (f"<br>{html(line.says)}" if line.says else "")
        for line in e.lines
    )
    rows = []
    for row, texts in zip(e.rows, cells(e), strict=True):
        if row.rank in before:
            rows.append([f"… {before[row.rank]:,} more …", *[""] * (len(head) - 1)])
        rows.append([Best(text) if row.relevant and row.counts else text for text in texts])
    table = html_table(head, rows, right=right(head)) if rows else "<p>The list is empty.</p>"
    elsewhere = others(e)
    folded = html_table(OTHERS, elsewhere, right=[1]) if elsewhere else ""
    return (
        f"<p><b>{html(heading(e))}</b><br>{html(e.measure.spec.says)}</p>{table}"
        f"<p>{told.removeprefix('<br>')}</p>"
        + "".join(f"<p>{html(text)}</p>" for text in sentences(e))
        + (
            f"<details><summary>under other definitions</summary>{folded}</details>"
            if folded
            else ""
        )
        + f"<p><small>policy: {html(str(e.policy))}</small></p>"
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
    for tile in scene.tiles:
        if tile.skipped:
            tiles.append('<li class="skip" aria-hidden="true">…</li>')
        name = f"{tile.item}, " if tile.item else ""
        tiles.append(
            f'<li class="tile {tile.kind.replace(" ", "-")}" data-rank="{tile.rank}" '
            f'title="{html(name)}{tile.kind}">'
            f'<span class="rank">{tile.rank}</span><span class="mark" '
            f'aria-hidden="true">{tile.mark}</span>'
            f'<span class="hidden">{tile.kind}</span><span class="label">{tile.label}</span></li>'
        )
    if scene.rest and scene.rest.results:
        tiles.append(
            f'<li class="tile rest" data-rank="{scene.rest.last}"><span class="rank">to '
            f'{scene.rest.first + scene.rest.results - 1:,}</span><span class="mark" '
            f'aria-hidden="true">…</span><span class="label">{scene.rest.results:,} more</span>'
            "</li>"
        )
    return "".join(tiles)


def _chart(scene: Animation) -> str:
    if scene.chart is None:
        return ""
    drawn = to_svg(scene.chart)
    return f'{drawn}<p class="area">{html(scene.chart.says)}{_legend(scene)}</p>'


def _legend(scene: Animation) -> str:
    """What the lines and bars are."""
    chart = scene.chart
    if not isinstance(chart, Growth):
        return ""
    return "".join(f"<br>{kind}: {html(name)}" for kind, name in chart.legend)


def _readout(scene: Animation) -> str:
    return "".join(
        f'<div><dt>{html(name)}</dt><dd data-reading="{at}">–</dd></div>'
        for at, name in enumerate(scene.readings)
    )
