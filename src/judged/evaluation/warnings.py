"""Warnings: what could mislead readers of the values, and how far the values could be others."""

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
from judged.matching.variants import Variants, uncondensed
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


def warnings(evaluation: Evaluation, look: Look, *, ties: bool = True) -> list[str]:
    """Every warning once, the worst first: what the number may not be, what was done with the data,
    and how far the number might be another; by `ties` unless somebody else tells of them."""
    said = evaluation._grave()
    said += about_runs(evaluation, short_lists(evaluation))
    said += unjudged(evaluation)
    said += tie_effects(evaluation, look) if ties else []
    return said + scenarios(evaluation)


def covered(evaluation: Evaluation) -> set[str]:
    """The findings of audits that need no note, for warnings tell of them: by the cutoffs and the
    thresholds of the measures, which an audit does not know."""
    fields = {"missing_queries", "duplicates_dropped", "short_lists", "judged_at_10"}
    said = {"nothing_relevant": _nothing_relevant, "fractional_grades": _fractional_grades}
    return fields | {field for field, about in said.items() if about(evaluation)}


def grave(evaluation: Evaluation) -> list[str]:
    """Those that are about more than how far a number might be another."""
    return [text for about in ABOUT for text in about(evaluation)]


def announce_warnings(result: AnyResult) -> AnyResult:
    """The result, its grave warnings issued as Python's, for code that never prints it."""
    for text in result._grave():
        warn(text)
    return result


def _skipped(evaluation: Evaluation) -> list[str]:
    """Runs that are not there."""
    return [f"{name} was left out: {why}" for name, why in evaluation.skipped.items()]


def _of_the_data(evaluation: Evaluation) -> list[str]:
    """What readers and makers of rankings warn of."""
    return about_runs(evaluation, [list(run.audit.warnings) for run in evaluation.runs])


def _missing(evaluation: Evaluation) -> list[str]:
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


def _nothing_relevant(evaluation: Evaluation) -> list[str]:
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


def _duplicates(evaluation: Evaluation) -> list[str]:
    """Rows that were dropped for being about the same."""
    said = (run.audit.said().get("duplicates_dropped") for run in evaluation.runs)
    return about_runs(evaluation, [[text] if text else [] for text in said])


def _fractional_grades(evaluation: Evaluation) -> list[str]:
    """Grades between 0 and 1, where a measure takes them for irrelevant."""
    audit, grades = evaluation.runs[0].audit, evaluation.runs[0].rankings.grades
    below = grades[(grades > 0) & (grades < 1)]
    asked = [m.params["rel"] for m in evaluation.measures if "rel" in m.params]
    missed = audit.fractional_grades and any(bool((below < rel).any()) for rel in asked)
    return [audit.said()["fractional_grades"]] if missed else []


def _ratings(evaluation: Evaluation) -> list[str]:
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


def _tie_ends(evaluation: Evaluation) -> list[str]:
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


def _relevant(evaluation: Evaluation, measure: Measure) -> tuple[Floats, Floats | None]:
    """How many items are relevant in the queries that have some and count, and their weights."""
    r = evaluation.runs[0].rankings
    relevant = r.relevant(measure.params["rel"])
    some = relevant > 0
    if r.weights is not None:
        some &= r.weights.values > 0
    return relevant[some], r.weights_of(some)


def _out_of_reach_at_k(evaluation: Evaluation) -> list[str]:
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


def _below_one(evaluation: Evaluation, name: str, advice: str) -> list[str]:
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


def _all_out_of_reach(evaluation: Evaluation) -> list[str]:
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


def _ended_alike(evaluation: Evaluation) -> list[str]:
    """Lists that were all cut at one length, which measures without a cutoff then depend on."""
    return about_runs(evaluation, ended_alike(evaluation))


def _ending_before(run: Scored, measure: Measure) -> str:
    """How many queries have an infinite rank, where their values are known."""
    infinite = int(np.isinf(run.values[measure]).sum())
    return f"{infinite:,} of {counted(len(run.rankings), 'query', 'queries')}"


def _infinite(evaluation: Evaluation) -> list[str]:
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


def _unlike_the_library(evaluation: Evaluation) -> list[str]:
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


DOMINANT = 0.5
"""A query with more than this share of all weight decides the mean."""


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


def _weights(evaluation: Evaluation) -> list[str]:
    """What could mislead: one query that outweighs all others, a library that has no weights."""
    r = evaluation.runs[0].rankings
    if r.weights is None:
        return []
    shares = r.weights.values / r.weights.values.max()
    most = 1 / float(shares.sum())
    said = []
    if most > DOMINANT + 1e-9 and len(r) > 1:
        query = r.queries[int(shares.argmax())]
        said.append(f"Query {query!r} has {most:.0%} of all weight, more than all others together.")
    if evaluation.convention:
        library = evaluation.convention.convention.title
        said.append(
            f"Weights of queries are not part of what {library} computes: each query's value is as "
            f"{library} has it, and their mean is weighted."
        )
    return said


def _trusted(evaluation: Evaluation) -> list[str]:
    """What trusted judgements do not tell."""
    return list(evaluation.trusted.warnings) if evaluation.trusted else []


ABOUT: tuple[Callable[[Evaluation], list[str]], ...] = (
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
"""What is looked at, the worst first: each gives its sentences about an evaluation."""


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


def tie_effects(evaluation: Evaluation, look: Look) -> list[str]:
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


def _moved(evaluation: Evaluation, look: Look) -> Iterator[tuple[Measure, Moved]]:
    """What ties do to each measure of each run, where they do anything and are known."""
    unknown = dict.fromkeys(evaluation.measures, Moved(math.nan, sure=False, seen=True)).items()
    together: list[tuple[Scored, Rankings]] = []
    hits = 0
    for run in evaluation.runs:
        kept = run.rankings
        if kept.hit_tie_first is None:
            continue
        try:
            variants = Variants(kept)
            if not variants.tied:
                continue
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
    yield from _moved_together(evaluation, together, look)


def _moved_together(
    evaluation: Evaluation, runs: Sequence[tuple[Scored, Rankings]], look: Look
) -> Iterator[tuple[Measure, Moved]]:
    """Of runs that have ties, all at once: of many small ones each would take as long as all."""
    if not runs:
        return
    every = Rankings.concat(replace(r, findings=None) for _, r in runs)
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


def cutoffs(evaluation: Evaluation) -> list[int]:
    """The ranks at which the measures that rate relevance stop looking."""
    asked = (
        measure.params.get(str(measure.spec.at))
        for measure in evaluation.measures
        if measure.spec.at == "k" and measure.spec.rates_relevance
    )
    return sorted({k for k in asked if isinstance(k, int)})


def unjudged(evaluation: Evaluation) -> list[str]:
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


def short_lists(evaluation: Evaluation) -> list[list[str]]:
    """For each run the lists that end before a measure stops looking, though relevant items are
    left that would raise it."""
    return [_short(evaluation, run) for run in evaluation.runs]


def _short(evaluation: Evaluation, run: Scored) -> list[str]:
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


def ended_alike(evaluation: Evaluation) -> list[list[str]]:
    """Return for each run what it means that all lists end at one length, though queries have more
    relevant items."""
    return [_ended_alike_of(evaluation, run) for run in evaluation.runs]


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


def scenarios(evaluation: Evaluation) -> list[str]:
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
