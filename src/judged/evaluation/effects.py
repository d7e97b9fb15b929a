"""How far the numbers of an evaluation might be others: by ties, by results that nobody judged, by
lists that end early."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from judged.arrays import ordinals
from judged.errors import PolicyError
from judged.evaluation.ranges import tie_ends
from judged.evaluation.scores import UNJUDGED_ENDS, is_bounded
from judged.matching.variants import Variants, uncondensed
from judged.measures import parse_measure
from judged.measures.orders import tied_queries
from judged.measures.spec import Settled
from judged.rankings.blocks import concatenated
from judged.rankings.rankings import Rankings
from judged.statistics.aggregates import mean
from judged.text import counted, listed

if TYPE_CHECKING:
    from judged.arrays import Floats
    from judged.evaluation.exports import Exports
    from judged.evaluation.scores import Scored
    from judged.evaluation.table import Look
    from judged.measures import Measure

MOST_HITS = 1_000_000
"""Ties of queries with more hits than these in all are not looked into: it would take long."""
TOGETHER = 200_000
"""Hits of runs whose ties are looked into at once."""
MOST_NAMED = 4
"""How many measures one sentence names."""


@dataclass(frozen=True)
class Moved:
    """How far ties move a number."""

    by: float
    """The farther of the two ends; NaN where it is not known."""
    sure: bool
    """Whether no order of the ties goes further."""
    seen: bool
    """Whether the table would show another number."""


def ties(evaluation: Exports, look: Look) -> list[str]:
    """The measures that another order of the tied results would show another number of."""
    if evaluation.policy.ties not in ("id", "input") or "worst" in evaluation.others:
        return []
    farthest: dict[Measure, Moved] = {}
    for measure, moved in _moved(evaluation, look):
        known = farthest.get(measure)
        if moved.seen and (known is None or not moved.by <= known.by):
            farthest[measure] = moved
    if not farthest:
        return []
    names = {m: look.name(evaluation.label(m), m) for m in farthest}
    if unknown := [names[m] for m, moved in farthest.items() if math.isnan(moved.by)]:
        return [f"Ties may move {listed(unknown)}: see --tie-range."]
    order = sorted(farthest, key=lambda measure: -farthest[measure].by)
    said = []
    for measure in order[:MOST_NAMED]:
        far = look.amount(farthest[measure].by, measure)
        how = f"up to {far}" if farthest[measure].sure else f"{far} or more"
        said.append(f"{names[measure]} by {how}")
    if more := len(order) - len(said):
        said.append(f"{counted(more, 'other measure')} by less")
    return [f"Ties move {listed(said)}: see --tie-range."]


def _moved(evaluation: Exports, look: Look) -> Iterator[tuple[Measure, Moved]]:
    """What ties do to each measure of each run, where they do anything and are known."""
    unknown = dict.fromkeys(evaluation.measures, Moved(math.nan, sure=False, seen=True)).items()
    together: list[tuple[Scored, Rankings]] = []
    hits = 0
    for run in evaluation.runs:
        kept = run.rankings
        if kept.hit_tie_first is None:
            continue
        try:
            r = Variants(kept).under("expected")
        except PolicyError:  # a cut through a tie, whose unjudged results were removed
            yield from unknown
            continue
        tied = tied_queries(r)
        if int(tied[r.hit_query].sum()) > MOST_HITS:
            yield from unknown
        elif tied.any():
            together.append((run, r))
            hits += len(r.hit_query)
        if hits > TOGETHER:
            yield from _moved_together(evaluation, together, look)
            together, hits = [], 0
    yield from _moved_together(evaluation, together, look)


def _moved_together(
    evaluation: Exports, runs: Sequence[tuple[Scored, Rankings]], look: Look
) -> Iterator[tuple[Measure, Moved]]:
    """Of runs that have ties, all at once: of many small ones each would take as long as all."""
    if not runs:
        return
    every = concatenated([replace(r, findings=None) for _, r in runs], None)
    known = {m: np.concatenate([run.values[m] for run, _ in runs]) for m in evaluation.measures}
    asked = evaluation.measures, evaluation.policy, evaluation.convention
    ends = np.cumsum([len(r) for _, r in runs]).tolist()
    for measure, found in tie_ends(known, every, *asked).items():
        for (run, r), end in zip(runs, ends, strict=True):
            at = slice(end - len(r), end)
            if measure.spec.made_of is None:
                counts = ~np.isnan(known[measure][at])
                weights = r.weights_of(counts)
                settled = (
                    Settled(side[at][counts], counts, np.array, weights)
                    for side in (found.low, found.high)
                )
                sides = [measure.summarise(None, each) for each in settled]
            else:
                own = found.part(at.start, at.stop)
                both = (own.by_worth(measure, *asked[1:], best=best) for best in (False, True))
                sides = [math.nan if side is None else side.summary for side in both]
            corrected = run.corrections.get(measure)
            number = run.summary[measure] if corrected is None else corrected.cheap
            seen = any(look.number(side, measure) != look.number(number, measure) for side in sides)
            far = max((abs(side - number) for side in sides if side != number), default=0.0)
            sure = not found.loose[at].any()
            yield measure, Moved(far, sure=sure, seen=seen or math.isnan(far))


def cutoffs(evaluation: Exports) -> list[int]:
    """The ranks at which the measures that rate relevance stop looking."""
    asked = (
        measure.params.get(str(measure.spec.at))
        for measure in evaluation.measures
        if measure.spec.at == "k" and measure.spec.rates_relevance
    )
    return sorted({k for k in asked if isinstance(k, int)})


def unjudged(evaluation: Exports) -> list[str]:
    """How much was judged of what the measures look at; nothing where judgements are a list of what
    is relevant, for then that says no more than precision does."""
    if evaluation.policy.unjudged == "removed":
        return []
    runs = [run.rankings for run in evaluation.runs if _tells_irrelevant(run.rankings)]
    about: dict[str, list[str]] = {}
    for k in cutoffs(evaluation) if runs else ():
        share = parse_measure("Judged")(k=k)
        found = [(_mean(share.compute(uncondensed(r))), r.name) for r in runs]
        (least, worst), (most, best) = min(found), max(found)
        if least < 1:
            low, high = _percent(least), _percent(most)
            told = low if low == high else f"{low} ({worst}) to {high} ({best})"
            about.setdefault(told, []).append(f"judged@{k}")
    said = [
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} {told}"
        for told, names in about.items()
    ]
    return [f"{'; '.join(said)}: what nobody judged counts as not relevant."] if said else []


def _tells_irrelevant(r: Rankings) -> bool:
    """Whether somebody judged items to be irrelevant, and not all items are judged."""
    return not r.complete and bool((r.pool_grade == 0).any())


def _mean(values: Floats) -> float:
    return 1.0 if np.isnan(values).all() else float(np.nanmean(values))


def _percent(share: float) -> str:
    """A share in percent; what is not whole never looks so."""
    return f"{math.floor(share * 1000) / 10:.1f}%"


def short_lists(evaluation: Exports) -> list[list[str]]:
    """For each run the lists that end before a measure stops looking, though relevant items are
    left that would raise it."""
    return [_short(evaluation, run) for run in evaluation.runs]


def _short(evaluation: Exports, run: Scored) -> list[str]:
    r = run.rankings.whole or run.rankings
    known = cutoffs(evaluation)
    shortest = r.retrieved[~r.missing].min(initial=max(known, default=0))
    touched, names, deep = np.zeros(len(r), bool), [], set()
    for measure in evaluation.measures:
        k = measure.params.get(str(measure.spec.at))
        if k not in known or k <= shortest or not measure.spec.rates_relevance:
            continue
        rel = measure.params.get("rel", 1)
        left = r.relevant(rel) > r.total(r.hit_query, r.hit_grade >= rel)
        could = left & ~r.missing & (r.retrieved < k)
        could &= run.values[measure] != measure.spec.range[measure.spec.higher_is_better]
        if could.any():
            touched |= could
            names.append(evaluation.label(measure))
            deep.add(k)
    if not names:
        return []
    many = counted(int(touched.sum()), "query has", "queries have")
    fewer = f"fewer than {listed([f'{k:,}' for k in sorted(deep)], 'or')} results"
    return [f"{many} {fewer} and relevant items left: longer lists could raise {listed(names)}."]


FEWEST_LISTS = 3
"""Number of equally long lists that is unlikely to be chance."""
_VISIBLE = 0.005
"""Smallest loss of the best possible value that is worth a warning."""


def ended_alike(evaluation: Exports) -> list[list[str]]:
    """Return for each run what it means that all lists end at one length, though queries have more
    relevant items."""
    return [_ended_alike(evaluation, run) for run in evaluation.runs]


def _ended_alike(evaluation: Exports, run: Scored) -> list[str]:
    r = run.rankings
    if r.depth is not None or r.unjudged == "removed" or r.subtopics is not None:
        return []
    answered = np.flatnonzero(r.retrieved)
    lengths = r.retrieved[answered]
    if len(lengths) < FEWEST_LISTS or lengths.min() != lengths.max():
        return []
    length = int(lengths[0])
    more = int((r.relevant(1) > length).sum())
    if not more or (r.collection is not None and (r.collection[answered] <= length).any()):
        return []
    some = r.take(answered)
    whole = _best_lists(some, int(np.bincount(some.pool_query).max()))
    cut = _best_lists(some, length)
    ceilings: dict[str, list[str]] = {}
    deep = ""
    for measure in evaluation.measures:
        spec, params = measure.spec, measure.params
        if isinstance(params.get("k"), int) or not (spec.rates_relevance and spec.higher_is_better):
            continue
        if params.get("aggregate") != "mean" or spec.made_of is not None:
            continue
        best, reached = measure.compute(whole), measure.compute(cut)
        counts = ~np.isnan(best + reached)
        ceiling = mean(reached[counts], some.weights_of(counts)) if counts.any() else math.nan
        if not mean(best[counts], some.weights_of(counts)) - ceiling > _VISIBLE:
            continue
        ceilings.setdefault(f"{ceiling:.2g}", []).append(evaluation.label(measure))
        deep = deep or (f", such as {measure(k=length)}" if spec.at == "k" else "")
    if not ceilings:
        return []
    said = [f"{listed(names)} cannot exceed {at_best}" for at_best, names in ceilings.items()]
    queries = counted(more, "query has", "queries have")
    results = counted(length, "result")
    return [
        f"Every list ends after {results}, and {queries} more relevant items than that, so "
        f"{listed(said)}. Give longer lists, or report the depth{deep}."
    ]


def _best_lists(r: Rankings, length: int) -> Rankings:
    """Return lists of one length with the best of what is judged first."""
    place = ordinals(r.pool_query, len(r))
    there = place <= length
    return Rankings(
        queries=r.queries,
        retrieved=np.full(len(r), length),
        hit_query=r.pool_query[there],
        hit_rank=place[there],
        hit_grade=r.pool_grade[there],
        pool_query=r.pool_query,
        pool_grade=r.pool_grade,
        missing=np.zeros(len(r), bool),
        collection=r.collection,
    )


def scenarios(evaluation: Exports) -> list[str]:
    """The measures whose values for unjudged results are no bounds."""
    if not set(UNJUDGED_ENDS) <= set(evaluation.others):
        return []
    loose = [
        evaluation.label(measure)
        for measure in evaluation.measures
        if not all(is_bounded(run, measure, evaluation.policy) for run in evaluation.runs)
    ]
    if not loose:
        return []
    return [
        f"The values of {listed(loose)} for unjudged results are two scenarios, not bounds: where "
        "some of these results are relevant and others are not, a value may be outside them."
    ]
