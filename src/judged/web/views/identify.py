"""A published number: which definitions give it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judged.web.asked import Asked, Page
from judged.web.chart_command import identify_command

if TYPE_CHECKING:
    from judged.conventions.identification import Identification, Match

PARAMS = ("value", "system", "of")
NUMBERS = False


def page(asked: Asked) -> Page:
    """A form for a number, and what gives it."""
    value, system = asked.params.one("value"), _system(asked)
    of = asked.params.all("of")
    found = None if value is None else _identified(asked, value, system, of)
    title = "A published number" if found is None else f"Which definitions give {found.value}?"
    own = {"value", "system", "of", "measure", "baseline", "was"}
    context = {
        "found": found,
        "value": value or "",
        "system": system,
        "of": of[0] if of else "",
        "systems": [each.name for each in asked.workspace.systems],
        "hidden": [pair for pair in asked.params.pairs if pair[0] not in own and pair[1] != ""],
        "rows": [] if found is None else _rows(asked, found),
    }
    command = None if value is None else identify_command(asked, value, system, of)
    return Page("identify.html", title, context, command)


def _system(asked: Asked) -> str:
    """The system whose number it is: the first, unless one is named."""
    given = asked.params.one("system")
    asked.workspace.refuse_undecided()
    return asked.workspace.systems[0].name if given is None else asked.workspace.system(given).name


def _identified(asked: Asked, value: str, system: str, of: tuple[str, ...]) -> Identification:
    from judged.conventions.identification import identify

    calculations, terms = asked.calculations, asked.terms

    def made() -> Identification:
        return identify(
            value,
            calculations.judgements(),
            calculations.run(system),
            list(of) or None,
            depth=terms.depth,
            duplicates=terms.duplicates,  # type: ignore[arg-type]
        )

    key = "identify", asked.workspace.identity, value, system, of, terms.depth, terms.duplicates
    return asked.cache.get(key, made)


def _rows(asked: Asked, found: Identification) -> list[dict[str, Any]]:
    """What fits, as the library says it, each with the leaderboard under these terms."""
    rows = []
    for match in (found.matches or found.nearest)[: found.limit]:
        for number, cells in enumerate(found._rows(match)):
            value, measure, policy, who = cells
            rows.append(
                {
                    "value": value,
                    "measure": measure,
                    "policy": policy,
                    "who": who,
                    "href": _shown(asked, match, number),
                }
            )
    return rows


def _shown(asked: Asked, match: Match, number: int) -> str:
    """The leaderboard with the measure and the policy of a definition."""
    definition = (match.definition, *match.same)[number]
    chosen = {name: held[0] for name, held in definition.unusual().items()}
    return asked.url("/", measure=str(definition.measure), convention=None, **chosen)
