"""Warnings: what could mislead readers of the values, and how much assumptions change them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from judged.arrays import each_once, ordinals
from judged.errors import PolicyError, warn
from judged.evaluation.ranges import tie_ends
from judged.evaluation.scores import UNJUDGED_ENDS, about_runs, is_bounded
from judged.matching.variants import Variants
from judged.measures import parse_measure
from judged.measures.registry import Settled
from judged.measures.ties import LIMIT, tied_queries
from judged.rankings.audit import findings_of
from judged.rankings.rankings import Rankings
from judged.statistics.samples import about_few_units, effective_units, mean
from judged.text import counted, few, listed

if TYPE_CHECKING:
    from judged.arrays import Floats
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.export import Look
    from judged.evaluation.scores import Scored
    from judged.measures import Measure
    from judged.policy import Policy
    from judged.results import Result

    AnyResult = TypeVar("AnyResult", bound=Result)

SEE_TIE_RANGE = " (see tie_range, --tie-range)"
SEE_UNJUDGED_RANGE = " (see unjudged_range, --unjudged-range)"
SEE_UNANSWERABLE = " (see unanswerable, --unanswerable)"


def warnings(evaluation: Evaluation, look: Look, *, ties: bool = True) -> list[str]:
    """Return all warnings, most serious first; `ties` includes the effect of ties."""
    return [
        *evaluation._grave(),
        *about_runs(evaluation, short_lists(evaluation)),
        *unjudged(evaluation),
        *(tie_effects(evaluation, look) if ties else ()),
        *scenarios(evaluation),
    ]


def grave(evaluation: Evaluation) -> list[str]:
    """Return the warnings about the data, without those about ranges of values."""
    return [text for check in CHECKS for text in check(evaluation)]


def covered(evaluation: Evaluation) -> set[str]:
    """Return the findings of audits that warnings mention, so that notes need not."""
    names = {"missing_queries", "duplicates_dropped", "short_lists", "judged_at_10"}
    checks = {"nothing_relevant": _nothing_relevant, "fractional_grades": _fractional_grades}
    return names | {name for name, check in checks.items() if check(evaluation)}


def announce_warnings(result: AnyResult) -> AnyResult:
    """Issue the serious warnings of a result as Python warnings, and return the result."""
    for text in result._grave():
        warn(text)
    return result


def _skipped(evaluation: Evaluation) -> list[str]:
    return [f"{name} was skipped: {why}" for name, why in evaluation.skipped.items()]


def _of_the_data(evaluation: Evaluation) -> list[str]:
    """Return the warnings of readers."""
    return about_runs(evaluation, [run.audit.warnings for run in evaluation.runs])


def _missing(evaluation: Evaluation) -> list[str]:
    return about_runs(
        evaluation,
        [
            about_missing(run.audit.missing_queries, len(run.rankings), evaluation.policy)
            if run.audit.missing_queries
            else []
            for run in evaluation.runs
        ],
    )


def about_missing(missing: Sequence[str], number: int, policy: Policy) -> list[str]:
    """Return a warning about the missing queries of a run, if there are any."""
    if not missing:
        return []
    effect = (
        "count as empty lists. Use missing=skip to leave them out"
        if policy.missing == "zero"
        else "are left out of the means"
    )
    return [f"The run has no results for {_some_queries(missing, number)}, which {effect}."]


def _some_queries(queries: Sequence[str], number: int) -> str:
    every = counted(number, "judged query", "judged queries")
    return f"{len(queries):,} of {every} ({few(queries)})"


def _nothing_relevant(evaluation: Evaluation) -> list[str]:
    """Warn about queries without relevant items that count in means."""
    effect = {"zero": "the worst value", "one": "the best value"}.get(evaluation.policy.empty)
    first = evaluation.runs[0]
    if effect is None or not any(mask.any() for mask in first.nothing.values()):
        return []
    r = first.rankings
    counts = np.ones(len(r), bool) if r.weights is None else r.weights.values > 0
    if evaluation.policy.missing == "skip":
        counts &= ~np.logical_and.reduce([run.rankings.missing for run in evaluation.runs])
    by_words: dict[tuple[str, str], list[str]] = {}
    rating = [measure for measure in evaluation.measures if measure.spec.rates_relevance]
    for measure in rating:
        fixed = evaluation.convention.undefined(measure) if evaluation.convention else None
        rows = np.flatnonzero(first.nothing[measure] & counts).tolist()
        if rows:
            queries = _some_queries([r.queries[row] for row in rows], len(r))
            value = effect if fixed is None else f"{fixed:g}"
            by_words.setdefault((queries, value), []).append(evaluation.label(measure))
    return [
        f"No items are relevant for {queries}, which get {value}"
        + (SEE_UNANSWERABLE if len(names) == len(rating) else f" of {listed(names)}")
        + "."
        for (queries, value), names in by_words.items()
    ]


def _duplicates(evaluation: Evaluation) -> list[str]:
    audits = [run.audit for run in evaluation.runs]
    return about_runs(
        evaluation,
        [[a.said()["duplicates_dropped"]] if a.duplicates_dropped else [] for a in audits],
    )


def _fractional_grades(evaluation: Evaluation) -> list[str]:
    """Warn about grades between 0 and 1 that a measure counts as irrelevant."""
    audit = evaluation.runs[0].audit
    if not audit.fractional_grades:
        return []
    grades = evaluation.runs[0].rankings.grades
    lowest = grades[(grades > 0) & (grades < 1)].min(initial=np.inf)
    thresholds = [m.params["rel"] for m in evaluation.measures if "rel" in m.params]
    return [audit.said()["fractional_grades"]] if lowest < max(thresholds, default=0) else []


RATING_GRADES = 4
"""Number of distinct grades from which on they are a rating scale."""


def _ratings(evaluation: Evaluation) -> list[str]:
    """Warn about rating scales without 0, such as 1 to 5, whose low grades count as relevant."""
    grades = evaluation.runs[0].rankings.grades
    if len(grades) < RATING_GRADES or grades.min() <= 0 or grades.max() < RATING_GRADES:
        return []
    lowest, highest = float(grades.min()), float(grades.max())
    names = [
        evaluation.label(measure)
        for measure in evaluation.measures
        if measure.params.get("gain") == "binary"
        or measure.params.get("rel", highest) <= max(1.0, lowest)
    ]
    if not names:
        return []
    return [
        f"Grades go from {lowest:g} to {highest:g}, and low grades count as relevant "
        f"({few(names, 2)}). If they mean dislike, set the lowest relevant grade, such as "
        f"P(rel={np.ceil(0.7 * highest):g})@10."
    ]


def _tie_ends(evaluation: Evaluation) -> list[str]:
    """Name measures whose tie range may be wider than the orders that were tried show."""
    by_run = []
    for run in evaluation.runs:
        unsure = run.others["worst"].unsure if "worst" in run.others else {}
        sentences = []
        if unsure:
            queries = counted(max(unsure.values()), "query has", "queries have")
            sentences.append(
                f"The tie range of {listed(list(map(run.label, unsure)))} may be wider than shown: "
                f"{queries} more than {LIMIT} orders of tied results, and only some were tried."
            )
        by_run.append(sentences)
    return about_runs(evaluation, by_run)


def _relevant(evaluation: Evaluation, measure: Measure) -> tuple[Floats, Floats | None]:
    """Return the numbers of relevant items of queries that have some, and their weights."""
    r = evaluation.runs[0].rankings
    relevant = r.relevant(measure.params["rel"])
    some = relevant > 0
    if r.weights is not None:
        some &= r.weights.values > 0
    return relevant[some], r.weights_of(some)


INSTEAD = {
    "R": "For the hit rate that CLIP papers call Recall@{k}, use Success@{k}.",
    "AP": "AP(norm=capped)@{k} is divided by min(relevant, {k}), AP(norm=retrieved)@{k} by the "
    "relevant items found; both can reach 1.",
}
"""Measures that are divided by all relevant items, and alternatives."""


def _out_of_reach_at_k(evaluation: Evaluation) -> list[str]:
    """Warn about measures at k where queries have more than k relevant items."""
    sentences = []
    for name, advice in INSTEAD.items():
        with_cutoff = [
            measure
            for measure in evaluation.measures
            if measure.spec.name == name
            and measure.params["norm"] == "relevant"
            and isinstance(measure.params["k"], int)
        ]
        if not with_cutoff:
            continue
        measure = min(with_cutoff, key=lambda measure: measure.params["k"])
        k = measure.params["k"]
        relevant, weights = _relevant(evaluation, measure)
        if not relevant.size or relevant.max() <= k or np.median(relevant) <= k:
            continue
        fewest, most = int(relevant.min()), int(relevant.max())
        number = f"{fewest:,}" if fewest == most else f"{fewest:,}–{most:,}"
        ceiling = mean(np.minimum(1, k / relevant), weights)
        sentences.append(
            f"Queries have {number} relevant items, so {evaluation.label(measure)} cannot exceed "
            f"{ceiling:.2g}. {advice.format(k=k)}"
        )
    return sentences


def _all_out_of_reach(evaluation: Evaluation) -> list[str]:
    """Warn about Success(of=all)@k where queries have more than k relevant items."""
    sentences = []
    for measure in evaluation.measures:
        k = measure.params.get("k")
        if (
            measure.spec.name != "Success"
            or measure.params["of"] != "all"
            or not isinstance(k, int)
        ):
            continue
        relevant, weights = _relevant(evaluation, measure)
        if many := int((relevant > k).sum()):
            most = mean(np.where(relevant <= k, 1.0, 0.0), weights)
            sentences.append(
                f"{counted(many, 'query has', 'queries have')} more than {k:,} relevant items, so "
                f"{evaluation.label(measure)} is 0 for them and cannot exceed {most:.2g} over "
                "queries with relevant items. Use a larger cutoff."
            )
    return sentences


def _infinite(evaluation: Evaluation) -> list[str]:
    """Warn about ranks whose summary is infinite because lists end before them."""
    ranks = [measure for measure in evaluation.measures if measure.spec.name == "Rank"]
    by_run = []
    for run in evaluation.runs if ranks else ():
        sentences = []
        for measure in ranks:
            if np.isinf(run.summary[measure]):
                lost = int(np.isinf(run.values[measure]).sum())
                sentences.append(
                    f"{evaluation.label(measure)} is infinite: {lost:,} of "
                    f"{counted(len(run.rankings), 'query', 'queries')} did not retrieve the item "
                    "whose rank it is. Use RR, which is finite."
                )
        by_run.append(sentences)
    return about_runs(evaluation, by_run) if ranks else []


def _unlike_the_library(evaluation: Evaluation) -> list[str]:
    """Warn about data on which the library gives another value than its convention."""
    conventional = evaluation.convention
    if conventional is None:
        return []
    library = conventional.convention
    by_run = [
        list(
            dict.fromkeys(
                caution.says
                for named in conventional.named
                for caution in (*library.cautions, *named.name.cautions)
                if caution.when in CONDITIONS and CONDITIONS[caution.when](run, named.measure)
            )
        )
        for run in evaluation.runs
    ]
    sentences = about_runs(evaluation, by_run)
    if library.drops_own_id and not conventional.prepared:
        sentences.append(
            f"{library.title} removes results that have the id of their query; these rankings were "
            "made without that. Exclude such items, or evaluate the run itself."
        )
    if library.needs_results and not conventional.prepared:
        empty = (~run.rankings.missing & (run.rankings.retrieved == 0) for run in evaluation.runs)
        if any(lists.any() for lists in empty):
            sentences.append(
                f"{library.title} treats a query without results as missing; in these rankings it "
                "is an empty list. Evaluate the run itself."
            )
    return sentences


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
"""Conditions of cautions of conventions (`conventions.WHEN`), checked on the data of a run. Own ids
are found before a run is matched."""


def _few(evaluation: Evaluation) -> list[str]:
    """Warn of intervals from a small effective number of weighted queries, or of groups."""
    if evaluation.level is None:
        return []
    rows = []
    for run in evaluation.runs:
        for measure in evaluation.measures:
            counts = ~np.isnan(run.values[measure])
            groups = None
            if evaluation.groups is not None:
                ids = np.asarray(run.rankings.queries, object)[counts].tolist()
                groups = np.array([evaluation.groups[query] for query in ids], np.int64)
            size = int(counts.sum())
            effective = effective_units(size, run.rankings.weights_of(counts), groups)
            number = None if groups is None else len(np.unique(groups))
            rows.append((evaluation.label(measure), size, number, effective))
    return about_few_units(rows)


DOMINANT = 0.5
"""A query with more than this share of all weight decides the mean."""


def _weights(evaluation: Evaluation) -> list[str]:
    r = evaluation.runs[0].rankings
    if r.weights is None:
        return []
    shares = r.weights.values / r.weights.values.max()
    most = 1 / float(shares.sum())
    sentences = []
    if most > DOMINANT + 1e-9 and len(r) > 1:
        query = r.queries[int(shares.argmax())]
        sentences.append(
            f"Query {query!r} has {most:.0%} of all weight, so it dominates all means."
        )
    if evaluation.convention:
        library = evaluation.convention.convention.title
        sentences.append(
            f"{library} has no query weights: each query's value is as {library} computes it, and "
            "judged weights their mean."
        )
    return sentences


def _trusted(evaluation: Evaluation) -> list[str]:
    return list(evaluation.trusted.warnings) if evaluation.trusted else []


MOST_HITS = 1_000_000
"""Number of hits in queries with ties above which the effect of ties is not computed."""
TOGETHER = 200_000
"""Number of hits of runs whose ties are examined at once."""
MOST_NAMED = 4
"""Number of measures that one sentence names."""


@dataclass(frozen=True)
class Moved:
    """The effect of ties on a value."""

    by: float
    """The larger distance to an end of the tie range; NaN if it is not known."""
    sure: bool
    """Whether no order of the ties goes further."""
    seen: bool
    """Whether the table would show another value."""


def tie_effects(evaluation: Evaluation, look: Look) -> list[str]:
    """Return a warning that names the measures whose shown value depends on the order of ties."""
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
        return [f"Another order of tied results may change {listed(unknown)}{SEE_TIE_RANGE}."]
    order = sorted(farthest, key=lambda measure: -farthest[measure].by)
    changes = []
    for measure in order[:MOST_NAMED]:
        far = look.amount(farthest[measure].by, measure)
        amount = f"up to {far}" if farthest[measure].sure else f"{far} or more"
        changes.append(f"{names[measure]} by {amount}")
    if more := len(order) - len(changes):
        changes.append(f"{counted(more, 'other measure')} by less")
    return [f"Another order of tied results changes {listed(changes)}{SEE_TIE_RANGE}."]


def _moved(evaluation: Evaluation, look: Look) -> Iterator[tuple[Measure, Moved]]:
    """Yield the effect of ties on each measure of each run that has ties."""
    unknown = dict.fromkeys(evaluation.measures, Moved(math.nan, sure=False, seen=True)).items()
    together: list[tuple[Scored, Rankings]] = []
    hits = 0
    for run in evaluation.runs:
        if run.rankings.hit_tie_first is None:
            continue
        variants = Variants(run.rankings)
        if not variants.tied:
            continue
        try:
            r = variants.under("expected")
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
    if together:
        yield from _moved_together(evaluation, together, look)


def _moved_together(
    evaluation: Evaluation, runs: Sequence[tuple[Scored, Rankings]], look: Look
) -> Iterator[tuple[Measure, Moved]]:
    """Yield the effect of ties on several runs at once, which is faster for small runs."""
    every = Rankings.concat(replace(r, findings=None) for _, r in runs)
    known = {m: np.concatenate([run.values[m] for run, _ in runs]) for m in evaluation.measures}
    policy, convention = evaluation.policy, evaluation.convention
    borders = np.cumsum([len(r) for _, r in runs]).tolist()
    for measure, ends in tie_ends(known, every, evaluation.measures, policy, convention).items():
        for (run, r), stop in zip(runs, borders, strict=True):
            rows = slice(stop - len(r), stop)
            if measure.spec.made_of is None:
                counts = ~np.isnan(known[measure][rows])
                weights = r.weights_of(counts)
                sides = [
                    measure.summarise(None, Settled(side[rows][counts], counts, np.array, weights))
                    for side in (ends.low, ends.high)
                ]
            else:
                part = ends.part(rows.start, rows.stop)
                both = (part.by_worth(measure, policy, convention, best=b) for b in (False, True))
                sides = [math.nan if side is None else side.summary for side in both]
            corrected = run.corrections.get(measure)
            number = run.summary[measure] if corrected is None else corrected.cheap
            seen = any(look.number(side, measure) != look.number(number, measure) for side in sides)
            far = max((abs(side - number) for side in sides if side != number), default=0.0)
            sure = not ends.loose[rows].any()
            yield measure, Moved(far, sure=sure, seen=seen or math.isnan(far))


def cutoffs(evaluation: Evaluation) -> list[int]:
    """Return the cutoffs of the measures that rate relevance."""
    known = {
        measure.params.get("k")
        for measure in evaluation.measures
        if measure.spec.at == "k" and measure.spec.rates_relevance
    }
    return sorted(k for k in known if isinstance(k, int))


def unjudged(evaluation: Evaluation) -> list[str]:
    """Return a warning with the share of judged results down to each cutoff.

    If the judgements list relevant items only, this share is precision, so there is no warning.
    """
    if evaluation.policy.unjudged == "removed":
        return []
    runs = [
        run.rankings
        for run in evaluation.runs
        if not run.rankings.complete and bool((run.rankings.pool_grade == 0).any())
    ]
    by_share: dict[str, list[str]] = {}
    for k in cutoffs(evaluation) if runs else ():
        share = parse_measure(f"Judged@{k}")
        shares = [(_mean(share.compute(r)), r.name) for r in runs]
        (least, worst), (most, best) = min(shares), max(shares)
        if least < 1:
            low, high = _percent(least), _percent(most)
            words = low if low == high else f"{low} ({worst}) to {high} ({best})"
            by_share.setdefault(words, []).append(f"top-{k}")
    if not by_share:
        return []
    parts = [f"{words} of the {listed(names)} results" for words, names in by_share.items()]
    return [
        f"Only {listed(parts)} are judged. Unjudged results count as not relevant"
        f"{SEE_UNJUDGED_RANGE}."
    ]


def _mean(values: Floats) -> float:
    return 1.0 if np.isnan(values).all() else float(np.nanmean(values))


def _percent(share: float) -> str:
    """Return a share in percent, rounded down so that only 1 is shown as 100 %."""
    return f"{math.floor(share * 1000) / 10:.1f} %"


def short_lists(evaluation: Evaluation) -> list[list[str]]:
    """Return for each run a warning about lists that end before a cutoff."""
    known = cutoffs(evaluation)
    return [_short(evaluation, run, known) for run in evaluation.runs]


def _short(evaluation: Evaluation, run: Scored, known: list[int]) -> list[str]:
    r = run.rankings.whole or run.rankings
    shortest = r.retrieved[~r.missing].min(initial=max(known, default=0))
    touched, names, deep = np.zeros(len(r.missing), bool), [], set()
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
    queries = counted(int(touched.sum()), "query has", "queries have")
    fewer = f"fewer than {listed([f'{k:,}' for k in sorted(deep)], 'or')} results"
    return [
        f"{queries} {fewer} although relevant items are left. Longer lists could raise "
        f"{listed(names)}."
    ]


FEWEST_LISTS = 3
"""Number of equally long lists that is unlikely to be chance."""
VISIBLE_LOSS = 0.005
"""Smallest loss of the best possible value that is worth a warning."""


def _ended_alike(evaluation: Evaluation) -> list[str]:
    """Warn about lists that all end at one length although queries have more relevant items."""
    return about_runs(evaluation, [_ended_alike_of(evaluation, run) for run in evaluation.runs])


def _ended_alike_of(evaluation: Evaluation, run: Scored) -> list[str]:
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
        if not mean(best[counts], some.weights_of(counts)) - ceiling > VISIBLE_LOSS:
            continue
        ceilings.setdefault(f"{ceiling:.2g}", []).append(evaluation.label(measure))
        deep = deep or (f", such as {measure(k=length)}" if spec.at == "k" else "")
    if not ceilings:
        return []
    limits = [f"{listed(names)} cannot exceed {at_best}" for at_best, names in ceilings.items()]
    queries = counted(more, "query has", "queries have")
    return [
        f"Every list ends after {counted(length, 'result')}, and {queries} more relevant items "
        f"than that, so {listed(limits)}. Give longer lists, or report the depth{deep}."
    ]


def _best_lists(r: Rankings, length: int) -> Rankings:
    """Return lists of one length with the best judged items first."""
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


def scenarios(evaluation: Evaluation) -> list[str]:
    """Return a warning that names measures whose unjudged range does not bound them."""
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
        f"The unjudged range of {listed(loose)} shows two scenarios, not bounds. If only some "
        "unjudged results are relevant, a value may lie outside."
    ]


CHECKS: tuple[Callable[[Evaluation], list[str]], ...] = (
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
    _weights,
    _few,
    _tie_ends,
    _trusted,
)
"""All checks of the data, most serious first."""
