"""What is said of numbers that were corrected by trusted judgements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.text import counted

if TYPE_CHECKING:
    from judged.evaluation.exports import Exports
    from judged.evaluation.trusted import Trusted
    from judged.measures import Measure

METHOD = (
    "Each number is corrected by prediction-powered inference with a tuned weight (PPI++: "
    "Angelopoulos, Duchi and Zrnic, 2023, arXiv:2311.01453): λ times the mean over all queries "
    "under the cheap judgements, plus the mean over the trusted queries of the trusted value minus "
    "λ times the cheap one; λ is the covariance of trusted and cheap values by the variance of the "
    "cheap ones, cut at 0 and 1. Its variance is that of the trusted queries plus that of the "
    "others, which are independent of them, with Student's t of one degree of freedom fewer than "
    "trusted queries"
)
"""How numbers are corrected, for a methods section."""
RANDOM = (
    "This holds where the trusted queries are a random sample of all queries; whether their cheap "
    "values look so was tested by Welch's test (a warning is given where p is below 0.01)"
)
"""What the correction takes for granted."""


def about(trusted: Trusted, queries: int) -> str:
    """How many queries have trusted judgements, and whose they are."""
    of = counted(queries, "query", "queries")
    return f"{trusted.queries:,} of {of} have trusted judgements too ({trusted.source})"


def methods_of(evaluation: Exports) -> list[str]:
    """How numbers were corrected, for a paper; nothing where none were."""
    if evaluation.trusted is None:
        return []
    return [f"{about(evaluation.trusted, _queries(evaluation))}.", f"{METHOD}.", f"{RANDOM}."]


def trusted_lines(evaluation: Exports) -> list[str]:
    """Whose judgements are trusted, and how each number was corrected: a line each."""
    if evaluation.trusted is None:
        return []
    several = len(evaluation.runs) > 1
    return [
        f"trusted: {about(evaluation.trusted, _queries(evaluation))}",
        *(
            f"trusted: {run.label(measure)}{f' of {run.name}' if several else ''}: {each.says()}"
            for run in evaluation.runs
            for measure, each in run.corrections.items()
        ),
    ]


def of_measure(evaluation: Exports, measure: Measure) -> list[str]:
    """How the numbers of one measure were corrected."""
    if evaluation.trusted is None:
        return []
    several = len(evaluation.runs) > 1
    return [
        *methods_of(evaluation),
        *(
            f"{f'{run.name}: ' if several else ''}{run.corrections[measure].says()}."
            for run in evaluation.runs
        ),
    ]


def brief_trusted(evaluation: Exports) -> list[str]:
    """In few words: how many queries, the weights, and which interval is narrower."""
    if evaluation.trusted is None:
        return []
    several = len(evaluation.runs) > 1
    narrower: dict[str | None, list[str]] = {}
    weights = []
    for measure in evaluation.measures:
        for run in evaluation.runs:
            each = run.corrections[measure]
            name = f"{run.label(measure)} of {run.name}" if several else run.label(measure)
            weights.append(each.weight)
            narrower.setdefault(each.narrower, []).append(name)
    low, high = f"{min(weights):.2f}", f"{max(weights):.2f}"
    said = [f"corrected: {about(evaluation.trusted, _queries(evaluation))}"]
    said.append(f"λ {low if low == high else f'{low} to {high}'}")
    for which, names in narrower.items():
        which = NARROWER[which]
        said.append(f"{which} for {', '.join(names)}" if len(narrower) > 1 else which)
    return ["; ".join(said)]


NARROWER = {
    "corrected": "narrower than by the trusted judgements alone",
    "trusted": "not narrower than by the trusted judgements alone",
    None: "no interval to compare",
}
"""Which interval is narrower, in words."""


def _queries(evaluation: Exports) -> int:
    return len(evaluation.runs[0].rankings)
