"""Numbers of rankings that come from vectors; what computes them is loaded when it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judged.rankings.rankings import Rankings

if TYPE_CHECKING:
    from judged.embeddings.top_k import TopK
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.request import Request
    from judged.types import ConventionLike, GroupsLike, MeasuresLike, PolicyLike, WeightsLike

ONE_DIRECTION = (
    "weights, groups and unanswerable are about the queries, and with both=True the items are "
    "queries too; evaluate one direction at a time."
)


def request_of(
    measures: MeasuresLike | None, policy: PolicyLike | None, convention: ConventionLike | None
) -> Request:
    """What is asked for."""
    from judged.evaluation.request import Request

    return Request.of(measures, policy, convention)


def with_best(r: Rankings, found: TopK | None) -> Rankings:
    """The rankings with the score of each query's first item, where these were looked for."""
    if found is None:
        return r
    best = np.where(found.lengths > 0, found.scores[:, 0].astype(np.float64), np.nan)
    known = dict(zip(found.query_vectors.names(), best.tolist(), strict=True))
    return replace(r, best_score=np.array([known.get(query, np.nan) for query in r.queries]))


def evaluated(
    rankings: Sequence[Rankings],
    request: Request,
    tie_range: bool,
    queries: tuple[WeightsLike | None, bool, float | None],
    intervals: tuple[bool, float, GroupsLike | None],
) -> Evaluation:
    """The numbers, with their warnings issued; with what was asked for about the queries and about
    intervals."""
    from judged.evaluation.evaluation import evaluate_rankings
    from judged.evaluation.warnings import announced

    weights, unanswerable, answer_threshold = queries
    interval, level, groups = intervals
    return announced(
        evaluate_rankings(
            rankings,
            request,
            tie_range=tie_range,
            weights=weights,
            unanswerable=unanswerable,
            answer_threshold=answer_threshold,
            interval=interval,
            level=level,
            groups=groups,
        )
    )
