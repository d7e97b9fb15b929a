"""Required values: minima of measures, and golden queries."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from judged.comparison.wording import amount
from judged.errors import InputError, did_you_mean, quoted
from judged.inputs.columns import candidates
from judged.inputs.dicts import as_id
from judged.inputs.source import Source, decoded, not_a_table, open_source
from judged.inputs.tables import Kind
from judged.options import number
from judged.statistics.intervals import Interval
from judged.text import plain, quote

if TYPE_CHECKING:
    from judged.comparison.numbers import Compared

GOLDEN = Kind("golden queries", "minimum", "lines of a query, a measure and a minimum")
GIVEN = "the golden queries given"


@dataclass(frozen=True)
class Requirement:
    """A value that must be reached, and whether it is."""

    kind: str
    """minimum or golden."""
    measure: str
    holds: bool
    value: float | None
    """The value; None if the query does not count."""
    needed: float
    says: str
    """The result in words."""
    query: str | None = None
    """Id of a golden query."""
    bound: float | None = None
    """The end of the confidence interval that must reach it, with the rule safe."""

    @property
    def fails(self) -> bool:
        """Whether the value is not reached."""
        return not self.holds

    @property
    def failure(self) -> str:
        """The failure in a few words."""
        return self.says.removesuffix(".")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        values: dict[str, Any] = {"measure": self.measure, "holds": self.holds}
        if self.query is not None:
            values["query"] = self.query
        values |= {"value": plain(self.value), "needed": plain(self.needed)}
        if self.kind == "minimum":
            values["bound"] = plain(self.bound)
        return {**values, "says": self.says}


def falls_short(value: float, needed: float, higher_is_better: bool) -> bool:
    """Return whether a value is worse than needed by more than rounding."""
    worse = value < needed if higher_is_better else value > needed
    return worse and not math.isclose(value, needed, rel_tol=1e-9, abs_tol=1e-12)


def check_minimum(
    measure: Compared, needed: float, value: float, interval: Interval | None
) -> Requirement:
    """Check the value of a measure, or the worse end of its confidence interval if one is given."""
    up, bound = measure.higher_is_better, None
    limit = f"the {'minimum' if up else 'maximum'} {needed:g}"
    if interval is not None:
        bound = interval.low if up else interval.high
    if interval is None or bound is None:
        short = falls_short(value, needed, up)
        side = ("below" if up else "above") if short else "within"
        says = f"is {side} {limit}."
    elif math.isnan(bound):
        short, bound = True, None
        says = (
            f"is not proven to be within {limit}, because there is no confidence interval "
            f"({interval.note})."
        )
    else:
        short = falls_short(bound, needed, up)
        within = "not within" if short else "within"
        says = f"; the true value may be {amount(bound)}, which is {within} {limit}."
    says = f"{measure.name}: {amount(value)} {says}".replace(" ;", ";")
    return Requirement("minimum", measure.name, not short, value, needed, says, bound=bound)


@dataclass(frozen=True)
class GoldenQuery:
    """A query that must reach a value."""

    query: str
    measure: str | None
    """None for all measures of the gate."""
    minimum: float | None
    """None for the value in the baseline."""
    place: str
    """Where it was given, for messages."""


def check_query(
    golden: GoldenQuery, measure: Compared, value: float | None, needed: float, *, minimum: bool
) -> Requirement:
    """Check whether a golden query reaches its minimum, or its value in the baseline."""
    what = "its minimum" if minimum else "its value in the baseline"
    name = f"{measure.name}: golden query {golden.query}"
    if value is None:
        says = f"{name} does not count today, and must reach {what}, {amount(needed)}."
        return Requirement("golden", measure.name, False, None, needed, says, golden.query)
    short = falls_short(value, needed, measure.higher_is_better)
    verb = "does not reach" if short else "reaches"
    says = f"{name} has {amount(value)} and {verb} {what}, {amount(needed)}."
    return Requirement("golden", measure.name, not short, value, needed, says, golden.query)


def golden_queries(given: Any) -> list[GoldenQuery]:
    """Read golden queries: a file, {query: minimum}, {query: {measure: minimum}} or a list."""
    if isinstance(given, (str, PathLike)):
        source = open_source(fspath(given), GOLDEN)
        found, place = list(_in_file(source)), source.label
    else:
        found, place = list(_in_python(given, GIVEN)), GIVEN
    if not found:
        raise InputError(f"{place}: no golden queries found.")
    seen: dict[tuple[str, str | None], GoldenQuery] = {}
    for golden in found:
        if seen.setdefault((golden.query, golden.measure), golden) is not golden:
            raise InputError(f"{golden.place}: query {golden.query!r} occurs twice.")
    return found


def _in_python(given: Any, place: str) -> Iterator[GoldenQuery]:
    if not isinstance(given, Mapping):
        if isinstance(given, bytes) or not isinstance(given, Iterable):
            is_list = False
        else:
            is_list = getattr(given, "ndim", 1) == 1
        if not is_list:
            raise InputError(
                "golden must be a file, {query: minimum}, {query: {measure: minimum}} or a list of "
                f"queries; got {quoted(given)}."
            )
    pairs = given.items() if isinstance(given, Mapping) else ((query, None) for query in given)
    for key, minima in pairs:
        query = as_id(key, place)
        by_measure = minima if isinstance(minima, Mapping) else {None: minima}
        for measure, minimum in by_measure.items():
            if isinstance(minima, Mapping) and not isinstance(measure, str):
                raise InputError(
                    f"{place}: the name of a measure must be a text; got {quoted(measure)}."
                )
            if minimum is not None:
                minimum = number(f"{place}: the minimum of query {query!r}", minimum)
            yield GoldenQuery(query, measure, minimum, place)


def _in_file(source: Source) -> Iterator[GoldenQuery]:
    if source.head().lstrip()[:1] in (b"{", b"["):
        try:
            content = json.loads(source.read())
        except (ValueError, RecursionError) as error:
            raise InputError(f"{source.label}: invalid JSON ({error}).") from None
        yield from _in_python(content, source.label)
        return
    lines = [
        (at, decoded(source.label, at, line))
        for at, line in enumerate(source.lines(), 1)
        if line.strip() and not line.lstrip().startswith(b"#")
    ]
    if not lines:
        raise InputError(f"{source.label}: no golden queries found.")
    header = [cell.strip().lower() for cell in lines[0][1].replace("\t", ",").split(",")]
    headed = candidates("query", header[:1]) and set(header[1:]) <= {"measure", "minimum"}
    separator = "\t" if "\t" in lines[0][1] else ","
    for at, line in lines[bool(headed) :]:
        place = f"{source.label}, line {at}"
        if not headed:  # a query, and after white space a measure, a minimum or both
            fields = [cell.strip() for cell in line.split("\t" if "\t" in line else None)]
            rest = [field for field in fields[1:] if field]
            minimum = rest.pop() if rest and _is_number(rest[-1]) else ""
            yield _golden_query(fields[0], " ".join(rest), minimum, place)
            continue
        try:
            cells = [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]
        except csv.Error as error:
            raise not_a_table(place, error) from None
        if len(cells) > len(header):
            raise InputError(
                f"{place}: expected at most {len(header)} fields, found {len(cells)}: "
                f"{quote(line)}."
            )
        named = dict(zip(header[1:], cells[1:], strict=False))
        query = cells[0] if cells else ""
        yield _golden_query(query, named.get("measure", ""), named.get("minimum", ""), place)


def _golden_query(query: str, measure: str, minimum: str, place: str) -> GoldenQuery:
    if not query:
        raise InputError(f"{place}: the query is missing.")
    if minimum and not (_is_number(minimum) and math.isfinite(float(minimum))):
        raise InputError(f"{place}: the minimum {quote(minimum)} is not a finite number.")
    return GoldenQuery(query, measure or None, float(minimum) if minimum else None, place)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def check_known(golden: Sequence[GoldenQuery], queries: Sequence[str]) -> None:
    """Check that all golden queries are judged."""
    known = set(queries)
    for each in golden:
        if each.query not in known:
            hint = did_you_mean(each.query, list(queries)[:10_000])
            raise InputError(f"{each.place}: query {each.query!r} is not judged{hint}")
