"""What judging changes, for who asks to see it: the values that are possible while results are
unjudged, and how far annotators agree."""

from __future__ import annotations

from math import isnan

from judged.judgements.annotators import Log
from judged.text import counted
from judged.web.asked import Asked, Page
from judged.web.errors import RefusedError
from judged.web.judging.desk import log_of, measure_of, queue_options
from judged.web.judging.judges import agreement_of, overlaid

PARAMS = ("annotator", "of")
Facts = tuple[list[tuple[str, str]], str]
"""Names and numbers, and what they mean."""


def page(asked: Asked) -> Page:
    """The range that is left to each system, or how far annotators agree."""
    if asked.params.choice("of", ("values", "agreement"), "values") == "agreement":
        facts, means = _agreement(asked)
        return Page("judge_changes.html", "Agreement", {"facts": facts, "means": means})
    name = asked.params.one("annotator") or asked.session.annotator
    if not name:
        raise RefusedError("it is not said who judges.", "annotator")
    facts, means = _ranges(asked, log_of(asked, name))
    return Page("judge_changes.html", "What it changes", {"facts": facts, "means": means})


def _ranges(asked: Asked, log: Log) -> Facts:
    """The values of each system with the grades of one annotator put over the judgements."""
    from judged.evaluation import evaluate
    from judged.judgements.queue import queue

    calculations, terms = asked.calculations, asked.terms
    measure = measure_of(asked)

    def made() -> Facts:
        runs = {each.name: calculations.run(each.name) for each in calculations.systems}
        judgements = overlaid(asked, log.grades)
        found = evaluate(judgements, runs, measure, **terms.scoring())
        ranges = {each.name: sorted(found.unjudged_range(run=each.name)) for each in found.runs}
        facts = [
            (f"{measure}, {name}", f"{low:.3f} – {high:.3f}")
            for name, (low, high) in ranges.items()
        ]
        bounds = queue(judgements, runs, measure, by="depth", **queue_options(terms)).bounds
        return facts, _turning([bound.can_turn for bound in bounds])

    key = "changes", asked.workspace.identity, measure, terms.key, log.kept
    facts: Facts = asked.cache.get(key, made)
    return facts


def _turning(turns: list[bool | None]) -> str:
    """How many comparisons judgements can still turn."""
    said = "Each if all unjudged results are not relevant, and if all have the top grade."
    if not turns:
        return said
    pairs, can = counted(len(turns), "pair"), turns.count(True)
    said += f" Of {pairs} of systems, judgements can still change the order of {can:,}"
    return said + (f", and perhaps of {turns.count(None):,} more." if None in turns else ".")


def _agreement(asked: Asked) -> Facts:
    found = agreement_of(asked)
    twice = int((found.grades.times > 1).sum())
    facts = [("judged by two or more", counted(twice, "item"))]
    if len(found.pairs) == 1:
        pair = found.pairs[0]
        named = {"same grade": (pair.agreement, "%"), "Cohen's κ": (pair.kappa, "")}
    else:
        named = {"Krippendorff's α": (found.alpha, "")}
    for name, (interval, unit) in named.items():
        value = 100 * interval.estimate if unit else interval.estimate
        text = "undefined" if isnan(value) else f"{value:.0f} %" if unit else f"{value:.2f}"
        facts.append((name, text))
    facts.append(("different grades", counted(found.differences.height, "item")))
    return facts, ""
