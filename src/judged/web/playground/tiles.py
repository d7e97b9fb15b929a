"""The results of the list, as they stand on the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judged.rankings.relevance import RelevanceList, written_grade

if TYPE_CHECKING:
    from judged.explanation import Explanation
    from judged.web.playground.state import State


@dataclass(frozen=True)
class Tile:
    """One result."""

    rank: int
    grade: str
    """As the list writes it."""
    sign: str
    """What stands on it."""
    look: str
    """relevant by grade (g1 to g3), none, or unjudged."""
    words: str
    """What it is."""
    under: str
    """Precision at a relevant result; empty elsewhere."""
    beyond: bool
    """Whether it is below k."""
    removed: bool
    """Whether the policy takes it out of the list."""
    tie: str
    """Where it stands in a tie: first, inside, last; empty where it has a score of its own."""
    next_list: str
    """The list after a click on it."""
    next_words: str


def tiles_of(state: State, told: Explanation | str) -> tuple[Tile, ...]:
    """The tiles of a list, with precision under those that are relevant, where their order is that
    of the list."""
    listed = state.listed
    removed = state.policy.unjudged == "removed"
    ordered = not listed.tied or state.policy.ties in ("id", "input")
    counted = [not (removed and _unjudged(grade)) for grade in listed.grades]
    under = _precisions(told) if ordered and not isinstance(told, str) else {}
    ends = _ties(listed)
    tiles = []
    at = 0
    top = max((best for grade in listed.grades if (best := _best(grade)) > 0), default=1)
    for place, grade in enumerate(listed.grades):
        at += counted[place]
        clicked = _clicked(grade, state.top)
        tiles.append(
            Tile(
                place + 1,
                written_grade(grade),
                _sign(grade),
                _look(grade, max(top, 1)),
                _words(grade),
                under.get(at, "") if counted[place] else "",
                state.k is not None and (at if ordered else place + 1) > state.k,
                not counted[place],
                ends.get(place + 1, ""),
                str(RelevanceList(_with(listed.grades, place, clicked), listed.tied)),
                _words(clicked),
            )
        )
    return tuple(tiles)


def _precisions(told: Explanation) -> dict[int, str]:
    """Precision at each relevant rank, as the explanation of P has it."""
    if told.steps is None:
        return {}
    (column,) = [each for each in told.steps.columns if each.name == "precision"]
    return {
        row.rank: str(cell.stages()[0]) if hasattr(cell, "stages") else str(cell)
        for row, cell in zip(told.rows, column.cells, strict=True)
        if row.relevant and cell is not None
    }


def _ties(listed: RelevanceList) -> dict[int, str]:
    places: dict[int, str] = {}
    for first, last in listed.tied:
        places |= dict.fromkeys(range(first, last + 1), "inside")
        places |= {first: "first", last: "last"}
    return places


def _with(grades: tuple[Any, ...], place: int, grade: Any) -> tuple[Any, ...]:
    return (*grades[:place], grade, *grades[place + 1 :])


def _clicked(grade: Any, top: int) -> Any:
    """What a click makes of a grade: the next one, then not judged, then 0 again."""
    if grade is None:
        return 0
    if isinstance(grade, Mapping) or not float(grade).is_integer() or grade < 0:
        return 0
    return int(grade) + 1 if grade < top else None


def _best(grade: Any) -> float:
    if grade is None:
        return 0.0
    return float(max(grade.values(), default=0)) if isinstance(grade, Mapping) else float(grade)


def _unjudged(grade: Any) -> bool:
    """Whether nobody judged it; a grade below 0 is no judgement."""
    return grade is None or _best(grade) < 0


def _sign(grade: Any) -> str:
    if _unjudged(grade):
        return "?"
    best = _best(grade)
    return "✓" if best == 1 else "·" if best == 0 else f"{best:g}"


def _look(grade: Any, top: float) -> str:
    """Grades above 3 are spread over the three colours."""
    if _unjudged(grade):
        return "unjudged"
    best = _best(grade)
    if best <= 0:
        return "none"
    if top <= 3:
        return f"g{min(3, max(1, round(best)))}"
    return f"g{min(3, 1 + int(3 * ((best - 1) / top)))}" if best >= 1 else "g1"


def _words(grade: Any) -> str:
    if grade is None:
        return "not judged"
    best = _best(grade)
    if best < 0:
        return f"grade {best:g}, which is no judgement"
    return f"grade {best:g}" if best > 0 else "not relevant"
