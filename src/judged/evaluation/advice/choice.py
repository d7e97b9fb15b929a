"""Which measures to report, of those that nothing speaks against."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judged.evaluation.advice.result import Advice
    from judged.evaluation.advice.rows import Row

WHOLE = ("nDCG", "AP")
"""Families that use all that was judged; the first is better where there are several grades."""
DEEP = ("R",)
FIRST = ("RR", "Success")


def chosen(advice: Advice) -> tuple[Row, ...]:
    """One of each kind that suits the data."""
    sound = [row for row in advice.rows if not row.findings]
    whole = WHOLE if advice.lists.graded else (*WHOLE[::-1],)
    kinds = [FIRST, whole] if advice.lists.relevant <= 1 else [whole, DEEP]
    found: list[Row] = []
    for families in kinds:
        best = _best(sound, families)
        if best is not None and best not in found:
            found.append(best)
    return tuple(found) or tuple(sorted(sound, key=_worth)[-1:])


def _best(rows: list[Row], families: tuple[str, ...]) -> Row | None:
    """Of the first family that is there, the one that is worth most."""
    for family in families:
        there = [row for row in rows if row.measure.split("@")[0].split("(")[0] == family]
        if there:
            return max(there, key=_worth)
    return None


def _worth(row: Row) -> tuple[int, bool, float]:
    """Return how many pairs it shows, whether it has a cutoff, and by which effects."""
    return row.separated, row.k is not None, row.effect or 0.0
