"""What the numbers of an evaluation mean, in words: of one measure, and of all as a paragraph for a
methods section."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from judged import __version__
from judged.evaluation.ranges import TIE_SENTENCES, UNJUDGED_ENDS
from judged.evaluation.unanswerable import apart_lines
from judged.evaluation.weighting import weights_line
from judged.measures.bibliography import BIBLIOGRAPHY
from judged.measures.orders import DRAWS, LIMIT, SEED

if TYPE_CHECKING:
    from judged.evaluation.exports import Exports
    from judged.evaluation.scored import Scored
    from judged.measures import Measure


def _title(evaluation: Exports, measure: Measure) -> str:
    """What a measure is called, and in brackets what it is: MAP (AP, Average precision)."""
    label = evaluation.label(measure)
    ours = "" if label == str(measure) else f"{measure}, "
    return f"{label} ({ours}{measure.spec.title})"


def assumptions(evaluation: Exports) -> list[str]:
    """The policy, and the convention and the latency where there is one: a line each."""
    lines = [*latency(evaluation), f"policy: {evaluation.policy}"]
    if evaluation.convention:
        names = "; ".join(
            f"{each.measure} is {each.theirs}" for each in evaluation.convention.named
        )
        lines.append(f"convention: {evaluation.convention}, where {names}")
    return [*lines, *weights_line(evaluation), *apart_lines(evaluation)]


def latency(evaluation: Exports) -> list[str]:
    """How long queries took, where a retriever was asked: a line."""
    return [f"latency: {evaluation.latency.sentence()}"] if evaluation.latency else []


def about_runs(evaluation: Exports, said: list[list[str]]) -> list[str]:
    """Sentences of each run, each once, with the runs it is about where it is not about all."""
    about: dict[str, list[str]] = {}
    for run, own in zip(evaluation.runs, said, strict=True):
        for sentence in own:
            about.setdefault(sentence, []).append(run.name)
    everyone = len(evaluation.runs)
    return [
        text if len(names) == everyone else f"{', '.join(names)}: {text}"
        for text, names in about.items()
    ]


TIES_REFERENCE = "mcsherry2008"
"""Where the closed forms of means over the orders of ties come from."""


def definition(evaluation: Exports, measure: Measure) -> str:
    """What one measure's numbers mean: its words, formula, policy and source."""
    spec = measure.spec
    policy = "; ".join(evaluation.policy.sentences().values())
    lines = [
        f"{_title(evaluation, measure)}. {measure.describe()}",
        f"Formula: {measure.formula}",
        f"Undefined when: {spec.undefined.text}.",
        f"Policy: {policy}.",
        *(f"Convention: {text}" for text in _conventionally(evaluation, measure)),
        *(f"Ranking: {text}." for text in _basis(evaluation)),
        *(f"Mean over the orders of ties: {text}." for text in _means(evaluation, measure)),
        f"Reference: {BIBLIOGRAPHY[spec.reference]}",
    ]
    return "\n".join(lines)


def methods(evaluation: Exports) -> str:
    """All measures with their parameters, the policy, what was done about ties, the queries
    counted, and the sources."""
    assumed = [
        sentence[0].upper() + sentence[1:] for sentence in evaluation.policy.sentences().values()
    ]
    depths = dict.fromkeys(
        run.rankings.depth for run in evaluation.runs if run.rankings.depth is not None
    )
    means: dict[str, list[str]] = {}
    for measure in evaluation.measures:
        for text in _means(evaluation, measure):
            means.setdefault(text, []).append(evaluation.label(measure))
    keys = [measure.spec.reference for measure in evaluation.measures] + (
        [TIES_REFERENCE] if means else []
    )
    sources = dict.fromkeys(BIBLIOGRAPHY[key] for key in keys)
    like = f", as {evaluation.convention} does" if evaluation.convention else ""
    told = [
        f"Rankings were evaluated with judged {__version__}{like}.",
        *(f"Ranking: {text}." for text in _basis(evaluation)),
        *(
            f"{_title(evaluation, measure)}: {measure.describe()}"
            for measure in evaluation.measures
        ),
        *(f"{text}." for text in assumed),
        *(
            f"The mean of {', '.join(names)} over the orders of ties is {text}."
            for text, names in means.items()
        ),
        *(f"Only the first {depth:,} results of each list were used." for depth in depths),
        *_ranges(evaluation),
        f"Summaries are over {_population(evaluation, evaluation.runs)}.",
        *(
            f"{text[0].upper()}{text[1:]}."
            for line in (*weights_line(evaluation), *apart_lines(evaluation))
            if (text := line.partition(": ")[2])
        ),
        f"References: {' '.join(sources)}",
    ]
    return " ".join(told)


def _basis(evaluation: Exports) -> list[str]:
    """What was ranked and how, each once, where rankings say so: embeddings, categories."""
    said = ("; ".join(run.rankings.basis) for run in evaluation.runs)
    return list(dict.fromkeys(filter(None, said)))


def _conventionally(evaluation: Exports, measure: Measure) -> list[str]:
    """What the library whose numbers these are calls a measure, and how that differs from ours."""
    named = evaluation.convention.theirs(measure) if evaluation.convention else None
    if named is None:
        return []
    return [
        f"{evaluation.convention}, where it is "
        f"{named.theirs}.{f' {named.name.note}' if named.name.note else ''}"
    ]


def _means(evaluation: Exports, measure: Measure) -> list[str]:
    """How a measure's mean over the orders of ties was found, where one was asked for."""
    runs = expected_runs(evaluation)
    if not runs:
        return []
    if not any(measure in run.errors for run in runs):
        return ["exact"]
    errors = standard_errors(evaluation, measure)
    return [
        f"estimated from {DRAWS} random orders in queries where they are more than {LIMIT} "
        f"(Monte Carlo, seed {SEED}{f'; {errors}' if errors else ''})"
    ]


def standard_errors(evaluation: Exports, measure: Measure) -> str:
    """The standard error of an estimated summary, with the runs' names where there are several."""
    runs = [run for run in expected_runs(evaluation) if measure in run.summary_errors]
    several = len(evaluation.runs) > 1
    told = [
        f"{run.summary_errors[measure]:.2g}{f' for {run.name}' if several else ''}" for run in runs
    ]
    return f"standard error {', '.join(told)}" if told else ""


def expected_runs(evaluation: Exports) -> list[Scored]:
    """The values that are means over orders of ties: the runs' own, or those of the tie range."""
    if evaluation.policy.ties == "expected":
        return list(evaluation.runs)
    return [run.others["expected"] for run in evaluation.runs if "expected" in run.others]


def _ranges(evaluation: Exports) -> list[str]:
    known = {**TIE_SENTENCES, **UNJUDGED_ENDS}
    told = [f"{name} ({known[name]})" for name in evaluation.others]
    return (
        [f"Beside each number stand its values under other assumptions: {'; '.join(told)}."]
        if told
        else []
    )


def _population(evaluation: Exports, runs: Sequence[Scored]) -> str:
    """How many queries the summaries are about; where it differs, for which runs or measures."""
    if len({len(run.rankings) for run in runs}) > 1:
        return " and ".join(f"{_population(evaluation, [run])} ({run.name})" for run in runs)
    queries = len(runs[0].rankings)
    counts = {
        (run.name, evaluation.label(measure)): int((~np.isnan(run.values[measure])).sum())
        for run in runs
        for measure in evaluation.measures
    }
    different = set(counts.values())
    kind = "judged queries"
    if runs[0].unanswerable is not None:
        kind += " with something relevant"
    if different == {queries}:
        return f"all {queries:,} {kind}"
    if len(different) == 1:
        return f"{different.pop():,} of the {queries:,} {kind}"
    for part in (0, 1):
        told: dict[str, set[int]] = {}
        for key, count in counts.items():
            told.setdefault(key[part], set()).add(count)
        if all(len(each) == 1 for each in told.values()):
            listed = ", ".join(f"{each.pop():,} ({name})" for name, each in told.items())
            return f"{listed} of the {queries:,} {kind}"
    return (
        f"{min(different):,} to {max(different):,} of the {queries:,} {kind}, which "
        "differ by run and measure"
    )
