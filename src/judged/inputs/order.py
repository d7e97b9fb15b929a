"""What the order of rows tells of scores and ranks that are meant the other way round."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.errors import InputError

if TYPE_CHECKING:
    from judged.inputs.tables import Run

DISTANCES = 5
"""Where scores rise down so many lists and fall in none, they are distances."""


class OrderOnly(str):
    """The note of a run that has an order and no scores."""

    __slots__ = ()


class Ranked(OrderOnly):
    """The note of a run that has ranks and no scores."""

    __slots__ = ()


def refuse_odd_ranks(run: Run) -> None:
    """Refuse ranks that are negative or no whole numbers: the column may hold scores."""
    score = run.frame["score"]
    odd = ((score > 0) | (score != score.floor())) & score.is_finite()
    if rows := odd.arg_true().head(1).to_list():
        raise InputError(odd_rank_message(f"{run.source}, {run.where(rows)}", -score[rows[0]]))


def odd_rank_message(place: str, rank: float) -> str:
    """Return the message about a value that is no rank."""
    return (
        f"{place}: the rank is {rank:g}, but ranks are whole numbers from 0 or 1, the best first. "
        "If the greatest value is the best, the column is a score: columns={'score': COLUMN} "
        "(--columns score=COLUMN). If tied results share an average rank, give them whole ranks."
    )
