"""Which judged items a run holds, with their scores: by a join on hash keys, or by looking them up
in a dict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain, compress, repeat

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError
from judged.inputs.tables import Lookup, Run
from judged.judging.join import Hashed, equal_pairs, group, hashed, repeated, without_repeats
from judged.judging.pool import Pool, packed
from judged.segments import Floats, Ints, positions, starts_of


@dataclass(frozen=True, eq=False)
class Matches:
    """A run's scores, list after list, and the judged items found in them."""

    scores: Floats
    lengths: Ints
    """List lengths; lists lie end to end in `scores`."""
    list_of: Ints
    """The list of each judged query; -1 for a query that the run lacks."""
    hit_judgement: Ints
    """The judgement of each judged item that the run holds, as a row of the pool."""
    hit_score: Floats
    hit_position: Ints | None
    """Where in `scores` each hit lies, where that is known."""
    items: Callable[[Ints, NDArray[np.bool_]], list[str]]
    """(lists, chosen) -> the items of some lists, end to end, those that are chosen."""
    run_queries: int
    infinite: int = 0
    """How many scores are infinite."""
    dropped: int = 0


def match(pool: Pool, run: Run | Lookup, *, duplicates: str) -> Matches:
    """Find the judged items in a run."""
    found = (
        _match_lookup(pool, run) if isinstance(run, Lookup) else _match_table(pool, run, duplicates)
    )
    there = found.list_of[found.list_of >= 0]
    if not len(there):
        raise InputError(_nothing_in_common(pool, run))
    if not found.lengths[there].any():
        raise InputError(f"{run.source}: {_EMPTY}")
    return found


def _match_table(pool: Pool, run: Run, duplicates: str) -> Matches:
    import polars as pl

    rows = hashed(run)
    row, judgement, again = _pairs(pool, rows)
    if len(again):
        kept = without_repeats(run, again, duplicates)
        return replace(
            _match_table(pool, kept, duplicates), dropped=run.frame.height - kept.frame.height
        )
    grouped = group(rows)
    scores = grouped.values("score")
    finite = bool(np.isfinite(scores).all())
    if not finite and np.isnan(scores).any():
        raise InputError(nan_message(run, np.sort(grouped.rows(np.flatnonzero(np.isnan(scores))))))
    lists = pl.DataFrame({"query": grouped.names}).with_row_index("list")
    judged = pl.DataFrame({"query": pl.Series(pool.queries, dtype=pl.String)})
    list_of = (
        judged.join(lists, on="query", how="left", maintain_order="left")["list"]
        .cast(pl.Int64)
        .fill_null(-1)
        .to_numpy()
    )
    starts = starts_of(grouped.lengths)
    position = grouped.positions(row)
    # The keys agree; so must the strings. The list a result lies in stands for its query.
    home = list_of[pool.query[judgement]]
    same = (
        (position >= starts[home]) & (position < starts[home] + grouped.lengths[home]) & (home >= 0)
    )
    same &= (run.frame["item"].gather(row) == pool.frame["item"].gather(judgement)).to_numpy()
    if not same.all():
        judgement, position = judgement[same], position[same]

    def items(lists: Ints, chosen: NDArray[np.bool_]) -> list[str]:
        at = positions(starts[lists], grouped.lengths[lists])[chosen]
        return run.frame["item"].gather(grouped.rows(at)).to_list()

    return Matches(
        scores=scores,
        lengths=grouped.lengths,
        list_of=list_of,
        hit_judgement=judgement,
        hit_score=scores[position],
        hit_position=position,
        items=items,
        run_queries=len(grouped.names),
        infinite=0 if finite else int(np.isinf(scores).sum()),
    )


def _pairs(pool: Pool, run: Hashed[Run]) -> tuple[Ints, Ints, Ints]:
    """Rows of the run and judgements whose keys agree, in the order of the rows; and the run's
    repeated rows."""
    count = len(run.key)
    left, right = equal_pairs(run.key, pool.key)
    inside = right < count
    again = repeated(run.table, np.concatenate([left[inside], right[inside]]))
    across = (left < count) & ~inside
    # Both numbers in one integer: one plain sort puts the pairs in order.
    pairs = np.sort(left[across] << 32 | (right[across] - count))
    return pairs >> 32, pairs & 0xFFFFFFFF, again


def nan_message(run: Run, rows: Ints) -> str:
    query, item = run.frame.row(int(rows[0]))[:2]
    more = f" (and {len(rows) - 1:,} more)" if len(rows) > 1 else ""
    return (
        f"{run.source}, {run.where([int(rows[0])])}: the score of item {item!r} for query "
        f"{query!r} is NaN{more}. "
        "A NaN has no place in a ranking; give it a number or remove the row."
    )


def _match_lookup(pool: Pool, run: Lookup) -> Matches:
    present = np.fromiter(map(run.lists.__contains__, pool.queries), bool, len(pool.queries))
    lists = {query: run.lists[query] for query in compress(pool.queries, present)}
    lengths = np.fromiter(map(len, lists.values()), np.int64, len(lists))
    list_of = np.where(present, np.cumsum(present) - 1, -1)
    sought = np.flatnonzero(present[pool.query])
    scores = np.empty(int(lengths.sum()), np.float64)
    pairs = zip(packed(lists, scores, "a score"), compress(pool.items, present), strict=True)
    looked_up = chain.from_iterable(map(each.get, items, repeat(np.nan)) for each, items in pairs)
    score = np.fromiter(looked_up, np.float64, len(sought))
    finite = bool(np.isfinite(scores).all())
    if not finite and np.isnan(scores).any():
        query, item = next(
            (query, item)
            for query, each in lists.items()
            for item, score in each.items()
            if score != score
        )
        raise InputError(
            f"{run.source}: the score of item {item!r} for query {query!r} is NaN. "
            "A NaN has no place in a ranking; give it a number or remove the item."
        )
    hit = ~np.isnan(score)
    every = list(lists.values())

    def items(chosen_lists: Ints, chosen: NDArray[np.bool_]) -> list[str]:
        return list(
            compress(
                chain.from_iterable(every[number] for number in chosen_lists.tolist()),
                chosen.tolist(),
            )
        )

    return Matches(
        scores=scores,
        lengths=lengths,
        list_of=list_of,
        hit_judgement=sought[hit],
        hit_score=score[hit],
        hit_position=None,
        items=items,
        run_queries=len(run.lists),
        infinite=0 if finite else int(np.isinf(scores).sum()),
    )


_EMPTY = "the run is empty. An empty run is not a system that scored zero; is it the right one?"


def _nothing_in_common(pool: Pool, run: Run | Lookup) -> str:
    there = (
        list(run.lists)
        if isinstance(run, Lookup)
        else run.frame["query"].unique(maintain_order=True).to_list()
    )
    if not there:
        return f"{run.source}: {_EMPTY}"
    message = (
        f"{run.source} and {pool.name} have no query in common. "
        f"The run has {_few(there)}; the judgements have {_few(pool.queries)}."
    )
    for hint, change in _MENDS.items():
        if {change(query) for query in there[:1000]} & {change(query) for query in pool.queries}:
            return f"{message} {hint}"
    return f"{message} Do the two belong to the same collection?"


_MENDS: dict[str, Callable[[str], str]] = {
    "They would agree without leading zeros: ids are compared as exact texts.": lambda query: (
        query.lstrip("0") or "0"
    ),
    "They would agree if numbers such as 1.0 were written 1: were ids read as "
    "numbers?": lambda query: query.removesuffix(".0"),
    "They would agree but for upper and lower case: ids are compared as exact texts.": str.lower,
    "They would agree but for white space at the ends: ids are compared as exact texts.": str.strip,
    "Their numbers agree, the letters around them do not: ids are compared as "
    "exact texts.": lambda query: (
        "".join(letter for letter in query if letter.isdigit()).lstrip("0") or query
    ),
}


def _few(queries: list[str] | tuple[str, ...]) -> str:
    shown = ", ".join(repr(query) for query in queries[:3])
    return f"{shown}, …" if len(queries) > 3 else shown
