"""Which keys agree: pairs of rows that may be about the same, by one sort of integers; or, where
rows of one series are hardly ever repeated, by a table of their places."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judged.segments import Ints, positions

if TYPE_CHECKING:
    import polars as pl

_BLOCK = 1 << 17
"""Rows worked on at a time: what is made of them on the way stays in the processor's cache."""
_TABLE = 1 << 20
"""A longer series is sorted: a table of its places would be large, and no quicker."""
_SPARSE = 2
"""A table has four to eight slots for each place."""


def equal_pairs(*keys: pl.Series) -> tuple[Ints, Ints]:
    """Pairs of places whose keys agree, the smaller place on the left: a suspicion, for the strings
    to confirm.

    Places count on from one series to the next. All pairs of a place in the first series and one in
    a later series are there. Of places in one series, each that agrees with any other is in some
    pair; they are not all paired, as a row repeated n times has n² pairs.

    One sort of integers does it, shared out among the processors by the keys' highest bits: the
    place is packed into the low bits of its key, so that it need not be sorted along.
    """
    first, *others = ([chunk.to_numpy() for chunk in key.get_chunks()] for key in keys)
    return _by_sorting(first, [chunk for chunks in others for chunk in chunks])


def matching_pairs(first: pl.Series, *others: pl.Series) -> tuple[Ints, Ints]:
    """As `equal_pairs`, in any order, and without the pairs of places in later series.

    Each key of the first series writes its place into a table, at its highest bits, and the keys of
    the others look there. Only those that share a slot with another key are sorted, which are few;
    or all, where a key is in the first series twice.
    """
    count = len(first)
    if not 0 < count <= _TABLE:
        return equal_pairs(first, *others)
    keys, sought = first.to_numpy(), [each.to_numpy() for each in others]
    shift = np.uint64(64 - _SPARSE - count.bit_length())
    place = np.arange(count, dtype=np.uint32)
    slot = (keys >> shift).view(np.int64)
    table = np.zeros(1 << (_SPARSE + count.bit_length()), np.uint32)
    table[slot] = place
    holder = table[slot]
    crowded = np.flatnonzero(holder != place)
    if (keys[holder[crowded]] == keys[crowded]).any():
        return _by_sorting([keys], sought)
    left, right, lost, at = [crowded[:0]], [crowded[:0]], [crowded], count
    for own in sought:
        holder = table[(own >> shift).view(np.int64)]
        met = keys[holder] == own
        left.append(holder[met].astype(np.int64))
        right.append(np.flatnonzero(met) + at)
        lost.append(np.flatnonzero(~met) + at)
        at += len(own)
    if len(crowded):
        begins = np.cumsum([count, *map(len, sought)])
        rest = [
            own[each - begin] for own, each, begin in zip(sought, lost[1:], begins, strict=False)
        ]
        one, other = _by_sorting([keys[crowded]], rest)
        places, here = np.concatenate(lost), one < len(crowded)
        left.append(places[one[here]])
        right.append(places[other[here]])
    return np.concatenate(left), np.concatenate(right)


def _by_sorting(
    first: list[NDArray[np.uint64]], others: list[NDArray[np.uint64]]
) -> tuple[Ints, Ints]:
    from concurrent.futures import ThreadPoolExecutor

    chunks, border = [*first, *others], sum(map(len, first))
    count = sum(map(len, chunks))
    low = max(count - 1, 1).bit_length()
    bits = min((os.cpu_count() or 1).bit_length() - 1, 3) if count > _BLOCK else 0

    def pairs(share: int) -> tuple[Ints, Ints]:
        return _equal_pairs(chunks, low, share, bits, border)

    if not bits:
        return pairs(0)
    with ThreadPoolExecutor(1 << bits) as pool:
        shares = list(pool.map(pairs, range(1 << bits)))
    return np.concatenate([left for left, _ in shares]), np.concatenate(
        [right for _, right in shares]
    )


def _equal_pairs(
    chunks: list[NDArray[np.uint64]], low: int, share: int, bits: int, border: int
) -> tuple[Ints, Ints]:
    """The pairs among the keys whose highest bits are this share's."""
    mask = np.uint64((1 << low) - 1)
    parts: list[NDArray[np.uint64]] = [np.zeros(0, np.uint64)]
    at = 0
    for values in chunks:
        for begin in range(0, len(values), _BLOCK):
            block = values[begin : begin + _BLOCK]
            place = np.arange(at, at + len(block), dtype=np.uint64)
            at += len(block)
            if bits:
                own = block >> np.uint64(64 - bits) == share
                block, place = block[own], place[own]
            parts.append((block & ~mask) | place)
    packed = np.concatenate(parts)
    packed.sort()
    near = _neighbours(packed, mask)
    left = (packed[near] & mask).astype(np.int64)
    right = (packed[near + 1] & mask).astype(np.int64)
    # Where more than two agree, not all pairs across the border are neighbours.
    starts = np.diff(near, prepend=-2) > 1
    ends = np.append(starts[1:], True)[: len(near)]
    crowds = near[ends] - near[starts] > 0
    first, size = near[starts][crowds], (near[ends] - near[starts] + 2)[crowds]
    members = positions(first, size)
    inside = (packed[members] & mask) < border
    here = np.bincount(np.repeat(np.arange(len(size)), size), inside, len(size)).astype(np.int64)
    there = members[~inside]
    fellows = np.repeat(here, size - here)
    one = positions(np.repeat(first, size - here), fellows)
    other = np.repeat(there, fellows)
    apart = other - one > 1
    return (
        np.concatenate([left, (packed[one[apart]] & mask).astype(np.int64)]),
        np.concatenate([right, (packed[other[apart]] & mask).astype(np.int64)]),
    )


def _neighbours(packed: NDArray[np.uint64], mask: np.uint64) -> Ints:
    """Where keys agree with the next one."""
    last = len(packed) - 1
    blocks = ((begin, min(begin + _BLOCK, last)) for begin in range(0, last, _BLOCK))
    found = [
        begin + np.flatnonzero((packed[begin + 1 : end + 1] ^ packed[begin:end]) <= mask)
        for begin, end in blocks
    ]
    return np.concatenate([np.zeros(0, np.int64), *found])
