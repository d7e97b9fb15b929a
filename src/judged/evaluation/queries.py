"""Which queries count in the means, and how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from judged.errors import InputError
from judged.evaluation.settlement import under
from judged.evaluation.unanswerable import Unanswerable, apart_policy, set_apart
from judged.evaluation.weighting import refuse_sums
from judged.judging.weights import weighted

if TYPE_CHECKING:
    from judged.evaluation.request import Request
    from judged.rankings.rankings import Rankings
    from judged.types import WeightsLike


def counting(
    rankings: Sequence[Rankings],
    request: Request,
    weights: WeightsLike | None,
    *,
    unanswerable: bool,
    threshold: float | None,
) -> tuple[Sequence[Rankings], Request, Sequence[Unanswerable | None]]:
    """The rankings as the policy wants them, with the weights of their queries and without the
    queries that are looked at apart; the policy that then holds; and what was seen of those."""
    if unanswerable:
        request = replace(request, policy=apart_policy(request.policy))
    elif threshold is not None:
        raise InputError(
            "answer_threshold is about queries with nothing relevant, which are looked at with "
            "unanswerable=True (--unanswerable)."
        )
    if weights is not None:
        from judged.inputs.weights import read_weights

        of_queries = read_weights(weights)
        rankings = [weighted(each, of_queries) for each in rankings]
    if any(each.weights is not None for each in rankings):
        refuse_sums(request.measures)
    rankings = [under(each, request.policy) for each in rankings]
    if unanswerable:
        answerable, apart = set_apart(rankings, request, threshold)
        return answerable, request, apart
    return rankings, request, [None] * len(rankings)
