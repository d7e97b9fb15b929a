"""What every way in gives of values of queries; and which of them are numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import polars as pl

from judged.errors import quoted
from judged.inputs.formats import is_number
from judged.inputs.tables import Kind

VALUES = Kind(
    "values of queries",
    "value",
    "{run: {query: value}}, {run: {measure: {query: value}}}, a table or files",
)
MEASURE = "value"
"""What a measure is called that nobody named."""
SCHEMA = {
    "run": pl.String,
    "measure": pl.String,
    "query": pl.String,
    "value": pl.Float64,
    "row": pl.Int64,
}
_COMMA = re.compile(r"[+-]?\d+,\d+")
NOT_ZERO = "A system that did not run is not a system that scored zero."
UNWEIGHTED = (
    "The weights of queries are not read from here: every query counts once, unless weights "
    "(--weights) are given."
)


@dataclass(frozen=True, eq=False)
class Part:
    """The values of one table, file or dict."""

    frame: pl.DataFrame
    """Columns of `SCHEMA`: the run is null where it is not said, the measure where it is not said;
    the value is null where there is none."""
    place: Callable[[int], str]
    """Where a row is, for messages."""
    source: str
    notes: tuple[str, ...] = ()
    wide: tuple[str, ...] = ()
    """Columns, or keys of a dict, of which it is not yet known whether they are runs or measures;
    they stand as runs."""
    tag: str | None = None
    """What the run calls itself, where it does."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What the values were computed with, where that is known."""


def number_of(given: Any) -> float | None:
    """A number of Python, NaN and infinity included, which JSON has as texts; None for what is
    none."""
    if isinstance(given, str) and given in ("Infinity", "-Infinity"):
        return float(given)
    if isinstance(given, bool) or not isinstance(given, Real):
        return None
    try:
        return float(given)
    except (OverflowError, ValueError):
        return None


def no_number(query: str, given: Any, where: str = "") -> str:
    """What is said of a value that is NaN, or no number at all."""
    what = f"the value of query {query!r}{where} is"
    given = given.to_list() if isinstance(given, pl.Series) else given
    text = given.strip() if isinstance(given, str) else ""
    number = float(text) if is_number(text) else number_of(given)
    if number is not None and math.isnan(number):
        return (
            f"{what} NaN; give a number, or leave the query out of all runs (an empty cell, or no "
            "row)."
        )
    hint = (
        " Write decimals with a point."
        if _COMMA.fullmatch(text)
        else " Give numbers, not texts."
        if number is not None
        else " Write 1 and 0."
        if isinstance(given, bool)
        else ""
    )
    return f"{what} no number: {quoted(given)}.{hint}"
