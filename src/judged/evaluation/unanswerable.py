"""Queries with nothing relevant, looked at apart: which of them a run answers, and whether its best
score tells them from the others."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats
from judged.errors import InputError, PolicyError
from judged.evaluation.scores import graded_for, nothing_relevant
from judged.inputs.order import OrderOnly
from judged.matching.variants import uncondensed
from judged.rankings.audit import Findings, findings_of
from judged.results import Table
from judged.statistics.samples import mean
from judged.text import counted, percent, plain, shown

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.export import Look
    from judged.evaluation.settings import Conventional
    from judged.measures import Measure
    from judged.measures.registry import Mask
    from judged.policy import Policy
    from judged.rankings.rankings import Rankings
    from judged.statistics.intervals import Auroc


@dataclass(frozen=True)
class Unanswerable:
    """What a run does with the judged queries that have nothing relevant; they are in no mean.

    >>> from judged import evaluate
    >>> judgements = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {}, "q4": {}}
    >>> run = {"q1": {"a": 0.9}, "q2": {"a": 0.4}, "q3": {"a": 0.5}, "q4": {}}
    >>> found = evaluate(judgements, run, "RR").unanswerable()
    >>> found.answered, found.left_empty, found.auroc.value
    (0.5, 0.0, 0.75)
    """

    queries: tuple[str, ...]
    """The queries with nothing relevant."""
    answered_queries: tuple[str, ...]
    """Those of them for which something was returned."""
    answerable: int
    """How many queries have something relevant."""
    answered: float
    """The share of queries with nothing relevant for which something was returned, by their
    weights where they have some; NaN where there are none."""
    left_empty: float
    """The share of the other queries for which nothing was returned."""
    threshold: float | None = None
    """A result counts as returned if its score is at least this; None: every result does."""
    auroc: Auroc | None = None
    """How often the best score of a query with something relevant is above that of one with
    nothing relevant: ties count half, and no result is below all scores. None where it cannot be
    said."""
    note: str = ""
    """Why there is no AUROC, or no interval of it."""

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """As plain values that JSON can hold.

        Parameters
        ----------
        per_query : bool, optional
            Whether the queries are named.

        >>> Unanswerable(("q",), (), 1, 0.0, 0.0).to_dict()["answered"]
        0.0
        """
        from judged.options import LEVEL
        from judged.statistics.intervals import AUROC_METHOD

        entry: dict[str, Any] = {
            "queries": len(self.queries),
            "answered": plain(self.answered),
            "answerable": self.answerable,
            "left_empty": plain(self.left_empty),
            "threshold": self.threshold,
            "auroc": {**self.auroc.to_dict(), "level": LEVEL, "method": AUROC_METHOD}
            if self.auroc
            else None,
            "note": self.note or None,
        }
        if per_query:
            answered = set(self.answered_queries)
            entry["per_query"] = {query: query in answered for query in self.queries}
        return entry


def apart_policy(policy: Policy) -> Policy:
    """The policy with queries that have nothing relevant left out of all means."""
    if policy.empty in ("one", "error"):
        raise PolicyError(
            f"empty={policy.empty} says what queries with nothing relevant count, and unanswerable "
            "takes them out; choose empty=skip, or leave out unanswerable."
        )
    return replace(policy, empty="skip")


def unanswerable_queries(
    r: Rankings, measures: tuple[Measure, ...], convention: Conventional | None
) -> Mask:
    """Return the queries without relevant items for any of the measures."""
    graded = graded_for(r, measures, convention)
    return reduce(np.logical_and, (nothing_relevant(m, own) for m, own in graded.items()))


def inspect_unanswerable(
    r: Rankings, nothing: Mask, threshold: float | None, *, skip_missing: bool
) -> Unanswerable:
    """Return what a run does with the queries of `nothing`, which have no relevant items."""
    best = None if r.best_score is None else np.asarray(r.best_score)  # searched now, if lazy
    if nothing.all():
        raise PolicyError(
            "nothing is relevant for any of the "
            f"{counted(len(r), 'judged query', 'judged queries')}"
            ", so there are none to evaluate beside them; leave out unanswerable."
        )
    if threshold is not None and best is None:
        raise InputError(
            f"{r.name}: the threshold is compared with scores, and there are none: "
            f"{_unscored(r)}. Leave it out."
        )
    weights = np.ones(len(nothing)) if r.weights is None else r.weights.values
    counts = (weights > 0) & ~(r.missing & skip_missing)
    # An unjudged result that was removed was returned all the same.
    returned = (r.whole or r).retrieved > 0
    if threshold is not None and best is not None:
        returned = best >= threshold
    bad, good = nothing & counts, ~nothing & counts
    area, note = _separation(best, bad, good, weights, _unscored(r))
    return Unanswerable(
        queries=tuple(r.queries[at] for at in np.flatnonzero(bad)),
        answered_queries=tuple(r.queries[at] for at in np.flatnonzero(bad & returned)),
        answerable=int(good.sum()),
        answered=_share(returned[bad], weights[bad]),
        left_empty=_share(~returned[good], weights[good]),
        threshold=threshold,
        auroc=area,
        note=note,
    )


def _share(true: Mask, weights: Floats) -> float:
    return mean(true.astype(np.float64), weights) if len(true) else math.nan


def _unscored(r: Rankings) -> str:
    if any(isinstance(note, OrderOnly) for note in findings_of(r).notes):
        return "the run is an order without scores"
    return "the rankings were made without scores"


def _separation(
    best: Floats | None, bad: Mask, good: Mask, weights: Floats, unscored: str
) -> tuple[Auroc | None, str]:
    """The AUROC of the best scores, and what has to be said of it."""
    if not bad.any() or not good.any():
        kind = "without" if not bad.any() else "with"
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


_OF_RANKINGS = (
    *("judged_queries", "run_queries", "missing_queries", "listed", "results"),
    *("judged_results", "judged_at_10", "tied_results", "tied_queries", "short_lists"),
    "nothing_relevant",
)
"""What findings can see in rankings alone."""


def without(r: Rankings, nothing: Mask) -> Rankings:
    """The rankings of the other queries, with an audit of these."""
    kept = r.take(np.flatnonzero(~nothing))
    known = findings_of(r)
    listed = int((~r.missing & nothing).sum())
    seen = Findings.of(
        uncondensed(kept), run_queries=known.run_queries - listed, complete=kept.complete
    )
    return replace(
        kept, findings=replace(known, **{name: getattr(seen, name) for name in _OF_RANKINGS})
    )


HEADER = ["run", "unanswerable", "wrongly answered", "answerable", "left empty", "AUROC"]
"""The columns of the table; an answer to a query with nothing relevant is wrong."""
SHARES = frozenset(HEADER) - {"run", "unanswerable", "answerable"}


def block(evaluation: Evaluation, look: Look) -> list[Table]:
    """The table of queries with nothing relevant, a row per run, where it was asked for."""
    rows = []
    for run in evaluation.runs:
        if (apart := run.unanswerable) is None:
            return []
        area = apart.auroc
        known = (math.nan,) * 3 if area is None else (area.value, area.low, area.high)
        shares = (apart.answered, apart.left_empty, *known)
        form = percent if look.percent else shown
        answered, empty, *bounds = (form(share, look.decimals_of(True)) for share in shares)
        counts = f"{len(apart.queries):,}", f"{apart.answerable:,}"
        rows.append([run.name, counts[0], answered, counts[1], empty, _with_interval(*bounds)])
    names = [f"{name} %" if look.percent and name in SHARES else name for name in HEADER]
    return [Table(names, rows, {"run"})]


def _with_interval(value: str, low: str, high: str) -> str:
    """A number, and its interval where it has one."""
    return value if low == high == shown(None) else f"{value} [{low}, {high}]"


def apart_lines(evaluation: Evaluation) -> list[str]:
    """What the table of queries with nothing relevant holds, in words."""
    first = evaluation.runs[0].unanswerable
    if first is None:
        return []
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
    """Why a run has no AUROC there, or no interval of it."""
    several = len(evaluation.runs) > 1
    return [
        f"{run.name}: {run.unanswerable.note}" if several else run.unanswerable.note
        for run in evaluation.runs
        if run.unanswerable is not None and run.unanswerable.note
    ]
