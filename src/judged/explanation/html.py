"""An explanation as one page that needs nothing else, and as a notebook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.explanation.text import (
    OTHERS,
    cells,
    gaps,
    header,
    heading,
    is_a_list,
    others,
    right,
    sentences,
)
from judged.text import Best, html, html_table

if TYPE_CHECKING:
    from judged.explanation.explanation import Explanation

STYLES = ("tokens", "base", "parts", "query", "explanation", "print")


def to_html(e: Explanation) -> str:
    """The whole page."""
    from judged.web.pages.calculations import calculation_of, walk_of
    from judged.web.pages.templating import document

    told = e.to_dict()
    top = float(e.rankings.pool_grade.max(initial=0.0))
    walk = walk_of(told["walk"], top=top if top > 0 else 1.0)
    page = document(
        "explanation.html",
        title=heading(e),
        styles=STYLES,
        scripts=("theme", "walk"),
        data={"frames": walk.frames},
        view=calculation_of(e),
        walk=walk,
        query="" if is_a_list(e) else e.query,
        says=told["says"],
        formula=told["formula"]["text"],
        terms=str(e.policy),
        version=told["judged"],
    )
    return f"{page}\n"


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
