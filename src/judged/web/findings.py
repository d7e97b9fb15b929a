"""What was found in the data and what could mislead, as sentences with a link to what they speak
of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judged.evaluation import effects
from judged.evaluation.definition import about_runs
from judged.evaluation.sentences import notes
from judged.evaluation.table import Look
from judged.evaluation.warnings import grave

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.web.asked import Asked

SEE = {": see --tie-range.": ".", ": see --unanswerable.": "."}
"""What a sentence says of the command line; a page has links in its place."""


@dataclass(frozen=True)
class Finding:
    """A sentence, and where what it speaks of can be seen."""

    kind: str
    """warn or info."""
    text: str
    link: dict[str, str] | None = None


def findings(asked: Asked, evaluation: Evaluation) -> tuple[Finding, ...]:
    """What could mislead whoever reads the numbers alone, then what was noticed."""
    key = "findings", asked.workspace.identity, asked.terms.key
    found = asked.cache.get(key, lambda: _found(evaluation))
    links = {
        "unjudged": {"href": asked.url("/", ranges=1), "text": "How far could it go?"},
        "ties": {"href": asked.url("/", ranges=1), "text": "Show the range"},
        "queries": {"href": asked.url("/queries"), "text": "Show the queries"},
    }
    return tuple(Finding(kind, text, links.get(about)) for kind, text, about in found) or (
        Finding("info", "No missing queries, no duplicates, no ties, nothing unjudged."),
    )


def _found(evaluation: Evaluation) -> list[tuple[str, str, str]]:
    """Each sentence, whether it warns, and what it speaks of."""
    warned = [(text, "queries" if "judged quer" in text else "") for text in grave(evaluation)]
    short = about_runs(evaluation, effects.short_lists(evaluation))
    warned += [(text, "queries") for text in short]
    warned += [(text, "unjudged") for text in effects.unjudged(evaluation)]
    warned += [(text, "ties") for text in effects.ties(evaluation, Look())]
    noticed = [("info", _said(text), "") for text in notes(evaluation)]
    return [*(("warn", _said(text), about) for text, about in warned), *noticed]


def _said(text: str) -> str:
    for ending, instead in SEE.items():
        if text.endswith(ending):
            text = text.removesuffix(ending) + instead
    return text
