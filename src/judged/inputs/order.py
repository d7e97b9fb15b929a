"""Checks for ranks and scores that contradict each other, or are swapped."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice, pairwise
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
    lists: dict[Any, list[tuple[float, float]]] = {}
    numbers: list[tuple[float, float]] = []
    remaining = iter(rows)
    for most in (SAMPLE, MOST_SAMPLED - SAMPLE):
        for query, *pair in islice(remaining, most):
            rank, score = map(_number, pair)
            if rank is not None and score is not None:
                lists.setdefault(query, []).append((rank, score))
                numbers.append((rank, score))
        if len(lists) < len(numbers):
            break
    fraction = next((rank for rank, _ in numbers if rank % 1), None)
    # Results of the same score may share an average rank, which ends in 0 or 5.
    if fraction is not None and any(rank < 1 or rank * 2 % 1 for rank, _ in numbers):
        if any(score % 1 or score < 0 for _, score in numbers):
            return ()  # no ranks
        return (
            AgainstRanks(
                f"The ranks of the run are fractions, such as {fraction:g}, and its scores whole "
                f"numbers, such as {numbers[0][1]:g}: the two may be swapped. Results are ranked "
                "by score, the greatest first. If they are swapped, swap the columns."
            ),
        )
    neighbours = [
        (upper, lower)
        for results in lists.values()
        for upper, lower in pairwise(sorted(results))
        if upper[0] != lower[0] and upper[1] != lower[1]
    ]
    against = [(upper, lower) for upper, lower in neighbours if upper[1] < lower[1]]
    if len(against) * _TOLERATED <= len(neighbours):
        return ()
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


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if isfinite(number) else None
