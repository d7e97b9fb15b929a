"""The numbers behind the advice: of every measure how far it can still move, and what it shows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from judged.arrays import Floats, ordinals
from judged.errors import InputError
from judged.evaluation.advice.result import Advice
from judged.evaluation.advice.rows import Lists, Row
from judged.measures import Measure, parse_measure
from judged.measures.measure import read_all
from judged.rankings.rankings import Rankings

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.evaluation.evaluation import Evaluation
    from judged.options import MeasuresLike

USUAL = (
    "Success@1, Success@5, Success@10, P@1, P@5, P@10, P@20, R@5, R@10, R@20, R@100, RR, nDCG@5, "
    "nDCG@10, nDCG@20, nDCG@100, nDCG, AP@10, AP@100, AP, Rprec"
)
COUNTS = ("NumRel", "NumRet")
CLOSE = 1e-9
"""Values that differ by no more are the same."""


@dataclass(frozen=True)
class Wanted:
    """The measures that are looked at, each with what it is called."""

    labels: dict[Measure, str]

    @property
    def measures(self) -> tuple[Measure, ...]:
        return tuple(self.labels)

    @property
    def computed(self) -> list[str | Measure]:
        """The measures, how much of each depth was judged, and how long lists and pools are."""
        depths = sorted({k for k in map(cutoff, self.labels) if k})
        shares = (f"Judged@{k}" for k in depths)
        return [*self.labels.values(), *shares, *COUNTS]


def wanted(measures: MeasuresLike | None) -> Wanted:
    """What is looked at; measures that only count or describe cannot be advised on."""
    asked = read_all(USUAL if measures is None else measures)
    for measure in asked:
        if not measure.spec.rates_relevance or not all(map(np.isfinite, measure.spec.range)):
            raise InputError(
                f"{measure} has no best value that a query could reach, so there is nothing to "
                "advise on; leave it out."
            )
    return Wanted(asked)


def cutoff(measure: Measure) -> int | None:
    """How deep a measure looks, where that is a number."""
    depth = dict(measure.items).get(measure.spec.at or "")
    return depth if isinstance(depth, int) else None


def advice_of(found: Evaluation, asked: Wanted, level: float) -> Advice:
    """The rows and what is known of the lists."""
    best = _best_first(found)
    ideal, ceilings = _ideal(found, asked, best), _ceilings(found, asked, best)
    alone = replace(found, measures=asked.measures)
    comparison = alone.compare(level=level, missing="zero") if len(found.runs) > 1 else None
    lists = _lists(found)
    rows = [
        replace(
            _row(found, measure, ideal[measure], comparison, level),
            ceiling=ceilings[measure],
            length=lists.length,
            relevant=lists.relevant,
            judged_queries=lists.queries,
        )
        for measure in asked.measures
    ]
    return Advice(tuple(rows), lists, tuple(run.name for run in found.runs), level)


def _best_first(found: Evaluation) -> Rankings | None:
    """Return the judged items of each query, the best grade first, if they are known."""
    kept = _kept(found)
    if kept is None:
        return None
    count = len(kept.queries)
    listed = np.bincount(kept.pool_query, minlength=count)
    # A query that no run has is left out of the values under missing=skip, so also of the ceiling.
    skipped = found.policy.missing == "skip"
    lacking = np.logical_and.reduce([run.rankings.missing for run in found.runs])
    return Rankings(
        queries=kept.queries,
        retrieved=np.maximum(listed, kept.retrieved),
        hit_query=kept.pool_query,
        hit_rank=ordinals(kept.pool_query, count),
        hit_grade=kept.pool_grade,
        pool_query=kept.pool_query,
        pool_grade=kept.pool_grade,
        missing=lacking if skipped else np.zeros(count, bool),
        collection=kept.collection,
    )


def _ideal(found: Evaluation, asked: Wanted, best: Rankings | None) -> dict[Measure, Floats]:
    """Return the best value that each query can have, NaN where it has nothing to find."""
    if best is None:
        size = len(found.runs[0].rankings)
        return {measure: np.full(size, _end(measure)) for measure in asked.measures}
    return {measure: measure.compute(best) for measure in asked.measures}


def _ceilings(found: Evaluation, asked: Wanted, best: Rankings | None) -> dict[Measure, float]:
    """Return the numbers of a perfect system, summed up under the same policy as the runs."""
    from judged.evaluation.evaluation import evaluate_rankings

    if best is None:
        return {measure: _end(measure) for measure in asked.measures}
    # Everything in the ideal lists is judged, and nothing in them ties.
    policy = replace(found.policy, ties=best.ties, unjudged=best.unjudged)
    summary = evaluate_rankings([best], list(asked.measures), policy=policy).runs[0].summary
    return {measure: float(summary[measure]) for measure in asked.measures}


def _end(measure: Measure) -> float:
    return float(measure.spec.range[1 if measure.spec.higher_is_better else 0])


def _kept(found: Evaluation) -> Rankings | None:
    """Rankings that tell what each query can reach, where there are any."""
    kept = next(iter(found.rankings.values()), None)
    return None if kept is None or kept.subtopics is not None else kept


def _row(
    found: Evaluation,
    measure: Measure,
    ideal: Floats,
    comparison: Comparison | None,
    level: float,
) -> Row:
    values = np.array([run.values[measure] for run in found.runs])
    worst = measure.spec.range[0 if measure.spec.higher_is_better else 1]
    # Queries with nothing to find have one value whatever a system does.
    counted = ~np.isnan(values).any(axis=0) & ~np.isnan(ideal) & (np.abs(ideal - worst) > CLOSE)
    values, ideal = values[:, counted], ideal[counted]
    size = max(values.shape[1], 1)
    at_best = (np.abs(values - ideal) <= CLOSE).all(axis=0).sum() / size
    at_worst = (np.abs(values - worst) <= CLOSE).all(axis=0).sum() / size
    summaries = [run.summary[measure] for run in found.runs]
    interval = max(
        (found.interval(measure, run.name, level=level) for run in found.runs),
        key=lambda each: (each.high - each.low) if each.known else -1.0,
    )
    k = cutoff(measure)
    label = found.label(measure)
    row = Row(
        measure=label,
        k=k,
        queries=values.shape[1],
        lowest=min(summaries),
        highest=max(summaries),
        reachable=float(ideal.mean()) if len(ideal) else float("nan"),
        at_best=float(at_best),
        at_worst=float(at_worst),
        half_width=(interval.high - interval.low) / 2 if interval.known else None,
        judged=None if k is None or not _tells_irrelevant(found) else min(_judged(found, k)),
    )
    return row if comparison is None else _compared(row, values, comparison, label)


def _tells_irrelevant(found: Evaluation) -> bool:
    """Return whether judgements hold irrelevant items too: if not, unlisted items are irrelevant
    rather than unjudged."""
    about = found.runs[0].rankings
    return not about.complete and bool((about.grades <= 0).any())


def _judged(found: Evaluation, k: int) -> list[float]:
    share = parse_measure(f"Judged@{k}")
    return [run.summary[share] for run in found.runs]


def _compared(row: Row, values: Floats, comparison: Comparison, label: str) -> Row:
    pairs = [pair for pair in comparison.rows if pair.measure == label]
    shown = [pair for pair in pairs if pair.verdict in ("better", "worse")]
    effects = [abs(pair.effect) for pair in pairs if pair.effect is not None]
    seen = [pair.detectable for pair in pairs if pair.detectable is not None]
    apart = (np.ptp(values, axis=0) > CLOSE).sum() / max(values.shape[1], 1)
    return replace(
        row,
        differ=float(apart),
        pairs=len(pairs),
        separated=len(shown),
        effect=float(np.median(effects)) if effects else None,
        detectable=float(np.median(seen)) if seen else None,
    )


def _lists(found: Evaluation) -> Lists:
    """How many relevant items queries have, and how long lists are."""
    relevant = found.runs[0].values[parse_measure("NumRel")]
    lengths = np.concatenate([run.values[parse_measure("NumRet")] for run in found.runs])
    relevant = relevant[~np.isnan(relevant)]
    kept = _kept(found)
    grades = None if kept is None else kept.pool_grade
    return Lists(
        queries=len(relevant),
        relevant=float(np.median(relevant)) if len(relevant) else 0.0,
        most_relevant=float(relevant.max(initial=0)),
        length=float(np.nanmedian(lengths)) if len(lengths) else 0.0,
        graded=grades is not None and len(np.unique(grades[grades > 0])) > 1,
        known=kept is not None,
    )
