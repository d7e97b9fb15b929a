"""Rankings of different queries of one run as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError
from judged.rankings.columns import Subtopics
from judged.rankings.findings import findings_of, total
from judged.rankings.weights import Weights

if TYPE_CHECKING:
    from judged.rankings.rankings import Rankings

_BY_QUERY = ("retrieved", "missing", "collection", "best_score")
_BY_HIT = ("hit_rank", "hit_grade", "hit_tie_first", "hit_tie_last", "hit_item")


def concatenated(blocks: Sequence[Rankings], order: Sequence[str] | None) -> Rankings:
    """See `Rankings.concat`."""
    if not blocks:
        raise InputError("there are no rankings to put together; give at least one.")
    found = total(map(findings_of, blocks)) if any(each.findings for each in blocks) else None
    filled = [each for each in blocks if len(each)] or [blocks[0]]
    whole = filled[0] if len(filled) == 1 else _joined(filled)
    if order is not None and whole.queries != tuple(order):
        whole = _in_order(whole, order)
    return replace(whole, findings=None if found is None else found.in_order(whole.queries))


def _joined(blocks: Sequence[Rankings]) -> Rankings:
    """Blocks end to end."""
    first = blocks[0]
    if any(each.whole is not None for each in blocks):
        before = _joined([replace(each.whole or each, findings=None) for each in blocks])
    else:
        before = None
    starts = np.cumsum([0, *(len(each) for each in blocks)])[:-1]

    def numbered(name: str) -> NDArray[Any]:
        return np.concatenate(
            [getattr(each, name) + start for each, start in zip(blocks, starts, strict=True)]
        )

    subtopics = None
    if first.subtopics is not None:
        parts = [each.subtopics for each in blocks if each.subtopics is not None]
        subtopics = Subtopics(
            np.concatenate([p.query + s for p, s in zip(parts, starts, strict=True)]),
            *(
                np.concatenate([getattr(part, name) for part in parts])
                for name in ("item", "subtopic", "grade")
            ),
        )
    weights = [each.weights for each in blocks if each.weights is not None]
    columns: dict[str, Any] = {name: _column(blocks, name) for name in (*_BY_QUERY, *_BY_HIT)}
    return replace(
        first,
        queries=tuple(query for each in blocks for query in each.queries),
        hit_query=numbered("hit_query"),
        pool_query=numbered("pool_query"),
        pool_grade=np.concatenate([each.pool_grade for each in blocks]),
        **columns,
        subtopics=subtopics,
        weights=Weights(np.concatenate([each.values for each in weights]), weights[0].source)
        if weights
        else None,
        whole=before,
    )


def _column(blocks: Sequence[Rankings], name: str) -> NDArray[Any] | None:
    """A column of all blocks; None where one has none."""
    parts = [getattr(each, name) for each in blocks]
    return None if any(part is None for part in parts) else np.concatenate(parts)


def _in_order(whole: Rankings, order: Sequence[str]) -> Rankings:
    """The rankings of all queries in another order."""
    at = {query: number for number, query in enumerate(whole.queries)}
    if len(at) != len(whole) or set(at) != set(order):
        twice = sorted(query for query in at if whole.queries.count(query) > 1)
        lost = sorted(set(at) ^ set(order))
        told = f"{twice[0]!r} is there twice" if twice else f"{lost[0]!r} is on one side only"
        raise InputError(f"rankings to put together must hold each query once: {told}.")
    return whole.take(np.array([at[query] for query in order], np.int64))
