"""An explanation as plain values: what programs get, and pages that show it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from judged import __version__
from judged.explanation.arithmetic import Expression
from judged.explanation.latex import to_latex
from judged.explanation.listing import Line, Row
from judged.explanation.text import Worked, cells, gaps, header, heading, right, sentences
from judged.measures.reference import readable
from judged.text import plain

if TYPE_CHECKING:
    from judged.explanation.explanation import Explanation


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
