"""Run + judgements -> Rankings: the only place where ties are broken and duplicates, junk and depth
are decided.

A run is never sorted as a whole. The rank of a judged item is one more than the number of greater
scores in its list, found by bisection in the list's scores; only where scores tie are item ids
looked at, and only those of the ties that a judged item takes part in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import index
from typing import Any

import numpy as np

from judged.errors import InputError, PolicyError
from judged.inputs import as_runs, read_judgements, read_run
from judged.inputs.categories import read_categories
from judged.inputs.tables import Judgements, Lookup, Run
from judged.judging.matching import Matches, match
from judged.judging.pool import Pool, pool_of
from judged.judging.ties import Places, place
from judged.judging.variants import condensed, cut, judged_alike, rearranged, uncondensed
from judged.policy import CHOICES, Policy
from judged.rankings.audit import Audit
from judged.rankings.grades import each_query
from judged.rankings.rankings import Rankings, by_query_and_rank
from judged.segments import Ints, descending, ordinals, starts_of

__all__ = [
    "condensed",
    "judge",
    "judge_pool",
    "judged_alike",
    "judging",
    "pool_of",
    "rankings_from_scores",
    "rearranged",
    "uncondensed",
]

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
    """Match a run with judgements: the ranks of its judged items, from which every measure is
    computed.

    >>> r = judge({"q1": {"a": 1, "b": 0, "c": 1}}, {"q1": {"x": 3.0, "a": 2.0, "b": 1.0}})
    >>> r.hit_rank.tolist(), r.hit_grade.tolist(), r.retrieved.tolist()
    ([2, 3], [1.0, 0.0], [3])
    """
    if None not in as_runs(run):
        raise InputError(
            "judge takes one run; judged.evaluate takes several, as {name: run} or a list of paths."
        )
    pool = pool_of(read_judgements(judgements), duplicates=duplicates)
    return judge_pool(
        pool,
        read_run(run),
        policy=Policy.of(policy),
        depth=depth,
        duplicates=duplicates,
        collection=collection,
    )


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
        return lambda run: judge_pool(
            pool, run, policy=policy, depth=depth, duplicates=duplicates, collection=collection
        )
    from judged.judging.categories import BASIS, unique_judgements, unique_results

    table = read_categories(unique)
    pool = pool_of(
        unique_judgements(judgements, table, duplicates=duplicates), duplicates=duplicates
    )

    def judge_categories(run: Run | Lookup) -> Rankings:
        found = unique_results(run, table, duplicates=duplicates)
        rankings = judge_pool(
            pool, found, policy=policy, depth=depth, duplicates=duplicates, collection=collection
        )
        return replace(rankings, basis=BASIS)

    return judge_categories


def judge_pool(
    pool: Pool,
    run: Run | Lookup,
    *,
    policy: Policy,
    depth: int | None,
    duplicates: str,
    collection: Collection = None,
) -> Rankings:
    """As `judge`, with judgements made ready once for several runs."""
    limit = None if depth is None else _whole_number(depth)
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
        hit_item=None
        if pool.subtopics is None
        else (found.hit_judgement - starts_of(pool.lengths)[query])[order],
        pool_query=pool.query,
        pool_grade=pool.best_first,
        subtopics=pool.subtopics,
        missing=~present,
        collection=_collection(collection, pool.queries),
        ties=policy.ties,
        name=run.name,
    )
    shown = whole if limit is None else cut(whole, limit)
    final = condensed(shown) if policy.unjudged == "removed" else shown
    audit = Audit.of(
        shown,
        run_queries=found.run_queries,
        notes=tuple(dict.fromkeys(pool.notes + run.notes)),
        fractional_grades=int(((pool.grades > 0) & (pool.grades < 1)).sum()),
        negative_grades=int((pool.grades < 0).sum()),
        infinite_scores=found.infinite,
        duplicates_dropped=found.dropped + pool.dropped,
        cut_by_depth=int((whole.retrieved - shown.retrieved).sum()),
        unjudged_removed=int((shown.retrieved - final.retrieved).sum()),
    )
    return replace(final, audit=audit)


def _whole_number(depth: Any) -> int:
    """A depth as an int, whatever kind of integer it is."""
    try:
        number = 0 if isinstance(depth, bool) else index(depth)
    except TypeError:
        number = 0
    if number < 1:
        raise PolicyError(f"depth must be a whole number from 1; got {depth!r}.")
    return number


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
        *most, last = (choice for choice in CHOICES["ties"] if choice != "id")
        raise PolicyError(
            f"items have no ids here: ties must be {', '.join(most)} or {last}; got {ties!r}."
        )
    grade, lengths = _flat(y_true, "y_true")
    score, own = _flat(y_score, "y_score")
    if len(lengths) != len(own):
        raise InputError(
            f"y_true has {len(lengths)} rows, y_score has {len(own)}; they must be as many."
        )
    if (wrong := np.flatnonzero(lengths != own)).size:
        at = wrong[0]
        raise InputError(
            f"row {at} of y_true has {lengths[at]} values, that of y_score has {own[at]}; they "
            "must be as many."
        )
    query = np.repeat(np.arange(len(lengths)), lengths)
    for what, bad in (("y_true", ~np.isfinite(grade)), ("y_score", np.isnan(score))):
        if (wrong := np.flatnonzero(bad)).size:
            at = wrong[0]
            value = "infinite" if np.isinf(grade[at]) and what == "y_true" else "NaN"
            raise InputError(
                f"{what} is {value} in row {query[at]}, column "
                f"{at - starts_of(lengths)[query[at]]}."
            )
    names = (
        tuple(str(i) for i in range(1, len(lengths) + 1))
        if queries is None
        else tuple(map(str, queries))
    )
    if len(names) != len(lengths):
        raise InputError(
            f"queries has {len(names)} ids, y_true has {len(lengths)} rows; they must be as many."
        )
    if len(set(names)) < len(names):
        raise InputError("queries must be distinct ids.")
    order = np.lexsort((-score, query))
    grade, score, rank = grade[order], score[order], ordinals(query, len(lengths))
    new = (
        np.append(True, (query[1:] != query[:-1]) | (score[1:] != score[:-1]))
        if len(query)
        else np.zeros(0, bool)
    )
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
        raise InputError(
            f"{what} must hold one row of numbers for each query; for a single query write [[…]]."
        )
    return np.concatenate(parts), np.array([len(part) for part in parts], dtype=np.int64)


def _collection(given: Collection, queries: tuple[str, ...]) -> Ints | None:
    if isinstance(given, Mapping):
        lost = [query for query in queries if query not in given]
        if lost:
            raise InputError(
                f"collection has no size for query {lost[0]!r}; give one for each judged query, or "
                "one for all."
            )
        return each_query([given[query] for query in queries], queries, "collection")
    return each_query(given, queries, "collection")
