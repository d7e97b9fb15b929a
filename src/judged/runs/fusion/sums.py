"""The results of all runs that are about the same item of a query, added up and put in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, borders, starts_of
from judged.errors import InputError
from judged.runs.fusion.lists import Collected, ranked, within
from judged.runs.fusion.settings import Settings

if TYPE_CHECKING:
    import polars as pl

_ODD = np.uint64(0x9E3779B97F4A7C15)
"""Spreads the numbers of queries over all bits of a key."""


@dataclass(frozen=True, eq=False)
class Fused:
    """The fused lists, end to end, the best item of each first."""

    query: Ints
    """The number of each result's query."""
    row: Ints
    """A row of all runs that has the item."""
    score: Floats
    rank: Ints
    alone: Ints
    """How many items of all queries each run has that no other has, whatever the depth."""
    cut: int
    """How many lists were longer than the depth."""


def fused(collected: Collected, gained: Sequence[Floats], settings: Settings) -> Fused:
    """The sums of what the results of each run give, in order."""
    query = np.concatenate([each.query for each in collected.runs])
    row = np.concatenate([each.row for each in collected.runs])
    group = _groups(query, row, collected.items)
    items = int(group.max()) + 1
    given = np.zeros((len(gained), items))
    has = np.zeros((len(gained), items), bool)
    at = 0
    for number, (each, weight) in enumerate(zip(gained, settings.weights, strict=True)):
        own = group[at : at + len(each)]
        given[number, own] = weight * each
        has[number, own] = True
        at += len(each)
    total = _summed(given)
    lists = has.sum(axis=0)
    alone = (has & (lists == 1)).sum(axis=1)
    if settings.method == "combmnz":
        total = total * lists
    if not np.isfinite(total).all():
        raise InputError(
            "the sums of some scores are beyond all floating-point numbers; normalise the scores "
            "(--normalise minmax), or give smaller weights."
        )
    # An item stands where it is named first: in the order of the runs, and of their lists.
    first = np.empty(items, np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    first.sort()
    total = total[group[first]]
    return _ordered(query[first], row[first], total, alone, collected.items, settings)


def _ordered(
    query: Ints, row: Ints, total: Floats, alone: Ints, items: pl.Series, settings: Settings
) -> Fused:
    """The fused lists in the order of their queries, down to the depth."""
    named = np.argsort(query, kind="stable")
    query, row, total = query[named], row[named], total[named]
    lengths = np.bincount(query)
    place, new = ranked(total, lengths, query, items, row, settings.ties)
    rank = np.arange(len(query)) - np.repeat(starts_of(lengths), lengths) + 1
    kept = within(rank, new, settings.depth, settings.ties)
    cut = int((lengths > settings.depth).sum())
    return Fused(
        query[kept], row[place][kept], total[place][kept], rank[kept], alone.astype(np.int64), cut
    )


def _summed(given: Floats) -> Floats:
    """The sum of what the runs give each item, whatever their order: items that get the same from
    other runs tie exactly."""
    if len(given) > 2:
        given = np.sort(given, axis=0)
    total = given[0]
    for each in given[1:]:
        total = total + each
    return total


def _groups(query: Ints, row: Ints, items: pl.Series) -> Ints:
    """The number of each result's query and item: results about the same have the same.

    Keys of 64 bits are sorted, and the ids are compared where neighbours agree; if two different
    ids ever have one key, they get other keys.
    """
    own = items.gather(row)
    for seed in count():
        key = own.hash(seed).to_numpy() + query.astype(np.uint64) * _ODD
        order = np.argsort(key)
        new = borders(key[order])
        if _agree(order, new, query, own):
            group = np.empty(len(order), np.int64)
            group[order] = np.cumsum(new) - 1
            return group
    raise AssertionError


def _agree(order: Ints, new: NDArray[np.bool_], query: Ints, items: pl.Series) -> bool:
    """Whether all neighbours with the same key are about the same item of the same query."""
    second = np.flatnonzero(~new)
    one, other = order[second - 1], order[second]
    if (query[one] != query[other]).any():
        return False
    return bool((items.gather(one) == items.gather(other)).all())
