"""An explanation in words: for terminals and as Markdown. What programs get is in `records`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import isnan
from typing import TYPE_CHECKING

from judged.explanation.arithmetic import Expression, figure
from judged.explanation.improvement import Change
from judged.explanation.listing import Cell, Row, threshold
from judged.measures.reference import readable
from judged.rankings.relevance import A_LIST
from judged.results import Display, Document, Table
from judged.text import Best, Warned, markdown, markdown_table, shown

if TYPE_CHECKING:
    from judged.explanation.explanation import Explanation

MOST_VARIANTS = 8  # so many other definitions are told in words; JSON has all


def is_a_list(e: Explanation) -> bool:
    """Whether it is of a relevance list, which has neither name nor query."""
    return e.rankings.name == A_LIST


def heading(e: Explanation) -> str:
    """What was measured, of what, and the number."""
    of = "" if is_a_list(e) else f" for query {e.query} of {e.rankings.name}"
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


@dataclass(frozen=True)
class Worked:
    """A line of the arithmetic."""

    symbol: str  # what is worked out
    stages: tuple[str, ...]  # the sum with its numbers, step by step down to the value
    value: float
    says: str  # why it is so; empty for the last line, which is the measure itself
    latex: str  # the sum with its numbers, as LaTeX

    @property
    def text(self) -> str:
        """The whole line."""
        return " = ".join([self.symbol, *self.stages])


def worked_out(e: Explanation) -> Iterator[Worked]:
    """Each line of the arithmetic, and why it is so."""
    if e.steps is None:
        return
    yield from (_worked(line.symbol, line.value, line.says) for line in e.steps.before)
    if e.steps.divisor is not None:
        divisor = e.steps.divisor
        yield _worked(divisor.symbol, divisor.value, f"the divisor: {divisor.says}")
    yield _worked(str(e.measure), e.steps.value)


def _worked(symbol: str, value: Expression, says: str = "") -> Worked:
    return Worked(symbol, tuple(value.stages()), value.value, says, value.latex())


def sentences(e: Explanation) -> Iterator[str]:
    """What else there is to say."""
    yield from (Warned(f"warning: {text}") for text in e.warnings())
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
    if e.improvement:
        yield e.improvement


def improvement(e: Explanation) -> str:
    """What would help most."""
    if e.best_change is None:
        return ""
    return (
        f"What would help most: {_move(e, e.best_change)} would make {e.measure} "
        f"{shown(e.best_change.value)}."
    )


def _move(e: Explanation, change: Change) -> str:
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


def document(e: Explanation, display: Display) -> Document:
    """Return the formula with its numbers, the ranking, other definitions and what would help."""
    calculation = []
    for line in worked_out(e):
        calculation.append(f"  {line.text}")
        calculation += [f"      {line.says}"] if line.says else []
    formula = f"  {e.measure.spec.name} = {readable(e.measure.formula)}"
    tables = [ranking(e)] if e.rows else []
    told = others(e)
    if told and not display.quiet:
        tables.append(Table(OTHERS, told, words=frozenset(OTHERS) - {"value"}))
    return Document(
        [heading(e), e.measure.spec.says, "", formula, "", *calculation],
        tables,
        e.warnings(),
        [*(line for line in sentences(e) if not isinstance(line, Warned)), f"policy: {e.policy}"],
    )


def ranking(e: Explanation) -> Table:
    """Return the ranking rank by rank; rows of relevant results are bold."""
    head, before = header(e), gaps(e)
    rows = []
    for row, texts in zip(e.rows, cells(e), strict=True):
        if row.rank in before:
            rows.append([f"… {before[row.rank]:,} more …", *[""] * (len(head) - 1)])
        bold = row.relevant and row.counts
        rows.append([Best(text) if bold and text else text for text in texts])
    below = int(e.rankings.retrieved[0]) - e.rows[-1].rank if e.rows else 0
    if below:
        rows.append([f"… {below:,} more …", *[""] * (len(head) - 1)])
    return Table(head, rows, words=WORDS)


WORDS: frozenset[str] = frozenset({"item", "serves", ""})  # columns whose cells stand to the left


def right(head: list[str]) -> list[int]:
    """The columns of numbers."""
    return [at for at, name in enumerate(head) if name not in WORDS]


OTHERS = ["under another definition", "value", ""]


def to_markdown(e: Explanation) -> str:
    spec = e.measure.spec
    parts = [f"## {heading(e)}", spec.says, f"```math\n{e.measure.formula}\n```"]
    if e.rows:
        head, before = header(e), gaps(e)
        rows = []
        for row, texts in zip(e.rows, cells(e), strict=True):
            if row.rank in before:
                rows.append(["…", *[""] * (len(head) - 1)])
            bold = row.relevant and row.counts
            safe = map(markdown, texts)
            rows.append([f"**{text}**" if bold and text else text for text in safe])
        parts.append(markdown_table(head, rows, right=right(head)))
    lines = (f"- `{line.text}`{f', {line.says}' if line.says else ''}" for line in worked_out(e))
    parts += ["\n".join(lines), *sentences(e)]
    if told := others(e):
        rows = [[f"`{name}`", value, who] for name, value, who in told]
        parts.append(markdown_table(OTHERS, rows, right=[1]))
    return "\n\n".join([*filter(None, parts), f"Policy: {e.policy}."]) + "\n"
