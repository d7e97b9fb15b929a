"""What a contrastive loss is told: its temperature, and how it counts several positives of one
query."""

from __future__ import annotations

from numbers import Real
from typing import Any

from judged.errors import InputError

LOWEST, HIGHEST = 1e-6, 1e6
"""Temperatures beyond these leave nothing of a score, or of the difference between two."""

POSITIVES = {
    "each": (
        "each positive against all candidates, other positives among them, and the mean over a "
        "query's positives"
    ),
    "any": (
        "all positives together against all candidates: the probability that any of them is drawn"
    ),
    "apart": (
        "each positive against the negatives alone, other positives left out, and the mean "
        "over a query's positives"
    ),
}
"""How several positives of a query make one loss; with one positive all are the same."""


def checked_temperature(given: Any) -> float:
    """A temperature, once it is sure that it is one."""
    if (
        isinstance(given, bool)
        or not isinstance(given, Real)
        or not LOWEST <= float(given) <= HIGHEST
    ):
        raise InputError(
            f"a temperature must be a number above 0, from {LOWEST:g} to {HIGHEST:g}; got "
            f"{given!r}."
        )
    return float(given)


def checked_positives(given: Any) -> str:
    """A rule of POSITIVES."""
    if given not in POSITIVES:
        raise InputError(f"positives must be one of {', '.join(POSITIVES)}; got {given!r}.")
    return str(given)
