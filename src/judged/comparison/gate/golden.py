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
    up = measure.higher_is_better
    limit = f"the {'minimum' if up else 'maximum'} {needed:g}"
    if interval is None:
        short = falls_short(value, needed, up)
        side = ("below" if up else "above") if short else "within"
        says = f"{measure.name}: {amount(value)} is {side} {limit}."
        return Requirement("minimum", measure.name, not short, value, needed, says)
    bound = interval.low if up else interval.high
    if math.isnan(bound):
        says = (
            f"{measure.name}: {amount(value)} is not proven to be within {limit}, because there is "
            f"no confidence interval ({interval.note})."
        )
        return Requirement("minimum", measure.name, False, value, needed, says)
    short = falls_short(bound, needed, up)
    says = (
        f"{measure.name}: {amount(value)}; the true value may be {amount(bound)}, which is "
        f"{'not ' * short}within {limit}."
    )
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
    for each in found:
        before = seen.setdefault((each.query, each.measure), each)
        if before is not each:
            raise InputError(f"{each.place}: query {each.query!r} occurs twice.")
    return found


def _in_python(given: Any, place: str) -> Iterator[GoldenQuery]:
    if isinstance(given, Mapping):
        for key, own in given.items():
            query = as_id(key, place)
            if isinstance(own, Mapping):
                for measure, minimum in own.items():
                    if not isinstance(measure, str):
                        raise InputError(
                            f"{place}: the name of a measure must be a text; got {quoted(measure)}."
                        )
                    yield GoldenQuery(query, measure, _minimum(minimum, query, place), place)
            else:
                yield GoldenQuery(query, None, _minimum(own, query, place), place)
        return
    if isinstance(given, bytes) or not isinstance(given, Iterable) or not _has_rows(given):
        raise InputError(
            "golden must be a file, {query: minimum}, {query: {measure: minimum}} or a list of "
            f"queries; got {quoted(given)}."
        )
    for each in given:
        yield GoldenQuery(as_id(each, place), None, None, place)


def _has_rows(given: Any) -> bool:
    return getattr(given, "ndim", 1) == 1


def _minimum(given: Any, query: str, place: str) -> float | None:
    if given is None:
        return None
    return number(f"{place}: the minimum of query {query!r}", given)


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
    for at, line in lines[bool(headed) :]:
        place = f"{source.label}, line {at}"
        if headed:
            separator = "\t" if "\t" in lines[0][1] else ","
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
            yield _golden_query(
                cells[0] if cells else "", named.get("measure"), named.get("minimum"), place
            )
        else:
            yield _of_line(line, place)


def _of_line(line: str, place: str) -> GoldenQuery:
    """Read a query, and after white space a measure, a minimum or both."""
    fields = [f.strip() for f in line.split("\t")] if "\t" in line else line.split()
    query, rest = fields[0], [field for field in fields[1:] if field]
    minimum = rest.pop() if rest and _is_number(rest[-1]) else None
    return _golden_query(query, " ".join(rest), minimum, place)


def _golden_query(query: str, measure: str | None, minimum: str | None, place: str) -> GoldenQuery:
    if not query:
        raise InputError(f"{place}: the query is missing.")
    if minimum and not _is_number(minimum):
        raise InputError(f"{place}: the minimum {quote(minimum)} is not a finite number.")
    least = float(minimum) if minimum else None
    if least is not None and not math.isfinite(least):
        raise InputError(f"{place}: the minimum {quote(minimum or '')} is not a finite number.")
    return GoldenQuery(query, measure or None, least, place)


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
