"""Which keys agree: pairs of rows that may be about the same, by one sort of integers; or, where
rows of one series are hardly ever repeated, by a table of their places."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Ints, borders, positions, starts_of

if TYPE_CHECKING:
    import polars as pl

_BLOCK = 1 << 17
"""Rows worked on at a time: what is made of them on the way stays in the processor's cache."""
_TABLE = 1 << 20
"""Where more rows stand together they are sorted: a table of their places would be large, and no
quicker."""
_SPARSE = 2
"""A table has four to eight slots for each place."""
_REGION = 1 << 14
"""Rows of a region, but for its last list."""


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


@dataclass(frozen=True, eq=False)
class Regions:
    """Stretches of rows beyond which no two are about the same."""

    begins: Ints
    """The first row of each."""
    of: tuple[Ints, ...]
    """For each later series the region that each key belongs to; -1 where it can agree with no row.
    """

    @classmethod
    def of_lists(cls, lengths: Ints, *lists: Ints) -> Regions:
        """Those of lists that lie end to end, some thousand rows each; `lists` are the list that
        each key belongs to, or -1, for each later series."""
        starts = starts_of(lengths)
        new = borders(starts // _REGION)
        region = np.append(np.cumsum(new) - 1, -1)
        return cls(starts[new], tuple(region[each] for each in lists))


def matching_pairs(
    first: pl.Series, *others: pl.Series, regions: Regions | None = None
) -> tuple[Ints, Ints]:
    """As `equal_pairs`, in any order, and without the pairs of places in later series or of places
    in two regions.

    Each key of the first series writes its place into a table, at its highest bits, and the keys of
    the others look there: region by region, so that the table stays in the processor's cache. Only
    those that share a slot with another key are sorted, which are few; or all, where a key is in
    the first series twice.
    """
    count = len(first)
    if regions is None:
        regions = Regions(_FIRST, tuple(np.zeros(len(each), np.int64) for each in others))
    ends = np.append(regions.begins[1:], count)
    longest = int((ends - regions.begins).max())
    if not count or longest > _TABLE or count >> 32:
        return equal_pairs(first, *others)
    keys, sought = first.to_numpy(), [each.to_numpy() for each in others]
    # The keys of later series one after the other, as places count on, in the order of regions.
    later = np.concatenate([keys[:0], *sought])
    home = np.concatenate([_FIRST[:0], *regions.of])
    order = np.argsort(home, kind="stable")
    cuts = np.searchsorted(home[order], np.arange(len(regions.begins) + 1))
    bits = longest.bit_length() + _SPARSE
    shift, table = np.uint64(64 - bits), np.zeros(1 << bits, np.uint32)
    left, right = [_FIRST[:0]], [_FIRST[:0]]
    crowded, lost = [_FIRST[:0]], [_FIRST[:0]]
    for at, (begin, end) in enumerate(zip(regions.begins.tolist(), ends.tolist(), strict=True)):
        own = keys[begin:end]
        place = np.arange(begin, end, dtype=np.uint32)
        slot = (own >> shift).view(np.int64)
        table[slot] = place
        holder = table[slot]
        sharing = np.flatnonzero(holder != place)
        if (keys[holder[sharing]] == own[sharing]).any():
            return _by_sorting([keys], sought)
        crowded.append(sharing + begin)
        here = order[cuts[at] : cuts[at + 1]]
        wanted = later[here]
        holder = table[(wanted >> shift).view(np.int64)]
        met = (keys[holder] == wanted) & (holder >= begin)
        left.append(holder[met].astype(np.int64))
        right.append(here[met] + count)
        lost.append(here[~met])
    few, rest = np.concatenate(crowded), np.concatenate(lost)
    if len(few):
        one, other = _by_sorting([keys[few]], [later[rest]])
        places, inside = np.concatenate([few, rest + count]), one < len(few)
        left.append(places[one[inside]])
        right.append(places[other[inside]])
    return np.concatenate(left), np.concatenate(right)


_FIRST = np.zeros(1, np.int64)


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
