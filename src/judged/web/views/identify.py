"""A published number: which definitions give it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judged.conventions.identification import identify
from judged.web.commands import identify_command
from judged.web.visit import Page, Visit

if TYPE_CHECKING:
    from judged.conventions.identification import Identification


def page(visit: Visit) -> Page:
    """Show a form for a number, and the definitions that give it."""
    params, workspace = visit.params, visit.workspace
    value, of, name = params.one("value"), params.all("of"), params.one("system")
    workspace.refuse_undecided()
    system = workspace.systems[0].name if name is None else workspace.system(name).name
    found = None if value is None else _identify(visit, value, system, of)
    title = "A published number" if found is None else f"Which definitions give {found.value}?"
    context = {
        "found": found,
        "value": value or "",
        "system": system,
        "of": of[0] if of else "",
        "systems": [known.name for known in workspace.systems],
        "hidden": params.filled_without("value", "system", "of", "measure", "baseline", "was"),
        "rows": [] if found is None else _rows(visit, found),
    }
    command = None if value is None else identify_command(visit, value, system, of)
    return Page("identify.html", title, context, command)


def _identify(visit: Visit, value: str, system: str, of: tuple[str, ...]) -> Identification:
    calculations = visit.calculations
    policy = visit.scoring.of_run
    key = "identify", visit.workspace.identity, value, system, of, *policy.values()
    return visit.cache.get(
        key,
        lambda: identify(
            value,
            calculations.judgements(),
            calculations.run(system),
            list(of) or None,
            policy=policy,
        ),
    )


def _rows(visit: Visit, found: Identification) -> list[dict[str, Any]]:
    """Return the definitions, each with the leaderboard under its measure and policy."""
    rows = []
    for match in (found.matches or found.nearest)[: found.limit]:
        definitions = (match.definition, *match.same)
        for definition, cells in zip(definitions, found.rows_of(match), strict=False):
            chosen = {name: held[0] for name, held in definition.unusual().items()}
            href = visit.url("/", measure=str(definition.measure), convention=None, **chosen)
            names = ("value", "measure", "policy", "who")
            rows.append({**dict(zip(names, cells, strict=True)), "href": href})
    return rows
