"""Checks for ranks and scores that contradict each other, or are swapped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice, pairwise
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from judged.errors import InputError
from judged.text import Warned

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DISTANCES = 5  # scores that rise down so many lists and fall in none are distances


class OrderOnly(str):
    __slots__ = ()


class Ranked(OrderOnly):
    __slots__ = ()


def refuse_odd_ranks(scores: NDArray[np.float64], place: Callable[[int], str]) -> None:
    """Raise an error if negated ranks are positive or fractions, because they may be scores."""
    odd = ((scores > 0) | (scores != scores.round())) & (abs(scores) < inf)
    if odd.any():
        row = int(odd.argmax())
        raise InputError(
            f"{place(row)}: the rank is {-scores[row]:g}, but ranks are whole numbers from 0 or 1, "
            "the best first. If the greatest value is the best, the column is a score: "
            "columns={'score': COLUMN} (--columns score=COLUMN). If tied results share an average "
            "rank, give them whole ranks."
        )


SAMPLE = 1000
MOST_SAMPLED = 20_000
_TOLERATED = 100  # one pair in this number may disagree


class AgainstRanks(Warned):
    """A warning that the ranks and scores of a run contradict each other."""

    __slots__ = ()


def against_ranks(rows: Iterable[tuple[Any, Any, Any]]) -> tuple[AgainstRanks, ...]:
    """Return a warning if the ranks and scores of a run's first rows contradict each other."""
    by_query: dict[Any, list[tuple[float, float]]] = {}
    numbers: list[tuple[float, float]] = []
    remaining = iter(rows)
    for most in (SAMPLE, MOST_SAMPLED - SAMPLE):
        for query, rank, score in islice(remaining, most):
            pair = _number(rank), _number(score)
            if pair[0] is not None and pair[1] is not None:
                by_query.setdefault(query, []).append(pair)  # type: ignore[arg-type]
                numbers.append(pair)  # type: ignore[arg-type]
        if len(by_query) < len(numbers):
            break
    lists = list(by_query.values())
    fraction = next((rank for rank, _ in numbers if rank % 1), None)
    if fraction is not None and not _are_average_ranks(lists):
        if all(score % 1 == 0 and score >= 0 for _, score in numbers):
            return (
                AgainstRanks(
                    f"The ranks of the run are fractions, such as {fraction:g}, and its scores "
                    f"whole numbers, such as {numbers[0][1]:g}: the two may be swapped. Results "
                    "are ranked by score, the greatest first. If they are swapped, swap the "
                    "columns."
                ),
            )
        return ()  # no ranks
    neighbours = [
        (upper, lower)
        for results in lists
        for upper, lower in pairwise(sorted(results))
        if upper[0] != lower[0] and upper[1] != lower[1]
    ]
    against = [(upper, lower) for upper, lower in neighbours if upper[1] < lower[1]]
    if len(against) * _TOLERATED <= len(neighbours):
        is_cut = len(numbers) >= MOST_SAMPLED or next(remaining, None) is not None
        if len(neighbours) < 2 or not _are_swapped(lists, is_cut):
            return ()
        rank, score = min(numbers, key=lambda pair: pair[1])
        return (
            AgainstRanks(
                f"The scores of the run count {score:g}, {score + 1:g}, {score + 2:g}, … in each "
                f"list, as ranks do, and its ranks do not (rank {rank:g} has score {score:g}): the "
                "two may be swapped. Results are ranked by score, the greatest first. If they are "
                "swapped, swap the columns."
            ),
        )
    (above, high), (below, low) = against[0]
    example = f"rank {above:g} has {high:g}, rank {below:g} has {low:g}"
    if len(against) * 10 > 9 * len(neighbours):
        return (
            AgainstRanks(
                f"The ranks of the run put lower scores first ({example}). Results are ranked by "
                "score, the greatest first, so these lists are read backwards. If the scores are "
                "distances, change their sign."
            ),
        )
    return (
        AgainstRanks(
            f"The ranks and scores of the run contradict each other ({example}, and so do "
            f"{len(against):,} of the first {len(neighbours):,} neighbours). Results are ranked by "
            "score, the greatest first. If the ranks are right, leave the scores out."
        ),
    )


def _are_average_ranks(lists: Sequence[Sequence[tuple[float, float]]]) -> bool:
    """Return whether ranks are whole, or halves that results of the same score share."""
    halves = shared = 0
    for results in lists:
        sizes = Counter(rank for rank, _ in results)
        distinct = set(results)
        if len(distinct) != len(sizes) or len(distinct) != len({score for _, score in results}):
            return False
        for rank, size in sizes.items():
            if rank < 1 or rank * 2 % 1:
                return False
            halves += bool(rank % 1)
            shared += bool(rank % 1) and size > 1
    return shared * 2 > halves


def _are_swapped(lists: Sequence[Sequence[tuple[float, float]]], is_cut: bool) -> bool:
    """Return whether the scores number the results of each list, and the ranks do not."""
    if any(rank % 1 or score % 1 for results in lists for rank, score in results):
        return False
    ranks, scores = ([[pair[at] for pair in results] for results in lists] for at in (0, 1))
    if any(len(set(values)) < len(values) for values in scores):
        return False
    if is_cut:
        return _is_dense(chain(*scores), 0.5) and not _is_dense(chain(*ranks), 0.5)
    return all(min(values) in (0, 1) and _is_dense(values) for values in scores) and not all(
        map(_is_dense, ranks)
    )


def _is_dense(values: Iterable[float], share: float = 1.0) -> bool:
    """Return whether whole numbers fill this share of the range from the least to the greatest."""
    distinct = set(values)
    return len(distinct) >= share * (max(distinct) - min(distinct) + 1)


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if isfinite(number) else None
