"""An explanation in words: for terminals, as Markdown and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import pairwise
from math import isnan
from typing import Any

from judged import __version__
from judged.explanation.arithmetic import Expression, figure
from judged.explanation.explanation import Explanation, Row, threshold
from judged.explanation.improvement import Change
from judged.explanation.listing import Cell, Line
from judged.measures.formula import readable
from judged.text import plain, shown

MOST_VARIANTS = 8
"""So many other definitions are told in words; JSON has all."""


def heading(e: Explanation) -> str:
    of = (
        f" for query {e.query} of {e.rankings.name}"
        if any(row.item for row in e.rows) or e.lost
        else ""
    )
    return f"{e.measure} ({e.measure.spec.title}){of}: {shown(e.settled)}"


def header(e: Explanation) -> list[str]:
    columns = [column.name for column in e.steps.columns] if e.steps else []
    ids = ["item"] if any(row.item is not None for row in e.rows) else []
    return [
        "rank",
        *ids,
        "grade",
        *columns,
        *(["adds"] if e.steps and e.steps.adds is not None else []),
    ]


def cells(e: Explanation) -> list[list[str]]:
    """The rows of the table, as texts; what does not count or has nothing to say is empty."""
    with_ids = any(row.item is not None for row in e.rows)
    return [
        [
            str(row.rank),
            *([row.item or ""] if with_ids else []),
            grade(row),
            *(cell_text(column.cells[at]) for column in (e.steps.columns if e.steps else ())),
            *([_added(e, row)] if e.steps and e.steps.adds is not None else []),
        ]
        for at, row in enumerate(e.rows)
    ]


def grade(row: Row) -> str:
    return "not judged" if row.grade is None else f"{row.grade:g}"


def cell_text(cell: Cell) -> str:
    if not isinstance(cell, Expression):
        return cell or ""
    texts = cell.stages()
    whole = len(texts) > 1 and len(texts[0]) <= 9 and "/" in texts[0] and " " not in texts[0]
    return f"{texts[0]} = {texts[-1]}" if whole and texts[0] != texts[-1] else texts[-1]


def _added(e: Explanation, row: Row) -> str:
    added = e.steps.adds.get(row.rank) if e.steps and e.steps.adds else None
    return figure(added.value) if added is not None else ""


def gaps(e: Explanation) -> dict[int, int]:
    """How many ranks are left out before some of those that are shown."""
    ranks = [0, *(row.rank for row in e.rows)]
    return {after: after - before - 1 for before, after in pairwise(ranks) if after - before > 1}


def line_text(line: Line) -> str:
    return " = ".join([line.symbol, *line.value.stages()])


def worked_out(e: Explanation) -> Iterator[tuple[str, str]]:
    """Each line of the arithmetic, and why it is so."""
    if e.steps is None:
        return
    yield from ((line_text(line), line.says) for line in e.steps.before)
    if e.steps.divisor is not None:
        yield line_text(e.steps.divisor), f"the divisor: {e.steps.divisor.says}"
    yield e.arithmetic, ""


def remarks(e: Explanation) -> Iterator[str]:
    """What else there is to say, a sentence or two each."""
    if e.steps is None:
        outcome = (
            "and the query does not count"
            if isnan(e.settled)
            else f"which the policy makes {shown(e.settled)}"
        )
        yield (
            f"{e.measure} has no value here ({e.measure.spec.undefined.text}), {outcome}: "
            f"{e.policy}."
        )
    elif e.steps.says:
        yield e.steps.says
    if e.rankings.missing[0]:
        yield f"The run lacks the query: {e.policy.sentences()['missing']}."
    if e.left_out:
        of_them = int((e.rankings.hit_grade >= threshold(e.measure)).sum()) - sum(
            row.relevant for row in e.rows
        )
        told = f", {of_them:,} of them relevant" if of_them else ", none of them relevant"
        yield f"{e.left_out:,} of {int(e.rankings.retrieved[0]):,} ranks are not shown{told}."
    if e.lost:
        names = ", ".join(list(e.lost)[:5]) + (", …" if len(e.lost) > 5 else "")
        yield f"Not retrieved, though of a grade above 0: {names} ({len(e.lost):,} in all)."
    if e.best_change is not None:
        yield (
            f"What would help most: {_move(e, e.best_change)} would make {e.measure} "
            f"{shown(e.best_change.value)}."
        )


def _move(e: Explanation, change: Change) -> str:
    """The move of one item, with its id where it is known."""
    if change.rank is None:
        name = next((item for item, grade in e.lost.items() if grade == change.grade), "an item")
        return (
            f"{name} (grade {change.grade:g}), which was not retrieved, at rank {change.to} in "
            "place of the result there"
        )
    name = e.items.get(change.rank, "the item")
    return (
        f"{name} at rank {change.rank} (grade {change.grade:g}), swapped with the result at rank "
        f"{change.to},"
    )


def others(e: Explanation) -> list[tuple[str, str, str]]:
    """Other definitions: notation, value, and who has it or what differs."""
    told = []
    for each in e.variants[:MOST_VARIANTS]:
        users = ", ".join(f"{title} ({theirs})" for title, theirs in each.libraries[:3])
        more = f" and {len(each.libraries) - 3} more" if len(each.libraries) > 3 else ""
        told.append(
            (
                str(each.measure),
                shown(each.value),
                f"{each.says}{f': {users}{more}' if users else ''}",
            )
        )
    return told


def to_text(e: Explanation) -> str:
    return "\n".join(text for text, _ in marked_lines(e))


def marked_lines(e: Explanation) -> Iterator[tuple[str, str]]:
    """Each line of the text, and how a terminal may set it: bold, green, dim or plain."""
    yield heading(e), "bold"
    yield from _plainly([e.measure.spec.says, ""])
    yield f"  {e.measure.spec.name} = {readable(e.measure.spec.formula)}", ""
    yield "", ""
    if e.rows:
        yield from _table(e)
        yield "", ""
    for text, why in worked_out(e):
        yield f"  {text}", "bold" if not why else ""
        if why:
            yield f"      {why}", "dim"
    yield from _plainly(["", *remarks(e)])
    if told := others(e):
        yield from _plainly(["", "Under other definitions:"])
        width = max(len(name) for name, _, _ in told)
        yield from _plainly([f"  {name.ljust(width)}  {value}  {who}" for name, value, who in told])
    yield from _plainly([""])
    yield f"policy: {e.policy}", "dim"


def _plainly(lines: list[str]) -> list[tuple[str, str]]:
    return [(line, "") for line in lines]


def _table(e: Explanation) -> Iterator[tuple[str, str]]:
    head, rows, before = header(e), cells(e), gaps(e)
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head))]
    yield _aligned(head, widths, head), "dim"
    for row, texts in zip(e.rows, rows, strict=True):
        if row.rank in before:
            yield f"… {before[row.rank]:,} more …", "dim"
        yield (
            _aligned(texts, widths, head),
            "dim" if not row.counts else "bold green" if row.relevant else "",
        )
    below = int(e.rankings.retrieved[0]) - e.rows[-1].rank
    if below:
        yield f"… {below:,} more …", "dim"


WORDS = ("item", "grade", "serves", "")
"""Columns whose cells stand to the left."""


def _aligned(texts: list[str], widths: list[int], head: list[str]) -> str:
    parts = [
        text.ljust(width) if name in WORDS and name != "grade" else text.rjust(width)
        for text, width, name in zip(texts, widths, head, strict=True)
    ]
    return "  ".join(parts).rstrip()


def to_markdown(e: Explanation) -> str:
    lines = [
        f"## {heading(e)}",
        "",
        e.measure.spec.says,
        "",
        f"```math\n{e.measure.spec.formula}\n```",
        "",
    ]
    if e.rows:
        head = header(e)
        before = gaps(e)
        lines += [
            _md(head),
            _md(["---" if name in WORDS and name != "grade" else "---:" for name in head]),
        ]
        for row, texts in zip(e.rows, cells(e), strict=True):
            if row.rank in before:
                lines.append(_md(["…", *[""] * (len(head) - 1)]))
            lines.append(
                _md(
                    [
                        f"**{text}**" if row.relevant and row.counts and text else text
                        for text in texts
                    ]
                )
            )
        lines.append("")
    for text, why in worked_out(e):
        lines.append(f"- `{text}`{f', {why}' if why else ''}")
    lines += ["", *(f"{text}\n" for text in remarks(e))]
    if told := others(e):
        lines += ["| under another definition | value | |", "|---|---:|---|"]
        lines += [_md([f"`{name}`", value, who]) for name, value, who in told]
        lines.append("")
    lines.append(f"Policy: {e.policy}.")
    return "\n".join(lines) + "\n"


def _md(texts: list[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def to_dict(e: Explanation) -> dict[str, Any]:
    steps, change = e.steps, e.best_change
    return {
        "measure": e.measure.definition(),
        "query": e.query,
        "run": e.rankings.name,
        "value": plain(e.value),
        "settled": plain(e.settled),
        "policy": e.policy.to_dict(),
        "retrieved": int(e.rankings.retrieved[0]),
        "relevant": e.relevant,
        "ranks_left_out": e.left_out,
        "not_retrieved": dict(e.lost),
        "ranks": [_rank(e, at, row) for at, row in enumerate(e.rows)],
        "before": [_line(line) for line in steps.before] if steps else [],
        "divisor": _line(steps.divisor) if steps and steps.divisor else None,
        "arithmetic": e.arithmetic,
        "latex": steps.value.latex() if steps else None,
        "remarks": list(remarks(e)),
        "best_change": change
        and {**asdict(change), "value": plain(change.value), "gain": plain(change.gain)},
        "variants": [
            {
                "measure": str(each.measure),
                "value": plain(each.value),
                "says": each.says,
                "libraries": dict(each.libraries),
            }
            for each in e.variants
        ],
        "judged": __version__,
    }


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
        entry |= {column.name or "mark": _exact(column.cells[at]) for column in e.steps.columns}
        if e.steps.adds is not None:
            added = e.steps.adds.get(row.rank)
            entry["adds"] = plain(added.value) if added is not None else 0.0
    return entry


def _exact(cell: Cell) -> float | str | None:
    return plain(cell.value) if isinstance(cell, Expression) else cell


def _line(line: Line) -> dict[str, Any]:
    return {
        "symbol": line.symbol,
        "value": plain(line.value.value),
        "arithmetic": line.value.text(),
        "says": line.says,
    }


def to_json(e: Explanation) -> str:
    return json.dumps(to_dict(e), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
