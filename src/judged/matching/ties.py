"""The rank of each hit, and what happens where scores tie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import (
    Floats,
    Ints,
    borders,
    count_above,
    descending,
    each_once,
    ordinals,
    positions,
    starts_of,
)
from judged.matching.join import Matches, Tied
from judged.matching.pool import Pool
from judged.rankings.ties import favoured


@dataclass(frozen=True, eq=False)
class Places:
    """Where the hits stand: their ranks, and the first and last rank of the tie each is in."""

    rank: Ints
    first: Ints
    last: Ints
    in_order: bool
    """Whether every list came with its greatest score first."""
    single_ties: int = 0
    """How many hits tie with a neighbour in single precision only."""


def place(pool: Pool, found: Matches, ties: str) -> Places:
    """Rank the hits: one more than the number of greater scores, and within a tie by the rule."""
    starts = starts_of(found.lengths)
    segment = found.list_of[pool.query[found.hit_judgement]]
    ordered = descending(found.scores, found.lengths)
    first, last = _spans(found, ordered, starts, segment)
    single = _single_ties(found, ordered, starts, segment, first, last)
    if ties in ("best", "worst"):
        judgement = found.hit_judgement
        rank = favoured(
            pool.query[judgement],
            first,
            last,
            pool.grades[judgement],
            best=ties == "best",
            # Where grades are by subtopic, equal ones are not all that counts: items of a query lie
            # in descending order of their ids.
            then=None if pool.subtopics is None else judgement,
        )
        return Places(rank, first, last, ordered is found.scores, single_ties=single)
    rank = first.copy()
    tied = np.flatnonzero(last > first)
    if len(tied):
        rank[tied] += _place_in_tie(pool, found, ordered, starts, segment, first, tied, ties)
    return Places(rank, first, last, ordered is found.scores, single)


def _single_ties(
    found: Matches, ordered: Floats, starts: Ints, segment: Ints, first: Ints, last: Ints
) -> int:
    """Count the hits whose tie would be longer in single precision."""
    if not len(ordered):
        return 0
    begin = starts[segment]
    above = ordered[np.maximum(begin + first - 2, 0)]
    below = ordered[np.minimum(begin + last, len(ordered) - 1)]
    with np.errstate(over="ignore"):
        score, above, below = (each.astype(np.float32) for each in (found.hit_score, above, below))
    tied = ((first > 1) & (above == score)) | ((last < found.lengths[segment]) & (below == score))
    return int(np.count_nonzero(tied))


def _spans(found: Matches, ordered: Floats, starts: Ints, segment: Ints) -> tuple[Ints, Ints]:
    """The ranks that each hit's tie spans."""
    score = found.hit_score
    if found.hit_position is None or ordered is not found.scores:
        first = count_above(ordered, starts, found.lengths, segment, score, or_equal=False) + 1
        at = starts[segment] + first - 1
        above = np.zeros(len(at), bool)
    else:
        # The lists came sorted: a hit's place is known, and only where a neighbour has the same
        # score is there a tie.
        at = found.hit_position
        first = at - starts[segment] + 1
        above = (first > 1) & (ordered[np.maximum(at - 1, 0)] == score)
    below = (first < found.lengths[segment]) & (
        ordered[np.minimum(at + 1, len(ordered) - 1)] == score
    )
    last = first.copy()
    tied = np.flatnonzero(above | below)
    search = (ordered, starts, found.lengths, segment[tied], score[tied])
    first[tied] = count_above(*search, or_equal=False) + 1
    last[tied] = count_above(*search, or_equal=True)
    return first, last


def _place_in_tie(
    pool: Pool,
    found: Matches,
    ordered: Floats,
    starts: Ints,
    segment: Ints,
    first: Ints,
    tied: Ints,
    ties: str,
) -> Ints:
    """How many results of its tie stand before each tied hit: as in the input, or by item id,
    descending on bytes."""
    # A tie is named by the position of its first place. Only the lists with a tied hit are looked
    # at, and of them only the results in a tie with a hit.
    tie = starts[segment[tied]] + first[tied] - 1
    lists = each_once(segment[tied])
    lengths = found.lengths[lists]
    at = positions(starts[lists], lengths)
    home = np.repeat(lists, lengths)
    if ordered is found.scores:
        tie_of = np.maximum.accumulate(np.where(borders(ordered[at], home), at, -1))
    else:
        tie_of = starts[home] + count_above(
            ordered, starts, found.lengths, home, found.scores[at], or_equal=False
        )
    touched = np.zeros(len(ordered), bool)
    touched[tie] = True
    chosen = touched[tie_of]
    rows = Tied(tie_of[chosen], found.items(lists, chosen), tie)
    return _placed(rows, pool, found.hit_judgement[tied], ties)


def _placed(rows: Tied, pool: Pool, judgement: Ints, ties: str) -> Ints:
    """The place of some hits among the items of their ties, from 0."""
    hits, by_id = pool.items_at(judgement), ties != "input"
    if len(rows.item) > _MANY:
        return _places_of_many(rows.tie, rows.item, rows.hit_tie, hits, by_id=by_id)
    return _places(rows.tie.tolist(), rows.item, rows.hit_tie.tolist(), hits, by_id=by_id)


_MANY = 50_000
"""From so many tied results on, sorting them is left to polars; below, loading polars for it would
take longer."""


def _places(
    row_tie: list[int], row_item: list[str], tie: list[int], item: list[str], *, by_id: bool
) -> Ints:
    """The place of some (tie, item) among the rows of their ties, from 0."""
    order = list(range(len(row_tie)))
    if by_id:
        order.sort(key=lambda at: row_item[at].encode("utf-8", "surrogatepass"), reverse=True)
    order.sort(key=lambda at: row_tie[at])
    place: dict[tuple[int, str], int] = {}
    first: dict[int, int] = {}
    for number, at in enumerate(order):
        place[row_tie[at], row_item[at]] = number - first.setdefault(row_tie[at], number)
    return np.array([place[pair] for pair in zip(tie, item, strict=True)], dtype=np.int64)


def _places_of_many(
    row_tie: Ints, row_item: list[str], tie: Ints, item: list[str], *, by_id: bool
) -> Ints:
    """The same by polars."""
    import polars as pl

    rows = pl.DataFrame({"tie": row_tie, "item": pl.Series(row_item, dtype=pl.String)})
    rows = (
        rows.sort(["tie", "item"], descending=[False, True])
        if by_id
        else rows.sort("tie", maintain_order=True)
    )
    group = rows["tie"].to_numpy()
    number = np.cumsum(borders(group)) - 1
    rows = rows.with_columns(place=ordinals(number, int(number[-1]) + 1) - 1)
    hits = pl.DataFrame({"tie": tie, "item": pl.Series(item, dtype=pl.String)})
    return hits.join(rows, on=["tie", "item"], how="left", maintain_order="left")[
        "place"
    ].to_numpy()


def spans(rank: Ints, *tied_by: NDArray[Any]) -> tuple[Ints, Ints]:
    """The first and last rank of each result's tie; neighbours tie where all columns agree.

    >>> [each.tolist() for each in spans(np.array([1, 2, 3]), np.array([0.5, 0.5, 0.1]))]
    [[1, 1, 3], [2, 2, 3]]
    """
    new = borders(*tied_by)
    tie = np.cumsum(new) - 1
    return rank[new][tie], rank[np.roll(new, -1)][tie]
