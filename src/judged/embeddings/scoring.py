"""Numbers of rankings that come from vectors; what computes them is loaded when it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from judged.rankings.rankings import Rankings

if TYPE_CHECKING:
    from judged.embeddings.top_k import TopK
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.settings import EvaluationSettings
    from judged.options import ConventionLike, GroupsLike, MeasuresLike, PolicyLike, WeightsLike

ONE_DIRECTION = (
    "weights, groups and unanswerable are about the queries, and with both=True the items are "
    "queries too; evaluate one direction at a time."
)


def request_of(
    measures: MeasuresLike | None, policy: PolicyLike | None, convention: ConventionLike | None
) -> EvaluationSettings:
    """What is asked for."""
    from judged.evaluation.settings import EvaluationSettings

    return EvaluationSettings.of(measures, policy, convention)


def with_best(r: Rankings, found: TopK | None) -> Rankings:
    """The rankings with the score of each query's first item, where these were looked for."""
    if found is None:
        return r
    best = np.where(found.lengths > 0, found.scores[:, 0].astype(np.float64), np.nan)
    known = dict(zip(found.query_vectors.names(), best.tolist(), strict=True))
    return replace(r, best_score=np.array([known.get(query, np.nan) for query in r.queries]))


@dataclass(frozen=True)
class Numbers:
    """What is asked for: measures and policy, what is said about the queries, and intervals."""

    request: EvaluationSettings
    tie_range: bool = False
    weights: WeightsLike | None = None
    unanswerable: bool = False
    answer_threshold: float | None = None
    interval: bool = False
    level: float = 0.95
    groups: GroupsLike | None = None

    def of(self, rankings: Sequence[Rankings]) -> Evaluation:
        """The numbers of rankings, with their warnings issued."""
        from judged.evaluation.evaluation import evaluate_rankings
        from judged.evaluation.warnings import announce_warnings

        evaluation = evaluate_rankings(rankings, self.request, weights=self.weights)
        return announce_warnings(
            evaluation.showing(
                intervals=self.interval,
                level=self.level,
                groups=self.groups,
                tie_range=self.tie_range,
                unanswerable=self.unanswerable,
                threshold=self.answer_threshold,
            )
        )
