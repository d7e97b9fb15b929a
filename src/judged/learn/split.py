"""Queries for training, for validation and held out: seeded, and vectors that point the same way
always on one side."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from judged.errors import InputError, quoted
from judged.segments import Ints


@dataclass(frozen=True, eq=False)
class Split:
    """Row numbers of queries, each part in ascending order."""

    training: Ints
    validation: Ints
    held_out: Ints


def checked_shares(validation: Any, held_out: Any) -> tuple[float, float]:
    """Shares of the queries, once it is sure that they leave some for training."""
    for name, share, none in (
        ("validation", validation, "above 0"),
        ("held_out", held_out, "from 0"),
    ):
        number = not isinstance(share, bool) and isinstance(share, (Real, np.number))
        if not number or not 0 <= share < 1 or (share == 0 and name == "validation"):
            raise InputError(
                f"{name} must be a share of the queries, a number {none} and below 1; got "
                f"{quoted(share)}."
            )
    if validation + held_out >= 1:
        raise InputError(
            f"validation ({validation:g}) and held_out ({held_out:g}) leave no queries for "
            "training; together they must be below 1."
        )
    return float(validation), float(held_out)


def split_queries(
    rows: Ints, groups: Ints, *, validation: float, held_out: float, seed: int
) -> Split:
    """Some rows split by shares of their distinct vectors; a share above 0 is at least one vector.

    `groups` are numbers, the same for rows that must not be parted.
    """
    _, group = np.unique(groups, return_inverse=True)
    count = int(group.max(initial=-1)) + 1
    kept_out, chosen = (
        max(1, round(share * count)) if share else 0 for share in (held_out, validation)
    )
    if count < kept_out + chosen + 1:
        parts = (
            "training, validation and held-out queries"
            if kept_out
            else "training and validation queries"
        )
        raise InputError(
            f"there are too few queries to split: {count} with different vectors and something "
            f"relevant, and {parts} need at least one each "
            f"({kept_out + chosen + 1} with these shares)."
        )
    # Groups are numbered as they first occur, so that the split does not depend on what these
    # numbers happen to be.
    first = np.full(count, len(rows))
    np.minimum.at(first, group, np.arange(len(rows)))
    order = np.argsort(first)
    part = np.empty(count, np.int64)
    part[order[np.random.default_rng([seed, 0]).permutation(count)]] = np.repeat(
        [2, 1, 0], [kept_out, chosen, count - kept_out - chosen]
    )
    of_row = part[group]
    return Split(*(rows[of_row == which] for which in range(3)))
