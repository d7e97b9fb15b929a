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
    from judged.evaluation.parts import Asked
    from judged.evaluation.request import Request
    from judged.evaluation.scored import Scored
    from judged.options import ConventionLike, GroupsLike, MeasuresLike, PolicyLike, WeightsLike

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


@dataclass(frozen=True)
class Numbers:
    """What is asked for: measures and policy, what is said about the queries, and intervals."""

    request: Request
    tie_range: bool = False
    weights: WeightsLike | None = None
    unanswerable: bool = False
    answer_threshold: float | None = None
    interval: bool = False
    level: float = 0.95
    groups: GroupsLike | None = None

    def of(self, rankings: Sequence[Rankings]) -> Evaluation:
        """The numbers of rankings, with their warnings issued."""
        from judged.evaluation.parts import evaluated

        asked = self.asked()
        return self.of_runs([evaluated(r, asked) for r in rankings], asked)

    def of_runs(self, runs: Sequence[tuple[Scored, Rankings | None]], asked: Asked) -> Evaluation:
        """Those of what was evaluated."""
        from judged.evaluation.evaluation import evaluate_runs
        from judged.evaluation.warnings import announced

        chosen = {"interval": self.interval, "level": self.level, "groups": self.groups}
        return announced(evaluate_runs(runs, asked, **chosen))  # type: ignore[arg-type]

    def asked(self) -> Asked:
        """What is computed of each block of rankings."""
        from judged.evaluation.parts import Asked

        return Asked.of(
            self.request,
            tie_range=self.tie_range,
            unanswerable=self.unanswerable,
            answer_threshold=self.answer_threshold,
            weights=self.weights,
        )
