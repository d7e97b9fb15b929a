"""What was found in the data, as sentences; the leaderboard loads it after its numbers."""

from __future__ import annotations

from judged.web import commands
from judged.web.asked import Asked, Page
from judged.web.findings import findings

PARAMS: tuple[str, ...] = ()
NUMBERS = True
PATIENCE = 600.0


def page(asked: Asked) -> Page:
    """Sentences, each with a link to what it speaks of."""
    context = {"findings": findings(asked, asked.calculations.evaluation(asked.terms))}
    return Page("found.html", "What was found", context, commands.evaluate(asked))
