"""Pairs as a table for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from judged.comparison.pair import Pair

COLUMNS = {
    **dict.fromkeys(("measure", "run", "against"), "String"),
    **dict.fromkeys(("queries", "groups"), "Int64"),
    **dict.fromkeys(("effective_units", "wider"), "Float64"),
    **dict.fromkeys(("value", "against_value", "difference", "relative", "low", "high"), "Float64"),
    "interval": "String",
    "effect": "Float64",
    **dict.fromkeys(("wins", "ties", "losses"), "Int64"),
    **dict.fromkeys(("p", "corrected_p", "smallest_p", "detectable"), "Float64"),
    "verdict": "String",
    "negligible": "Boolean",
    **dict.fromkeys(("depends_on", "test", "note", "says"), "String"),
}
"""The columns of the table of pairs, and their types in polars: the same whatever is in them."""


TRUSTED = {
    "trusted_queries": "Int64",
    **dict.fromkeys(("trusted_difference", "trusted_low", "trusted_high"), "Float64"),
    **dict.fromkeys(("cheap_difference", "weight"), "Float64"),
    "narrower": "String",
}
"""Further columns, where trusted judgements correct the differences."""


def frame_of(rows: Sequence[Pair]) -> pl.DataFrame:
    """Rows as a table."""
    import polars as pl

    corrected = any(row.trusted is not None for row in rows)
    columns = {**COLUMNS, **(TRUSTED if corrected else {})}
    return pl.DataFrame(
        [[_cell(row, name) for name in columns] for row in rows],
        schema={name: getattr(pl, kind) for name, kind in columns.items()},
        orient="row",
    )


def _cell(row: Pair, name: str) -> Any:
    """What a row has in a column; where there is no number, none."""
    if name in ("low", "high", "note"):
        found: Any = getattr(row.interval, name)
    elif name == "interval":
        found = row.interval.method or None
    elif name in TRUSTED:
        found = _trusted_cell(row, name)
    elif name == "depends_on":
        found = ", ".join(row.depends_on)
    else:
        found = getattr(row, name)
    return None if isinstance(found, float) and found != found else found


def _trusted_cell(row: Pair, name: str) -> Any:
    """What a row has in a column about trusted judgements."""
    known = row.trusted
    if known is None:
        return None
    alone = known.trusted
    return {
        "trusted_difference": alone.estimate,
        "trusted_low": alone.low,
        "trusted_high": alone.high,
        "cheap_difference": known.cheap,
    }.get(name, getattr(known, name, None))
