"""In which order candidates are worth a judgement, and in which annotators get them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, borders, ordinals

if TYPE_CHECKING:
    from judged.judgements.queues.candidates import Candidates

_DIGITS = 12
"""Effects that differ only beyond so many digits are equal: the rest is rounding."""


def by_effect(candidates: Candidates, effects: Floats) -> Ints:
    """The greatest effect first, then the best rank."""
    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.floor(np.log10(np.maximum(effects, 1.0)))
        rounded = np.round(effects / 10**power, _DIGITS) * 10**power
    rounded = np.where(np.isfinite(effects), rounded, effects)
    return _in_turn(candidates.query, candidates.best_rank, -rounded)


def by_depth(candidates: Candidates) -> Ints:
    """The best rank first."""
    return _in_turn(candidates.query, candidates.best_rank)


def _in_turn(query: Ints, *keys: NDArray[Any]) -> Ints:
    """Candidates in the order of some keys, the last of them first; where all are equal, queries
    take turns, and the items of a query come in the order of their ids."""
    grouped = np.lexsort((*keys, query))
    equal = np.cumsum(borders(query[grouped], *(key[grouped] for key in keys))) - 1
    turn = np.empty(len(query), np.int64)
    turn[grouped] = ordinals(equal, len(query))
    return np.lexsort((query, turn, *keys))


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
