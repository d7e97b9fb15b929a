"""Run + judgements -> Rankings: where ties are broken, and duplicates, unjudged items and depth are
decided.

A run is never sorted as a whole. The rank of a judged item is one more than the number of greater
scores in its list, found by bisection in the list's scores; only where scores tie are item ids
looked at, and only those of the ties that a judged item takes part in.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from judged.inputs.blocks import RunBlocks
from judged.inputs.data import Data
from judged.inputs.tables import Judgements, Lookup, Run
from judged.matching.items import with_items
from judged.matching.join import match, refuse_apart
from judged.matching.judges import Judge, collection_sizes, judge_pool, ranked
from judged.matching.pool import pool_of
from judged.matching.variants import Variants
from judged.matching.weights import UNUSED, own_weights
from judged.options import checked
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.text import Warned

if TYPE_CHECKING:
    from judged.options import (
        CollectionLike,
        ColumnsLike,
        Duplicates,
        Engine,
        ItemToLike,
        JudgementsLike,
        PolicyLike,
        RunLike,
    )

__all__ = ["Judge", "judge", "judge_pool", "judge_variants", "judging", "pool_of"]


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
    engine: Engine | None = None,
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
    engine : {"memory", "spark", "tables"}, optional
        What computes with tables that live elsewhere; see `evaluate`.

    Returns
    -------
    Rankings

    >>> r = judge({"q1": {"a": 1, "b": 0, "c": 1}}, {"q1": {"x": 3.0, "a": 2.0, "b": 1.0}})
    >>> r.hit_rank.tolist(), r.hit_grade.tolist(), r.retrieved.tolist()
    ([2, 3], [1.0, 0.0], [3])
    """
    data = with_items(
        Data.of(judgements, run, columns=columns, engine=engine),
        item_to=item_to,
        exclude_same_id=exclude_same_id,
        duplicates=duplicates,
    )
    known = data.judgements()
    listed = data.run(
        "judge takes one run; judged.evaluate takes several, as {name: run} or a list of paths."
    )
    judge_one = judging(
        known,
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
) -> Judge:
    """As `judge`, with judgements made ready once, for one run after another, whole or in blocks.

    With `best_scores`, rankings hold each query's greatest score, where the run has scores.
    """
    return Judge(
        pool_of(judgements, duplicates=duplicates),
        policy=policy,
        depth=depth,
        duplicates=duplicates,
        collection=collection,
        best_scores=best_scores,
        weights=own_weights(judgements),
    )


def judge_variants(
    judgements: Judgements | Lookup,
    run: Run | Lookup | RunBlocks,
    *,
    depth: int | None = None,
    duplicates: str = "error",
    collection: CollectionLike | None = None,
) -> Variants:
    """As `judge`, under any rule for ties and unjudged items; the items are matched once, but those
    of a run in blocks once for each tie rule that needs it."""
    if isinstance(run, RunBlocks):
        return _variants_of_blocks(judgements, run, depth, duplicates, collection)
    if own_weights(judgements) is not None:
        run = replace(run, notes=(*run.notes, Warned(UNUSED)))
    pool = pool_of(judgements, duplicates=duplicates)
    found = match(pool, run, duplicates=duplicates)
    refuse_apart(pool, run, found)
    sizes = collection_sizes(collection, pool.queries)

    def ranked_by(ties: str) -> Rankings:
        return ranked(pool, run, found, Policy.of({"ties": ties}), depth, sizes)

    return Variants(ranked_by("id"), ranked_by)


def _variants_of_blocks(
    judgements: Judgements | Lookup,
    run: RunBlocks,
    depth: int | None,
    duplicates: str,
    collection: CollectionLike | None,
) -> Variants:
    if own_weights(judgements) is not None:
        run = run.then(lambda table: replace(table, notes=(*table.notes, Warned(UNUSED))))
    pool = pool_of(judgements, duplicates=duplicates)

    def ranked_by(ties: str) -> Rankings:
        return Judge(pool, Policy.of({"ties": ties}), depth, duplicates, collection)(run)

    return Variants(ranked_by("id"), ranked_by)
