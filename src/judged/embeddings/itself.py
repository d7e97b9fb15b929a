"""Queries that are among the items: each finds itself first, and numbers look better than they
are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judged.embeddings.relations import all_pairs
from judged.inputs.vectors.vectors import ROWS_AT_A_TIME, Matrix, Vectors
from judged.rankings.rankings import Rankings
from judged.segments import Ints
from judged.similarity.equal import keys_of
from judged.similarity.rounding import Precision
from judged.text import Warned

if TYPE_CHECKING:
    from judged.embeddings.search import Search

_SAMPLE = 32
"""Queries that are looked at before all of them are."""

_BY_CHANCE = 8
"""Fewer queries may have vectors of some of the items by chance."""


def warned_of_itself(search: Search, r: Rankings | None = None) -> tuple[str, ...]:
    """A warning where all queries are among the items and some of them are ranked for themselves.

    None where what is ranked says that this is what is asked for: nothing is relevant to a query
    but itself.
    """
    found = _own_items(search.queries, search.items)
    if found is None or (r is not None and is_the_answer(r)):
        return ()
    own, exclude = found
    ranked = len(own)
    if search.exclude is not None:
        gone = all_pairs(search.exclude.bind(search.queries, search.items), len(own))
        pairs = gone.row * len(search.items) + gone.item
        ranked -= int(np.isin(np.arange(len(own)) * len(search.items) + own, pairs).sum())
    if not ranked:
        return ()
    who = "The queries" if ranked == len(own) else f"{ranked:,} of {len(own):,} queries"
    return (
        Warned(
            f"{who} are ranked among the items for themselves (equal vectors) and find themselves "
            f"first; leave each out of its own ranking, {exclude}."
        ),
    )


def is_the_answer(r: Rankings) -> bool:
    """One relevant item for each query, always at the top: the query itself, as in pairs."""
    sizes = np.bincount(r.pool_query, minlength=len(r))
    first = r.hit_rank if r.hit_tie_first is None else r.hit_tie_first
    return bool(sizes.max(initial=0) <= 1 and (first == 1).all())


_BY_ROW = "as with exclude=judged.relevance.same_row() (--exclude-self)"
_BY_ID = "as with exclude=judged.relevance.same_id() (--exclude-same-id)"
_BY_LIST = (
    "with ids on both sides and exclude=judged.relevance.same_id() (--exclude-same-id; rows are "
    "not the same on both sides, so --exclude-self would not do)"
)


def _own_items(queries: Vectors, items: Vectors) -> tuple[Ints, str] | None:
    """For each query the item that is itself, and how to exclude it; None unless all queries are
    among the items."""
    if queries.dims != items.dims or len(queries) > len(items):
        return None
    by_chance = len(queries) < min(_BY_CHANCE, len(items))
    rows = np.arange(len(queries))
    if not by_chance and _equal(queries, items, rows):
        return rows, _BY_ROW
    if queries.ids is not None and items.ids is not None:
        place = {name: row for row, name in enumerate(items.ids)}
        named = np.array([place.get(name, -1) for name in queries.ids])
        if (named >= 0).all() and _equal(queries, items, named):
            return named, _BY_ID
    # Elsewhere there must be no other way to see it: what is in memory is looked through.
    own = None
    if isinstance(items.values, np.ndarray) and not by_chance:
        with np.errstate(over="ignore"):
            own = _by_value(queries, items, items.values[:, 0].astype(_shared(queries, items)))
    return None if own is None else (own, _BY_LIST)


def _shared(queries: Vectors, items: Vectors) -> Precision:
    """The precision that both have: the same numbers may be there in two."""
    both = queries.precise is np.float64 and items.precise is np.float64
    return np.float64 if both else np.float32


def _equal(queries: Vectors, items: Vectors, own: Ints) -> bool:
    """Whether each query has the vector of its item; a few are compared first."""
    if queries.values is items.values and np.array_equal(own, np.arange(len(items))):
        return True
    kind = _shared(queries, items)
    few = np.unique(np.linspace(0, len(own) - 1, _SAMPLE).astype(np.int64))
    if not np.array_equal(queries.rows(few, kind), items.rows(own[few], kind)):
        return False
    in_order = np.array_equal(own, np.arange(len(own)))
    for begin, block in queries.blocks(dtype=kind):
        end = begin + len(block)
        other = items.block(begin, end, kind) if in_order else items.rows(own[begin:end], kind)
        if not np.array_equal(block, other):
            return False
    queries.release()
    items.release()
    return True


def _by_value(queries: Vectors, items: Vectors, firsts: Matrix) -> Ints | None:
    """The one item with each query's vector, another for each; None where a query has none, or
    several as with coarse codes. `firsts` are the items' first numbers."""
    kind = _shared(queries, items)
    few = queries.rows(np.unique(np.linspace(0, len(queries) - 1, _SAMPLE).astype(np.int64)), kind)
    if not np.isin(few[:, 0], firsts).all():
        return None
    of_items = np.concatenate([keys_of(block) for _, block in items.blocks(ROWS_AT_A_TIME, kind)])
    order = np.argsort(of_items, kind="stable")
    ordered = of_items[order]
    own = np.empty(len(queries), np.int64)
    for begin, block in queries.blocks(ROWS_AT_A_TIME, kind):
        keys = keys_of(block)
        at, end = (np.searchsorted(ordered, keys, side=side) for side in ("left", "right"))
        if (end - at != 1).any():
            return None
        own[begin : begin + len(block)] = order[at]
    distinct = len(np.unique(own)) == len(own)
    return own if distinct and _equal(queries, items, own) else None
