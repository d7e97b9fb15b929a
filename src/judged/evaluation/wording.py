"""An evaluation in words: assumptions, definitions, notes, and the methods section of a paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from judged import __version__
from judged.evaluation.intervals import interval_of, weights_line
from judged.evaluation.ranges import TIE_SENTENCES
from judged.evaluation.scores import UNJUDGED_ENDS, about_runs
from judged.evaluation.unanswerable import apart_lines, apart_notes
from judged.evaluation.warnings import covered
from judged.measures.reference import BIBLIOGRAPHY
from judged.measures.ties import DRAWS, LIMIT, SEED
from judged.options import LEVEL, RESAMPLES
from judged.policy import Policy
from judged.rankings.rankings import ENCODED, OTHER_WAY
from judged.text import Warned, counted, listed

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.scores import Scored
    from judged.evaluation.trusted import Trusted
    from judged.measures import Measure


def _title(evaluation: Evaluation, measure: Measure) -> str:
    """What a measure is called, and in brackets what it is: MAP (AP, Average precision)."""
    label = evaluation.label(measure)
    ours = "" if label == str(measure) else f"{measure}, "
    return f"{label} ({ours}{measure.spec.title})"


def assumptions(evaluation: Evaluation) -> list[str]:
    """The policy, and the convention and the latency where there is one: a line each."""
    lines = [*latency_lines(evaluation), f"policy: {evaluation.policy}"]
    if evaluation.convention:
        names = "; ".join(
            f"{each.measure} is {each.theirs}" for each in evaluation.convention.named
        )
        lines.append(f"convention: {evaluation.convention}, where {names}")
    intervals = (f"intervals: {text}" for text in interval_lines(evaluation))
    told = (*trusted_lines(evaluation), *weights_line(evaluation), *apart_lines(evaluation))
    return [*lines, *intervals, *told]


def latency_lines(evaluation: Evaluation) -> list[str]:
    """How long queries took, where a retriever was asked: a line."""
    return [f"latency: {evaluation.latency.sentence()}"] if evaluation.latency else []


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


def interval_lines(evaluation: Evaluation) -> list[str]:
    """How the intervals were made, and why some are not there, where they were asked for."""
    how = "; ".join(
        f"{METHOD_WORDS.get(method, method)} ({', '.join(names)})"
        for method, names in _by_method(evaluation, evaluation.measures).items()
    )
    told = [f"{_level(evaluation)}: {how}{_grouped(evaluation)}"] if how else []
    return told + _without(evaluation, evaluation.measures)


def brief_intervals(evaluation: Evaluation) -> list[str]:
    """The same in few words."""
    known = _by_method(evaluation, evaluation.measures)
    how = ", ".join(
        f"{method} ({', '.join(names)})" if len(known) > 1 else method
        for method, names in known.items()
    )
    told = [f"{_level(evaluation)} interval: {how}{_grouped(evaluation)}"] if how else []
    return told + _without(evaluation, evaluation.measures)


def _own_interval(evaluation: Evaluation, measure: Measure) -> list[str]:
    """How the interval of one measure was made."""
    known = _by_method(evaluation, [measure])
    how = [METHOD_WORDS.get(method, method) for method in known]
    told = [f"{_level(evaluation)}: {' or '.join(how)}{_grouped(evaluation)}"] if how else []
    return told + _without(evaluation, [measure])


def _level(evaluation: Evaluation) -> str:
    """The level of the intervals in percent."""
    assert evaluation.level is not None
    return f"{100 * evaluation.level:.10g} %"


def _grouped(evaluation: Evaluation) -> str:
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


def _without(evaluation: Evaluation, measures: Sequence[Measure]) -> list[str]:
    """Which numbers have no interval, and why."""
    said: list[list[str]] = []
    for run in evaluation.runs:
        why: dict[str, list[str]] = {}
        for measure in measures:
            if (found := run.intervals.get(measure)) is not None and not found.known:
                why.setdefault(found.note, []).append(evaluation.label(measure))
        said.append([f"no interval of {listed(names)}: {text}" for text, names in why.items()])
    return about_runs(evaluation, said)


def _by_method(evaluation: Evaluation, measures: Sequence[Measure]) -> dict[str, list[str]]:
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


def definition(evaluation: Evaluation, measure: Measure) -> str:
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


def methods(evaluation: Evaluation) -> str:
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


def _basis(evaluation: Evaluation) -> list[str]:
    """What was ranked and how, each once, where rankings say so: embeddings, categories."""
    said = ("; ".join(run.rankings.basis) for run in evaluation.runs)
    return list(dict.fromkeys(filter(None, said)))


def _conventionally(evaluation: Evaluation, measure: Measure) -> list[str]:
    """What the library whose numbers these are calls a measure, and how that differs from ours."""
    named = evaluation.convention.theirs(measure) if evaluation.convention else None
    if named is None:
        return []
    return [
        f"{evaluation.convention}, where it is "
        f"{named.theirs}.{f' {named.name.note}' if named.name.note else ''}"
    ]


def _means(evaluation: Evaluation, measure: Measure) -> list[str]:
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


def standard_errors(evaluation: Evaluation, measure: Measure) -> str:
    """The standard error of an estimated summary, with the runs' names where there are several."""
    runs = [run for run in expected_runs(evaluation) if measure in run.summary_errors]
    several = len(evaluation.runs) > 1
    told = [
        f"{run.summary_errors[measure]:.2g}{f' for {run.name}' if several else ''}" for run in runs
    ]
    return f"standard error {', '.join(told)}" if told else ""


def expected_runs(evaluation: Evaluation) -> list[Scored]:
    """The values that are means over orders of ties: the runs' own, or those of the tie range."""
    if evaluation.policy.ties == "expected":
        return list(evaluation.runs)
    return [run.others["expected"] for run in evaluation.runs if "expected" in run.others]


def _ranges(evaluation: Evaluation) -> list[str]:
    known = {**TIE_SENTENCES, **UNJUDGED_ENDS}
    told = [f"{name} ({known[name]})" for name in evaluation.others if name in known]
    return (
        [f"Beside each number stand its values under other assumptions: {'; '.join(told)}."]
        if told
        else []
    )


def _population(evaluation: Evaluation, runs: Sequence[Scored]) -> str:
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


def details(evaluation: Evaluation) -> list[str]:
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


def brief(evaluation: Evaluation) -> str:
    """One line: what is not as by default, and where everything is said."""
    usual = Policy().to_dict()
    chosen = [
        f"{name}={choice}"
        for name, choice in evaluation.policy.to_dict().items()
        if choice != usual.get(name)
    ]
    first = evaluation.runs[0].rankings
    bases = [run.rankings.basis for run in evaluation.runs if run.rankings.basis]
    shared = [part for part in bases[0] if all(part in basis for basis in bases)] if bases else []
    ranked = dict.fromkeys(
        part if part.startswith(WHOLE) else part.partition(":")[0] for part in shared
    )
    said = [
        *([f"as {evaluation.convention}"] if evaluation.convention else []),
        *([", ".join(chosen)] if chosen else []),
        *(part for part in ranked if part not in USUAL_BASIS),
        *(f"weighted by {weights.source}" for weights in [first.weights] if weights is not None),
        *(apart_notes(evaluation) if evaluation.runs[0].unanswerable is not None else ()),
        *brief_intervals(evaluation),
        *(text for measure in evaluation.measures for text in _estimated(evaluation, measure)),
    ]
    return "; ".join([*said, "definitions and notes: verbose (-v)"])


WHOLE = ("excluded", *ENCODED.values())
"""What is said in one line with all its words, how these begin."""
USUAL_BASIS = frozenset({"all items are ranked", OTHER_WAY, "relevant"})
"""What needs no word in one line."""


def _described(evaluation: Evaluation, measure: Measure) -> str:
    """A measure with every parameter; first which one it is, where it was called otherwise."""
    label, words = evaluation.label(measure), measure.describe(brief=True)
    if label == str(measure):
        return words
    return f"{label} is {measure}:{words.removeprefix(f'{measure} is')}"


def notes(evaluation: Evaluation) -> list[str]:
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


def _estimated(evaluation: Evaluation, measure: Measure) -> list[str]:
    """In few words that a number is an estimate."""
    error = standard_errors(evaluation, measure)
    return [f"the expected {evaluation.label(measure)} is an estimate, {error}"] if error else []


def _estimate(evaluation: Evaluation, measure: Measure) -> list[str]:
    """A sentence about a mean over orders of ties, where that mean is an estimate."""
    if not any(measure in run.errors for run in expected_runs(evaluation)):
        return []
    error = standard_errors(evaluation, measure)
    return [
        f"the expected {evaluation.label(measure)} is estimated from {DRAWS} random orders of the "
        f"tied results, in queries where they are more than {LIMIT}"
        f"{f'; {error}' if error else ''}."
    ]


CORRECTION = (
    "Each number is corrected by prediction-powered inference with a tuned weight (PPI++: "
    "Angelopoulos, Duchi and Zrnic, 2023, arXiv:2311.01453): λ times the mean over all queries "
    "under the cheap judgements, plus the mean over the trusted queries of the trusted value minus "
    "λ times the cheap one; λ is the covariance of trusted and cheap values by the variance of the "
    "cheap ones, cut at 0 and 1. Its variance is that of the trusted queries plus that of the "
    "others, which are independent of them, with Student's t of one degree of freedom fewer than "
    "trusted queries"
)
"""How numbers are corrected, for a methods section."""
SAMPLING = (
    "This holds where the trusted queries are a random sample of all queries; whether their cheap "
    "values look so was tested by Welch's test (a warning is given where p is below 0.01)"
)
"""What the correction takes for granted."""


def about_trusted(trusted: Trusted, queries: int) -> str:
    """How many queries have trusted judgements, and whose they are."""
    of = counted(queries, "query", "queries")
    return f"{trusted.queries:,} of {of} have trusted judgements too ({trusted.source})"


def methods_of(evaluation: Evaluation) -> list[str]:
    """How numbers were corrected, for a paper; nothing where none were."""
    if evaluation.trusted is None:
        return []
    return [
        f"{about_trusted(evaluation.trusted, _number_of_queries(evaluation))}.",
        f"{CORRECTION}.",
        f"{SAMPLING}.",
    ]


def trusted_lines(evaluation: Evaluation) -> list[str]:
    """Whose judgements are trusted, and how each number was corrected: a line each."""
    if evaluation.trusted is None:
        return []
    several = len(evaluation.runs) > 1
    return [
        f"trusted: {about_trusted(evaluation.trusted, _number_of_queries(evaluation))}",
        *(
            f"trusted: {run.label(measure)}{f' of {run.name}' if several else ''}: {each.says()}"
            for run in evaluation.runs
            for measure, each in run.corrections.items()
        ),
    ]


def of_measure(evaluation: Evaluation, measure: Measure) -> list[str]:
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


def brief_trusted(evaluation: Evaluation) -> list[str]:
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
    said = [f"corrected: {about_trusted(evaluation.trusted, _number_of_queries(evaluation))}"]
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


def _number_of_queries(evaluation: Evaluation) -> int:
    return len(evaluation.runs[0].rankings)
