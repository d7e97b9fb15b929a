"""In which order candidates are worth a judgement, and in which annotators get them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judged.segments import Floats, Ints, borders, ordinals

if TYPE_CHECKING:
    from judged.judgements.queues.candidates import Candidates

_DIGITS = 12
"""Effects that differ only beyond so many decimals are equal: the rest is rounding."""


def by_effect(candidates: Candidates, effects: Floats) -> Ints:
    """The greatest effect first, then the best rank; then in the order of queries and ids."""
    return np.lexsort((candidates.best_rank, -np.round(effects, _DIGITS)))


def by_depth(candidates: Candidates) -> Ints:
    """The best rank first; at each rank the queries take turns, and a query's items come in the
    order of their ids."""
    query, rank = candidates.query, candidates.best_rank
    grouped = np.lexsort((rank, query))
    together = np.cumsum(borders(query[grouped], rank[grouped])) - 1
    turn = np.empty(len(grouped), np.int64)
    if len(grouped):
        turn[grouped] = ordinals(together, int(together[-1]) + 1)
    return np.lexsort((query, turn, rank))


def blind(query: Ints, chosen: Ints, seed: int) -> Ints:
    """Chosen candidates, the most worthwhile first, in the order of the annotators' file: queries
    in the order of their first, and the items of each shuffled."""
    # Numbers are drawn for candidates in the order of their ids, so that how worthwhile they are
    # plays no part in it.
    ids = np.sort(chosen)
    drawn = np.random.default_rng(seed).random(len(ids))
    _, first = np.unique(query[chosen], return_index=True)
    names = query[chosen][np.sort(first)]
    turn = np.empty(int(query.max(initial=0)) + 1, np.int64)
    turn[names] = np.arange(len(names))
    return ids[np.lexsort((drawn, turn[query[ids]]))]
