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


def refuse_negative_ranks(run: Run) -> None:
    """Refuse ranks below 0: their order is that of scores, or the column is no rank."""
    score = run.frame["score"]
    if below := ((score > 0) & score.is_not_nan()).arg_true().head(1).to_list():
        rank = -score[below[0]]
        raise InputError(
            f"{run.source}, {run.where(below)}: the rank is {rank:g}, but ranks count from 1 or 0, "
            "the best first. If the greatest is the best, it is a score: columns={'score': COLUMN} "
            "(--columns score=COLUMN)."
        )
