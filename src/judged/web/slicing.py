"""Slices of the queries: by attributes that lie in the folder, and by how many items are
relevant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judged.errors import InputError, JudgedError, did_you_mean, quoted
from judged.inputs.attributes import TAKEN

if TYPE_CHECKING:
    from judged.comparison.slices import Slice
    from judged.web.asked import Asked
    from judged.web.workspace import Workspace


@dataclass(frozen=True)
class Sliced:
    """The systems on one measure, in each slice of an attribute."""

    attribute: str
    measure: str
    slices: tuple[Slice, ...]
    sentences: tuple[str, ...]
    """What is shown in slices, and whether differences differ between them."""
    refused: str = ""


def attributes(workspace: Workspace) -> tuple[str, ...]:
    """The attributes that queries can be told apart by: the number of relevant items, and the
    columns of tables that have a query column."""
    names = [TAKEN]
    for file in workspace.of_kind("attributes"):
        names += [name for name in file.columns if name.lower() not in _QUERY_COLUMNS]
    return tuple(dict.fromkeys(names))


_QUERY_COLUMNS = frozenset({"query", "query_id", "qid", "id", "topic"})


def slices_of(asked: Asked, measure: str) -> Sliced | None:
    """The systems compared in each slice; None where nobody asked."""
    attribute = asked.params.one("slices")
    if attribute is None or len(asked.workspace.systems) < 2:
        return None
    known = attributes(asked.workspace)
    if attribute not in known:
        raise InputError(
            f"there is no attribute {quoted(attribute)}{did_you_mean(attribute, known)} "
            f"There is {', '.join(known)}."
        )
    baseline = asked.terms.baseline
    try:
        found = asked.calculations.comparison(
            asked.terms, baseline=baseline, measures=[measure], slices=_given(asked, attribute)
        )
    except JudgedError as error:
        return Sliced(attribute, measure, (), (), str(error))
    own = tuple(each for each in found.slices if each.attribute == attribute)
    differ = [each.says for each in found.slices.differences if each.attribute == attribute]
    shown = [row.says for each in own for row in each.rows if row.verdict in ("better", "worse")]
    return Sliced(attribute, measure, own, (*shown, *differ))


def _given(asked: Asked, attribute: str) -> str:
    """What `judged.compare` takes for an attribute: its file, or the word for relevant items."""
    for file in asked.workspace.of_kind("attributes"):
        if attribute in file.columns:
            return str(file.path)
    return TAKEN
