"""A published number: which definitions give it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judged.web.commands import identify_command
from judged.web.visit import Page, Visit

if TYPE_CHECKING:
    from judged.conventions.identification import Identification, NumberMatch

PARAMS = ("value", "system", "of")


def page(visit: Visit) -> Page:
    """A form for a number, and what gives it."""
    value, system = visit.params.one("value"), _system(visit)
    of = visit.params.all("of")
    found = None if value is None else _identified(visit, value, system, of)
    title = "A published number" if found is None else f"Which definitions give {found.value}?"
    own = {"value", "system", "of", "measure", "baseline", "was"}
    context = {
        "found": found,
        "value": value or "",
        "system": system,
        "of": of[0] if of else "",
        "systems": [each.name for each in visit.workspace.systems],
        "hidden": [pair for pair in visit.params.pairs if pair[0] not in own and pair[1] != ""],
        "rows": [] if found is None else _rows(visit, found),
    }
    command = None if value is None else identify_command(visit, value, system, of)
    return Page("identify.html", title, context, command)


def _system(visit: Visit) -> str:
    """The system whose number it is: the first, unless one is named."""
    given = visit.params.one("system")
    visit.workspace.refuse_undecided()
    return visit.workspace.systems[0].name if given is None else visit.workspace.system(given).name


def _identified(visit: Visit, value: str, system: str, of: tuple[str, ...]) -> Identification:
    from judged.conventions.identification import identify

    calculations, scoring = visit.calculations, visit.scoring

    def made() -> Identification:
        return identify(
            value,
            calculations.judgements(),
            calculations.run(system),
            list(of) or None,
            policy={"depth": scoring.depth, "duplicates": scoring.duplicates},
        )

    key = "identify", visit.workspace.identity, value, system, of, scoring.depth, scoring.duplicates
    return visit.cache.get(key, made)


def _rows(visit: Visit, found: Identification) -> list[dict[str, Any]]:
    """What fits, as the library says it, each with the leaderboard under these terms."""
    rows = []
    for match in (found.matches or found.nearest)[: found.limit]:
        for number, cells in enumerate(found.rows_of(match)):
            value, measure, policy, who = cells
            rows.append(
                {
                    "value": value,
                    "measure": measure,
                    "policy": policy,
                    "who": who,
                    "href": _shown(visit, match, number),
                }
            )
    return rows


def _shown(visit: Visit, match: NumberMatch, number: int) -> str:
    """The leaderboard with the measure and the policy of a definition."""
    definition = (match.definition, *match.same)[number]
    chosen = {name: held[0] for name, held in definition.unusual().items()}
    return visit.url("/", measure=str(definition.measure), convention=None, **chosen)
