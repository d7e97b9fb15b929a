"""What stands under the numbers of an evaluation, line by line: all of it, or what fits in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.evaluation.definition import (
    about_runs,
    assumptions,
    brief_intervals,
    expected_runs,
    standard_errors,
)
from judged.evaluation.intervals import weight_sources
from judged.evaluation.unanswerable import apart_notes
from judged.evaluation.warnings import covered
from judged.measures.orders import DRAWS, LIMIT
from judged.policy import Policy
from judged.rankings.columns import ENCODED, OTHER_WAY
from judged.text import Warned

if TYPE_CHECKING:
    from judged.evaluation.exports import Exports
    from judged.measures import Measure


def sentences(evaluation: Exports) -> list[str]:
    """What was assumed, what was ranked, what was found, and what each measure is."""
    ranked = about_runs(
        evaluation,
        [["; ".join(run.rankings.basis)] if run.rankings.basis else [] for run in evaluation.runs],
    )
    return [
        *assumptions(evaluation),
        *(f"ranking: {text}" for text in ranked),
        *(f"note: {text}" for text in notes(evaluation)),
        *(f"measure: {_described(evaluation, measure)}" for measure in evaluation.measures),
    ]


def brief(evaluation: Exports) -> str:
    """One line: what is not as by default, and where everything is said."""
    usual = Policy().to_dict()
    chosen = [
        f"{name}={choice}"
        for name, choice in evaluation.policy.to_dict().items()
        if choice != usual[name]
    ]
    bases = [run.rankings.basis for run in evaluation.runs if run.rankings.basis]
    shared = [part for part in bases[0] if all(part in basis for basis in bases)] if bases else []
    ranked = dict.fromkeys(
        part if part.startswith(WHOLE) else part.partition(":")[0] for part in shared
    )
    said = [
        *([f"as {evaluation.convention}"] if evaluation.convention else []),
        *([", ".join(chosen)] if chosen else []),
        *(part for part in ranked if part not in USUAL_BASIS),
        *(f"weighted by {source}" for source in weight_sources(evaluation)),
        *apart_notes(evaluation),
        *brief_intervals(evaluation),
        *(text for measure in evaluation.measures for text in _estimated(evaluation, measure)),
    ]
    return "; ".join([*said, "definitions and notes: verbose (-v)"])


WHOLE = ("excluded", *ENCODED.values())
"""What is said in one line with all its words, how these begin."""
USUAL_BASIS = frozenset({"all items are ranked", OTHER_WAY, "relevant"})
"""What needs no word in one line."""


def _described(evaluation: Exports, measure: Measure) -> str:
    """A measure with every parameter; first which one it is, where it was called otherwise."""
    label, words = evaluation.label(measure), measure.describe(brief=True)
    if label == str(measure):
        return words
    return f"{label} is {measure}:{words.removeprefix(f'{measure} is')}"


def notes(evaluation: Exports) -> list[str]:
    """What the audits found that no warning is about, which means over orders of ties are
    estimates, and what a convention rests on."""
    told = covered(evaluation)
    found = about_runs(
        evaluation,
        [
            [text for about, text in run.audit.said().items() if about not in told]
            + [text for text in run.audit.notes if not isinstance(text, Warned)]
            for run in evaluation.runs
        ],
    )
    found += [text for measure in evaluation.measures for text in _estimate(evaluation, measure)]
    if evaluation.convention and evaluation.convention.convention.held == "reading":
        found.append(
            f"what {evaluation.convention} computes is known from its source, which was read and "
            "not run."
        )
    return found


def _estimated(evaluation: Exports, measure: Measure) -> list[str]:
    """In few words that a number is an estimate."""
    error = standard_errors(evaluation, measure)
    return [f"the expected {evaluation.label(measure)} is an estimate, {error}"] if error else []


def _estimate(evaluation: Exports, measure: Measure) -> list[str]:
    """A sentence about a mean over orders of ties, where that mean is an estimate."""
    if not any(measure in run.errors for run in expected_runs(evaluation)):
        return []
    error = standard_errors(evaluation, measure)
    return [
        f"the expected {evaluation.label(measure)} is estimated from {DRAWS} random orders of the "
        f"tied results, in queries where they are more than {LIMIT}"
        f"{f'; {error}' if error else ''}."
    ]
