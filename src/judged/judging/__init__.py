"""Run + judgements -> Rankings: where ties are broken, and duplicates, unjudged items and depth are
decided.

A run is never sorted as a whole. The rank of a judged item is one more than the number of greater
scores in its list, found by bisection in the list's scores; only where scores tie are item ids
looked at, and only those of the ties that a judged item takes part in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judged.checks import checked
from judged.errors import InputError
from judged.inputs.data import Data
from judged.inputs.order import OrderOnly
from judged.inputs.tables import Judgements, Lookup, Run
from judged.judging.faults import doubtful_ties, rising_scores
from judged.judging.ids import unlike_ids
from judged.judging.items import with_items
from judged.judging.join import Matches, match
from judged.judging.own_ids import warning_of_own_ids
from judged.judging.pool import Pool, pool_of
from judged.judging.ties import place
from judged.judging.variants import Variants, condensed, cut
from judged.judging.weights import UNUSED, own_weights, weighted
from judged.policy import Policy
from judged.rankings.audit import Audit
from judged.rankings.grades import each_query
from judged.rankings.rankings import Rankings, by_query_and_rank
from judged.segments import Floats, Ints, starts_of
from judged.text import Warned

if TYPE_CHECKING:
    from judged.types import (
        CollectionLike,
        ColumnsLike,
        Duplicates,
        ItemToLike,
        JudgementsLike,
        PolicyLike,
        RunLike,
    )

__all__ = ["judge", "judge_pool", "judge_variants", "judging", "pool_of"]


@checked
def judge(
    judgements: JudgementsLike,
    run: RunLike | None = None,
    *,
    policy: PolicyLike | None = None,
    depth: int | None = None,
    duplicates: Duplicates = "error",
    collection: CollectionLike | None = None,
    item_to: ItemToLike | None = None,
    exclude_same_id: bool = False,
    columns: ColumnsLike | None = None,
) -> Rankings:
    """Match a run with judgements: the ranks of its judged items, which every measure reads.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table.
    run : RunLike, optional
        A file, a dict {query: {item: score}} or {query: [items, best first]}, or a table; None
        where `judgements` are rows that hold relevant and retrieved ids.
    policy : PolicyLike, optional
        How ties are broken and what becomes of unjudged items; see `Policy`.
    depth : int, optional
        Cut every list at this rank first; by default lists count whole.
    duplicates : {"error", "first"}, optional
        What is done about an item that occurs twice for a query.
    collection : CollectionLike, optional
        How many items there are to retrieve: one number, or {query: number}.
    item_to : ItemToLike, optional
        Which document an item belongs to: "doc:#" (what stands before the last # of its id),
        "pattern:REGEX" (its first group), "column:NAME", "table:FILE", a dict {item: document}, a
        table or a function. The best result of each document stands for it.
    exclude_same_id : bool, optional
        Take out results that have the id of their query, and judgements of a query for itself.
    columns : ColumnsLike, optional
        What each column of a table is, such as {"query": "question_id", "item": "chunk_id"}; by
        default their names tell.

    Returns
    -------
    Rankings

    >>> r = judge({"q1": {"a": 1, "b": 0, "c": 1}}, {"q1": {"x": 3.0, "a": 2.0, "b": 1.0}})
    >>> r.hit_rank.tolist(), r.hit_grade.tolist(), r.retrieved.tolist()
    ([2, 3], [1.0, 0.0], [3])
    """
    data = with_items(
        Data.of(judgements, run, columns=columns),
        item_to=item_to,
        exclude_same_id=exclude_same_id,
        duplicates=duplicates,
    )
    listed = data.run(
        "judge takes one run; judged.evaluate takes several, as {name: run} or a list of paths."
    )
    judge_one = judging(
        data.judgements(),
        policy=Policy.of(policy),
        depth=depth,
        duplicates=duplicates,
        collection=collection,
    )
    return judge_one(listed)


def judging(
    judgements: Judgements | Lookup,
    *,
    policy: Policy,
    depth: int | None = None,
    duplicates: str = "error",
    collection: CollectionLike | None = None,
    best_scores: bool = False,
) -> Callable[[Run | Lookup], Rankings]:
    """As `judge`, with judgements made ready once: a function that judges one run after another.

    With `best_scores`, rankings hold each query's greatest score, where the run has scores.
    """
    weights = own_weights(judgements)
    pool = pool_of(judgements, duplicates=duplicates)

    def judge_one(run: Run | Lookup) -> Rankings:
        rankings = judge_pool(
            pool,
            run,
            policy=policy,
            depth=depth,
            duplicates=duplicates,
            collection=collection,
            best_scores=best_scores,
        )
        return rankings if weights is None else weighted(rankings, weights)

    return judge_one


def judge_variants(
    judgements: Judgements | Lookup,
    run: Run | Lookup,
    *,
    depth: int | None = None,
    duplicates: str = "error",
    collection: CollectionLike | None = None,
) -> Variants:
    """As `judge`, under any rule for ties and unjudged items; the items are matched once."""
    if own_weights(judgements) is not None:
        run = replace(run, notes=(*run.notes, Warned(UNUSED)))
    pool = pool_of(judgements, duplicates=duplicates)
    found = match(pool, run, duplicates=duplicates)

    def ranked(ties: str) -> Rankings:
        return _ranked(pool, run, found, Policy.of({"ties": ties}), depth, collection)

    return Variants(ranked("id"), ranked)


def judge_pool(
    pool: Pool,
    run: Run | Lookup,
    *,
    policy: Policy,
    depth: int | None,
    duplicates: str,
    collection: CollectionLike | None = None,
    best_scores: bool = False,
) -> Rankings:
    """As `judge`, with judgements made ready once for several runs."""
    found = match(pool, run, duplicates=duplicates)
    ranked = _ranked(pool, run, found, policy, depth, collection)
    if best_scores and not any(isinstance(note, OrderOnly) for note in run.notes):
        best = _best_scores(found)
        whole = None if ranked.whole is None else replace(ranked.whole, best_score=best)
        ranked = replace(ranked, best_score=best, whole=whole)
    return ranked


def _best_scores(found: Matches) -> Floats:
    """The greatest score of each judged query's results; NaN where there are none."""
    best = np.full(len(found.lengths) + 1, np.nan)  # the last is of a query that the run lacks
    some = np.flatnonzero(found.lengths)
    best[some] = np.maximum.reduceat(found.scores, starts_of(found.lengths)[some])
    return best[found.list_of]


def _ranked(
    pool: Pool,
    run: Run | Lookup,
    found: Matches,
    policy: Policy,
    depth: int | None,
    collection: CollectionLike | None,
) -> Rankings:
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
        collection=collection_sizes(collection, pool.queries),
        ties=policy.ties,
        basis=run.basis,
        name=run.name,
    )
    shown = whole if depth is None else cut(whole, depth)
    final = condensed(shown) if policy.unjudged == "removed" else shown
    doubts = (
        *unlike_ids(pool, run, found),
        *warning_of_own_ids(pool, found),
        *doubtful_ties(pool.queries, query, found.hit_score, places.last > places.first),
        *(() if places.in_order else rising_scores(found.scores, found.lengths, run.notes)),
    )
    audit = Audit.of(
        shown,
        run_queries=found.run_queries,
        notes=tuple(dict.fromkeys((*doubts, *pool.notes, *run.notes))),
        fractional_grades=int(((pool.grades > 0) & (pool.grades < 1)).sum()),
        negative_grades=int((pool.grades < 0).sum()),
        infinite_scores=found.infinite,
        duplicates_dropped=found.dropped + pool.dropped,
        cut_by_depth=int((whole.retrieved - shown.retrieved).sum()),
        unjudged_removed=int((shown.retrieved - final.retrieved).sum()),
    )
    return replace(final, audit=audit)


def collection_sizes(given: CollectionLike | None, queries: tuple[str, ...]) -> Ints | None:
    """How many items there are to retrieve for each query; None where nobody says."""
    if isinstance(given, Mapping):
        lost = [query for query in queries if query not in given]
        if lost:
            raise InputError(
                f"collection has no size for query {lost[0]!r}; give one for each judged query, or "
                "one for all."
            )
        return each_query([given[query] for query in queries], queries, "collection")
    return each_query(given, queries, "collection")
