"""Explanations as dicts, tables, LaTeX and HTML."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from judged import __version__
from judged.explanation.arithmetic import Expression, Number, symbol_latex
from judged.explanation.listing import Line, Row
from judged.explanation.text import (
    OTHERS,
    Worked,
    cells,
    gaps,
    header,
    heading,
    is_a_list,
    others,
    right,
    sentences,
)
from judged.measures.reference import readable
from judged.text import Best, html, html_table, plain

if TYPE_CHECKING:
    from judged.explanation.explanation import Explanation


def to_latex(e: Explanation) -> str:
    """Return an align* environment (amsmath): definition, intermediate results and value."""
    name = symbol_latex(str(e.measure))
    rows = [rf"{symbol_latex(e.measure.spec.name)} &= {e.measure.formula}"]
    if e.steps is None:
        rows.append(rf"{name} &\ \text{{is undefined: {e.measure.spec.undefined.text}}}")
    else:
        divisor = (e.steps.divisor,) if e.steps.divisor else ()
        rows += [_row(line) for line in (*e.steps.before, *divisor)]
        rows.append(_row(Line(str(e.measure), e.steps.value)))
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}\n"


def _row(line: Line) -> str:
    worked = [line.value.latex()]
    if not isinstance(line.value, Number):
        worked.append(Number(line.value.value).latex())
    return " = ".join(worked).join([f"{symbol_latex(line.symbol)} &= ", ""])


def to_dict(e: Explanation) -> dict[str, Any]:
    steps, change = e.steps, e.best_change
    head, before = header(e), gaps(e)
    return {
        "heading": heading(e),
        "measure": e.measure.definition(),
        "query": e.query,
        "run": e.rankings.name,
        "value": plain(e.value),
        "settled": plain(e.settled),
        "says": e.measure.spec.says,
        "formula": {
            "text": f"{e.measure.spec.name} = {readable(e.measure.formula)}",
            "latex": e.measure.formula,
        },
        "policy": e.policy.to_dict(),
        "retrieved": int(e.rankings.retrieved[0]),
        "relevant": e.relevant,
        "ranks_left_out": e.left_out,
        "not_retrieved": dict(e.lost),
        "ranks": [
            {name: plain(cell) if isinstance(cell, float) else cell for name, cell in each.items()}
            for each in values(e)
        ],
        "table": {
            "header": head,
            "right": right(head),
            "rows": cells(e),
            "skipped": [before.get(row.rank, 0) for row in e.rows],
        },
        "before": [_line(line) for line in steps.before] if steps else [],
        "divisor": _line(steps.divisor) if steps and steps.divisor else None,
        "lines": [_worked(line) for line in e.lines],
        "arithmetic": e.arithmetic,
        "latex": steps.value.latex() if steps else None,
        "align": to_latex(e),
        "warnings": e.warnings(),
        "sentences": list(sentences(e)),
        "best_change": change
        and {
            **asdict(change),
            "value": plain(change.value),
            "gain": plain(change.gain),
            "says": e.improvement,
        },
        "variants": [
            {
                "measure": str(each.measure),
                "value": plain(each.value),
                "says": each.says,
                "libraries": dict(each.libraries),
            }
            for each in e.variants
        ],
        "walk": e.animation.to_dict(),
        "judged": __version__,
    }


def values(e: Explanation) -> list[dict[str, Any]]:
    """What is known of each rank that is shown, by the names of the table's columns."""
    return [_rank(e, at, row) for at, row in enumerate(e.rows)]


def _rank(e: Explanation, at: int, row: Row) -> dict[str, Any]:
    entry: dict[str, Any] = {"rank": row.rank}
    if row.item is not None:
        entry["item"] = row.item
    entry |= {
        "grade": row.grade,
        "judged": row.grade is not None and row.grade >= 0,
        "relevant": row.relevant,
        "counts": row.counts,
    }
    if e.steps:
        for column in e.steps.columns:
            cell = column.cells[at]
            entry[column.name or "mark"] = cell.value if isinstance(cell, Expression) else cell
        if e.steps.adds is not None:
            added = e.steps.adds.get(row.rank)
            entry["adds"] = 0.0 if added is None else added.value
    return entry


def _line(line: Line) -> dict[str, Any]:
    return {
        "symbol": line.symbol,
        "value": plain(line.value.value),
        "arithmetic": line.value.text(),
        "says": line.says,
    }


def _worked(line: Worked) -> dict[str, Any]:
    return {
        "symbol": line.symbol,
        "text": line.text,
        "stages": list(line.stages),
        "value": plain(line.value),
        "says": line.says,
        "latex": line.latex,
    }


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
        data={"frames": walk["frames"]},
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
    """Return the value and the query, then the calculation, without a stylesheet."""
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
