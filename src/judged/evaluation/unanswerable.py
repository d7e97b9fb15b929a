"""Queries without relevant items: how many a run answers, and how scores separate them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats
from judged.errors import InputError, PolicyError
from judged.evaluation.scores import graded_for, nothing_relevant, score_run
from judged.inputs.order import OrderOnly
from judged.matching.ties import uncondensed
from judged.rankings.audit import findings_of
from judged.results import Table
from judged.statistics.samples import mean
from judged.text import counted, percent, plain, shown

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.export import Look
    from judged.evaluation.settings import EvaluationSettings
    from judged.measures.registry import Mask
    from judged.rankings.rankings import Rankings
    from judged.statistics.intervals import Interval


@dataclass(frozen=True)
class Unanswerable:
    """The results of a run for queries without relevant items, which are left out of means."""

    queries: tuple[str, ...]
    """The queries without relevant items."""
    answered_queries: tuple[str, ...]
    """Queries without relevant items for which the run has results."""
    answerable: int
    """Number of queries with relevant items."""
    answered: float
    """The weighted share of queries without relevant items for which the run returned a result;
    NaN without such queries."""
    left_empty: float
    """The share of the other queries for which the run returned no result."""
    threshold: float | None = None
    """A result counts as returned if its score is at least this; None: every result does."""
    auroc: Interval | None = None
    """The area under the ROC curve: the chance that the best score of a query with relevant items
    is above that of one without. Ties count half, and no result is below all scores. None if
    unknown."""
    note: str = ""
    """The reason for a missing AUROC or interval."""

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        from judged.options import LEVEL

        entry: dict[str, Any] = {
            "queries": len(self.queries),
            "answered": plain(self.answered),
            "answerable": self.answerable,
            "left_empty": plain(self.left_empty),
            "threshold": self.threshold,
            "auroc": {**self.auroc.to_dict(), "level": LEVEL} if self.auroc else None,
            "note": self.note or None,
        }
        if per_query:
            answered = set(self.answered_queries)
            entry["per_query"] = {query: query in answered for query in self.queries}
        return entry


def without_unanswerable(evaluation: Evaluation, threshold: float | None) -> Evaluation:
    """Return the evaluation without the queries that have no relevant items."""
    policy = evaluation.policy
    if policy.empty in ("one", "error"):
        raise PolicyError(
            f"empty={policy.empty} says what queries with nothing relevant count, and unanswerable "
            "takes them out; choose empty=skip, or leave out unanswerable."
        )
    settings = replace(evaluation.settings, policy=replace(policy, empty="skip"))
    runs = []
    for run in evaluation.runs:
        r = run.rankings
        apart, nothing = inspect_unanswerable(r, settings, threshold)
        answerable = _without(r, nothing) if nothing.any() else r
        runs.append(replace(score_run(answerable, settings), unanswerable=apart))
    return replace(evaluation, runs=tuple(runs), policy=settings.policy)


def inspect_unanswerable(
    r: Rankings, settings: EvaluationSettings, threshold: float | None
) -> tuple[Unanswerable, Mask]:
    """Return what a run does with queries without relevant items, and a mask of these queries."""
    graded = graded_for(r, settings.measures, settings.convention)
    masks = [nothing_relevant(measure, regraded) for measure, regraded in graded.items()]
    nothing = np.logical_and.reduce(masks)
    best = None if r.best_score is None else np.asarray(r.best_score)  # searched now, if lazy
    if nothing.all():
        raise PolicyError(
            "nothing is relevant for any of the "
            f"{counted(len(r), 'judged query', 'judged queries')}"
            ", so all would be left out of the means; leave out unanswerable."
        )
    if threshold is not None and best is None:
        raise InputError(
            f"{r.name}: the threshold is compared with scores, and there are none: "
            f"{_unscored(r)}. Leave it out."
        )
    weights = np.ones(len(nothing)) if r.weights is None else r.weights.values
    counts = (weights > 0) & ~(r.missing & (settings.policy.missing == "skip"))
    # An unjudged result that was removed was returned all the same.
    returned = (r.whole or r).retrieved > 0
    if threshold is not None and best is not None:
        returned = best >= threshold
    bad, good = nothing & counts, ~nothing & counts
    area, note = _separation(best, bad, good, weights, _unscored(r))
    apart = Unanswerable(
        queries=tuple(r.queries[at] for at in np.flatnonzero(bad)),
        answered_queries=tuple(r.queries[at] for at in np.flatnonzero(bad & returned)),
        answerable=int(good.sum()),
        answered=_share(returned[bad], weights[bad]),
        left_empty=_share(~returned[good], weights[good]),
        threshold=threshold,
        auroc=area,
        note=note,
    )
    return apart, nothing


def _share(true: Mask, weights: Floats) -> float:
    return mean(true.astype(np.float64), weights) if len(true) else math.nan


def _unscored(r: Rankings) -> str:
    if any(isinstance(note, OrderOnly) for note in findings_of(r).notes):
        return "the run is an order without scores"
    return "the rankings were made without scores"


def _separation(
    best: Floats | None, bad: Mask, good: Mask, weights: Floats, unscored: str
) -> tuple[Interval | None, str]:
    """Return the AUROC of the best scores, and a note."""
    if not bad.any() or not good.any():
        kind = "with" if bad.any() else "without"
        return None, f"no AUROC: there is no query {kind} something relevant"
    if best is None:
        return None, f"no AUROC: {unscored}"
    from judged.statistics.intervals import auroc

    # Places in the order of all scores: no result is 0, below a score of minus infinity too.
    place = np.where(
        np.isnan(best), 0.0, 1 + np.searchsorted(np.unique(best[~np.isnan(best)]), best)
    )
    sides = (place[good], place[bad]), (weights[good], weights[bad])
    found = auroc(*sides[0], weights=sides[1])
    few = min(int(good.sum()), int(bad.sum()))
    if few < 2:
        which = "with" if good.sum() < 2 else "without"
        return (
            found,
            f"no interval of the AUROC: there is only one query {which} something relevant",
        )
    if len(np.unique(place[good | bad])) == 1:
        return found, "all best scores are the same, so they tell nothing apart"
    return found, ""


def _without(r: Rankings, nothing: Mask) -> Rankings:
    """Return the rankings of the other queries, with their own findings."""
    kept = r.take(np.flatnonzero(~nothing))
    known = findings_of(r)
    listed = int((~r.missing & nothing).sum())
    findings = known.recount(uncondensed(kept), complete=kept.complete)
    return replace(kept, findings=replace(findings, run_queries=known.run_queries - listed))


HEADER = ["run", "unanswerable", "wrongly answered", "answerable", "left empty", "AUROC"]
"""The columns of the table; an answer to a query with nothing relevant is wrong."""
SHARES = frozenset(HEADER) - {"run", "unanswerable", "answerable"}


def block(evaluation: Evaluation, look: Look) -> list[Table]:
    """Return the table of queries without relevant items, a row per run."""
    rows = []
    for run in evaluation.runs:
        if (apart := run.unanswerable) is None:
            return []
        area = apart.auroc
        known = (math.nan,) * 3 if area is None else (area.estimate, area.low, area.high)
        shares = (apart.answered, apart.left_empty, *known)
        form = percent if look.percent else shown
        answered, empty, *bounds = (form(share, look.decimals_of(True)) for share in shares)
        counts = f"{len(apart.queries):,}", f"{apart.answerable:,}"
        rows.append([run.name, counts[0], answered, counts[1], empty, _with_interval(*bounds)])
    names = [f"{name} %" if look.percent and name in SHARES else name for name in HEADER]
    return [Table(names, rows, {"run"})]


def _with_interval(value: str, low: str, high: str) -> str:
    return value if low == high == shown(None) else f"{value} [{low}, {high}]"


def apart_lines(evaluation: Evaluation) -> list[str]:
    """Return an explanation of the table of queries without relevant items."""
    first = evaluation.runs[0].unanswerable
    assert first is not None
    from judged.options import LEVEL
    from judged.statistics.intervals import AUROC_METHOD

    returned = "a result" if first.threshold is None else f"a score of at least {first.threshold:g}"
    lines = [
        "unanswerable: queries with nothing relevant are in no mean; they count as answered where "
        f"there is {returned}, others as left empty where there is none; AUROC is how often the "
        "best score of an answerable query is above that of an unanswerable one (ties half, no "
        f"result below all), with a {LEVEL:.0%} interval: {AUROC_METHOD}"
    ]
    if evaluation.runs[0].rankings.weights is not None:
        lines[0] += "; shares and AUROC count queries by their weights"
    return [*lines, *(f"unanswerable: {text}" for text in apart_notes(evaluation))]


def apart_notes(evaluation: Evaluation) -> list[str]:
    """Return why a run has no AUROC, or no interval of it."""
    several = len(evaluation.runs) > 1
    return [
        f"{run.name}: {run.unanswerable.note}" if several else run.unanswerable.note
        for run in evaluation.runs
        if run.unanswerable is not None and run.unanswerable.note
    ]
