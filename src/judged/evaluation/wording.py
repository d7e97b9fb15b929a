"""An evaluation in words: assumptions, definitions, notes, and the methods section of a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from judged import __version__
from judged.evaluation.intervals import weights_line
from judged.evaluation.ranges import TIE_SENTENCES
from judged.evaluation.scores import UNJUDGED_ENDS, about_runs
from judged.evaluation.warnings import covered
from judged.measures.reference import BIBLIOGRAPHY
from judged.measures.tie_orders import DRAWS, LIMIT, SEED
from judged.options import LEVEL, RESAMPLES
from judged.policy import DEFAULTS
from judged.rankings.rankings import ENCODED, OTHER_WAY
from judged.text import Warned, counted, listed

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.scores import Scored
    from judged.evaluation.trusted import Correction
    from judged.measures import Measure

TIES_REFERENCE = "mcsherry2008"
"""Source of the closed forms of means over the orders of ties."""
METHOD_WORDS = {
    "t": "Student's t",
    "wilson": "Wilson's interval of a share",
    "log t": "Student's t of the logarithms",
    "order": "order statistics, exact by the binomial distribution",
    "bca": f"BCa bootstrap ({RESAMPLES:,} resamples of the queries, seed 0)",
    "percentile": f"percentile bootstrap ({RESAMPLES:,} resamples of the queries, seed 0)",
    "prediction-powered": "prediction-powered inference (PPI++), Student's t",
}


# -- the sentences of a result


def brief(evaluation: Evaluation) -> str:
    """Return one line with the number of queries and everything that is not the default."""
    first = evaluation.runs[0]
    size = len(first.queries)  # vectors may have other numbers of queries in both directions
    sizes_agree = all(len(run.queries) == size for run in evaluation.runs)
    policy = evaluation.policy.to_dict().items()
    choices = [f"{name}={choice}" for name, choice in policy if choice != DEFAULTS.get(name)]
    bases = [run.rankings.basis for run in evaluation.runs if run.rankings.basis]
    shared = [part for part in bases[0] if all(part in basis for basis in bases)] if bases else []
    ranked = dict.fromkeys(
        part if part.startswith(WHOLE_PARTS) else part.partition(":")[0] for part in shared
    )
    weights = first.rankings.weights
    return "; ".join(
        [
            *([counted(size, "query", "queries")] if sizes_agree else []),
            *([f"as {evaluation.convention}"] if evaluation.convention else []),
            *([", ".join(choices)] if choices else []),
            *(part for part in ranked if part not in USUAL_BASIS),
            *([] if weights is None else [f"weighted by {weights.source}"]),
            *_apart(evaluation, notes_only=True),
            *([] if evaluation.level is None else interval_lines(evaluation, brief=True)),
            *_estimates(evaluation, brief=True),
            "definitions and notes: to_text(verbose=True)",
        ]
    )


def _apart(evaluation: Evaluation, *, notes_only: bool = False) -> list[str]:
    """Return lines on queries without relevant items, if these were taken out of the means."""
    if evaluation.runs[0].unanswerable is None:
        return []
    from judged.evaluation.unanswerable import apart_lines, apart_notes  # rarely needed

    return apart_notes(evaluation) if notes_only else apart_lines(evaluation)


WHOLE_PARTS = ("excluded", *ENCODED.values())
"""Beginnings of the parts of a ranking's basis that are shown in full."""
USUAL_BASIS = frozenset({"all items are ranked", OTHER_WAY, "relevant"})


def details(evaluation: Evaluation) -> list[str]:
    """Return the assumptions, what was ranked, what was found, and the definitions."""
    lines = [f"latency: {evaluation.latency.sentence()}"] if evaluation.latency else []
    lines.append(f"policy: {evaluation.policy}")
    if evaluation.convention:
        names = "; ".join(
            f"{named.measure} is {named.theirs}" for named in evaluation.convention.named
        )
        lines.append(f"convention: {evaluation.convention}, where {names}")
    bases = ("; ".join(run.rankings.basis) for run in evaluation.runs)
    ranked = about_runs(evaluation, [[basis] if basis else [] for basis in bases])
    return [
        *lines,
        *(f"intervals: {text}" for text in interval_lines(evaluation)),
        *_trusted_lines(evaluation),
        *weights_line(evaluation),
        *_apart(evaluation),
        *(f"ranking: {text}" for text in ranked),
        *(f"note: {text}" for text in notes(evaluation)),
        *(f"measure: {_described(evaluation, measure)}" for measure in evaluation.measures),
    ]


def _described(evaluation: Evaluation, measure: Measure) -> str:
    label, words = evaluation.label(measure), measure.describe(brief=True)
    if label == str(measure):
        return words
    return f"{label} is {measure}:{words.removeprefix(f'{measure} is')}"


def notes(evaluation: Evaluation) -> list[str]:
    """Return the findings that no warning mentions, estimates, and how a convention is known."""
    mentioned = covered(evaluation)
    sentences = about_runs(
        evaluation,
        [
            [text for about, text in run.audit.said().items() if about not in mentioned]
            + [text for text in run.audit.notes if not isinstance(text, Warned)]
            for run in evaluation.runs
        ],
    )
    sentences += _estimates(evaluation)
    if evaluation.convention and evaluation.convention.convention.held == "reading":
        sentences.append(
            f"The definitions of {evaluation.convention} are from reading its source; they were "
            "not checked by running it."
        )
    return sentences


# -- definitions


def definition(evaluation: Evaluation, measure: Measure) -> str:
    """Return the definition of one measure: words, formula, policy and source."""
    named = evaluation.convention.theirs(measure) if evaluation.convention else None
    convention = []
    if named is not None:
        note = f" {named.name.note}" if named.name.note else ""
        convention = [f"{evaluation.convention}, where it is {named.theirs}.{note}"]
    lines = [
        f"{_title(evaluation, measure)}. {measure.describe()}",
        f"Formula: {measure.formula}",
        f"Undefined when: {measure.spec.undefined.text}.",
        f"Policy: {'; '.join(evaluation.policy.sentences().values())}.",
        *(f"Convention: {text}" for text in convention),
        *(f"Ranking: {text}." for text in _bases(evaluation)),
        *(f"Mean over the orders of ties: {text}." for text in _means(evaluation, measure)),
        *(f"Interval: {text}." for text in interval_lines(evaluation, [measure])),
        *(f"Trusted: {text}" for text in _correction_methods(evaluation)),
        *(
            f"Trusted: {run.name}: {run.corrections[measure].says()}."
            for run in evaluation.runs
            if run.corrections
        ),
        f"Reference: {BIBLIOGRAPHY[measure.spec.reference]}",
    ]
    return "\n".join(lines)


def methods(evaluation: Evaluation, population: str = "") -> str:
    """Return a paragraph for papers: measures, policy, ties, queries counted, and sources."""
    depths = dict.fromkeys(
        run.rankings.depth for run in evaluation.runs if run.rankings.depth is not None
    )
    means: dict[str, list[str]] = {}
    for measure in evaluation.measures:
        for text in _means(evaluation, measure):
            means.setdefault(text, []).append(evaluation.label(measure))
    keys = [measure.spec.reference for measure in evaluation.measures]
    sources = dict.fromkeys(BIBLIOGRAPHY[key] for key in [*keys, *([TIES_REFERENCE] * bool(means))])
    like = f", as {evaluation.convention} does" if evaluation.convention else ""
    lines = (line.partition(": ")[2] for line in (*weights_line(evaluation), *_apart(evaluation)))
    return " ".join(
        [
            f"Rankings were evaluated with judged {__version__}{like}.",
            *(f"Ranking: {text}." for text in _bases(evaluation)),
            *(f"{_title(evaluation, m)}: {m.describe()}" for m in evaluation.measures),
            *(f"{_capitalised(text)}." for text in evaluation.policy.sentences().values()),
            *(
                f"The mean of {', '.join(names)} over the orders of ties is {text}."
                for text, names in means.items()
            ),
            *(f"Only the first {depth:,} results of each list were used." for depth in depths),
            *_ranges(evaluation),
            f"Summaries are over {population or _population(evaluation, evaluation.runs)}.",
            *_correction_methods(evaluation),
            *(f"Intervals: {text}." for text in interval_lines(evaluation)),
            *(f"{_capitalised(text)}." for text in lines if text),
            f"References: {' '.join(sources)}",
        ]
    )


def _capitalised(text: str) -> str:
    return text[0].upper() + text[1:]


def _title(evaluation: Evaluation, measure: Measure) -> str:
    label = evaluation.label(measure)
    ours = "" if label == str(measure) else f"{measure}, "
    return f"{label} ({ours}{measure.spec.title})"


def _bases(evaluation: Evaluation) -> list[str]:
    bases = ("; ".join(run.rankings.basis) for run in evaluation.runs)
    return list(dict.fromkeys(filter(None, bases)))


def _ranges(evaluation: Evaluation) -> list[str]:
    known = {**TIE_SENTENCES, **UNJUDGED_ENDS}
    parts = [f"{name} ({known[name]})" for name in evaluation.others if name in known]
    return [f"Each value is also given under other assumptions: {'; '.join(parts)}."] * bool(parts)


def _population(evaluation: Evaluation, runs: Sequence[Scored]) -> str:
    """Return the number of queries that summaries are over, by run or measure if it differs."""
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
        kind += " with relevant items"
    if different == {queries}:
        return f"all {queries:,} {kind}"
    if len(different) == 1:
        return f"{different.pop():,} of the {queries:,} {kind}"
    for part in (0, 1):  # by run, or by measure
        by_name: dict[str, set[int]] = {}
        for key, count in counts.items():
            by_name.setdefault(key[part], set()).add(count)
        if all(len(numbers) == 1 for numbers in by_name.values()):
            parts = ", ".join(f"{numbers.pop():,} ({name})" for name, numbers in by_name.items())
            return f"{parts} of the {queries:,} {kind}"
    return (
        f"{min(different):,} to {max(different):,} of the {queries:,} {kind}, which "
        "differ by run and measure"
    )


# -- means over the orders of ties


def _expected_runs(evaluation: Evaluation) -> list[Scored]:
    if evaluation.policy.ties == "expected":
        return list(evaluation.runs)
    return [run.others["expected"] for run in evaluation.runs if "expected" in run.others]


def _means(evaluation: Evaluation, measure: Measure) -> list[str]:
    """Return how a measure's mean over the orders of ties was computed."""
    runs = _expected_runs(evaluation)
    if not runs:
        return []
    if not any(measure in run.errors for run in runs):
        return ["exact"]
    errors = _standard_errors(evaluation, measure)
    return [
        f"estimated from {DRAWS} random orders in queries where they are more than {LIMIT} "
        f"(Monte Carlo, seed {SEED}{f'; {errors}' if errors else ''})"
    ]


def _standard_errors(evaluation: Evaluation, measure: Measure) -> str:
    runs = [run for run in _expected_runs(evaluation) if measure in run.summary_errors]
    several = len(evaluation.runs) > 1
    errors = [
        f"{run.summary_errors[measure]:.2g}{f' for {run.name}' if several else ''}" for run in runs
    ]
    return f"standard error {', '.join(errors)}" if errors else ""


def _estimates(evaluation: Evaluation, *, brief: bool = False) -> list[str]:
    """Return a sentence for each measure whose mean over orders of ties is an estimate."""
    sentences = []
    runs = _expected_runs(evaluation)
    for measure in evaluation.measures if runs else ():
        error, label = _standard_errors(evaluation, measure), evaluation.label(measure)
        if brief and error:
            sentences.append(f"the expected {label} is an estimate, {error}")
        elif not brief and any(measure in run.errors for run in runs):
            sentences.append(
                f"the expected {label} is estimated from {DRAWS} random orders of the tied "
                f"results, in queries where they are more than {LIMIT}"
                f"{f'; {error}' if error else ''}."
            )
    return sentences


# -- confidence intervals


def interval_lines(
    evaluation: Evaluation, measures: Sequence[Measure] | None = None, *, brief: bool = False
) -> list[str]:
    """Return how confidence intervals were computed, and why some are missing."""
    measures = evaluation.measures if measures is None else measures
    known = _by_method(evaluation, measures)
    words = {} if brief else METHOD_WORDS
    alone = len(known) == 1 and (brief or len(measures) == 1)
    how = (", " if brief else "; ").join(
        words.get(method, method) + ("" if alone else f" ({', '.join(names)})")
        for method, names in known.items()
    )
    level = f"{100 * (evaluation.level or LEVEL):.10g} %{' interval' if brief else ''}"
    grouped = ""
    if evaluation.groups is not None:
        number = counted(len(set(evaluation.groups.values())), "group")
        grouped = f", by {number} of {counted(len(evaluation.groups), 'query', 'queries')}"
    lines = [f"{level}: {how}{grouped}"] if how else []
    by_run: list[list[str]] = []
    for run in evaluation.runs:
        reasons: dict[str, list[str]] = {}
        for measure in measures:
            interval = run.intervals.get(measure)
            if interval is not None and not interval.known:
                reasons.setdefault(interval.note, []).append(evaluation.label(measure))
        by_run.append([f"no interval of {listed(names)}: {why}" for why, names in reasons.items()])
    return lines + about_runs(evaluation, by_run)


def _by_method(evaluation: Evaluation, measures: Sequence[Measure]) -> dict[str, list[str]]:
    """Return the measures by the method of their intervals, with the run if it differs by run."""
    by_method: dict[str, list[str]] = {}
    for measure in measures:
        label = evaluation.label(measure)
        known = [
            (run.name, interval.method or "")
            for run in evaluation.runs
            if (interval := run.intervals.get(measure)) is not None and interval.known
        ]
        alike = len({method for _, method in known}) == 1
        for name, method in known[:1] if alike else known:
            by_method.setdefault(method, []).append(label if alike else f"{label} of {name}")
    return by_method


# -- trusted judgements

CORRECTION = (
    "Each number is corrected by prediction-powered inference with a tuned weight (PPI++: "
    "Angelopoulos, Duchi and Zrnic, 2023, arXiv:2311.01453): λ times the mean over all queries "
    "under the cheap judgements, plus the mean over the trusted queries of the trusted value minus "
    "λ times the cheap one; λ is the covariance of trusted and cheap values by the variance of the "
    "cheap ones, cut at 0 and 1. Its variance is that of the trusted queries plus that of the "
    "others, which are independent of them, with Student's t of one degree of freedom fewer than "
    "trusted queries"
)
SAMPLING = (
    "This holds if the trusted queries are a random sample of all queries; Welch's test of their "
    "cheap values gives a warning if p is below 0.01"
)
NARROWER = {
    "corrected": "narrower than by the trusted judgements alone",
    "trusted": "not narrower than by the trusted judgements alone",
    None: "no interval to compare",
}


def about_trusted(trusted: Mapping[str, Any], queries: int) -> str:
    """Return how many queries have trusted judgements, and their source."""
    of = counted(queries, "query", "queries")
    return f"{trusted['queries']:,} of {of} have trusted judgements too ({trusted['source']})"


def _correction_methods(evaluation: Evaluation) -> list[str]:
    if evaluation.trusted is None:
        return []
    about = about_trusted(evaluation.trusted, len(evaluation.runs[0].rankings))
    return [f"{about}.", f"{CORRECTION}.", f"{SAMPLING}."]


def _trusted_lines(evaluation: Evaluation) -> list[str]:
    if evaluation.trusted is None:
        return []
    about = about_trusted(evaluation.trusted, len(evaluation.runs[0].rankings))
    return [
        f"trusted: {about}",
        *(f"trusted: {name}: {each.says()}" for name, each in _corrections(evaluation)),
    ]


def _corrections(evaluation: Evaluation) -> list[tuple[str, Correction]]:
    """Return each correction with the name of its measure, and of its run if there are several."""
    several = len(evaluation.runs) > 1
    return [
        (run.label(measure) + (f" of {run.name}" if several else ""), correction)
        for run in evaluation.runs
        for measure, correction in run.corrections.items()
    ]


def brief_trusted(evaluation: Evaluation) -> str:
    """Return one line: the number of trusted queries, the weights, which interval is narrower."""
    assert evaluation.trusted is not None
    narrower: dict[str | None, list[str]] = {}
    weights = []
    for name, correction in _corrections(evaluation):
        weights.append(correction.weight)
        narrower.setdefault(correction.narrower, []).append(name)
    low, high = f"{min(weights):.2f}", f"{max(weights):.2f}"
    about = about_trusted(evaluation.trusted, len(evaluation.runs[0].rankings))
    parts = [f"corrected: {about}", f"λ {low if low == high else f'{low} to {high}'}"]
    for which, names in narrower.items():
        words = NARROWER[which]
        parts.append(f"{words} for {', '.join(names)}" if len(narrower) > 1 else words)
    return "; ".join(parts)
