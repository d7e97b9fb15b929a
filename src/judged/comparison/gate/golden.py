"""Values that must be reached: of a measure as a whole, and of single golden queries."""

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
class Reached:
    """Whether a value is reached, and what is said of it."""

    kind: str
    """minimum or golden."""
    measure: str
    holds: bool
    value: float | None
    """What there is; None where the query does not count."""
    needed: float
    says: str
    query: str | None = None
    """Of a golden query, its id."""
    bound: float | None = None
    """The end of the interval that had to reach it, under the rule safe."""

    @property
    def fails(self) -> bool:
        """Whether it is not reached."""
        return not self.holds

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        found: dict[str, Any] = {"measure": self.measure, "holds": self.holds}
        if self.query is not None:
            found["query"] = self.query
        found |= {"value": plain(self.value), "needed": plain(self.needed)}
        if self.kind == "minimum":
            found["bound"] = plain(self.bound)
        return {**found, "says": self.says}


def falls_short(value: float, needed: float, higher_is_better: bool) -> bool:
    """Whether a value is worse than it must be, but for rounding."""
    worse = value < needed if higher_is_better else value > needed
    return worse and not math.isclose(value, needed, rel_tol=1e-9, abs_tol=1e-12)


def of_whole(measure: Compared, needed: float, value: float, interval: Interval | None) -> Reached:
    """Whether a measure's value is reached; by the end of an interval, where one is given."""
    up = measure.higher_is_better
    limit = f"the {'least' if up else 'most'} that is allowed, {needed:g}"
    if interval is None:
        short = falls_short(value, needed, up)
        side = ("below" if up else "above") if short else "within"
        says = f"{measure.name}: {amount(value)} is {side} {limit}."
        return Reached("minimum", measure.name, not short, value, needed, says)
    bound = interval.low if up else interval.high
    if math.isnan(bound):
        says = (
            f"{measure.name}: {amount(value)} is not shown to be within {limit}: there is no "
            f"interval ({interval.note})."
        )
        return Reached("minimum", measure.name, False, value, needed, says)
    short = falls_short(bound, needed, up)
    may = f"the true value may be {amount(bound)}"
    says = (
        f"{measure.name}: {amount(value)}, and {may}: {'not ' * short}shown to be within {limit}."
    )
    return Reached("minimum", measure.name, not short, value, needed, says, bound=bound)


@dataclass(frozen=True)
class Wanted:
    """A golden query as it was given."""

    query: str
    measure: str | None
    """None for all measures of the gate."""
    minimum: float | None
    """None for the value in the baseline."""
    place: str
    """Where it stands, for messages."""


def of_query(
    wanted: Wanted, measure: Compared, value: float | None, needed: float, *, own: bool
) -> Reached:
    """Whether a golden query reaches its minimum, or its value in the baseline."""
    what = "its minimum" if own else "its value in the baseline"
    named = f"{measure.name}: golden query {wanted.query}"
    if value is None:
        says = f"{named} does not count today, and has to reach {what}, {amount(needed)}."
        return Reached("golden", measure.name, False, None, needed, says, wanted.query)
    short = falls_short(value, needed, measure.higher_is_better)
    verb = "does not reach" if short else "reaches"
    says = f"{named}: {amount(value)} {verb} {what}, {amount(needed)}."
    return Reached("golden", measure.name, not short, value, needed, says, wanted.query)


def golden_queries(given: Any) -> list[Wanted]:
    """Golden queries from a file, {query: minimum}, {query: {measure: minimum}} or a list of
    queries."""
    if isinstance(given, (str, PathLike)):
        source = open_source(fspath(given), GOLDEN)
        found, place = list(_in_file(source)), source.label
    else:
        found, place = list(_in_python(given, GIVEN)), GIVEN
    if not found:
        raise InputError(f"{place}: there are no golden queries in it.")
    seen: dict[tuple[str, str | None], Wanted] = {}
    for each in found:
        before = seen.setdefault((each.query, each.measure), each)
        if before is not each:
            raise InputError(f"{each.place}: query {each.query!r} is there twice.")
    return found


def _in_python(given: Any, place: str) -> Iterator[Wanted]:
    if isinstance(given, Mapping):
        for key, own in given.items():
            query = as_id(key, place)
            if isinstance(own, Mapping):
                for measure, minimum in own.items():
                    if not isinstance(measure, str):
                        raise InputError(
                            f"{place}: a measure is named by a text; got {quoted(measure)}."
                        )
                    yield Wanted(query, measure, _minimum(minimum, query, place), place)
            else:
                yield Wanted(query, None, _minimum(own, query, place), place)
        return
    if isinstance(given, bytes) or not isinstance(given, Iterable) or not _has_rows(given):
        raise InputError(
            "golden queries are a file, {query: minimum}, {query: {measure: minimum}} or a list of "
            f"queries; got {quoted(given)}."
        )
    for each in given:
        yield Wanted(as_id(each, place), None, None, place)


def _has_rows(given: Any) -> bool:
    return getattr(given, "ndim", 1) == 1


def _minimum(given: Any, query: str, place: str) -> float | None:
    if given is None:
        return None
    return number(f"{place}: the minimum of query {query!r}", given)


def _in_file(source: Source) -> Iterator[Wanted]:
    if source.head().lstrip()[:1] in (b"{", b"["):
        try:
            content = json.loads(source.read())
        except (ValueError, RecursionError) as error:
            raise InputError(f"{source.label}: is no JSON ({error}).") from None
        yield from _in_python(content, source.label)
        return
    lines = [
        (at, decoded(source.label, at, line))
        for at, line in enumerate(source.lines(), 1)
        if line.strip() and not line.lstrip().startswith(b"#")
    ]
    if not lines:
        raise InputError(f"{source.label}: there are no golden queries in it.")
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
            yield _wanted(
                cells[0] if cells else "", named.get("measure"), named.get("minimum"), place
            )
        else:
            yield _of_line(line, place)


def _of_line(line: str, place: str) -> Wanted:
    """A query, and after white space a measure, a minimum or both."""
    fields = [f.strip() for f in line.split("\t")] if "\t" in line else line.split()
    query, rest = fields[0], [field for field in fields[1:] if field]
    minimum = rest.pop() if rest and _is_number(rest[-1]) else None
    return _wanted(query, " ".join(rest), minimum, place)


def _wanted(query: str, measure: str | None, minimum: str | None, place: str) -> Wanted:
    if not query:
        raise InputError(f"{place}: the query is missing.")
    if minimum and not _is_number(minimum):
        raise InputError(f"{place}: the minimum {quote(minimum)} is no finite number.")
    least = float(minimum) if minimum else None
    if least is not None and not math.isfinite(least):
        raise InputError(f"{place}: the minimum {quote(minimum or '')} is no finite number.")
    return Wanted(query, measure or None, least, place)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def refuse_unknown(wanted: Sequence[Wanted], queries: Sequence[str]) -> None:
    """A golden query that nobody judged cannot be checked."""
    known = set(queries)
    for each in wanted:
        if each.query not in known:
            hint = did_you_mean(each.query, list(queries)[:10_000])
            raise InputError(f"{each.place}: query {each.query!r} is not judged{hint}")
