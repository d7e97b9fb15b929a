"""What the rows of a table hold: judgements, a run, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from judged.errors import InputError
from judged.inputs.columns import has_lists, matching
from judged.inputs.rows.names import choose_columns
from judged.inputs.tables import JUDGEMENTS, RUN
from judged.text import quote

if TYPE_CHECKING:
    from judged.inputs.columns import NamedColumns
    from judged.inputs.rows.loading import Headed
    from judged.inputs.rows.rows import Rows
    from judged.inputs.tables import Judgements

_KINDS = {"relevant": JUDGEMENTS, "retrieved": RUN}


def rows_in(
    table: Headed | None,
    roles: Sequence[str],
    columns: NamedColumns,
    *,
    alone: bool = False,
) -> Rows | None:
    """What the rows of a table hold in these roles; None where it has no such lists of ids.

    A table that stands `alone` must be such rows, whatever other columns it has.
    """
    if table is None or not has_lists(table.header, roles, columns, alone):
        return None
    from judged.inputs.rows.rows import rows_of

    for role in roles:
        columns.record(_KINDS[role], table.label, table.header)
    chosen = choose_columns(table.header, table.label, columns, roles)
    rows = rows_of(table.load(chosen), chosen, roles)
    unread = [name for tier in matching("relevant", table.header) for name in tier]
    if rows.run is not None and rows.judgements is None and unread:
        said = f"{table.label}: column {quote(unread[0])} was not read; judgements were given."
        return replace(rows, run=replace(rows.run, notes=(*rows.run.notes, said)))
    return rows


def refuse_other_judgements(ours: Judgements, theirs: Judgements) -> None:
    """Refuse rows that say otherwise what is relevant: their numbers are about something else."""
    both = f"{ours.source} and {theirs.source} do not agree on what is relevant"
    advice = "Runs are compared on the same judgements."
    for one, other in ((ours, theirs), (theirs, ours)):
        there = set(other.names())
        lost = next((query for query in one.names() if query not in there), None)
        if lost is not None:
            raise InputError(
                f"{both}: query {lost!r} is in {one.source}, not in {other.source}. {advice}"
            )
    for one, other in ((ours, theirs), (theirs, ours)):
        number = one.frame.with_row_index("row")
        apart = number.join(other.frame, on=["query", "item", "grade"], how="anti").sort("row")
        if apart.height:
            row, query, item, grade = apart.row(0)
            raise InputError(
                f"{both}: query {query!r} has item {item!r} with grade {grade:g} in {one.source}, "
                f"{one.where([row])}, not in {other.source}. {advice}"
            )
