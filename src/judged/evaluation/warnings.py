"""What could mislead whoever reads the numbers of an evaluation and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from judged.errors import warn
from judged.evaluation.definition import about_runs
from judged.evaluation.weighting import about_weights
from judged.measures.aggregation import mean
from judged.measures.orders import LIMIT
from judged.text import counted, listed

if TYPE_CHECKING:
    from judged.evaluation.exports import Exports
    from judged.evaluation.settlement import Scored
    from judged.measures import Measure
    from judged.results import Result

    Said = TypeVar("Said", bound=Result)


def warnings(evaluation: Exports) -> list[str]:
    """Every warning once: about the data of the runs, then about measures, policy and
    convention."""
    found = about_runs(evaluation, [list(run.audit.warnings) for run in evaluation.runs])
    return found + [text for about in ABOUT for text in about(evaluation)]


def announced(result: Said) -> Said:
    """The result, each of its warnings issued as Python's, for code that never prints it."""
    for text in result.warnings():
        warn(text)
    return result


def _tie_ends(evaluation: Exports) -> list[str]:
    """Measures whose worst and best orders of ties were not all looked for."""
    said = []
    for run in evaluation.runs:
        unsure = run.others["worst"].unsure if "worst" in run.others else {}
        queries = counted(max(unsure.values(), default=0), "query has", "queries have")
        said.append(
            [
                f"The tie range of {listed(list(map(str, unsure)))} reaches at least this far, and "
                f"may reach further: {queries} more than {LIMIT} orders of tied results, of which "
                "some were tried."
            ]
            if unsure
            else []
        )
    return about_runs(evaluation, said)


def _recall_below_one(evaluation: Exports) -> list[str]:
    """Plain recall where a query has more relevant items than the cutoff lets in."""
    asked = [
        measure
        for measure in evaluation.measures
        if measure.spec.name == "R"
        and measure.params["norm"] == "relevant"
        and isinstance(measure.params["k"], int)
    ]
    if not asked:
        return []
    measure = min(asked, key=lambda each: each.params["k"])
    k = measure.params["k"]
    r = evaluation.runs[0].rankings
    relevant = r.relevant(measure.params["rel"])
    weights = np.ones(len(r)) if r.weights is None else r.weights.values
    some = (relevant > 0) & (weights > 0)
    relevant, weights = relevant[some], weights[some]
    if not relevant.size or np.median(relevant) <= k:
        return []
    fewest, most = int(relevant.min()), int(relevant.max())
    number = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
    ceiling = mean(np.minimum(1, k / relevant), weights)
    return [
        f"Queries have {number} relevant items: {measure} cannot exceed {ceiling:.2g}; CLIP's and "
        f"SOP's Recall@{k} is Success@{k}."
    ]


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
    return found


def _grades(run: Scored) -> np.ndarray:
    return run.rankings.pool_grade


CONDITIONS: dict[str, Callable[[Scored, Measure], bool]] = {
    "tied": lambda run, measure: run.audit.tied_results > 0,
    "graded": lambda run, measure: bool((_grades(run) > 1).any()),
    "fractional": lambda run, measure: bool((_grades(run) % 1 != 0).any()),
    "negative": lambda run, measure: bool((_grades(run) < 0).any()),
    "not relevant": lambda run, measure: bool((_grades(run) < 1).any()),
    "all relevant": lambda run, measure: _all_relevant(run),
    "nothing relevant": lambda run, measure: bool((run.rankings.relevant(1) == 0).any()),
    "several relevant": lambda run, measure: bool((run.rankings.relevant(1) > 1).any()),
    "unlisted": lambda run, measure: _unlisted(run),
    "uneven": lambda run, measure: len(np.unique(run.rankings.retrieved)) > 1,
    "repeated": lambda run, measure: run.audit.duplicates_dropped > 0,
    "unjudged queries": lambda run, measure: run.audit.ignored_queries > 0,
    "not whole": lambda run, measure: run.summary[measure] % 1 != 0,
}
"""Whether the data of a run are as a caution of a convention says (`conventions.WHEN`); own ids are
found before a run is judged."""


def _all_relevant(run: Scored) -> bool:
    r = run.rankings
    other = (r.pool_grade >= 0) & (r.pool_grade < 1)
    return bool((np.bincount(r.pool_query[other], minlength=len(r)) == 0).any())


def _unlisted(run: Scored) -> bool:
    r = run.rankings
    return int((r.pool_grade >= 1).sum()) > int((r.hit_grade >= 1).sum())


ABOUT: tuple[Callable[[Exports], list[str]], ...] = (
    _recall_below_one,
    _unlike_the_library,
    _tie_ends,
    about_weights,
)
"""What is looked at: each gives its sentences about an evaluation."""
