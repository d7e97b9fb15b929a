"""What the numbers of an evaluation mean, in words: of one measure, and of all as a paragraph for a
methods section."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from judged import __version__
from judged.evaluation.intervals import interval_of, weights_line
from judged.evaluation.ranges import TIE_SENTENCES
from judged.evaluation.scores import UNJUDGED_ENDS
from judged.evaluation.trusted_sentences import methods_of, of_measure, trusted_lines
from judged.evaluation.unanswerable import apart_lines
from judged.measures.bibliography import BIBLIOGRAPHY
from judged.measures.orders import DRAWS, LIMIT, SEED
from judged.options import LEVEL, RESAMPLES
from judged.text import counted, listed

if TYPE_CHECKING:
    from judged.evaluation.exports import Exports
    from judged.evaluation.scores import Scored
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
    intervals = (f"intervals: {text}" for text in interval_lines(evaluation))
    told = (*trusted_lines(evaluation), *weights_line(evaluation), *apart_lines(evaluation))
    return [*lines, *intervals, *told]


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


METHOD_WORDS = {
    "t": "Student's t",
    "wilson": "Wilson's interval of a share",
    "log t": "Student's t of the logarithms",
    "order": "order statistics, exact by the binomial distribution",
    "bca": f"BCa bootstrap ({RESAMPLES:,} resamples of the queries, seed 0)",
    "percentile": f"percentile bootstrap ({RESAMPLES:,} resamples of the queries, seed 0)",
    "prediction-powered": "prediction-powered inference (PPI++), Student's t",
}
"""How an interval may be made, in words."""


def interval_lines(evaluation: Exports) -> list[str]:
    """How the intervals were made, and why some are not there, where they were asked for."""
    how = "; ".join(
        f"{METHOD_WORDS.get(method, method)} ({', '.join(names)})"
        for method, names in _by_method(evaluation, evaluation.measures).items()
    )
    told = [f"{_level(evaluation)}: {how}{_grouped(evaluation)}"] if how else []
    return told + _without(evaluation, evaluation.measures)


def brief_intervals(evaluation: Exports) -> list[str]:
    """The same in few words."""
    known = _by_method(evaluation, evaluation.measures)
    how = ", ".join(
        f"{method} ({', '.join(names)})" if len(known) > 1 else method
        for method, names in known.items()
    )
    told = [f"{_level(evaluation)} interval: {how}{_grouped(evaluation)}"] if how else []
    return told + _without(evaluation, evaluation.measures)


def _own_interval(evaluation: Exports, measure: Measure) -> list[str]:
    """How the interval of one measure was made."""
    known = _by_method(evaluation, [measure])
    how = [METHOD_WORDS.get(method, method) for method in known]
    told = [f"{_level(evaluation)}: {' or '.join(how)}{_grouped(evaluation)}"] if how else []
    return told + _without(evaluation, [measure])


def _level(evaluation: Exports) -> str:
    """The level of the intervals in percent."""
    assert evaluation.level is not None
    return f"{100 * evaluation.level:.10g} %"


def _grouped(evaluation: Exports) -> str:
    """The groups of queries that intervals are by, and how much wider that makes them where no
    bootstrap did."""
    if evaluation.groups is None:
        return ""
    number = counted(len(set(evaluation.groups.values())), "group")
    said = f", by {number} of {counted(len(evaluation.groups), 'query', 'queries')}"
    ratios = []
    for run in evaluation.runs:
        for measure, found in run.intervals.items():
            if found.method in ("t", "log t") and found.known:
                alone, together = (
                    interval_of(
                        run,
                        measure,
                        level=evaluation.level or LEVEL,
                        method="t",
                        groups=groups,
                        cut=False,
                    )
                    for groups in (None, evaluation.groups)
                )
                if alone.high > alone.low:
                    ratios.append((together.high - together.low) / (alone.high - alone.low))
    if not ratios:
        return said
    low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return f"{said}, {low if low == high else f'{low} to {high}'} times as wide as by query"


def _without(evaluation: Exports, measures: Sequence[Measure]) -> list[str]:
    """Which numbers have no interval, and why."""
    said: list[list[str]] = []
    for run in evaluation.runs:
        why: dict[str, list[str]] = {}
        for measure in measures:
            if (found := run.intervals.get(measure)) is not None and not found.known:
                why.setdefault(found.note, []).append(evaluation.label(measure))
        said.append([f"no interval of {listed(names)}: {text}" for text, names in why.items()])
    return about_runs(evaluation, said)


def _by_method(evaluation: Exports, measures: Sequence[Measure]) -> dict[str, list[str]]:
    """The measures by how their intervals were made; with the run where that differs by run."""
    found: dict[str, list[str]] = {}
    for measure in measures:
        label = evaluation.label(measure)
        known = [
            (run.name, each.method or "")
            for run in evaluation.runs
            if (each := run.intervals.get(measure)) is not None and each.known
        ]
        alike = len({method for _, method in known}) == 1
        for name, method in known[:1] if alike else known:
            found.setdefault(method, []).append(label if alike else f"{label} of {name}")
    return found


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
        *(f"Interval: {text}." for text in _own_interval(evaluation, measure)),
        *(f"Trusted: {text}" for text in of_measure(evaluation, measure)),
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
        *methods_of(evaluation),
        *(f"Intervals: {text}." for text in interval_lines(evaluation)),
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
    told = [f"{name} ({known[name]})" for name in evaluation.others if name in known]
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
