"""The hash join of a run with the pool."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress, repeat
from operator import contains
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, borders, positions, starts_of
from judged.errors import InputError, quoted
from judged.inputs.tables import AnyRun, AnyTable, Lookup, Run, texts
from judged.matching.checks import (
    NAN_ADVICE,
    empty_message,
    identity,
    nan_message,
    nothing_in_common,
    refuse_lost,
    refuse_repeated,
    repeated,
    without_repeats,
)

if TYPE_CHECKING:
    import polars as pl

    from judged.matching.pool import Pool


_MAX_TABLE_ROWS = 1 << 20  # more rows are sorted: a table would be large and no faster
_EXTRA_TABLE_BITS = 2  # a table has four to eight slots for each place
_ROWS_PER_REGION = 1 << 14


def equal_pairs(*keys: pl.Series) -> tuple[Ints, Ints]:
    """Find pairs of places whose keys agree, the smaller place first; strings must confirm them.

    Places count on from one series to the next. All pairs of a place in the first series and one in
    a later series are there. Of places in one series, each that agrees with any other is in some
    pair; they are not all paired, because a row repeated n times has n² pairs.

    The place is packed into the low bits of its key, so that it is sorted along.
    """
    first, *others = ([chunk.to_numpy() for chunk in key.get_chunks()] for key in keys)
    return _by_sorting(first, [chunk for chunks in others for chunk in chunks])


def matching_pairs(
    first: pl.Series, *others: pl.Series, lengths: Ints | None = None, lists: Sequence[Ints] = ()
) -> tuple[Ints, Ints]:
    """Find pairs like `equal_pairs`, but only with the first series.

    If the first series is made of lists of these lengths, `lists` has the list of each later key,
    or -1, and only pairs within a region of whole lists are found.

    Each key of the first series writes its place into a table, at its highest bits, and the keys of
    the others look there: region by region, so that the table stays in the processor's cache. Only
    those that share a slot with another key are sorted, which are few; or all, if a key is in the
    first series twice.
    """
    count = len(first)
    begins, homes = _FIRST, [np.zeros(len(series), np.int64) for series in others]
    if lengths is not None:
        starts = starts_of(lengths)
        new = borders(starts // _ROWS_PER_REGION)
        region = np.append(np.cumsum(new) - 1, -1)
        begins, homes = starts[new], [region[numbers] for numbers in lists]
    ends = np.append(begins[1:], count)
    longest = int((ends - begins).max())
    if not count or longest > _MAX_TABLE_ROWS or count >> 32:
        return equal_pairs(first, *others)
    keys, sought = first.to_numpy(), [series.to_numpy() for series in others]
    # The keys of later series one after the other, as places count on, in the order of regions.
    later = np.concatenate([keys[:0], *sought])
    home = np.concatenate([_FIRST[:0], *homes])
    order = np.argsort(home, kind="stable")
    cuts = np.searchsorted(home[order], np.arange(len(begins) + 1))
    bits = longest.bit_length() + _EXTRA_TABLE_BITS
    shift, table = np.uint64(64 - bits), np.zeros(1 << bits, np.uint32)
    left, right = [_FIRST[:0]], [_FIRST[:0]]
    crowded, lost = [_FIRST[:0]], [_FIRST[:0]]
    for number, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
        own_keys = keys[begin:end]
        place = np.arange(begin, end, dtype=np.uint32)
        slot = (own_keys >> shift).view(np.int64)
        table[slot] = place
        holder = table[slot]
        sharing = np.flatnonzero(holder != place)
        if (keys[holder[sharing]] == own_keys[sharing]).any():
            return _by_sorting([keys], sought)
        crowded.append(sharing + begin)
        here = order[cuts[number] : cuts[number + 1]]
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
    border = sum(map(len, first))
    keys = np.concatenate([np.zeros(0, np.uint64), *first, *others])
    mask = np.uint64((1 << max(len(keys) - 1, 1).bit_length()) - 1)
    packed = (keys & ~mask) | np.arange(len(keys), dtype=np.uint64)
    packed.sort()
    near = np.flatnonzero((packed[1:] ^ packed[:-1]) <= mask)
    left = (packed[near] & mask).astype(np.int64)
    right = (packed[near + 1] & mask).astype(np.int64)
    # Where more than two agree, not all pairs across the border are neighbours.
    starts = np.diff(near, prepend=-2) > 1
    ends = np.append(starts[1:], True)[: len(near)]
    crowds = near[ends] - near[starts] > 0
    begin, size = near[starts][crowds], (near[ends] - near[starts] + 2)[crowds]
    members = positions(begin, size)
    inside = (packed[members] & mask) < border
    here = np.bincount(np.repeat(np.arange(len(size)), size), inside, len(size)).astype(np.int64)
    there = members[~inside]
    fellows = np.repeat(here, size - here)
    one = positions(np.repeat(begin, size - here), fellows)
    other = np.repeat(there, fellows)
    apart = other - one > 1
    return (
        np.concatenate([left, (packed[one[apart]] & mask).astype(np.int64)]),
        np.concatenate([right, (packed[other[apart]] & mask).astype(np.int64)]),
    )


@dataclass(eq=False, repr=False)
class Grouped(Generic[AnyTable]):
    """A table with a 64-bit hash of each row's identity, and the rows of each query.

    The rows themselves are not moved.
    """

    table: AnyTable
    key: pl.Series
    stretches: Ints  # the rows where the query changes

    @cached_property
    def _groups(self) -> tuple[pl.Series, Ints, Ints | None]:
        import polars as pl

        table = self.table
        lengths = np.diff(np.append(self.stretches, table.frame.height))
        names = table.frame["query"].gather(self.stretches)
        if not table.queries and names.n_unique() == len(names):  # grouped already
            return names, lengths, None
        every = pl.Series(
            "query", table.queries or names.unique(maintain_order=True), dtype=pl.String
        )
        numbered = every.to_frame().with_row_index("number")
        joined = names.to_frame().join(numbered, on="query", maintain_order="left")
        number = joined["number"].to_numpy()
        falls = (number[1:] < number[:-1]).any()
        order = np.argsort(np.repeat(number, lengths), kind="stable") if falls else None
        return every, np.bincount(number, lengths, len(every)).astype(np.int64), order

    @property
    def names(self) -> pl.Series:
        """The queries in the order of their first row."""
        return self._groups[0]

    @property
    def lengths(self) -> Ints:
        """The number of rows of each query."""
        return self._groups[1]

    @property
    def order(self) -> Ints | None:
        """Row numbers, query after query; None if the table is grouped already."""
        return self._groups[2]

    def values(self, column: str) -> Floats:
        """Return the numbers of a column, query after query."""
        flat = self.table.frame[column].to_numpy()
        return flat if self.order is None else flat[self.order]

    def rows(self, positions: Ints) -> Ints:
        """Return the table's rows at some positions of the query-after-query order."""
        return positions if self.order is None else self.order[positions]

    def positions(self, rows: Ints) -> Ints:
        """Return the positions of some of the table's rows."""
        if self.order is None:
            return rows
        back = np.empty(len(self.order), np.int64)
        back[self.order] = np.arange(len(back))
        return back[rows]


def hashed(table: AnyTable) -> Grouped[AnyTable]:
    frame = table.frame
    if not frame.height and not table.queries:
        raise InputError(f"{table.source} holds no rows.")
    query = frame["query"].hash(1)
    key = frame["item"].hash(2) ^ query
    if "subtopic" in identity(table):
        key ^= frame["subtopic"].hash(3)
    return Grouped(table, key, np.flatnonzero(borders(query.to_numpy())))


def distinct(table: AnyTable, duplicates: str) -> Grouped[AnyTable]:
    """Return a table without repeated rows, or raise an error that names them."""
    rows = hashed(table)
    again = repeated(table, np.concatenate(matching_pairs(rows.key)))
    return hashed(without_repeats(table, again, duplicates)) if len(again) else rows


def numbers(lists: Mapping[str, Mapping[str, Any]], lengths: Ints, what: str) -> Floats:
    """Return all values of a dict of dicts, one after the other."""
    flat = np.empty(int(lengths.sum()), np.float64)
    deque(packed(lists, flat, what), maxlen=0)
    return flat


def packed(
    lists: Mapping[str, Mapping[str, Any]], flat: Floats, what: str
) -> Iterator[Mapping[str, Any]]:
    """Yield each dict after its values were written into the array, while it is in the cache."""
    buffer, offset = flat.data, 0
    try:
        for values in lists.values():
            # The fastest way from Python's floats to an array, and texts are not numbers to it.
            struct.pack_into(f"{len(values)}d", buffer, offset, *values.values())
            offset += 8 * len(values)
            yield values
    except (struct.error, TypeError, ValueError, OverflowError):
        query, item, value = next(
            (query, item, value)
            for query, values in lists.items()
            for item, value in values.items()
            if not _is_number(value)
        )
        beyond = isinstance(value, int)
        raise InputError(
            f"item {item!r} of query {query!r} has {quoted(value)} where {what} should be; "
            + ("it is beyond all floating-point numbers." if beyond else "give a number.")
        ) from None


def _is_number(value: Any) -> bool:
    try:
        struct.pack("d", value)
    except (struct.error, TypeError, ValueError, OverflowError):
        return False
    return True


@dataclass(eq=False, repr=False)
class Matches:
    """A run's scores, list after list, and the judged items found in them."""

    scores: Floats
    lengths: Ints  # lists lie end to end in `scores`
    list_of: Ints  # the list of each judged query; -1 for a query that the run lacks
    hit_judgement: Ints  # the row in the pool of each judged item that the run holds
    hit_score: Floats
    hit_position: Ints | None  # the place of each hit in `scores`, if known
    items: Callable[[Ints, NDArray[np.bool_]], list[str]]
    """(lists, chosen) -> the items of some lists, end to end, those that are chosen."""
    run_queries: int
    own_query: Ints  # judged queries that are among their own results
    own_score: Floats
    infinite: int = 0
    dropped: int = 0

    @cached_property
    def starts(self) -> Ints:
        """The place of the first score of each list."""
        return starts_of(self.lengths)

    @property
    def asked(self) -> NDArray[np.bool_]:
        """A mask of the lists of judged queries."""
        return _asked(self.list_of, len(self.lengths))


def match(pool: Pool, run: AnyRun, *, duplicates: str) -> Matches:
    """Find the judged items in a run or block; rows of other queries are only counted."""
    if isinstance(run, Lookup):
        return _match_lookup(pool, run, duplicates)
    return _match_table(pool, run, duplicates)


def names_of(run: AnyRun) -> list[str]:
    """Return the queries of a run for messages, those passed over included."""
    if isinstance(run, Lookup):
        return list(run.lists)
    return [*(run.names() if run.frame.height or run.queries else ()), *run.passed.names]


def refuse_apart(pool: Pool, run: AnyRun, matches: Matches) -> None:
    """Raise an error if a run lacks all judged queries, or has no result for them."""
    there = matches.list_of[matches.list_of >= 0]
    if not len(there):
        raise InputError(nothing_in_common(pool.name, pool.queries, run.source, names_of(run)))
    if not matches.lengths[there].any():
        raise InputError(empty_message(run.source, run.notes))


def _match_table(pool: Pool, run: Run, duplicates: str) -> Matches:
    refuse_lost(run, pool.places)
    grouped = hashed(run)
    number = {name: place for place, name in enumerate(grouped.names.to_list())}
    list_of = np.fromiter(map(number.get, pool.queries, repeat(-1)), np.int64, len(pool.queries))
    row, judgement, again, own_rows, query = _pairs(pool, grouped, list_of)
    if len(again):
        about = run.frame["query"].gather(again).to_list()
        again = again[[name in pool.places for name in about]]
        if len(again):
            shorter = without_repeats(run, again, duplicates)
            return _match_table(pool, shorter, duplicates)
    scores = grouped.values("score")
    starts = starts_of(grouped.lengths)
    infinite = 0
    if not np.isfinite(scores).all():
        judged_rows = np.repeat(_asked(list_of, len(grouped.lengths)), grouped.lengths)
        nan = np.isnan(scores)
        if (nan & judged_rows).any():
            raise InputError(
                nan_message(run, np.sort(grouped.rows(np.flatnonzero(nan & judged_rows))))
            )
        infinite = int((np.isinf(scores) & judged_rows).sum())
        scores = np.where(judged_rows, scores, 0.0)
    position = grouped.positions(row)
    # The keys agree; so must the strings. The list of a result is that of its query.
    home = list_of[pool.query[judgement]]
    begin = starts[home]
    same = (home >= 0) & (position >= begin) & (position < begin + grouped.lengths[home])
    same &= (run.frame["item"].gather(row) == pool.frame["item"].gather(judgement)).to_numpy()
    if not same.all():
        judgement, position = judgement[same], position[same]
    if len(own_rows):
        names = texts("query", map(pool.queries.__getitem__, query.tolist()))
        listed = run.frame[own_rows]
        same = ((listed["query"] == names) & (listed["item"] == names)).to_numpy()
        own_rows, query = own_rows[same], query[same]

    def items(lists: Ints, chosen: NDArray[np.bool_]) -> list[str]:
        place = positions(starts[lists], grouped.lengths[lists])[chosen]
        return run.frame["item"].gather(grouped.rows(place)).to_list()

    return Matches(
        scores=scores,
        lengths=grouped.lengths,
        list_of=list_of,
        hit_judgement=judgement,
        hit_score=scores[position],
        hit_position=position,
        items=items,
        run_queries=len(grouped.names) + run.passed.queries,
        own_query=query,
        own_score=scores[grouped.positions(own_rows)],
        infinite=infinite,
        dropped=run.dropped,
    )


def _asked(list_of: Ints, lists: int) -> NDArray[np.bool_]:
    mask = np.zeros(lists, bool)
    mask[list_of[list_of >= 0]] = True
    return mask


def _pairs(pool: Pool, run: Grouped[Run], list_of: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Pair rows with judgements; also find repeated rows, and rows about the query itself."""
    count, last = len(run.key), len(run.key) + len(pool.key)
    grouped = run.lengths if run.order is None else None
    lists = list_of[pool.query], list_of
    left, right = matching_pairs(run.key, pool.key, pool.own_key, lengths=grouped, lists=lists)
    inside = right < count
    again = repeated(run.table, np.concatenate([left[inside], right[inside]]))
    own_pairs = (left < count) & (right >= last)
    across = (left < count) & ~inside & (right < last)
    # Both numbers in one integer: one plain sort puts the pairs in order.
    pairs = np.sort(left[across] << 32 | (right[across] - count))
    return pairs >> 32, pairs & 0xFFFFFFFF, again, left[own_pairs], right[own_pairs] - last


def _match_lookup(pool: Pool, run: Lookup, duplicates: str) -> Matches:
    dropped = refuse_repeated(run, duplicates, pool.places) if run.repeated else ()
    present = np.fromiter(map(run.lists.__contains__, pool.queries), bool, len(pool.queries))
    lists = {query: run.lists[query] for query in compress(pool.queries, present)}
    lengths = np.fromiter(map(len, lists.values()), np.int64, len(lists))
    list_of = np.where(present, np.cumsum(present) - 1, -1)
    sought = np.flatnonzero(present[pool.query])
    scores = np.empty(int(lengths.sum()), np.float64)
    pairs = zip(packed(lists, scores, "a score"), compress(pool.items, present), strict=True)
    looked_up = chain.from_iterable(
        map(scored.get, items, repeat(np.nan)) for scored, items in pairs
    )
    score = np.fromiter(looked_up, np.float64, len(sought))
    deque(looked_up, maxlen=0)  # lists after the last judged item are packed too
    finite = bool(np.isfinite(scores).all())
    if not finite and np.isnan(scores).any():
        query, item = next(
            (query, item)
            for query, scored in lists.items()
            for item, score in scored.items()
            if score != score
        )
        raise InputError(
            f"{run.source}: the score of item {item!r} for query {query!r} is NaN. {NAN_ADVICE}"
        )
    hit = ~np.isnan(score)
    own_lists = np.fromiter(map(contains, lists.values(), lists), bool, len(lists))
    every = list(lists.values())

    def items(chosen_lists: Ints, chosen: NDArray[np.bool_]) -> list[str]:
        items = chain.from_iterable(every[number] for number in chosen_lists.tolist())
        return list(compress(items, chosen.tolist()))

    return Matches(
        scores=scores,
        lengths=lengths,
        list_of=list_of,
        hit_judgement=sought[hit],
        hit_score=score[hit],
        hit_position=None,
        items=items,
        run_queries=len(run.lists),
        own_query=np.flatnonzero(present)[own_lists],
        own_score=np.array([lists[query][query] for query in compress(lists, own_lists)], float),
        infinite=0 if finite else int(np.isinf(scores).sum()),
        dropped=len(dropped),
    )
