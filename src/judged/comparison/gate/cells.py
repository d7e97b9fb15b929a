"""Numbers of a gate as text, and what trusted judgements add to its tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from judged.comparison.sentences import shown_level
from judged.text import shown

if TYPE_CHECKING:
    from judged.comparison.gate.rules import Ruled
    from judged.results import Table

TRUSTED = ("trusted_difference", "trusted_low", "trusted_high", "cheap_difference", "weight")
"""Further columns of the table for programs, where trusted judgements correct the differences."""


def trusted_cells(row: Ruled) -> tuple[float, ...]:
    """What a row has in these columns."""
    known = row.trusted
    if known is None:
        return ()
    alone = known.trusted
    return alone.estimate, alone.low, alone.high, known.cheap, known.weight


def trusted_tables(rows: Sequence[Ruled], level: float) -> list[Table]:
    """The changes that trusted judgements correct, beside what either judgements say alone; no
    table where there are none."""
    ends = f"{shown_level(level)} interval"
    cells = [
        [
            *(row.measure, signed(each.corrected.estimate)),
            between(each.corrected.low, each.corrected.high),
            *(signed(each.trusted.estimate), between(each.trusted.low, each.trusted.high)),
            *(signed(each.cheap), f"{each.weight:.2f}"),
        ]
        for row in rows
        if (each := row.trusted) is not None
    ]
    header = ["measure", "corrected change", ends, "trusted", ends, "cheap", "λ"]
    return [(header, cells)] if cells else []


def between(low: float, high: float) -> str:
    """An interval, where there is one."""
    return "–" if math.isnan(low) or math.isnan(high) else f"{signed(low)} … {signed(high)}"


def signed(value: float) -> str:
    """A difference with its sign.

    >>> signed(0.5), signed(-0.5)
    ('+0.5000', '−0.5000')
    """
    text = shown(value)
    return f"+{text}" if value > 0 and text not in ("–",) else text.replace("-", "−")
