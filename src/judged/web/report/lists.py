"""The queries that are shown whole, as a page shows them: lists side by side, the best order, and
the sum behind each number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judged.web.pages.lists import Given, SideBySide, side_by_side
from judged.web.pages.sums import Sum, sum_behind
from judged.web.report.results import SHOWN

if TYPE_CHECKING:
    from judged.inputs.texts import Text
    from judged.web.report.queries import Listed


@dataclass(frozen=True, eq=False)
class Shown:
    """A query with its lists and the sums behind its numbers."""

    query: str
    text: str
    """What it says; empty where nobody knows."""
    picture: str
    """The address of its picture; empty where it has none."""
    difference: float | None
    better: bool
    view: SideBySide | None
    """The lists side by side; None where there is no single order to show."""
    sums: tuple[Sum, ...]
    why: tuple[str, ...]
    """Why something is not there, as the library says it."""


def shown(
    listed: Iterable[Listed],
    *,
    systems: Sequence[str],
    top: float,
    queries: Mapping[str, Text],
    texts: Mapping[str, Text],
    pictures: Mapping[str, str],
) -> list[Shown]:
    """Queries as a page shows them; systems have their colours by their places."""
    found = []
    for each in listed:
        explained = [side for side in each.sides if side.explanation is not None]
        given = [
            Given(
                side.run,
                side.explanation.rankings,
                side.explanation.items,
                systems.index(side.run),
                side.value,
            )
            for side in explained
            if side.explanation is not None
        ]
        view = None
        if given:
            view = side_by_side(given, k=SHOWN, texts=texts, pictures=pictures, top=top)
        text = queries.get(each.query)
        found.append(
            Shown(
                each.query,
                "" if text is None else text.heading,
                pictures.get(each.query, ""),
                each.difference,
                each.better,
                view,
                tuple(
                    sum_behind(side.explanation, top=top)
                    for side in explained
                    if side.explanation is not None
                ),
                tuple(dict.fromkeys(side.why for side in each.sides if side.why)),
            )
        )
    return found


def items_of(listed: Iterable[Listed]) -> set[str]:
    """The ids of all items that these lists show."""
    return {
        item
        for each in listed
        for side in each.sides
        if side.explanation is not None
        for rank, item in side.explanation.items.items()
        if rank <= SHOWN
    }
