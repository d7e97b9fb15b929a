"""Run + judgements -> Rankings: the only place where ties are broken and duplicates, junk and depth are decided.

A run is never sorted as a whole. The rank of a judged item is one more than the number of greater scores in its list,
found by bisection in the list's scores; only where scores tie are item ids looked at, and only those of the ties that
a judged item takes part in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judged.audit import Audit
from judged.errors import InputError, PolicyError
from judged.inputs import as_runs, read_judgements, read_run
from judged.inputs.categories import read_categories
from judged.inputs.tables import Judgements, Lookup, Run
from judged.judging.matching import Matches, match
from judged.judging.pool import Pool, pool_of
from judged.judging.ties import Places, favoured, place
from judged.policy import CHOICES, Policy
from judged.rankings import Rankings, by_query_and_rank, each_query
from judged.segments import Ints, descending, ordinals, starts_of

__all__ = ["condensed", "judge", "judge_pool", "judging", "pool_of", "rankings_from_scores", "rearranged"]

Collection = int | Mapping[str, int] | None


def judge(
    judgements: Any,
    run: Any,
    *,
    policy: Policy | dict[str, Any] | None = None,
    depth: int | None = None,
    duplicates: str = "error",
    collection: Collection = None,
) -> Rankings:
    """Match a run with judgements: the ranks of its judged items, from which every measure is computed.

    >>> r = judge({"q1": {"a": 1, "b": 0, "c": 1}}, {"q1": {"x": 3.0, "a": 2.0, "b": 1.0}})
    >>> r.hit_rank.tolist(), r.hit_grade.tolist(), r.retrieved.tolist()
    ([2, 3], [1.0, 0.0], [3])
    """
    if None not in as_runs(run):
        raise InputError("judge takes one run; judged.evaluate takes several, as {name: run} or a list of paths.")
    pool = pool_of(read_judgements(judgements), duplicates=duplicates)
    return judge_pool(pool, read_run(run), policy=Policy.of(policy), depth=depth, duplicates=duplicates, collection=collection)


def judging(
    judgements: Judgements | Lookup,
    *,
    policy: Policy,
    depth: int | None = None,
    duplicates: str = "error",
    collection: Collection = None,
    unique: Any = None,
) -> Callable[[Run | Lookup], Rankings]:
    """As `judge`, with judgements made ready once: a function that judges one run after another.

    With `unique`, a table from item to category, the best result of each category stands for it.
    """
    if unique is None:
        pool = pool_of(judgements, duplicates=duplicates)
        return lambda run: judge_pool(pool, run, policy=policy, depth=depth, duplicates=duplicates, collection=collection)
    from judged.judging.categories import BASIS, unique_judgements, unique_results

    table = read_categories(unique)
    pool = pool_of(unique_judgements(judgements, table, duplicates=duplicates), duplicates=duplicates)

    def judge_categories(run: Run | Lookup) -> Rankings:
        found = unique_results(run, table, duplicates=duplicates)
        rankings = judge_pool(pool, found, policy=policy, depth=depth, duplicates=duplicates, collection=collection)
        return replace(rankings, basis=BASIS)

    return judge_categories


def judge_pool(
    pool: Pool, run: Run | Lookup, *, policy: Policy, depth: int | None, duplicates: str, collection: Collection = None
) -> Rankings:
    """As `judge`, with judgements made ready once for several runs."""
    if depth is not None and (not isinstance(depth, int) or isinstance(depth, bool) or depth < 1):
        raise PolicyError(f"depth must be a whole number from 1; got {depth!r}.")
    found = match(pool, run, duplicates=duplicates)
    places = place(pool, found, policy.ties)
    present = found.list_of >= 0
    retrieved = np.where(present, found.lengths[found.list_of], 0)
    query = pool.query[found.hit_judgement]
    order = by_query_and_rank(query, places.rank)
    whole = Rankings(
        queries=pool.queries,
        retrieved=retrieved,
        hit_query=query[order],
        hit_rank=places.rank[order],
        hit_grade=pool.grades[found.hit_judgement[order]],
        hit_tie_first=places.first[order],
        hit_tie_last=places.last[order],
        hit_item=None if pool.subtopics is None else (found.hit_judgement - starts_of(pool.lengths)[query])[order],
        pool_query=pool.query,
        pool_grade=pool.best_first,
        subtopics=pool.subtopics,
        missing=~present,
        collection=_collection(collection, pool.queries),
        ties=policy.ties,
        name=run.name,
    )
    cut = whole if depth is None else _cut(whole, depth)
    final = condensed(cut) if policy.unjudged == "removed" else cut
    return replace(final, audit=_audit(pool, run, found, places, whole, cut, final))


def _cut(r: Rankings, depth: int) -> Rankings:
    """Only the first results of each list, as if the run had been cut off there."""
    kept = replace(r, **r.hits(r.hit_rank <= depth))
    return replace(kept, retrieved=np.minimum(r.retrieved, depth), depth=depth)


def condensed(r: Rankings) -> Rankings:
    """The lists without their unjudged items (those of a negative grade, in the pool but not judged, included)."""
    r = replace(r, **r.hits(r.hit_grade >= 0))
    place = ordinals(r.hit_query, len(r))
    changes: dict[str, Any] = {"hit_rank": place}
    if r.hit_tie_first is not None and len(place):
        new = np.append(True, (r.hit_query[1:] != r.hit_query[:-1]) | (r.hit_tie_first[1:] != r.hit_tie_first[:-1]))
        group = np.cumsum(new) - 1
        changes["hit_tie_first"] = place[new][group]
        changes["hit_tie_last"] = place[np.append(new[1:], True)][group]
    return replace(r, retrieved=np.bincount(r.hit_query, minlength=len(r)), unjudged="removed", **changes)


def rearranged(r: Rankings, ties: str) -> Rankings:
    """The same rankings with ties broken in the system's favour or against it."""
    if ties == r.ties:
        return r
    if ties not in ("best", "worst") or r.hit_tie_first is None or r.hit_tie_last is None or r.depth is not None:
        raise PolicyError(
            f"these rankings were made with ties={r.ties}{f' and depth={r.depth}' if r.depth else ''}, "
            f"which cannot be undone; make them again with ties={ties}."
        )
    rank = favoured(r.hit_query, r.hit_tie_first, r.hit_tie_last, r.hit_grade, best=ties == "best")
    return r.arranged(rank, ties=ties)


def rankings_from_scores(
    y_true: Iterable[Sequence[float]],
    y_score: Iterable[Sequence[float]],
    *,
    ties: str,
    queries: Sequence[str] | None,
    name: str,
) -> Rankings:
    """See `Rankings.from_scores`."""
    if ties not in CHOICES["ties"] or ties == "id":
        raise PolicyError(f"items have no ids here: ties must be input, best or worst; got {ties!r}.")
    grade, lengths = _flat(y_true, "y_true")
    score, own = _flat(y_score, "y_score")
    if len(lengths) != len(own):
        raise InputError(f"y_true has {len(lengths)} rows, y_score has {len(own)}; they must be as many.")
    if (wrong := np.flatnonzero(lengths != own)).size:
        at = wrong[0]
        raise InputError(f"row {at} of y_true has {lengths[at]} values, that of y_score has {own[at]}; they must be as many.")
    query = np.repeat(np.arange(len(lengths)), lengths)
    for what, bad in (("y_true", ~np.isfinite(grade)), ("y_score", np.isnan(score))):
        if (wrong := np.flatnonzero(bad)).size:
            at = wrong[0]
            value = "infinite" if np.isinf(grade[at]) and what == "y_true" else "NaN"
            raise InputError(f"{what} is {value} in row {query[at]}, column {at - starts_of(lengths)[query[at]]}.")
    names = tuple(str(i) for i in range(1, len(lengths) + 1)) if queries is None else tuple(map(str, queries))
    if len(names) != len(lengths):
        raise InputError(f"queries has {len(names)} ids, y_true has {len(lengths)} rows; they must be as many.")
    if len(set(names)) < len(names):
        raise InputError("queries must be distinct ids.")
    order = np.lexsort((-score, query))
    grade, score, rank = grade[order], score[order], ordinals(query, len(lengths))
    new = np.append(True, (query[1:] != query[:-1]) | (score[1:] != score[:-1])) if len(query) else np.zeros(0, bool)
    tie = np.cumsum(new) - 1
    rankings = Rankings(
        queries=names,
        retrieved=lengths,
        hit_query=query,
        hit_rank=rank,
        hit_grade=grade,
        hit_tie_first=rank[new][tie],
        hit_tie_last=rank[np.append(new[1:], True)][tie] if len(query) else rank,
        pool_query=query,
        pool_grade=descending(grade, lengths),
        missing=np.zeros(len(names), bool),
        collection=each_query(lengths.tolist(), names, "collection"),
        name=name,
    )
    return rearranged(rankings, ties)


def _flat(rows: Any, what: str) -> tuple[np.ndarray, Ints]:
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and len(rows):
        return rows.astype(np.float64).ravel(), np.full(len(rows), rows.shape[1], np.int64)
    parts = [np.asarray(row, dtype=np.float64) for row in rows]
    if not parts:
        raise InputError(f"{what} holds no rows; give one row for each query.")
    if any(part.ndim != 1 for part in parts):
        raise InputError(f"{what} must hold one row of numbers for each query; for a single query write [[…]].")
    return np.concatenate(parts), np.array([len(part) for part in parts], dtype=np.int64)


def _collection(given: Collection, queries: tuple[str, ...]) -> Ints | None:
    if isinstance(given, Mapping):
        lost = [query for query in queries if query not in given]
        if lost:
            raise InputError(f"collection has no size for query {lost[0]!r}; give one for each judged query, or one for all.")
        return each_query([given[query] for query in queries], queries, "collection")
    return each_query(given, queries, "collection")


def _audit(
    pool: Pool, run: Run | Lookup, found: Matches, places: Places, whole: Rankings, cut: Rankings, final: Rankings
) -> Audit:
    tied = places.last > places.first
    seen = cut.retrieved > 0
    first_ten = cut.total(cut.hit_query[(cut.hit_rank <= 10) & (cut.hit_grade >= 0)])[seen] / np.minimum(
        cut.retrieved[seen], 10
    )
    return Audit(
        judged_queries=len(pool.queries),
        run_queries=found.run_queries,
        missing_queries=tuple(pool.queries[i] for i in np.flatnonzero(whole.missing)),
        ignored_queries=found.run_queries - int((found.list_of >= 0).sum()),
        results=int(whole.retrieved.sum()),
        judged_results=len(whole.hit_rank),
        judged_at_10=float(first_ten.mean()) if seen.any() else 0.0,
        tied_results=int(tied.sum()),
        tied_queries=len(np.unique(pool.query[found.hit_judgement][tied])),
        short_lists=int((whole.retrieved[~whole.missing] < 10).sum()),
        nothing_relevant=int((whole.relevant(1) == 0).sum()),
        fractional_grades=int(((pool.grades > 0) & (pool.grades < 1)).sum()),
        negative_grades=int((pool.grades < 0).sum()),
        infinite_scores=found.infinite,
        duplicates_dropped=found.dropped + pool.dropped,
        cut_by_depth=int((whole.retrieved - cut.retrieved).sum()),
        unjudged_removed=int((cut.retrieved - final.retrieved).sum()),
        notes=tuple(dict.fromkeys(pool.notes + run.notes)),
    )
