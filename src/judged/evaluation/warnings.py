"""Warnings: what could mislead readers of the values, and how much assumptions change them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from judged.arrays import each_once, ordinals
from judged.errors import PolicyError, for_caller, warn
from judged.evaluation.ranges import by_worth, tie_ends
from judged.evaluation.scores import UNJUDGED_ENDS, about_runs, is_bounded
from judged.matching.ties import Variants
from judged.measures.registry import Settled
from judged.measures.tie_orders import LIMIT, tied_queries
from judged.rankings.audit import findings_of, judged_shares
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

Check: TypeAlias = "Callable[[Evaluation], list[str]]"


def see(option: str) -> str:
    """Return a reference to an option that shows more, for the end of a warning."""
    return f" (see {option}, --{option.replace('_', '-')})"


def warnings(evaluation: Evaluation, look: Look, *, ties: bool = True) -> list[str]:
    """Return all warnings, most serious first; `ties` includes the effect of ties."""
    return [
        *evaluation._grave(),
        *short_lists(evaluation),
        *unjudged(evaluation),
        *(tie_effects(evaluation, look) if ties else ()),
        *scenarios(evaluation),
    ]


def grave(evaluation: Evaluation) -> list[str]:
    """Return the warnings about the data, without those about ranges of values."""
    return [for_caller(text) for check in CHECKS for text in check(evaluation)]


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


def _of_each_run(check: Callable[[Evaluation, Scored], Sequence[str]]) -> Check:
    """Make a check of an evaluation from a check of one run."""
    return lambda evaluation: about_runs(
        evaluation, [check(evaluation, run) for run in evaluation.runs]
    )


@_of_each_run
def _missing(evaluation: Evaluation, run: Scored) -> list[str]:
    missing = run.audit.missing_queries
    return about_missing(missing, len(run.rankings), evaluation.policy) if missing else []


def about_missing(missing: Sequence[str], number: int, policy: Policy) -> list[str]:
    """Return a warning about the missing queries of a run, if there are any."""
    if not missing:
        return []
    effect = (
        for_caller("count as empty lists. Use missing=skip to leave them out")
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
        + (see("unanswerable") if len(names) == len(rating) else f" of {listed(names)}")
        + "."
        for (queries, value), names in by_words.items()
    ]


@_of_each_run
def _undefined(evaluation: Evaluation, run: Scored) -> list[str]:
    """Warn about queries with relevant items for which a measure has no value."""
    effects = {"skip": "are left out of the mean", "one": "get the best value"}
    effect = effects.get(evaluation.policy.empty, "get the worst value")
    r, found = run.rankings, []
    for measure, without in run.undefined.items():
        if evaluation.policy.missing == "skip":
            without = without & ~r.missing
        if without.any():
            queries = _some_queries([r.queries[row] for row in np.flatnonzero(without)], len(r))
            why = measure.spec.undefined.text
            label = evaluation.label(measure)
            found.append(f"{label} has no value for {queries}, which {effect}: {why}.")
    return found


def _fractional_grades(evaluation: Evaluation) -> list[str]:
    """Warn about grades between 0 and 1 that a measure counts as irrelevant."""
    audit = evaluation.runs[0].audit
    if not audit.fractional_grades:  # lists typed by hand are not counted
        return []
    grades = evaluation.runs[0].rankings.grades
    lowest = grades[(grades > 0) & (grades < 1)].min(initial=np.inf)
    thresholds = [m.params["rel"] for m in evaluation.measures if "rel" in m.params]
    return [audit.said()["fractional_grades"]] if lowest < max(thresholds, default=0) else []


RATING_GRADES = 4
"""Number of distinct grades from which on they are a rating scale."""


def _ratings(evaluation: Evaluation) -> list[str]:
    """Warn about rating scales without 0, such as 1 to 5, whose low grades count as relevant."""
    r = evaluation.runs[0].rankings
    lowest, highest = float(r.pool_grade.min(initial=np.inf)), float(r.pool_grade.max(initial=0))
    if lowest <= 0 or highest < RATING_GRADES or len(r.grades) < RATING_GRADES:
        return []
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


@_of_each_run
def _tie_ends(evaluation: Evaluation, run: Scored) -> list[str]:
    """Name measures whose tie range may be wider than the orders that were tried show."""
    unsure = run.others["worst"].unsure if "worst" in run.others else {}
    if not unsure:
        return []
    queries = counted(max(unsure.values()), "query has", "queries have")
    return [
        f"The tie range of {listed(list(map(run.label, unsure)))} may be wider than shown: "
        f"{queries} more than {LIMIT} orders of tied results, and only some were tried."
    ]


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
    "Success": "Use a larger cutoff.",
}
"""Measures that need all relevant items, and alternatives."""


def _out_of_reach_at_k(evaluation: Evaluation) -> list[str]:
    """Warn about measures at k where queries have more than k relevant items."""
    sentences = []
    for name, advice in INSTEAD.items():
        with_cutoff = [
            measure
            for measure in evaluation.measures
            if measure.spec.name == name
            and (measure.params.get("norm"), measure.params.get("of"))
            in (("relevant", None), (None, "all"))
            and isinstance(measure.params["k"], int)
        ]
        if not with_cutoff:
            continue
        measure = min(with_cutoff, key=lambda measure: measure.params["k"])
        k = measure.params["k"]
        relevant, weights = _relevant(evaluation, measure)
        few = not relevant.size or relevant.max() <= k
        if few or (name != "Success" and np.median(relevant) <= k):
            continue
        fewest, most = int(relevant.min()), int(relevant.max())
        number = f"{fewest:,}" if fewest == most else f"{fewest:,}–{most:,}"
        best = relevant <= k if name == "Success" else np.minimum(1, k / relevant)
        sentences.append(
            f"Queries have {number} relevant items, so {evaluation.label(measure)} cannot exceed "
            f"{mean(best.astype(np.float64), weights):.2g}. {advice.format(k=k)}"
        )
    return sentences


@_of_each_run
def _infinite(evaluation: Evaluation, run: Scored) -> list[str]:
    """Warn about ranks whose summary is infinite because lists end before them."""
    return [
        f"{evaluation.label(measure)} is infinite: {int(np.isinf(run.values[measure]).sum()):,} of "
        f"{counted(len(run.rankings), 'query', 'queries')} did not retrieve the item whose rank it "
        "is. Use RR, which is finite."
        for measure in evaluation.measures
        if measure.spec.name == "Rank" and np.isinf(run.summary[measure])
    ]


def _unlike_the_library(evaluation: Evaluation) -> list[str]:
    """Warn about data on which the library gives another value than its convention."""
    conventional = evaluation.convention
    if conventional is None:
        return []
    library = conventional.convention
    by_run: list[list[str]] = []
    for run in evaluation.runs:
        cautions = [
            caution.says
            for named in conventional.named
            for caution in (*library.cautions, *named.name.cautions)
            if caution.when in CONDITIONS and CONDITIONS[caution.when](run, named.measure)
        ]
        by_run.append(list(dict.fromkeys(cautions)))
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


CONDITIONS: dict[str, Callable[[Scored, Measure], bool]] = {
    "tied": lambda run, measure: run.audit.tied_results > 0,
    "tied in single precision": lambda run, measure: findings_of(run.rankings).single_ties > 0,
    "not positive": lambda run, measure: findings_of(run.rankings).not_positive > 0,
    "graded": lambda run, measure: bool((run.rankings.grades > 1).any()),
    "fractional": lambda run, measure: bool((run.rankings.grades % 1 != 0).any()),
    "negative": lambda run, measure: bool((run.rankings.grades < 0).any()),
    "not relevant": lambda run, measure: bool((run.rankings.grades < 1).any()),
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


MOST_HITS = 1_000_000
"""Number of hits in queries with ties above which the effect of ties is not computed."""
MOST_NAMED = 4
"""Number of measures that one sentence names."""


def tie_effects(evaluation: Evaluation, look: Look) -> list[str]:
    """Return a warning that names the measures whose shown value depends on the order of ties."""
    if evaluation.policy.ties not in ("id", "input") or "worst" in evaluation.others:
        return []
    farthest: dict[Measure, tuple[float, bool]] = {}
    for measure, distance, sure in _shifts(evaluation, look):
        if measure not in farthest or not distance <= farthest[measure][0]:
            farthest[measure] = distance, sure
    if not farthest:
        return []
    names = {m: look.name(evaluation.label(m), m) for m in farthest}
    if unknown := [names[m] for m, (distance, _) in farthest.items() if math.isnan(distance)]:
        return [f"Another order of tied results may change {listed(unknown)}{see('tie_range')}."]
    order = sorted(farthest, key=lambda measure: -farthest[measure][0])
    changes = []
    for measure in order[:MOST_NAMED]:
        distance, sure = farthest[measure]
        far = look.amount(distance, measure)
        changes.append(f"{names[measure]} by {f'up to {far}' if sure else f'{far} or more'}")
    if more := len(order) - len(changes):
        changes.append(f"{counted(more, 'other measure')} by less")
    return [f"Another order of tied results changes {listed(changes)}{see('tie_range')}."]


def _shifts(evaluation: Evaluation, look: Look) -> Iterator[tuple[Measure, float, bool]]:
    """Yield each measure of a run whose shown value ties change, and by how much."""
    # The distance to the farther end of the tie range is NaN if it is not known. The last element
    # is True if no order of ties goes further.
    policy, convention = evaluation.policy, evaluation.convention
    for run in evaluation.runs:
        if run.rankings.hit_tie_first is None or not run.rankings.may_be_tied:
            continue
        try:
            r = Variants(run.rankings).under("expected")
        except PolicyError:  # a cut through a tie, whose unjudged results were removed
            r = None
        if r is None or int(tied_queries(r)[r.hit_query].sum()) > MOST_HITS:
            yield from ((measure, math.nan, False) for measure in evaluation.measures)
            continue
        ends_of = tie_ends(run.values, r, evaluation.measures, policy, convention)
        for measure, (graded, *ends, loose) in ends_of.items():
            if measure.spec.made_of is None:
                counts = ~np.isnan(run.values[measure])
                weights = r.weights_of(counts)
                sides = [
                    measure.summarise(None, Settled(end[counts], counts, np.array, weights))[0]
                    for end in ends
                ]
            else:
                orders = (False, True)
                both = (by_worth(graded, measure, policy, convention, best=b) for b in orders)
                sides = [math.nan if side is None else side[2] for side in both]
            corrected = run.corrections.get(measure)
            number = run.summary[measure] if corrected is None else corrected.cheap
            far = max((abs(side - number) for side in sides if side != number), default=0.0)
            shown = {look.number(value, measure) for value in (number, *sides)}
            if len(shown) > 1 or math.isnan(far):
                yield measure, far, not loose.any()


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
        if not run.rankings.complete
        and (run.rankings.pool_grade == 0).any()
        and run.rankings.retrieved.any()
    ]
    by_share: dict[str, list[str]] = {}
    for k in cutoffs(evaluation) if runs else ():
        shares = [(float(judged_shares(r, k).mean()), r.name) for r in runs]
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
        f"{see('unjudged_range')}."
    ]


def _percent(share: float) -> str:
    """Return a share in percent, rounded down so that only 1 is shown as 100 %."""
    return f"{math.floor(share * 1000) / 10:.1f} %"


@_of_each_run
def short_lists(evaluation: Evaluation, run: Scored) -> list[str]:
    """Return a warning about lists that end before a cutoff."""
    r, known = run.rankings.whole or run.rankings, cutoffs(evaluation)
    shortest = r.retrieved[~r.missing].min(initial=max(known, default=0))
    touched, names, deep = np.zeros(len(r.missing), bool), [], set()
    for measure in evaluation.measures:
        k = measure.cutoff
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
_QUERIES_AT_ONCE = 20_000  # the best lists of 100,000 queries at once took 0.4 GB


@_of_each_run
def _ended_alike(evaluation: Evaluation, run: Scored) -> list[str]:
    """Warn about lists that all end at one length although queries have more relevant items."""
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
    measures = [
        measure
        for measure in evaluation.measures
        if not isinstance(measure.params.get("k"), int)
        and (measure.spec.rates_relevance and measure.spec.higher_is_better)
        and (measure.params.get("aggregate") == "mean" and measure.spec.made_of is None)
    ]
    longest = int(np.bincount(r.pool_query, minlength=len(r))[answered].max())
    values: list[list[tuple[Floats, Floats]]] = [[] for _ in measures]
    for begin in range(0, len(answered), _QUERIES_AT_ONCE):
        some = r.take(answered[begin : begin + _QUERIES_AT_ONCE])
        whole, cut = _best_lists(some, longest), _best_lists(some, length)
        for measure, parts in zip(measures, values, strict=True):
            parts.append((measure.compute(whole), measure.compute(cut)))
    ceilings: dict[str, list[str]] = {}
    deep = ""
    for measure, parts in zip(measures, values, strict=True):
        best, reached = np.concatenate(parts, axis=1)
        counts = ~np.isnan(best + reached)
        weights = r.weights_of(answered[counts])
        ceiling = mean(reached[counts], weights) if counts.any() else math.nan
        if not mean(best[counts], weights) - ceiling > VISIBLE_LOSS:
            continue
        ceilings.setdefault(f"{ceiling:.2g}", []).append(evaluation.label(measure))
        deep = deep or (f", such as {measure(k=length)}" if measure.spec.at == "k" else "")
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
    retrieved = np.full(len(r), length)
    return Rankings(
        queries=r.queries,
        retrieved=retrieved if r.collection is None else np.minimum(retrieved, r.collection),
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


CHECKS: tuple[Check, ...] = (
    lambda evaluation: [f"{name} was skipped: {why}" for name, why in evaluation.skipped.items()],
    _of_each_run(lambda evaluation, run: run.audit.warnings),
    _missing,
    _nothing_relevant,
    _undefined,
    _of_each_run(
        lambda evaluation, run: (
            [run.audit.said()["duplicates_dropped"]] if run.audit.duplicates_dropped else []
        )
    ),
    _fractional_grades,
    _infinite,
    _ratings,
    _unlike_the_library,
    _out_of_reach_at_k,
    _ended_alike,
    _weights,
    _few,
    _tie_ends,
    lambda evaluation: list(evaluation.trusted_warnings),
)
"""All checks of the data, most serious first."""
