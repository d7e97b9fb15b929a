"""What could mislead whoever reads the numbers of an evaluation and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from judged.arrays import each_once
from judged.errors import warn
from judged.evaluation import effects
from judged.evaluation.definition import about_runs
from judged.evaluation.intervals import about_few, about_weights
from judged.measures.orders import LIMIT
from judged.rankings.findings import findings_of
from judged.statistics.aggregates import mean
from judged.text import counted, few, listed

if TYPE_CHECKING:
    from judged.arrays import Floats
    from judged.evaluation.exports import Exports
    from judged.evaluation.scores import Scored
    from judged.evaluation.table import Look
    from judged.measures import Measure
    from judged.policy import Policy
    from judged.results import Result

    Said = TypeVar("Said", bound=Result)


def warnings(evaluation: Exports, look: Look, *, ties: bool = True) -> list[str]:
    """Every warning once, the worst first: what the number may not be, what was done with the data,
    and how far the number might be another; by `ties` unless somebody else tells of them."""
    said = grave(evaluation)
    said += about_runs(evaluation, effects.short_lists(evaluation))
    said += effects.unjudged(evaluation)
    said += effects.ties(evaluation, look) if ties else []
    return said + effects.scenarios(evaluation)


def covered(evaluation: Exports) -> set[str]:
    """The findings of audits that need no note, for warnings tell of them: by the cutoffs and the
    thresholds of the measures, which an audit does not know."""
    fields = {"missing_queries", "duplicates_dropped", "short_lists", "judged_at_10"}
    said = {"nothing_relevant": _nothing_relevant, "fractional_grades": _fractional_grades}
    return fields | {field for field, about in said.items() if about(evaluation)}


def grave(evaluation: Exports) -> list[str]:
    """Those that are about more than how far a number might be another."""
    return [text for about in ABOUT for text in about(evaluation)]


def announce_warnings(result: Said) -> Said:
    """The result, its grave warnings issued as Python's, for code that never prints it."""
    for text in result._grave():
        warn(text)
    return result


def _skipped(evaluation: Exports) -> list[str]:
    """Runs that are not there."""
    return [f"{name} was left out: {why}" for name, why in evaluation.skipped.items()]


def _of_the_data(evaluation: Exports) -> list[str]:
    """What readers and makers of rankings warn of."""
    return about_runs(evaluation, [list(run.audit.warnings) for run in evaluation.runs])


def _missing(evaluation: Exports) -> list[str]:
    """Judged queries that a run lacks."""
    return about_runs(
        evaluation,
        [
            about_missing(run.audit.missing_queries, len(run.rankings), evaluation.policy)
            for run in evaluation.runs
        ],
    )


def about_missing(lost: Sequence[str], number: int, policy: Policy) -> list[str]:
    """What was done with the queries that a run lacks of so many; nothing where it has all."""
    done = "counted as empty" if policy.missing == "zero" else "left out"
    return [f"{_of_all(lost, number, 'not in the run')}, {done}."] if lost else []


def _of_all(some: Sequence[str], number: int, are: str) -> str:
    """How many of the judged queries are so, and the first of them."""
    of = counted(number, "judged query", "judged queries")
    return f"{len(some):,} of {of} {are} ({few(some)})"


def _nothing_relevant(evaluation: Exports) -> list[str]:
    """Queries in which nothing is relevant, where they count all the same."""
    done = {"zero": "the worst value", "one": "the best value"}.get(evaluation.policy.empty)
    if done is None:
        return []
    r = evaluation.runs[0].rankings
    counts = np.ones(len(r), bool) if r.weights is None else r.weights.values > 0
    if evaluation.policy.missing == "skip":
        counts &= ~np.logical_and.reduce([run.rankings.missing for run in evaluation.runs])
    about: dict[tuple[str, str], list[str]] = {}
    rating = [measure for measure in evaluation.measures if measure.spec.rates_relevance]
    for measure in rating:
        fixed = evaluation.convention.undefined(measure) if evaluation.convention else None
        which = np.flatnonzero(evaluation.runs[0].nothing[measure] & counts).tolist()
        if which:
            queries = _of_all([r.queries[at] for at in which], len(r), "with nothing relevant")
            got = done if fixed is None else f"{fixed:g}"
            about.setdefault((queries, got), []).append(evaluation.label(measure))
    return [
        f"{queries}, given {got}"
        + (": see --unanswerable." if len(names) == len(rating) else f" of {listed(names)}.")
        for (queries, got), names in about.items()
    ]


def _duplicates(evaluation: Exports) -> list[str]:
    """Rows that were dropped for being about the same."""
    said = (run.audit.said().get("duplicates_dropped") for run in evaluation.runs)
    return about_runs(evaluation, [[text] if text else [] for text in said])


def _fractional_grades(evaluation: Exports) -> list[str]:
    """Grades between 0 and 1, where a measure takes them for irrelevant."""
    audit, grades = evaluation.runs[0].audit, evaluation.runs[0].rankings.grades
    below = grades[(grades > 0) & (grades < 1)]
    asked = [m.params["rel"] for m in evaluation.measures if "rel" in m.params]
    missed = audit.fractional_grades and any(bool((below < rel).any()) for rel in asked)
    return [audit.said()["fractional_grades"]] if missed else []


def _ratings(evaluation: Exports) -> list[str]:
    """Grades on a scale that has no 0, as ratings from 1 to 5, where low ones are relevant too."""
    grades = evaluation.runs[0].rankings.grades
    lowest, highest = (float(grades.min()), float(grades.max())) if len(grades) else (0.0, 0.0)
    if lowest <= 0 or highest < _SCALE or len(grades) < _SCALE:
        return []
    low = max(1.0, lowest)
    alike = [
        evaluation.label(measure)
        for measure in evaluation.measures
        if measure.params.get("gain") == "binary" or measure.params.get("rel", highest) <= low
    ]
    if not alike:
        return []
    names = f"{', '.join(alike[:2])}{', …' if len(alike) > 2 else ''}"
    return [
        f"Grades go from {lowest:g} to {highest:g}, and low ones count as relevant too ({names}): "
        "where they mean dislike, say from which grade on an item is relevant, as in "
        f"P(rel={np.ceil(0.7 * highest):g})@10, or make grades 0 and 1 of them."
    ]


_SCALE = 4
"""So many different grades are a scale on which somebody rated."""


def _tie_ends(evaluation: Exports) -> list[str]:
    """Measures whose worst and best orders of ties were not all looked for."""
    said = []
    for run in evaluation.runs:
        unsure = run.others["worst"].unsure if "worst" in run.others else {}
        queries = counted(max(unsure.values(), default=0), "query has", "queries have")
        said.append(
            [
                f"The tie range of {listed(list(map(run.label, unsure)))} reaches at least this "
                f"far, and may reach further: {queries} more than {LIMIT} orders of tied results, "
                "of which some were tried."
            ]
            if unsure
            else []
        )
    return about_runs(evaluation, said)


def _relevant(evaluation: Exports, measure: Measure) -> tuple[Floats, Floats | None]:
    """How many items are relevant in the queries that have some and count, and their weights."""
    r = evaluation.runs[0].rankings
    relevant = r.relevant(measure.params["rel"])
    some = relevant > 0
    if r.weights is not None:
        some &= r.weights.values > 0
    return relevant[some], r.weights_of(some)


def _out_of_reach_at_k(evaluation: Exports) -> list[str]:
    """Recall and average precision where queries have more relevant items than the cutoff."""
    return [
        text for name, advice in _INSTEAD.items() for text in _below_one(evaluation, name, advice)
    ]


_INSTEAD = {
    "R": "For the hit rate that CLIP papers call Recall@{k}, use Success@{k}.",
    "AP": "AP(norm=capped)@{k} is divided by min(relevant, {k}), AP(norm=retrieved)@{k} by the "
    "relevant items found; both can reach 1.",
}
"""Measures that are divided by all relevant items, and what may be meant by them."""


def _below_one(evaluation: Exports, name: str, advice: str) -> list[str]:
    asked = [
        measure
        for measure in evaluation.measures
        if measure.spec.name == name
        and measure.params["norm"] == "relevant"
        and isinstance(measure.params["k"], int)
    ]
    if not asked:
        return []
    measure = min(asked, key=lambda each: each.params["k"])
    k = measure.params["k"]
    relevant, weights = _relevant(evaluation, measure)
    if not relevant.size or relevant.max() <= k or np.median(relevant) <= k:
        return []
    fewest, most = int(relevant.min()), int(relevant.max())
    number = f"{fewest:,}" if fewest == most else f"{fewest:,}–{most:,}"
    ceiling = mean(np.minimum(1, k / relevant), weights)
    return [
        f"Queries have {number} relevant items, so {evaluation.label(measure)} cannot exceed "
        f"{ceiling:.2g}. {advice.format(k=k)}"
    ]


def _all_out_of_reach(evaluation: Exports) -> list[str]:
    """Whether all relevant items are among the first k, in queries that have more than k."""
    found = []
    for measure in evaluation.measures:
        k = measure.params.get("k")
        if (
            measure.spec.name != "Success"
            or measure.params["of"] != "all"
            or not isinstance(k, int)
        ):
            continue
        relevant, weights = _relevant(evaluation, measure)
        most = mean(np.where(relevant <= k, 1.0, 0.0), weights) if len(relevant) else 1.0
        if many := int((relevant > k).sum()):
            found.append(
                f"{counted(many, 'query has', 'queries have')} more than {k:,} relevant items: "
                f"{evaluation.label(measure)} is 0 for them, whatever is retrieved, and cannot "
                f"exceed {most:.2g} over those with relevant items."
            )
    return found


def _ended_alike(evaluation: Exports) -> list[str]:
    """Lists that were all cut at one length, which measures without a cutoff then depend on."""
    return about_runs(evaluation, effects.ended_alike(evaluation))


def _ending_before(run: Scored, measure: Measure) -> str:
    """How many queries have an infinite rank, where their values are known."""
    infinite = int(np.isinf(run.values[measure]).sum())
    return f"{infinite:,} of {counted(len(run.rankings), 'query', 'queries')}"


def _infinite(evaluation: Exports) -> list[str]:
    """Ranks whose summary is infinite, for some lists end before them."""
    asked = [measure for measure in evaluation.measures if measure.spec.name == "Rank"]
    return about_runs(
        evaluation,
        [
            [
                f"{evaluation.label(measure)} is infinite: {_ending_before(run, measure)} did not "
                "retrieve the item whose rank it is."
                for measure in asked
                if np.isinf(run.summary[measure])
            ]
            for run in evaluation.runs
        ],
    )


def _unlike_the_library(evaluation: Exports) -> list[str]:
    """Where the data are such that the library gives another number than its convention."""
    conventional = evaluation.convention
    if conventional is None:
        return []
    library = conventional.convention
    said: list[list[str]] = []
    for run in evaluation.runs:
        said.append([])
        for named in conventional.named:
            cautions = (*library.cautions, *named.name.cautions)
            said[-1] += [
                caution.says
                for caution in cautions
                if caution.when in CONDITIONS and CONDITIONS[caution.when](run, named.measure)
            ]
    found = about_runs(evaluation, [list(dict.fromkeys(own)) for own in said])
    if library.drops_own_id and not conventional.prepared:
        found.append(
            f"{library.title} takes out results that have the id of their query; these rankings "
            "were made without that: exclude such items, or evaluate the run itself."
        )
    if library.needs_results and not conventional.prepared:
        empty = [(~run.rankings.missing & (run.rankings.retrieved == 0)) for run in evaluation.runs]
        if any(each.any() for each in empty):
            found.append(
                f"{library.title} takes a query without results for one that the run lacks; in "
                "these rankings it is an empty list: evaluate the run itself."
            )
    return found


def _grades(run: Scored) -> np.ndarray:
    return run.rankings.grades


CONDITIONS: dict[str, Callable[[Scored, Measure], bool]] = {
    "tied": lambda run, measure: run.audit.tied_results > 0,
    "tied in single precision": lambda run, measure: findings_of(run.rankings).single_ties > 0,
    "not positive": lambda run, measure: findings_of(run.rankings).not_positive > 0,
    "graded": lambda run, measure: bool((_grades(run) > 1).any()),
    "fractional": lambda run, measure: bool((_grades(run) % 1 != 0).any()),
    "negative": lambda run, measure: bool((_grades(run) < 0).any()),
    "not relevant": lambda run, measure: bool((_grades(run) < 1).any()),
    "all relevant": lambda run, measure: run.rankings.all_relevant,
    "nothing relevant": lambda run, measure: bool((run.rankings.relevant(1) == 0).any()),
    "several relevant": lambda run, measure: bool((run.rankings.relevant(1) > 1).any()),
    "unlisted": lambda run, measure: run.rankings.unretrieved_relevant > 0,
    "uneven": lambda run, measure: len(each_once(run.rankings.retrieved)) > 1,
    "repeated": lambda run, measure: run.audit.duplicates_dropped > 0,
    "unjudged queries": lambda run, measure: run.audit.ignored_queries > 0,
    "missing": lambda run, measure: bool(run.rankings.missing.any()),
    "not whole": lambda run, measure: run.summary[measure] % 1 != 0,
}
"""Whether the data of a run are as a caution of a convention says (`conventions.WHEN`); own ids are
found before a run is judged."""


def _trusted(evaluation: Exports) -> list[str]:
    """What trusted judgements do not tell."""
    return list(evaluation.trusted.warnings) if evaluation.trusted else []


ABOUT: tuple[Callable[[Exports], list[str]], ...] = (
    _skipped,
    _of_the_data,
    _missing,
    _nothing_relevant,
    _duplicates,
    _fractional_grades,
    _infinite,
    _ratings,
    _all_out_of_reach,
    _unlike_the_library,
    _out_of_reach_at_k,
    _ended_alike,
    about_weights,
    about_few,
    _tie_ends,
    _trusted,
)
"""What is looked at, the worst first: each gives its sentences about an evaluation."""
