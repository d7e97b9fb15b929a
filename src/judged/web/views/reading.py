"""How the files were read: what readers assumed, and what judging found."""

from __future__ import annotations

from dataclasses import dataclass

from judged.errors import JudgedError
from judged.rankings.findings import audit_of
from judged.text import Warned
from judged.web.asked import Asked, Page

PARAMS: tuple[str, ...] = ()


@dataclass(frozen=True)
class Note:
    """A sentence, and how much it matters."""

    kind: str
    text: str


@dataclass(frozen=True)
class Reading:
    """What there is to say about one system."""

    name: str
    place: int
    says: str
    notes: tuple[Note, ...]


def page(asked: Asked) -> Page:
    """A part of the page of files, which comes once everything is read."""
    readings, refused = [], []
    try:
        rankings = asked.calculations.rankings(asked.terms)
    except JudgedError as error:
        refused.append(str(error))
    else:
        for system, r in zip(asked.workspace.systems, rankings, strict=True):
            audit = audit_of(r)
            said = (
                f"{audit.run_queries:,} queries, {audit.results:,} results of judged queries, "
                f"{audit.judged_results:,} of them judged"
            )
            notes = tuple(
                Note("warn" if isinstance(text, Warned) else "info", text)
                for text in audit.sentences()
            )
            readings.append(Reading(system.name, system.place, said, notes))
    return Page("reading.html", "How the files were read", {"all": readings, "refused": refused})
