"""A queue, from runs that are judged and evaluated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judged.errors import InputError, MeasureError, PolicyError
from judged.evaluation.ranges import last_rank
from judged.evaluation.settings import Settings
from judged.inputs.tables import Lookup, Run
from judged.inputs.texts import read_texts
from judged.judgements.queues.bounds import bounds_of
from judged.judgements.queues.candidates import Candidates, best_ranks
from judged.judgements.queues.effects import effects_of
from judged.judgements.queues.order import blind, by_depth, by_effect
from judged.judgements.queues.result import Queue
from judged.matching.listings import Listings
from judged.matching.matcher import collection_sizes
from judged.text import listed

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.runs import JudgedRuns
    from judged.inputs.data import Data
    from judged.measures import Measure
    from judged.options import CollectionLike, ConventionLike, PolicyLike, TextsLike


def request_of(
    measure: str | Measure, policy: PolicyLike | None, convention: ConventionLike | None
) -> Settings:
    """What is asked for: one measure."""
    request = Settings.of(measure, policy, convention, prepares=True)
    if len(request.measures) != 1:
        names = listed(list(map(str, request.measures)))
        raise MeasureError(f"a queue is ordered by one measure; got {names}.")
    return request


def without_judgements(data: Data) -> Data:
    """The same runs, and judgements by which nothing is judged of any of their queries."""
    data = data.kept()
    lists: dict[str, dict[str, float]] = {
        name: {}
        for run in data.runs()
        for name in (run.names() if isinstance(run, Run) else run.lists)
    }
    return replace(data, given=Lookup(lists, "the judgements"))


def made(
    judged: JudgedRuns,
    evaluation: Evaluation,
    *,
    depth: int,
    by: str,
    budget: int | None,
    seed: int,
    top_grade: float | None,
    only_judged_queries: bool,
    texts: TextsLike | None,
    queries: TextsLike | None,
    duplicates: str,
    collection: CollectionLike | None,
) -> Queue:
    """The queue of runs."""
    ties, k = evaluation.policy.ties, last_rank(evaluation.measures[0])
    listings = Listings.of(
        judged.judgements,
        judged.tables,
        ties=ties,
        duplicates=duplicates,
        within=None if k is None else max(depth, k),
        judged_queries=only_judged_queries,
    )
    if listings.pool.subtopics is not None:
        raise PolicyError(
            f"{listings.pool.name}: judged by subtopic, where one grade does not say which "
            "subtopic a result serves; give judgements of whole queries."
        )
    top = _top(evaluation, top_grade)
    found = Candidates.of(listings, depth=depth, ties=ties)
    effects = np.full(len(found), np.nan)
    if by == "effect":
        sizes = collection_sizes(collection, listings.queries)
        effects = effects_of(found, evaluation, grade=top, sizes=sizes)
    order = by_effect(found, effects) if by == "effect" else by_depth(found)
    chosen = order[:budget]
    rows = blind(found.query, chosen, seed)
    place = np.empty(len(found), np.int64)
    place[rows] = np.arange(len(rows))
    names = tuple(map(listings.queries.__getitem__, found.query[rows].tolist()))
    items = tuple(listings.items.gather(found.number[rows]).to_list())
    near = best_ranks(listings, ties, range(len(listings.runs))) <= depth
    return Queue(
        queries=names,
        items=items,
        effects=effects[rows],
        best_ranks=found.best_rank[rows],
        priority=place[chosen],
        bounds=bounds_of(listings, evaluation, top=top),
        evaluation=evaluation,
        by=by,
        depth=depth,
        top_grade=top,
        seed=seed,
        candidates=len(found),
        without_effect=int((effects == 0).sum()) if by == "effect" else None,
        new_queries=listings.queries[len(listings.pool.queries) :],
        negative=int((near & (listings.grades < 0)).sum()),
        texts=None if texts is None else read_texts(texts, only=frozenset(items)),
        query_texts=None
        if queries is None
        else read_texts(queries, of="queries", only=frozenset(names)),
    )


def _top(evaluation: Evaluation, given: float | None) -> float:
    """The top grade: as given, or the highest that there is."""
    known = evaluation.runs[0].rankings.top_grade
    if given is None:
        return known
    if given < known or given <= 0:
        raise InputError(
            f"top_grade must be a number from {known:g}, the highest grade in the judgements; got "
            f"{given:g}."
        )
    return given
